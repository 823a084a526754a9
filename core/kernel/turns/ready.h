/* Ready: the queue of agents that may have work.
 *
 * In real time it is first in, first out; in a simulation the seed picks among the
 * ready agents. An agent is in the queue at most once.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_READY_H
#define SOC_KERNEL_TURNS_READY_H

struct soc_agent;
struct soc_host;

/* Queues `agent`, which may have mail or an answer, unless it is queued already. */
void soc_ready_add(struct soc_host *host, struct soc_agent *agent);

/* Removes and lends the next agent; the queue must not be empty. */
struct soc_agent *soc_ready_take(struct soc_host *host);

/* Prefetches the agent that will probably run next into the cache, as ready.guess. */
void soc_ready_guess(struct soc_host *host);

#endif

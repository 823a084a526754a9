/* Ready: the agents that may have something to do.
 *
 * For real, agents take turns in the order they became ready; simulated, the seed
 * picks among them.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_READY_H
#define SOC_KERNEL_TURNS_READY_H

struct soc_agent;
struct soc_host;

/* Has `agent` looked at: it may have mail or an answer. */
void soc_ready_add(struct soc_host *host, struct soc_agent *agent);

/* Takes the next one; there must be one. */
struct soc_agent *soc_ready_take(struct soc_host *host);

/* Fetches the agent that will probably run next into the cache, as ready.guess. */
void soc_ready_guess(struct soc_host *host);

#endif

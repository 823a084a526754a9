/* Deadlock: detects and breaks cycles of agents that wait for each other.
 *
 * A cycle is detected when its last edge is added. Code that changes whom an agent waits
 * for notes the agent (soc_wait_note). The noted agents are checked when all messages of
 * the step have been delivered, so a wait that was answered immediately is already over.
 * The policy `deadlock` picks one agent of the cycle; its wait ends with the error
 * `deadlock`, the others keep waiting.
 *
 * Never part of a cycle: the person, agents that have ended, and agents that wait for
 * messages in transit. A cycle that leads through other hosts is found by the part `hosts`,
 * with the edges and the ending of this file.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_DEADLOCK_H
#define SOC_KERNEL_TURNS_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "model/mailbox.h"

struct soc_agent;
struct soc_host;
struct soc_waiter;

/* Checks the noted agents: ends waits for agents that have ended, records who is blocked,
 * and breaks cycles until none is left. Outside turns. */
void soc_deadlock_settle(struct soc_host *host);

/* Lends target `index` (from 0) of the agents that `agent` waits for; NULL after the last. An
 * edge whose answer is in transit leads to the person. */
struct soc_agent *soc_deadlock_target(const struct soc_host *host, const struct soc_agent *agent,
                                      size_t index);

/* Ends the wait of the agent at `victim`, which is of this host and waits, and logs the cycle.
 * Outside turns. */
void soc_deadlock_break(struct soc_host *host, const struct soc_waiter *cycle, size_t count,
                        size_t victim);

/* Returns true if a matching message for `to` is in transit or was sent in the open turn. */
bool soc_deadlock_is_coming(const struct soc_host *host, const struct soc_agent *to,
                            struct soc_mail_filter filter);

#endif

/* Ending: how agents terminate.
 *
 * The turn that asks for it marks the agent as ending, which stops new mail. The
 * rest happens when that turn commits:
 *   - Forced: the agent ends at once. Its activation is dropped and its messages
 *     become dead letters.
 *   - Otherwise it drains its mailbox first, delayed messages included, and ends
 *     when it has nothing left to do.
 * The supervision policy decides about each child: it ends in the same way, or the
 * nearest ancestor that is not ending adopts it.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_ENDING_H
#define SOC_KERNEL_ENDING_H

#include "base/buf.h"
#include "base/slice.h"

struct soc_agent;
struct soc_host;

/* Terminates the child `id` of the running agent; `reason` may be absent. A failed
 * agent would never drain its mailbox: it is always forced, and `*is_forced` set.
 * SOC_ENOAGENT, SOC_ESTOPPED, SOC_EFORBIDDEN for the child of another agent. */
int soc_ending_terminate(struct soc_host *host, struct soc_slice id, bool *is_forced,
                         struct soc_slice reason, struct soc_buf *error);

/* The same for the person, who may terminate every agent but user and root. The turn of
 * `user` is open. */
int soc_ending_order(struct soc_host *host, struct soc_slice id, bool *is_forced,
                     struct soc_slice reason, struct soc_buf *error);

/* Ends the running agent itself. SOC_EFORBIDDEN for user and root. */
int soc_ending_stop(struct soc_host *host, struct soc_slice reason, struct soc_buf *error);

/* Ends the agent if it is ending and has nothing left to do. Call it outside turns
 * whenever an activation or a message of the agent is finished. */
void soc_ending_check(struct soc_host *host, struct soc_agent *agent);

#endif

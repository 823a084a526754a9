/* Ending: how an agent goes, and what becomes of what it leaves.
 *
 * An agent that is to end is marked inside the turn that asks for it, so that
 * nobody writes to it any more; the rest happens when that turn commits. By force
 * it ends then: its activation is dropped and its mail goes to the dead letters.
 * Otherwise it works through its mailbox first, delayed mail included, and ends
 * when nothing is left. Its children end in the same way, or go to the nearest
 * ancestor that goes on, as the supervision policy says of each.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_ENDING_H
#define SOC_KERNEL_ENDING_H

#include "base/buf.h"
#include "base/slice.h"

struct soc_agent;
struct soc_host;

/* Has the child `id` of the running agent end; `reason` may be absent. By force also
 * if it has failed, since it would never get through its mailbox: `is_forced` tells.
 * SOC_ENOAGENT, SOC_EFORBIDDEN for anybody else's child, SOC_ESTOPPED, with `error` set. */
int soc_ending_terminate(struct soc_host *host, struct soc_slice id, bool *is_forced,
                         struct soc_slice reason, struct soc_buf *error);

/* Has the running agent end itself. SOC_EFORBIDDEN for user and root. */
int soc_ending_stop(struct soc_host *host, struct soc_slice reason, struct soc_buf *error);

/* Ends the agent if it is to end and has nothing left to do. To be called, outside
 * any turn, whenever an activation or a message of it is done. */
void soc_ending_check(struct soc_host *host, struct soc_agent *agent);

#endif

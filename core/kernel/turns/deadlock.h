/* Deadlock: agents that wait for each other in a ring, and who of them goes on.
 *
 * A ring is found when its last edge is added: whatever changes whom an agent waits
 * for notes the agent, and once all mail of that moment is where it belongs those
 * noted are looked at. An answer that came at once has ended its wait by then. The
 * policy `deadlock` picks one of the ring; its wait ends with the error `deadlock`,
 * the others go on waiting.
 *
 * Never part of a ring: the person and whoever has ended; and whoever waits for mail
 * that is on its way, only not due yet.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_DEADLOCK_H
#define SOC_KERNEL_TURNS_DEADLOCK_H

#include <stdbool.h>

#include "model/mailbox.h"

struct soc_agent;
struct soc_host;

/* Looks at those noted, ends waits for somebody who has ended, tells the activity log who
 * is blocked, and breaks rings until none is left. Outside any turn. */
void soc_deadlock_settle(struct soc_host *host);

/* Tells whether mail for `to` that fits is on its way: not due yet, or sent in the
 * turn under way. */
bool soc_deadlock_is_coming(const struct soc_host *host, const struct soc_agent *to,
                            struct soc_mail_filter filter);

#endif

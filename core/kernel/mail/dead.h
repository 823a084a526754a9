/* Dead: redelivers or drops dead letters.
 *
 * A dead letter is a message that failed or expired. The host owns it until one of
 * these functions is called.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_DEAD_H
#define SOC_KERNEL_MAIL_DEAD_H

#include "base/buf.h"
#include "base/slice.h"

struct soc_host;

/* Redelivers a dead letter, last in its mailbox, with `attempt` incremented; or drops it
 * for good. SOC_ENOMESSAGE if no dead letter has that id, SOC_ESTOPPED if its receiver
 * has ended. */
int soc_dead_redeliver(struct soc_host *host, struct soc_slice id, struct soc_buf *error);
int soc_dead_drop(struct soc_host *host, struct soc_slice id, struct soc_buf *error);

#endif

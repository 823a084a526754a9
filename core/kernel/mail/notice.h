/* Notice: messages the host sends by itself, inside or outside a turn.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_NOTICE_H
#define SOC_KERNEL_MAIL_NOTICE_H

#include "kernel/mail/send.h"

struct soc_host;

/* Sends as `from` (NULL: the host) in the open turn, or in a turn of its own. A refusal
 * is logged as the event `failed` of `from`. */
void soc_notice_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                     const char *failed);

#endif

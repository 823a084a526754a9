/* Receivers: sends a message to each agent of a list.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_RECEIVERS_H
#define SOC_KERNEL_MAIL_RECEIVERS_H

#include "kernel/mail/send_input.h"

/* Sends to every receiver of the list as `from`, inside the open turn. Replaces `answer`
 * by a list with one object: `messageIds` in the order of the list, null where a send
 * failed, and `partialErrors` for the failures. If all fail, returns SOC_EREFUSED with the
 * error object all_recipients_failed. */
int soc_receivers_send(struct soc_host *host, struct soc_agent *from,
                       const struct soc_send_input *input, struct soc_buf *answer);

#endif

/* Mail: what any holder of a message does with it.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_MAIL_H
#define SOC_KERNEL_MAIL_MAIL_H

#include "model/message.h"

struct soc_host;

/* Starts the timer of a queued message that can expire. */
void soc_mail_watch(struct soc_host *host, struct soc_message *message);

/* Puts a message into its receiver's mailbox, first for `is_back`: it was there before. */
void soc_mail_queue(struct soc_host *host, struct soc_message *message, bool is_back);

/* Frees a message that stands nowhere, and what the scripts hold for it. NULL is
 * allowed. */
void soc_mail_free(struct soc_host *host, struct soc_message *message);

/* The same for a list of them, with their timers. */
void soc_mail_free_list(struct soc_host *host, struct soc_message_list *list);

#endif

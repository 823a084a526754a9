/* Mail: queues and frees messages; helpers for every module that holds some.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_MAIL_H
#define SOC_KERNEL_MAIL_MAIL_H

#include "model/message.h"

struct soc_host;

/* Starts the expiry timer of a queued message, if it has a time to live. */
void soc_mail_watch(struct soc_host *host, struct soc_message *message);

/* Puts a message into its receiver's mailbox, which takes it. `is_back`: it was there
 * before and returns to the front. */
void soc_mail_queue(struct soc_host *host, struct soc_message *message, bool is_back);

/* Frees a message that is in no queue and has no timer, and what scripts hold for it.
 * NULL is allowed. */
void soc_mail_free(struct soc_host *host, struct soc_message *message);

/* Frees all messages of a list and removes their timers. */
void soc_mail_free_list(struct soc_host *host, struct soc_message_list *list);

#endif

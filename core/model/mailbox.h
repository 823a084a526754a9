/* Mailbox: the messages that are due for one agent.
 *
 * They leave by priority and, within one priority, in the order they became due.
 * `receive` may take one from the middle; if its turn is rolled back, the message
 * returns to its position.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_MAILBOX_H
#define SOC_MODEL_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "model/message.h"

/* An all-zero struct is empty. It does not own the messages. */
struct soc_mailbox {
    struct soc_message_list classes[SOC_PRIORITY_COUNT];
};

/* What `receive` accepts; NULL: any. */
struct soc_mail_filter {
    const struct soc_agent *from;
    const struct soc_symbol *type;
};

/* Appends `message` to its priority. */
void soc_mailbox_push(struct soc_mailbox *box, struct soc_message *message);

/* Puts it first in its priority: for a message that an unfinished activation returns. */
void soc_mailbox_push_first(struct soc_mailbox *box, struct soc_message *message);

/* Inserts it by age into its priority: for a message that `receive` took from the
 * middle. */
void soc_mailbox_put_back(struct soc_mailbox *box, struct soc_message *message);

/* Removes and returns the next message, or NULL. */
struct soc_message *soc_mailbox_pop(struct soc_mailbox *box);

/* Lends the next message that matches, or NULL. */
struct soc_message *soc_mailbox_find(const struct soc_mailbox *box, struct soc_mail_filter filter);

/* Removes `message`. */
void soc_mailbox_remove(struct soc_mailbox *box, struct soc_message *message);

/* Prefetches the next message. */
void soc_mailbox_prefetch(const struct soc_mailbox *box);

/* Returns the number of messages. */
uint32_t soc_mailbox_count(const struct soc_mailbox *box);

/* Returns true if `message` matches the filter. */
bool soc_mail_fits(const struct soc_message *message, struct soc_mail_filter filter);

#endif

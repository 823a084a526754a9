/* Mailbox: the messages that are due for one agent.
 *
 * They leave by priority and, inside one priority, in the order they became due.
 * `receive` may take one from the middle; if its turn is rolled back, the message
 * goes back to its place.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_MAILBOX_H
#define SOC_MODEL_MAILBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "model/message.h"

/* All-zero is an empty mailbox. It does not own the messages. */
struct soc_mailbox {
    struct soc_message_list classes[SOC_PRIORITY_COUNT];
};

/* What `receive` looks for; NULL fits any. */
struct soc_mail_filter {
    const struct soc_agent *from;
    const struct soc_symbol *type;
};

/* Puts `message` last in its priority. */
void soc_mailbox_push(struct soc_mailbox *box, struct soc_message *message);

/* Puts it before everything of its priority: a message that an unfinished
 * activation gives back. */
void soc_mailbox_push_first(struct soc_mailbox *box, struct soc_message *message);

/* Puts it back in order of age among those of its priority: for one that
 * `receive` took out of the middle. */
void soc_mailbox_put_back(struct soc_mailbox *box, struct soc_message *message);

/* Takes out and returns the next message, or NULL. */
struct soc_message *soc_mailbox_pop(struct soc_mailbox *box);

/* Lends the next message that fits, or NULL. */
struct soc_message *soc_mailbox_find(const struct soc_mailbox *box, struct soc_mail_filter filter);

/* Takes `message` out. */
void soc_mailbox_remove(struct soc_mailbox *box, struct soc_message *message);

/* Has the processor fetch the next message. */
void soc_mailbox_prefetch(const struct soc_mailbox *box);

/* Messages waiting. */
uint32_t soc_mailbox_count(const struct soc_mailbox *box);

/* Tells whether `message` fits. */
bool soc_mail_fits(const struct soc_message *message, struct soc_mail_filter filter);

#endif

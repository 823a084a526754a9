#include "model/mailbox.h"

#include <assert.h>

void soc_mailbox_push(struct soc_mailbox *box, struct soc_message *message)
{
    assert(message->priority < SOC_PRIORITY_COUNT && !message->is_queued);
    soc_message_list_push(&box->classes[message->priority], message);
    message->is_queued = true;
}

void soc_mailbox_push_first(struct soc_mailbox *box, struct soc_message *message)
{
    assert(message->priority < SOC_PRIORITY_COUNT && !message->is_queued);
    soc_message_list_push_first(&box->classes[message->priority], message);
    message->is_queued = true;
}

void soc_mailbox_put_back(struct soc_mailbox *box, struct soc_message *message)
{
    assert(!message->is_queued);
    struct soc_message_list *list = &box->classes[message->priority];
    struct soc_message *after = list->first;
    while (after != NULL && !soc_message_is_younger(after, message))
        after = after->next;
    message->is_queued = true;
    if (after == NULL) {
        soc_message_list_push(list, message);
        return;
    }
    if (after == list->first) {
        soc_message_list_push_first(list, message);
        return;
    }
    message->previous = after->previous;
    message->next = after;
    after->previous->next = message;
    after->previous = message;
    list->count++;
}

struct soc_message *soc_mailbox_pop(struct soc_mailbox *box)
{
    for (int p = 0; p < SOC_PRIORITY_COUNT; p++) {
        struct soc_message *message = soc_message_list_pop(&box->classes[p]);
        if (message != NULL) {
            message->is_queued = false;
            return message;
        }
    }
    return NULL;
}

bool soc_mail_fits(const struct soc_message *message, struct soc_mail_filter filter)
{
    return (filter.from == NULL || message->from == filter.from) &&
           (filter.type == NULL || message->type == filter.type);
}

struct soc_message *soc_mailbox_find(const struct soc_mailbox *box, struct soc_mail_filter filter)
{
    for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
        for (struct soc_message *m = box->classes[p].first; m != NULL; m = m->next)
            if (soc_mail_fits(m, filter))
                return m;
    return NULL;
}

void soc_mailbox_remove(struct soc_mailbox *box, struct soc_message *message)
{
    assert(message->is_queued);
    soc_message_list_remove(&box->classes[message->priority], message);
    message->is_queued = false;
}

void soc_mailbox_prefetch(const struct soc_mailbox *box)
{
    int p = 0;
    while (p < SOC_PRIORITY_COUNT - 1 && box->classes[p].first == NULL)
        p++;
    if (box->classes[p].first != NULL)
        soc_message_prefetch(box->classes[p].first);
}

uint32_t soc_mailbox_count(const struct soc_mailbox *box)
{
    uint32_t count = 0;
    for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
        count += box->classes[p].count;
    return count;
}

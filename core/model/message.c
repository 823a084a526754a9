#include "model/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static const char *const priority_names[SOC_PRIORITY_COUNT] = {"urgent", "high", "normal", "low"};

struct soc_message *soc_message_new(const struct soc_message_draft *draft)
{
    assert(draft->payload.length <= SOC_PAYLOAD_BYTES_MAX);
    size_t length = draft->payload.length;
    for (int i = 0; i < SOC_TEXT_COUNT; i++) {
        assert(draft->texts[i].length <= SOC_KEY_BYTES_MAX);
        length += draft->texts[i].length;
    }
    struct soc_message *message = soc_alloc(sizeof(*message) + length);
    *message = (struct soc_message){
        .key = draft->key,
        .time_ms = draft->time_ms,
        .from = draft->from,
        .to = draft->to,
        .type = draft->type,
        .reply_to = draft->reply_to,
        .reply_to_ms = draft->reply_to_ms,
        .cause = draft->cause,
        .expires_ms = draft->expires_ms,
        .deliver_at_ms = draft->deliver_at_ms,
        .sent_date_ms = draft->sent_date_ms != 0 ? draft->sent_date_ms : draft->time_ms,
        .deliver_date_ms =
            draft->deliver_date_ms != 0 ? draft->deliver_date_ms : draft->deliver_at_ms,
        .deadline_ms = draft->deadline_ms,
        .priority = draft->priority,
        .flags = draft->flags,
        .attempt = draft->attempt,
        .hops = draft->hops,
        .idle_hops = draft->idle_hops,
        .payload_length = (uint32_t)draft->payload.length,
    };
    memcpy(message->bytes, draft->payload.data, draft->payload.length);
    char *place = message->bytes + draft->payload.length;
    for (int i = 0; i < SOC_TEXT_COUNT; i++) {
        message->text_length[i] = (uint16_t)draft->texts[i].length;
        if (draft->texts[i].length > 0)
            memcpy(place, draft->texts[i].data, draft->texts[i].length);
        place += draft->texts[i].length;
    }
    return message;
}

void soc_message_free(struct soc_message *message)
{
    assert(message == NULL || !soc_heap_has(&message->timer));
    free(message);
}

void soc_message_prefetch(const struct soc_message *message)
{
    for (size_t at = 0; at < 2 * sizeof(*message); at += SOC_CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)message + at, 1);
}

int64_t soc_message_due_ms(const struct soc_message *message)
{
    return message->deliver_at_ms > message->time_ms ? message->deliver_at_ms : message->time_ms;
}

bool soc_message_is_younger(const struct soc_message *a, const struct soc_message *b)
{
    return soc_message_due_ms(a) != soc_message_due_ms(b)
               ? soc_message_due_ms(a) > soc_message_due_ms(b)
               : a->key > b->key;
}

struct soc_slice soc_message_payload(const struct soc_message *message)
{
    return soc_slice(message->bytes, message->payload_length);
}

struct soc_slice soc_message_text(const struct soc_message *message, enum soc_message_text which)
{
    return soc_message_text_at(message, message->bytes + message->payload_length, which);
}

struct soc_slice soc_message_text_at(const struct soc_message *message, const char *texts,
                                     enum soc_message_text which)
{
    assert(which < SOC_TEXT_COUNT);
    if (message->text_length[which] == 0)
        return (struct soc_slice){0};
    for (int i = 0; i < (int)which; i++)
        texts += message->text_length[i];
    return soc_slice(texts, message->text_length[which]);
}

const char *soc_priority_name(enum soc_priority priority)
{
    assert(priority < SOC_PRIORITY_COUNT);
    return priority_names[priority];
}

bool soc_priority_parse(struct soc_slice text, enum soc_priority *priority)
{
    if (text.length == 2 && text.data[0] == 'P' && text.data[1] >= '0' && text.data[1] <= '3') {
        *priority = (enum soc_priority)(text.data[1] - '0');
        return true;
    }
    for (int i = 0; i < SOC_PRIORITY_COUNT; i++) {
        if (soc_slice_equal(text, soc_slice_text(priority_names[i]))) {
            *priority = (enum soc_priority)i;
            return true;
        }
    }
    return false;
}

void soc_message_list_push(struct soc_message_list *list, struct soc_message *message)
{
    assert(message->previous == NULL && message->next == NULL);
    message->next = NULL;
    message->previous = list->last;
    if (list->last == NULL)
        list->first = message;
    else
        list->last->next = message;
    list->last = message;
    list->count++;
}

void soc_message_list_push_first(struct soc_message_list *list, struct soc_message *message)
{
    assert(message->previous == NULL && message->next == NULL);
    message->previous = NULL;
    message->next = list->first;
    if (list->first == NULL)
        list->last = message;
    else
        list->first->previous = message;
    list->first = message;
    list->count++;
}

void soc_message_list_remove(struct soc_message_list *list, struct soc_message *message)
{
    assert(list->count > 0);
    if (message->previous == NULL)
        list->first = message->next;
    else
        message->previous->next = message->next;
    if (message->next == NULL)
        list->last = message->previous;
    else
        message->next->previous = message->previous;
    message->previous = message->next = NULL;
    list->count--;
}

struct soc_message *soc_message_list_pop(struct soc_message_list *list)
{
    struct soc_message *message = list->first;
    if (message != NULL)
        soc_message_list_remove(list, message);
    return message;
}

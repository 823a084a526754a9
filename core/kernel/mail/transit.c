#include "kernel/mail/transit.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/state.h"
#include "kernel/turns/wait.h"

/* Lends the message in transit whose timer has that index in the heap, or NULL. */
static struct soc_message *message_at(const struct soc_host *host, size_t index)
{
    struct soc_heap_item *item = host->timers.items[index];
    if (item->kind != SOC_TIMER_MESSAGE)
        return NULL;
    struct soc_message *message = (void *)((char *)item - offsetof(struct soc_message, timer));
    return message->is_queued || message->to == NULL ? NULL : message;
}

/* Returns true if it will expire before it is due. */
static bool is_lost(const struct soc_message *message)
{
    return message->expires_ms != 0 && message->expires_ms <= message->deliver_at_ms;
}

/* Returns the key of the message that this one will answer when it arrives, 0: none. */
static uint64_t answered_key(const struct soc_host *host, const struct soc_message *message)
{
    if (is_lost(message))
        return 0;
    if (message->flags & SOC_MESSAGE_IS_REPLY)
        return message->reply_to;
    for (size_t i = 0; host->parts.calls.is_own_answer[i] != NULL; i++)
        if (host->parts.calls.is_own_answer[i](host, message))
            return message->key;
    return 0;
}

static void count_answer(struct soc_host *host, const struct soc_message *message, int step)
{
    uint64_t key = answered_key(host, message);
    if (key == 0)
        return;
    uintptr_t count = (uintptr_t)soc_map_take_number(&host->transit.answers, key);
    assert(step > 0 || count > 0);
    count = step > 0 ? count + 1 : count - 1;
    if (count > 0)
        soc_map_put_number(&host->transit.answers, key, (void *)count);
}

void soc_transit_add(struct soc_host *host, struct soc_message *message)
{
    assert(message->to != NULL && !message->is_queued && !soc_heap_has(&message->timer));
    host->transit.count++;
    message->to->delayed++;
    count_answer(host, message, 1);
    message->timer.kind = SOC_TIMER_MESSAGE;
    soc_heap_add(&host->timers, &message->timer,
                 is_lost(message) ? message->expires_ms : soc_message_due_ms(message));
}

void soc_transit_remove(struct soc_host *host, struct soc_message *message)
{
    assert(host->transit.count > 0 && message->to->delayed > 0);
    host->transit.count--;
    message->to->delayed--;
    count_answer(host, message, -1);
    soc_heap_remove(&host->timers, &message->timer);
    soc_wait_note(host, message->to);
}

bool soc_transit_has(const struct soc_message *message)
{
    return !message->is_queued && soc_heap_has(&message->timer);
}

static int compare_key(const void *a, const void *b)
{
    const struct soc_message *x = *(struct soc_message *const *)a;
    const struct soc_message *y = *(struct soc_message *const *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}

void soc_transit_take_all(struct soc_host *host, struct soc_agent *to, struct soc_message_list *out)
{
    if (to->delayed == 0)
        return;
    struct soc_message **messages = soc_alloc(to->delayed * sizeof(*messages));
    uint32_t count = 0;
    for (size_t i = 0; i < host->timers.count; i++) {
        struct soc_message *message = message_at(host, i);
        if (message != NULL && message->to == to)
            messages[count++] = message;
    }
    assert(count == to->delayed);
    qsort(messages, count, sizeof(*messages), compare_key);
    for (uint32_t i = 0; i < count; i++) {
        soc_transit_remove(host, messages[i]);
        soc_message_list_push(out, messages[i]);
    }
    free(messages);
}

const struct soc_message *soc_transit_each(const struct soc_host *host, size_t *cursor)
{
    while (host->transit.count > 0 && *cursor < host->timers.count) {
        const struct soc_message *message = message_at(host, (*cursor)++);
        if (message != NULL && !is_lost(message))
            return message;
    }
    return NULL;
}

bool soc_transit_brings(const struct soc_host *host, const struct soc_agent *to,
                        struct soc_mail_filter filter)
{
    for (size_t i = 0; to->delayed > 0 && i < host->timers.count; i++) {
        const struct soc_message *message = message_at(host, i);
        if (message != NULL && message->to == to && !is_lost(message) &&
            soc_mail_fits(message, filter))
            return true;
    }
    return false;
}

bool soc_transit_answers(const struct soc_host *host, uint64_t key)
{
    return host->transit.answers.count > 0 &&
           soc_map_find_number(&host->transit.answers, key) != NULL;
}

bool soc_transit_replies(const struct soc_host *host, uint64_t key)
{
    for (size_t i = 0; soc_transit_answers(host, key) && i < host->timers.count; i++) {
        const struct soc_message *message = message_at(host, i);
        if (message != NULL && message->flags & SOC_MESSAGE_IS_REPLY && message->reply_to == key &&
            !is_lost(message))
            return true;
    }
    return false;
}

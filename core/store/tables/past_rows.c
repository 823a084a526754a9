#include "store/tables/past_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FORM 1 /* of the bytes; another form is not read */

static const char *const task_states[] = {"pending", "processing", "completed", "failed",
                                          "cancelled"};
static const char *const item_states[] = {"open", "decided", "withdrawn"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- writing ---- */

static void put_number(struct soc_buf *out, uint64_t number)
{
    char bytes[10];
    size_t length = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[length++] = (char)(number | 0x80);
    bytes[length++] = (char)number;
    soc_buf_put(out, bytes, length);
}

/* An absent text has the length 0, any other one more than it has. */
static void put_text(struct soc_buf *out, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    put_number(out, text == NULL ? 0 : length + 1);
    soc_buf_put(out, text == NULL ? "" : text, length);
}

static void put_state(struct soc_buf *out, const char *const *states, const char *state)
{
    uint64_t number = 0;
    while (strcmp(states[number], state) != 0)
        number++;
    put_number(out, number);
}

static void put_head(struct soc_buf *out, const struct soc_past *past)
{
    put_number(out, FORM);
    put_number(out, past->line);
    put_number(out, past->last);
    put_number(out, (uint64_t)past->time_ms);
    put_number(out, (uint64_t)past->latest_ms);
    put_number(out, past->number);
    put_number(out, past->births);
    put_number(out, past->taken);
    put_number(out, SOC_OUTCOME_COUNT);
    for (int i = 0; i < SOC_OUTCOME_COUNT; i++)
        put_number(out, past->totals[i]);
}

static void put_agent(struct soc_buf *out, const struct soc_past_agent *agent)
{
    put_text(out, agent->id);
    put_text(out, agent->role);
    put_text(out, agent->parent);
    put_number(out, agent->birth);
    put_number(out, (uint64_t)agent->created_ms);
    put_number(out, agent->pending);
    put_number(out, (uint64_t)agent->is_outside | (uint64_t)agent->is_failed << 1 |
                        (uint64_t)agent->is_paused << 2 | (uint64_t)agent->is_unresponsive << 3 |
                        (uint64_t)agent->is_ending << 4);
    put_text(out, agent->wait);
    put_text(out, agent->correlation_id);
    put_number(out, (uint64_t)agent->since_ms);
}

static void put_tie(struct soc_buf *out, const struct soc_past_tie *tie)
{
    put_text(out, tie->owner->id);
    put_text(out, tie->id);
    put_text(out, tie->role);
    put_text(out, tie->source);
    put_number(out, (uint64_t)tie->added_ms);
}

static void put_task(struct soc_buf *out, const struct soc_past_task *task)
{
    put_text(out, task->name);
    put_text(out, task->owner);
    put_text(out, task->id);
    put_text(out, task->assigner);
    put_text(out, task->correlation_id);
    put_text(out, task->reason);
    put_state(out, task_states, task->state);
    put_number(out, task->key);
    put_number(out, (uint64_t)task->opened_ms);
    put_number(out, (uint64_t)task->started_ms);
    put_number(out, (uint64_t)task->ended_ms);
    put_number(out, task->tries);
}

static void put_item(struct soc_buf *out, const struct soc_past_item *item)
{
    put_number(out, item->key);
    put_state(out, item_states, item->state);
}

static void put_offer(struct soc_buf *out, const struct soc_past_offer *offer)
{
    put_text(out, offer->name);
    put_number(out, offer->key);
    put_number(out, (uint64_t)offer->time_ms);
}

void soc_past_rows_put(const struct soc_past *past, const struct soc_past_change *change,
                       struct soc_buf *out)
{
    put_number(out, change->kind);
    switch (change->kind) {
    case SOC_PAST_HEAD:
        return put_head(out, past);
    case SOC_PAST_AGENT:
        return put_agent(out, change->thing);
    case SOC_PAST_TIE:
        return put_tie(out, change->thing);
    case SOC_PAST_TASK:
        return put_task(out, change->thing);
    case SOC_PAST_ITEM:
        return put_item(out, change->thing);
    case SOC_PAST_LETTER:
        return put_number(out, (uint64_t)(uintptr_t)change->thing);
    case SOC_PAST_OFFER:
        return put_offer(out, change->thing);
    }
}

static void write_row(const struct soc_past *past, enum soc_past_kind kind, uint64_t number,
                      const void *thing, struct soc_buf *row, struct soc_buf *out)
{
    row->length = 0;
    soc_past_rows_put(past, &(struct soc_past_change){number, kind, thing}, row);
    put_number(out, number);
    put_number(out, row->length);
    soc_buf_put_slice(out, soc_buf_slice(row));
}

void soc_past_rows_write(const struct soc_past *past, struct soc_buf *out)
{
    const struct soc_past_agent *agent;
    const struct soc_past_tie *tie;
    const struct soc_past_task *task;
    const struct soc_past_item *item;
    const struct soc_past_offer *offer;
    const void *letter;
    uint64_t key;
    struct soc_buf row = {0};
    write_row(past, SOC_PAST_HEAD, 0, past, &row, out);
    for (size_t cursor = 0; (agent = soc_map_each(&past->agents, &cursor)) != NULL;) {
        write_row(past, SOC_PAST_AGENT, agent->number, agent, &row, out);
        for (size_t inner = 0; (tie = soc_map_each(&agent->ties, &inner)) != NULL;)
            write_row(past, SOC_PAST_TIE, tie->number, tie, &row, out);
    }
    for (size_t cursor = 0; (task = soc_map_each(&past->tasks, &cursor)) != NULL;)
        write_row(past, SOC_PAST_TASK, task->number, task, &row, out);
    for (size_t cursor = 0; (item = soc_map_each(&past->items, &cursor)) != NULL;)
        write_row(past, SOC_PAST_ITEM, item->number, item, &row, out);
    for (size_t cursor = 0; (offer = soc_map_each(&past->offers, &cursor)) != NULL;)
        write_row(past, SOC_PAST_OFFER, offer->number, offer, &row, out);
    for (size_t cursor = 0; (letter = soc_map_each_number(&past->dead, &cursor, &key)) != NULL;)
        write_row(past, SOC_PAST_LETTER, SOC_PAST_LETTER_NUMBER(key), letter, &row, out);
    soc_buf_fini(&row);
}

/* ---- reading ---- */

/* Bytes that are read; `is_damaged` once they are not what they should be. */
struct bytes {
    const char *at;
    const char *end;
    bool is_damaged;
};

static uint64_t get_number(struct bytes *bytes)
{
    uint64_t number = 0;
    for (unsigned shift = 0; bytes->at < bytes->end && shift < 70; shift += 7) {
        uint64_t byte = (unsigned char)*bytes->at++;
        if (shift == 63 && byte > 1)
            break;
        number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    bytes->is_damaged = true;
    return 0;
}

static struct soc_slice get_slice(struct bytes *bytes, uint64_t length)
{
    if (bytes->is_damaged || length > (uint64_t)(bytes->end - bytes->at)) {
        bytes->is_damaged = true;
        return (struct soc_slice){0};
    }
    struct soc_slice slice = soc_slice(bytes->at, (size_t)length);
    bytes->at += length;
    return slice;
}

static char *get_text(struct bytes *bytes)
{
    uint64_t length = get_number(bytes);
    if (length == 0)
        return NULL;
    struct soc_slice text = get_slice(bytes, length - 1);
    return bytes->is_damaged ? NULL : soc_copy_text(text.data, text.length);
}

/* A text that is never absent. */
static char *need_text(struct bytes *bytes)
{
    char *text = get_text(bytes);
    if (text != NULL)
        return text;
    bytes->is_damaged = true;
    return soc_copy_text("", 0);
}

static const char *get_state(struct bytes *bytes, const char *const *states, size_t count)
{
    uint64_t number = get_number(bytes);
    if (number < count)
        return states[number];
    bytes->is_damaged = true;
    return states[0];
}

static void take_head(struct soc_past *past, struct bytes *bytes)
{
    bytes->is_damaged |= get_number(bytes) != FORM;
    past->line = past->kept = get_number(bytes);
    past->last = get_number(bytes);
    past->time_ms = (int64_t)get_number(bytes);
    past->latest_ms = (int64_t)get_number(bytes);
    past->number = get_number(bytes);
    past->births = get_number(bytes);
    past->taken = get_number(bytes);
    uint64_t count = get_number(bytes);
    bytes->is_damaged |= count > SOC_OUTCOME_COUNT;
    for (uint64_t i = 0; i < count && !bytes->is_damaged; i++)
        past->totals[i] = get_number(bytes);
}

static void take_agent(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    struct soc_past_agent *agent = soc_alloc_zero(sizeof(*agent));
    agent->number = number;
    agent->id = need_text(bytes);
    agent->role = get_text(bytes);
    agent->parent = get_text(bytes);
    agent->birth = get_number(bytes);
    agent->created_ms = (int64_t)get_number(bytes);
    agent->pending = get_number(bytes);
    uint64_t flags = get_number(bytes);
    agent->is_outside = (flags & 1) != 0;
    agent->is_failed = (flags & 2) != 0;
    agent->is_paused = (flags & 4) != 0;
    agent->is_unresponsive = (flags & 8) != 0;
    agent->is_ending = (flags & 16) != 0;
    agent->wait = get_text(bytes);
    agent->correlation_id = get_text(bytes);
    agent->since_ms = (int64_t)get_number(bytes);
    soc_past_add_agent(past, agent);
}

static void take_tie(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    char *owner = need_text(bytes);
    struct soc_past_tie *tie = soc_alloc_zero(sizeof(*tie));
    tie->number = number;
    tie->id = need_text(bytes);
    tie->role = get_text(bytes);
    tie->source = get_text(bytes);
    tie->added_ms = (int64_t)get_number(bytes);
    bytes->is_damaged |= !soc_past_add_tie(past, soc_slice_text(owner), tie);
    free(owner);
}

static void take_task(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    struct soc_past_task *task = soc_alloc_zero(sizeof(*task));
    task->number = number;
    task->name = need_text(bytes);
    task->owner = need_text(bytes);
    task->id = need_text(bytes);
    task->assigner = get_text(bytes);
    task->correlation_id = get_text(bytes);
    task->reason = get_text(bytes);
    task->state = get_state(bytes, task_states, COUNT(task_states));
    task->key = get_number(bytes);
    task->opened_ms = (int64_t)get_number(bytes);
    task->started_ms = (int64_t)get_number(bytes);
    task->ended_ms = (int64_t)get_number(bytes);
    task->tries = (uint32_t)get_number(bytes);
    soc_past_add_task(past, task);
}

static void take_item(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    struct soc_past_item *item = soc_alloc_zero(sizeof(*item));
    item->number = number;
    item->key = get_number(bytes);
    item->state = get_state(bytes, item_states, COUNT(item_states));
    soc_past_add_item(past, item);
}

static void take_offer(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    struct soc_past_offer *offer = soc_alloc_zero(sizeof(*offer));
    offer->number = number;
    offer->name = need_text(bytes);
    offer->key = get_number(bytes);
    offer->time_ms = (int64_t)get_number(bytes);
    soc_past_add_offer(past, offer);
}

static void take_letter(struct soc_past *past, uint64_t number, struct bytes *bytes)
{
    uint64_t value = get_number(bytes);
    bytes->is_damaged |= value == 0 || value > SOC_OUTCOME_COUNT;
    if (!bytes->is_damaged)
        soc_map_put_number(&past->dead, number & ~SOC_PAST_LETTER_NUMBER(0),
                           (void *)(uintptr_t)value);
}

bool soc_past_rows_take(struct soc_past *past, uint64_t number, struct soc_slice row)
{
    struct bytes bytes = {row.data, row.data + row.length, false};
    switch (get_number(&bytes)) {
    case SOC_PAST_HEAD:
        take_head(past, &bytes);
        break;
    case SOC_PAST_AGENT:
        take_agent(past, number, &bytes);
        break;
    case SOC_PAST_TIE:
        take_tie(past, number, &bytes);
        break;
    case SOC_PAST_TASK:
        take_task(past, number, &bytes);
        break;
    case SOC_PAST_ITEM:
        take_item(past, number, &bytes);
        break;
    case SOC_PAST_OFFER:
        take_offer(past, number, &bytes);
        break;
    case SOC_PAST_LETTER:
        take_letter(past, number, &bytes);
        break;
    default:
        return false;
    }
    return !bytes.is_damaged && bytes.at == bytes.end;
}

bool soc_past_rows_read(struct soc_past *past, struct soc_slice all)
{
    if (all.length == 0)
        return false;
    struct bytes bytes = {all.data, all.data + all.length, false};
    bool is_head = true; /* it comes first, and only there */
    while (bytes.at < bytes.end) {
        uint64_t number = get_number(&bytes);
        struct soc_slice row = get_slice(&bytes, get_number(&bytes));
        if (bytes.is_damaged || is_head != (number == 0) || !soc_past_rows_take(past, number, row))
            return false;
        is_head = false;
    }
    return !is_head;
}

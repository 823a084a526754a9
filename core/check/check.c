#include "check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "check/readers.h"

#define BLOCK_BYTES 65536

struct soc_check_block {
    struct soc_check_block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

void soc_check_fail(struct soc_check *check, const char *format, ...)
{
    va_list arguments;
    if (check->fault[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(check->fault, sizeof(check->fault), format, arguments);
    va_end(arguments);
}

static struct soc_check_block *take_block(struct soc_check *check, size_t bytes)
{
    struct soc_check_block *block = check->spares;
    if (block != NULL && block->size >= bytes) {
        check->spares = block->next;
    } else {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = soc_alloc(sizeof(*block) + size);
        block->size = size;
    }
    block->used = 0;
    block->next = check->blocks;
    check->blocks = block;
    return block;
}

void *soc_check_room(struct soc_check *check, size_t bytes)
{
    struct soc_check_block *block = check->blocks;
    bytes = (bytes + 15) & ~(size_t)15;
    if (block == NULL || block->size - block->used < bytes)
        block = take_block(check, bytes);
    void *room = block->bytes + block->used;
    block->used += bytes;
    memset(room, 0, bytes);
    return room;
}

struct soc_slice soc_check_copy(struct soc_check *check, struct soc_slice text)
{
    if (text.length == 0)
        return (struct soc_slice){0};
    char *room = soc_check_room(check, text.length);
    memcpy(room, text.data, text.length);
    return soc_slice(room, text.length);
}

struct soc_check_agent *soc_check_find(const struct soc_check *check, struct soc_slice id)
{
    return id.length == 0 ? NULL : soc_map_find(&check->agents, id);
}

/* Agents and keys of broadcasts are far fewer than their places here. */
static uint64_t pair_key(enum soc_check_pair kind, const struct soc_check_agent *agent,
                         uint64_t other)
{
    return (uint64_t)kind << 62 | (uint64_t)(agent->number & 0x7fffff) << 39 |
           (other & 0x7fffffffff);
}

bool soc_check_has_pair(const struct soc_check *check, enum soc_check_pair kind,
                        const struct soc_check_agent *agent, uint64_t other)
{
    return soc_map_find_number(&check->pairs, pair_key(kind, agent, other)) != NULL;
}

bool soc_check_note_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other)
{
    uint64_t key = pair_key(kind, agent, other);
    if (soc_map_find_number(&check->pairs, key) != NULL)
        return false;
    soc_map_put_number(&check->pairs, key, check);
    return true;
}

void soc_check_drop_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other)
{
    soc_map_take_number(&check->pairs, pair_key(kind, agent, other));
}

bool soc_check_note_once(struct soc_check *check, const struct soc_check_agent *agent,
                         struct soc_slice text)
{
    check->scratch.length = 0;
    soc_buf_put(&check->scratch, &agent->number, sizeof(agent->number));
    soc_buf_put_slice(&check->scratch, text);
    struct soc_slice key = soc_buf_slice(&check->scratch);
    if (soc_map_find(&check->once, key) != NULL)
        return false;
    soc_map_put(&check->once, soc_check_copy(check, key), check);
    return true;
}

struct soc_check *soc_check_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_check));
}

void soc_check_reset(struct soc_check *check)
{
    struct soc_check fresh = {
        .spares = check->spares,
        .outputs = check->outputs,
        .outputs_capacity = check->outputs_capacity,
        .waiting = check->waiting,
        .waiting_capacity = check->waiting_capacity,
        .cursor = {check->cursor.data, 0, check->cursor.capacity},
        .scratch = check->scratch,
    };
    while (check->blocks != NULL) {
        struct soc_check_block *block = check->blocks;
        check->blocks = block->next;
        block->next = fresh.spares;
        fresh.spares = block;
    }
    soc_map_fini(&check->agents);
    soc_map_fini(&check->pairs);
    soc_map_fini(&check->once);
    soc_map_fini(&check->speakers);
    free(check->messages);
    *check = fresh;
}

void soc_check_free(struct soc_check *check)
{
    if (check == NULL)
        return;
    soc_check_reset(check);
    while (check->spares != NULL) {
        struct soc_check_block *block = check->spares;
        check->spares = block->next;
        free(block);
    }
    for (size_t i = 0; i < check->waiting_capacity; i++)
        soc_buf_fini(&check->waiting[i].bytes);
    free(check->waiting);
    free(check->outputs);
    soc_buf_fini(&check->cursor);
    soc_buf_fini(&check->scratch);
    free(check);
}

void soc_check_bound(struct soc_check *check, uint32_t mailbox_max)
{
    check->mailbox_max = mailbox_max;
}

void soc_check_orchestrator(struct soc_check *check, struct soc_slice id)
{
    check->orchestrator = soc_check_copy(check, id);
}

void soc_check_heard(struct soc_check *check, struct soc_slice id)
{
    if (soc_map_find(&check->speakers, id) == NULL)
        soc_map_put(&check->speakers, soc_check_copy(check, id), check);
}

void soc_check_sealed(struct soc_check *check, uint64_t sequence, struct soc_slice batch)
{
    uint64_t last = check->applied + check->waiting_count;
    if (sequence != last + 1)
        soc_check_fail(check, "batch %llu was written behind batch %llu",
                       (unsigned long long)sequence, (unsigned long long)last);
    if (check->waiting_count == check->waiting_capacity) {
        size_t capacity = check->waiting_capacity == 0 ? 8 : check->waiting_capacity * 2;
        check->waiting = soc_realloc(check->waiting, capacity * sizeof(*check->waiting));
        for (size_t i = check->waiting_capacity; i < capacity; i++)
            check->waiting[i] = (struct soc_check_batch){0};
        check->waiting_capacity = capacity;
    }
    struct soc_check_batch *waiting = &check->waiting[check->waiting_count++];
    waiting->sequence = sequence;
    waiting->bytes.length = 0;
    soc_buf_put_slice(&waiting->bytes, batch);
}

static void note_output(struct soc_check *check, const struct soc_record_output *record)
{
    if (check->outputs_count > 0 && record->key <= check->outputs[check->outputs_count - 1].key)
        soc_check_fail(check, "the line %llu was recorded twice or out of order",
                       (unsigned long long)record->key);
    if (check->outputs_count == check->outputs_capacity) {
        check->outputs_capacity = check->outputs_capacity == 0 ? 64 : check->outputs_capacity * 2;
        check->outputs =
            soc_realloc(check->outputs, check->outputs_capacity * sizeof(*check->outputs));
    }
    check->outputs[check->outputs_count++] = (struct soc_check_output){
        .key = record->key,
        .stream = soc_check_copy(check, record->stream),
        .agent = soc_check_copy(check, record->agent),
        .text = soc_check_copy(check, record->text),
    };
}

static void note_outputs_seen(struct soc_check *check, uint64_t key)
{
    if (check->shown == 0 || check->outputs[check->shown - 1].key < key)
        soc_check_fail(check, "the line %llu is recorded as shown, but nobody has seen it",
                       (unsigned long long)key);
    check->outputs_done = key;
}

static void note_cursor(struct soc_check *check, struct soc_slice cursor)
{
    check->cursor.length = 0;
    soc_buf_put_slice(&check->cursor, cursor);
    soc_check_totals(check, cursor, false);
}

static void read_record(struct soc_check *check, const struct soc_record *record)
{
    check->place++;
    if (record->type == SOC_RECORD_OUTPUT)
        note_output(check, &record->output);
    else if (record->type == SOC_RECORD_OUTPUT_END)
        note_outputs_seen(check, record->output_end.key);
    else if (record->type == SOC_RECORD_META) {
        if (soc_slice_equal(record->meta.name, SOC_SLICE("cursor")))
            note_cursor(check, record->meta.value);
        else if (soc_slice_equal(record->meta.name, SOC_SLICE("policies")))
            soc_check_people(check, record);
    } else if (!soc_check_mail(check, record) && !soc_check_people(check, record)) {
        soc_check_turns(check, record);
    }
}

static void apply(struct soc_check *check, const struct soc_check_batch *batch)
{
    struct soc_slice rest = soc_buf_slice(&batch->bytes);
    struct soc_record record;
    int rc;
    while ((rc = soc_record_next(&rest, &record)) > 0)
        read_record(check, &record);
    if (rc < 0)
        soc_check_fail(check, "batch %llu holds bytes that are no record",
                       (unsigned long long)batch->sequence);
    soc_check_states(check);
    check->applied = batch->sequence;
}

/* Reads what waits up to `sequence`. */
static void apply_up_to(struct soc_check *check, uint64_t sequence)
{
    size_t count = 0;
    while (count < check->waiting_count && check->waiting[count].sequence <= sequence)
        apply(check, &check->waiting[count++]);
    /* The emptied ones go behind the others, with their room. */
    for (size_t i = 0; i + count < check->waiting_count; i++) {
        struct soc_check_batch moved = check->waiting[i];
        check->waiting[i] = check->waiting[i + count];
        check->waiting[i + count] = moved;
    }
    check->waiting_count -= count;
}

void soc_check_durable(struct soc_check *check, uint64_t sequence)
{
    apply_up_to(check, sequence);
    if (check->applied < sequence)
        soc_check_fail(check, "batch %llu is called durable, and was never written",
                       (unsigned long long)sequence);
    check->durable = sequence;
}

void soc_check_shown(struct soc_check *check, struct soc_slice stream, struct soc_slice agent,
                     struct soc_slice text)
{
    if (check->shown >= check->outputs_count) {
        soc_check_fail(check, "a line of %.*s was shown before it was durable: %.*s",
                       (int)agent.length, agent.data, (int)text.length, text.data);
        return;
    }
    const struct soc_check_output *next = &check->outputs[check->shown++];
    if (!soc_slice_equal(next->stream, stream) || !soc_slice_equal(next->agent, agent) ||
        !soc_slice_equal(next->text, text))
        soc_check_fail(check, "a line of %.*s was shown out of order: %.*s", (int)agent.length,
                       agent.data, (int)text.length, text.data);
}

void soc_check_restart(struct soc_check *check, uint64_t sequence)
{
    if (sequence < check->durable)
        soc_check_fail(check, "batch %llu was durable, and is lost: the store ends with %llu",
                       (unsigned long long)check->durable, (unsigned long long)sequence);
    apply_up_to(check, sequence);
    if (sequence > check->applied)
        soc_check_fail(check, "the store ends with batch %llu, which was never written",
                       (unsigned long long)sequence);
    check->waiting_count = 0;
    check->shown = 0;
    while (check->shown < check->outputs_count &&
           check->outputs[check->shown].key <= check->outputs_done)
        check->shown++;
}

void soc_check_end(struct soc_check *check, int64_t now_ms)
{
    if (check->waiting_count > 0)
        soc_check_fail(check, "at the end %zu batches are not durable", check->waiting_count);
    if (check->shown < check->outputs_count)
        soc_check_fail(
            check, "at the end a line of %.*s was never shown: %.*s",
            (int)check->outputs[check->shown].agent.length, check->outputs[check->shown].agent.data,
            (int)check->outputs[check->shown].text.length, check->outputs[check->shown].text.data);
    if (check->cursor.length > 0)
        soc_check_totals(check, soc_buf_slice(&check->cursor), true);
    check->now_ms = now_ms;
    soc_check_mail_end(check);
    soc_check_turns_end(check);
}

const char *soc_check_fault(const struct soc_check *check)
{
    return check->fault[0] == '\0' ? NULL : check->fault;
}

uint64_t soc_check_messages(const struct soc_check *check)
{
    return check->sent + check->readers;
}

uint64_t soc_check_agents(const struct soc_check *check)
{
    return check->births;
}

/* The one that has handled most, but less than `before` or as much and born later. */
static const struct soc_check_agent *find_busiest(const struct soc_check *check,
                                                  const struct soc_check_agent *before)
{
    const struct soc_check_agent *busiest = NULL;
    const struct soc_check_agent *agent;
    size_t cursor = 0;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL) {
        if (before != NULL &&
            (agent->handled > before->handled ||
             (agent->handled == before->handled && agent->number <= before->number)))
            continue;
        if (agent->handled > 0 && (busiest == NULL || agent->handled > busiest->handled))
            busiest = agent;
    }
    return busiest;
}

void soc_check_put_busiest(const struct soc_check *check, int count, struct soc_buf *out)
{
    const struct soc_check_agent *agent = NULL;
    for (int i = 0; i < count && (agent = find_busiest(check, agent)) != NULL; i++) {
        soc_buf_put_text(out, i == 0 ? "" : ", ");
        soc_buf_put_slice(out, agent->id);
        soc_buf_printf(out, " (%lld messages)", (long long)agent->handled);
    }
}

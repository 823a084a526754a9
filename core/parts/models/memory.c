#include "parts/models/memory.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "parts/history/replay.h"
#include "parts/models/models_state.h"

/* What trimming leaves, so that many entries go at a time. */
#define LEFT_BYTES (SOC_MEMORY_BYTES_MAX / 4 * 3)

/* The entries of one agent that are in memory, back to back. */
struct memory {
    char *agent;
    struct soc_buf text;
    size_t *ends; /* where each entry ends in `text` */
    size_t count;
    size_t capacity;
    uint64_t gone; /* entries dropped before these */
    bool is_large; /* counted in soc_models_state(host)->memories_large */
};

static struct memory *find(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_map_find(&soc_models_state(host)->memories, soc_agent_id(agent));
}

/* Makes room for one entry. There may be very many conversations that grow slowly, so
 * the capacity grows by a quarter, not by doubling. */
static void make_room(struct memory *memory, size_t bytes)
{
    struct soc_buf *text = &memory->text;
    if (text->length + bytes > text->capacity) {
        text->capacity = (text->length + bytes) / 4 * 5 + 64;
        text->data = soc_realloc(text->data, text->capacity);
    }
    if (memory->count == memory->capacity) {
        memory->capacity = memory->capacity / 4 * 5 + 8;
        memory->ends = soc_realloc(memory->ends, memory->capacity * sizeof(*memory->ends));
    }
}

static void append(struct soc_host *host, struct soc_slice agent, struct soc_slice entry,
                   uint64_t number)
{
    assert(number > 0);
    struct memory *memory = soc_map_find(&soc_models_state(host)->memories, agent);
    if (memory == NULL) {
        memory = soc_alloc_zero(sizeof(*memory));
        memory->agent = soc_copy_text(agent.data, agent.length);
        memory->gone = number - 1;
        soc_map_put(&soc_models_state(host)->memories, soc_slice_text(memory->agent), memory);
    }
    make_room(memory, entry.length);
    soc_buf_put_slice(&memory->text, entry);
    memory->ends[memory->count++] = memory->text.length;
    if (memory->text.length > SOC_MEMORY_BYTES_MAX && !memory->is_large) {
        memory->is_large = true;
        soc_models_state(host)->memories_large++;
    }
}

/* Drops the last entry. */
static void drop_last(struct soc_host *host, const struct soc_agent *agent)
{
    struct memory *memory = find(host, agent);
    assert(memory != NULL && memory->count > 0);
    memory->count--;
    memory->text.length = memory->count == 0 ? 0 : memory->ends[memory->count - 1];
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    drop_last(host, undo->agent);
}

uint64_t soc_memory_append(struct soc_host *host, struct soc_slice entry)
{
    assert(host->turn.is_open && host->turn.agent != NULL);
    const struct soc_agent *agent = host->turn.agent;
    const struct memory *memory = find(host, agent);
    if (memory != NULL && memory->text.length + entry.length > SOC_MEMORY_BYTES_OPEN_MAX)
        return 0;
    append(host, soc_agent_id(agent), entry, 1);
    static const struct soc_undo_ops ops = {.roll_back = take_back, .is_talk = true};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .agent = host->turn.agent});
    struct soc_record record = {.type = SOC_RECORD_MEMORY};
    record.memory = (struct soc_record_memory){
        .number = soc_memory_count(host, agent),
        .time_ms = (uint64_t)soc_host_now(host),
        .agent = soc_agent_id(agent),
        .entry = entry,
    };
    soc_batch_put(host, &record);
    return record.memory.number;
}

uint64_t soc_memory_count(const struct soc_host *host, const struct soc_agent *agent)
{
    const struct memory *memory = find(host, agent);
    return memory == NULL ? 0 : memory->gone + memory->count;
}

/* Returns how many entries must go for the rest to fit into `bytes_max`. */
static size_t count_beyond(const struct memory *memory, size_t bytes_max)
{
    size_t i = 0;
    while (i + 1 < memory->count && memory->text.length - memory->ends[i] > bytes_max)
        i++;
    bool is_beyond = memory->text.length > bytes_max;
    return is_beyond && i + 1 < memory->count ? i + 1 : i;
}

uint64_t soc_memory_first(const struct soc_host *host, const struct soc_agent *agent,
                          size_t bytes_max)
{
    const struct memory *memory = find(host, agent);
    return memory == NULL ? 1 : memory->gone + count_beyond(memory, bytes_max) + 1;
}

void soc_memory_put(const struct soc_host *host, const struct soc_agent *agent, uint64_t first,
                    uint64_t last, struct soc_buf *out)
{
    const struct memory *memory = find(host, agent);
    for (uint64_t i = first; i <= last; i++) {
        assert(memory != NULL && i > memory->gone && i <= memory->gone + memory->count);
        size_t index = (size_t)(i - memory->gone - 1);
        size_t start = index == 0 ? 0 : memory->ends[index - 1];
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_buf_put(out, memory->text.data + start, memory->ends[index] - start);
    }
}

/* Copies what stays, so that the memory of a long conversation is returned. */
static void trim(struct soc_host *host, struct memory *memory)
{
    assert(memory->is_large && soc_models_state(host)->memories_large > 0);
    size_t beyond = count_beyond(memory, LEFT_BYTES);
    size_t start = beyond == 0 ? 0 : memory->ends[beyond - 1];
    struct soc_buf text = {0};
    soc_buf_put(&text, memory->text.data + start, memory->text.length - start);
    soc_buf_fini(&memory->text);
    memory->text = text;
    memory->count -= beyond;
    memory->gone += beyond;
    for (size_t i = 0; i < memory->count; i++)
        memory->ends[i] = memory->ends[i + beyond] - start;
    memory->is_large = false;
    soc_models_state(host)->memories_large--;
}

void soc_memory_trim(struct soc_host *host, const struct soc_agent *agent)
{
    if (soc_models_state(host)->memories_large == 0)
        return;
    struct memory *memory = find(host, agent);
    if (memory != NULL && memory->is_large && !soc_replay_is_under_way(host))
        trim(host, memory);
}

void soc_memory_restore(struct soc_host *host, const struct soc_record_memory *record)
{
    append(host, record->agent, record->entry, record->number);
    const struct soc_agent *agent = soc_registry_find(host, record->agent);
    bool is_of_tables = record->time_ms == 0; /* otherwise its activation may still be restored */
    if (soc_models_state(host)->memories_large > 0 && is_of_tables && agent != NULL &&
        agent->activation == NULL)
        soc_memory_trim(host, agent);
}

void soc_memory_settle(struct soc_host *host)
{
    size_t cursor = 0;
    const struct memory *memory;
    while (soc_models_state(host)->memories_large > 0 &&
           (memory = soc_map_each(&soc_models_state(host)->memories, &cursor)) != NULL) {
        const struct soc_agent *agent = soc_registry_find(host, soc_slice_text(memory->agent));
        if (agent != NULL && agent->activation == NULL)
            soc_memory_trim(host, agent);
    }
}

void soc_memory_repeat(struct soc_host *host, uint64_t number, struct soc_slice entry)
{
    const struct soc_agent *agent = host->turn.agent;
    if (!soc_replay_is_under_way(host))
        return;
    while (soc_memory_count(host, agent) >= number && number > 0)
        drop_last(host, agent);
    append(host, soc_agent_id(agent), entry, 1);
}

static void free_memory(struct memory *memory)
{
    free(memory->agent);
    free(memory->ends);
    soc_buf_fini(&memory->text);
    free(memory);
}

void soc_memory_copy(struct soc_host *to, const struct soc_host *from,
                     const struct soc_agent *agent)
{
    const struct memory *memory = find(from, agent);
    size_t start = 0;
    for (size_t i = 0; memory != NULL && i < memory->count; i++) {
        append(to, soc_agent_id(agent),
               soc_slice(memory->text.data + start, memory->ends[i] - start), memory->gone + i + 1);
        start = memory->ends[i];
    }
}

void soc_memory_forget(struct soc_host *host, const struct soc_agent *agent)
{
    struct memory *memory = soc_map_take(&soc_models_state(host)->memories, soc_agent_id(agent));
    if (memory == NULL)
        return;
    soc_models_state(host)->memories_large -= memory->is_large;
    free_memory(memory);
}

void soc_memory_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct memory *memory;
    while ((memory = soc_map_each(&soc_models_state(host)->memories, &cursor)) != NULL)
        free_memory(memory);
    soc_map_fini(&soc_models_state(host)->memories);
}

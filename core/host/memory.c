#include "host/memory.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "host/state.h"
#include "host/turn.h"

/* The entries of one agent, one behind the other. */
struct memory {
    char *agent;
    struct soc_buf text;
    size_t *ends; /* where each entry ends in `text` */
    size_t count;
    size_t capacity;
};

static struct memory *find(const struct soc_host *host, const struct soc_agent *agent)
{
    return soc_map_find(&host->memories, soc_agent_id(agent));
}

static void append(struct soc_host *host, struct soc_slice agent, struct soc_slice entry)
{
    struct memory *memory = soc_map_find(&host->memories, agent);
    if (memory == NULL) {
        memory = soc_alloc_zero(sizeof(*memory));
        memory->agent = soc_copy_text(agent.data, agent.length);
        soc_map_put(&host->memories, soc_slice_text(memory->agent), memory);
    }
    if (memory->count == memory->capacity) {
        memory->capacity = memory->capacity == 0 ? 8 : memory->capacity * 2;
        memory->ends = soc_realloc(memory->ends, memory->capacity * sizeof(*memory->ends));
    }
    soc_buf_put_slice(&memory->text, entry);
    memory->ends[memory->count++] = memory->text.length;
}

uint64_t soc_memory_append(struct soc_host *host, struct soc_slice entry)
{
    const struct soc_agent *agent = host->turn.agent;
    append(host, soc_agent_id(agent), entry);
    soc_turn_note(host, (struct soc_undo){.kind = SOC_UNDO_MEMORY, .agent = host->turn.agent});
    struct soc_record record = {.type = SOC_RECORD_MEMORY};
    record.memory = (struct soc_record_memory){
        .number = find(host, agent)->count,
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
    return memory == NULL ? 0 : memory->count;
}

void soc_memory_put(const struct soc_host *host, const struct soc_agent *agent, uint64_t first,
                    uint64_t last, struct soc_buf *out)
{
    const struct memory *memory = find(host, agent);
    for (uint64_t i = first; i <= last; i++) {
        assert(memory != NULL && i >= 1 && i <= memory->count);
        size_t start = i == 1 ? 0 : memory->ends[i - 2];
        if (i > first)
            soc_buf_put_byte(out, ',');
        soc_buf_put(out, memory->text.data + start, memory->ends[i - 1] - start);
    }
}

void soc_memory_take_back(struct soc_host *host, const struct soc_agent *agent)
{
    struct memory *memory = find(host, agent);
    memory->count--;
    memory->text.length = memory->count == 0 ? 0 : memory->ends[memory->count - 1];
}

void soc_memory_restore(struct soc_host *host, const struct soc_record_memory *record)
{
    append(host, record->agent, record->entry);
}

void soc_memory_repeat(struct soc_host *host, uint64_t number, struct soc_slice entry)
{
    const struct soc_agent *agent = host->turn.agent;
    if (host->replay == NULL)
        return;
    while (soc_memory_count(host, agent) >= number && number > 0)
        soc_memory_take_back(host, agent);
    append(host, soc_agent_id(agent), entry);
}

static void free_memory(struct memory *memory)
{
    free(memory->agent);
    free(memory->ends);
    soc_buf_fini(&memory->text);
    free(memory);
}

void soc_memory_forget(struct soc_host *host, const struct soc_agent *agent)
{
    struct memory *memory = soc_map_take(&host->memories, soc_agent_id(agent));
    if (memory != NULL)
        free_memory(memory);
}

void soc_memory_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct memory *memory;
    while ((memory = soc_map_each(&host->memories, &cursor)) != NULL)
        free_memory(memory);
    soc_map_fini(&host->memories);
}

#include "check/books.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define BLOCK_BYTES 65536

struct soc_check_block {
    struct soc_check_block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

void soc_books_fail(struct soc_check *check, const char *format, ...)
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

void *soc_books_room(struct soc_check *check, size_t bytes)
{
    struct soc_check_block *block = check->blocks;
    assert(bytes > 0);
    bytes = (bytes + 15) & ~(size_t)15;
    if (block == NULL || block->size - block->used < bytes)
        block = take_block(check, bytes);
    assert(block->size - block->used >= bytes);
    void *room = block->bytes + block->used;
    block->used += bytes;
    memset(room, 0, bytes);
    return room;
}

struct soc_slice soc_books_copy(struct soc_check *check, struct soc_slice text)
{
    if (text.length == 0)
        return (struct soc_slice){0};
    char *room = soc_books_room(check, text.length);
    memcpy(room, text.data, text.length);
    return soc_slice(room, text.length);
}

struct soc_check_agent *soc_books_find(const struct soc_check *check, struct soc_slice id)
{
    return id.length == 0 ? NULL : soc_map_find(&check->agents, id);
}

void soc_books_touch(struct soc_check *check, struct soc_check_agent *agent)
{
    if (agent->is_touched)
        return;
    agent->is_touched = true;
    agent->touched = check->touched;
    check->touched = agent;
}

/* There are far fewer agents and broadcast keys than fit here. */
static uint64_t pair_key(enum soc_check_pair kind, const struct soc_check_agent *agent,
                         uint64_t other)
{
    assert(agent->number > 0 && agent->number <= 0x7fffff);
    return (uint64_t)kind << 62 | (uint64_t)(agent->number & 0x7fffff) << 39 |
           (other & 0x7fffffffff);
}

bool soc_books_has_pair(const struct soc_check *check, enum soc_check_pair kind,
                        const struct soc_check_agent *agent, uint64_t other)
{
    return soc_map_find_number(&check->pairs, pair_key(kind, agent, other)) != NULL;
}

bool soc_books_note_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other)
{
    uint64_t key = pair_key(kind, agent, other);
    if (soc_map_find_number(&check->pairs, key) != NULL)
        return false;
    soc_map_put_number(&check->pairs, key, check);
    return true;
}

void soc_books_drop_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other)
{
    soc_map_take_number(&check->pairs, pair_key(kind, agent, other));
}

bool soc_books_note_once(struct soc_check *check, const struct soc_check_agent *agent,
                         struct soc_slice text)
{
    check->scratch.length = 0;
    soc_buf_put(&check->scratch, &agent->number, sizeof(agent->number));
    soc_buf_put_slice(&check->scratch, text);
    struct soc_slice key = soc_buf_slice(&check->scratch);
    if (soc_map_find(&check->once, key) != NULL)
        return false;
    soc_map_put(&check->once, soc_books_copy(check, key), check);
    return true;
}

void soc_books_reset(struct soc_check *check)
{
    struct soc_check fresh = {
        .spares = check->spares,
        .outputs = check->outputs,
        .outputs_capacity = check->outputs_capacity,
        .waiting = check->waiting,
        .waiting_capacity = check->waiting_capacity,
        .cursor = {check->cursor.data, 0, check->cursor.capacity},
        .history = {check->history.data, 0, check->history.capacity},
        .steps = {check->steps.data, 0, check->steps.capacity},
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
    soc_map_fini(&check->said);
    soc_map_fini(&check->keys);
    soc_map_fini(&check->call_keys);
    soc_map_fini(&check->items);
    soc_map_fini(&check->barriers);
    soc_map_fini(&check->places);
    free(check->messages);
    *check = fresh;
}

void soc_books_free(struct soc_check *check)
{
    soc_books_reset(check);
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
    soc_buf_fini(&check->history);
    soc_buf_fini(&check->steps);
    soc_buf_fini(&check->scratch);
    free(check);
}

#include "lualib/lua_heap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

#define STEP_BYTES  16  /* difference between two size classes */
#define SMALL_BYTES 512 /* largest block from a free list */
#define CLASSES     (SMALL_BYTES / STEP_BYTES)
#define SLAB_BYTES  (256u << 10)

/* From this size on a heap exceeds the private cache of a core. */
#define LARGE_BYTES (8u << 20)

/* Slab size of a large heap: a few huge pages, if the system has them. Its objects are
 * spread over so many pages that TLB misses show. */
#define LARGE_SLAB_BYTES (4u << 20)
#define LARGE_PAGE_BYTES (2u << 20)

struct piece {
    struct piece *next;
};

struct slab {
    struct slab *next;
    _Alignas(16) char bytes[];
};

struct heap {
    size_t bytes_used;
    size_t bytes_limit; /* where the fast path ends: the lesser of the next two */
    size_t bytes_watch; /* where watch_cb is called, once */
    size_t bytes_end;   /* where requests are refused; bytes_max at most */
    size_t bytes_max;
    soc_lua_heap_cb *watch_cb; /* NULL: not watched */
    void *watch_user;
    soc_lua_heap_cb *end_cb; /* called instead of refusing; NULL: refused */
    void *end_user;
    struct piece *free[CLASSES];
    struct slab *slabs;
    char *fresh; /* unused part of the newest slab */
    char *fresh_end;
    int percent; /* the collector waits for this much, see below */
    uint32_t seed;
};

static size_t class_of(size_t size)
{
    return (size - 1) / STEP_BYTES;
}

/* Returns a new slab of `bytes` in total, or NULL. */
static struct slab *take_slab(struct heap *heap, size_t *bytes)
{
    if (heap->bytes_used < LARGE_BYTES) {
        *bytes = SLAB_BYTES;
        return malloc(SLAB_BYTES);
    }
    *bytes = LARGE_SLAB_BYTES;
    struct slab *slab = aligned_alloc(LARGE_PAGE_BYTES, LARGE_SLAB_BYTES);
    if (slab != NULL)
        madvise(slab, LARGE_SLAB_BYTES, MADV_HUGEPAGE); /* only a hint */
    return slab;
}

static void *take_small(struct heap *heap, size_t size)
{
    size_t class = class_of(size);
    struct piece *piece = heap->free[class];
    if (piece != NULL) {
        heap->free[class] = piece->next;
        return piece;
    }
    size_t bytes = (class + 1) * STEP_BYTES;
    if ((size_t)(heap->fresh_end - heap->fresh) < bytes) {
        size_t slab_bytes;
        struct slab *slab = take_slab(heap, &slab_bytes);
        if (slab == NULL)
            return NULL;
        slab->next = heap->slabs;
        heap->slabs = slab;
        heap->fresh = slab->bytes;
        heap->fresh_end = (char *)slab + slab_bytes;
    }
    void *fresh = heap->fresh;
    heap->fresh += bytes;
    return fresh;
}

static void give_small(struct heap *heap, void *memory, size_t size)
{
    struct piece *piece = memory;
    size_t class = class_of(size);
    piece->next = heap->free[class];
    heap->free[class] = piece;
}

static void *take(struct heap *heap, size_t size)
{
    return size <= SMALL_BYTES ? take_small(heap, size) : malloc(size);
}

static void give(struct heap *heap, void *memory, size_t size)
{
    if (size <= SMALL_BYTES)
        give_small(heap, memory, size);
    else
        free(memory);
}

static void *resize(struct heap *heap, void *old, size_t old_size, size_t size)
{
    if (old_size > SMALL_BYTES && size > SMALL_BYTES)
        return realloc(old, size);
    if (old_size <= SMALL_BYTES && size <= SMALL_BYTES && class_of(old_size) == class_of(size))
        return old;
    void *memory = take(heap, size);
    if (memory == NULL)
        return NULL;
    memcpy(memory, old, old_size < size ? old_size : size);
    give(heap, old, old_size);
    return memory;
}

static void set_limit(struct heap *heap)
{
    heap->bytes_limit = heap->bytes_watch < heap->bytes_end ? heap->bytes_watch : heap->bytes_end;
}

static void *refuse(const struct heap *heap)
{
    if (heap->end_cb != NULL)
        heap->end_cb(heap->end_user);
    return NULL;
}

/* The request takes the heap to `bytes`, beyond its limit; false: it is refused. */
static bool pass_limit(struct heap *heap, size_t bytes)
{
    soc_lua_heap_cb *watch_cb = heap->watch_cb;
    if (watch_cb != NULL && bytes > heap->bytes_watch) {
        heap->watch_cb = NULL;
        heap->bytes_watch = SIZE_MAX;
        set_limit(heap);
        watch_cb(heap->watch_user);
    }
    return bytes <= heap->bytes_end;
}

/* Handles any request. Out of line, so that the fast path saves no registers. */
static __attribute__((noinline)) void *allocate_any(struct heap *heap, void *old, size_t old_size,
                                                    size_t size)
{
    size_t freed = old == NULL ? 0 : old_size;
    if (size == 0) {
        if (freed > 0)
            give(heap, old, freed);
        heap->bytes_used -= freed;
        return NULL;
    }
    size_t bytes = heap->bytes_used + size - freed;
    if (size > freed && bytes > heap->bytes_limit && !pass_limit(heap, bytes))
        return refuse(heap);
    void *memory = freed == 0 ? take(heap, size) : resize(heap, old, freed, size);
    if (memory == NULL)
        return refuse(heap);
    heap->bytes_used = bytes;
    return memory;
}

/* A lua_Alloc. Without `old`, `old_size` is the kind of the object. Nearly all requests
 * are small and take the fast path. The next free block is cold, so it is prefetched
 * while this one is put to use. */
static void *allocate(void *user, void *old, size_t old_size, size_t size)
{
    struct heap *heap = user;
    if (old == NULL && size - 1 < SMALL_BYTES) {
        struct piece *piece = heap->free[class_of(size)];
        if (piece != NULL && heap->bytes_used + size <= heap->bytes_limit) {
            heap->free[class_of(size)] = piece->next;
            heap->bytes_used += size;
            __builtin_prefetch(piece->next, 1);
            return piece;
        }
    } else if (size == 0 && old == NULL) {
        return NULL;
    } else if (size == 0 && old_size - 1 < SMALL_BYTES) {
        give_small(heap, old, old_size);
        heap->bytes_used -= old_size;
        return NULL;
    }
    return allocate_any(heap, old, old_size, size);
}

static void free_heap(struct heap *heap)
{
    while (heap->slabs != NULL) {
        struct slab *next = heap->slabs->next;
        free(heap->slabs);
        heap->slabs = next;
    }
    free(heap);
}

/* The collector runs when the heap reaches this percentage of what survived the last
 * run. A small heap collects often, so that new objects reuse memory that is still in
 * the cache: a message costs a fifth less than with 400. Collecting a large heap means
 * walking live data all over memory, so it happens rarely; but not so rarely that the
 * garbage of a huge one would reach the heap's limit. */
#define SMALL_COLLECT_PERCENT 150
#define LARGE_COLLECT_PERCENT 400
#define HUGE_PART             8 /* a heap is huge from this part of its limit on */

static int percent_of(const struct heap *heap)
{
    bool is_large = heap->bytes_used >= LARGE_BYTES;
    bool is_huge = heap->bytes_used > heap->bytes_max / HUGE_PART;
    return is_large && !is_huge ? LARGE_COLLECT_PERCENT : SMALL_COLLECT_PERCENT;
}

lua_State *soc_lua_heap_open(size_t bytes_max)
{
    return soc_lua_heap_open_seeded(bytes_max, 0);
}

lua_State *soc_lua_heap_open_seeded(size_t bytes_max, uint32_t seed)
{
    assert(bytes_max > 0);
    struct heap *heap = soc_alloc_zero(sizeof(*heap));
    heap->bytes_max = heap->bytes_end = heap->bytes_limit = bytes_max;
    heap->bytes_watch = SIZE_MAX;
    heap->seed = seed;
    lua_State *L = lua_newstate(allocate, heap);
    if (L == NULL)
        free_heap(heap);
    else
        lua_gc(L, LUA_GCINC, heap->percent = SMALL_COLLECT_PERCENT, 0, 0);
    return L;
}

/* Lends the heap of the state; NULL: it has another allocator. */
static struct heap *find_heap(lua_State *L)
{
    void *user;
    return lua_getallocf(L, &user) == allocate ? user : NULL;
}

uint32_t soc_lua_heap_seed(lua_State *L)
{
    const struct heap *heap = find_heap(L);
    return heap == NULL ? 0 : heap->seed;
}

size_t soc_lua_heap_bytes(lua_State *L)
{
    const struct heap *heap = find_heap(L);
    return heap == NULL ? 0 : heap->bytes_used;
}

void soc_lua_heap_watch(lua_State *L, size_t bytes_more, soc_lua_heap_cb *cb, void *user)
{
    struct heap *heap = find_heap(L);
    if (heap == NULL)
        return;
    heap->bytes_watch = cb == NULL ? SIZE_MAX : heap->bytes_used + bytes_more;
    heap->watch_cb = cb;
    heap->watch_user = user;
    set_limit(heap);
}

void soc_lua_heap_set_end(lua_State *L, size_t bytes_more, soc_lua_heap_cb *end, void *user)
{
    struct heap *heap = find_heap(L);
    if (heap == NULL)
        return;
    size_t left = heap->bytes_max - heap->bytes_used;
    heap->bytes_end =
        end != NULL && bytes_more < left ? heap->bytes_used + bytes_more : heap->bytes_max;
    heap->end_cb = end;
    heap->end_user = user;
    set_limit(heap);
}

void soc_lua_heap_tend(lua_State *L)
{
    struct heap *heap = find_heap(L);
    if (heap == NULL || heap->percent == percent_of(heap))
        return;
    heap->percent = percent_of(heap);
    lua_gc(L, LUA_GCINC, heap->percent, 0, 0);
}

void soc_lua_heap_close(lua_State *L)
{
    if (L == NULL)
        return;
    void *user;
    lua_Alloc allocator = lua_getallocf(L, &user);
    assert(allocator == allocate);
    (void)allocator;
    struct heap *heap = user;
    lua_close(L);
    assert(heap->bytes_used == 0);
    free_heap(heap);
}

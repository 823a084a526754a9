#include "store/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/tables/batches.h"
#include "store/tables/database.h"
#include "store/tables/fold.h"
#include "store/tables/kept.h"
#include "store/tables/load.h"
#include "store/tables/page.h"
#include "store/tables/query.h"
#include "store/tables/snapshots.h"

struct soc_memory {
    struct soc_store store;  /* first */
    struct soc_buf *batches; /* owned; those not folded yet are from `first` on */
    size_t first;
    size_t count;
    size_t capacity;
    struct soc_database database; /* closed until the tables are needed */
    struct soc_fold *fold;        /* owned; NULL until then */
    struct soc_buf *blank;        /* lent; NULL: none */
};

static struct soc_memory *memory_of(struct soc_store *store)
{
    return (struct soc_memory *)store;
}

/* Makes room for one more batch; the space in front of the first one is used up first. */
static void make_room(struct soc_memory *memory)
{
    if (memory->count < memory->capacity)
        return;
    if (memory->first > memory->capacity / 2) {
        memory->count -= memory->first;
        memmove(memory->batches, memory->batches + memory->first,
                memory->count * sizeof(*memory->batches));
        memory->first = 0;
        return;
    }
    memory->capacity = memory->capacity == 0 ? 16 : memory->capacity * 2;
    memory->batches = soc_realloc(memory->batches, memory->capacity * sizeof(*memory->batches));
}

static int commit(struct soc_store *store, const struct soc_slice *batches, size_t count,
                  struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    (void)detail;
    for (size_t i = 0; i < count; i++) {
        make_room(memory);
        struct soc_buf *copy = &memory->batches[memory->count++];
        *copy = (struct soc_buf){0};
        soc_buf_put_slice(copy, batches[i]);
        soc_batches_pass(&store->at, batches[i]);
    }
    return SOC_OK;
}

static int load(struct soc_store *store, soc_record_cb *cb, void *user, struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = SOC_OK;
    assert(memory->count - memory->first == store->at.sequence - store->at.folded);
    if (store->at.folded > 0)
        rc = soc_load_tables(&memory->database, cb, user, detail);
    for (size_t i = memory->first; i < memory->count && rc == SOC_OK; i++)
        rc = soc_store_load_batch(soc_buf_slice(&memory->batches[i]),
                                  store->at.folded + 1 + i - memory->first, cb, user, detail);
    return rc;
}

static int need_tables(struct soc_memory *memory, struct soc_detail *detail)
{
    if (memory->database.db != NULL)
        return SOC_OK;
    int rc = soc_database_open(&memory->database, ":memory:", SQLITE_OPEN_READWRITE, detail);
    if (rc == SOC_OK)
        rc = soc_database_create_from(&memory->database, memory->blank, detail);
    if (rc < 0) {
        soc_database_close(&memory->database);
        return rc;
    }
    memory->fold = soc_fold_new(&memory->database);
    return SOC_OK;
}

/* The source of folding (struct soc_fold_source). */
static int read_batches(void *user, uint64_t *last, uint64_t until, size_t bytes_max,
                        struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_memory *memory = user;
    (void)detail;
    while (*last < until && out->length < bytes_max) {
        size_t index = memory->first + (size_t)(*last - memory->store.at.folded);
        assert(index < memory->count);
        soc_buf_put_slice(out, soc_buf_slice(&memory->batches[index]));
        (*last)++;
    }
    return SOC_OK;
}

static int fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    struct soc_fold_source source = {read_batches, memory};
    uint64_t folded = store->at.folded;
    assert(memory->count - memory->first == store->at.sequence - folded);
    int rc = need_tables(memory, detail);
    if (rc == SOC_OK)
        rc = soc_fold_run(memory->fold, &source, &store->at, bytes_max, detail);
    for (; folded < store->at.folded; folded++)
        soc_buf_fini(&memory->batches[memory->first++]);
    return rc;
}

/* Its batches are not in the table `journal`, so it must be folded. */
static int look(struct soc_store *store, const struct soc_query *query, struct soc_page *page,
                struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = need_tables(memory, detail);
    if (rc < 0)
        return rc;
    assert(store->at.folded == store->at.sequence || strcmp(query->what, "activity") != 0);
    return soc_page_serves(query) ? soc_page_answer(&memory->database, query, page, out, detail)
                                  : soc_query_answer(&memory->database, query, out, detail);
}

static int letter(struct soc_store *store, uint64_t key, soc_record_cb *cb, void *user,
                  struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    return store->at.folded == 0 ? SOC_OK
                                 : soc_load_letter(&memory->database, key, cb, user, detail);
}

static int history(struct soc_store *store, soc_history_cb *cb, void *user,
                   struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = need_tables(memory, detail);
    return rc < 0 ? rc : soc_kept_history(&memory->database, cb, user, detail);
}

static int history_count(struct soc_store *store, int64_t *count, struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = need_tables(memory, detail);
    return rc < 0 ? rc : soc_kept_history_count(&memory->database, count, detail);
}

static int source(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                  struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = need_tables(memory, detail);
    return rc < 0 ? rc : soc_kept_source(&memory->database, hash, out, detail);
}

static int memories(struct soc_store *store, soc_memory_cb *cb, void *user,
                    struct soc_detail *detail)
{
    struct soc_memory *memory = memory_of(store);
    int rc = need_tables(memory, detail);
    return rc < 0 ? rc : soc_kept_memories(&memory->database, cb, user, detail);
}

static int keep(struct soc_store *store, struct soc_snapshot *snapshot, struct soc_detail *detail)
{
    return soc_snapshots_store(&memory_of(store)->database, snapshot, detail);
}

static void close_store(struct soc_store *store)
{
    struct soc_memory *memory = memory_of(store);
    soc_database_close(&memory->database);
    soc_fold_free(memory->fold);
    for (size_t i = memory->first; i < memory->count; i++)
        soc_buf_fini(&memory->batches[i]);
    free(memory->batches);
    free(memory);
}

static const struct soc_store_ops ops = {
    .load = load,
    .commit = commit,
    .fold = fold,
    .look = look,
    .letter = letter,
    .history = history,
    .history_count = history_count,
    .source = source,
    .memories = memories,
    .keep = keep,
    .close = close_store,
};

struct soc_store *soc_memory_open(struct soc_buf *blank)
{
    struct soc_memory *memory = soc_alloc_zero(sizeof(*memory));
    memory->store.ops = &ops;
    memory->blank = blank;
    return &memory->store;
}

#include "store/store.h"

#include <assert.h>

void soc_store_close(struct soc_store *store)
{
    if (store != NULL)
        store->ops->close(store);
}

int soc_store_load(struct soc_store *store, soc_record_cb *cb, void *user,
                   struct soc_detail *detail)
{
    assert(cb != NULL);
    return store->ops->load(store, cb, user, detail);
}

uint64_t soc_store_sequence(const struct soc_store *store)
{
    return store->at.sequence;
}

uint64_t soc_store_folded(const struct soc_store *store)
{
    return store->at.folded;
}

uint64_t soc_store_backlog(const struct soc_store *store)
{
    return store->at.backlog;
}

int soc_store_commit(struct soc_store *store, uint64_t first, const struct soc_slice *batches,
                     size_t count, struct soc_detail *detail)
{
    assert(first == store->at.sequence + 1 && count > 0);
    int rc = store->ops->commit(store, batches, count, detail);
    assert(rc < 0 || store->at.sequence == first + count - 1);
    return rc;
}

int soc_store_fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail)
{
    if (store->at.folded == store->at.sequence)
        return 0;
    int rc = store->ops->fold(store, bytes_max == 0 ? 1 : bytes_max, detail);
    assert(store->at.folded <= store->at.sequence);
    return rc < 0 ? rc : store->at.folded < store->at.sequence;
}

int soc_store_look(struct soc_store *store, const struct soc_query *query, struct soc_page *page,
                   struct soc_buf *out, struct soc_detail *detail)
{
    assert(query->what != NULL);
    *page = (struct soc_page){0};
    return store->ops->look(store, query, page, out, detail);
}

int soc_store_open_reader(struct soc_store *store, struct soc_store **out,
                          struct soc_detail *detail)
{
    return store->ops->open_reader == NULL
               ? soc_fail(detail, SOC_EINVAL, "the store has no readers")
               : store->ops->open_reader(store, out, detail);
}

int soc_store_letter(struct soc_store *store, uint64_t key, soc_record_cb *cb, void *user,
                     struct soc_detail *detail)
{
    return store->ops->letter(store, key, cb, user, detail);
}

int soc_store_history(struct soc_store *store, soc_history_cb *cb, void *user,
                      struct soc_detail *detail)
{
    return store->ops->history(store, cb, user, detail);
}

int soc_store_history_count(struct soc_store *store, int64_t *count, struct soc_detail *detail)
{
    return store->ops->history_count(store, count, detail);
}

int soc_store_source(struct soc_store *store, struct soc_slice hash, struct soc_buf *out,
                     struct soc_detail *detail)
{
    return store->ops->source(store, hash, out, detail);
}

int soc_store_memories(struct soc_store *store, soc_memory_cb *cb, void *user,
                       struct soc_detail *detail)
{
    return store->ops->memories(store, cb, user, detail);
}

int soc_store_keep(struct soc_store *store, struct soc_snapshot *snapshot,
                   struct soc_detail *detail)
{
    return store->ops->keep == NULL ? SOC_OK : store->ops->keep(store, snapshot, detail);
}

int soc_store_tidy(struct soc_store *store, bool is_last, struct soc_detail *detail)
{
    return store->ops->tidy == NULL ? SOC_OK : store->ops->tidy(store, is_last, detail);
}

int soc_store_check(struct soc_store *store, struct soc_detail *detail)
{
    return store->ops->check == NULL ? SOC_OK : store->ops->check(store, detail);
}

int soc_store_load_batch(struct soc_slice batch, uint64_t sequence, soc_record_cb *cb, void *user,
                         struct soc_detail *detail)
{
    struct soc_record record;
    int rc;
    while ((rc = soc_record_next(&batch, &record)) > 0) {
        rc = cb(&record, user);
        if (rc < 0)
            return rc;
    }
    return rc == 0 ? SOC_OK
                   : soc_fail(detail, rc, "batch %llu holds bytes that are not a record",
                              (unsigned long long)sequence);
}

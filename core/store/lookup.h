/* Lookup: a query on its way to the store and back.
 *
 * A list that has pages is read by pages even if all rows are asked for, so that nothing
 * waits long behind it. Rows that came meanwhile are left out then.
 * Layer: store. Thread: any, one at a time. */
#ifndef SOC_STORE_LOOKUP_H
#define SOC_STORE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/store.h"

struct soc_snapshot;

/* The answer to a query: `rc` and a JSON array, lent. */
typedef void soc_query_cb(int rc, struct soc_slice rows, void *user);

/* The same with what the page says beside its rows. */
typedef void soc_page_cb(int rc, struct soc_slice rows, const struct soc_page *page, void *user);

/* A query to be answered, or its answer. */
struct soc_lookup {
    struct soc_lookup *next;
    uint64_t sequence;      /* the last batch that the answer has to include */
    struct soc_query query; /* its texts are in `texts` */
    struct soc_buf texts;
    soc_query_cb *cb;     /* or: */
    soc_page_cb *page_cb; /* NULL: `cb` */
    void *user;
    int rc;
    struct soc_buf rows; /* without brackets until it is finished, if it has pages */
    struct soc_page page;
    uint64_t cursor;                /* where the next page begins, if all rows are asked for */
    int64_t left;                   /* rows that are still wanted; 0: all */
    uint64_t upto;                  /* the last cursor of the first page's snapshot */
    size_t bytes_max;               /* of all rows, beyond which they are refused; 0: no bound */
    struct soc_snapshot *snapshots; /* owned; left on the way, for whoever writes to store */
    bool has_begun;                 /* one page was read */
    bool is_dropped; /* nobody wants the answer: guarded by whoever holds the queue */
};

/* Returns a lookup with copies of the texts of `query`. Its rows have no bound. */
struct soc_lookup *soc_lookup_new(const struct soc_query *query, soc_query_cb *cb, void *user);

/* Frees a lookup with its texts and rows. NULL is allowed. */
void soc_lookup_free(struct soc_lookup *lookup);

/* Tells whether the result of a lookup means that the disk has failed, after which
 * nothing more is answered. */
bool soc_lookup_is_fatal(int rc);

/* Tells whether it can be answered from batches that are not folded. */
bool soc_lookup_sees_journal(const struct soc_lookup *lookup);

/* Reads one page from the store, in `budget_us` at most (0: as long as it takes). Returns 1
 * if there is more to read, SOC_OK if the answer is complete, or an error. */
int soc_lookup_step(struct soc_lookup *lookup, struct soc_store *store, int64_t budget_us,
                    struct soc_detail *detail);

/* Stores a part of the first snapshot of a list that lookups have left, and removes it from the
 * list when that was the last part, or when there is no room for it. */
int soc_lookup_keep(struct soc_store *store, struct soc_snapshot **left, struct soc_detail *detail);

/* Folds everything, then appends the answer to a query: a JSON array, or what
 * soc_store_look says. */
int soc_lookup_run(struct soc_store *store, const struct soc_query *query, struct soc_buf *out,
                   struct soc_detail *detail);

/* Keeps one page of a list that has no lines: the cursor is the position of a row. */
void soc_lookup_cut(const struct soc_query *query, struct soc_page *page, struct soc_buf *list);

/* Calls the callbacks of a list of lookups and frees them. */
void soc_lookup_deliver(struct soc_lookup *answers);

#endif

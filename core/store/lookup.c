#include "store/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/tables/page.h"
#include "store/tables/past.h"
#include "store/tables/snapshots.h"

#define FOLD_BYTES (8u << 20) /* at a time, before a query */

static struct soc_slice copy_text(struct soc_buf *texts, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    char *at = texts->data + texts->length; /* reserved for all of them */
    soc_buf_put_slice(texts, text);
    return soc_slice(at, text.length);
}

struct soc_lookup *soc_lookup_new(const struct soc_query *query, soc_query_cb *cb, void *user)
{
    struct soc_lookup *lookup = soc_alloc_zero(sizeof(*lookup));
    struct soc_slice what = soc_slice(query->what, strlen(query->what) + 1);
    struct soc_query *copy = &lookup->query;
    lookup->cb = cb;
    lookup->user = user;
    *copy = *query;
    struct soc_slice *texts[] = {&copy->agent,          &copy->task,  &copy->type,
                                 &copy->correlation_id, &copy->from,  &copy->to,
                                 &copy->reason,         &copy->state, &copy->id};
    size_t length = what.length;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        length += texts[i]->length;
    soc_buf_reserve(&lookup->texts, length);
    copy->what = copy_text(&lookup->texts, what).data;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = copy_text(&lookup->texts, *texts[i]);
    if (strcmp(query->what, "at") == 0)
        copy->past = soc_past_new();
    return lookup;
}

void soc_lookup_free(struct soc_lookup *lookup)
{
    if (lookup == NULL)
        return;
    soc_buf_fini(&lookup->texts);
    soc_buf_fini(&lookup->rows);
    soc_past_free(lookup->query.past);
    soc_snapshots_free(lookup->snapshots);
    free(lookup);
}

bool soc_lookup_is_fatal(int rc)
{
    return rc < 0 && rc != SOC_EDISKFULL && rc != SOC_EINVAL && rc != SOC_EGONE &&
           rc != SOC_ETOOLARGE && rc != SOC_ECLOSED;
}

bool soc_lookup_sees_journal(const struct soc_lookup *lookup)
{
    return strcmp(lookup->query.what, "activity") == 0;
}

/* Adds the rows of a page behind or, going back, in front of those there are. */
static void add_rows(struct soc_lookup *lookup, struct soc_buf *rows, bool is_in_front)
{
    if (lookup->rows.length > 0 && rows->length > 0) {
        struct soc_buf *first = is_in_front ? rows : &lookup->rows;
        struct soc_buf *second = is_in_front ? &lookup->rows : rows;
        soc_buf_put_byte(first, ',');
        soc_buf_put_slice(first, soc_buf_slice(second));
    }
    if (rows->length > 0 && (is_in_front || lookup->rows.length == 0)) {
        struct soc_buf other = lookup->rows;
        lookup->rows = *rows;
        *rows = other;
    }
    soc_buf_fini(rows);
}

static void finish(struct soc_lookup *lookup)
{
    struct soc_buf list = {0};
    soc_buf_put_byte(&list, '[');
    soc_buf_put_slice(&list, soc_buf_slice(&lookup->rows));
    soc_buf_put_byte(&list, ']');
    soc_buf_fini(&lookup->rows);
    lookup->rows = list;
}

/* Counts the rows of a page: objects at depth 1. */
static int64_t count_rows(struct soc_slice rows)
{
    int64_t count = 0;
    int depth = 0;
    bool is_text = false;
    for (size_t i = 0; i < rows.length; i++) {
        char c = rows.data[i];
        if (is_text) {
            if (c == '\\')
                i++;
            else if (c == '"')
                is_text = false;
        } else if (c == '"') {
            is_text = true;
        } else if (c == '{' || c == '[') {
            count += depth++ == 0;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return count;
}

/* One page of all rows that are asked for: up from the first, or back from the last if only
 * the latest are wanted. */
static int read_next(struct soc_lookup *lookup, struct soc_store *store, int64_t budget_us,
                     struct soc_detail *detail)
{
    struct soc_query query = lookup->query;
    struct soc_buf rows = {0};
    bool is_back = lookup->query.limit > 0;
    query.is_page = true;
    query.has_after = !is_back;
    query.after = is_back ? 0 : lookup->cursor;
    query.before = is_back ? lookup->cursor : 0;
    query.limit = is_back ? (lookup->has_begun ? lookup->left : lookup->query.limit) : 0;
    query.upto = lookup->upto;
    query.budget_us = budget_us;
    struct soc_page page = {0};
    int rc = soc_store_look(store, &query, &page, &rows, detail);
    if (rc == SOC_EGONE && is_back) {
        rc = SOC_OK; /* those before the rows there are were removed meanwhile: that is all */
    } else if (rc == SOC_EGONE && page.first > query.after + 1) {
        query.after = page.first - 1; /* all rows are those that are left */
        rc = soc_store_look(store, &query, &page, &rows, detail);
    }
    if (rc < 0) {
        soc_buf_fini(&rows);
        return rc;
    }
    if (!lookup->has_begun) {
        lookup->page = page;
        lookup->upto = page.last;
        lookup->left = lookup->query.limit;
        lookup->has_begun = true;
    }
    if (is_back && page.previous != 0)
        lookup->left -= count_rows(soc_buf_slice(&rows));
    add_rows(lookup, &rows, is_back);
    lookup->cursor = is_back ? page.previous : page.next;
    if (lookup->bytes_max > 0 && lookup->rows.length > lookup->bytes_max)
        return soc_fail(detail, SOC_ETOOLARGE, "the rows have more than %zu MB; ask for fewer",
                        lookup->bytes_max >> 20);
    return lookup->cursor != 0 && (!is_back || lookup->left > 0);
}

/* One page of the lines that a past is made of. */
static int read_past(struct soc_lookup *lookup, struct soc_store *store, int64_t budget_us,
                     struct soc_detail *detail)
{
    struct soc_query query = lookup->query;
    query.budget_us = budget_us;
    int rc = soc_store_look(store, &query, &lookup->page, &lookup->rows, detail);
    if (rc == SOC_OK && lookup->bytes_max > 0 && lookup->rows.length > lookup->bytes_max)
        return soc_fail(detail, SOC_ETOOLARGE, "the answer has more than %zu MB; ask for less",
                        lookup->bytes_max >> 20);
    if (rc == SOC_OK && lookup->query.upto == 0)
        lookup->query.upto = lookup->page.as_of;
    if (rc == SOC_OK && soc_snapshot_is_due(query.past)) {
        struct soc_snapshot *snapshot = soc_snapshot_take(query.past);
        snapshot->next = lookup->snapshots;
        lookup->snapshots = snapshot;
    }
    return rc == SOC_OK && lookup->page.next != 0 ? 1 : rc;
}

int soc_lookup_step(struct soc_lookup *lookup, struct soc_store *store, int64_t budget_us,
                    struct soc_detail *detail)
{
    int rc;
    if (!soc_page_serves(&lookup->query)) {
        struct soc_query whole = lookup->query;
        if (whole.is_page)
            whole.limit = 0;
        whole.bytes_max = lookup->bytes_max;
        rc = soc_store_look(store, &whole, &lookup->page, &lookup->rows, detail);
        if (rc == SOC_OK && lookup->query.is_page)
            soc_lookup_cut(&lookup->query, &lookup->page, &lookup->rows);
        return rc;
    }
    if (lookup->query.past != NULL) {
        rc = read_past(lookup, store, budget_us, detail);
    } else if (lookup->query.is_page) {
        struct soc_query query = lookup->query;
        query.budget_us = budget_us;
        rc = soc_store_look(store, &query, &lookup->page, &lookup->rows, detail);
    } else {
        rc = read_next(lookup, store, budget_us, detail);
    }
    if (rc == SOC_OK)
        finish(lookup);
    return rc;
}

int soc_lookup_keep(struct soc_store *store, struct soc_snapshot **left, struct soc_detail *detail)
{
    struct soc_snapshot *snapshot = *left;
    int rc = soc_store_keep(store, snapshot, detail);
    if (rc > 0)
        return SOC_OK;
    *left = snapshot->next;
    snapshot->next = NULL;
    soc_snapshots_free(snapshot);
    return rc == SOC_EDISKFULL ? SOC_OK : rc;
}

int soc_lookup_run(struct soc_store *store, const struct soc_query *query, struct soc_buf *out,
                   struct soc_detail *detail)
{
    int rc = 0;
    if (store->ops->fold != NULL) {
        do
            rc = soc_store_fold(store, FOLD_BYTES, detail);
        while (rc > 0);
    }
    if (rc < 0)
        return rc;
    struct soc_lookup *lookup = soc_lookup_new(query, NULL, NULL);
    do {
        rc = soc_lookup_step(lookup, store, 0, detail);
        while (rc > 0 && lookup->snapshots != NULL) {
            int keep_rc = soc_lookup_keep(store, &lookup->snapshots, detail);
            rc = keep_rc < 0 ? keep_rc : rc;
        }
    } while (rc > 0);
    if (rc == SOC_OK)
        soc_buf_put_slice(out, soc_buf_slice(&lookup->rows));
    soc_lookup_free(lookup);
    return rc;
}

void soc_lookup_cut(const struct soc_query *query, struct soc_page *page, struct soc_buf *list)
{
    struct soc_json_walk walk;
    struct soc_buf rows = {0};
    uint64_t count = 0;
    uint64_t number = 0;
    soc_json_walk(&walk, soc_buf_slice(list));
    while (soc_json_next(&walk))
        count++;
    uint64_t limit = (uint64_t)query->limit;
    uint64_t end = query->before != 0 && query->before - 1 < count ? query->before - 1 : count;
    uint64_t begin = query->has_after ? query->after : end > limit ? end - limit : 0;
    if (begin < end && end - begin > limit)
        end = begin + limit;
    soc_buf_put_byte(&rows, '[');
    soc_json_walk(&walk, soc_buf_slice(list));
    while (soc_json_next(&walk)) {
        if (number++ < begin || number > end)
            continue;
        if (rows.length > 1)
            soc_buf_put_byte(&rows, ',');
        soc_buf_put_slice(&rows, walk.value);
    }
    soc_buf_put_byte(&rows, ']');
    soc_buf_fini(list);
    *list = rows;
    page->next = end < count ? end : query->has_after ? 0 : count;
    page->previous = query->has_after || begin == 0 ? 0 : begin + 1;
}

void soc_lookup_deliver(struct soc_lookup *answers)
{
    while (answers != NULL) {
        struct soc_lookup *lookup = answers;
        answers = lookup->next;
        if (lookup->page_cb != NULL)
            lookup->page_cb(lookup->rc, soc_buf_slice(&lookup->rows), &lookup->page, lookup->user);
        else
            lookup->cb(lookup->rc, soc_buf_slice(&lookup->rows), lookup->user);
        soc_lookup_free(lookup);
    }
}

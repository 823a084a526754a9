/* View: how a read operation finds and shows its rows.
 *
 * A read operation answers with a page if the call `is_paged` or names `after` or `before`.
 * Its cursor is a line of the activity log, for a list that is stored; for a list from
 * memory it is a key of its rows (agent_pages.h), or for a short one (roles, usage) a
 * position. A page has `limit` rows (100 by default, 1,000 at most), in ascending order:
 *   with `after`   the first rows after that line; `next` of the call is where to go on, 0
 *                  if there is nothing more yet (`as_of` then);
 *   with `before`  the last rows before that line; `previous` is where to go back, 0 if
 *                  there is nothing;
 *   with neither   the latest rows; `next` is where to follow from, `previous` as above.
 * A page takes a bounded time, so with a filter it may be short or empty and still have a
 * `next` or `previous`. SOC_EGONE and `first`, the first line there is: older ones were
 * removed. Any other call answers with all rows, or with the latest `limit`, unless they
 * are too large.
 * Layer: kernel. Thread: any. */
#ifndef SOC_KERNEL_OPERATIONS_VIEW_H
#define SOC_KERNEL_OPERATIONS_VIEW_H

#include <stdbool.h>

#include "base/buf.h"
#include "store/store.h"

struct soc_host;

/* One column of the table that `society inspect` prints. */
struct soc_column {
    const char *title;
    const char *member; /* of the row: the value to show */
    int width_max;      /* longer texts are truncated */
};

/* How a read operation finds its rows. Its parameters are filters of soc_query. */
struct soc_view {
    bool is_hidden;      /* from `society inspect` */
    bool is_stored;      /* rows are in the database */
    bool is_of_living;   /* in a running society `agent` must be the id of a living agent */
    const char *as_type; /* alias of the filter `type` in Lua; NULL: none */
    /* Appends the list from memory. NULL: query the database, as for items that are not
     * open. */
    void (*look)(struct soc_host *host, const struct soc_query *query, struct soc_buf *out);
    /* Appends a page of the list from memory and fills in its cursors, at a bounded cost. NULL:
     * it is cut out of the whole list, which is short. */
    void (*page)(struct soc_host *host, const struct soc_query *query, struct soc_page *page,
                 struct soc_buf *out);
    /* Appends the list for a stopped society from its `meta` table, given as a list of
     * rows. NULL: query the database or, for rows not stored there, load a host. */
    void (*recall)(struct soc_slice meta, struct soc_buf *out);
    /* The list that the answer is made of, by the name of its operation, and how; NULL: rows
     * of its own, as they are. */
    const char *list;
    void (*make)(struct soc_slice rows, struct soc_buf *out);
    const struct soc_column *columns; /* ends with a NULL title; NULL: print one member per line */
};

/* Bits of the filters, in the order of soc_view_filters. */
enum soc_filter {
    SOC_FILTER_AGENT = 1,
    SOC_FILTER_TASK = 2,
    SOC_FILTER_TYPE = 4,
    SOC_FILTER_CORRELATION = 8,
    SOC_FILTER_SINCE = 16,
    SOC_FILTER_UNTIL = 32,
    SOC_FILTER_LIMIT = 64,
    SOC_FILTER_FROM = 128,
    SOC_FILTER_TO = 256,
    SOC_FILTER_REASON = 512,
    SOC_FILTER_STATE = 1024,
    SOC_FILTER_AFTER = 2048,
    SOC_FILTER_BEFORE = 4096,
    SOC_FILTER_WAIT = 8192,
    SOC_FILTER_PAGE = SOC_FILTER_AFTER | SOC_FILTER_BEFORE | SOC_FILTER_LIMIT,
    SOC_FILTER_TIME = SOC_FILTER_SINCE | SOC_FILTER_UNTIL,
    SOC_FILTER_ALL = 127 | SOC_FILTER_PAGE, /* but those of dead letters and items alone */
    SOC_FILTER_LETTERS = SOC_FILTER_ALL | SOC_FILTER_FROM | SOC_FILTER_TO | SOC_FILTER_REASON,
};

#define SOC_FILTER_COUNT 14

#endif

/* Subjects: what a society can be inspected for, declared once.
 *
 * `society inspect` with its help and completion, the read-only operations of the
 * control socket, and the filters of society.messages and its siblings all derive from
 * this table. Subjects with rows in the database are queried there; the rest are
 * answered from memory.
 * Layer: parts. Thread: any for the table, loop for functions that take a host. */
#ifndef SOC_PARTS_SUBJECTS_H
#define SOC_PARTS_SUBJECTS_H

#include "base/buf.h"
#include "kernel/host.h"
#include "store/store.h"

/* What rows can be filtered by. */
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
    SOC_FILTER_TIME = SOC_FILTER_SINCE | SOC_FILTER_UNTIL,
    SOC_FILTER_ALL = 127, /* but those of dead letters alone */
    SOC_FILTER_LETTERS = SOC_FILTER_ALL | SOC_FILTER_FROM | SOC_FILTER_TO | SOC_FILTER_REASON,
};

#define SOC_FILTER_COUNT 10

/* The name of filter 1 << index. */
extern const char *const soc_subject_filters[SOC_FILTER_COUNT];

/* One column of the human-readable table. */
struct soc_column {
    const char *title;
    const char *member; /* of the row: the value to show */
    int width_max;      /* longer texts are truncated */
};

/* Something that can be inspected. */
struct soc_subject {
    const char *name;    /* of the operation, and of the query to the store */
    const char *summary; /* one line of help; NULL: hidden from `inspect` */
    unsigned filters;
    bool is_stored;      /* rows are in the database */
    bool is_of_living;   /* in a running society `agent` must be the id of a living agent */
    const char *as_type; /* alias of the filter `type` in Lua; NULL: none */
    /* Appends the list from memory. NULL: query the database. */
    void (*look)(struct soc_host *host, const struct soc_query *query, struct soc_buf *out);
    /* Appends the list for a stopped society from its `meta` table, given as a list of
     * rows. NULL: query the database or, for subjects not stored there, load a host. */
    void (*recall)(struct soc_slice meta, struct soc_buf *out);
    const struct soc_column *columns; /* ends with a NULL title; NULL: print one member per line */
};

/* Returns subject number `index`, or NULL past the last one. */
const struct soc_subject *soc_subjects_at(size_t index);

/* Finds a subject by name. NULL if there is none. */
const struct soc_subject *soc_subjects_find(struct soc_slice name);

#endif

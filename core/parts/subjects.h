/* Subjects: what can be looked at in a society, declared once.
 *
 * `society inspect` with its help and its completion, the operations that only look, and
 * the filters of society.messages and the like are derived from this table. A subject
 * whose rows are in the database is asked there; the others are answered from memory.
 * Layer: parts. Thread: any for the table, loop for what looks at a host. */
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
    SOC_FILTER_TIME = SOC_FILTER_SINCE | SOC_FILTER_UNTIL,
    SOC_FILTER_ALL = 127,
};

#define SOC_FILTER_COUNT 7

/* How filter 1 << index is called. */
extern const char *const soc_subject_filters[SOC_FILTER_COUNT];

/* One column of a table for people. */
struct soc_column {
    const char *title;
    const char *member; /* of the row, whose value is shown */
    int width_max;      /* longer texts are cut */
};

/* Something to look at. */
struct soc_subject {
    const char *name;    /* of the operation, and of the query to the store */
    const char *summary; /* a line of help; NULL: `inspect` does not show it */
    unsigned filters;
    bool is_stored;      /* its rows are in the database */
    bool is_of_living;   /* while the society runs, `agent` must be the id of a living agent */
    const char *as_type; /* another name for the filter `type` in Lua; NULL: none */
    /* Appends the list from memory; NULL: the database is asked. */
    void (*look)(struct soc_host *host, const struct soc_query *query, struct soc_buf *out);
    /* Appends the list of a stopped society from its table `meta`, given as a list of
     * rows; NULL: the database is asked or, if it is not stored there, a loaded host. */
    void (*recall)(struct soc_slice meta, struct soc_buf *out);
    const struct soc_column *columns; /* up to a title that is NULL; NULL: one member per line */
};

/* Returns subject number `index`, NULL behind the last. */
const struct soc_subject *soc_subjects_at(size_t index);

/* Finds a subject by its name, or NULL. */
const struct soc_subject *soc_subjects_find(struct soc_slice name);

#endif

/* Tap: hands the lines of the activity log to listeners, as they become durable.
 *
 * A listener gets every line after the one it begins with, each once and in order, that
 * fits its filters. It begins in the past or now, and it never holds anything up: when it
 * has no room it is left alone until soc_tap_more, and then reads what it missed from the
 * store, a page at a time, until it is up to date. So nothing is kept for a listener but
 * its cursor. Listeners that are up to date share one page for each step; without
 * listeners nothing is read at all.
 *
 * Without a thread (simulation) lines arrive inside the call that made them durable.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TAP_H
#define SOC_KERNEL_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_host;
struct soc_listener;

/* One event. All is lent for the call. */
struct soc_tap_line {
    uint64_t line;         /* its number; of a summary that of the last line counted */
    const char *name;      /* `message.sent` and so on; `summary` */
    struct soc_slice data; /* the row of `activity`, or { time, sent, processed, … } */
};

/* What a listener wants, and how it is called. The texts are copied. */
struct soc_tap_options {
    bool is_from_now;                /* lines that are not durable yet; or: */
    uint64_t after;                  /* lines after this one */
    struct soc_slice events;         /* names, separated by commas; * stands for any text */
    struct soc_slice agent;          /* lines that concern this agent */
    struct soc_slice task;           /* … */
    struct soc_slice correlation_id; /* … */
    bool is_summary;                 /* counts for each second instead of `message.*`; in
                                      * parts, where other lines come between */
    /* Hands out lines, at most SOC_TAP_BYTES_MAX of data. Returns whether there is room for
     * more; if not, soc_tap_more tells when. It may call soc_tap_leave. */
    bool (*take)(void *user, const struct soc_tap_line *lines, size_t count);
    /* Lines after its cursor were removed; it is left alone. `first`: the first there is. */
    void (*gone)(void *user, uint64_t first);
    void *user;
};

/* Starts to listen. The caller ends it with soc_tap_leave, before the host is closed. The
 * first lines may arrive before this returns. */
struct soc_listener *soc_tap_listen(struct soc_host *host, const struct soc_tap_options *options);

/* The listener has room again. One with a summary calls this once a second as well, so that
 * the last second is not held back. */
void soc_tap_more(struct soc_listener *listener);

/* Ends it; nothing more arrives. */
void soc_tap_leave(struct soc_listener *listener);

/* Returns the number of the last line it was offered: where to begin again. */
uint64_t soc_tap_cursor(const struct soc_listener *listener);

/* Lends the name under which listeners know an event of the activity log; `log` for those
 * without a name of their own. */
const char *soc_tap_name(struct soc_slice event);

/* Tells whether the name fits a list of patterns; an absent list fits all. */
bool soc_tap_fits(struct soc_slice patterns, const char *name);

/* For the host: more lines are durable. */
void soc_tap_note(struct soc_host *host);

/* For the host: it closes, so listeners get nothing more; and, when all of them have left
 * and no page is on its way, frees what there is. */
void soc_tap_close(struct soc_host *host);
void soc_tap_free(struct soc_host *host);

#endif

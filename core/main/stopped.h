/* Stopped: a society that does not run, asked and written to through its store.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_STOPPED_H
#define SOC_MAIN_STOPPED_H

#include "base/buf.h"
#include "base/err.h"
#include "kernel/host.h"
#include "store/store.h"

/* Answers a query of store.h, or "waits", "stats" or "policies", from the directory as it
 * lies there: a JSON list. Nothing is changed. */
int soc_stopped_query(const char *directory, const struct soc_query *query, struct soc_buf *out,
                      struct soc_detail *detail);

/* Appends the contact registries of the society (soc_look_registries) as it lies
 * there. Nothing is changed. */
int soc_stopped_registries(const char *directory, struct soc_buf *out, struct soc_detail *detail);

/* The same with the picture of the society (kernel/dot.h). */
int soc_stopped_dot(const char *directory, struct soc_buf *out, struct soc_detail *detail);

/* Does something to a started host that no script runs in: SOC_OK with a list in
 * `answer`, or an error with an object. */
typedef int soc_stopped_fn(struct soc_host *host, void *user, struct soc_buf *answer);

/* Has `fn` called and what it did made durable, for the next run. The answer is
 * its own, or empty with `detail` set. */
int soc_stopped_do(const char *directory, soc_stopped_fn *fn, void *user, struct soc_buf *answer,
                   struct soc_detail *detail);

#endif

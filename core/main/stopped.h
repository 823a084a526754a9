/* Stopped: a society that does not run, asked and written to through its store.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_STOPPED_H
#define SOC_MAIN_STOPPED_H

#include "base/buf.h"
#include "base/err.h"
#include "host/router.h"
#include "store/store.h"

/* Answers a query of store.h, or "waits", "stats" or "policies", from the directory as it
 * lies there: a JSON list. Nothing is changed. */
int soc_stopped_query(const char *directory, const struct soc_query *query, struct soc_buf *out,
                      struct soc_detail *detail);

/* Appends the contact registries of the society (soc_look_registries) as it lies
 * there. Nothing is changed. */
int soc_stopped_registries(const char *directory, struct soc_buf *out, struct soc_detail *detail);

/* Sends from `user`, durable when it returns, to be handled at the next run. The
 * answer is a list as of soc_gate_send_as, or on an error an object, or empty with
 * `detail` set. */
int soc_stopped_send(const char *directory, const struct soc_send *send, struct soc_buf *answer,
                     struct soc_detail *detail);

#endif

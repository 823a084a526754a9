/* Stopped: answers requests to a stopped society from its store.
 *
 * Requests and answers are those of the control socket (bridge/control/control.h).
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_STOPPED_H
#define SOC_MAIN_STOPPED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* Answers `request`, a JSON object. A query changes nothing; any other change is durable on
 * return and takes effect when the society runs again.
 *
 * SOC_OK: `answer` is a JSON list, or if `*is_error` an error object. SOC_ENOFILE: there
 * is no society in `directory`. SOC_ELOCKED: another process holds it. Also errors of the
 * store. Each error sets `detail`. */
int soc_stopped_ask(const char *directory, struct soc_slice request, struct soc_buf *answer,
                    bool *is_error, struct soc_detail *detail);

/* Takes a JSON list of rows. False ends the walk. */
typedef bool soc_stopped_rows_cb(void *user, struct soc_slice list);

/* Answers like soc_stopped_ask, but gives the rows of a list to `take`: of one that is stored
 * a page at a time, from one snapshot, so that it may be of any length. If it `is_plain`,
 * agents are as they are stored, without their status and counts. `answer` is for an error object
 * only. */
int soc_stopped_walk(const char *directory, struct soc_slice request, bool is_plain,
                     soc_stopped_rows_cb *take, void *user, struct soc_buf *answer, bool *is_error,
                     struct soc_detail *detail);

#endif

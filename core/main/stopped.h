/* Stopped: requests to a society that does not run, answered from its store.
 *
 * The requests and answers are those of the control socket (bridge/control/control.h).
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_STOPPED_H
#define SOC_MAIN_STOPPED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

/* Answers `request`, a JSON object. One that only looks changes nothing; what another one
 * changes is durable on return and takes effect when the society runs again.
 *
 * SOC_OK: `answer` is a JSON list, or if `*is_error` an error object. SOC_ENOFILE: there
 * is no society in `directory`. SOC_ELOCKED: another process holds it. Other errors of
 * the store. All of them with `detail`. */
int soc_stopped_ask(const char *directory, struct soc_slice request, struct soc_buf *answer,
                    bool *is_error, struct soc_detail *detail);

#endif

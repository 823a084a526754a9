/* Log detail: what a line of the log says, cut where it is too long.
 *
 * An object stays an object: its long members are cut, each by itself, so that a line
 * of JSON still has the members that tell what happened. People get its sentence, and
 * the traceback as Lua wrote it.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_LOG_DETAIL_H
#define SOC_ENV_LOG_DETAIL_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends a text; beyond `bytes_max` its beginning and "… (N bytes)". */
void soc_log_put_text(struct soc_buf *out, struct soc_slice text, size_t bytes_max);

/* Appends an object with its members cut to SOC_LOG_MEMBER_BYTES_MAX, those that are no
 * text as the beginning of their JSON in one. What stands after SOC_LOG_DETAIL_BYTES_MAX
 * is left out and counted as `members_left_out`. */
void soc_log_put_object(struct soc_buf *out, struct soc_slice object);

/* Appends an object for people: its `message`, with the code in `error` before it, or its
 * `text`; then as JSON what else it holds; then the `traceback` on lines of its own. One
 * without message and text stays JSON. */
void soc_log_put_sentence(struct soc_buf *out, struct soc_slice object);

#endif

/* Log detail: what a line of the log says, truncated where it is too long.
 *
 * An object stays an object: its long members are truncated one by one, so that a line of
 * JSON keeps the members that tell what happened. People get its message, and the
 * traceback as Lua wrote it.
 * Layer: env. Thread: loop. */
#ifndef SOC_ENV_LOG_DETAIL_H
#define SOC_ENV_LOG_DETAIL_H

#include "base/buf.h"
#include "base/slice.h"

/* Appends a text; beyond `bytes_max` its start and "… (N bytes)". */
void soc_log_put_text(struct soc_buf *out, struct soc_slice text, size_t bytes_max);

/* Appends an object with its members truncated to SOC_LOG_MEMBER_BYTES_MAX; those that
 * are not text become the start of their JSON. Members beyond SOC_LOG_DETAIL_BYTES_MAX
 * are dropped and counted as `members_left_out`. */
void soc_log_put_object(struct soc_buf *out, struct soc_slice object);

/* Appends an object for people: its `message`, prefixed with the code in `error`, or its
 * `text`; then its other members as JSON; then the `traceback` on lines of its own. An
 * object without message and text stays JSON. */
void soc_log_put_sentence(struct soc_buf *out, struct soc_slice object);

#endif

/* Refusal: builds the JSON error object of a failing call.
 *
 * Error names and members are part of the API; the sentence in `message` is for people.
 *
 *     {"error":"agent_not_found","message":"no agent has that id …","agentId":"x"}
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_REFUSAL_H
#define SOC_KERNEL_REFUSAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct soc_agent;

/* Empties `out` and begins an error object with the code's wire name. `message` NULL:
 * the code's default text. Add members, then call soc_refusal_end. */
void soc_refusal_begin(struct soc_buf *out, int code, const char *message);

/* The same for the receiver `to`, merged with `said`, the JSON object of a policy or
 * empty. Its `message` replaces `message` and its other members are added, except the
 * error name and the receiver. */
void soc_refusal_begin_said(struct soc_buf *out, int code, const char *message, struct soc_slice to,
                            struct soc_slice said);

/* Adds `json` as a member for people. If it is longer than the log shows of a payload, a
 * string with its beginning is added instead. Nothing if it is absent. */
void soc_refusal_put_shown(struct soc_buf *out, const char *name, struct soc_slice json);

/* Returns the sentence of a time-out for an agent whose host cannot be reached; NULL: the default
 * is right. */
const char *soc_refusal_of_silence(const struct soc_agent *to);

/* Ends the object and returns `code`. */
int soc_refusal_end(struct soc_buf *out, int code);

/* Writes a complete error object with one extra member (`name` NULL: none). Returns `code`. */
int soc_refuse(struct soc_buf *out, int code, const char *message, const char *name,
               struct soc_slice value);

/* Writes the error object of an invalid message: its type, truncated if too long, and
 * `missing` and `details`, the contents of JSON lists of strings without the brackets.
 * Returns SOC_EBADMESSAGE. */
int soc_refuse_message(struct soc_buf *out, const char *message, struct soc_slice type,
                       struct soc_slice missing, struct soc_slice details);

/* The same with nothing missing and `message` as its only detail. An absent type is general. */
int soc_refuse_format(struct soc_buf *out, const char *message, struct soc_slice type);

/* Writes a complete error object with a name that has no code: {"error":NAME,…}. */
void soc_refuse_named(struct soc_buf *out, const char *error, const char *message);

#endif

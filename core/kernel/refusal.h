/* Refusal: the error object a failing call answers with.
 *
 *     {"error":"agent_not_found","message":"no agent has that id …","agentId":"x"}
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_REFUSAL_H
#define SOC_KERNEL_REFUSAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* Begins an error object in `out`, which is emptied first, with the code's wire
 * name. `message` NULL: the code's own sentence. Add members, then end it. */
void soc_refusal_begin(struct soc_buf *out, int code, const char *message);

/* The same about the receiver `to`, of which a policy has said more: `said`, a JSON
 * object or nothing. Its `message` stands for `message`, its other members are added;
 * the code and the receiver are not its to say. */
void soc_refusal_begin_said(struct soc_buf *out, int code, const char *message, struct soc_slice to,
                            struct soc_slice said);

/* Adds a member that shows `json` to people: as it is, or if it is longer than a line of
 * the log shows of a payload as a text with its beginning. Nothing if it is absent. */
void soc_refusal_put_shown(struct soc_buf *out, const char *name, struct soc_slice json);

/* Ends the object and returns `code`. */
int soc_refusal_end(struct soc_buf *out, int code);

/* A whole error object with one further member (`name` NULL: none). */
int soc_refuse(struct soc_buf *out, int code, const char *message, const char *name,
               struct soc_slice value);

/* A message that does not fit: SOC_EBADMESSAGE with its type, cut if it is too long
 * for one, and `missing` and `details`, the insides of JSON lists of strings. */
int soc_refuse_message(struct soc_buf *out, const char *message, struct soc_slice type,
                       struct soc_slice missing, struct soc_slice details);

/* A whole error object under a name of its own that has no code: {"error":NAME,…}. */
void soc_refuse_named(struct soc_buf *out, const char *error, const char *message);

#endif

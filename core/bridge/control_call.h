/* Control call: one request on the control socket, until it is answered.
 *
 * It belongs to the control; each way to answer it ends and frees it. A client
 * that has gone away is not told, and nobody else needs to know.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_CALL_H
#define SOC_BRIDGE_CONTROL_CALL_H

#include "base/buf.h"
#include "bridge/control.h"

struct soc_call;

/* Answers with `list`, a JSON list. */
void soc_call_succeed(struct soc_call *call, struct soc_slice list);

/* Answers with `error`, a JSON object that has a member `error`. */
void soc_call_fail(struct soc_call *call, struct soc_slice error);

/* Answers with an error of the table and a sentence (NULL: its own). */
void soc_call_fail_code(struct soc_call *call, int code, const char *message);

/* Answers with `list` when everything done so far is durable. Takes the bytes of
 * `list` and leaves it empty. */
void soc_call_succeed_when_durable(struct soc_call *call, struct soc_buf *list);

/* control_ops.c: does what `line` asks, a JSON object, and sees to it that the
 * call is answered. */
void soc_control_do(const struct soc_control_options *options, struct soc_call *call,
                    struct soc_slice line);

#endif

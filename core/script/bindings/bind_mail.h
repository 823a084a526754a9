/* Mail: the steps that several calls of an agent share.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_MAIL_H
#define SOC_SCRIPT_BINDINGS_BIND_MAIL_H

#include "script/bindings/send_options.h"
#include "script/turns/frame.h"

/* Sends `send` as a request of the running agent and begins to wait for the reply;
 * the caller yields then. An error with its object in `frame->error` if it was
 * refused. */
int soc_bind_mail_request(struct soc_frame *frame, struct soc_send *send, int64_t timeout_ms);

/* The effect `kind` that answers the message at `index`, a table or an id, with
 * what `send` holds; `rc` < 0: its payload was refused before. Returns the number
 * of results it pushed. */
int soc_bind_mail_reply(lua_State *L, struct soc_frame *frame, enum soc_effect_kind kind, int index,
                        int rc, struct soc_send *send);

#endif

/* Mail: steps that several of an agent's calls share.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_BINDINGS_BIND_MAIL_H
#define SOC_SCRIPT_BINDINGS_BIND_MAIL_H

#include "script/bindings/send_options.h"
#include "script/turns/frame.h"

/* Sends `send` as a request of the running agent and begins to wait for the reply; the
 * caller then yields. `timeout_ms` below 0: as the receiver's role says. If it is refused,
 * the error object is in `frame->error`. */
int soc_bind_mail_request(struct soc_frame *frame, struct soc_send *send, int64_t timeout_ms);

/* Performs the effect `kind`: answers the message at `index`, a table or an id, with
 * `send`. `rc` < 0: its payload was already refused. Returns the number of results
 * pushed. */
int soc_bind_mail_reply(lua_State *L, struct soc_frame *frame, enum soc_effect_kind kind, int index,
                        int rc, struct soc_send *send);

#endif

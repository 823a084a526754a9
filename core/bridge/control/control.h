/* Control: the socket through which its owner's commands reach a running society.
 *
 * The socket lies in the state directory and only the owner may open it. It takes
 * requests as lines of JSON and answers each with a line:
 *
 *     {"id":1,"op":"send","to":"root","payload":{"text":"hello"}}
 *     {"id":1,"ok":[{"messageId":"msg_…"}]}
 *     {"id":2,"error":"agent_not_found","message":"…","agentId":"nobody"}
 *
 * `id` is any number or string; the answer carries the same. Answers may come in a
 * different order than the requests. Messages are sent as `user`, whatever the line
 * says, and are durable when they are answered.
 *
 *     send, request     the fields that model/message_fields.h lets a sender set; without
 *                       `to` the gatekeeper decides who receives it
 *     decide            item_id, decision, changes?, comment?
 *     redeliver, drop   message_id
 *     pause, resume     agent (an id or All), subtree?, reason?
 *     policy            kind, name
 *     stop
 *
 * The other operations look; parts/subjects.c lists them with their filters.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_CONTROL_H
#define SOC_BRIDGE_CONTROL_CONTROL_H

#include "bridge/control/operations.h"

struct soc_control;

/* What a control socket is opened with. */
struct soc_control_options {
    struct soc_operations society; /* whom the requests are for */
    struct soc_loop *loop;         /* lent, the host's own */
    const char *directory;         /* the state directory, whose lock is held */
};

/* Makes the socket and listens. SOC_EACCESS, SOC_EIO with `detail`. End it with
 * soc_control_stop, then soc_control_close. */
int soc_control_open(struct soc_control **out, const struct soc_control_options *options,
                     struct soc_detail *detail);

/* Takes no more requests and removes the socket; answers still leave. NULL is
 * allowed. */
void soc_control_stop(struct soc_control *control);

/* Closes every connection. The host must be gone, so that no answer is to come.
 * The memory goes when the loop has run the closing, at soc_loop_free at the
 * latest. NULL is allowed. */
void soc_control_close(struct soc_control *control);

#endif

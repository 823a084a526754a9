/* Control: the door of a running society for its owner's commands.
 *
 * A socket in the state directory, open to the owner only, takes requests as
 * lines of JSON and answers each with a line:
 *
 *     {"id":1,"op":"send","to":"root","payload":{"text":"hello"}}
 *     {"id":1,"ok":[{"messageId":"msg_…"}]}
 *     {"id":2,"error":"agent_not_found","message":"…","agentId":"nobody"}
 *
 * `id` is whatever the client likes and comes back as it was; answers may come in
 * another order than the requests. What is sent comes from `user`, whatever the
 * line says, and is durable when it is answered. The ops are send and request (the
 * fields that model/message_fields.h lets senders say), agents, contacts, messages,
 * dead_letters, activity, roles, tasks, usage, inbox (agent?, task?, type?,
 * correlation_id?, since?, until?, limit?), waits, stats, registries, dot, redeliver
 * and drop (message_id), policies, policy (kind, name), decide (item_id, decision,
 * changes?, comment?), pause and resume (agent: an id or All, subtree?, reason?), and
 * stop. Without `to` the gatekeeper is asked.
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

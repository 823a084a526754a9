/* Control: the socket that gives the owner's commands access to a running society.
 *
 * The socket is in the state directory and only the owner may open it. Each request is a
 * line of JSON, answered with a line:
 *
 *     {"id":1,"op":"send","to":"root","payload":{"text":"hello"}}
 *     {"id":1,"ok":[{"messageId":"msg_…"}]}
 *     {"id":2,"error":"agent_not_found","message":"…","agentId":"nobody"}
 *
 * An answer of rows also has `as_of`, and a page `next` and `previous` (operation.h).
 *
 * A line has 2 MB at most. `id` is any number or string; the answer has the same.
 * Answers may arrive in another order than the requests. Messages are always sent as `user`
 * and are durable when they are answered.
 *
 * docs/operations.md lists the operations with their parameters and answers.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_CONTROL_H
#define SOC_BRIDGE_CONTROL_CONTROL_H

#include "bridge/control/operations.h"
#include "loop/loop.h"

struct soc_control;

/* Options of a control socket. */
struct soc_control_options {
    struct soc_operations society; /* receives the requests */
    struct soc_loop *loop;         /* lent, that of the host */
    const char *directory;         /* the state directory, whose lock is held */
};

/* Creates the socket and listens. SOC_EACCESS, SOC_EIO with `detail`. End it with
 * soc_control_stop(), then soc_control_close(). */
int soc_control_open(struct soc_control **out, const struct soc_control_options *options,
                     struct soc_detail *detail);

/* Accepts no more requests and removes the socket; answers are still sent. NULL is
 * allowed. */
void soc_control_stop(struct soc_control *control);

/* Closes every connection. The host must have been freed, so that no answer is pending.
 * The memory is freed by the loop, at the latest by soc_loop_free(). NULL is allowed. */
void soc_control_close(struct soc_control *control);

#endif

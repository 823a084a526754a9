/* Hooks: what the kernel needs from the layer that runs scripts and policies.
 *
 * The script layer fills this table, so the kernel never sees Lua; a test or another
 * language can fill it as well. Every function gets `user` first. Pointers are lent
 * for the call.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_HOOKS_H
#define SOC_KERNEL_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/activation.h"
#include "model/agent.h"
#include "model/delivery/ladder.h"
#include "model/introduction.h"
#include "model/tasks/task.h"

struct soc_outcall; /* of the part that makes calls */

/* How a turn ended. */
enum soc_turn_end {
    SOC_TURN_DONE,   /* the behaviour returned: the activation is over */
    SOC_TURN_WAITS,  /* soc_gate_wait was called and the script yielded */
    SOC_TURN_RAISED, /* an error, described in `error`; the turn is retried */
    SOC_TURN_BROKEN, /* an error that no retry can fix */
    SOC_TURN_STALLED /* a process that the script needs is not ready: run it again later */
};

/* What to do with a request for an introduction. */
enum soc_introduce {
    SOC_INTRODUCE_LEAVE,   /* leave it to the broker's behaviour */
    SOC_INTRODUCE_NAME,    /* introduce `who`, with a usage hint in `text` */
    SOC_INTRODUCE_ASK,     /* pass it on to `who`, a contact of the broker */
    SOC_INTRODUCE_CONSENT, /* ask `who` for consent, about `target` if known */
    SOC_INTRODUCE_REFUSE,  /* no match; the reason is in `text` */
};

/* The answer of the introductions policy. */
struct soc_introduce_answer {
    enum soc_introduce kind;
    struct soc_agent *who;    /* lent */
    struct soc_agent *target; /* lent, or NULL */
    struct soc_buf text;      /* owned by the caller; may be empty */
    int64_t timeout_ms;       /* for ASK and CONSENT */
};

/* What validators see of a message about to be sent. */
struct soc_candidate {
    struct soc_agent *from;
    struct soc_slice type;
    struct soc_slice payload; /* JSON */
    struct soc_slice task_id; /* absent: none */
};

/* One agent of a cycle of agents that wait for each other. */
struct soc_waiter {
    struct soc_agent *agent;  /* lent */
    struct soc_agent *target; /* the next of the cycle, lent */
    const char *kind;         /* kind of wait: reply, receive … */
    int64_t since_ms;
    uint64_t number; /* lower: it started to wait earlier */
};

/* The hooks. */
struct soc_hooks {
    void *user;

    /* Runs the activation: starts its script, resumes it with the answer of its last
     * effect, or replays it from the start against the record. On SOC_TURN_RAISED and
     * SOC_TURN_BROKEN `error` holds a JSON object. */
    enum soc_turn_end (*run)(void *user, struct soc_activation *activation, struct soc_buf *error);

    /* Drops the activation's coroutine and sets `activation->script` to NULL. */
    void (*drop)(void *user, struct soc_activation *activation);

    /* Appends file and line where the waiting activation's script is; nothing if its coroutine is
     * gone or in another process. NULL: no script runs. */
    void (*put_where)(void *user, const struct soc_activation *activation, struct soc_buf *out);

    /* The contacts policy: may `from` write to `to`? `contact` is from's entry, NULL
     * for a stranger. A refusal may append a JSON object to `refusal`; without one the
     * default text is used. */
    bool (*may_send)(void *user, struct soc_agent *from, struct soc_agent *to,
                     const struct soc_contact *contact, struct soc_buf *refusal);

    /* The same policy: may `from` broadcast? `is_head`: it is root, user, the
     * orchestrator or named by the setting `broadcasters`. Refusals as above. NULL: only
     * heads may. */
    bool (*may_broadcast)(void *user, struct soc_agent *from, bool is_head,
                          struct soc_buf *refusal);

    /* Releases what `message->script_mark` refers to; the message is about to be freed. */
    void (*forget)(void *user, struct soc_message *message);

    /* The supervision policy: back-off in ms before attempt `retries` + 1 of a turn that
     * raised, or -1 to give up. */
    int64_t (*retry_after)(void *user, struct soc_agent *agent, uint32_t retries);

    /* The same policy: has the agent failed for good, now that its turns raised `count`
     * times recently? `ages_ms` is the age of each failure, newest first. NULL: the
     * default rule. */
    bool (*is_failed)(void *user, struct soc_agent *agent, const int64_t *ages_ms, size_t count);

    /* The introductions policy: what the host does on behalf of the broker. The broker
     * must be able to do what the answer says. `answer` is zeroed. */
    void (*introduce)(void *user, const struct soc_introduction *introduction,
                      struct soc_introduce_answer *answer);

    /* The same policy: does `to` accept an introduction it did not ask for? */
    bool (*takes_unsolicited)(void *user, struct soc_agent *from, struct soc_agent *to);

    /* The supervision policy: is `child` adopted by its grandparent when its parent
     * `agent` ends? False: it ends as well. */
    bool (*is_adopted)(void *user, struct soc_agent *agent, struct soc_agent *child,
                       bool is_forced);

    /* The messages policies: is the message valid for its type? SOC_OK; SOC_EBADMESSAGE
     * with the error object in `error`; or 1 to send it anyway, with that object as a
     * warning. `*requires_ack` becomes the default of its type. */
    int (*check_message)(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                         struct soc_buf *error);

    /* The gatekeeper policy: which agent receives this input of the person? `payload` is
     * JSON. Lends the agent, NULL for root, and may append the person's intent to
     * `intent`. The hook itself is NULL where no script runs. */
    struct soc_agent *(*route)(void *user, struct soc_slice payload, struct soc_buf *intent);

    /* The tasks policy: back-off in ms before the task, which failed with `error` (JSON,
     * or absent), is retried, or -1 to let it fail. NULL: it fails. */
    int64_t (*task_retry_after)(void *user, const struct soc_task *task, struct soc_slice error);

    /* The same policy: time limit in ms of the task that `message` opens, 0: none.
     * `limit_ms` is the society's setting and the default. */
    int64_t (*task_limit)(void *user, const struct soc_message *message, int64_t limit_ms);

    /* The delivery policy: rung `step` (from 1) of the escalation ladder of a message
     * that an outside agent has not acked; SOC_RUNG_END: no further steps. NULL: the
     * default ladder. */
    struct soc_rung (*rung)(void *user, const struct soc_message *message, uint32_t step);

    /* The hosts policy: is a message or an order from another host taken? `from` and `to` are
     * addresses. A refusal may append a JSON object to `refusal`. NULL: everything is. */
    bool (*accepts)(void *user, struct soc_slice from, struct soc_slice to, struct soc_slice type,
                    struct soc_buf *refusal);

    /* The deadlock policy: whose wait ends, as an index into the cycle? Each agent waits
     * for the next; the wait of the first closed the cycle. */
    size_t (*victim)(void *user, const struct soc_waiter *cycle, size_t count);

    /* Appends what a model is told about the agent's work, as members of an unfinished
     * object: brief_text, context, language. False: it cannot be told. NULL: no script runs. */
    bool (*put_context)(void *user, const struct soc_agent *agent, struct soc_buf *out);

    /* Performs the outgoing call, whose intent is durable. soc_calls_answer answers it,
     * now or later. NULL: outgoing calls are not available. */
    void (*call)(void *user, struct soc_outcall *call);

    /* The time given to soc_calls_wake has come. */
    void (*call_due)(void *user, struct soc_outcall *call);

    /* The call is over, answered or not: releases what `call->driver` refers to. */
    void (*call_end)(void *user, struct soc_outcall *call);
};

#endif

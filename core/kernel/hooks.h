/* Hooks: the questions the host asks of whoever runs the scripts.
 *
 * The script layer fills this table, so the host never sees Lua; a test or
 * another language could fill it as well. Every function gets `user` first.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_HOOKS_H
#define SOC_KERNEL_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/activation.h"
#include "model/agent.h"
#include "model/introduction.h"
#include "model/ladder.h"
#include "model/task.h"

struct soc_outcall; /* parts/models/calls.h */

/* How a turn ended. */
enum soc_turn_end {
    SOC_TURN_DONE,   /* the behaviour returned: the activation is over */
    SOC_TURN_WAITS,  /* soc_gate_wait was called and the script has yielded */
    SOC_TURN_RAISED, /* an error, described in `error`; to be tried again */
    SOC_TURN_BROKEN, /* an error that trying again cannot mend */
};

/* What to do about a request to be introduced. */
enum soc_introduce {
    SOC_INTRODUCE_LEAVE,   /* the broker's behaviour answers it */
    SOC_INTRODUCE_NAME,    /* introduce `who`, with a usage hint in `text` */
    SOC_INTRODUCE_ASK,     /* ask `who`, a contact of the broker's */
    SOC_INTRODUCE_CONSENT, /* ask `who` to agree, to `target` if one is known */
    SOC_INTRODUCE_REFUSE,  /* nobody fits; why stands in `text` */
};

/* What the policy says to a request. */
struct soc_introduce_answer {
    enum soc_introduce kind;
    struct soc_agent *who;    /* lent */
    struct soc_agent *target; /* lent, or NULL */
    struct soc_buf text;      /* owned by whoever asked; may be empty */
    int64_t timeout_ms;       /* for ASK and CONSENT */
};

/* What the validators are shown of a message that is about to be sent. */
struct soc_candidate {
    struct soc_agent *from;
    struct soc_slice type;
    struct soc_slice payload; /* JSON */
    struct soc_slice task_id; /* of the envelope; absent: none */
};

/* One of a ring of agents that wait for each other. */
struct soc_waiter {
    struct soc_agent *agent;  /* lent */
    struct soc_agent *target; /* the next of the ring, lent */
    const char *kind;         /* of its wait: reply, receive … */
    int64_t since_ms;
    uint64_t number; /* lower: it began to wait earlier */
};

/* The questions, each a function of `user`. */
struct soc_hooks {
    void *user;

    /* Runs the activation: begins its script, or resumes it with the answer of
     * its last effect, or begins it again to be answered from the record. On
     * SOC_TURN_RAISED and SOC_TURN_BROKEN `error` is a JSON object. */
    enum soc_turn_end (*run)(void *user, struct soc_activation *activation, struct soc_buf *error);

    /* Forgets the activation's coroutine; `activation->script` is NULL after. */
    void (*drop)(void *user, struct soc_activation *activation);

    /* The contacts policy: may `from` write to `to`? `contact` is from's entry,
     * NULL for a stranger. A refusal is appended to `refusal` as a JSON
     * object, or nothing for the usual words. */
    bool (*may_send)(void *user, struct soc_agent *from, struct soc_agent *to,
                     const struct soc_contact *contact, struct soc_buf *refusal);

    /* The same policy: may `from` write to all? `is_head`: it is root, user or the
     * orchestrator. A refusal as above. NULL: the heads may. */
    bool (*may_broadcast)(void *user, struct soc_agent *from, bool is_head,
                          struct soc_buf *refusal);

    /* Lets go of what `message->script_mark` stands for; the message is freed. */
    void (*forget)(void *user, struct soc_message *message);

    /* The supervision policy: ms to wait before try number `retries` + 1 of a
     * turn that raised, or -1 to give it up. */
    int64_t (*retry_after)(void *user, struct soc_agent *agent, uint32_t retries);

    /* The same policy: has the agent failed for good, now that its turns raised
     * `count` times in the last while? `ages_ms` tells how long ago each time was, the
     * latest first. NULL: the usual rule. */
    bool (*is_failed)(void *user, struct soc_agent *agent, const int64_t *ages_ms, size_t count);

    /* The introductions policy: what the host does for the broker, who can do what
     * the answer says. `answer` comes zeroed. */
    void (*introduce)(void *user, const struct soc_introduction *introduction,
                      struct soc_introduce_answer *answer);

    /* The same policy: may an introduction pass that `to` never asked for? */
    bool (*takes_unsolicited)(void *user, struct soc_agent *from, struct soc_agent *to);
    /* The supervision policy: does `child` go to its grandparent now that `agent`,
     * its parent, ends? False: it ends, too. */
    bool (*is_adopted)(void *user, struct soc_agent *agent, struct soc_agent *child,
                       bool is_forced);

    /* The messages policies: does it fit its type? SOC_OK; or SOC_EBADMESSAGE with
     * the error object in `error`; or 1 if it is to be sent all the same, with that
     * object. `*requires_ack`: what its type wants if the sender says nothing. */
    int (*check_message)(void *user, const struct soc_candidate *candidate, bool *requires_ack,
                         struct soc_buf *error);

    /* The gatekeeper: whom is this input of the person's for? `payload` is JSON. Lends
     * the agent, NULL for root, and appends what the person is after to `intent`, or
     * nothing. The function itself is NULL where no script runs. */
    struct soc_agent *(*route)(void *user, struct soc_slice payload, struct soc_buf *intent);
    /* The tasks policy: ms to wait before the task, which failed for `error` (JSON, or
     * absent), is tried again, or -1 to let it fail. NULL: it fails. */
    int64_t (*task_retry_after)(void *user, const struct soc_task *task, struct soc_slice error);

    /* The same policy: ms the task that `message` opens may take, 0 for no limit;
     * `limit_ms` is the society's setting. NULL: that. */
    int64_t (*task_limit)(void *user, const struct soc_message *message, int64_t limit_ms);

    /* The delivery policy: rung number `step`, from 1, of the ladder of a message that
     * an outside agent has not acked; SOC_RUNG_END: nothing more is done. NULL: the
     * usual ladder. */
    struct soc_rung (*rung)(void *user, const struct soc_message *message, uint32_t step);

    /* The deadlock policy: whose wait ends, as an index into the ring? The first is
     * the one whose wait closed it, each waits for the next. */
    size_t (*victim)(void *user, const struct soc_waiter *ring, size_t count);

    /* Makes the call, whose intent is durable; it is answered now or later by
     * soc_calls_answer. NULL: there is no world beyond. */
    void (*call)(void *user, struct soc_outcall *call);

    /* The time that soc_calls_wake was given has come. */
    void (*call_due)(void *user, struct soc_outcall *call);

    /* The call ends, answered or not: lets go of what `call->driver` stands for. */
    void (*call_end)(void *user, struct soc_outcall *call);
};

#endif

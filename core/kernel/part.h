/* Part: one thing a society can do beyond what every society needs.
 *
 * The kernel names no part. Each part fills one constant struct of functions, of
 * which any may be NULL, and stands in the table that the host is made with
 * (options.h); the kernel calls all parts in the order of that table. An *event*
 * tells every part that something happened. A *question* goes from part to part
 * until one answers it: the first true, message or error ends the walk.
 *
 * Most messages concern no part. So stages that only special messages need are skipped
 * for the others: a part marks the types it handles (soc_intern_mark), and `prepare` is for
 * replies, `complete`, `sent` and `arrive` for marked types, messages to all, sends under a
 * key and formal ones.
 *
 * A part owns its state. `open` returns it, soc_part_state lends it by the part's
 * number, `free` releases it. docs/architecture.md shows a part of twenty lines.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_PART_H
#define SOC_KERNEL_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/slice.h"
#include "model/activation.h"
#include "model/message.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;
struct soc_passage;
struct soc_request;
struct soc_send;

/* What a kind of wait does beyond its timer. Any function may be NULL. */
struct soc_wait_ops {
    enum soc_wait_kind kind;
    /* The activation begins to wait, also at a start; or does not wait any more. */
    void (*begin)(struct soc_host *host, struct soc_activation *activation);
    void (*end)(struct soc_host *host, struct soc_activation *activation);
    /* The turn that began to wait has committed. */
    void (*committed)(struct soc_host *host, struct soc_activation *activation);
    /* Its time is over. NULL: it is answered `timeout`. */
    void (*timeout)(struct soc_host *host, struct soc_activation *activation);
    /* Lends target number `index`, from 0, of those it waits for; NULL behind the last. */
    struct soc_agent *(*target)(const struct soc_host *host,
                                const struct soc_activation *activation, size_t index);
    /* Returns the key of the message whose answer target `index` owes; 0: none. */
    uint64_t (*question)(const struct soc_host *host, const struct soc_activation *activation,
                         size_t index);
    /* Lends the correlation id of its chain. NULL: that of the message it handles. */
    struct soc_slice (*chain)(const struct soc_host *host, const struct soc_activation *activation,
                              char id[SOC_MESSAGE_ID_BYTES]);
    /* Appends members that name what it waits for, to a look and to its time-out. */
    void (*put)(const struct soc_host *host, const struct soc_activation *activation,
                struct soc_buf *out);
};

/* What became of a message that a start has found pending. */
enum soc_reclaim {
    SOC_RECLAIM_NONE,    /* no part wants it */
    SOC_RECLAIM_TAKEN,   /* a part holds it now */
    SOC_RECLAIM_TRANSIT, /* it has not arrived yet: it is delivered anew */
};

/* What a question about the next effect of a turn found. */
#define SOC_PART_EFFECT_LIVE 2 /* no part answers: the gate goes on as usual */

/* A part. The comments say who calls; E: event, Q: question. */
struct soc_part {
    const char *name;
    uint32_t number;                  /* of its state: below SOC_PARTS_MAX, one of its own */
    const struct soc_wait_ops *waits; /* kinds of waits it serves; `kind` 0 at the end */

    /* ---- a host's life ---- */
    void *(*open)(struct soc_host *host);         /* a new host: returns the state, or NULL */
    void (*started)(struct soc_host *host);       /* E: state is loaded, the journal is open */
    void (*settle)(struct soc_host *host);        /* E: a turn, timer or door is done */
    void (*stop)(struct soc_host *host);          /* E: the host is about to close or crash */
    void (*free)(struct soc_host *host);          /* E: frees its state; agents still exist */
    bool (*is_busy)(const struct soc_host *host); /* Q: is there work a run waits for? */

    /* ---- timers ---- */
    /* The time its own timer is due, 0: never; and that time has come. */
    int64_t (*due)(const struct soc_host *host);
    void (*fire)(struct soc_host *host);
    /* An item of the host's heap whose kind is soc_part_timer() has fired. */
    void (*timer)(struct soc_host *host, struct soc_heap_item *item);

    /* ---- recovery ---- */
    /* Q: reads a record back, after the kernel has applied its own meaning. 1: it was
     * the part's alone, do not apply it; SOC_OK: go on; or an error. */
    int (*restore)(struct soc_host *host, const struct soc_record *record);
    void (*loaded)(struct soc_host *host); /* E: all records are read, no mail settled */
    /* Q: a message that was handled is still needed: takes it. */
    bool (*keep)(struct soc_host *host, struct soc_message *message);
    /* Q: gives such a message back, it is sent again. */
    struct soc_message *(*release)(struct soc_host *host, uint64_t key);
    void (*attach)(struct soc_host *host, struct soc_message *message); /* E: it is pending */
    enum soc_reclaim (*reclaim)(struct soc_host *host, struct soc_message *message); /* Q */
    void (*resume)(struct soc_host *host); /* E: everything is where it belongs */

    /* ---- agents ---- */
    int (*may_spawn)(struct soc_host *host, struct soc_buf *error); /* Q: inside the turn */
    /* Q: `child` is being born inside the turn; an error takes it back. */
    int (*birth)(struct soc_host *host, struct soc_agent *child, struct soc_buf *error);
    void (*agent_born)(struct soc_host *host, struct soc_agent *agent); /* E: committed */
    void (*agent_adopted)(struct soc_host *host, struct soc_agent *child,
                          struct soc_agent *former); /* E: it has another parent */
    void (*agent_ending)(struct soc_host *host, struct soc_agent *agent,
                         struct soc_slice reason); /* E: before its mail is buried */
    void (*agent_ended)(struct soc_host *host, struct soc_agent *agent);          /* E: and after */
    bool (*has_work)(const struct soc_host *host, const struct soc_agent *agent); /* Q */

    /* ---- a message on its way: soc_router_send ---- */
    /* Q: was it sent before? Then the receipt is in `receipt`. */
    bool (*find_duplicate)(struct soc_host *host, const struct soc_agent *from,
                           const struct soc_send *send, struct soc_buf *receipt);
    void (*prepare)(struct soc_host *host, struct soc_passage *passage); /* E: not validated */
    int (*complete)(struct soc_host *host, struct soc_passage *passage,
                    struct soc_buf *error); /* Q: validated */
    /* Q: may `from` write to `to`? SOC_OK, or the refusal in `error`. */
    int (*may_send)(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                    struct soc_buf *error);
    int (*check)(struct soc_host *host, struct soc_passage *passage,
                 struct soc_buf *error); /* Q: it may go; anything else against it? */
    void (*name_draft)(struct soc_host *host, struct soc_message_draft *draft,
                       char own_id[SOC_MESSAGE_ID_BYTES]); /* E: it is about to be made */
    int (*sent)(struct soc_host *host, const struct soc_passage *passage,
                struct soc_message *message, struct soc_buf *error);    /* Q: it is in the turn */
    void (*unsend)(struct soc_host *host, struct soc_message *message); /* E: rolled back */
    /* Q: appends the receipt of a message that has another than its id. */
    bool (*put_receipt)(struct soc_host *host, const struct soc_message *message,
                        struct soc_buf *out);
    bool (*awaits)(const struct soc_host *host, uint64_t key); /* Q: is its answer awaited? */

    /* ---- a message that has committed: soc_router_accept and after ---- */
    bool (*accept)(struct soc_host *host, struct soc_message *message); /* Q: takes it */
    bool (*arrive)(struct soc_host *host, struct soc_message *message); /* Q: due; takes it */
    bool (*late)(struct soc_host *host, struct soc_message *message);   /* Q: a late reply */
    bool (*put_answer)(struct soc_host *host, const struct soc_request *request,
                       const struct soc_message *reply, struct soc_buf *out); /* Q */
    bool (*hand_out)(struct soc_host *host, struct soc_message *message);     /* Q: it leaves */
    void (*collect)(struct soc_host *host, struct soc_agent *agent); /* E: it looks for mail */
    /* Q: is a message to all, sent in this turn, still to come for the agent? */
    bool (*reaches)(const struct soc_host *host, const struct soc_message *message,
                    const struct soc_agent *agent);
    uint64_t (*unread)(const struct soc_host *host, const struct soc_agent *agent); /* summed */
    void (*deliver)(struct soc_host *host, struct soc_message *message); /* E: handed over */
    void (*taken)(struct soc_host *host, struct soc_message *message);   /* E: inside a turn */
    bool (*expire)(struct soc_host *host, struct soc_message *message);  /* Q: takes it */
    bool (*finishing)(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                      struct soc_slice reason); /* Q: takes it */
    bool (*finish)(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                   struct soc_slice reason); /* E: recorded. True: the part keeps it */
    void (*failed)(struct soc_host *host, struct soc_message *message,
                   enum soc_outcome outcome); /* E: recorded, and it was not processed */
    void (*again)(struct soc_host *host, struct soc_message *message); /* E: sent again */
    void (*request_closed)(struct soc_host *host, uint64_t key); /* E: nobody waits any more */
    /* Q: lends whom the answer to request `key`, put to `asked`, depends on instead; true
     * if a part knows, with NULL for nobody. */
    bool (*answerer)(const struct soc_host *host, uint64_t key, struct soc_agent **asked);
    bool (*is_own_answer)(const struct soc_host *host, const struct soc_message *message); /* Q */

    /* ---- turns ---- */
    void (*commit)(struct soc_host *host); /* E: before its messages are accepted */
    void (*run_ended)(struct soc_host *host, const struct soc_activation *activation,
                      const char *end, struct soc_slice error);       /* E: done, raised, … */
    void (*released)(struct soc_host *host, struct soc_agent *agent); /* E: activation over */
    void (*state_changed)(struct soc_host *host, struct soc_agent *agent); /* E: about to */
    /* Q: answers the next effect instead of the record, as soc_gate_begin does. */
    int (*begin_effect)(struct soc_host *host, struct soc_activation *activation,
                        enum soc_effect_kind kind, uint64_t hash, struct soc_slice *answer,
                        struct soc_buf *error);
    struct soc_slice (*arguments)(struct soc_host *host); /* Q: of the effect that begins */
    /* Q: a turn raised: has the agent failed by now? `is_trial`: it only might raise. */
    bool (*turn_failed)(struct soc_host *host, struct soc_agent *agent, bool is_trial);
    void (*agent_failed)(struct soc_host *host, struct soc_agent *agent,
                         struct soc_slice error);                       /* E: it has */
    void (*agent_held)(struct soc_host *host, struct soc_agent *agent); /* E: paused, resumed */
    /* E: the work on the task that message `key` gave to `owner` is cancelled, with `error`. */
    void (*work_cancelled)(struct soc_host *host, const struct soc_agent *owner,
                           struct soc_slice task_id, uint64_t key, struct soc_slice error);

    /* ---- looks ---- */
    void (*put_agent)(const struct soc_host *host, const struct soc_agent *agent,
                      struct soc_buf *out); /* E: appends members of the agent's object */
};

/*  E(function): all of them but `open`. */
/* clang-format off */
#define SOC_PART_MAP(E) \
    E(started) E(settle) E(stop) E(free) E(is_busy) E(due) E(fire) E(timer) E(restore) \
    E(loaded) E(keep) E(release) E(attach) E(reclaim) E(resume) E(may_spawn) E(birth) \
    E(agent_born) E(agent_adopted) E(agent_ending) E(agent_ended) E(has_work) \
    E(find_duplicate) E(prepare) E(complete) E(may_send) E(check) E(name_draft) E(sent) \
    E(unsend) E(put_receipt) E(awaits) E(accept) E(arrive) E(late) E(put_answer) E(hand_out) \
    E(collect) E(reaches) E(unread) E(deliver) E(taken) E(expire) E(finishing) E(finish) \
    E(failed) E(again) E(request_closed) E(answerer) E(is_own_answer) E(commit) E(run_ended) \
    E(released) E(state_changed) E(begin_effect) E(arguments) E(turn_failed) E(agent_failed) \
    E(agent_held) E(work_cancelled) E(put_agent)
/* clang-format on */

/* For each function those that parts have filled, in order, NULL at the end: so a call
 * costs nothing for the parts that do not care. */
struct soc_part_calls {
#define E(function)                                                                                \
    __typeof__(((struct soc_part *)NULL)->function) function[SOC_PARTS_MAX + 1]; /* NOLINT */
    SOC_PART_MAP(E)
#undef E
};

/* The parts of a host. */
struct soc_parts {
    struct soc_part_calls calls;
    /* History is kept or replayed: begin_effect, arguments, state_changed and run_ended
     * are asked only then. */
    bool watches_effects;
    void *states[SOC_PARTS_MAX];                  /* by number */
    const struct soc_part *timers[SOC_PARTS_MAX]; /* by number: whose timer fires */
    const struct soc_wait_ops *waits[SOC_WAIT_CALL + 1];
};

/* Tells every part: the event's function with these arguments behind the host. */
#define SOC_PARTS_TELL(host, event, ...)                                                           \
    for (size_t at_ = 0; (host)->parts.calls.event[at_] != NULL; at_++)                            \
    (host)->parts.calls.event[at_](__VA_ARGS__)

#endif

/* Part: a capability that plugs into the kernel. This header is the manual for
 * writing one.
 *
 * The kernel holds what every society needs and names no part. A part lives in a
 * folder of its own below core/parts, fills one constant `struct soc_part` and is
 * listed in the table the host is created with (options.h). Any function may be
 * NULL. The kernel calls parts in table order, always on the loop thread.
 *
 * There are two kinds of functions:
 *   E, event:    something happened. Every part is called; nothing is returned.
 *   Q, question: something must be decided. Parts are asked in order until one
 *                answers: the first true, non-NULL result or error ends the walk.
 *
 * To write a part:
 *   1. Pick a number below SOC_PARTS_MAX that no other part uses. Allocate the
 *      state in `open` and release it in `free`; soc_part_state() lends it.
 *   2. Write every change to the batch (turns/batch.h) and read it back in
 *      `restore`. What has no record is lost at a restart.
 *   3. Inside a turn, leave an undo note for every change in memory (turns/turn.h):
 *      the turn may be rolled back.
 *   4. Give every deadline a timer: `due` and `fire` for one timer of the part, or
 *      `timer` for items in the host's heap.
 *   5. Add a line to the table. docs/architecture.md shows a part of twenty lines.
 *
 * A part may use the kernel, the model and its own folder. Parts talk to each other
 * through the kernel or a header made for the purpose.
 *
 * Ownership: pointers passed to a function are lent for the call. A question whose
 * comment says «takes it» transfers the message to the part that returns true.
 *
 * Most messages concern no part, so stages that only special messages need are skipped
 * for the rest. A part marks the message types it handles (soc_intern_mark). `prepare` is
 * for replies; `complete`, `sent` and `arrive` are for marked types, broadcasts, sends with a
 * deduplication key and formal messages; `finishing` for broadcasts and mail to outside agents.
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
struct soc_asked;
struct soc_host;
struct soc_item;
struct soc_operation;
struct soc_passage;
struct soc_request;
struct soc_send;
struct soc_verdict;

/* How one kind of wait behaves, beyond its timer. Any function may be NULL. */
struct soc_wait_ops {
    enum soc_wait_kind kind;
    /* The activation starts to wait, live or during recovery. */
    void (*begin)(struct soc_host *host, struct soc_activation *activation);
    /* The wait is over, for whatever reason. */
    void (*end)(struct soc_host *host, struct soc_activation *activation);
    /* The turn that would have started the wait is rolled back. */
    void (*rolled_back)(struct soc_activation *activation);
    /* The turn that started the wait has committed. */
    void (*committed)(struct soc_host *host, struct soc_activation *activation);
    /* The deadline has passed. NULL: the wait ends with the error `timeout`. */
    void (*timeout)(struct soc_host *host, struct soc_activation *activation);
    /* Lends target `index` (from 0) of the agents it waits for; NULL after the last. */
    struct soc_agent *(*target)(const struct soc_host *host,
                                const struct soc_activation *activation, size_t index);
    /* Returns the key of the message that target `index` has to answer; 0: none. */
    uint64_t (*question)(const struct soc_host *host, const struct soc_activation *activation,
                         size_t index);
    /* Lends the correlation id of its chain. NULL: that of the message it handles. */
    struct soc_slice (*chain)(const struct soc_host *host, const struct soc_activation *activation,
                              char id[SOC_MESSAGE_ID_BYTES]);
    /* Appends JSON members that describe the wait, for `inspect waits` and the timeout error. */
    void (*put)(const struct soc_host *host, const struct soc_activation *activation,
                struct soc_buf *out);
    /* Appends JSON members with what it has of its answer, for the error `deadlock`. */
    void (*put_so_far)(const struct soc_host *host, const struct soc_activation *activation,
                       struct soc_buf *out);
    /* As `put`, beside what the kernel puts there, such as how the receiver stands. */
    void (*put_timeout)(const struct soc_host *host, const struct soc_activation *activation,
                        struct soc_buf *out);
};

/* Answer of `reclaim`: who holds a message that recovery found pending. */
enum soc_reclaim {
    SOC_RECLAIM_NONE,    /* not this part; ask the next */
    SOC_RECLAIM_TAKEN,   /* the part owns it now */
    SOC_RECLAIM_TRANSIT, /* still in transit: deliver it again */
};

/* Answer of `begin_effect`: not this part; the gate continues as usual. */
#define SOC_PART_EFFECT_LIVE 2

/* A part. E: event, Q: question, as explained above. */
struct soc_part {
    const char *name;
    uint32_t number;                        /* index of its state: unique, below SOC_PARTS_MAX */
    const struct soc_wait_ops *waits;       /* the kinds of wait it serves, ends with `kind` 0 */
    const struct soc_operation *operations; /* asked from outside, ends with a NULL name */

    /* ---- lifetime of a host ---- */
    void *(*open)(struct soc_host *host);         /* new host: returns the state, or NULL */
    void (*started)(struct soc_host *host);       /* E: state loaded, journal open */
    void (*settle)(struct soc_host *host);        /* E: a turn, timer or door call is over */
    void (*stop)(struct soc_host *host);          /* E: about to close or crash */
    void (*free)(struct soc_host *host);          /* E: release the state; agents still exist */
    bool (*is_busy)(const struct soc_host *host); /* Q: is there work that a run waits for? */

    /* ---- timers ---- */
    int64_t (*due)(const struct soc_host *host); /* when its own timer is due, 0: never */
    void (*fire)(struct soc_host *host);         /* it is due; must move `due` */
    /* An item of the host's heap with the kind soc_part_timer() has fired. */
    void (*timer)(struct soc_host *host, struct soc_heap_item *item);

    /* ---- recovery, in this order ---- */
    /* Q: applies one stored record, after the kernel has applied it. 1: it concerned
     * this part only; SOC_OK: continue with the next part; or an error. */
    int (*restore)(struct soc_host *host, const struct soc_record *record);
    /* Q: keeps a processed message that it still needs; takes it. */
    bool (*keep)(struct soc_host *host, struct soc_message *message);
    /* Q: gives such a message back because a record says it was sent again. */
    struct soc_message *(*release)(struct soc_host *host, uint64_t key);
    void (*loaded)(struct soc_host *host); /* E: all records read, no message placed yet */
    void (*attach)(struct soc_host *host, struct soc_message *message); /* E: it is pending */
    /* Q: is this pending message the part's? */
    enum soc_reclaim (*reclaim)(struct soc_host *host, struct soc_message *message);
    void (*resume)(struct soc_host *host); /* E: all messages and activations are in place */

    /* ---- agents ---- */
    int (*may_spawn)(struct soc_host *host, struct soc_buf *error); /* Q: inside the turn */
    /* Q: `child` is being spawned inside the turn; an error rolls the spawn back. */
    int (*birth)(struct soc_host *host, struct soc_agent *child, struct soc_buf *error);
    void (*agent_born)(struct soc_host *host, struct soc_agent *agent); /* E: spawn committed */
    void (*agent_adopted)(struct soc_host *host, struct soc_agent *child,
                          struct soc_agent *former); /* E: it has a new parent */
    void (*agent_ending)(struct soc_host *host, struct soc_agent *agent,
                         struct soc_slice reason); /* E: before its mail is discarded */
    void (*agent_forced)(struct soc_host *host, struct soc_agent *agent); /* E: by force */
    void (*agent_ended)(struct soc_host *host, struct soc_agent *agent);  /* E: after that */
    /* Q: does the part still work for an agent that is to end? */
    bool (*has_work)(const struct soc_host *host, const struct soc_agent *agent);

    /* ---- sending a message, in this order: soc_router_send ---- */
    /* Q: was it sent before? True: `receipt` holds the original receipt. */
    bool (*find_duplicate)(struct soc_host *host, const struct soc_agent *from,
                           const struct soc_send *send, struct soc_buf *receipt);
    void (*prepare)(struct soc_host *host, struct soc_passage *passage); /* E: not validated yet */
    int (*complete)(struct soc_host *host, struct soc_passage *passage,
                    struct soc_buf *error); /* Q: validated; fill in or refuse */
    /* Q: may `from` write to `to`? SOC_OK, or an error with its object in `error`. */
    int (*may_send)(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                    struct soc_buf *error);
    int (*check)(struct soc_host *host, struct soc_passage *passage,
                 struct soc_buf *error); /* Q: permitted; any other objection? */
    void (*name_draft)(struct soc_host *host, struct soc_message_draft *draft,
                       char own_id[SOC_MESSAGE_ID_BYTES]); /* E: about to be created */
    int (*sent)(struct soc_host *host, const struct soc_passage *passage,
                struct soc_message *message, struct soc_buf *error); /* Q: part of the turn now */
    void (*unsend)(struct soc_host *host, struct soc_message *message); /* E: rolled back */
    /* Q: appends the receipt of a message whose receipt is not just its id. */
    bool (*put_receipt)(struct soc_host *host, const struct soc_message *message,
                        struct soc_buf *out);
    bool (*awaits)(const struct soc_host *host, uint64_t key); /* Q: is its answer awaited? */

    /* ---- a committed message: soc_router_accept and after ---- */
    bool (*accept)(struct soc_host *host, struct soc_message *message); /* Q: takes it */
    bool (*arrive)(struct soc_host *host, struct soc_message *message); /* Q: due; takes it */
    bool (*late)(struct soc_host *host, struct soc_message *message); /* Q: late reply; takes it */
    /* Q: appends what the waiter gets for `reply`. Default: a list with the envelope. */
    bool (*put_answer)(struct soc_host *host, const struct soc_request *request,
                       const struct soc_message *reply, struct soc_buf *out);
    /* Q: delivers it to an agent that lives outside; takes it. */
    bool (*hand_out)(struct soc_host *host, struct soc_message *message);
    /* E: the agent looks for mail: queue the broadcasts it has not seen. */
    void (*collect)(struct soc_host *host, struct soc_agent *agent);
    /* Q: will this broadcast, sent in the open turn, reach the agent? */
    bool (*reaches)(const struct soc_host *host, const struct soc_message *message,
                    const struct soc_agent *agent);
    /* Returns the number of broadcasts the agent has not seen; the results are summed. */
    uint64_t (*unread)(const struct soc_host *host, const struct soc_agent *agent);
    /* Q: it is for the person, and `main` does not receive it. True: shown as the part
     * does; the caller finishes it. */
    bool (*show)(struct soc_host *host, const struct soc_message *message);
    void (*deliver)(struct soc_host *host, struct soc_message *message); /* E: delivered */
    void (*taken)(struct soc_host *host, struct soc_message *message);   /* E: received in a turn */
    bool (*expire)(struct soc_host *host, struct soc_message *message);  /* Q: takes it */
    bool (*finishing)(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                      struct soc_slice reason); /* Q: before its end is recorded; takes it */
    bool (*finish)(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                   struct soc_slice reason); /* E: recorded; true: the part keeps it */
    void (*failed)(struct soc_host *host, struct soc_message *message,
                   enum soc_outcome outcome); /* E: recorded; it was not processed */
    /* E: what the store has besides the message of a dead letter that is redelivered next:
     * its failed task and the ended ones above it. */
    void (*recall)(struct soc_host *host, const struct soc_record *record);
    void (*again)(struct soc_host *host, struct soc_message *message); /* E: redelivered */
    /* E: the request of an activation or a door ends without a reply. */
    void (*request_lapsed)(struct soc_host *host, const struct soc_request *request);
    void (*request_closed)(struct soc_host *host, uint64_t key); /* E: nobody waits any more */
    /* Q: who will really answer request `key`, put to `*asked`? True: `*asked` is set;
     * NULL: no agent. */
    bool (*answerer)(const struct soc_host *host, uint64_t key, struct soc_agent **asked);
    /* Q: is request `key`, whose message was handled, before a person? */
    bool (*is_with_person)(const struct soc_host *host, uint64_t key);
    /* Q: which request from another host may `to` still answer under this id (mail/asked.h)? */
    bool (*find_asked)(const struct soc_host *host, const struct soc_agent *to, struct soc_slice id,
                       struct soc_asked *asked);
    /* Q: may the host answer this message on behalf of its receiver? */
    bool (*is_own_answer)(const struct soc_host *host, const struct soc_message *message);

    /* ---- turns ---- */
    void (*commit)(struct soc_host *host); /* E: committed, its messages not accepted yet */
    void (*run_ended)(struct soc_host *host, const struct soc_activation *activation,
                      const char *end, struct soc_slice error); /* E: done, raised, … */
    /* E: the agent may wait for others than before; no cycle of this host leads through it. */
    void (*wait_changed)(struct soc_host *host, struct soc_agent *agent);
    /* E: the activation's wait is over. `answer`: of its last effect; absent: abandoned. */
    void (*wait_ended)(struct soc_host *host, const struct soc_activation *activation,
                       struct soc_slice answer);
    /* E: the activation ends; its records follow in the same batch. `reason`: as of `finish`. */
    void (*handled)(struct soc_host *host, struct soc_activation *activation,
                    enum soc_outcome outcome, struct soc_slice reason);
    void (*released)(struct soc_host *host, struct soc_agent *agent); /* E: activation is over */
    void (*state_changed)(struct soc_host *host, struct soc_agent *agent); /* E: about to change */
    /* Q: answers the next effect instead of the record, with the result of soc_gate_begin;
     * or SOC_PART_EFFECT_LIVE. */
    int (*begin_effect)(struct soc_host *host, struct soc_activation *activation,
                        enum soc_effect_kind kind, struct soc_effect_hash hash,
                        struct soc_slice *answer, struct soc_buf *error);
    struct soc_slice (*arguments)(struct soc_host *host); /* Q: lends those of the new effect */
    /* Q: a turn raised: has the agent failed for good? `is_trial`: only asking, count nothing. */
    bool (*turn_failed)(struct soc_host *host, struct soc_agent *agent, bool is_trial);
    void (*agent_failed)(struct soc_host *host, struct soc_agent *agent,
                         struct soc_slice error);                       /* E: it has */
    void (*agent_held)(struct soc_host *host, struct soc_agent *agent); /* E: paused, resumed */
    /* E: the work of `owner` on the task opened by message `key` is cancelled with `error`. */
    void (*work_cancelled)(struct soc_host *host, const struct soc_agent *owner,
                           struct soc_slice task_id, uint64_t key, struct soc_slice error);
    /* Q: the person decides an item, inside the turn. 1: the part has sent `*message` to the
     * agent that asked; SOC_OK: the item is not the part's; or an error with its object. */
    int (*decide)(struct soc_host *host, const struct soc_item *item,
                  const struct soc_verdict *verdict, struct soc_message **message,
                  struct soc_buf *error);

    /* ---- inspection ---- */
    void (*put_agent)(const struct soc_host *host, const struct soc_agent *agent,
                      struct soc_buf *out); /* E: append members of the agent's object */
};

/*  E(function): every function but `open`. */
/* clang-format off */
#define SOC_PART_MAP(E) \
    E(started) E(settle) E(stop) E(free) E(is_busy) E(due) E(fire) E(timer) E(restore) \
    E(loaded) E(keep) E(release) E(attach) E(reclaim) E(resume) E(may_spawn) E(birth) \
    E(agent_born) E(agent_adopted) E(agent_ending) E(agent_forced) E(agent_ended) E(has_work) \
    E(find_duplicate) E(prepare) E(complete) E(may_send) E(check) E(name_draft) E(sent) \
    E(unsend) E(put_receipt) E(awaits) E(accept) E(arrive) E(late) E(put_answer) E(hand_out) \
    E(collect) E(reaches) E(unread) E(show) E(deliver) E(taken) E(expire) E(finishing) \
    E(finish) E(failed) E(recall) E(again) E(request_lapsed) E(request_closed) E(answerer) \
    E(is_with_person) E(find_asked) E(is_own_answer) E(commit) E(run_ended) E(wait_changed) \
    E(wait_ended) E(handled) E(released) E(state_changed) E(begin_effect) E(arguments) \
    E(turn_failed) E(agent_failed) E(agent_held) E(work_cancelled) E(decide) E(put_agent)
/* clang-format on */

/* For each function, the implementations in table order, NULL after the last. A call
 * costs nothing for parts that do not implement it. */
struct soc_part_calls {
#define E(function)                                                                                \
    __typeof__(((struct soc_part *)NULL)->function) function[SOC_PARTS_MAX + 1]; /* NOLINT */
    SOC_PART_MAP(E)
#undef E
};

/* The parts of one host. */
struct soc_parts {
    struct soc_part_calls calls;
    /* History is kept or replayed: begin_effect, arguments, state_changed and run_ended
     * are called only then. */
    bool watches_effects;
    void *states[SOC_PARTS_MAX];                      /* by part number */
    const struct soc_part *timers[SOC_PARTS_MAX];     /* by part number: who serves `timer` */
    const struct soc_wait_ops *waits[SOC_WAIT_COUNT]; /* by kind */
};

/* Raises an event: calls the function of every part that has it. */
#define SOC_PARTS_TELL(host, event, ...)                                                           \
    for (size_t at_ = 0; (host)->parts.calls.event[at_] != NULL; at_++)                            \
    (host)->parts.calls.event[at_](__VA_ARGS__)

#endif

/* Operation: something that can be asked of a society from outside, declared as data.
 *
 * An operation has a name, a scope, parameters, the shape of its answer and one sentence.
 * The control socket, `society call` and docs/operations.md derive from these
 * declarations. The kernel declares its own in kernel/operations, each part lists its own
 * in `struct soc_part.operations`; operations/catalogue.h walks all of them.
 *
 * Nothing here knows a transport. A door fills a caller and a call and hands over the
 * parameters as a JSON object; soc_operation_do checks scope and parameters and runs the
 * operation, which answers exactly once, at once or later. What it changed is durable when
 * it answers, and its last record in the same batch is the activity `order { by, op,
 * target }`. An order that changed nothing leaves no line.
 *
 * An answer is a JSON list of objects, whose members are declared, or an error object.
 * Layer: kernel. Thread: any for the declarations, loop for functions. */
#ifndef SOC_KERNEL_OPERATIONS_OPERATION_H
#define SOC_KERNEL_OPERATIONS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "kernel/operations/view.h"
#include "store/store.h"

struct soc_agent;
struct soc_call_key;
struct soc_given;
struct soc_host;

/*  S(tag, name, bit): what a caller may do. */
#define SOC_SCOPE_MAP(S)                                                                           \
    S(READ, "read", 1)                                                                             \
    S(WRITE, "write", 2)                                                                           \
    S(DECIDE, "decide", 4)                                                                         \
    S(OPERATE, "operate", 8)

/* The scopes, as bits. */
enum soc_scope {
#define S(tag, name, bit) SOC_SCOPE_##tag = (bit),
    SOC_SCOPE_MAP(S)
#undef S
};

#define SOC_SCOPE_ALL 15u

/*  K(tag, name): kinds of parameters and of members of answers. */
#define SOC_PARAM_MAP(K)                                                                           \
    K(TEXT, "text")         /* `least` to `most` bytes, without NUL */                             \
    K(ID, "message id")     /* the id of a message */                                              \
    K(INTEGER, "integer")   /* `least` to `most` */                                                \
    K(NUMBER, "number")     /* `least` to `most` */                                                \
    K(FLAG, "flag")         /* true or false */                                                    \
    K(TIME, "time")         /* RFC 3339; a parameter may also be ms since 1970 */                  \
    K(CHOICE, "choice")     /* one of `choices` */                                                 \
    K(JSON, "json")         /* any value but null */                                               \
    K(OBJECT, "object")     /* an object */                                                        \
    K(LIST, "list")         /* a list */                                                           \
    K(RECEIVER, "receiver") /* an id, All, or a list of ids */

/* The kinds. */
enum soc_param_kind {
#define K(tag, name) SOC_PARAM_##tag,
    SOC_PARAM_MAP(K) SOC_PARAM_KIND_COUNT
#undef K
};

/* A parameter, or a member of an answer. A parameter that is null is absent. */
struct soc_param {
    const char *name;
    enum soc_param_kind kind;
    bool is_needed;
    int64_t least;              /* bounds of numbers, in bytes of texts */
    int64_t most;               /* 0 with a `least` of 0: no bounds */
    const char *const *choices; /* ends with NULL; of a text, `run` checks them */
    const char *alias;          /* another name for it; NULL: none */
    const char *summary;
};

/* An operation. */
struct soc_operation {
    const char *name;
    const char *summary; /* one sentence */
    enum soc_scope scope;
    bool changes;                   /* it leaves an `order` in the activity log */
    bool needs_running;             /* a stopped society cannot do it */
    bool is_for_agents;             /* also for callers that speak as an agent */
    bool checks_itself;             /* `run` checks its parameters */
    bool works_if_full;             /* also while the disk is full */
    bool takes_no_key;              /* an idempotency key is refused */
    const struct soc_param *params; /* ends with a NULL name; NULL: none */
    uint32_t takes;                 /* which of them, as bits; 0: all */
    const struct soc_param *answer; /* members of the objects in the list; NULL: it is empty */
    uint32_t tells;                 /* which of them, as bits; 0: all */
    const struct soc_view *view;    /* of a read operation, else NULL */
    void (*run)(struct soc_given *given);
    /* Answers a call that repeats another under its key, which had `answer`. NULL: with
     * that. */
    void (*again)(struct soc_given *given, struct soc_slice answer);
};

/* Lends parameter number `index` of an operation, and member number `index` of the objects
 * it answers; NULL after the last. */
const struct soc_param *soc_operation_param(const struct soc_operation *operation, size_t index);
const struct soc_param *soc_operation_member(const struct soc_operation *operation, size_t index);

/* Lends the name of a scope or a kind. */
const char *soc_scope_name(enum soc_scope scope);
const char *soc_param_kind_name(enum soc_param_kind kind);

/* The society that is asked, and what only its owner can do. */
struct soc_operations {
    struct soc_host *host;    /* lent, started */
    void (*stop)(void *user); /* stops the society; NULL: it is not running */
    /* Switches a policy, with settings (a JSON object) or without; NULL: not possible here. */
    int (*use_policy)(void *user, const char *kind, const char *name, struct soc_slice settings,
                      struct soc_detail *detail);
    /* Starts a replay under other policies (a JSON object, or absent), and reports on one:
     * the answer is a list, or the error object. NULL: not possible here. */
    int (*start_replay)(void *user, struct soc_slice policies, struct soc_buf *answer);
    int (*put_replay)(void *user, struct soc_slice id, struct soc_buf *answer);
    void *user;
};

/* Who asks. All is lent for the call. */
struct soc_caller {
    struct soc_slice name;  /* `by` of the order's line */
    unsigned scopes;        /* enum soc_scope bits */
    struct soc_slice agent; /* the agent it speaks as; absent: `user` */
    struct soc_slice key;   /* idempotency key of an order (call_keys.h); absent: none */
};

/* The owner of the state directory, who may do everything. */
extern const struct soc_caller soc_caller_owner;

/* One call until it is answered. A door embeds it in a struct of its own, sets `answer`
 * and calls soc_call_fini at the end. */
struct soc_call {
    struct soc_host *host;
    /* Called once; the door may free the call. `answer` is a JSON list, or if `is_error` an
     * object with a member `error`. It is absent if the call was dropped. */
    void (*answer)(struct soc_call *call, bool is_error, struct soc_slice answer);
    struct soc_buf held;           /* an answer that waits until it is durable */
    struct soc_buf order;          /* the line of an order that is carried out later */
    void *work;                    /* malloc'ed, of an operation that takes more than one step */
    void (*free_work)(void *work); /* NULL: free() */
    struct soc_call_key *key;      /* call_keys.h: its order is being carried out; NULL: none */
    bool is_strict;                /* parameters that the operation does not have are refused */
    bool is_paged;                 /* lists are answered by pages */
    bool is_dropped;
    /* Of a page, set before `answer` is called; 0: none. */
    uint64_t next;
    uint64_t previous;
    uint64_t as_of; /* last line that the answer knows of */
};

/* Answers with a list at once. */
void soc_call_answer(struct soc_call *call, struct soc_slice list);

/* Answers with the error object `error`. */
void soc_call_refuse(struct soc_call *call, struct soc_slice error);

/* Answers with an error code and a sentence (NULL: the text of base/err.h). */
void soc_call_fail(struct soc_call *call, int code, const char *message);

/* Ends an order after soc_given_defer: an error object if `rc` < 0; otherwise records it, if
 * it `has_changed` something, and answers with a copy of the list when that is durable. */
void soc_call_finish(struct soc_call *call, int rc, bool has_changed, struct soc_slice answer);

/* Frees what the call holds. */
void soc_call_fini(struct soc_call *call);

/* The client has gone: what it asked for is done all the same, but `answer` is called
 * without an answer, as soon as nothing refers to the call. */
void soc_call_drop(struct soc_call *call);

/* A call while its operation runs, valid until `run` returns. */
struct soc_given {
    const struct soc_operations *society;
    const struct soc_operation *operation;
    const struct soc_caller *caller;
    struct soc_call *call;
    struct soc_slice params; /* JSON object, checked */
    struct soc_buf texts;    /* unescaped; reserved in full, so it never moves */
    uint64_t sequence;       /* of the batch when it began, and its length */
    size_t length;
};

/* Checks that the caller may do it and that `params`, a JSON object, fit, and runs the
 * operation. Answers with SOC_EDISKFULL, SOC_EFORBIDDEN, or SOC_EINVAL and `member`, the
 * name of the parameter at fault, if not. */
void soc_operation_do(const struct soc_operations *society, const struct soc_operation *operation,
                      const struct soc_caller *caller, struct soc_call *call,
                      struct soc_slice params);

/* Reads the filters of a read operation. The texts of `query` are lent by `params` and by
 * `texts`, which the caller frees. Returns the name of a parameter that is invalid or does
 * not apply, or NULL. */
const char *soc_operation_read_query(const struct soc_operation *operation, struct soc_slice params,
                                     struct soc_buf *texts, struct soc_query *query);

/* Lend or return a parameter that was checked, given under its name or its alias; absent,
 * `fallback` or false if it is not given. */
struct soc_slice soc_given_text(struct soc_given *given, const char *name);
struct soc_slice soc_given_json(const struct soc_given *given, const char *name);
int64_t soc_given_integer(const struct soc_given *given, const char *name, int64_t fallback);
bool soc_given_flag(const struct soc_given *given, const char *name);

/* Lends the living agent whose id is the parameter `agent`, which the caller may see;
 * otherwise answers with an error and returns NULL. */
struct soc_agent *soc_given_agent(struct soc_given *given);

/* Tells whether the caller may see what belongs to that agent; answers with an error if
 * not. */
bool soc_given_may_see(struct soc_given *given, struct soc_slice agent);

/* Answers with a list at once. */
void soc_given_answer(struct soc_given *given, struct soc_slice list);

/* Answers with the list when everything so far is durable. Takes its bytes. */
void soc_given_answer_when_durable(struct soc_given *given, struct soc_buf *list);

/* The order is done and answered later: its idempotency key, if any, is kept with the list
 * that a repetition is answered with. */
void soc_given_keep_key(struct soc_given *given, struct soc_slice list);

/* Answers with the error object `error`. */
void soc_given_refuse(struct soc_given *given, struct soc_slice error);

/* Records the order if it changed something. `target`: JSON, what it concerns, or absent. */
void soc_given_note(struct soc_given *given, struct soc_slice target);

/* The order is carried out later and ends with soc_call_finish: keeps what is to be noted
 * then. */
void soc_given_defer(struct soc_given *given, struct soc_slice target);

/* Answers that the parameter `name` is at fault. */
void soc_given_fault(struct soc_given *given, const char *name);

/* Records an order without a target that changes no record of its own, unless the disk is
 * full. */
void soc_given_note_always(struct soc_given *given);

/* Ends an order whose `target` is a text: an error object if `rc` < 0; otherwise notes it
 * and answers with the list `answer` when everything so far is durable. Frees `answer`. */
void soc_given_finish(struct soc_given *given, int rc, struct soc_slice target,
                      struct soc_buf *answer);

/* Answers a read operation; its `run`. */
void soc_given_look(struct soc_given *given);

/* The parameter `agent`, needed: of operations about one agent. */
extern const struct soc_param soc_operation_agent[];

/* What rows can be filtered by: the parameters of every view, of which `takes` chooses. */
extern const struct soc_param soc_view_filters[SOC_FILTER_COUNT + 1];

#endif

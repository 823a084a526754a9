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
#include "kernel/operations/call.h"
#include "kernel/operations/param.h"
#include "kernel/operations/view.h"
#include "store/store.h"

struct soc_agent;
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
    uint64_t takes;                 /* which of them, as bits; 0: all */
    const struct soc_param *answer; /* members of the objects in the list; NULL: it is empty */
    uint64_t tells;                 /* which of them, as bits; 0: all */
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

/* Lends the name of a scope. */
const char *soc_scope_name(enum soc_scope scope);

/* The society that is asked, and what only its owner can do. */
struct soc_operations {
    struct soc_host *host;    /* lent, started */
    void (*stop)(void *user); /* stops the society; NULL: it is not running */
    /* Switches a policy, with settings (a JSON object) or without, or only tries whether it
     * could be switched; NULL: not possible here. */
    int (*use_policy)(void *user, const char *kind, const char *name, struct soc_slice settings,
                      bool is_trial, struct soc_detail *detail);
    /* Appends the names of the policies of a kind, a JSON list; NULL: not possible here. */
    void (*put_policy_names)(void *user, const char *kind, struct soc_buf *out);
    /* Starts a replay under other policies (a JSON object, or absent), and reports on one:
     * the answer is a list, or the error object. NULL: not possible here. */
    int (*start_replay)(void *user, struct soc_slice policies, struct soc_buf *answer);
    int (*put_replay)(void *user, struct soc_slice id, struct soc_buf *answer);
    void *user;
};

/* Who asks. All is lent for the call. */
struct soc_caller {
    struct soc_slice name;   /* `by` of the order's line */
    struct soc_slice holder; /* whose idempotency keys it uses; absent: those of the name */
    unsigned scopes;         /* enum soc_scope bits */
    struct soc_slice agent;  /* the agent it speaks as; absent: `user` */
    struct soc_slice key;    /* idempotency key of an order (call_keys.h); absent: none */
};

/* The owner of the state directory, who may do everything. */
extern const struct soc_caller soc_caller_owner;

/* A call while its operation runs, valid until `run` returns. */
struct soc_given {
    const struct soc_operations *society;
    const struct soc_operation *operation;
    const struct soc_caller *caller;
    struct soc_call *call;
    struct soc_slice params;          /* JSON object, checked */
    const struct soc_params *members; /* its members */
    struct soc_buf texts;             /* unescaped; reserved in full, so it never moves */
    uint64_t sequence;                /* of the batch when it began, and its length */
    size_t length;
};

/* Checks that the caller may do it and that `params`, a JSON object, fit, and runs the
 * operation. If not, it answers with SOC_EDISKFULL, SOC_EFORBIDDEN, or SOC_EINVAL with
 * `member`, the name of the parameter at fault, and a sentence that says what it must be. */
void soc_operation_do(const struct soc_operations *society, const struct soc_operation *operation,
                      const struct soc_caller *caller, struct soc_call *call,
                      struct soc_slice params);

/* Reads the filters of a read operation. The texts of `query` are lent by `params` and by
 * `texts`, which the caller frees. Returns the name of a parameter that is invalid or does
 * not apply, or NULL. */
const char *soc_operation_read_query(const struct soc_operation *operation, struct soc_slice params,
                                     struct soc_buf *texts, struct soc_query *query);

/* Writes the error object about `fault`, the name that soc_operation_read_query has lent. */
void soc_operation_refuse_fault(const struct soc_operation *operation, struct soc_slice params,
                                const char *fault, struct soc_buf *out);

/* The parameter `agent`, needed: of operations about one agent. */
extern const struct soc_param soc_operation_agent[];

/* What rows can be filtered by: the parameters of every view, of which `takes` chooses. */
extern const struct soc_param soc_view_filters[SOC_FILTER_COUNT + 1];

#endif

/* Operations: what can be asked of a society, one request and one answer at a time.
 *
 * A request is a JSON object that names its `op`; control.h lists them. Nothing here
 * knows where a request came from: whoever passes one on embeds a struct soc_call in
 * a struct of its own and gets the answer through it, once, now or later. What an
 * operation changed is durable by the time it is answered.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_OPERATIONS_H
#define SOC_BRIDGE_CONTROL_OPERATIONS_H

#include "base/buf.h"
#include "kernel/host.h"
#include "parts/subjects.h"

/* The society that is asked. */
struct soc_operations {
    struct soc_host *host;    /* lent, started */
    void (*stop)(void *user); /* asks the society to stop; NULL: it does not run */
    /* Puts a policy in force; NULL: that is not possible here. */
    int (*use_policy)(void *user, const char *kind, const char *name, struct soc_detail *detail);
    void *user;
};

/* One request until it is answered. The owner sets `answer` and frees `held`. */
struct soc_call {
    struct soc_host *host;
    /* Called once: `answer` is a JSON list, or if `is_error` an object with a member
     * `error`. The owner may free the call. */
    void (*answer)(struct soc_call *call, bool is_error, struct soc_slice answer);
    struct soc_buf held; /* an answer that waits to be durable */
};

/* Answers with an error of the table and a sentence (NULL: that of the table). */
void soc_call_fail(struct soc_call *call, int code, const char *message);

/* Does what `request`, a JSON object, asks and has `call` answered. */
void soc_operations_do(const struct soc_operations *society, struct soc_call *call,
                       struct soc_slice request);

/* Reads the filters of a request that asks for `subject`. The texts of `query` are lent
 * by the request and by `texts`, which the caller frees. Returns the member that is
 * wrong or does not apply, or NULL. */
const char *soc_operations_read_query(struct soc_slice request, const struct soc_subject *subject,
                                      struct soc_buf *texts, struct soc_query *query);

#endif

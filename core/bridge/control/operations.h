/* Operations: the requests a society accepts from its doors.
 *
 * A request is a JSON object with a member `op`; control.h lists the operations. This file
 * does not know where a request came from: a door embeds struct soc_call in a struct of its
 * own and receives exactly one answer through it, at once or later. Changes are durable
 * when they are answered.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_CONTROL_OPERATIONS_H
#define SOC_BRIDGE_CONTROL_OPERATIONS_H

#include "base/buf.h"
#include "kernel/host.h"
#include "parts/subjects.h"

/* The society that receives the requests. */
struct soc_operations {
    struct soc_host *host;    /* lent, started */
    void (*stop)(void *user); /* stops the society; NULL: it is not running */
    /* Switches a policy; NULL: not possible here. */
    int (*use_policy)(void *user, const char *kind, const char *name, struct soc_detail *detail);
    void *user;
};

/* One request until it is answered. The owner sets `answer` and frees `held`. */
struct soc_call {
    struct soc_host *host;
    /* Called once: `answer` is a JSON list, or if `is_error` an object with a member
     * `error`. The owner may free the call. */
    void (*answer)(struct soc_call *call, bool is_error, struct soc_slice answer);
    struct soc_buf held; /* an answer that waits until it is durable */
};

/* Answers with an error code and a sentence (NULL: the text of base/err.h). */
void soc_call_fail(struct soc_call *call, int code, const char *message);

/* Executes `request`, a JSON object, and answers `call`. */
void soc_operations_do(const struct soc_operations *society, struct soc_call *call,
                       struct soc_slice request);

/* Reads the filters of a query for `subject`. The texts of `query` are lent by the request
 * and by `texts`, which the caller frees. Returns the name of a member that is invalid or
 * does not apply, or NULL. */
const char *soc_operations_read_query(struct soc_slice request, const struct soc_subject *subject,
                                      struct soc_buf *texts, struct soc_query *query);

#endif

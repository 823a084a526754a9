/* Requests: who waits for the reply to which message.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_REQUESTS_H
#define SOC_KERNEL_MAIL_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/slice.h"

struct soc_activation;
struct soc_agent;
struct soc_host;
struct soc_message;
struct soc_request;
struct soc_wait_ops;

/* Called once with the answer: JSON, a list with the reply, or an error object;
 * when it is called, its cause is durable. */
typedef void soc_reply_cb(void *user, struct soc_slice answer);

/* What becomes of a request that a part has asked, not an activation or a door. */
struct soc_request_ops {
    void (*replied)(struct soc_host *host, struct soc_request *request,
                    const struct soc_message *reply);
    void (*failed)(struct soc_host *host, struct soc_request *request);
};

/* A request whose reply has not come yet. */
struct soc_request {
    struct soc_heap_item timer; /* of a door's request */
    uint64_t key;
    int64_t time_ms; /* of the request, for its printed id */
    struct soc_agent *from;
    struct soc_agent *to;
    char *correlation_id;              /* owned, or NULL */
    char *external_id;                 /* that its asker gave it; owned, or NULL */
    struct soc_activation *activation; /* the waiter, or NULL: a door or a part */
    void *owner;                       /* the part's own, or NULL */
    const struct soc_request_ops *owner_ops;
    int64_t timeout_ms;
    soc_reply_cb *cb;
    void *user;
};

/* Opens a request for the activation, whose `wait` describes it; takes the
 * correlation id from there. */
void soc_request_open(struct soc_host *host, struct soc_activation *activation);

/* Opens one for a door, with a timer. */
void soc_request_open_door(struct soc_host *host, const struct soc_message *message,
                           int64_t timeout_ms, soc_reply_cb *cb, void *user);

/* Opens one for a part: `draft` has key, time_ms, from, to, owner and owner_ops. */
void soc_request_open_for(struct soc_host *host, const struct soc_request *draft);

/* Lends the open request of that key, or NULL. */
struct soc_request *soc_request_find(const struct soc_host *host, uint64_t key);

/* Lends the open request whose message has that id, or NULL. */
struct soc_request *soc_request_find_id(const struct soc_host *host, struct soc_slice id);

/* Lends the correlation id of the chain that the open request of that key belongs to;
 * `id` is room for it. Absent if there is none such. */
struct soc_slice soc_request_chain(const struct soc_host *host, uint64_t key,
                                   char id[SOC_MESSAGE_ID_BYTES]);

/* Tells whether the request of that key needs no answer any more: it is over, or one was
 * sent in the turn under way or is on its way. */
bool soc_request_is_answered(const struct soc_host *host, uint64_t key);

/* Lends the open request that was put to `to` and has that message id, else the oldest
 * one with that correlation id, those not answered yet first; or NULL. */
struct soc_request *soc_request_find_text(struct soc_host *host, const struct soc_agent *to,
                                          struct soc_slice correlation_id);

/* Lends the open request of `from` to `to` that the `query_id` in a response's
 * payload names, by its message id or its external id; or NULL. */
struct soc_request *soc_request_find_query(struct soc_host *host, const struct soc_agent *from,
                                           const struct soc_agent *to, struct soc_slice payload);

/* Tells whether a response with that payload names `message` in its `query_id`. */
bool soc_request_is_named(const struct soc_message *message, struct soc_slice payload);

/* Ends the request with `answer` (JSON) and frees it. */
void soc_request_answer(struct soc_host *host, struct soc_request *request,
                        struct soc_slice answer);

/* Ends it with an error, if it is open: its message can no longer be answered. */
void soc_request_fail(struct soc_host *host, uint64_t key, const char *error, const char *message);

/* An answer to it that was on its way will not arrive: ends it, if it is open, unless
 * another answer is on its way or can still be given. */
void soc_request_lose_answer(struct soc_host *host, uint64_t key);

/* Forgets it: the waiter no longer waits. */
void soc_request_close(struct soc_host *host, uint64_t key);

/* Frees one that stands nowhere. NULL is allowed. */
void soc_request_free(struct soc_request *request);

/* The timer of a door's request has fired. */
void soc_request_timeout(struct soc_host *host, struct soc_request *request);

/* What an activation that waits for a reply does. */
extern const struct soc_wait_ops soc_request_wait_ops;

#endif

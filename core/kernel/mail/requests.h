/* Requests: sent messages whose replies are awaited.
 *
 * Each open request has one waiter: an activation, a door (with a callback and a timer)
 * or a part (with soc_request_ops). host->requests owns the requests, by message key.
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

/* Called once with the answer, when its cause is durable. JSON: a list with the reply,
 * or an error object. */
typedef void soc_reply_cb(void *user, struct soc_slice answer);

/* Callbacks of a request whose waiter is a part. Both must close the request. */
struct soc_request_ops {
    void (*replied)(struct soc_host *host, struct soc_request *request,
                    const struct soc_message *reply);
    void (*failed)(struct soc_host *host, struct soc_request *request);
};

/* An open request. */
struct soc_request {
    struct soc_heap_item timer; /* of a door */
    uint64_t key;
    int64_t time_ms; /* when it was sent; part of its id */
    struct soc_agent *from;
    struct soc_agent *to;
    char *correlation_id;              /* owned, or NULL */
    char *external_id;                 /* given by the sender; owned, or NULL */
    struct soc_activation *activation; /* the waiter; NULL: a door or a part */
    void *owner;                       /* the waiting part's data, or NULL */
    const struct soc_request_ops *owner_ops;
    int64_t timeout_ms;
    soc_reply_cb *cb;
    void *user;
    bool is_dead;     /* its message became a dead letter while a reply was in transit */
    bool is_answered; /* a reply has come */
    bool is_finished; /* its message was handled */
};

/* Opens the request described by the activation's `wait`, whose correlation id it
 * takes over. */
void soc_request_open(struct soc_host *host, struct soc_activation *activation);

/* Opens the request of a door, with a timer. */
void soc_request_open_door(struct soc_host *host, const struct soc_message *message,
                           int64_t timeout_ms, soc_reply_cb *cb, void *user);

/* Opens the request of a part: `draft` has key, time_ms, from, to, owner and owner_ops. */
void soc_request_open_for(struct soc_host *host, const struct soc_request *draft);

/* Lends the open request of that key, or NULL. */
struct soc_request *soc_request_find(const struct soc_host *host, uint64_t key);

/* Lends the open request whose message has that id, or NULL. */
struct soc_request *soc_request_find_id(const struct soc_host *host, struct soc_slice id);

/* Lends the correlation id of the open request's chain, formatted into `id` if need be.
 * Absent if no request with that key is open. */
struct soc_slice soc_request_chain(const struct soc_host *host, uint64_t key,
                                   char id[SOC_MESSAGE_ID_BYTES]);

/* Returns true if the request needs no answer any more: it is closed, or an answer was
 * sent in the open turn or is in transit. */
bool soc_request_is_answered(const struct soc_host *host, uint64_t key);

/* Lends the open request to `to` with that message id; else the oldest unanswered one
 * with that correlation id; else the oldest answered one; or NULL. */
struct soc_request *soc_request_find_text(struct soc_host *host, const struct soc_agent *to,
                                          struct soc_slice correlation_id);

/* Lends the open request of `from` to `to` that the `query_id` of a response's payload
 * names by message id or external id; or NULL. */
struct soc_request *soc_request_find_query(struct soc_host *host, const struct soc_agent *from,
                                           const struct soc_agent *to, struct soc_slice payload);

/* Returns true if the `query_id` of a response's payload names `message`. */
bool soc_request_is_named(const struct soc_message *message, struct soc_slice payload);

/* Answers the request with `answer` (JSON) and frees it. */
void soc_request_answer(struct soc_host *host, struct soc_request *request,
                        struct soc_slice answer);

/* Answers it with an error, if it is open: its message cannot be answered any more. `reason`
 * says why, a JSON object or absent. */
void soc_request_fail(struct soc_host *host, uint64_t key, const char *error, const char *message,
                      struct soc_slice reason);

/* Its message was handled. The answer, if there is none yet, can still come. */
void soc_request_note_finished(struct soc_host *host, uint64_t key);

/* Logs that the request with that id was handled without an answer, unless its receiver is outside
 * or a person has yet to decide. */
void soc_request_warn(struct soc_host *host, const struct soc_request *request,
                      struct soc_slice id);

/* An answer in transit was lost: fails the request, if it is open, unless another answer
 * is in transit or can still be given. */
void soc_request_lose_answer(struct soc_host *host, uint64_t key);

/* Closes the request without an answer: the waiter no longer waits. */
void soc_request_close(struct soc_host *host, uint64_t key);

/* Frees a request that is not in the map. NULL is allowed. */
void soc_request_free(struct soc_request *request);

/* The timer of a door's request has fired. */
void soc_request_timeout(struct soc_host *host, struct soc_request *request);

/* How an activation waits for a reply. */
extern const struct soc_wait_ops soc_request_wait_ops;

#endif

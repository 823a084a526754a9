/* Calls: requests of agents to the outside world, as an outbox.
 *
 *   1. Intent: a waiting effect, with the whole request in its wait, durable with the turn
 *      that asks.
 *   2. Execution: once that is durable, the hook `call` gets the call. It runs the call
 *      asynchronously and may ask to be woken.
 *   3. Result: soc_calls_answer records it as the effect's answer.
 *
 * After a crash, a call with an intent but no result is in doubt. If it may be repeated
 * (model calls, requests that change nothing, or at the caller's word) it is made again
 * under the same id, with its full timeout; otherwise it is answered `in_doubt`.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_MODELS_CALLS_H
#define SOC_PARTS_MODELS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/limits.h"
#include "base/slice.h"

struct soc_activation;
struct soc_host;

/* A call that an activation waits for. */
struct soc_outcall {
    uint64_t number;                   /* unique in this process only */
    char id[SOC_CALL_ID_BYTES];        /* globally unique; the same when repeated */
    struct soc_slice kind;             /* "http", "chat", "lua" */
    struct soc_slice request;          /* JSON */
    struct soc_activation *activation; /* lent; the one that waits */
    bool is_repeated;                  /* it may have been made before a crash */
    bool is_left;                      /* the host stops; repeated at the next start */
    void *driver;                      /* private to whoever makes the call */
    /* Private to the host. */
    struct soc_heap_item timer;
    char *text; /* owns kind and request */
    bool is_begun;
    bool may_repeat;
};

/* A call to be made, for soc_calls_ask. */
struct soc_call_draft {
    struct soc_slice kind;    /* a plain name */
    struct soc_slice request; /* JSON */
    int64_t timeout_ms;       /* for the whole call */
    bool may_repeat;
    bool is_interruptible; /* arriving mail answers it `interrupted` */
};

/* Requests a call as the effect begun last; the script must yield now. */
void soc_calls_ask(struct soc_host *host, const struct soc_call_draft *draft);

/* Answers the call (JSON: a list of results, or an error object) and frees it. */
void soc_calls_answer(struct soc_host *host, struct soc_outcall *call, struct soc_slice answer);

/* Schedules the hook `call_due` once at `at_ms`, replacing any earlier request. */
void soc_calls_wake(struct soc_host *host, struct soc_outcall *call, int64_t at_ms);

/* Appends the list of calls in progress: { agent, id, kind, repeated, since_ms }. */
void soc_calls_look(const struct soc_host *host, struct soc_buf *out);

/* Lends the call that the activation waits for; NULL: none. */
const struct soc_outcall *soc_calls_of(const struct soc_host *host,
                                       const struct soc_activation *activation);

/* Appends the list of messages that a call of kind `chat` shows the model: its own, or the
 * entries of the conversation that its `history` names. */
void soc_calls_put_messages(const struct soc_host *host, const struct soc_outcall *call,
                            struct soc_buf *out);

/* Returns the number of open calls of a kind. */
uint64_t soc_calls_open_count(const struct soc_host *host, struct soc_slice kind);

/* Receives the text of a call in progress, piece by piece, for live display only: it is
 * not recorded and may yet be rolled back. */
typedef void soc_calls_said_cb(void *user, const struct soc_outcall *call, struct soc_slice text);

/* Adds a receiver of such text, one of a few, and removes it. */
void soc_calls_watch(struct soc_host *host, soc_calls_said_cb *cb, void *user);
void soc_calls_unwatch(struct soc_host *host, soc_calls_said_cb *cb, void *user);

/* Lends the id of the agent whose call it is. */
struct soc_slice soc_calls_agent(const struct soc_outcall *call);

/* Tells whether there is a receiver. */
bool soc_calls_is_watched(const struct soc_host *host);

/* Passes a piece of text of a call to the receivers. */
void soc_calls_say(struct soc_host *host, const struct soc_outcall *call, struct soc_slice text);

/* Tells whether an activation still waits for the call with that number. */
bool soc_calls_is_open(const struct soc_host *host, uint64_t number);

/* An activation starts and stops waiting for its call. */
void soc_calls_open(struct soc_host *host, struct soc_activation *activation);
void soc_calls_close(struct soc_host *host, struct soc_activation *activation);

/* The turn that asked has committed. */
void soc_calls_send(struct soc_host *host, struct soc_activation *activation);

/* At a start, once the journal is open: repeats or answers the calls in doubt. */
void soc_calls_resume(struct soc_host *host);

/* Fires the timer of a call. */
void soc_calls_timer(struct soc_host *host, struct soc_outcall *call);

/* The host stops: ends calls in progress without an answer and frees them. */
void soc_calls_stop(struct soc_host *host);

#endif

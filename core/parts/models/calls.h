/* Calls: what agents ask of the world beyond the society, as an outbox.
 *
 *   1. The intent: an effect that waits, with the whole request in its wait, durable
 *      with the turn that asks.
 *   2. The deed: once that is durable the hook `call` is given the call. It makes it, in
 *      its own time, and may ask to be woken.
 *   3. The result: soc_calls_answer records it as the effect's answer.
 *
 * After a crash a call whose intent stands there without a result is in doubt. One that
 * may be repeated (a model is asked, nothing is changed, or the caller says so) is made
 * again under the same id, with its whole time; any other is answered `in_doubt`.
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

/* A call that somebody waits for. */
struct soc_outcall {
    uint64_t number;                   /* in this process only */
    char id[SOC_CALL_ID_BYTES];        /* for ever, and the same when it is repeated */
    struct soc_slice kind;             /* of what is asked: "http", "chat" */
    struct soc_slice request;          /* JSON */
    struct soc_activation *activation; /* lent; waits for it */
    bool is_repeated;                  /* it may have been made before a crash */
    bool is_left;                      /* the host goes; it is made again at the next start */
    void *driver;                      /* of whoever makes it */
    /* The host's own. */
    struct soc_heap_item timer;
    char *text; /* owns kind and request */
    bool is_begun;
    bool may_repeat;
};

/* What is asked, for soc_calls_ask. */
struct soc_call_draft {
    struct soc_slice kind;    /* a plain name */
    struct soc_slice request; /* JSON */
    int64_t timeout_ms;       /* for all of it */
    bool may_repeat;
    bool is_interruptible; /* mail that comes meanwhile answers it `interrupted` */
};

/* Asks for a call as the effect begun last; the script must yield now. */
void soc_calls_ask(struct soc_host *host, const struct soc_call_draft *draft);

/* Answers it (JSON: a list of results, or an error object); it is gone afterwards. */
void soc_calls_answer(struct soc_host *host, struct soc_outcall *call, struct soc_slice answer);

/* Has the hook `call_due` called at `at_ms`, once, instead of a time asked for before. */
void soc_calls_wake(struct soc_host *host, struct soc_outcall *call, int64_t at_ms);

/* Appends the list of calls under way: { id, agent, kind, since_ms, repeated }. */
void soc_calls_look(const struct soc_host *host, struct soc_buf *out);

/* Calls of a kind that are waited for now. */
uint64_t soc_calls_open_count(const struct soc_host *host, struct soc_slice kind);

/* Is told what somebody says while a call is under way, bit by bit. It is for whoever
 * watches now: it is not recorded, and may be taken back. */
typedef void soc_calls_said_cb(void *user, const struct soc_outcall *call, struct soc_slice text);

/* Has `cb` told, instead of whoever was before; NULL: nobody. */
void soc_calls_watch(struct soc_host *host, soc_calls_said_cb *cb, void *user);

/* Is there somebody to tell? */
bool soc_calls_is_watched(const struct soc_host *host);

/* Something was said in a call. */
void soc_calls_say(struct soc_host *host, const struct soc_outcall *call, struct soc_slice text);

/* Is the call of that number still waited for? */
bool soc_calls_is_open(const struct soc_host *host, uint64_t number);

/* An activation begins to wait for its call, and does not any more. */
void soc_calls_open(struct soc_host *host, struct soc_activation *activation);
void soc_calls_close(struct soc_host *host, struct soc_activation *activation);

/* The turn that asked has been committed. */
void soc_calls_send(struct soc_host *host, struct soc_activation *activation);

/* At a start, once the journal is open: makes or answers those in doubt. */
void soc_calls_resume(struct soc_host *host);

/* Fires the timer of a call. */
void soc_calls_timer(struct soc_host *host, struct soc_outcall *call);

/* Ends those under way without an answer: the host goes. Frees what is left. */
void soc_calls_stop(struct soc_host *host);

#endif

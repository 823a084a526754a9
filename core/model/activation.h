/* Activation: the handling of one message by one agent, over one or more turns.
 *
 * It records the effects of its turns with their answers. While the coroutine is alive
 * nobody reads them. After a crash, an eviction or a failed turn the script runs again
 * from its start and gets these answers. The first `effects_kept` effects are
 * committed; the others belong to the current turn and are dropped if it is rolled
 * back.
 *
 * Effects that only tell something (`print`, `agent:log`) and those that ask for a version are
 * asides. They are recorded like others, so that they are neither done twice nor answered
 * differently, but a script that runs again need not repeat them.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_ACTIVATION_H
#define SOC_MODEL_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "model/effect.h"
#include "model/mailbox.h"

struct soc_agent;

/* An effect of a turn, and where its answer is. */
struct soc_effect {
    uint64_t hash;          /* of its arguments */
    uint32_t answer_start;  /* in `answers` */
    uint32_t answer_length; /* 0: not answered yet, or answered by `sent_key` */
    uint64_t sent_key;      /* of the message that is its answer; 0: none */
    int64_t sent_ms;        /* when that message was sent */
    uint32_t noted;         /* offset of its arguments in `arguments` plus 1; 0: not kept */
    uint8_t kind;
};

/* The kinds of waits. */
enum soc_wait_kind {
    SOC_WAIT_NONE,
    SOC_WAIT_REPLY,   /* the reply to message `request_key` */
    SOC_WAIT_RECEIVE, /* a message from `on` of type `type` */
    SOC_WAIT_SLEEP,
    SOC_WAIT_LOOK,    /* the rows of a query; sent again after a restart */
    SOC_WAIT_HUMAN,   /* the decision about inbox item `request_key` */
    SOC_WAIT_TASK,    /* the end of the task that message `request_key` opened for `on` */
    SOC_WAIT_BARRIER, /* the answers to checkpoint `request_key` */
    SOC_WAIT_CALL,    /* the result of external call `request_key` */
    SOC_WAIT_ACK,     /* the ack of message `request_key` by `on` */
    SOC_WAIT_ORDER,   /* the end of an order about dead letters; given again after a restart */
    SOC_WAIT_COUNT,
};

/* What an activation waits for. */
struct soc_wait {
    enum soc_wait_kind kind;
    uint64_t request_key;
    int64_t request_ms;            /* when the request was sent */
    struct soc_agent *on;          /* awaited agent; NULL: any or none */
    const struct soc_symbol *type; /* of the awaited message; NULL: any */
    int64_t deadline_ms;           /* 0: none */
    int64_t timeout_ms;            /* as requested; quoted in the error */
    int64_t since_ms;              /* when the wait began */
    uint64_t number;               /* order in which waits began */
    uint64_t span;                 /* of the tool that waits, for telemetry; 0: none */
    void *question;                /* the host's, until a query is sent */
    char *correlation_id;          /* of the request, owned until the wait begins; or NULL */
    char *call;                    /* JSON of a call, owned until the wait begins; or NULL */
    bool is_interruptible;         /* for calls: incoming mail ends the wait */
    uint8_t ack;                   /* enum soc_ack, for acks: the awaited one */
};

/* What an activation does next. */
enum soc_activation_state {
    SOC_ACTIVATION_READY,   /* ready to run */
    SOC_ACTIVATION_WAITING, /* as described by `wait` */
    SOC_ACTIVATION_BACKOFF, /* a turn raised; retried when the timer fires */
};

/* The handling of one message, or `main`. */
struct soc_activation {
    struct soc_agent *agent;       /* lent */
    struct soc_message *message;   /* owned; NULL: `main` */
    struct soc_message_list taken; /* messages taken by `receive`, owned */
    struct soc_effect *effects;
    uint32_t effects_count;
    uint32_t effects_kept; /* number of committed effects */
    uint32_t effects_capacity;
    uint32_t cursor;          /* effects the running script has passed */
    uint32_t taken_kept;      /* messages in `taken` that are committed */
    uint32_t answers_kept;    /* committed bytes of `answers` */
    struct soc_buf answers;   /* JSON: a list of results, or an error object */
    struct soc_buf arguments; /* with history: JSON texts, each NUL-terminated */
    uint32_t arguments_kept;  /* committed bytes of `arguments` */
    struct soc_buf passed;    /* hashes of versions that the running script got by default */
    struct soc_wait wait;
    struct soc_heap_item timer; /* for the wait or the back-off */
    void *script;               /* the script layer's coroutine, lent; NULL: none */
    uint64_t span;              /* of the tool that runs, for telemetry; 0: none */
    uint64_t refusal;           /* hash of the last refusal that was logged; 0: none */
    uint16_t retries;           /* consecutive turns that raised */
    uint8_t state;              /* enum soc_activation_state */
    uint8_t logged_status;      /* enum soc_status last written to the activity log */
    bool is_stored;             /* it has a record in the journal */
    bool has_replied;           /* the current run of the script has replied */
    bool is_ending;             /* its last turn is committing */
    bool is_injected;           /* its turn raises because the simulation says so */
    bool has_progress;          /* it made progress: parts/supervision/guard.h */
    bool is_stalled;            /* in back-off, because a process it needs is not ready */
};

/* Returns an empty activation. Release with soc_activation_free(). */
struct soc_activation *soc_activation_new(void);

/* Empties it for reuse and keeps its buffers. It must not hold messages. */
void soc_activation_reset(struct soc_activation *activation);

/* Frees it. NULL is allowed. */
void soc_activation_free(struct soc_activation *activation);

/* Tells whether a recorded effect is the one that the script begins now. */
bool soc_effect_fits(const struct soc_effect *effect, enum soc_effect_kind kind,
                     struct soc_effect_hash hash);

/* What the record has of an aside that the script begins now. */
enum soc_aside {
    SOC_ASIDE_NEW,      /* nothing, and no other effect is left to repeat: it happens now */
    SOC_ASIDE_RECORDED, /* it happened */
    SOC_ASIDE_PASSED,   /* the script that is recorded passed this place without it */
};

/* Finds an aside in the record. `*answer` is lent for SOC_ASIDE_RECORDED. The same version
 * gets the same answer in all of the activation. */
enum soc_aside soc_activation_pass_aside(struct soc_activation *activation,
                                         enum soc_effect_kind kind, uint64_t hash,
                                         struct soc_slice *answer);

/* Returns the index of the recorded effect that the script has to repeat next, behind any
 * asides; effects_count if there is none. */
uint32_t soc_activation_next(const struct soc_activation *activation);

/* Begins a run of the script from its start. */
void soc_activation_restart(struct soc_activation *activation);

/* Adds an effect without an answer and returns its index. */
uint32_t soc_activation_add(struct soc_activation *activation, enum soc_effect_kind kind,
                            uint64_t hash);

/* Sets the answer of effect `index`, which has none yet. */
void soc_activation_answer(struct soc_activation *activation, uint32_t index,
                           struct soc_slice answer);

/* Marks effect `index` as answered by the message it sent. The text of the answer is
 * needed only if the activation waits; soc_activation_answer supplies it then. */
void soc_activation_answer_sent(struct soc_activation *activation, uint32_t index, uint64_t key,
                                int64_t time_ms);

/* Returns true if effect `index` has an answer of either kind. */
bool soc_activation_is_answered(const struct soc_activation *activation, uint32_t index);

/* Lends the answer of effect `index`; absent if it has none. Valid until the next
 * answer. */
struct soc_slice soc_activation_answer_of(const struct soc_activation *activation, uint32_t index);

/* Keeps the arguments of effect `index` (JSON). Absent arguments are ignored. */
void soc_activation_note(struct soc_activation *activation, uint32_t index,
                         struct soc_slice arguments);

/* Lends the arguments kept for effect `index`; absent if there are none. */
struct soc_slice soc_activation_noted(const struct soc_activation *activation, uint32_t index);

/* Commits everything recorded so far. */
void soc_activation_keep(struct soc_activation *activation);

/* Rolls back to the last commit and restarts the script's cursor. Messages that the
 * turn took by `receive` must have been put back before. */
void soc_activation_rewind(struct soc_activation *activation);

#endif

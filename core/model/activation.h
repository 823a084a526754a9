/* Activation: the handling of one message by one agent, over one or more turns.
 *
 * It remembers the effects its turns had, with their answers. While the
 * coroutine lives nobody reads them; after a crash, an eviction or a failed turn
 * the script is run again from its start and is answered from them. Effects up
 * to `effects_kept` are committed; those behind belong to the turn under way and
 * go with it if it is rolled back.
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

/* An effect that a turn had, and where its answer is. */
struct soc_effect {
    uint64_t hash;          /* of the arguments */
    uint32_t answer_start;  /* in `answers` */
    uint32_t answer_length; /* 0: not answered yet, or by `sent_key` */
    uint64_t sent_key;      /* of the message that is the answer; 0: none */
    int64_t sent_ms;        /* its time */
    uint32_t noted;         /* where its arguments stand in `arguments`, + 1; 0: nowhere */
    uint8_t kind;
};

/* What a waiting activation waits for. */
enum soc_wait_kind {
    SOC_WAIT_NONE,
    SOC_WAIT_REPLY,   /* to message `request_key` */
    SOC_WAIT_RECEIVE, /* a message from `on`, of `type` */
    SOC_WAIT_SLEEP,
    SOC_WAIT_LOOK,    /* the rows of a query; asked anew after a restart */
    SOC_WAIT_HUMAN,   /* the person's decision about item `request_key` of the inbox */
    SOC_WAIT_TASK,    /* the end of the task that message `request_key` opened for `on` */
    SOC_WAIT_BARRIER, /* the answers to checkpoint `request_key` */
    SOC_WAIT_CALL,    /* what the world beyond answers to call `request_key` */
};

/* What an activation waits for. */
struct soc_wait {
    enum soc_wait_kind kind;
    uint64_t request_key;
    int64_t request_ms;            /* when that message was sent */
    struct soc_agent *on;          /* who is waited for, NULL: anybody or nobody */
    const struct soc_symbol *type; /* of the message waited for, NULL: any */
    int64_t deadline_ms;           /* 0: none */
    int64_t timeout_ms;            /* as asked for, for the error */
    int64_t since_ms;              /* when it began */
    uint64_t number;               /* rises with every wait that begins: who waited first */
    void *question;                /* the host's own, of a look until it is sent */
    char *correlation_id;          /* of the request, owned until the wait begins; or NULL */
    char *call;                    /* JSON of a call, owned until the wait begins; or NULL */
    bool is_interruptible;         /* a call: mail ends it */
};

/* What is next for an activation. */
enum soc_activation_state {
    SOC_ACTIVATION_READY,   /* to be run */
    SOC_ACTIVATION_WAITING, /* for what `wait` says */
    SOC_ACTIVATION_BACKOFF, /* a turn raised; tried again when the timer fires */
};

/* The handling of one message, or `main`. */
struct soc_activation {
    struct soc_agent *agent;       /* lent */
    struct soc_message *message;   /* owned; NULL: `main` */
    struct soc_message_list taken; /* by `receive`, owned */
    struct soc_effect *effects;
    uint32_t effects_count;
    uint32_t effects_kept; /* committed */
    uint32_t effects_capacity;
    uint32_t cursor;          /* effects the running script has passed */
    uint32_t taken_kept;      /* of `taken`, committed */
    uint32_t answers_kept;    /* bytes of `answers`, committed */
    struct soc_buf answers;   /* JSON: a list of results, or an error object */
    struct soc_buf arguments; /* if history is kept: JSON with a NUL behind it, each */
    uint32_t arguments_kept;  /* bytes of it, committed */
    struct soc_wait wait;
    struct soc_heap_item timer; /* of the wait or the back-off */
    void *script;               /* its coroutine, lent to the script layer; NULL: none */
    uint16_t retries;           /* turns that raised in a row */
    uint8_t state;              /* enum soc_activation_state */
    uint8_t told;               /* enum soc_status that the activity log has of it */
    bool is_stored;             /* the journal knows it */
    bool has_replied;           /* the script, run from its start, answered the message */
    bool is_ending;             /* its last turn commits */
    bool has_progress;          /* something came of it: parts/supervision/guard.h */
};

/* Returns an empty activation. Release with soc_activation_free(). */
struct soc_activation *soc_activation_new(void);

/* Empties it for another use, keeping its room. Its messages must be gone. */
void soc_activation_reset(struct soc_activation *activation);

/* Frees it. NULL is allowed. */
void soc_activation_free(struct soc_activation *activation);

/* Adds an effect without an answer and returns its index. */
uint32_t soc_activation_add(struct soc_activation *activation, enum soc_effect_kind kind,
                            uint64_t hash);

/* Gives effect `index` its answer. */
void soc_activation_answer(struct soc_activation *activation, uint32_t index,
                           struct soc_slice answer);

/* Answers effect `index` by the message it sent. The text of that answer is needed
 * only if the activation waits, and is given then, by soc_activation_answer. */
void soc_activation_answer_sent(struct soc_activation *activation, uint32_t index, uint64_t key,
                                int64_t time_ms);

/* Tells whether effect `index` is answered, either way. */
bool soc_activation_is_answered(const struct soc_activation *activation, uint32_t index);

/* Lends the answer of effect `index`; absent if there is none yet. Valid until
 * the next answer. */
struct soc_slice soc_activation_answer_of(const struct soc_activation *activation, uint32_t index);

/* Notes the arguments of effect `index`, JSON; nothing if they are absent. */
void soc_activation_note(struct soc_activation *activation, uint32_t index,
                         struct soc_slice arguments);

/* Lends what was noted of effect `index`; absent if nothing was. */
struct soc_slice soc_activation_noted(const struct soc_activation *activation, uint32_t index);

/* The turn is committed: everything recorded so far is kept. */
void soc_activation_keep(struct soc_activation *activation);

/* The turn is rolled back: forgets what it recorded and starts over. What it
 * took by `receive` must have been put back. */
void soc_activation_rewind(struct soc_activation *activation);

#endif

/* Books: what a checker knows about a history, for the files of this folder only.
 *
 * Everything is allocated from one pool and freed with it.
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_BOOKS_H
#define SOC_CHECK_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "store/record.h"

#define SOC_CHECK_CLASSES 4 /* priorities */
struct soc_check_agent;

struct soc_check_message { /* a message and what became of it */
    uint64_t key;
    uint64_t place;                 /* of its record in the history */
    struct soc_check_agent *from;   /* NULL: the host */
    struct soc_check_agent *to;     /* NULL: all */
    struct soc_check_message *next; /* in its receiver's queue */
    uint8_t priority;
    uint8_t outcome;   /* enum soc_outcome */
    bool is_queued;    /* it goes through the mailbox, in order */
    bool is_taken;     /* by receive */
    bool is_acked;     /* its receiver outside has it, and is not handed it again */
    bool counts;       /* a script of an agent handles it */
    bool is_result;    /* it ends a task, and may answer an agent that waits for that */
    bool is_letter;    /* a dead letter made from a broadcast, which is counted there */
    bool asks;         /* it asks for an introduction */
    bool is_from_host; /* a question sent by the host on behalf of its sender */
    bool is_asking;    /* an introduction request that is not answered yet */
    bool is_reply;     /* it answers `reply_to`, and goes to who waits for that */
    bool is_answered;  /* a reply to it was accepted */
    uint32_t answers;  /* messages that answer it and are pending */
    bool requires_ack; /* its receiver outside has to ack it */
    bool was_handed;   /* to its receiver outside */
    bool is_done;      /* its receiver outside has acked it as processed */
    bool is_replied;   /* its receiver outside has sent a reply that was accepted */
    bool is_given_up;  /* it was never acked, and nobody has decided since */
    uint64_t attempt;
    struct soc_slice id;                   /* under which it was handed out */
    struct soc_check_message *next_letter; /* that its receiver outside was handed */
    uint64_t reply_to;                     /* key; 0: it answers nothing */
    uint64_t passed_by;                    /* less urgent, yet handed out before it; 0: none */
    int64_t from_ms;                       /* not handled before; 0: at any time */
    int64_t until_ms;                      /* not handled then or later; 0: at any time */
    bool is_dated;                         /* `from_ms` is a date, whatever the clock does */
    bool is_dated_end;                     /* `until_ms` is */
};

struct soc_check_seat { /* one participant of a checkpoint */
    struct soc_check_seat *next;
    struct soc_check_agent *agent;
    uint64_t question; /* key of the message it has to answer */
    bool is_open;
};

struct soc_check_key { /* a deduplication key */
    int64_t since_ms;
};

struct soc_check_place { /* of a simulated door: how many lines it has read */
    int64_t line;
};

/* What a waiting activation waits for, as far as others are concerned. */
enum soc_check_wait {
    SOC_CHECK_WAIT_OTHER,
    SOC_CHECK_WAIT_REPLY,
    SOC_CHECK_WAIT_RECEIVE,
    SOC_CHECK_WAIT_TASK,
    SOC_CHECK_WAIT_BARRIER,
    SOC_CHECK_WAIT_HUMAN,
    SOC_CHECK_WAIT_ACK, /* that a message is processed */
};

struct soc_check_agent { /* an agent and its queue */
    uint32_t number;     /* from 1, in order of birth */
    struct soc_slice id;
    struct soc_slice parent;
    struct soc_slice brief;
    struct soc_check_message *first[SOC_CHECK_CLASSES];
    struct soc_check_message *last[SOC_CHECK_CLASSES];
    struct soc_check_message *letters; /* handed to it, if it is outside */
    uint64_t born;                     /* where in the history */
    uint64_t ended;                    /* 0: alive */
    uint64_t place;                    /* when it last finished a message of its queue */
    int64_t handled;                   /* messages, according to the records */
    int64_t says_handled;              /* according to its state; -1: unknown */
    uint64_t active_key;               /* of the message that its activation handles; 0: none */
    uint32_t effects;                  /* of its activation */
    int64_t deadline_ms;               /* of its wait; 0: none */
    struct soc_slice call;             /* id of the external call it waits for; empty: none */
    enum soc_check_wait wait;          /* while is_waiting */
    struct soc_check_agent *on;        /* whom it waits for; NULL: nobody in particular */
    uint64_t wait_key;                 /* of the message, item or checkpoint */
    int64_t raised_ms; /* when a turn on its current message first raised; 0: none did */
    uint64_t visit;    /* of the search for rings that has reached it */
    struct soc_check_agent *reached_from;
    uint64_t census;         /* number of the last one that found it … */
    uint32_t contacts;       /* … with so many living contacts */
    uint64_t births;         /* agents it has ever spawned */
    int64_t heard_ms;        /* when it last sent or acked anything from outside … */
    int64_t heard_before_ms; /* … and the time before that */
    int64_t acked_ms;        /* when it last acked */
    bool is_active;          /* it has an activation */
    bool is_waiting;         /* whose last effect is unanswered */
    bool is_looking;         /* a wait for the store, begun anew after a restart */
    bool is_tasking;         /* or for the end of a task */
    bool may_repeat;         /* `main` raised: its last effect may come once more */
    bool has_task_end;       /* that end was delivered, and its script has not continued since */
    bool is_ending;
    bool is_held;                    /* paused or failed: it keeps its mail, and no turn starts */
    bool is_owing;                   /* a letter to it was given up */
    bool is_outside;                 /* it acks its mail at any time and in any order */
    bool is_touched;                 /* its state or count changed in this batch */
    struct soc_check_agent *touched; /* the next one of those */
};

struct soc_check_output { /* a line to be shown */
    uint64_t key;
    struct soc_slice stream;
    struct soc_slice agent;
    struct soc_slice text;
};

struct soc_check_batch { /* not durable yet */
    uint64_t sequence;
    struct soc_buf bytes;
};

struct soc_check_block;

struct soc_check { /* everything known about one history */
    char fault[512];
    struct soc_check_block *blocks; /* the pool; the first one is in use */
    struct soc_check_block *spares;
    struct soc_map agents;               /* id -> soc_check_agent */
    struct soc_map pairs;                /* kind, agent and other in one number -> anything */
    struct soc_map once;                 /* number of the agent, and text -> anything */
    struct soc_map said;                 /* sender and external id -> receiver that was meant */
    struct soc_map keys;                 /* text -> soc_check_key */
    struct soc_map call_keys;            /* of callers: text -> soc_check_key */
    struct soc_map items;                /* key of an item -> decision + 1, as a pointer */
    struct soc_map barriers;             /* key -> the first soc_check_seat */
    struct soc_map places;               /* name of a simulated door's place -> soc_check_place */
    struct soc_check_message **messages; /* by key; NULL: none */
    size_t messages_count;
    struct soc_check_output *outputs;
    size_t outputs_count;
    size_t outputs_capacity;
    size_t shown;          /* outputs shown since the last start */
    uint64_t outputs_done; /* every output up to this key was shown, according to the records */
    struct soc_check_batch *waiting; /* submitted, in order */
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t durable; /* last sequence reported */
    uint64_t applied; /* last sequence read */
    uint64_t place;   /* of the record being read */
    uint64_t begun;   /* place of the last record before this batch */
    uint64_t last_key;
    int64_t last_sent_ms;
    int64_t now_ms;       /* of the last batch */
    int64_t behind_ms;    /* by which dates are below times since the last step of the clock */
    struct soc_buf steps; /* as they are stored */
    int64_t timeout_ms;   /* latest deadline of the waits that this batch times out */
    int64_t taken_ms;     /* latest time before which a message that it takes must not be */
    int64_t window_ms;    /* for which keys count; 0: the default */
    int64_t keyed;        /* keys of the messages of this batch that were not remembered yet */
    uint64_t visits;      /* searches for rings so far */
    uint64_t census;      /* number of the current one … */
    uint64_t alive;       /* … and agents it has found */
    bool has_new_wait;    /* in this batch */
    bool is_watched;      /* all that outside agents do is reported */
    bool has_silence;     /* silence_ms was set */
    int64_t silence_ms;   /* that an outside agent may keep; 0: any */
    uint64_t sent;
    uint64_t readers; /* of broadcasts, in total */
    uint64_t taken;   /* from other hosts */
    uint64_t outcomes[SOC_OUTCOME_COUNT];
    uint64_t births;
    uint64_t roles;                  /* created by agents */
    uint32_t mailbox_max;            /* that may wait for one agent; 0: no bound */
    struct soc_slice orchestrator;   /* absent: root */
    uint32_t letters;                /* dead letters whose records are expected */
    struct soc_check_agent *touched; /* in this batch, linked */
    uint32_t totals_skipped;         /* batches since the totals were compared */
    bool is_strict;                  /* strangers must not write */
    bool is_asked;                   /* introductions need a request */
    bool is_sending;                 /* the last order of this batch sent something */
    bool has_strange_role;           /* some mail waits for a role without a script */
    struct soc_buf cursor;           /* of the last batch */
    struct soc_buf history;          /* batches that were applied, up to a bound */
    uint64_t loaded;                 /* last folded batch when a start was last compared */
    struct soc_buf scratch;
};

/* Records a violation, unless there is one already. */
void soc_books_fail(struct soc_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns zeroed memory, or a copy of a text, from the pool. */
void *soc_books_room(struct soc_check *check, size_t bytes);
struct soc_slice soc_books_copy(struct soc_check *check, struct soc_slice text);

/* Lends an agent; NULL if none ever had that id. */
struct soc_check_agent *soc_books_find(const struct soc_check *check, struct soc_slice id);

/* Checks the state of the agent when the batch is over. */
void soc_books_touch(struct soc_check *check, struct soc_check_agent *agent);

/* Relations of two agents. */
enum soc_check_pair {
    SOC_PAIR_KNOWS, /* the first has the second as a contact */
    SOC_PAIR_WROTE, /* the first has written to the second */
    SOC_PAIR_READ,  /* the first has finished the broadcast whose key is the second */
    SOC_PAIR_MEETS, /* the first was introduced to the second, and may add it once */
};

/* Adds a relation of an agent to a number: another agent's or as said; false if it is
 * there already. Looks one up. Removes one. */
bool soc_books_note_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other);
bool soc_books_has_pair(const struct soc_check *check, enum soc_check_pair kind,
                        const struct soc_check_agent *agent, uint64_t other);
void soc_books_drop_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other);

/* Notes a once-only text of `agent`; false if it was sent before. */
bool soc_books_note_once(struct soc_check *check, const struct soc_check_agent *agent,
                         struct soc_slice text);

/* Forgets everything but keeps the memory; frees the books. */
void soc_books_reset(struct soc_check *check);
void soc_books_free(struct soc_check *check);

#endif

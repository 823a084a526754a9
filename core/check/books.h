/* Books: what a checker knows of a history, for the files of this folder only.
 *
 * Everything is taken from one pool and gone with it at once.
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

struct soc_check_message { /* a message, and what became of it */
    uint64_t key;
    uint64_t place;                 /* of its record in the history */
    struct soc_check_agent *from;   /* NULL: the host */
    struct soc_check_agent *to;     /* NULL: all */
    struct soc_check_message *next; /* in its receiver's queue */
    uint8_t priority;
    uint8_t outcome; /* enum soc_outcome */
    bool is_queued;  /* it goes through the mailbox, in order */
    bool is_taken;   /* by receive */
    bool counts;     /* an agent's own script handles it */
    bool is_result;  /* it ends a task, and may answer who waits for that */
    bool is_letter;  /* a dead letter made of a broadcast: counted there */
    bool asks;       /* to be introduced to somebody */
    bool is_hosts;   /* a question that the host asks in its sender's name */
    bool is_asking;  /* and is not answered yet */
};

struct soc_check_agent { /* an agent, and its queue */
    uint32_t number;     /* from 1, in order of birth */
    struct soc_slice id;
    struct soc_slice parent;
    struct soc_slice brief;
    struct soc_check_message *first[SOC_CHECK_CLASSES];
    struct soc_check_message *last[SOC_CHECK_CLASSES];
    uint64_t born;         /* where in the history */
    uint64_t ended;        /* 0: it has not */
    uint64_t place;        /* where it last was done with a message of its queue */
    int64_t handled;       /* messages, by the records */
    int64_t says_handled;  /* by its own state; -1: it says nothing */
    uint64_t active_key;   /* of the message that its open activation handles; 0: none */
    uint32_t effects;      /* of its open activation */
    int64_t deadline_ms;   /* of its open wait; 0: none */
    struct soc_slice call; /* id of what it asks of the world and waits for; empty: nothing */
    bool is_active;        /* it has an open activation in the records */
    bool is_waiting;       /* whose last effect has no answer yet */
    bool is_looking;       /* and that wait is for rows of the store */
    bool is_tasking;       /* or for the end of a task */
    bool is_told;          /* that end was told, and its script has not gone on since */
    bool is_ending;
    bool is_held;                    /* paused or failed: its mail is kept, no turn starts */
    bool is_outside;                 /* it acks its mail when and in what order it likes */
    bool is_touched;                 /* its state or what it handled changed in this batch */
    struct soc_check_agent *touched; /* the next one of those */
};

struct soc_check_output { /* a line that is to be shown */
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

struct soc_check { /* all that is known of one history */
    char fault[512];
    struct soc_check_block *blocks; /* the pool; the first one is in use */
    struct soc_check_block *spares;
    struct soc_map agents;               /* id -> soc_check_agent */
    struct soc_map pairs;                /* kind, agent, other, in one number -> something */
    struct soc_map once;                 /* number of the agent and text -> something */
    struct soc_map speakers;             /* ids of agents outside that were heard */
    struct soc_check_message **messages; /* by key; NULL: none */
    size_t messages_count;
    struct soc_check_output *outputs;
    size_t outputs_count;
    size_t outputs_capacity;
    size_t shown;                    /* outputs the world has seen since the last start */
    uint64_t outputs_done;           /* every output up to this key was seen, say the records */
    struct soc_check_batch *waiting; /* sealed, in order */
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t durable; /* last sequence told */
    uint64_t applied; /* last sequence read */
    uint64_t place;   /* of the record being read */
    uint64_t last_key;
    int64_t now_ms;     /* of the last batch */
    int64_t timeout_ms; /* latest deadline of a wait that this batch calls timed out */
    uint64_t sent;
    uint64_t readers; /* of broadcasts, all together */
    uint64_t outcomes[6];
    uint64_t births;
    uint32_t mailbox_max;            /* messages that may wait for one agent; 0: any number */
    struct soc_slice orchestrator;   /* absent: root */
    uint32_t letters;                /* records of dead letters that are to come */
    struct soc_check_agent *touched; /* in this batch, a chain */
    uint32_t totals_skipped;         /* batches since the totals were compared */
    bool is_strict;                  /* strangers may not write */
    bool is_asked;                   /* nobody is introduced without having asked */
    bool has_strange_role;           /* somebody's mail waits for its script */
    struct soc_buf cursor;           /* of the last batch */
    struct soc_buf scratch;
};

/* Notes what is wrong, unless something was. */
void soc_books_fail(struct soc_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns zeroed room, or a copy of a text, from the pool. */
void *soc_books_room(struct soc_check *check, size_t bytes);
struct soc_slice soc_books_copy(struct soc_check *check, struct soc_slice text);

/* Lends an agent, NULL if there was none of that id. */
struct soc_check_agent *soc_books_find(const struct soc_check *check, struct soc_slice id);

/* Has the agent's state looked at when the batch is over. */
void soc_books_touch(struct soc_check *check, struct soc_check_agent *agent);

/* What may hold of two agents. */
enum soc_check_pair {
    SOC_PAIR_KNOWS, /* the first has the second among its contacts */
    SOC_PAIR_WROTE, /* the first has written to the second */
    SOC_PAIR_READ,  /* the first is done with the broadcast whose key is the second */
    SOC_PAIR_MEETS, /* the first was introduced to the second, and may note it once */
};

/* Notes that it holds of an agent and a number, of another agent or as said; false if
 * that was known. Tells whether it holds. Takes it back. */
bool soc_books_note_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other);
bool soc_books_has_pair(const struct soc_check *check, enum soc_check_pair kind,
                        const struct soc_check_agent *agent, uint64_t other);
void soc_books_drop_pair(struct soc_check *check, enum soc_check_pair kind,
                         const struct soc_check_agent *agent, uint64_t other);

/* Notes a text that `agent` sends once; false if it had been sent. */
bool soc_books_note_once(struct soc_check *check, const struct soc_check_agent *agent,
                         struct soc_slice text);

/* Forgets everything but the memory that was allocated; frees that with the books. */
void soc_books_reset(struct soc_check *check);
void soc_books_free(struct soc_check *check);

#endif

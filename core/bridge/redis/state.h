/* Redis state: the inside of the door for plain Redis clients, for its own files only.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_REDIS_STATE_H
#define SOC_BRIDGE_REDIS_STATE_H

#include "base/map.h"
#include "env/log.h"
#include "kernel/host.h"
#include "loop/alarm.h"
#include "net/redis.h"
#include "parts/outside/outside.h"
#include "parts/outside/redis_settings.h"

#define SOC_REDIS_PLACE_BYTES 48  /* of the id of a stream's entry, with its NUL */
#define SOC_REDIS_CID_BYTES   128 /* of a correlation id that may be part of a key */

/* What to do with an entry of an outlet: bits. */
enum soc_redis_to {
    SOC_REDIS_TO_INBOX = 1, /* agent:ID:inbox, or broadcast:all */
    SOC_REDIS_TO_QUEUE = 2, /* helix:queue:ID */
    SOC_REDIS_TO_REPLY = 4, /* reply:CORRELATION_ID */
};

/* One thing on its way into Redis. */
struct soc_redis_entry {
    struct soc_redis_entry *next;
    uint64_t key; /* of the message to confirm; 0: nothing waits for it */
    uint16_t attempt;
    unsigned to;   /* enum soc_redis_to; 0: the entry before it was put for all */
    char *agent;   /* id of its receiver, owned, or NULL */
    char *field;   /* under which Redis remembers it; NULL: it does not */
    char *from;    /* the sender's id, or NULL */
    char *id;      /* of the message, or NULL */
    char *reply;   /* correlation id, or NULL */
    char *json;    /* the envelope */
    char *payload; /* its payload, or an error */
    size_t bytes;  /* of both */
};

/* What is put into Redis for one outside agent, or for all of them, in order. */
struct soc_redis_outlet {
    struct soc_redis_door *door;
    char *id;    /* of the agent; NULL: broadcasts and errors */
    char *inbox; /* keys */
    char *queue;
    char *sent;
    struct soc_redis_entry *first;
    struct soc_redis_entry *last;
    size_t count;
    size_t bytes;
    size_t in_flight; /* entries in the script that is under way */
    bool is_sending;
    struct soc_buf done; /* fields to forget, each with a NUL */
    size_t done_count;
    size_t done_in_flight; /* bytes of `done` in the script that is under way */
    bool is_held;          /* a message was refused for lack of room */
    bool is_stuck;         /* the last script failed: logged once */
};

/* Where messages come from. */
enum soc_redis_kind {
    SOC_REDIS_QUEUE,  /* helix:queue:ID of an agent inside */
    SOC_REDIS_INBOX,  /* agent:ID:inbox of an agent inside */
    SOC_REDIS_OUTBOX, /* agent:ID:outbox of an agent outside */
};

/* One of them. */
struct soc_redis_source {
    struct soc_redis_door *door;
    enum soc_redis_kind kind;
    char *agent;    /* id */
    char *key;      /* in Redis */
    char *taken;    /* stream of ours into which a queue is moved; NULL: not a queue */
    char *position; /* name of the place in the journal */
    char place[SOC_REDIS_PLACE_BYTES];   /* after what was taken */
    char calling[SOC_REDIS_PLACE_BYTES]; /* the same, when durability was last asked for */
    char durable[SOC_REDIS_PLACE_BYTES]; /* the same, once durable */
    char trimmed[SOC_REDIS_PLACE_BYTES]; /* what was removed up to */
    uint64_t seen;                       /* the last walk over all agents that found it */
    bool is_wrong;                       /* its key holds something else: logged once */
    bool is_waiting;                     /* its next message is refused for now: logged once */
    bool is_skipped;                     /* for the rest of this reply */
};

/* The door. */
struct soc_redis_door {
    struct soc_host *host;
    struct soc_loop *loop;
    const struct soc_redis_settings *settings;
    char *prefix; /* of keys of ours: society:APP:door: */
    char *owner;  /* who reads, in the key `owner`: durable */
    char *epoch;  /* which Redis it is, in the key `epoch`; empty: not known yet */
    struct soc_redis *commands;
    struct soc_redis *ears; /* is subscribed */
    bool is_ready;          /* everything is known; messages may go out */
    bool is_down;           /* it was logged that Redis cannot be reached */
    bool is_fenced;         /* another society reads: logged once */
    bool is_stopped;

    soc_redis_reply_cb *note_sent; /* the reply of an outlet's script */
    struct soc_map outlets;        /* id -> outlet, owned */
    struct soc_redis_outlet common;
    struct soc_map broadcasts; /* keys of those that were handed out -> the common outlet */
    struct soc_map asked;      /* correlation id -> struct soc_redis_asked, owned */
    struct soc_alarm *retry_alarm;

    struct soc_map sources; /* position -> source, owned */
    struct soc_redis_source **list;
    size_t list_count;
    size_t list_capacity;
    size_t cursor;      /* the source polled first */
    size_t polled_from; /* of the poll that is under way */
    uint64_t walks;
    soc_redis_reply_cb *take; /* the reply of a poll */
    bool is_polling;
    bool is_poll_stuck; /* the last script failed: logged once */
    bool is_changed;    /* agents may have come or gone */
    bool is_behind;     /* something was taken since */
    bool is_calling;    /* waits for durability */
    struct soc_alarm *poll_alarm;

    struct soc_map shown; /* id -> struct soc_redis_shown, owned: helix:agent:status */
    uint64_t looks;
    struct soc_alarm *status_alarm;
    bool is_status_due;
    bool is_status_called;

    int64_t complained_ms; /* start of the second in which lines are counted */
    int complaints;
    int hidden;
    struct soc_buf scratch;
};

/* A request that was handed out, so that a reply to its channel finds its agent. */
struct soc_redis_asked {
    char *correlation_id;
    char *agent;
    char *message_id;
};

/* Logs a line of the door. */
void soc_redis_door_log(struct soc_redis_door *door, enum soc_log_level level,
                        struct soc_slice agent, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for what clients do wrong: beyond some lines a second they are only counted. */
void soc_redis_door_complain(struct soc_redis_door *door, struct soc_slice agent,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells whether the reply of a script is an error, and does what it asks for: connects anew if
 * the server has become useless. `*is_told`: that it was logged. */
bool soc_redis_door_is_refused(struct soc_redis_door *door, const struct soc_redis_reply *reply,
                               bool *is_told);

/* Lends the outside agent of this door with that id, or NULL. */
struct soc_agent *soc_redis_door_find(struct soc_redis_door *door, struct soc_slice id);

/* The door has learnt that it talks to another Redis, or that this one forgot everything. */
void soc_redis_door_set_epoch(struct soc_redis_door *door, struct soc_slice epoch);

/* Everything is known: messages go out. */
void soc_redis_door_be_ready(struct soc_redis_door *door);

#endif

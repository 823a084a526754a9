/* Outside state: private to the part `outside`. Doors use outside.h.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_STATE_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_STATE_H

#include "base/heap.h"
#include "kernel/state.h"
#include "model/delivery/ladder.h"
#include "model/delivery/pulse.h"
#include "parts/outside/outside.h"
#include "parts/table.h"

struct soc_letter;

/* Letters in the order they leave. */
struct soc_letter_list {
    struct soc_letter *first;
    struct soc_letter *last;
};

/* What is remembered of an ended letter: that it existed, and how to answer it. */
struct soc_ended_letter {
    uint64_t key;
    int64_t time_ms;
    uint64_t external; /* hash of its external id, 0: none */
    uint64_t foreign;  /* hash of the id on its own host, 0: it is this one */
    struct soc_agent *from;
    bool wants_reply, is_broadcast;
};

/* An outside agent. outside_mail.c frees it some time after the agent terminated. */
struct soc_outsider {
    struct soc_heap_item timer; /* for its silence */
    struct soc_host *host;
    struct soc_agent *agent;
    const struct soc_door *door; /* NULL: no door leads to it yet */
    struct soc_pulse pulse;
    struct soc_map letters;   /* key -> soc_letter, owned: its pending mail */
    struct soc_map externals; /* external id -> the first letter that has it */
    struct soc_map foreigns;  /* id on its own host -> letter from another host */
    struct soc_letter_list waiting[SOC_PRIORITY_COUNT]; /* not handed out */
    struct soc_ended_letter *ended;                     /* a ring, owned; NULL: none yet */
    uint32_t ended_count;                               /* ever */
    uint64_t acks;                                      /* sent in this run */
    uint32_t calls;                                     /* pending callbacks that refer to this */
    uint64_t known_key; /* messages before this key are not remembered */
    uint64_t called;    /* the batch after which it is visited next */
    bool is_called;
    bool is_redeemed; /* paused ladders start at the next visit */
};

/* A message pending for an outside agent. */
struct soc_letter {
    struct soc_heap_item timer; /* for its ladder */
    struct soc_outsider *outsider;
    struct soc_message *message; /* in the mailbox, lent */
    struct soc_letter *previous; /* in the list of those waiting to leave */
    struct soc_letter *next;
    struct soc_letter *namesake; /* the next one with the same external id */
    struct soc_ladder ladder;
    uint64_t sequence; /* the batch that must be durable before it is handed out */
    bool is_waiting;   /* is in that list */
    bool is_out;       /* handed out, and not to be handed out again */
    bool was_out;      /* ever, in this run */
    bool is_received;  /* acked */
    bool is_again;
    bool is_warning;
    bool is_given_up; /* its ladder ended, the receiver is unresponsive; do not restart it */
};

/* What a heap item in `timers` is embedded in. */
enum soc_outside_timer {
    SOC_OUTSIDE_LETTER,
    SOC_OUTSIDE_SILENCE,
};

/* News for a door, delivered once durable. */
struct soc_door_notice {
    struct soc_door_notice *next;
    struct soc_outsider *outsider;
    enum soc_door_event event;
    uint64_t key;                  /* of a message, 0: it is about none */
    char id[SOC_MESSAGE_ID_BYTES]; /* of that message */
    char *json;                    /* the ack or the failure, owned, or NULL */
};

/* A stored position. */
struct soc_kept_position {
    char *name, *value;
};

struct soc_outside { /* all doors and the agents behind them */
    struct soc_door doors[SOC_DOORS_MAX];
    size_t door_count;
    struct soc_map outsiders;              /* id -> soc_outsider, owned */
    struct soc_map positions;              /* name -> soc_kept_position, owned */
    struct soc_door_notice *notices_first; /* owned, in order */
    struct soc_door_notice *notices_last;
    struct soc_map received; /* during a start: keys of acked messages */
    struct soc_heap timers;  /* timers that no run waits for */
    uint64_t climbed;        /* letters with an active ladder */
    int64_t heartbeat_ms;
};

/* Lends the part's state. */
static inline struct soc_outside *soc_outside_of_host(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_OUTSIDE);
}

/* Lends the state of an outside agent, creating it if needed. */
struct soc_outsider *soc_outside_need(struct soc_host *host, struct soc_agent *agent);

/* An outside agent was born (its turn has committed), or has terminated. */
void soc_outside_born(struct soc_host *host, struct soc_agent *agent);
void soc_outside_ended(struct soc_host *host, struct soc_agent *agent);

/* Takes a due message into the mailbox, to be handed out; releases one. */
void soc_outside_take(struct soc_host *host, struct soc_message *message);
void soc_outside_let_go(struct soc_host *host, struct soc_message *message);

/* Schedules handing out, once everything recorded so far is durable. */
void soc_outside_call(struct soc_outsider *outsider);

/* outside_watch.c: starts and stops the ladder of a letter that was handed out. */
void soc_outside_climb(struct soc_letter *letter);
void soc_outside_stop(struct soc_letter *letter);

/* Starts the ladders that were paused while the agent was lost, owed an ack or was
 * held; pauses or restarts all of them because the agent was held or released. */
void soc_outside_climb_all(struct soc_outsider *outsider);
void soc_outside_note_hold(struct soc_host *host, struct soc_agent *agent);

/* Sets the timer for the agent's silence. */
void soc_outside_watch(struct soc_outsider *outsider);

/* Returns when the next of these timers is due, 0: never; fires it. */
int64_t soc_outside_due(const struct soc_host *host);
void soc_outside_fire(struct soc_host *host);

/* Records attempts and acks of a pending message; tells the agent's door, once durable. */
void soc_outside_record(struct soc_host *host, const struct soc_letter *letter);
void soc_outside_tell(struct soc_outsider *outsider, enum soc_door_event event,
                      const struct soc_message *message);

/* Acks a message of the agent: `for_id` is its own id, `by` the receiver. */
void soc_outside_send_ack(struct soc_outsider *outsider, const struct soc_message *message,
                          enum soc_ack ack);
void soc_outside_repeat_ack(struct soc_outsider *outsider, struct soc_slice for_id,
                            struct soc_slice by);

/* Tells the agent's door, once durable, that a message of the agent ended unhandled. */
void soc_outside_tell_failure(struct soc_outsider *outsider, const struct soc_message *message,
                              enum soc_outcome outcome);

/* Recovery: restores records; `message` is the pending message concerned, or NULL. */
void soc_outside_restore_receipt(struct soc_host *host, struct soc_message *message,
                                 const struct soc_record_receipt *record);
void soc_outside_forget_receipt(struct soc_host *host, uint64_t key);
void soc_outside_restore_position(struct soc_host *host, const struct soc_record_position *record);

#endif

/* Outside state: what the host remembers of outside agents and their mail, and what the
 * other files of this folder ask of it. Not for doors: outside.h is.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_STATE_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_STATE_H

#include "base/heap.h"
#include "kernel/state.h"
#include "model/ladder.h"
#include "model/pulse.h"
#include "parts/outside/outside.h"
#include "parts/table.h"

struct soc_letter;

/* Letters in the order they leave. */
struct soc_letter_list {
    struct soc_letter *first;
    struct soc_letter *last;
};

/* What is remembered of a letter that has ended: that it was one, and how to answer it. */
struct soc_ended_letter {
    uint64_t key;
    int64_t time_ms;
    uint64_t external; /* hash of its external id, 0: it had none */
    struct soc_agent *from;
    bool wants_reply, is_broadcast;
};

/* An outside agent. It is freed some time after the agent's end, by outside.c. */
struct soc_outsider {
    struct soc_heap_item timer; /* of its silence */
    struct soc_host *host;
    struct soc_agent *agent;
    const struct soc_door *door; /* NULL: none leads to it yet */
    struct soc_pulse pulse;
    struct soc_map letters;   /* key -> soc_letter, owned: its pending mail */
    struct soc_map externals; /* external id -> the first letter that has it */
    struct soc_letter_list waiting[SOC_PRIORITY_COUNT]; /* those that are not out */
    struct soc_ended_letter *ended;                     /* a ring, owned; NULL: none yet */
    uint32_t ended_count;                               /* ever */
    uint32_t calls;                                     /* under way that refer to this */
    uint64_t known_key; /* what was sent to it before this key is not remembered */
    uint64_t called;    /* the batch behind which it is looked at next */
    bool is_called;
    bool is_redeemed; /* ladders that stood still begin when it is looked at next */
};

/* A message that is pending for one. */
struct soc_letter {
    struct soc_heap_item timer; /* of its ladder */
    struct soc_outsider *outsider;
    struct soc_message *message; /* in the mailbox, lent */
    struct soc_letter *previous; /* among those that wait to leave */
    struct soc_letter *next;
    struct soc_letter *namesake; /* the next one with the same external id */
    struct soc_ladder ladder;
    uint64_t sequence; /* the batch that must be durable before it is handed out */
    bool is_waiting;   /* it stands in that list */
    bool is_out;       /* it was handed out and is not to be again */
    bool was_out;      /* ever, in this run */
    bool is_received;  /* acked */
    bool is_again;
    bool is_warning;
    bool is_given_up; /* its ladder ended with its receiver unresponsive: none is climbed */
};

/* What a heap item in `timers` is embedded in. */
enum soc_outside_timer {
    SOC_OUTSIDE_LETTER,
    SOC_OUTSIDE_SILENCE,
};

/* Something for a door to be told, when durable. */
struct soc_door_notice {
    struct soc_door_notice *next;
    struct soc_outsider *outsider;
    enum soc_door_event event;
    uint64_t key; /* of a message */
    int64_t time_ms;
};

/* A position that is kept. */
struct soc_kept_position {
    char *name, *value;
};

struct soc_outside { /* all doors and who lives behind them */
    struct soc_door doors[SOC_DOORS_MAX];
    size_t door_count;
    struct soc_map outsiders;              /* id -> soc_outsider, owned */
    struct soc_map positions;              /* name -> soc_kept_position, owned */
    struct soc_door_notice *notices_first; /* owned, in order */
    struct soc_door_notice *notices_last;
    struct soc_map received; /* at a start: keys of messages that were acked */
    struct soc_heap timers;  /* those that no run waits for */
    uint64_t climbed;        /* letters whose ladder is being climbed */
    int64_t heartbeat_ms;
};

/* Lends it. */
static inline struct soc_outside *soc_outside_of_host(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_OUTSIDE);
}

/* Lends what is known of an outside agent. */
struct soc_outsider *soc_outside_need(struct soc_host *host, struct soc_agent *agent);

/* An outside agent was born (its turn has committed), or has ended. */
void soc_outside_born(struct soc_host *host, struct soc_agent *agent);
void soc_outside_ended(struct soc_host *host, struct soc_agent *agent);

/* Takes a message that is due into the mailbox, to be handed out; lets go of one. */
void soc_outside_take(struct soc_host *host, struct soc_message *message);
void soc_outside_let_go(struct soc_host *host, struct soc_message *message);

/* Has what is durable and not out yet handed out, once everything recorded so far is. */
void soc_outside_call(struct soc_outsider *outsider);

/* outside_watch.c: the ladder of a letter that was handed out begins, and is stopped. */
void soc_outside_climb(struct soc_letter *letter);
void soc_outside_stop(struct soc_letter *letter);

/* Has those ladders begin that stood still while the agent was lost, owed an ack or was paused;
 * has all stand still, or begin anew, since it was paused or resumed. */
void soc_outside_climb_all(struct soc_outsider *outsider);
void soc_outside_note_hold(struct soc_host *host, struct soc_agent *agent);

/* Sets the timer of an agent's silence. */
void soc_outside_watch(struct soc_outsider *outsider);

/* When the next of these timers falls due, 0: never; lets it fire. */
int64_t soc_outside_due(const struct soc_host *host);
void soc_outside_fire(struct soc_host *host);

/* Writes down what has become of a pending message, attempts and acks; tells the agent's door,
 * once it is durable. */
void soc_outside_record(struct soc_host *host, const struct soc_letter *letter);
void soc_outside_tell(struct soc_outsider *outsider, enum soc_door_event event,
                      const struct soc_message *message);

/* Recovery: records read back; `message` is the pending one it is about, or NULL. */
void soc_outside_restore_receipt(struct soc_host *host, struct soc_message *message,
                                 const struct soc_record_receipt *record);
void soc_outside_forget_receipt(struct soc_host *host, uint64_t key);
void soc_outside_restore_position(struct soc_host *host, const struct soc_record_position *record);

#endif

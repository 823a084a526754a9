/* Outside: agents that run elsewhere, and the doors that lead to them.
 *
 * A role with the behaviour "external" creates agents whose mail leaves the process
 * through a door: files, Redis, or the scripted one of the tests. A door fills struct
 * soc_door, which the host calls, and reports what comes back through the functions
 * below; it needs nothing else of the host. Messages from outside go through the same
 * router as any other: contacts, vocabularies, duplicates. The sender is the agent the
 * door names, whatever the message says.
 *
 * A message to an outside agent stays pending in its mailbox until it is finished:
 *   - soc_door.deliver hands it out once it is durable, urgent ones first among those due
 *     together;
 *   - without requires_ack, and for a broadcast, that finishes it: processed;
 *   - otherwise an ack `received` stops the ladder (model/delivery/ladder.h), and an ack
 * `processed`, a reply, a checkpoint_response or the result of its task finishes it. Without an ack
 * it is handed out again, when the policy `delivery` says so, under the same id with `attempt`
 * raised. At a start, unacked messages are handed out once more, marked `is_again`: the agent may
 * already have them, and a door that can tell (from its file) skips them. Acks survive a restart;
 * the timers of acks and heartbeats restart.
 *
 * A door's read position (an offset, a stream id) is kept for it under a name. A
 * position given with a message or an ack commits in the same batch, so after a crash
 * the door continues right after what was taken, and nothing is taken twice.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_H

#include "base/buf.h"
#include "kernel/mail/router.h"
#include "model/delivery/ack.h"

struct soc_agent;
struct soc_host;

/* One message on its way out. Everything is lent for the call only. */
struct soc_handout {
    const struct soc_agent *agent;
    const struct soc_message
        *message;      /* `attempt` counts from 1; kernel/mail/envelope.h writes it */
    bool is_again;     /* after a restart: the agent may already have it */
    bool is_warning;   /* the last resend before giving up */
    bool is_broadcast; /* one of many copies under one id; not acked */
};

/* Other news for a door, durable by the time the door hears it. */
enum soc_door_event {
    SOC_DOOR_BORN,         /* also for agents that exist when the door opens */
    SOC_DOOR_ENDED,        /* nothing more will come for the agent */
    SOC_DOOR_UNRESPONSIVE, /* missing acks or heartbeats */
    SOC_DOOR_RESPONSIVE,   /* heard from again */
    SOC_DOOR_DONE,         /* a message that was handed out is no longer pending */
    SOC_DOOR_PENDING,      /* still pending, acked before the restart: not handed out again */
    SOC_DOOR_ACK,          /* an ack for a message of the agent: pass it on */
    SOC_DOOR_FAILED,       /* a message of the agent ended without being handled */
};

struct soc_door_news { /* one piece of news for a door */
    enum soc_door_event event;
    const struct soc_agent *agent;
    struct soc_slice message_id; /* of SOC_DOOR_DONE and SOC_DOOR_PENDING: as it was shown */
    uint64_t key;                /* the same message's on this host */
    struct soc_slice ack;        /* of SOC_DOOR_ACK: { id, timestamp, ack_for, from, status } */
    /* Of SOC_DOOR_FAILED: { error, message, message_id, to, correlation_id? }. */
    struct soc_slice failure;
};

/* What a door does for the host. None of these may call the host, except
 * soc_outside_is_awaited(). */
struct soc_door {
    void *user;
    /* Tells whether this door leads to the agent; the first door that does keeps the
     * agent as long as the host runs. NULL: every agent. */
    bool (*carries)(void *user, const struct soc_agent *agent);
    /* Hands a message out. False: not now; soc_outside_resume() tries again. */
    bool (*deliver)(void *user, const struct soc_handout *handout);
    /* Receives news. NULL: not interested. */
    void (*tell)(void *user, const struct soc_door_news *news);
    /* Something may have changed in the society: a turn, timer or door call is over. Must return
     * at once. NULL: not interested. */
    void (*changed)(void *user);
    bool confirms;  /* `deliver` only takes the message in hand; soc_outside_confirm() says that
                       it was delivered */
    bool is_silent; /* the agents owe no signs of life */
};

/* Opens a door, which is copied, after soc_host_start, and hands out what is waiting
 * for the agents behind it. `door->user` must outlive the host. SOC_ETOOLARGE if
 * SOC_DOORS_MAX doors are open. */
int soc_outside_open(struct soc_host *host, const struct soc_door *door);

/* Retries what doors could not hand out; or hands out again everything pending for the
 * agent, acked or not, because the door lost what it had delivered. Ladders continue. */
void soc_outside_resume(struct soc_host *host);
void soc_outside_hand_again(struct soc_host *host, const struct soc_agent *agent);

/* For a door that confirms: the message with that key, taken in hand before, was delivered.
 * What needs no ack ends now, the ladder of the rest begins. One that is no longer pending is
 * passed over. */
void soc_outside_confirm(struct soc_host *host, struct soc_slice agent, uint64_t key);

/* Tells whether a message, or a copy of that broadcast, is pending for any outside
 * agent. */
bool soc_outside_is_awaited(const struct soc_host *host, uint64_t key);

/* Lends the living outside agent with that id, or NULL: only those speak through doors. */
struct soc_agent *soc_outside_find(struct soc_host *host, struct soc_slice id);

/* A door's read position: a value under a name the door chooses («file:a.ack», «120»),
 * both UTF-8 of up to SOC_POSITION_BYTES_MAX. Absent name: none. */
struct soc_position {
    struct soc_slice name;
    struct soc_slice value;
};

/* A message received from an outside agent. If it requires an ack, the agent gets one through
 * its door: `received` when the message is durable, also when it is sent again under the same
 * external id, and `processed` when its receiver is done with it. `ack_for` is the external
 * id, or ours if there is none. An ack that is due when the host dies is lost. */
struct soc_outside_mail {
    struct soc_send send;     /* texts[SOC_TEXT_EXTERNAL_ID]: the sender's own id for it */
    struct soc_slice answers; /* id or correlation id of what it answers, or absent */
    bool is_chain;            /* `answers` may name just the chain, with nothing open */
    bool is_again;            /* offered before: not a new sign of life */
};

/* Takes a message from the agent, and the position, atomically. SOC_OK with the
 * receipt, as of send_message, in `answer`; or the router's refusal with its error
 * object, which is recorded in the activity log, and the position is kept anyway.
 * Report the outcome to the outside via soc_gate_when_durable, not before.
 *
 * Temporary refusals, SOC_EMAILBOX and SOC_EDISKFULL, record neither event nor
 * position: the door must offer the same message again later, and take nothing behind
 * it until then.
 *
 * An answer goes to whoever asked. If it comes too late it is dropped as SOC_ENOMESSAGE
 * with the event `late_reply`; it is never delivered to anyone else. */
int soc_outside_accept(struct soc_host *host, struct soc_agent *agent,
                       const struct soc_outside_mail *mail, struct soc_position position,
                       struct soc_buf *answer);

/* Takes an ack of the message with that id, ours or external. An ack of a finished message
 * changes nothing. If the agent was never sent it: SOC_ENOMESSAGE with the error object in
 * `error`. An id of ours from an earlier run, or older than the last SOC_LETTERS_ENDED_MAX
 * finished, may be forgotten: SOC_ACK_IS_UNKNOWN. The position is kept in any case. */
#define SOC_ACK_IS_UNKNOWN 1
int soc_outside_ack(struct soc_host *host, struct soc_agent *agent, struct soc_slice id,
                    enum soc_ack ack, struct soc_position position, struct soc_buf *error);

/* The agent has the message, according to an ack that cannot be taken yet: stops its
 * ladder. The second notes a sign of life; messages and acks count as such themselves. */
void soc_outside_note_arrival(struct soc_host *host, struct soc_agent *agent, struct soc_slice id);
void soc_outside_hear(struct soc_host *host, struct soc_agent *agent);

/* Keeps a position for input that produced nothing, such as a skipped line; and lends
 * the one last kept under a name, absent if there is none. */
void soc_outside_keep(struct soc_host *host, struct soc_position position);
struct soc_slice soc_outside_position(const struct soc_host *host, struct soc_slice name);

/* Returns when the agent was last heard from in this run, ms; 0: not yet. */
int64_t soc_outside_heard_ms(const struct soc_host *host, const struct soc_agent *agent);

/* Sets how long an outside agent may be silent; 0: forever. */
void soc_outside_set_heartbeat(struct soc_host *host, int64_t timeout_ms);

/* Not for doors: the running agent decides about an unresponsive agent. restart hands
 * out unacked messages again, skip turns them into dead letters, abort cancels the
 * agent's tasks. Takes effect when the turn commits; `answer` gets an object. */
int soc_outside_resolve(struct soc_host *host, struct soc_slice id, struct soc_slice action,
                        struct soc_buf *answer, struct soc_buf *error);

#endif

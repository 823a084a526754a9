/* Outside: agents that no script runs for, and the doors that lead to them.
 *
 * A role with the behaviour "external" makes agents whose mail leaves the process by a
 * door: files, Redis, or the scripted one of the tests. A door fills struct soc_door,
 * which the host calls, and tells the host what comes back by the functions below; it
 * needs nothing else of the host. What such an agent sends goes through the same router
 * as everybody's: contacts, vocabularies, duplicates; its name is the one the door gives,
 * whatever the message says.
 *
 * A message to an outside agent is pending in its mailbox until it is done with:
 *   - handed out by soc_door.deliver once it is durable, urgent ones first among those
 *     that are due together;
 *   - without requires_ack, and for a broadcast, that is its end: processed;
 *   - else an ack `received` stops the ladder (model/ladder.h), and an ack `processed`, a
 *     reply, a checkpoint_response or the result of its task ends it.
 * Without an ack it is handed out again, at the times the policy `delivery` says, under
 * the same id with `attempt` raised. At a start what was not acked is handed out once
 * more, marked `is_again`: whether the agent has it nobody can know, a door that can see
 * (in its file) leaves it out. Acks are remembered across a restart; the timers of acks
 * and heartbeats start afresh.
 *
 * Where a door reads from (an offset, a stream id) is kept for it under a name: given
 * with a message or an ack it is committed in the same batch, so after a crash the door
 * goes on right behind what was taken, and nothing is taken twice.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_H

#include "base/buf.h"
#include "kernel/mail/router.h"
#include "model/ack.h"

struct soc_agent;
struct soc_host;

/* One message on its way out. All is lent for the call only. */
struct soc_handout {
    const struct soc_agent *agent;
    const struct soc_message
        *message;      /* `attempt` counts from 1; kernel/mail/envelope.h writes it */
    bool is_again;     /* after a restart: the agent may have it already */
    bool is_warning;   /* of a resend: the last one before it is given up */
    bool is_broadcast; /* one of many copies under one id; nobody acks it */
};

/* What else a door may like to know; it is durable when the door is told. */
enum soc_door_event {
    SOC_DOOR_BORN,         /* also for all who are there when the door opens */
    SOC_DOOR_ENDED,        /* nothing will come for it any more */
    SOC_DOOR_UNRESPONSIVE, /* as its acks or heartbeats say */
    SOC_DOOR_RESPONSIVE,   /* heard again */
    SOC_DOOR_DONE,         /* a message that was handed out is pending no more */
    SOC_DOOR_PENDING,      /* one is that was acked in an earlier run: not handed out again */
};

struct soc_door_news { /* what a door is told */
    enum soc_door_event event;
    const struct soc_agent *agent;
    struct soc_slice message_id; /* of SOC_DOOR_DONE and SOC_DOOR_PENDING */
};

/* What a door does for the host. None of these may call the host, but
 * soc_outside_is_awaited() may be asked. */
struct soc_door {
    void *user;
    /* Tells whether this door leads to the agent; the first one that does has it, for
     * as long as the host runs. NULL: to every one. */
    bool (*carries)(void *user, const struct soc_agent *agent);
    /* Hands a message out. False: it cannot now; soc_outside_resume() tries again. */
    bool (*deliver)(void *user, const struct soc_handout *handout);
    /* NULL: nothing else is of interest. */
    void (*tell)(void *user, const struct soc_door_news *news);
};

/* Opens a door, which is copied, after soc_host_start: what waits for agents behind it
 * is handed out. `door->user` must live as long as the host. SOC_ETOOLARGE if there are
 * SOC_DOORS_MAX already. */
int soc_outside_open(struct soc_host *host, const struct soc_door *door);

/* Tries again to hand out what a door could not; or hands out everything again that is
 * pending for the agent, acked or not: what the door had put down for it is lost. A ladder that
 * is being climbed goes on. */
void soc_outside_resume(struct soc_host *host);
void soc_outside_hand_again(struct soc_host *host, const struct soc_agent *agent);

/* Tells whether a message, or a copy of that broadcast, is pending for any outside agent. */
bool soc_outside_is_awaited(const struct soc_host *host, uint64_t key);

/* Lends the outside agent of that id that is alive, or NULL: no other speaks through a door. */
struct soc_agent *soc_outside_find(struct soc_host *host, struct soc_slice id);

/* Where a door stands: a value of its own under a name of its own («file:a.ack», «120»),
 * both UTF-8 text up to SOC_POSITION_BYTES_MAX. Absent name: none. */
struct soc_position {
    struct soc_slice name;
    struct soc_slice value;
};

/* What came from an outside agent. */
struct soc_outside_mail {
    struct soc_send send;     /* texts[SOC_TEXT_EXTERNAL_ID]: its own id for the message */
    struct soc_slice answers; /* id or correlation id of what it answers, absent: nothing */
    bool is_chain;            /* `answers` only names the chain, if it is nothing open */
    bool is_again;            /* it was offered before, and is no sign of life this time */
};

/* Takes a message that came from the agent, and the position, in one step. SOC_OK with
 * the receipt, as of send_message, in `answer`; or what the router refused, with its
 * error object there: that is an event of the activity, and the position is kept all the
 * same. Say so to the outside by soc_gate_when_durable, not before.
 * What is refused only for now, SOC_EMAILBOX and SOC_EDISKFULL, is not done with: neither
 * event nor position is kept, and the door offers the same message again later; until
 * then it takes nothing that came behind it.
 *
 * An answer goes to whoever asked. When that is over it is dropped, as SOC_ENOMESSAGE
 * with the event `late_reply`; it is never given to somebody else. */
int soc_outside_accept(struct soc_host *host, struct soc_agent *agent,
                       const struct soc_outside_mail *mail, struct soc_position position,
                       struct soc_buf *answer);

/* Takes an ack of the message with that id, ours or external; of one that is done with it
 * changes nothing. Of what the agent was never sent: SOC_ENOMESSAGE, the error object is in
 * `error`. An id of ours from an earlier run, or before the last SOC_LETTERS_ENDED_MAX that
 * ended, may be not remembered: SOC_ACK_IS_UNKNOWN. The position is kept in any case. */
#define SOC_ACK_IS_UNKNOWN 1
int soc_outside_ack(struct soc_host *host, struct soc_agent *agent, struct soc_slice id,
                    enum soc_ack ack, struct soc_position position, struct soc_buf *error);

/* The agent has that message, as an ack says that is not to be taken yet: its ladder stops.
 * Or gave a sign of life; messages and acks are signs, too. */
void soc_outside_note_arrival(struct soc_host *host, struct soc_agent *agent, struct soc_slice id);
void soc_outside_hear(struct soc_host *host, struct soc_agent *agent);

/* Keeps a position for what produced nothing: a line that was skipped; and lends the one
 * last kept under a name, absent if there is none. */
void soc_outside_keep(struct soc_host *host, struct soc_position position);
struct soc_slice soc_outside_position(const struct soc_host *host, struct soc_slice name);

/* When the agent was last heard in this run, ms; 0: not yet. */
int64_t soc_outside_heard_ms(const struct soc_host *host, const struct soc_agent *agent);

/* Sets how long an outside agent may be silent; 0: for ever. */
void soc_outside_set_heartbeat(struct soc_host *host, int64_t timeout_ms);

/* Not a door's: the running agent decides what becomes of an unresponsive one, by
 * restart (hand out again what has no ack), skip (that goes to the dead letters) or abort
 * (its tasks are cancelled). Done when the turn commits; `answer` gets an object. */
int soc_outside_resolve(struct soc_host *host, struct soc_slice id, struct soc_slice action,
                        struct soc_buf *answer, struct soc_buf *error);

#endif

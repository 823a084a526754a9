/* Router: the way of a message, from whoever sends it to its receiver.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_ROUTER_H
#define SOC_KERNEL_ROUTER_H

#include "kernel/hooks.h"
#include "model/message.h"
#include "store/record.h"

struct soc_host;

/* What a sender says. Absent and zero mean «as usual». */
struct soc_send {
    struct soc_slice to;      /* an id, or All */
    struct soc_slice type;    /* absent: general */
    struct soc_slice payload; /* JSON, checked by the caller */
    struct soc_slice texts[SOC_TEXT_COUNT];
    enum soc_priority priority;
    bool has_priority;
    bool requires_ack;
    bool has_requires_ack; /* it was said; else the type decides */
    bool wants_reply;
    bool is_formal;        /* the host's, in the sender's name: no policy is asked */
    bool is_report;        /* to whom the sender has to answer: contacts are not asked */
    bool is_intake;        /* the gatekeeper is to pass it on at the next start */
    bool is_listed;        /* one of a list: a dedupe_key is each receiver's own */
    bool is_bare;          /* the payload is known to hold nothing of the envelope */
    int64_t ttl_ms;        /* 0: for ever */
    int64_t deliver_at_ms; /* 0: at once */
    int64_t deadline_ms;   /* 0: none */
    /* The message this answers, lent: no policy is asked then. */
    const struct soc_message *answers;
    /* Or, for a later activation, the key and time of an open request. */
    uint64_t answers_key;
    int64_t answers_ms;
};

/* Sends as `from` (NULL: the host) inside the open turn. SOC_OK and the message
 * lent in `*out`, delivered when the turn commits; or an error and its object in
 * `error`, and nothing has changed; or 1 if it was sent before, by a key of the
 * sender's: nothing has changed, and `error` has the receipt (duplicates.h). */
int soc_router_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                    struct soc_message **out, struct soc_buf *error);

/* Lends the agent a receiver's name means, the alias `orchestrator` included, or
 * NULL. */
struct soc_agent *soc_router_find(struct soc_host *host, struct soc_slice id);

/* Tells whether `from` may write to `to`, as soc_router_send would. */
int soc_router_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                        struct soc_buf *error);

/* Takes a message whose turn has committed: to its waiter, mailbox or timer. */
void soc_router_accept(struct soc_host *host, struct soc_message *message);

/* Puts a message into its receiver's mailbox, or hands it to who receives. */
void soc_router_deliver(struct soc_host *host, struct soc_message *message);

/* The same for a message that nobody but its receiver can handle. */
void soc_router_hand_over(struct soc_host *host, struct soc_message *message);

/* Starts the timer of a message that can expire. */
void soc_router_watch(struct soc_host *host, struct soc_message *message);

/* The timer of a message has fired: it is due, or expired. */
void soc_router_timer(struct soc_host *host, struct soc_message *message);

/* Ends a message that stands nowhere any more: counts, records and frees it, or
 * keeps it as a dead letter. `reason` is JSON, absent if processed. */
void soc_router_finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                       struct soc_slice reason);

/* Frees a message that stands nowhere, and what the scripts hold for it. NULL is
 * allowed. */
void soc_router_free(struct soc_host *host, struct soc_message *message);

/* Has a message that ended, as `message->outcome` says, handled once more from
 * `deliver_at_ms` on, with `attempt` raised. Takes it. */
void soc_router_again(struct soc_host *host, struct soc_message *message, int64_t deliver_at_ms);

/* Sends a dead letter again, last in its mailbox, with `attempt` raised; or
 * drops it for good. SOC_ENOMESSAGE if there is none of that id, SOC_ESTOPPED if
 * the one who should get it again has ended. */
int soc_router_redeliver(struct soc_host *host, struct soc_slice id, struct soc_buf *error);
int soc_router_drop(struct soc_host *host, struct soc_slice id, struct soc_buf *error);

#endif

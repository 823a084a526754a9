/* Message: an envelope with its payload, in one allocation.
 *
 * The payload is JSON, encoded once when the message is sent. The receiver, the journal
 * and recovery see the same bytes, so a message looks the same however it arrives.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_MESSAGE_H
#define SOC_MODEL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/slice.h"
#include "model/message_fields.h"

struct soc_agent;

/* Most urgent first; P0 to P3 on the wire. */
enum soc_priority {
    SOC_PRIORITY_URGENT,
    SOC_PRIORITY_HIGH,
    SOC_PRIORITY_NORMAL,
    SOC_PRIORITY_LOW,
    SOC_PRIORITY_COUNT,
};

/* The texts of a message besides its payload: one for each text field. */
enum soc_message_text {
#define F(tag, name, kind, ...) SOC_IF_TEXT_##kind(SOC_TEXT_##tag, )
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
        SOC_TEXT_COUNT,
};

/* A message, followed by its payload and its texts. */
struct soc_message {
    struct soc_message *previous; /* in a mailbox or another list */
    struct soc_message *next;
    struct soc_heap_item timer; /* until it is due, then until it expires */
    struct soc_agent *from;     /* lent; NULL: the host itself, `system` */
    struct soc_agent *to;       /* lent */
    const struct soc_symbol *type;
    /* From here to `text_length`: the numbers from which fields are shown. Whoever
     * shows a message later copies this part. */
    uint64_t key;          /* unique, increasing */
    int64_t time_ms;       /* when it was sent */
    uint64_t reply_to;     /* key of the message it answers; 0: none */
    int64_t reply_to_ms;   /* when that message was sent; part of its printed id */
    int64_t expires_ms;    /* 0: never */
    int64_t deliver_at_ms; /* 0: immediately */
    /* Dates (env/calendar.h), which are what people see. */
    int64_t sent_date_ms;    /* of time_ms */
    int64_t deliver_date_ms; /* of deliver_at_ms; 0: immediately */
    int64_t deadline_ms;     /* of its task, 0: none */
    uint32_t hops;           /* hops from agent to agent in its lineage */
    uint16_t attempt;
    uint8_t priority;
    uint8_t flags; /* enum soc_message_flag of the record */
    uint16_t text_length[SOC_TEXT_COUNT];
    /* Delivery state. */
    uint8_t outcome;    /* enum soc_outcome of the record: why it is a dead letter */
    bool is_queued;     /* it is in its receiver's mailbox */
    bool is_outside;    /* it was handed to an outside agent */
    bool is_told;       /* its sender was told that its task failed; not stored */
    bool is_late;       /* the result of a task that had ended; not stored */
    bool is_changed;    /* the host added members to the sender's payload */
    int script_mark;    /* the script layer's: its decoded payload; 0: none */
    uint64_t cause;     /* key of the message in whose turn it was sent; 0: none */
    uint32_t idle_hops; /* consecutive messages of the lineage without progress */
    uint32_t payload_length;
    char bytes[]; /* the payload, then the texts */
};

/* Offset and size of the numbers. */
#define SOC_MESSAGE_NUMBERS       offsetof(struct soc_message, key)
#define SOC_MESSAGE_NUMBERS_BYTES (offsetof(struct soc_message, outcome) - SOC_MESSAGE_NUMBERS)

/* What a new message is made from; the texts are copied. */
struct soc_message_draft {
    uint64_t key;
    int64_t time_ms;
    struct soc_agent *from;
    struct soc_agent *to;
    const struct soc_symbol *type;
    uint64_t reply_to;
    int64_t reply_to_ms;
    int64_t expires_ms;
    int64_t deliver_at_ms;
    int64_t sent_date_ms;    /* 0: as time_ms */
    int64_t deliver_date_ms; /* 0: as deliver_at_ms */
    int64_t deadline_ms;
    uint8_t priority;
    uint8_t flags;
    uint16_t attempt;
    uint32_t hops;
    uint32_t idle_hops;
    uint64_t cause;
    struct soc_slice payload;
    struct soc_slice texts[SOC_TEXT_COUNT];
};

/* Returns a message made from the draft. Release with soc_message_free(). */
struct soc_message *soc_message_new(const struct soc_message_draft *draft);

/* Frees it. It must not be in a list or heap. NULL is allowed. */
void soc_message_free(struct soc_message *message);

/* Prefetches the message. */
void soc_message_prefetch(const struct soc_message *message);

/* Returns when it becomes due, which decides its position in a queue. */
int64_t soc_message_due_ms(const struct soc_message *message);

/* Returns true if `a` is younger than `b`: it became due later, or has the greater key. */
bool soc_message_is_younger(const struct soc_message *a, const struct soc_message *b);

/* Lends the payload. */
struct soc_slice soc_message_payload(const struct soc_message *message);

/* Lends one of its texts; absent if it has none. */
struct soc_slice soc_message_text(const struct soc_message *message, enum soc_message_text which);

/* The same for a copy whose texts are at `texts`. */
struct soc_slice soc_message_text_at(const struct soc_message *message, const char *texts,
                                     enum soc_message_text which);

/* Lends the name of a priority: urgent, high, normal, low. */
const char *soc_priority_name(enum soc_priority priority);

/* Parses a priority: a name or P0 to P3. Returns false if it is unknown. */
bool soc_priority_parse(struct soc_slice text, enum soc_priority *priority);

/* A list of messages in order. An all-zero struct is empty. It owns nothing. */
struct soc_message_list {
    struct soc_message *first;
    struct soc_message *last;
    uint32_t count;
};

/* Appends `message`, which must be in no list. */
void soc_message_list_push(struct soc_message_list *list, struct soc_message *message);

/* Puts `message`, which must be in no list, first. */
void soc_message_list_push_first(struct soc_message_list *list, struct soc_message *message);

/* Removes and returns the first message, or NULL. */
struct soc_message *soc_message_list_pop(struct soc_message_list *list);

/* Removes `message` from the list. */
void soc_message_list_remove(struct soc_message_list *list, struct soc_message *message);

#endif

/* Message: one envelope with its payload, in one piece of memory.
 *
 * The payload is JSON bytes, encoded once when the message was sent: what is
 * handed to the receiver, written to the journal and read back after a crash are
 * the same bytes, so a message looks alike however it came.
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

/* Urgent first; the wire also knows them as P0 to P3. */
enum soc_priority {
    SOC_PRIORITY_URGENT,
    SOC_PRIORITY_HIGH,
    SOC_PRIORITY_NORMAL,
    SOC_PRIORITY_LOW,
    SOC_PRIORITY_COUNT,
};

/* Texts a message may carry besides its payload: the fields whose kind is a text. */
enum soc_message_text {
#define F(tag, name, kind, ...) SOC_IF_TEXT_##kind(SOC_TEXT_##tag, )
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
        SOC_TEXT_COUNT,
};

/* A message; its texts and its payload lie behind it. */
struct soc_message {
    struct soc_message *previous; /* in a mailbox or another list */
    struct soc_message *next;
    struct soc_heap_item timer; /* until due, then until expired */
    struct soc_agent *from;     /* lent; NULL: the host itself, `system` */
    struct soc_agent *to;       /* lent */
    const struct soc_symbol *type;
    /* From here to `text_length`: the numbers that fields are shown from. Whoever shows a
     * message later keeps a copy of this part. */
    uint64_t key;          /* unique for ever, rising */
    int64_t time_ms;       /* when it was sent */
    uint64_t reply_to;     /* key of the answered message, 0: none */
    int64_t reply_to_ms;   /* its time, for its printed id */
    int64_t expires_ms;    /* 0: never */
    int64_t deliver_at_ms; /* 0: at once */
    int64_t deadline_ms;   /* of its task, 0: none */
    uint32_t hops;         /* from agent to agent of its lineage */
    uint16_t attempt;
    uint8_t priority;
    uint8_t flags; /* enum soc_message_flag of the record */
    uint16_t text_length[SOC_TEXT_COUNT];
    /* How the message stands. */
    uint8_t outcome;    /* enum soc_outcome of the record: why it is a dead letter */
    bool is_queued;     /* it stands in its receiver's mailbox */
    bool is_outside;    /* on its way to an agent that lives outside */
    bool is_changed;    /* the host added to the payload that the sender gave */
    int script_mark;    /* the script layer's own: its copy of the payload; 0: none */
    uint32_t idle_hops; /* messages of it up to this one in which nobody made progress */
    uint32_t payload_length;
    char bytes[]; /* the payload, then the texts that are there */
};

/* Where the part with the numbers is. */
#define SOC_MESSAGE_NUMBERS       offsetof(struct soc_message, key)
#define SOC_MESSAGE_NUMBERS_BYTES (offsetof(struct soc_message, outcome) - SOC_MESSAGE_NUMBERS)

/* What a new message is made of; the texts are copied. */
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
    int64_t deadline_ms;
    uint8_t priority;
    uint8_t flags;
    uint16_t attempt;
    uint32_t hops;
    uint32_t idle_hops;
    struct soc_slice payload;
    struct soc_slice texts[SOC_TEXT_COUNT];
};

/* Returns a message made of the draft. Release with soc_message_free(). */
struct soc_message *soc_message_new(const struct soc_message_draft *draft);

/* Frees it; it must stand in no list and no heap. NULL is allowed. */
void soc_message_free(struct soc_message *message);

/* Has the processor fetch the message, which is about to be handled. */
void soc_message_prefetch(const struct soc_message *message);

/* When it becomes due: what its place in a queue is decided by. */
int64_t soc_message_due_ms(const struct soc_message *message);

/* Tells whether `a` stands behind `b` in order of age: by when it became due, then by key. */
bool soc_message_is_younger(const struct soc_message *a, const struct soc_message *b);

/* Lends the payload. */
struct soc_slice soc_message_payload(const struct soc_message *message);

/* Lends one of its texts, absent if it has none. */
struct soc_slice soc_message_text(const struct soc_message *message, enum soc_message_text which);

/* The same of a copy whose texts lie at `texts`. */
struct soc_slice soc_message_text_at(const struct soc_message *message, const char *texts,
                                     enum soc_message_text which);

/* Lends the name of a priority: urgent, high, normal, low. */
const char *soc_priority_name(enum soc_priority priority);

/* Reads a priority, in words or as P0 to P3; false if it is none. */
bool soc_priority_parse(struct soc_slice text, enum soc_priority *priority);

/* A list of messages in order; all-zero is empty. The list owns nothing. */
struct soc_message_list {
    struct soc_message *first;
    struct soc_message *last;
    uint32_t count;
};

/* Puts `message`, which stands in no list, last. */
void soc_message_list_push(struct soc_message_list *list, struct soc_message *message);

/* Puts it first. */
void soc_message_list_push_first(struct soc_message_list *list, struct soc_message *message);

/* Takes the first out and returns it, or NULL. */
struct soc_message *soc_message_list_pop(struct soc_message_list *list);

/* Takes `message` out of the list it stands in. */
void soc_message_list_remove(struct soc_message_list *list, struct soc_message *message);

#endif

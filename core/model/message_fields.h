/* Message fields: the one table of what a message holds and what a sender may say.
 *
 * Whatever reads or writes messages goes by this table: the options of Lua calls, requests
 * at the control socket, lines of the file door, the hash that replay compares, a message
 * as JSON and as a Lua table, the columns and views of the database, and the reference in
 * docs/. A field's kind decides how its value is checked, stored and shown.
 *
 * To add a field, add a row. A stored field also needs a place at the end of the message
 * record (store/record_fields.h) and a column in an upgrade (store/schema.c), because what
 * is on disk stays readable for ever. The compiler names whatever is missing.
 * Layer: model. Thread: any. */
#ifndef SOC_MODEL_MESSAGE_FIELDS_H
#define SOC_MODEL_MESSAGE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/*  F(tag, wire name, kind, who may say it, where it is shown, part of replay's hash)
 *  Sorted by name: JSON members stand in this order. */
#define SOC_MESSAGE_FIELD_MAP(F)                                                                   \
    F(ACK, ack, ROW, NOBODY, HISTORY, NEVER)                                                       \
    F(ATTEMPT, attempt, NUMBER, NOBODY, ENVELOPE, NEVER)                                           \
    F(CORRELATION_ID, correlation_id, KEY, EVERYBODY, ENVELOPE, ALWAYS)                            \
    F(DEADLINE, deadline, TIME, SENDERS, ENVELOPE, ALWAYS)                                         \
    F(DEDUPE_KEY, dedupe_key, KEY, SENDERS, NOWHERE, ALWAYS)                                       \
    F(DELAY_MS, delay_ms, SPAN, SENDERS, NOWHERE, ALWAYS)                                          \
    F(DELIVER_AT, deliver_at, TIME, SENDERS, ENVELOPE, ALWAYS)                                     \
    F(EXTERNAL_ID, external_id, KEY, DOORS, ENVELOPE, ALWAYS)                                      \
    F(FINISHED_AT, finished_at, ROW, NOBODY, HISTORY, NEVER)                                       \
    F(FROM, from, SENDER, SENDERS, ENVELOPE, NEVER)                                                \
    F(HOPS, hops, NUMBER, NOBODY, ENVELOPE, NEVER)                                                 \
    F(ID, id, ID, NOBODY, ENVELOPE, NEVER)                                                         \
    F(PAYLOAD, payload, PAYLOAD, EVERYBODY, ENVELOPE, ALWAYS)                                      \
    F(PRIORITY, priority, PRIORITY, EVERYBODY, ENVELOPE, ALWAYS)                                   \
    F(REASON, reason, ROW, NOBODY, HISTORY, NEVER)                                                 \
    F(REPLY_TO, reply_to, ANSWERED, FILES, ENVELOPE, NEVER)                                        \
    F(REQUIRES_ACK, requires_ack, FLAG, EVERYBODY, ENVELOPE, ALWAYS)                               \
    F(STATUS, status, ROW, NOBODY, HISTORY, NEVER)                                                 \
    F(TASK_ID, task_id, NAME, EVERYBODY, ENVELOPE, ALWAYS)                                         \
    F(TIMEOUT_MS, timeout_ms, SPAN, WAITERS, NOWHERE, ALWAYS)                                      \
    F(TIMESTAMP, timestamp, SENT, NOBODY, ENVELOPE, NEVER)                                         \
    F(TO, to, RECEIVER, SENDERS, ENVELOPE, ALWAYS)                                                 \
    F(TRACEPARENT, traceparent, KEY, SENDERS, ENVELOPE, ALWAYS)                                    \
    F(TTL_SECONDS, ttl_seconds, SECONDS, EVERYBODY, ENVELOPE, ALWAYS)                              \
    F(TYPE, type, TYPE, REPLIERS, ENVELOPE, ALWAYS)                                                \
    F(WANTS_REPLY, wants_reply, MARK, NOBODY, SCRIPTS, NEVER)

/*  A(other name, field, who may use it) */
#define SOC_MESSAGE_ALIAS_MAP(A)                                                                   \
    A(content, PAYLOAD, EVERYBODY)                                                                 \
    A(taskId, TASK_ID, EVERYBODY)                                                                  \
    A(id, EXTERNAL_ID, FILES)

/*  P(member of a payload, field): what a payload may say of its envelope, which wins. */
#define SOC_MESSAGE_PAYLOAD_MAP(P)                                                                 \
    P(deadline, DEADLINE)                                                                          \
    P(messageType, TYPE)                                                                           \
    P(message_type, TYPE)                                                                          \
    P(priority, PRIORITY)                                                                          \
    P(task_id, TASK_ID)

/* What a value is. */
enum soc_field_kind {
    SOC_KIND_ANSWERED, /* the id of the message that is answered */
    SOC_KIND_FLAG,     /* true or false: a bit of the message's flags */
    SOC_KIND_ID,       /* the message's own id */
    SOC_KIND_KEY,      /* a text of the sender's own */
    SOC_KIND_MARK,     /* shown only if it is so: a bit of the message's flags */
    SOC_KIND_NAME,     /* a text that the router takes only if it is an id */
    SOC_KIND_NUMBER,   /* a count the host keeps */
    SOC_KIND_PAYLOAD,  /* any JSON but null */
    SOC_KIND_PRIORITY, /* a word, or P0 to P3 */
    SOC_KIND_RECEIVER, /* an agent's id, All, or a list of ids */
    SOC_KIND_ROW,      /* not of the envelope: how the message stands in the history */
    SOC_KIND_SECONDS,  /* a span in seconds, above 0 */
    SOC_KIND_SENDER,   /* who sends: the host knows, so what a sender says is ignored */
    SOC_KIND_SENT,     /* when it was sent */
    SOC_KIND_SPAN,     /* a span in ms that concerns the call; not stored */
    SOC_KIND_TIME,     /* a moment: RFC 3339, or ms since 1970 */
    SOC_KIND_TYPE,     /* the message's type, checked by the router */
};

/* Expands to its arguments for the kinds whose values are texts of a message. */
#define SOC_IF_TEXT_ANSWERED(...)
#define SOC_IF_TEXT_FLAG(...)
#define SOC_IF_TEXT_ID(...)
#define SOC_IF_TEXT_KEY(...) __VA_ARGS__
#define SOC_IF_TEXT_MARK(...)
#define SOC_IF_TEXT_NAME(...) __VA_ARGS__
#define SOC_IF_TEXT_NUMBER(...)
#define SOC_IF_TEXT_PAYLOAD(...)
#define SOC_IF_TEXT_PRIORITY(...)
#define SOC_IF_TEXT_RECEIVER(...)
#define SOC_IF_TEXT_ROW(...)
#define SOC_IF_TEXT_SECONDS(...)
#define SOC_IF_TEXT_SENDER(...)
#define SOC_IF_TEXT_SENT(...)
#define SOC_IF_TEXT_SPAN(...)
#define SOC_IF_TEXT_TIME(...)
#define SOC_IF_TEXT_TYPE(...)

/* Where a send comes from: bits of a context. */
enum soc_send_context {
    SOC_SEND_FROM_AGENT = 1,     /* send_message and request in Lua */
    SOC_SEND_FROM_BROADCAST = 2, /* broadcast in Lua */
    SOC_SEND_FROM_REPLY = 4,     /* the options of reply in Lua */
    SOC_SEND_FROM_SOCKET = 8,    /* the control socket */
    SOC_SEND_FROM_FILE = 16,     /* the file door */
    SOC_SEND_FROM_WAIT = 32,     /* besides: the sender waits for a reply */
};

/* Who may set a field, as the table names them. */
enum soc_send_source {
    SOC_BY_NOBODY = 0,
    SOC_BY_FILES = SOC_SEND_FROM_FILE,
    SOC_BY_WAITERS = SOC_SEND_FROM_WAIT,
    SOC_BY_DOORS = SOC_SEND_FROM_SOCKET | SOC_SEND_FROM_FILE,
    SOC_BY_SENDERS = SOC_BY_DOORS | SOC_SEND_FROM_AGENT,
    SOC_BY_EVERYBODY = SOC_BY_SENDERS | SOC_SEND_FROM_BROADCAST,
    SOC_BY_REPLIERS = SOC_BY_EVERYBODY | SOC_SEND_FROM_REPLY,
};

/* Where a field is shown. */
enum soc_shown {
    SOC_SHOWN_NOWHERE,
    SOC_SHOWN_ENVELOPE, /* in the message, to agents, doors and in the history */
    SOC_SHOWN_SCRIPTS,  /* in the message as scripts see it, if it is so */
    SOC_SHOWN_HISTORY,  /* in the history only */
};

/* Whether a field counts in the hash that replay compares (SPEC §13). */
enum soc_hashed {
    SOC_HASHED_NEVER,
    SOC_HASHED_ALWAYS,  /* in the hash since its first version, said or not */
    SOC_HASHED_IF_SAID, /* for every later field, so that older hashes still match */
};

/* The fields. */
enum soc_message_field {
#define F(tag, ...) SOC_MESSAGE_FIELD_##tag,
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
        SOC_MESSAGE_FIELD_COUNT,
};

/* One row of the table. */
struct soc_field_rule {
    const char *name;
    enum soc_field_kind kind;
    unsigned given_by; /* enum soc_send_context bits */
    enum soc_shown shown;
    enum soc_hashed hashed;
};

/* Lends the row of a field. */
const struct soc_field_rule *soc_message_fields_rule(enum soc_message_field field);

/* Finds the field that is called so in a context (enum soc_send_context bits), by its own name or
 * another; -1 if that is no field there. */
int soc_message_fields_find(struct soc_slice name, unsigned context);

/* Lends name number `index` that a field may be said by in that context, from 0; NULL
 * behind the last. */
const char *soc_message_fields_name(unsigned context, int index);

/* Finds the field that a member of a payload speaks of; -1 for none. */
int soc_message_fields_find_in_payload(struct soc_slice name);

/* Lends the names of those members; NULL ends them. */
const char *const *soc_message_fields_payload_names(void);

/* Lends the words for what a value of this kind must be: `'priority' must be …`. NULL for
 * kinds that nobody may say, and for those that take any value. */
const char *soc_field_kind_expects(enum soc_field_kind kind);

/* Lends the name of a kind. */
const char *soc_field_kind_name(enum soc_field_kind kind);

#endif

/* Message fields: the table of what a message holds and what a sender may set.
 *
 * Everything that reads or writes messages uses this table: the options of Lua calls,
 * requests at the control socket, lines of the file door, the hash that replay
 * compares, a message as JSON and as a Lua table, the columns and views of the
 * database, and the reference in docs/. A field's kind decides how its value is
 * checked, stored and shown.
 *
 * To add a field, add a row. A stored field also needs a place at the end of the
 * message record (store/record_fields.h) and a column in an upgrade
 * (store/tables/schema.c), because old databases must remain readable. The compiler
 * reports whatever is missing.
 * Layer: model. Thread: any. */
#ifndef SOC_MODEL_MESSAGE_FIELDS_H
#define SOC_MODEL_MESSAGE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* F(tag, wire name, kind, who may set it, where it is shown, part of replay's hash)
 * Sorted by name, which is the order of members in JSON. */
#define SOC_MESSAGE_FIELD_MAP(F)                                                                   \
    F(ACK, ack, ROW, NOBODY, HISTORY, NEVER)                                                       \
    F(ATTEMPT, attempt, NUMBER, NOBODY, ENVELOPE, NEVER)                                           \
    F(CORRELATION_ID, correlation_id, KEY, EVERYBODY, ENVELOPE, ALWAYS)                            \
    F(DEADLINE, deadline, TIME, SENDERS, ENVELOPE, ALWAYS)                                         \
    F(DEDUPE_KEY, dedupe_key, KEY, SENDERS, NOWHERE, ALWAYS)                                       \
    F(DELAY_MS, delay_ms, SPAN, WRITERS, NOWHERE, ALWAYS)                                          \
    F(DELIVER_AT, deliver_at, TIME, SENDERS, ENVELOPE, ALWAYS)                                     \
    F(EXTERNAL_ID, external_id, KEY, DOORS, ENVELOPE, ALWAYS)                                      \
    F(FINISHED_AT, finished_at, ROW, NOBODY, HISTORY, NEVER)                                       \
    F(FOREIGN_ID, foreign_id, KEY, NOBODY, NOWHERE, NEVER)                                         \
    F(FOREIGN_REPLY, foreign_reply, KEY, NOBODY, NOWHERE, NEVER)                                   \
    F(FROM, from, SENDER, SENDERS, ENVELOPE, NEVER)                                                \
    F(HOPS, hops, NUMBER, NOBODY, ENVELOPE, NEVER)                                                 \
    F(ID, id, ID, NOBODY, ENVELOPE, NEVER)                                                         \
    F(PAYLOAD, payload, PAYLOAD, EVERYBODY, ENVELOPE, ALWAYS)                                      \
    F(PRIORITY, priority, PRIORITY, REPLIERS, ENVELOPE, ALWAYS)                                    \
    F(REASON, reason, ROW, NOBODY, HISTORY, NEVER)                                                 \
    F(REPLY_TO, reply_to, ANSWERED, FILES, ENVELOPE, NEVER)                                        \
    F(REQUIRES_ACK, requires_ack, FLAG, EVERYBODY, ENVELOPE, ALWAYS)                               \
    F(STATUS, status, ROW, NOBODY, HISTORY, NEVER)                                                 \
    F(TASK_ID, task_id, NAME, EVERYBODY, ENVELOPE, ALWAYS)                                         \
    F(TIMEOUT_MS, timeout_ms, SPAN, WAITERS, NOWHERE, ALWAYS)                                      \
    F(TIMESTAMP, timestamp, SENT, NOBODY, ENVELOPE, NEVER)                                         \
    F(TO, to, RECEIVER, SENDERS, ENVELOPE, ALWAYS)                                                 \
    F(TRACEPARENT, traceparent, KEY, SENDERS, ENVELOPE, ALWAYS)                                    \
    F(TTL_SECONDS, ttl_seconds, SECONDS, REPLIERS, ENVELOPE, ALWAYS)                               \
    F(TYPE, type, TYPE, REPLIERS, ENVELOPE, ALWAYS)                                                \
    F(WAIT_ACK, wait_ack, ACK, ACKED, NOWHERE, IF_SAID)                                            \
    F(WANTS_REPLY, wants_reply, MARK, NOBODY, SCRIPTS, NEVER)

/* A(alias, field, who may use it) */
#define SOC_MESSAGE_ALIAS_MAP(A)                                                                   \
    A(content, PAYLOAD, EVERYBODY)                                                                 \
    A(taskId, TASK_ID, EVERYBODY)                                                                  \
    A(id, EXTERNAL_ID, FILES)

/* P(member of a payload, field): a payload may set these fields; the envelope takes
 * precedence. A Task Brief in a payload may have a member named like the field. The role in
 * a self_introduction is always the sender's own. */
#define SOC_MESSAGE_PAYLOAD_MAP(P)                                                                 \
    P(deadline, DEADLINE)                                                                          \
    P(messageType, TYPE)                                                                           \
    P(message_type, TYPE)                                                                          \
    P(priority, PRIORITY)                                                                          \
    P(self_introduction, FROM)                                                                     \
    P(taskBrief, PRIORITY)                                                                         \
    P(task_brief, PRIORITY)                                                                        \
    P(task_id, TASK_ID)

/* The kinds of values. */
enum soc_field_kind {
    SOC_KIND_ACK,      /* received or processed: for the call only; not stored */
    SOC_KIND_ANSWERED, /* the id of the message it answers */
    SOC_KIND_FLAG,     /* true or false; a bit of the message's flags */
    SOC_KIND_ID,       /* the message's own id */
    SOC_KIND_KEY,      /* text chosen by the sender */
    SOC_KIND_MARK,     /* shown only if set; a bit of the message's flags */
    SOC_KIND_NAME,     /* text that the router accepts only if it is an id */
    SOC_KIND_NUMBER,   /* a number kept by the host */
    SOC_KIND_PAYLOAD,  /* any JSON but null */
    SOC_KIND_PRIORITY, /* a word, or P0 to P3 */
    SOC_KIND_RECEIVER, /* an agent's id, All, or a list of ids */
    SOC_KIND_ROW,      /* not part of the envelope: the message's state in the history */
    SOC_KIND_SECONDS,  /* a duration in seconds, above 0 */
    SOC_KIND_SENDER,   /* the sender; the host knows it and ignores what is given */
    SOC_KIND_SENT,     /* when it was sent */
    SOC_KIND_SPAN,     /* a duration in ms for the call only; not stored */
    SOC_KIND_TIME,     /* a time: RFC 3339, or ms since 1970 */
    SOC_KIND_TYPE,     /* the message's type, checked by the router */
};

/* Expands to its arguments for the kinds that are stored as texts of a message. */
#define SOC_IF_TEXT_ACK(...)
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
    SOC_SEND_FROM_WAIT = 32,     /* in addition: the sender waits for a reply */
    SOC_SEND_FROM_ACKED = 64,    /* in addition: the sender may wait for an ack */
};

/* Who may set a field, as written in the table. */
enum soc_send_source {
    SOC_BY_NOBODY = 0,
    SOC_BY_FILES = SOC_SEND_FROM_FILE,
    SOC_BY_ACKED = SOC_SEND_FROM_ACKED,
    SOC_BY_WAITERS = SOC_SEND_FROM_WAIT | SOC_SEND_FROM_ACKED,
    SOC_BY_DOORS = SOC_SEND_FROM_SOCKET | SOC_SEND_FROM_FILE,
    SOC_BY_SENDERS = SOC_BY_DOORS | SOC_SEND_FROM_AGENT,
    SOC_BY_WRITERS = SOC_BY_SENDERS | SOC_SEND_FROM_REPLY,
    SOC_BY_EVERYBODY = SOC_BY_SENDERS | SOC_SEND_FROM_BROADCAST,
    SOC_BY_REPLIERS = SOC_BY_EVERYBODY | SOC_SEND_FROM_REPLY,
};

/* Where a field is shown. */
enum soc_shown {
    SOC_SHOWN_NOWHERE,
    SOC_SHOWN_ENVELOPE, /* in the message to agents and doors, and in the history */
    SOC_SHOWN_SCRIPTS,  /* in the message as scripts see it, if set */
    SOC_SHOWN_HISTORY,  /* in the history only */
};

/* Whether a field is part of the hash that replay compares (SPEC §13). */
enum soc_hashed {
    SOC_HASHED_NEVER,
    SOC_HASHED_ALWAYS,  /* hashed since the first version, set or not */
    SOC_HASHED_IF_SAID, /* for later fields, so that older hashes still match */
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

/* Finds the field with that name or alias in a context (enum soc_send_context bits); -1
 * if there is none. */
int soc_message_fields_find(struct soc_slice name, unsigned context);

/* Lends name number `index`, from 0, by which a field can be given in that context;
 * NULL after the last. */
const char *soc_message_fields_name(unsigned context, int index);

/* Finds the field that a member of a payload sets; -1 if there is none. */
int soc_message_fields_find_in_payload(struct soc_slice name);

/* Lends the names of those members, terminated by NULL. */
const char *const *soc_message_fields_payload_names(void);

/* Lends the text for «'priority' must be …». NULL for kinds that nobody may set and for
 * those that accept any value. */
const char *soc_field_kind_expects(enum soc_field_kind kind);

/* Lends the name of a kind. */
const char *soc_field_kind_name(enum soc_field_kind kind);

#endif

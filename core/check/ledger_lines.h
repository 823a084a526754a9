/* Ledger lines: the lines of a ledger, each about one thing, found by what it is about.
 *
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_LEDGER_LINES_H
#define SOC_CHECK_LEDGER_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/slice.h"
#include "store/record.h"

/* Kinds of lines, by the names they have in a report. An activation counts how many of its
 * agent have ended: what belongs to an earlier one is over. */
#define SOC_LEDGER_KINDS(K)                                                                        \
    K(ROLE, "role")                                                                                \
    K(META, "meta")                                                                                \
    K(AGENT, "agent")                                                                              \
    K(PARENT, "the parent of")                                                                     \
    K(ENDING, "the coming end of")                                                                 \
    K(ENDED, "the end of")                                                                         \
    K(STATE, "the state of")                                                                       \
    K(STANDING, "the hold of")                                                                     \
    K(CONTACT, "contact")                                                                          \
    K(MESSAGE, "message")                                                                          \
    K(ACK, "the ack of message")                                                                   \
    K(TAKE, "the take of message")                                                                 \
    K(ACTIVATION, "the activation of")                                                             \
    K(RUNS, "the activations of")                                                                  \
    K(EFFECT, "effect")                                                                            \
    K(OUTPUT, "output")                                                                            \
    K(MEMORY, "memory")                                                                            \
    K(USAGE, "usage")                                                                              \
    K(INTRODUCTION, "introduction")                                                                \
    K(ITEM, "item")                                                                                \
    K(DECISION, "the decision of item")                                                            \
    K(TASK, "task")                                                                                \
    K(READER, "the reader of broadcast")                                                           \
    K(BARRIER, "checkpoint")                                                                       \
    K(SEAT, "the seat at checkpoint")                                                              \
    K(SENT_KEY, "key")                                                                             \
    K(CALL_KEY, "the key of caller")                                                               \
    K(POSITION, "the position of")

/* The kinds. */
enum soc_ledger_kind {
#define K(tag, name) SOC_LEDGER_##tag,
    SOC_LEDGER_KINDS(K)
#undef K
};

/* What a line is about: numbers and texts that no other line of its kind shares. */
struct soc_ledger_topic {
    enum soc_ledger_kind kind;
    uint64_t number;
    struct soc_slice who;
    struct soc_slice name;
};

/* A line. */
struct soc_ledger_line {
    enum soc_ledger_kind kind;
    uint64_t number;
    uint64_t mark;         /* outcome, state, time or activation, as its kind needs it */
    bool is_over;          /* MESSAGE: a broadcast that all readers have finished */
    struct soc_slice who;  /* lent by `key` */
    struct soc_slice name; /* lent by `key` */
    struct soc_buf key;    /* of the map */
    struct soc_buf value;  /* a record, in its encoding */
};

/* Frees all lines and the map. */
void soc_ledger_lines_fini(struct soc_map *lines);

/* Find the line about a topic, an agent or a number; NULL: there is none. */
struct soc_ledger_line *soc_ledger_lines_find(const struct soc_map *lines,
                                              struct soc_ledger_topic topic);
struct soc_ledger_line *soc_ledger_lines_find_of(const struct soc_map *lines,
                                                 enum soc_ledger_kind kind, struct soc_slice who);
struct soc_ledger_line *soc_ledger_lines_find_number(const struct soc_map *lines,
                                                     enum soc_ledger_kind kind, uint64_t number);

/* Adds a line without a value, or returns the one that is there. */
struct soc_ledger_line *soc_ledger_lines_need(struct soc_map *lines, struct soc_ledger_topic topic);

/* Remove a line, if it is there. */
void soc_ledger_lines_drop(struct soc_map *lines, struct soc_ledger_topic topic);
void soc_ledger_lines_drop_of(struct soc_map *lines, enum soc_ledger_kind kind,
                              struct soc_slice who);

/* Stores the record as the value. An empty text is an absent one. */
void soc_ledger_lines_set(struct soc_ledger_line *line, const struct soc_record *record);

/* Adds a line or finds it, and stores its value. */
struct soc_ledger_line *soc_ledger_lines_put(struct soc_map *lines, struct soc_ledger_topic topic,
                                             const struct soc_record *record);

/* Reads the value of a line; its texts are lent by it. */
struct soc_record soc_ledger_lines_value(const struct soc_ledger_line *line);

/* Appends what a line is about, in words. */
void soc_ledger_lines_put_name(struct soc_buf *out, const struct soc_ledger_line *line);

#endif

/* Table: the parts of a society, in the order the kernel calls them.
 *
 * Adding a part takes a folder and a line here. Order matters where several parts
 * answer the same question (kernel/part.h): `group` claims broadcasts before any other
 * part sees them, and guards are asked before a first message introduces its sender.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_TABLE_H
#define SOC_PARTS_TABLE_H

#include "kernel/part.h"

/*  P(tag, name): soc_NAME_part is the part's struct. */
#define SOC_PART_TABLE(P)                                                                          \
    P(HOSTS, hosts)             /* mail to and from agents on other hosts */                       \
    P(OUTSIDE, outside)         /* agents that run elsewhere, and the doors to them */             \
    P(GROUP, group)             /* broadcasts and checkpoints */                                   \
    P(SUPERVISION, supervision) /* pause, failure, runaway protection */                           \
    P(CONTACTS, contacts)       /* who knows whom, introductions */                                \
    P(DUPLICATES, duplicates)   /* deduplication by the sender's keys */                           \
    P(QUERIES, queries)         /* which questions a response may answer */                        \
    P(TASKS, tasks)             /* tasks and load */                                               \
    P(EXPIRY, expiry)           /* tells senders about expired messages */                         \
    P(HUMAN, human)             /* the inbox, input without an address */                          \
    P(MODELS, models)           /* external calls, usage, conversations */                         \
    P(HISTORY, history)         /* what replay needs */                                            \
    P(POLICIES, policies)       /* which policies are in force */

/* Parts that observe only. A society has them if somebody listens; the others pay nothing. */
#define SOC_PART_OBSERVERS(P) P(TELEMETRY, telemetry) /* spans for OpenTelemetry */

/* The number of each part's state. */
enum soc_part_number {
#define P(tag, name) SOC_PART_##tag,
    SOC_PART_TABLE(P) SOC_PART_OBSERVERS(P) SOC_PART_COUNT
#undef P
};

#define P(tag, name) extern const struct soc_part soc_##name##_part; /* parts/NAME */
SOC_PART_TABLE(P)
SOC_PART_OBSERVERS(P)
#undef P

/* The whole table, terminated by NULL, for soc_host_options.parts. */
extern const struct soc_part *const soc_part_table[];

/* The same with the observers. */
extern const struct soc_part *const soc_part_table_observed[];

#endif

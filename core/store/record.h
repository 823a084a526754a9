/* Record: one change of a society, as it stands in a batch of the journal.
 *
 * A batch is the records of one loop tick in their total order. The same records
 * rebuild the host at a start (host/recover) and fill the tables behind the
 * journal (store/fold), so what a change means is written down once.
 *
 * A record on disk is: type (1 byte), length of the rest (varint), a bit mask of
 * the fields that are present (varint), then the fields in the order below,
 * numbers as varints, texts as length and bytes. A zero number and an absent
 * text take no room. New fields are added at the end of their record only.
 * Layer: store. Thread: any; a record lends its texts. */
#ifndef SOC_STORE_RECORD_H
#define SOC_STORE_RECORD_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/record_fields.h"
#include "store/values.h"

/*  R(tag, struct name, value): every record there is. Values are for ever.
 *  role            a role created inside a turn; without a creator: one of the script
 *  agent           a birth; makes parent and child contacts, unless it is_adopted
 *  agent_end       a death; its row stays, its contacts are forgotten
 *  state           agent.state as JSON, whole
 *  contact         one entry, whole: it replaces an older one of the same id
 *  contact_end     an entry is gone (also the implied one of parent or child)
 *  message         a message enters
 *  message_end     it leaves, with an outcome; dead ones stay listed as dead letters
 *  message_again   a dead letter is pending again, or a retry raised `attempt`
 *  take            `receive` took it: it belongs to the agent's activation
 *  activation      an activation of `agent` waits or retries; key 0: `main`
 *  effect          what the activation did; no answer: it waits as `wait` says
 *  answer          the wait of effect `index` is over
 *  activation_end  it is finished; its effects are forgotten
 *  output          a line for the world outside, to be shown when durable
 *  output_end      every output with this key or a lower one has been shown
 *  event           a line of the activity log that no other record implies
 *  memory          an entry of an agent's conversation
 *  usage           what an agent has asked of a model for a task, all of it so far
 *  meta            a named value of the society: app, main, counters
 *  introduction    a request to be introduced is open, as it stands now
 *  introduction_end  it is answered, or nobody waits for it any more
 *  agent_ending    nobody may write to it any more; it dies when its mailbox is empty
 *  agent_parent    an agent gets another parent: from now on it is_adopted
 *  item, item_end  an agent puts something before the person, who decides about it
 *  task            a task as it stands now, opened by message `key`; ended ones stay
 *  broadcast_end   one reader is done with a message to all (pending: it is none);
 *                  without an agent: nobody is left
 *  barrier, seat, barrier_end  a checkpoint waits; one asked by it, as it stands; over
 *  sent_key        a key that a sender knows a message by is remembered
 *  sent_keys_end   those remembered up to then are forgotten
 *  standing        why an agent is not let run, and which guards it has met
 *  receipt         a pending message was handed out again, or its receiver acked it
 *  position        where a door stands, under a name of its own
 *  source          the text of a script or a policy, by its hash
 *  history         what happened, for replay: parts/history/history.h says what there is
 *  history_end     what is older is forgotten */
#define SOC_RECORD_MAP(R)                                                                          \
    R(ROLE, role, 1)                                                                               \
    R(AGENT, agent, 2)                                                                             \
    R(AGENT_END, agent_end, 3)                                                                     \
    R(STATE, state, 4)                                                                             \
    R(CONTACT, contact, 5)                                                                         \
    R(CONTACT_END, contact_end, 6)                                                                 \
    R(MESSAGE, message, 7)                                                                         \
    R(MESSAGE_END, message_end, 8)                                                                 \
    R(MESSAGE_AGAIN, message_again, 9)                                                             \
    R(TAKE, take, 10)                                                                              \
    R(ACTIVATION, activation, 11)                                                                  \
    R(EFFECT, effect, 12)                                                                          \
    R(ANSWER, answer, 13)                                                                          \
    R(ACTIVATION_END, activation_end, 14)                                                          \
    R(OUTPUT, output, 15)                                                                          \
    R(OUTPUT_END, output_end, 16)                                                                  \
    R(EVENT, event, 17)                                                                            \
    R(META, meta, 18)                                                                              \
    R(MEMORY, memory, 60)                                                                          \
    R(USAGE, usage, 61)                                                                            \
    R(INTRODUCTION, introduction, 19)                                                              \
    R(INTRODUCTION_END, introduction_end, 20)                                                      \
    R(AGENT_ENDING, agent_ending, 21)                                                              \
    R(AGENT_PARENT, agent_parent, 22)                                                              \
    R(ITEM, item, 24)                                                                              \
    R(ITEM_END, item_end, 25)                                                                      \
    R(TASK, task, 28)                                                                              \
    R(BROADCAST_END, broadcast_end, 32)                                                            \
    R(BARRIER, barrier, 33)                                                                        \
    R(SEAT, seat, 34)                                                                              \
    R(BARRIER_END, barrier_end, 35)                                                                \
    R(STANDING, standing, 40)                                                                      \
    R(SENT_KEY, sent_key, 44)                                                                      \
    R(SENT_KEYS_END, sent_keys_end, 45)                                                            \
    R(RECEIPT, receipt, 46)                                                                        \
    R(POSITION, position, 47)                                                                      \
    R(SOURCE, source, 56)                                                                          \
    R(HISTORY, history, 57)                                                                        \
    R(HISTORY_END, history_end, 58)

/* What a record tells; the numbers are on disk. */
enum soc_record_type {
#define R(tag, name, value) SOC_RECORD_##tag = (value),
    SOC_RECORD_MAP(R)
#undef R
};

#define SOC_FIELD_NUMBER(field) uint64_t field;
#define SOC_FIELD_TEXT(field)   struct soc_slice field;
#define R(tag, name, value)                                                                        \
    struct soc_record_##name {                                                                     \
        SOC_##tag##_FIELDS(SOC_FIELD_NUMBER, SOC_FIELD_TEXT)                                       \
    };
SOC_RECORD_MAP(R)
#undef R

/* Any record. */
struct soc_record {
    enum soc_record_type type;
    union {
#define R(tag, name, value) struct soc_record_##name name;
        SOC_RECORD_MAP(R)
#undef R
    };
};

/* Appends `record` to a batch. */
void soc_record_put(struct soc_buf *batch, const struct soc_record *record);

/* Reads the record at the front of `*rest` and moves `*rest` behind it. Returns
 * 1 for a record, 0 at the end, SOC_ECORRUPT for bytes that are none. A record
 * of a type unknown here is SOC_ECORRUPT too: the schema version guards that. */
int soc_record_next(struct soc_slice *rest, struct soc_record *record);

#endif

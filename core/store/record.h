/* Record: one change of a society, as it is written to a batch of the journal.
 *
 * A batch is the records of one loop tick in their total order. The same records
 * rebuild the host at a start (kernel/recover) and fill the tables behind the
 * journal (tables/fold), so the meaning of a change is defined once.
 *
 * On disk a record is its type (1 byte), the length of the rest (varint), a bit mask
 * of the fields that are present (varint), then the fields in the order below:
 * numbers as varints, texts as length and bytes. A zero number and an absent text
 * take no space. New fields are added at the end of their record only.
 * Layer: store. Thread: any; a record lends its texts. */
#ifndef SOC_STORE_RECORD_H
#define SOC_STORE_RECORD_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "store/record_fields.h"
#include "store/values.h"

/* R(tag, struct name, value): every record type. Values never change.
 *  role            a role created in a turn, or (without a creator) by the script
 *  agent           a birth; parent and child become contacts, unless it is_adopted
 *  agent_end       a death; its row stays, its contacts are removed
 *  state           agent.state, complete, as JSON
 *  contact         one entry, complete; it replaces an older one with the same id
 *  contact_end     an entry is removed, possibly the implied one of parent or child
 *  message         a message is accepted
 *  message_end     it ends, with an outcome; dead ones stay listed as dead letters
 *  message_again   a dead letter is pending again, or a retry raised `attempt`
 *  take            `receive` took it: it belongs to the agent's activation
 *  activation      an activation of `agent` waits or retries; key 0: `main`
 *  effect          what the activation did; without an answer it waits as `wait` says
 *  answer          the wait of effect `index` is over
 *  activation_end  it has finished; its effects are dropped
 *  output          a line for the outside world, to be shown when durable
 *  output_end      every output up to this key has been shown
 *  event           a line of the activity log that no other record implies
 *  memory          an entry of an agent's conversation
 *  usage           what an agent has used of a model for a task, in total
 *  meta            a named value of the society: app, main, counters
 *  introduction    the current state of an open introduction request
 *  introduction_end  it was answered, or nobody waits for it any more
 *  agent_ending    it accepts no more mail and ends when its mailbox is empty
 *  agent_parent    an agent gets another parent: from now on it is_adopted
 *  item, item_end  an agent asks the person for a decision; the decision
 *  task            the current state of a task, opened by message `key`
 *  broadcast_end   one reader has finished a broadcast (pending: it is not a reader);
 *                  without an agent: all readers have
 *  barrier, seat, barrier_end  an open checkpoint; one participant's state; its end
 *  sent_key        a deduplication key of a sender is remembered
 *  sent_keys_end   older ones are forgotten
 *  standing        why an agent is held, and which guards it has met
 *  receipt         a pending message was delivered again, or its receiver acked it
 *  position        the position of a door, by name
 *  call_key        an order was carried out under a caller's idempotency key
 *  call_keys_end   keys up to that number are forgotten
 *  source          the text of a script or a policy, by its hash
 *  history         what happened, for replay (parts/history/history.h)
 *  history_end     older history is forgotten
 *  link            the state of this end of the link to a host
 *  link_items      items for that host are numbered; a link forgets those that are acked */
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
    R(CALL_KEY, call_key, 48)                                                                      \
    R(CALL_KEYS_END, call_keys_end, 49)                                                            \
    R(SOURCE, source, 56)                                                                          \
    R(HISTORY, history, 57)                                                                        \
    R(HISTORY_END, history_end, 58)                                                                \
    R(LINK, link, 64)                                                                              \
    R(LINK_ITEMS, link_items, 65)

/* The type of a record. The numbers are on disk. */
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
    uint64_t row; /* of an agent: the number of the row it was loaded from; 0: of no row */
    union {
#define R(tag, name, value) struct soc_record_##name name;
        SOC_RECORD_MAP(R)
#undef R
    };
};

/* Appends `record` to a batch. */
void soc_record_put(struct soc_buf *batch, const struct soc_record *record);

/* Reads the record at the front of `*rest` and moves `*rest` past it. Returns 1 for a
 * record, 0 at the end, SOC_ECORRUPT for anything else, unknown types included: the
 * schema version guards against those. */
int soc_record_next(struct soc_slice *rest, struct soc_record *record);

/* The same without reading the fields: `*bytes` is the whole record, which
 * soc_record_next reads. */
int soc_record_skip(struct soc_slice *rest, enum soc_record_type *type, struct soc_slice *bytes);

/* Returns the number in the first field of a record that soc_record_skip has passed, whose
 * first field is a number: the key of most. */
uint64_t soc_record_key(struct soc_slice bytes);

#endif

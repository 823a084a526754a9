/* Record fields: what each record of the journal holds, in order.
 *
 * New fields are added at the end of their record only.
 * Layer: store. Thread: any. */
#ifndef SOC_STORE_RECORD_FIELDS_H
#define SOC_STORE_RECORD_FIELDS_H

/* The fields of each record: N(name) is a number >= 0, T(name) a text. Times are ms since
 * 1970 UTC. `key` is the number of a message: unique and rising; its printed id derives
 * from time_ms and key (env/ids.h). reply_to and reply_to_ms are the key and time of the
 * message that is answered; cause is the key of the one in whose turn it was sent. */
#define SOC_ROLE_FIELDS(N, T)                                                                      \
    N(time_ms) T(id) T(name) T(prompt) T(behaviour) T(interface_spec) T(creator) N(is_isolated)
#define SOC_AGENT_BIRTH(N, T) N(time_ms) T(id) T(role) T(parent) T(brief)
#define SOC_AGENT_FIELDS(N, T)                                                                     \
    SOC_AGENT_BIRTH(N, T) N(is_adopted) N(since) N(is_external) N(is_isolated)
#define SOC_AGENT_END_FIELDS(N, T)   N(time_ms) T(id) T(reason) T(parent)
#define SOC_STATE_FIELDS(N, T)       T(agent) T(state)
#define SOC_CONTACT_WHO(N, T)        N(time_ms) N(source) T(owner) T(id) T(role) T(interface_spec)
#define SOC_CONTACT_WHENCE(T)        T(introduced_by) T(via) T(reason) T(usage_hint)
#define SOC_CONTACT_FIELDS(N, T)     SOC_CONTACT_WHO(N, T) SOC_CONTACT_WHENCE(T) N(has_written)
#define SOC_CONTACT_END_FIELDS(N, T) T(owner) T(id) N(time_ms)
#define SOC_MESSAGE_HEAD(N)          N(key) N(time_ms) N(priority) N(flags) N(attempt) N(hops)
#define SOC_MESSAGE_TIMES(N)         N(reply_to) N(expires_ms) N(deliver_at_ms) N(deadline_ms)
#define SOC_MESSAGE_BODY(T)          T(from) T(to) T(type) T(payload) T(task_id) T(correlation_id)
#define SOC_MESSAGE_TAIL(T)          T(external_id) T(dedupe_key) T(traceparent)
#define SOC_MESSAGE_LATER(N)         N(reply_to_ms) N(cause)
/* Of a message from another host: its id there. The id of the message it answers, if that
 * came from there. */
#define SOC_MESSAGE_FOREIGN(T) T(foreign_id) T(foreign_reply)
#define SOC_MESSAGE_FIELDS(N, T)                                                                   \
    SOC_MESSAGE_HEAD(N)                                                                            \
    SOC_MESSAGE_TIMES(N)                                                                           \
    SOC_MESSAGE_BODY(T) SOC_MESSAGE_TAIL(T) SOC_MESSAGE_LATER(N) SOC_MESSAGE_FOREIGN(T)
#define SOC_MESSAGE_END_FIELDS(N, T)    N(key) N(time_ms) N(outcome) T(reason)
#define SOC_MESSAGE_AGAIN_FIELDS(N, T)  N(key) N(time_ms) N(attempt) N(deliver_at_ms)
#define SOC_TAKE_FIELDS(N, T)           N(key) T(agent)
#define SOC_ACTIVATION_FIELDS(N, T)     N(key) N(time_ms) N(retries) T(agent)
#define SOC_EFFECT_HEAD(N, T)           N(index) N(hash) T(agent) T(kind) T(answer) T(wait)
#define SOC_EFFECT_FIELDS(N, T)         SOC_EFFECT_HEAD(N, T) T(arguments)
#define SOC_ANSWER_FIELDS(N, T)         N(index) T(agent) T(answer)
#define SOC_ACTIVATION_END_FIELDS(N, T) T(agent)
#define SOC_OUTPUT_FIELDS(N, T)         N(key) N(time_ms) T(agent) T(stream) T(text)
#define SOC_OUTPUT_END_FIELDS(N, T)     N(key)

#define SOC_EVENT_HEAD(N, T)     N(time_ms) T(event) T(agent) T(task_id) T(correlation_id) T(detail)
#define SOC_EVENT_FIELDS(N, T)   SOC_EVENT_HEAD(N, T) N(key)
#define SOC_META_FIELDS(N, T)    T(name) T(value)
#define SOC_MEMORY_FIELDS(N, T)  N(number) N(time_ms) T(agent) T(entry)
#define SOC_USAGE_NUMBERS(N)     N(calls) N(input_tokens) N(output_tokens) N(cost_micros)
#define SOC_USAGE_FIELDS(N, T)   SOC_USAGE_NUMBERS(N) T(agent) T(task_id) T(model) N(time_ms)
#define SOC_INTRODUCTION_HEAD(N) N(key) N(time_ms) N(for_key) N(flags) N(consent) N(question)
#define SOC_INTRODUCTION_WHO(T)  T(requester) T(broker) T(correlation_id) T(reason) T(asked)
#define SOC_INTRODUCTION_FIELDS(N, T)                                                              \
    SOC_INTRODUCTION_HEAD(N) N(deadline_ms) SOC_INTRODUCTION_WHO(T) T(found) T(usage_hint) T(via)
#define SOC_INTRODUCTION_END_FIELDS(N, T) N(key)
#define SOC_ITEM_HEAD(N)                  N(key) N(time_ms) N(priority) N(deadline_ms)
#define SOC_ITEM_BODY(T)                  T(agent) T(title) T(body) T(options) T(task_id)
#define SOC_ITEM_FIELDS(N, T)             SOC_ITEM_HEAD(N) SOC_ITEM_BODY(T) T(correlation_id)
#define SOC_ITEM_END_HEAD(N)              N(key) N(time_ms) N(decision)
#define SOC_ITEM_END_FIELDS(N, T)         SOC_ITEM_END_HEAD(N) T(changes) T(comment) T(choice)
#define SOC_AGENT_ENDING_FIELDS(N, T)     N(time_ms) T(id) T(reason)
#define SOC_AGENT_PARENT_FIELDS(N, T)     N(time_ms) T(id) T(parent)

#define SOC_TASK_NUMBERS(N) N(key) N(state) N(style) N(priority) N(alerts) N(tries) N(parent)
#define SOC_TASK_TIMES(N)   N(opened_ms) N(started_ms) N(ended_ms) N(deadline_ms) N(limit_ms)
#define SOC_TASK_FIELDS(N, T)                                                                      \
    SOC_TASK_NUMBERS(N) SOC_TASK_TIMES(N) T(id) T(assigner) T(owner) T(correlation_id) T(reason)

/* A broadcast is stored as one message: `key` is its own, `agent` one reader. */
#define SOC_BROADCAST_END_FIELDS(N, T) N(key) N(time_ms) N(outcome) T(agent)
#define SOC_BARRIER_FIELDS(N, T)       N(key) N(time_ms) N(deadline_ms) T(owner)
#define SOC_SEAT_FIELDS(N, T)          N(key) N(question) N(asked_ms) N(state) T(agent) T(payload)
#define SOC_BARRIER_END_FIELDS(N, T)   N(key)

/* `text` is the complete key (model/delivery/dedupe.h). Keys of queries end on their own. */
#define SOC_SENT_KEY_FIELDS(N, T)      N(since_ms) N(key) N(sent_ms) T(text)
#define SOC_SENT_KEYS_END_FIELDS(N, T) N(until_ms) N(is_of_queries)
/* No batch has `births`: folding counts the births themselves. */
#define SOC_STANDING_FIELDS(N, T) N(time_ms) N(hold) N(guards) N(births) T(id)
#define SOC_RECEIPT_FIELDS(N, T)  N(key) N(time_ms) N(attempt) N(ack)
#define SOC_POSITION_FIELDS(N, T) T(name) T(value)

/* `text` is the caller's name and the key, `body` a hash of what was asked, `answer` JSON. */
#define SOC_CALL_KEY_FIELDS(N, T)      N(number) N(time_ms) N(body) T(text) T(answer)
#define SOC_CALL_KEYS_END_FIELDS(N, T) N(number)

/* `checksum` is the hash of the detail. */
#define SOC_SOURCE_FIELDS(N, T)      T(hash) T(text)
#define SOC_HISTORY_FIELDS(N, T)     N(time_ms) N(key) N(checksum) T(what) T(agent) T(detail)
#define SOC_HISTORY_END_FIELDS(N, T) N(time_ms)

/* One end of the link to a host (bridge/links/link.h); the ids are in hex. */
#define SOC_LINK_NUMBERS(N)   N(last) N(acked) N(taken) N(peer_epoch) N(epoch)
#define SOC_LINK_FIELDS(N, T) SOC_LINK_NUMBERS(N) T(peer) T(own_id) T(peer_id)
/* `count` messages from number `first` on; `keys` are theirs, with commas. */
#define SOC_LINK_ITEMS_FIELDS(N, T) N(first) N(count) T(peer) T(keys)

#endif

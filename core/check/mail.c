/* Mail: messages from acceptance to end, their order and number. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "check/check.h"
#include "check/readers.h"

#define TOTALS_EVERY 16
#define COUNTER      (((uint64_t)1 << 40) - 1) /* of a key, without the number of the host */
#define NUMBERS      11                        /* in a cursor */

static struct soc_check_message *find(const struct soc_check *check, uint64_t key)
{
    key &= COUNTER;
    return key < check->messages_count ? check->messages[key] : NULL;
}

static struct soc_check_message *add(struct soc_check *check, uint64_t key)
{
    key &= COUNTER;
    if (key >= check->messages_count) {
        size_t count = check->messages_count == 0 ? 1024 : check->messages_count;
        while (count <= key)
            count *= 2;
        check->messages = soc_realloc(check->messages, count * sizeof(*check->messages));
        memset(check->messages + check->messages_count, 0,
               (count - check->messages_count) * sizeof(*check->messages));
        check->messages_count = count;
    }
    return check->messages[key] = soc_books_room(check, sizeof(struct soc_check_message));
}

/* Everybody may write to the orchestrator. */
static bool is_report(const struct soc_check *check, const struct soc_check_message *message)
{
    struct soc_slice head =
        check->orchestrator.data == NULL ? SOC_SLICE("root") : check->orchestrator;
    return soc_slice_equal(message->to->id, head);
}

/* Strangers do not write, unless they answer or the host sends on their behalf. */
static void check_leave(struct soc_check *check, const struct soc_record_message *record,
                        const struct soc_check_message *message)
{
    const uint64_t free_flags =
        SOC_MESSAGE_IS_REPLY | SOC_MESSAGE_IS_FORMAL | SOC_MESSAGE_IS_INTAKE;
    if (!check->is_strict || (record->flags & free_flags) != 0 || record->reply_to != 0 ||
        message->from == message->to || message->from->number == 1 || /* the user */
        is_report(check, message) ||
        soc_books_has_pair(check, SOC_PAIR_KNOWS, message->from, message->to->number))
        return;
    soc_books_fail(check, "%.*s wrote to %.*s, which it does not know", (int)record->from.length,
                   record->from.data, (int)record->to.length, record->to.data);
}

/* A once-only text of a payload. */
static void check_once(struct soc_check *check, const struct soc_record_message *record,
                       const struct soc_check_message *message)
{
    static const char mark[] = "\"once\":";
    if (record->payload.length < sizeof(mark) || record->payload.data[0] != '{' ||
        memmem(record->payload.data, record->payload.length, mark, sizeof(mark) - 1) == NULL)
        return;
    struct soc_slice once = soc_json_plain_string(soc_json_member(record->payload, "once"));
    if (once.length > 0 && !soc_books_note_once(check, message->from, once))
        soc_books_fail(check, "%.*s sent twice what it must send once: %.*s",
                       (int)record->from.length, record->from.data, (int)once.length, once.data);
}

/* Mail that the host itself handles has no place in the order. */
static bool goes_to_mailbox(const struct soc_record_message *record)
{
    static const char *const own[] = {"introduction_request", "introduction_response", "abort",
                                      "checkpoint_response"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (soc_slice_equal(record->type, soc_slice_text(own[i])))
            return false;
    bool is_cancel = soc_slice_equal(record->type, SOC_SLICE("task")) &&
                     memmem(record->payload.data, record->payload.length, "cancel", 6) != NULL;
    return (record->flags & (SOC_MESSAGE_IS_REPLY | SOC_MESSAGE_IS_INTAKE)) == 0 &&
           record->deliver_at_ms == 0 && !is_cancel;
}

static void queue(struct soc_check_message *message)
{
    struct soc_check_agent *to = message->to;
    assert(to != NULL && !message->is_queued);
    message->is_queued = true;
    if (to->last[message->priority] == NULL)
        to->first[message->priority] = message;
    else
        to->last[message->priority]->next = message;
    to->last[message->priority] = message;
}

bool soc_check_is_reader(const struct soc_check_agent *agent,
                         const struct soc_check_message *message)
{
    return agent != message->from && agent->born < message->place &&
           (agent->ended == 0 || agent->ended > message->place);
}

static uint64_t count_readers(const struct soc_check *check,
                              const struct soc_check_message *broadcast)
{
    size_t cursor = 0;
    uint64_t count = 0;
    const struct soc_check_agent *agent;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL)
        count += soc_check_is_reader(agent, broadcast);
    return count;
}

/* Returns the first reader that has not finished it, NULL if all have. At the end, agents
 * that keep their other mail may keep it. */
static const struct soc_check_agent *
find_waiting(const struct soc_check *check, const struct soc_check_message *broadcast, bool is_end)
{
    size_t cursor = 0;
    const struct soc_check_agent *agent;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL)
        if (soc_check_is_reader(agent, broadcast) &&
            !soc_books_has_pair(check, SOC_PAIR_READ, agent, broadcast->key) &&
            !(is_end && (agent->is_active || agent->is_held || agent->is_outside)))
            return agent;
    return NULL;
}

static void note_request(struct soc_check_message *message)
{
    message->asks = message->is_asking = true;
    message->counts = false;
}

/* The host answers introduction requests, unless it leaves that to the agent that was
 * asked: then the request is recorded as not held. A request by the host is recorded so
 * from the start. */
static void read_introduction(struct soc_check *check, const struct soc_record_introduction *record)
{
    struct soc_check_message *message = find(check, record->key);
    if (message == NULL)
        return;
    bool is_first = record->for_key != 0 && !message->is_from_host;
    message->is_from_host = record->for_key != 0;
    if (!is_first && message->asks)
        message->counts = (record->flags & SOC_INTRODUCTION_IS_HELD) == 0;
}

/* Whoever answers an introduction request lets the other agent meet one agent. */
static void note_meeting(struct soc_check *check, const struct soc_record_message *record,
                         const struct soc_check_message *response)
{
    struct soc_check_message *request = find(check, record->reply_to);
    struct soc_slice target = {0};
    bool is_answer = request != NULL && request->is_asking && request->from == response->to &&
                     request->to == response->from;
    if (is_answer)
        request->is_asking = false;
    if (!is_answer && (record->reply_to != 0 || check->is_asked))
        return;
    if (record->payload.length > 0 && record->payload.data[0] == '{')
        target = soc_json_member(record->payload, "target_agent");
    if (target.length == 0 || target.data[0] != '{')
        return;
    const struct soc_check_agent *peer =
        soc_books_find(check, soc_json_plain_string(soc_json_member(target, "id")));
    if (peer != NULL)
        soc_books_note_pair(check, SOC_PAIR_MEETS, response->to, peer->number);
}

static void read_message(struct soc_check *check, const struct soc_record_message *record)
{
    bool is_broadcast = (record->flags & SOC_MESSAGE_IS_BROADCAST) != 0;
    bool is_letter = check->letters > 0;
    if (record->key <= check->last_key)
        soc_books_fail(check, "message %llu came after message %llu",
                       (unsigned long long)record->key, (unsigned long long)check->last_key);
    check->last_key = record->key > check->last_key ? record->key : check->last_key;
    if (!is_letter && (int64_t)record->time_ms < check->last_sent_ms)
        soc_books_fail(check, "the id of message %llu is below that of the message before it",
                       (unsigned long long)record->key);
    if (!is_letter) /* which has the time of its broadcast */
        check->last_sent_ms = (int64_t)record->time_ms;
    struct soc_check_message *message = add(check, record->key);
    message->key = record->key;
    message->place = check->place;
    message->from = soc_books_find(check, record->from);
    message->to = is_broadcast ? NULL : soc_books_find(check, record->to);
    message->priority = record->priority < SOC_CHECK_CLASSES ? (uint8_t)record->priority : 0;
    message->is_letter = is_letter;
    message->is_reply = (record->flags & SOC_MESSAGE_IS_REPLY) != 0;
    message->requires_ack = (record->flags & SOC_MESSAGE_REQUIRES_ACK) != 0;
    message->attempt = record->attempt;
    soc_check_times_note(check, message, record);
    check->letters -= is_letter;
    if (!is_letter)
        soc_check_promises_keyed(check, record);
    if (is_broadcast) {
        check->readers += count_readers(check, message);
        return;
    }
    if (message->to == NULL) {
        soc_books_fail(check, "message %llu goes to %.*s, which was never born",
                       (unsigned long long)record->key, (int)record->to.length, record->to.data);
        return;
    }
    if (is_letter)
        return;
    if (record->foreign_id.data == NULL)
        check->sent++;
    else
        check->taken++;
    struct soc_check_message *question = find(check, record->reply_to);
    message->reply_to = record->reply_to;
    if (question != NULL)
        question->answers++;
    /* The host handles an answer to its own question. */
    bool is_for_host = question != NULL && question->is_from_host;
    message->counts = (record->flags & SOC_MESSAGE_IS_REPLY) == 0 && !is_for_host;
    message->is_result = soc_slice_equal(record->type, SOC_SLICE("result")) ||
                         soc_slice_equal(record->type, SOC_SLICE("task_complete"));
    if (goes_to_mailbox(record) && !is_for_host)
        queue(message);
    if (message->from == NULL)
        return;
    if (question != NULL && message->is_reply && question->to == message->from)
        question->is_replied = message->from->is_outside;
    check_leave(check, record, message);
    check_once(check, record, message);
    soc_check_doors_sent(check, record, message);
    if ((record->flags & SOC_MESSAGE_IS_FORMAL) == 0)
        soc_books_note_pair(check, SOC_PAIR_WROTE, message->from, message->to->number);
    if (soc_slice_equal(record->type, SOC_SLICE("introduction_request")))
        note_request(message);
    else if (soc_slice_equal(record->type, SOC_SLICE("introduction_response")))
        note_meeting(check, record, message);
}

static struct soc_check_message *head(struct soc_check_agent *agent, int priority)
{
    struct soc_check_message **first = &agent->first[priority];
    while (*first != NULL && ((*first)->outcome != SOC_OUTCOME_PENDING || !(*first)->is_queued))
        *first = (*first)->next;
    if (*first == NULL)
        agent->last[priority] = NULL;
    return *first;
}

/* A queued message was handled: checks that it was next. */
static void check_order(struct soc_check *check, struct soc_check_message *message)
{
    struct soc_check_agent *to = message->to;
    const struct soc_check_message *other = head(to, message->priority);
    for (; other != NULL && other != message; other = other->next)
        if (other->is_queued && other->outcome == SOC_OUTCOME_PENDING && !other->is_taken &&
            other->from == message->from)
            soc_books_fail(check,
                           "%.*s handled message %llu before message %llu of the same sender",
                           (int)to->id.length, to->id.data, (unsigned long long)message->key,
                           (unsigned long long)other->key);
    for (int priority = 0; priority < message->priority; priority++) {
        other = head(to, priority);
        if (other != NULL && !other->is_taken && other->place < to->place)
            soc_books_fail(check,
                           "%.*s handled message %llu before message %llu, which is more urgent",
                           (int)to->id.length, to->id.data, (unsigned long long)message->key,
                           (unsigned long long)other->key);
    }
    to->place = check->place;
}

/* Tells whether it is the result that has just ended a wait for its task. That one
 * bypasses the mailbox. */
static bool is_awaited(const struct soc_check_message *message)
{
    struct soc_check_agent *to = message->to;
    if (!message->is_result || message->is_taken || !to->has_task_end ||
        to->active_key == message->key)
        return false;
    to->has_task_end = false;
    return true;
}

/* Replies and mail for the host are handled by no script. */
static void count_handled(struct soc_check *check, struct soc_check_message *message)
{
    assert(message->to != NULL && message->outcome == SOC_OUTCOME_PENDING);
    if (is_awaited(message))
        return;
    if (message->is_queued && !message->is_taken && !message->to->is_outside)
        check_order(check, message);
    if (!message->counts)
        return;
    message->to->handled++;
    soc_books_touch(check, message->to);
}

static void check_all_read(struct soc_check *check, const struct soc_check_message *broadcast,
                           bool is_end)
{
    const struct soc_check_agent *agent = find_waiting(check, broadcast, is_end);
    if (agent != NULL)
        soc_books_fail(check,
                       is_end ? "at the end broadcast %llu has not reached %.*s"
                              : "broadcast %llu is over, but has not reached %.*s",
                       (unsigned long long)broadcast->key, (int)agent->id.length, agent->id.data);
}

/* Only the agent that was asked answers, and once. */
static void check_reply(struct soc_check *check, const struct soc_check_message *reply)
{
    struct soc_check_message *question = find(check, reply->reply_to);
    if (question == NULL || question->to == NULL || reply->from == NULL)
        return;
    if (reply->from != question->to || reply->to != question->from)
        soc_books_fail(check, "%.*s answered message %llu, which went to %.*s",
                       (int)reply->from->id.length, reply->from->id.data,
                       (unsigned long long)question->key, (int)question->to->id.length,
                       question->to->id.data);
    if (question->is_answered)
        soc_books_fail(check, "message %llu was answered twice", (unsigned long long)question->key);
    question->is_answered = true;
}

/* A message ends: its time must fit. What the host handles itself may have come long
 * before. */
static void check_time(struct soc_check *check, const struct soc_check_message *message,
                       const struct soc_record_message_end *record)
{
    struct soc_check_agent *to = message->to;
    bool is_begun = to->active_key == message->key; /* checked then */
    if (record->outcome == SOC_OUTCOME_EXPIRED)
        soc_check_times_expire(check, message, (int64_t)record->time_ms);
    if (record->outcome == SOC_OUTCOME_PROCESSED && !message->is_taken && !is_begun &&
        (message->counts || message->is_reply) && !to->is_outside)
        soc_check_times_start(check, message->is_reply ? NULL : to, message,
                              (int64_t)record->time_ms);
    if (record->outcome == SOC_OUTCOME_PROCESSED && message->is_reply)
        check_reply(check, message);
    if (message->counts && !message->is_taken &&
        (record->outcome == SOC_OUTCOME_PROCESSED || record->outcome == SOC_OUTCOME_DEAD))
        to->raised_ms = 0;
}

/* The person may drop a dead letter. */
static bool is_thrown_away(const struct soc_check_message *message,
                           const struct soc_record_message_end *record)
{
    return message != NULL && record->outcome == SOC_OUTCOME_DROPPED &&
           (message->outcome == SOC_OUTCOME_DEAD || message->outcome == SOC_OUTCOME_EXPIRED);
}

/* Appends the arguments of an effect from its error. */
static void put_arguments(struct soc_buf *out, struct soc_slice reason, const char *name,
                          const char *before)
{
    struct soc_slice json = soc_json_member(reason, name);
    if (json.data == NULL)
        return;
    soc_buf_put_text(out, before);
    if (!soc_json_string(json, out)) /* text if it was truncated */
        soc_buf_put_slice(out, json);
}

/* A handler did not repeat itself: reports who, with which message, and the difference. */
static void fail_unlike(struct soc_check *check, struct soc_slice reason)
{
    struct soc_buf text = {0};
    struct soc_slice agent = soc_json_plain_string(soc_json_member(reason, "agent"));
    struct soc_slice id = soc_json_plain_string(soc_json_member(reason, "message_id"));
    soc_buf_printf(&text,
                   "%.*s, message %.*s: its handler did not repeat itself: ", (int)agent.length,
                   agent.data, (int)id.length, id.data);
    soc_json_string(soc_json_member(reason, "message"), &text);
    put_arguments(&text, reason, "recorded_arguments", "; recorded: ");
    put_arguments(&text, reason, "arguments", "; now: ");
    soc_books_fail(check, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
}

static void read_end(struct soc_check *check, const struct soc_record_message_end *record)
{
    struct soc_check_message *message = find(check, record->key);
    if (is_thrown_away(message, record)) {
        check->outcomes[message->outcome]--;
        check->outcomes[SOC_OUTCOME_DROPPED]++;
        message->outcome = SOC_OUTCOME_DROPPED;
        return;
    }
    if (message == NULL || message->outcome != SOC_OUTCOME_PENDING) {
        soc_books_fail(check, "message %llu ended %s", (unsigned long long)record->key,
                       message == NULL ? "but was never sent" : "twice");
        return;
    }
    if (record->outcome == 0 || record->outcome >= SOC_OUTCOME_COUNT) {
        soc_books_fail(check, "message %llu ended with an unknown outcome",
                       (unsigned long long)record->key);
        return;
    }
    if (record->outcome == SOC_OUTCOME_DEAD && record->reason.length > 0 &&
        memmem(record->reason.data, record->reason.length, "\"nondeterministic\"", 18) != NULL)
        fail_unlike(check, record->reason);
    if (message->to != NULL)
        check_time(check, message, record);
    soc_check_doors_ended(check, message, record->outcome);
    struct soc_check_message *question = find(check, message->reply_to);
    if (question != NULL && question->answers > 0)
        question->answers--;
    if (message->to == NULL)
        check_all_read(check, message, false);
    else if (record->outcome == SOC_OUTCOME_PROCESSED)
        count_handled(check, message);
    message->outcome = (uint8_t)record->outcome;
    if (message->to != NULL && !message->is_letter)
        check->outcomes[record->outcome]++;
    message->is_letter = false;
}

/* Pending again, outside any queue. */
static void read_again(struct soc_check *check, const struct soc_record_message_again *record)
{
    struct soc_check_message *message = find(check, record->key);
    if (message == NULL || message->outcome == SOC_OUTCOME_PENDING) {
        soc_books_fail(check, "message %llu was sent again although it has not ended",
                       (unsigned long long)record->key);
        return;
    }
    check->outcomes[message->outcome]--;
    message->outcome = SOC_OUTCOME_PENDING;
    message->is_queued = false;
    message->is_taken = message->is_acked = false;
    message->is_asking = message->asks;
    message->is_answered = message->is_done = message->is_replied = false;
    message->was_handed = message->is_given_up = false;
    message->passed_by = 0;
    message->attempt = record->attempt;
    message->from_ms = (int64_t)record->deliver_at_ms;
    message->is_dated = message->is_dated_end = false;
    message->until_ms = 0; /* what is sent again must be handled */
    struct soc_check_message *question = find(check, message->reply_to);
    if (question != NULL)
        question->answers++;
}

/* Notes that `receive` took a copy of a broadcast; false if that is known. */
static bool note_copy_taken(struct soc_check *check, const struct soc_check_agent *agent,
                            uint64_t key)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "\ntaken %llu", (unsigned long long)key);
    return soc_books_note_once(check, agent, soc_slice(text, (size_t)length));
}

static void read_take(struct soc_check *check, const struct soc_record_take *record)
{
    struct soc_check_message *message = find(check, record->key);
    if (message == NULL || message->outcome != SOC_OUTCOME_PENDING) {
        soc_books_fail(check, "%.*s received message %llu, which is not pending",
                       (int)record->agent.length, record->agent.data,
                       (unsigned long long)record->key);
        return;
    }
    const struct soc_check_agent *agent = soc_books_find(check, record->agent);
    if (message->to == NULL) {
        soc_check_times_take(check, message);
        if (agent != NULL)
            note_copy_taken(check, agent, record->key);
        return;
    }
    if (message->is_taken || !soc_slice_equal(message->to->id, record->agent))
        soc_books_fail(check, "%.*s received message %llu, which is no longer for it",
                       (int)record->agent.length, record->agent.data,
                       (unsigned long long)record->key);
    message->is_taken = true;
    soc_check_times_take(check, message);
}

/* Tells whether the message waits for the agent, which is not handling it already. */
static bool is_waiting_for(const struct soc_check *check, const struct soc_check_message *message,
                           const struct soc_check_agent *agent)
{
    if (message == NULL || message->outcome != SOC_OUTCOME_PENDING || message->is_taken ||
        (agent->is_active && agent->active_key == message->key))
        return false;
    return message->to == NULL ? soc_check_is_reader(agent, message) &&
                                     !soc_books_has_pair(check, SOC_PAIR_READ, agent, message->key)
                               : message->to == agent;
}

/* Tells whether the mailbox of the agent was full when the broadcast came. New mail is
 * counted first, because old mail seldom fills a mailbox. */
static bool is_full(const struct soc_check *check, const struct soc_check_agent *agent,
                    uint64_t key)
{
    uint64_t count = 0;
    assert(key > 0);
    while (count < check->mailbox_max && key-- > 1)
        count += is_waiting_for(check, find(check, key), agent);
    return check->mailbox_max > 0 && count >= check->mailbox_max;
}

/* A broadcast skips agents that are ending and, unless it is the host's own, those
 * without space for it. */
static void leave_out(struct soc_check *check, const struct soc_check_agent *agent, uint64_t key)
{
    const struct soc_check_message *broadcast = find(check, key);
    check->readers--;
    if (agent->is_ending ||
        (broadcast != NULL && broadcast->from != NULL && is_full(check, agent, key)))
        return;
    soc_books_fail(check, "broadcast %llu skipped %.*s, which was not ending and had space",
                   (unsigned long long)key, (int)agent->id.length, agent->id.data);
}

static void read_broadcast_end(struct soc_check *check,
                               const struct soc_record_broadcast_end *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->agent);
    const struct soc_check_message *message = find(check, record->key);
    if (agent == NULL) /* all have finished it */
        return;
    if (message == NULL || message->to != NULL || !soc_check_is_reader(agent, message))
        soc_books_fail(check, "%.*s finished broadcast %llu, which was not for it",
                       (int)agent->id.length, agent->id.data, (unsigned long long)record->key);
    if (!soc_books_note_pair(check, SOC_PAIR_READ, agent, record->key))
        soc_books_fail(check, "%.*s finished broadcast %llu twice", (int)agent->id.length,
                       agent->id.data, (unsigned long long)record->key);
    if (record->outcome == SOC_OUTCOME_PENDING) {
        leave_out(check, agent, record->key);
        return;
    }
    if (record->outcome >= SOC_OUTCOME_COUNT)
        return;
    check->outcomes[record->outcome]++;
    if (record->outcome == SOC_OUTCOME_DEAD || record->outcome == SOC_OUTCOME_EXPIRED)
        check->letters++;
    if (message != NULL && record->outcome == SOC_OUTCOME_EXPIRED)
        soc_check_times_expire(check, message, (int64_t)record->time_ms);
    if (record->outcome != SOC_OUTCOME_PROCESSED)
        return;
    bool is_begun = agent->active_key == record->key;
    if (message != NULL && note_copy_taken(check, agent, record->key) && !is_begun &&
        !agent->is_outside)
        soc_check_times_start(check, agent, message, (int64_t)record->time_ms);
    agent->raised_ms = 0;
    agent->handled++;
    soc_books_touch(check, agent);
}

static void read_receipt(struct soc_check *check, const struct soc_record_receipt *record)
{
    struct soc_check_message *message = find(check, record->key);
    if (message == NULL)
        return;
    soc_check_doors_receipt(check, message, record);
    if (record->ack != 0)
        message->is_acked = true;
}

bool soc_check_mail(struct soc_check *check, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        read_message(check, &record->message);
        return true;
    case SOC_RECORD_MESSAGE_END:
        read_end(check, &record->message_end);
        return true;
    case SOC_RECORD_MESSAGE_AGAIN:
        read_again(check, &record->message_again);
        return true;
    case SOC_RECORD_INTRODUCTION:
        read_introduction(check, &record->introduction);
        return true;
    case SOC_RECORD_TAKE:
        read_take(check, &record->take);
        return true;
    case SOC_RECORD_RECEIPT:
        read_receipt(check, &record->receipt);
        return true;
    case SOC_RECORD_BROADCAST_END:
        read_broadcast_end(check, &record->broadcast_end);
        return true;
    default:
        return false;
    }
}

void soc_check_totals(struct soc_check *check, struct soc_slice cursor, bool is_last)
{
    int64_t numbers[NUMBERS] = {0};
    struct soc_json_walk walk;
    bool is_short = !is_last && ++check->totals_skipped < TOTALS_EVERY;
    soc_json_walk(&walk, cursor);
    for (int i = 0; i < (is_short ? 2 : NUMBERS) && soc_json_next(&walk); i++)
        soc_json_integer(walk.value, &numbers[i]);
    if ((uint64_t)numbers[0] <= check->last_key)
        soc_books_fail(check, "the next message would reuse the key of an older one");
    if (numbers[1] < check->now_ms)
        soc_books_fail(check, "time went back from %lld to %lld", (long long)check->now_ms,
                       (long long)numbers[1]);
    if (check->timeout_ms > numbers[1])
        soc_books_fail(check, "a wait timed out %lld ms early",
                       (long long)(check->timeout_ms - numbers[1]));
    if (check->taken_ms > numbers[1])
        soc_books_fail(check, "a message was taken %lld ms before its time",
                       (long long)(check->taken_ms - numbers[1]));
    check->now_ms = numbers[1];
    check->timeout_ms = check->taken_ms = 0;
    if (is_short)
        return;
    check->totals_skipped = 0;
    uint64_t sent = check->sent + check->readers;
    if ((uint64_t)numbers[3] != sent)
        soc_books_fail(check, "%llu messages were sent, but %lld are counted",
                       (unsigned long long)sent, (long long)numbers[3]);
    if ((uint64_t)numbers[10] != check->taken)
        soc_books_fail(check, "%llu messages were taken from other hosts, but %lld are counted",
                       (unsigned long long)check->taken, (long long)numbers[10]);
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++)
        if ((uint64_t)numbers[3 + i] != check->outcomes[i])
            soc_books_fail(check, "%llu messages ended with outcome %d, but %lld are counted",
                           (unsigned long long)check->outcomes[i], i, (long long)numbers[3 + i]);
}

void soc_check_mail_end(struct soc_check *check)
{
    uint64_t ended = 0;
    if (check->has_strange_role)
        return;
    for (size_t i = 0; i < check->messages_count; i++) {
        const struct soc_check_message *message = check->messages[i];
        if (message == NULL || message->outcome != SOC_OUTCOME_PENDING)
            continue;
        if (message->to == NULL)
            check_all_read(check, message, true);
        else if (message->is_replied)
            soc_books_fail(check, "at the end message %llu is pending, but %.*s has answered it",
                           (unsigned long long)message->key, (int)message->to->id.length,
                           message->to->id.data);
        else if (!message->to->is_active && !message->to->is_held && !message->to->is_outside)
            soc_books_fail(check, "at the end message %llu for %.*s is still pending",
                           (unsigned long long)message->key, (int)message->to->id.length,
                           message->to->id.data);
    }
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++)
        ended += check->outcomes[i];
    if (ended > check->sent + check->taken + check->readers)
        soc_books_fail(check, "more messages ended than were sent");
}

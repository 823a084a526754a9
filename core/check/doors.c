/* Doors: what outside agents are handed, what they ack and what they send.
 *
 * What they do is reported as it happens; records come later, when they are durable. So the
 * time of an act is compared with the time in a record, never with the order of the two. */
#include <assert.h>

#include "base/json.h"
#include "base/limits.h"
#include "check/check.h"
#include "check/readers.h"

static struct soc_check_message *find(const struct soc_check *check, uint64_t key)
{
    return key < check->messages_count ? check->messages[key] : NULL;
}

void soc_check_watched(struct soc_check *check)
{
    check->is_watched = true;
}

void soc_check_silence(struct soc_check *check, int64_t silence_ms)
{
    assert(silence_ms >= 0);
    check->silence_ms = silence_ms;
    check->has_silence = true;
}

/* Urgent mail leaves first: everything that is durable is there to be handed out. But a message
 * may have ended in a batch that is not durable yet, so only when it is handed out after all was
 * it passed by. */
static void check_urgency(struct soc_check *check, const struct soc_check_agent *agent,
                          const struct soc_check_message *message, int64_t now_ms)
{
    if (message->passed_by != 0)
        soc_books_fail(check,
                       "%.*s was handed message %llu before message %llu, which is more urgent",
                       (int)agent->id.length, agent->id.data,
                       (unsigned long long)message->passed_by, (unsigned long long)message->key);
    for (int priority = 0; priority < message->priority; priority++)
        for (struct soc_check_message *other = agent->first[priority]; other != NULL;
             other = other->next)
            if (other->outcome == SOC_OUTCOME_PENDING && other->is_queued && !other->was_handed &&
                (other->until_ms == 0 || other->until_ms > now_ms))
                other->passed_by = message->key;
}

static void note_handed(struct soc_check *check, struct soc_check_agent *agent,
                        struct soc_check_message *message, struct soc_slice message_id,
                        int64_t now_ms)
{
    soc_check_times_start(check, NULL, message, now_ms);
    if (!message->was_handed && message->to != NULL)
        check_urgency(check, agent, message, now_ms);
    if (message->to == NULL) /* one broadcast is handed to many */
        return;
    message->was_handed = true;
    if (message->id.length > 0)
        return;
    message->id = soc_books_copy(check, message_id);
    message->next_letter = agent->letters;
    agent->letters = message;
}

void soc_check_outside(struct soc_check *check, struct soc_slice id, uint64_t key,
                       struct soc_slice message_id, int64_t now_ms)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    struct soc_check_message *message = find(check, key);
    const char *why = NULL;
    if (agent == NULL || message == NULL)
        why = agent == NULL ? "before its birth was durable" : "before that was durable";
    else if (message->to == NULL ? !soc_check_is_reader(agent, message) : message->to != agent)
        why = "which is not for it";
    else if (message->outcome != SOC_OUTCOME_PENDING)
        why = "which has ended";
    else if (message->is_acked)
        why = "which it has acked";
    else if (message->is_replied)
        why = "which it has answered";
    if (why != NULL)
        soc_books_fail(check, "%.*s was handed message %llu%s %s", (int)id.length, id.data,
                       (unsigned long long)key, why[0] == 'w' ? "," : "", why);
    else
        note_handed(check, agent, message, message_id, now_ms);
    if (agent != NULL)
        agent->is_outside = true;
}

/* It has shown that it lives. */
static void hear(struct soc_check_agent *agent, int64_t now_ms)
{
    if (now_ms == agent->heard_ms)
        return;
    agent->heard_before_ms = agent->heard_ms;
    agent->heard_ms = now_ms;
}

void soc_check_acked(struct soc_check *check, struct soc_slice id, uint64_t key, bool is_done,
                     int64_t now_ms)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    struct soc_check_message *message = find(check, key);
    if (agent == NULL)
        return;
    hear(agent, now_ms);
    agent->acked_ms = now_ms;
    agent->is_owing = false;
    if (message != NULL && message->to == agent && is_done)
        message->is_done = true;
}

void soc_check_said(struct soc_check *check, struct soc_slice id, struct soc_slice external_id,
                    struct soc_slice to, int64_t now_ms)
{
    struct soc_check_agent *agent = soc_books_find(check, id);
    struct soc_check_agent *receiver = soc_books_find(check, to);
    if (agent == NULL)
        return;
    hear(agent, now_ms);
    if (external_id.length == 0 || receiver == NULL)
        return;
    check->scratch.length = 0;
    soc_buf_printf(&check->scratch, "%u/%.*s", agent->number, (int)external_id.length,
                   external_id.data);
    struct soc_slice key = soc_buf_slice(&check->scratch);
    if (soc_map_find(&check->said, key) == NULL)
        soc_map_put(&check->said, soc_books_copy(check, key), receiver);
}

void soc_check_doors_sent(struct soc_check *check, const struct soc_record_message *record,
                          const struct soc_check_message *message)
{
    const struct soc_check_agent *from = message->from;
    if (from == NULL || !from->is_outside || record->external_id.length == 0)
        return;
    check->scratch.length = 0;
    soc_buf_printf(&check->scratch, "%u/%.*s", from->number, (int)record->external_id.length,
                   record->external_id.data);
    const struct soc_check_agent *meant =
        soc_map_find(&check->said, soc_buf_slice(&check->scratch));
    if (meant != NULL && meant != message->to)
        soc_books_fail(check, "%.*s wrote to %.*s, not to %.*s as it wanted", (int)from->id.length,
                       from->id.data, (int)message->to->id.length, message->to->id.data,
                       (int)meant->id.length, meant->id.data);
}

void soc_check_doors_ended(struct soc_check *check, struct soc_check_message *message,
                           uint64_t outcome)
{
    struct soc_check_agent *to = message->to;
    if (to == NULL || !to->is_outside)
        return;
    if (message->is_given_up)
        to->is_owing = false;
    if (check->is_watched && outcome == SOC_OUTCOME_PROCESSED && message->requires_ack &&
        !message->is_done && !message->is_replied && message->was_handed)
        soc_books_fail(check, "message %llu has ended, but %.*s has not processed it",
                       (unsigned long long)message->key, (int)to->id.length, to->id.data);
}

void soc_check_doors_receipt(struct soc_check *check, struct soc_check_message *message,
                             const struct soc_record_receipt *record)
{
    const struct soc_check_agent *to = message->to;
    bool is_resent = record->attempt > message->attempt;
    message->attempt = record->attempt;
    if (to == NULL || !to->is_outside || !is_resent)
        return;
    if (message->is_given_up)
        soc_books_fail(check, "message %llu was sent to %.*s again after it was given up",
                       (unsigned long long)message->key, (int)to->id.length, to->id.data);
    else if (to->is_owing)
        soc_books_fail(check, "message %llu was sent to %.*s again, which owes an ack",
                       (unsigned long long)message->key, (int)to->id.length, to->id.data);
}

/* Silence is an alarm only if it is longer than the limit. Acts after the event, even in the
 * same millisecond, are known before its record is; two of them hide when it was heard
 * before. */
static void check_silence(struct soc_check *check, const struct soc_check_agent *agent,
                          int64_t time_ms)
{
    int64_t limit_ms = check->has_silence ? check->silence_ms : SOC_HEARTBEAT_MS;
    int64_t heard_ms = agent->heard_ms < time_ms ? agent->heard_ms : agent->heard_before_ms;
    if (heard_ms < time_ms && time_ms - heard_ms <= limit_ms)
        soc_books_fail(check, "%.*s is unresponsive after a silence of %lld ms",
                       (int)agent->id.length, agent->id.data, (long long)(time_ms - heard_ms));
}

/* Returns the first letter that it was handed and that has not ended, after taking out
 * those that have. */
static struct soc_check_message *first_letter(struct soc_check_agent *agent)
{
    struct soc_check_message **at = &agent->letters;
    while (*at != NULL) {
        if ((*at)->outcome == SOC_OUTCOME_PENDING) {
            at = &(*at)->next_letter;
        } else {
            (*at)->id = (struct soc_slice){0};
            *at = (*at)->next_letter;
        }
    }
    return agent->letters;
}

/* A letter is given up, and its receiver owes an ack until it acks or somebody decides. */
static void give_up(struct soc_check_agent *agent, struct soc_slice message_id, int64_t time_ms)
{
    agent->is_owing = time_ms > agent->acked_ms;
    for (struct soc_check_message *letter = first_letter(agent); letter != NULL;
         letter = letter->next_letter)
        if (soc_slice_equal(letter->id, message_id))
            letter->is_given_up = letter->outcome == SOC_OUTCOME_PENDING && agent->is_owing;
}

/* Everything is tried again. */
static void redeem(struct soc_check_agent *agent)
{
    agent->is_owing = false;
    for (struct soc_check_message *letter = first_letter(agent); letter != NULL;
         letter = letter->next_letter)
        letter->is_given_up = false;
}

void soc_check_doors_event(struct soc_check *check, const struct soc_record_event *record)
{
    struct soc_check_agent *agent = soc_books_find(check, record->agent);
    bool is_lost = soc_slice_equal(record->event, SOC_SLICE("unresponsive"));
    if (agent == NULL || !check->is_watched || record->detail.length == 0 ||
        record->detail.data[0] != '{')
        return;
    if (soc_slice_equal(record->event, SOC_SLICE("resolved")))
        redeem(agent);
    if (!is_lost)
        return;
    struct soc_slice id = soc_json_plain_string(soc_json_member(record->detail, "message_id"));
    if (id.length > 0)
        give_up(agent, id, (int64_t)record->time_ms);
    else
        check_silence(check, agent, (int64_t)record->time_ms);
}

/* Time goes on from the last durable batch, so an agent may have been heard later than that. Its
 * silence counts anew from the restart, which is not before that batch. */
static void forget_heard(const struct soc_check *check, struct soc_check_agent *agent)
{
    if (agent->heard_ms > check->now_ms)
        agent->heard_ms = check->now_ms;
    if (agent->heard_before_ms > check->now_ms)
        agent->heard_before_ms = check->now_ms;
}

/* The end of a message that was passed by may be lost, and it is handed out again. */
static void forget_passed(struct soc_check_agent *agent)
{
    for (int priority = 0; priority < SOC_CHECK_CLASSES; priority++)
        for (struct soc_check_message *message = agent->first[priority]; message != NULL;
             message = message->next)
            message->passed_by = 0;
}

void soc_check_doors_restart(struct soc_check *check)
{
    size_t cursor = 0;
    struct soc_check_agent *agent;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL) {
        if (agent->is_outside)
            redeem(agent);
        forget_heard(check, agent);
        forget_passed(agent);
    }
}

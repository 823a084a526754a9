#include "store/line.h"

#include <assert.h>

#include "base/json.h"

/* Tells whether the end of a reader's copy has a line of its own. A copy for somebody who
 * is not a reader has none, and one that was given up is a message by itself. */
static bool has_reader_line(const struct soc_record_broadcast_end *end)
{
    return end->agent.data != NULL && end->outcome != SOC_OUTCOME_PENDING &&
           end->outcome != SOC_OUTCOME_DEAD && end->outcome != SOC_OUTCOME_EXPIRED;
}

bool soc_line_is_made(const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
    case SOC_RECORD_MESSAGE_END:
    case SOC_RECORD_MESSAGE_AGAIN:
    case SOC_RECORD_EVENT:
    case SOC_RECORD_AGENT:
    case SOC_RECORD_AGENT_END:
    case SOC_RECORD_CONTACT:
        return true;
    case SOC_RECORD_CONTACT_END:
        return record->contact_end.time_ms != 0;
    case SOC_RECORD_USAGE:
        return record->usage.time_ms != 0;
    case SOC_RECORD_ROLE: /* one declared by the script leaves no line */
        return record->role.creator.data != NULL;
    case SOC_RECORD_BROADCAST_END:
        return has_reader_line(&record->broadcast_end);
    default:
        return false;
    }
}

int64_t soc_line_time(const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        return (int64_t)record->message.time_ms;
    case SOC_RECORD_MESSAGE_END:
        return (int64_t)record->message_end.time_ms;
    case SOC_RECORD_MESSAGE_AGAIN:
        return (int64_t)record->message_again.time_ms;
    case SOC_RECORD_EVENT:
        return (int64_t)record->event.time_ms;
    case SOC_RECORD_AGENT:
        return (int64_t)record->agent.time_ms;
    case SOC_RECORD_AGENT_END:
        return (int64_t)record->agent_end.time_ms;
    case SOC_RECORD_CONTACT:
        return (int64_t)record->contact.time_ms;
    case SOC_RECORD_CONTACT_END:
        return (int64_t)record->contact_end.time_ms;
    case SOC_RECORD_USAGE:
        return (int64_t)record->usage.time_ms;
    case SOC_RECORD_ROLE:
        return (int64_t)record->role.time_ms;
    case SOC_RECORD_BROADCAST_END:
        return (int64_t)record->broadcast_end.time_ms;
    default:
        assert(false); /* it makes no line */
        return 0;
    }
}

const char *soc_line_outcome(uint64_t outcome)
{
    static const char *const names[] = {"pending", "processed", "expired",    "dead",
                                        "dropped", "cancelled", "handed_over"};
    return outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "cancelled";
}

static const char *source_name(uint64_t source)
{
    static const char *const names[] = {"system",       "parent",        "child", "preset",
                                        "introduction", "first_message", "manual"};
    return source < sizeof(names) / sizeof(names[0]) ? names[source] : "manual";
}

static void read_sent(const struct soc_record_message *message, struct soc_line *line,
                      struct soc_buf *scratch)
{
    line->event = "sent";
    line->key = message->key;
    line->agent = message->from;
    line->other = message->to;
    soc_buf_put_text(scratch, "to ");
    soc_buf_put_slice(scratch, message->to);
    line->detail = soc_buf_slice(scratch);
    soc_line_complete(line, message);
}

static void read_contact(const struct soc_record_contact *contact, struct soc_line *line,
                         struct soc_buf *scratch)
{
    line->event = "contact_added";
    line->agent = contact->owner;
    line->other = contact->id;
    soc_buf_put_slice(scratch, contact->id);
    soc_buf_printf(scratch, " (%s)", source_name(contact->source));
    line->detail = soc_buf_slice(scratch);
}

/* The totals so far, as `usage` shows them. */
static void read_usage(const struct soc_record_usage *usage, struct soc_line *line,
                       struct soc_buf *scratch)
{
    line->event = "usage_changed";
    line->agent = usage->agent;
    line->task_id = usage->task_id;
    soc_buf_put_byte(scratch, '{');
    soc_json_put_name(scratch, "calls");
    soc_json_put_integer(scratch, (int64_t)usage->calls);
    soc_json_put_name(scratch, "cost");
    soc_json_put_number(scratch, (double)usage->cost_micros / 1e6);
    soc_json_put_name(scratch, "input_tokens");
    soc_json_put_integer(scratch, (int64_t)usage->input_tokens);
    soc_json_put_text_member(scratch, "model", usage->model);
    soc_json_put_name(scratch, "output_tokens");
    soc_json_put_integer(scratch, (int64_t)usage->output_tokens);
    soc_buf_put_byte(scratch, '}');
    line->detail = soc_buf_slice(scratch);
}

static void read_event(const struct soc_record_event *event, struct soc_line *line)
{
    line->name = event->event;
    line->agent = event->agent;
    line->task_id = event->task_id;
    line->correlation_id = event->correlation_id;
    line->detail = event->detail;
    line->key = event->key;
}

static void read_again(const struct soc_record_message_again *again, struct soc_line *line,
                       struct soc_buf *scratch)
{
    line->event = "sent_again";
    line->key = again->key;
    soc_buf_printf(scratch, "attempt %llu", (unsigned long long)again->attempt);
    line->detail = soc_buf_slice(scratch);
}

void soc_line_read(const struct soc_record *record, struct soc_line *line, struct soc_buf *scratch)
{
    scratch->length = 0;
    *line = (struct soc_line){.time_ms = soc_line_time(record)};
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        return read_sent(&record->message, line, scratch);
    case SOC_RECORD_MESSAGE_END:
        line->event = soc_line_outcome(record->message_end.outcome);
        line->key = record->message_end.key;
        line->detail = record->message_end.reason;
        return;
    case SOC_RECORD_MESSAGE_AGAIN:
        return read_again(&record->message_again, line, scratch);
    case SOC_RECORD_EVENT:
        return read_event(&record->event, line);
    case SOC_RECORD_AGENT:
        line->event = "spawned";
        line->agent = record->agent.id;
        line->other = record->agent.parent;
        line->detail = record->agent.role;
        return;
    case SOC_RECORD_AGENT_END:
        line->event = "stopped";
        line->agent = record->agent_end.id;
        line->other = record->agent_end.parent;
        line->detail = record->agent_end.reason;
        return;
    case SOC_RECORD_CONTACT:
        return read_contact(&record->contact, line, scratch);
    case SOC_RECORD_CONTACT_END:
        line->event = "contact_removed";
        line->agent = record->contact_end.owner;
        line->other = line->detail = record->contact_end.id;
        return;
    case SOC_RECORD_USAGE:
        return read_usage(&record->usage, line, scratch);
    case SOC_RECORD_ROLE:
        line->event = "role_created";
        line->agent = record->role.creator;
        line->detail = record->role.id;
        return;
    case SOC_RECORD_BROADCAST_END:
        line->event = soc_line_outcome(record->broadcast_end.outcome);
        line->key = record->broadcast_end.key;
        line->agent = record->broadcast_end.agent;
        return;
    default:
        assert(false); /* soc_line_time has said so */
    }
}

void soc_line_complete(struct soc_line *line, const struct soc_record_message *message)
{
    assert(line->key == message->key);
    line->sent_ms = (int64_t)message->time_ms;
    line->foreign_id = message->foreign_id;
    line->type = message->type;
    if (line->agent.data == NULL)
        line->agent = message->to;
    if (line->other.data == NULL)
        line->other = message->from;
    if (line->task_id.data == NULL)
        line->task_id = message->task_id;
    if (line->correlation_id.data == NULL)
        line->correlation_id = message->correlation_id;
}

bool soc_line_is_hidden(const struct soc_record_message *message)
{
    return (message->flags & SOC_MESSAGE_IS_LETTER) != 0;
}

uint64_t soc_line_count(struct soc_slice batch, uint64_t *key)
{
    uint64_t count = 0;
    enum soc_record_type type;
    struct soc_slice bytes;
    while (soc_record_skip(&batch, &type, &bytes) > 0) {
        struct soc_record record;
        switch (type) {
        case SOC_RECORD_MESSAGE: {
            uint64_t own = soc_record_key(bytes);
            *key = own > *key ? own : *key;
            count++;
            break;
        }
        case SOC_RECORD_MESSAGE_END:
        case SOC_RECORD_MESSAGE_AGAIN:
        case SOC_RECORD_EVENT:
        case SOC_RECORD_AGENT:
        case SOC_RECORD_AGENT_END:
        case SOC_RECORD_CONTACT:
            count++;
            break;
        case SOC_RECORD_CONTACT_END:
        case SOC_RECORD_USAGE:
        case SOC_RECORD_ROLE:
        case SOC_RECORD_BROADCAST_END:
            count += soc_record_next(&bytes, &record) > 0 && soc_line_is_made(&record);
            break;
        default:
            break;
        }
    }
    return count;
}

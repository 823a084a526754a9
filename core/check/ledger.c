#include "check/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check/ledger_lines.h"
#include "store/fields.h"

#define TASK_ENDED    2     /* the first state of a task that is over */
#define QUERY_LETTERS "aqx" /* that begin the keys of queries */

struct soc_ledger {
    struct soc_store *store; /* lent; NULL: none */
    struct soc_map lines;    /* key -> line */
    uint64_t shown;          /* every output up to this key */
    uint64_t forgotten[2];   /* until when keys of messages and of queries are forgotten */
    uint64_t call_keys;      /* keys of callers up to this number are forgotten */
    struct soc_buf scratch;
};

struct soc_ledger *soc_ledger_new(struct soc_store *store)
{
    struct soc_ledger *ledger = soc_alloc_zero(sizeof(*ledger));
    ledger->store = store;
    return ledger;
}

void soc_ledger_free(struct soc_ledger *ledger)
{
    if (ledger == NULL)
        return;
    soc_ledger_lines_fini(&ledger->lines);
    soc_buf_fini(&ledger->scratch);
    free(ledger);
}

/* Replaces the value by a changed copy of itself, which lends its texts. */
static void replace(struct soc_ledger *ledger, struct soc_ledger_line *line,
                    const struct soc_record *record)
{
    struct soc_buf old = line->value;
    line->value = ledger->scratch;
    soc_ledger_lines_set(line, record);
    ledger->scratch = old;
}

static bool is_alive(const struct soc_ledger *ledger, struct soc_slice id)
{
    return soc_ledger_lines_find_of(&ledger->lines, SOC_LEDGER_AGENT, id) != NULL;
}

static void put_parent(struct soc_ledger *ledger, struct soc_slice id, struct soc_slice parent,
                       uint64_t is_adopted)
{
    struct soc_record record = {.type = SOC_RECORD_AGENT};
    record.agent.id = id;
    record.agent.parent = parent;
    record.agent.is_adopted = is_adopted;
    soc_ledger_lines_put(&ledger->lines,
                         (struct soc_ledger_topic){.kind = SOC_LEDGER_PARENT, .who = id}, &record);
}

static void read_agent(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_record plain = *record;
    plain.agent.parent = (struct soc_slice){0};
    plain.agent.is_adopted = 0;
    soc_ledger_lines_put(
        &ledger->lines,
        (struct soc_ledger_topic){.kind = SOC_LEDGER_AGENT, .who = record->agent.id}, &plain);
    put_parent(ledger, record->agent.id, record->agent.parent, record->agent.is_adopted);
}

static void end_agent(struct soc_ledger *ledger, const struct soc_record *record)
{
    static const enum soc_ledger_kind gone[] = {SOC_LEDGER_AGENT, SOC_LEDGER_PARENT,
                                                SOC_LEDGER_ENDING, SOC_LEDGER_STATE,
                                                SOC_LEDGER_STANDING};
    struct soc_slice id = record->agent_end.id;
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        soc_ledger_lines_drop_of(&ledger->lines, gone[i], id);
    struct soc_record plain = *record;
    plain.agent_end.parent = (struct soc_slice){0}; /* for the log only */
    soc_ledger_lines_put(&ledger->lines,
                         (struct soc_ledger_topic){.kind = SOC_LEDGER_ENDED, .who = id}, &plain);
}

static bool read_person(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_topic contact = {.kind = SOC_LEDGER_CONTACT};
    struct soc_record plain = *record;
    switch (record->type) {
    case SOC_RECORD_AGENT:
        read_agent(ledger, record);
        return true;
    case SOC_RECORD_AGENT_END:
        end_agent(ledger, record);
        return true;
    case SOC_RECORD_AGENT_ENDING:
        if (is_alive(ledger, record->agent_ending.id))
            soc_ledger_lines_put(&ledger->lines,
                                 (struct soc_ledger_topic){.kind = SOC_LEDGER_ENDING,
                                                           .who = record->agent_ending.id},
                                 record);
        return true;
    case SOC_RECORD_AGENT_PARENT:
        if (is_alive(ledger, record->agent_parent.id))
            put_parent(ledger, record->agent_parent.id, record->agent_parent.parent, 1);
        return true;
    case SOC_RECORD_STATE:
        if (is_alive(ledger, record->state.agent))
            soc_ledger_lines_put(
                &ledger->lines,
                (struct soc_ledger_topic){.kind = SOC_LEDGER_STATE, .who = record->state.agent},
                record);
        return true;
    case SOC_RECORD_STANDING:
        plain.standing.time_ms = plain.standing.births = 0;
        if (is_alive(ledger, record->standing.id))
            soc_ledger_lines_put(
                &ledger->lines,
                (struct soc_ledger_topic){.kind = SOC_LEDGER_STANDING, .who = record->standing.id},
                &plain)
                ->mark = plain.standing.hold | plain.standing.guards;
        return true;
    case SOC_RECORD_CONTACT: /* one that was removed and comes back is a new one */
        contact.who = record->contact.owner;
        contact.name = record->contact.id;
        soc_ledger_lines_put(&ledger->lines, contact, record)->mark = 0;
        return true;
    case SOC_RECORD_CONTACT_END:
        contact.who = record->contact_end.owner;
        contact.name = record->contact_end.id;
        soc_ledger_lines_put(&ledger->lines, contact, record)->mark = 1;
        return true;
    default:
        return false;
    }
}

static int read_letter(const struct soc_record *record, void *user)
{
    soc_ledger_read(user, record);
    return SOC_OK;
}

/* A message is pending again, and to be handled however late it is. */
static void read_again(struct soc_ledger *ledger, const struct soc_record_message_again *again)
{
    struct soc_ledger_line *line =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, again->key);
    if (line == NULL && ledger->store != NULL) {
        struct soc_detail detail;
        soc_store_letter(ledger->store, again->key, read_letter, ledger, &detail);
        line = soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, again->key);
    }
    if (line == NULL)
        return;
    struct soc_record record = soc_ledger_lines_value(line);
    record.message.attempt = again->attempt;
    record.message.deliver_at_ms = again->deliver_at_ms;
    record.message.expires_ms = 0;
    replace(ledger, line, &record);
    line->mark = SOC_OUTCOME_PENDING;
    soc_ledger_lines_drop(&ledger->lines,
                          (struct soc_ledger_topic){.kind = SOC_LEDGER_ACK, .number = again->key});
}

static void read_receipt(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_line *line =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, record->receipt.key);
    if (line == NULL)
        return;
    struct soc_record message = soc_ledger_lines_value(line);
    message.message.attempt = record->receipt.attempt;
    replace(ledger, line, &message);
    struct soc_record ack = *record;
    ack.receipt.time_ms = ack.receipt.attempt = 0;
    soc_ledger_lines_put(
        &ledger->lines,
        (struct soc_ledger_topic){.kind = SOC_LEDGER_ACK, .number = record->receipt.key}, &ack)
        ->mark = record->receipt.ack;
}

static void end_message(struct soc_ledger *ledger, const struct soc_record_message_end *end)
{
    struct soc_ledger_line *line =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, end->key);
    if (line == NULL)
        return;
    line->mark = end->outcome;
    struct soc_record message = soc_ledger_lines_value(line);
    soc_ledger_lines_drop(&ledger->lines, (struct soc_ledger_topic){.kind = SOC_LEDGER_TAKE,
                                                                    .number = end->key,
                                                                    .who = message.message.to});
}

static void end_reading(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_topic topic = {.kind = SOC_LEDGER_TAKE,
                                     .number = record->broadcast_end.key,
                                     .who = record->broadcast_end.agent};
    struct soc_ledger_line *line =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, record->broadcast_end.key);
    soc_ledger_lines_drop(&ledger->lines, topic);
    topic.kind = SOC_LEDGER_READER;
    if (record->broadcast_end.agent.length > 0)
        soc_ledger_lines_put(&ledger->lines, topic, record);
    else if (line != NULL)
        line->is_over = true;
}

static uint64_t runs_of(const struct soc_ledger *ledger, struct soc_slice agent)
{
    const struct soc_ledger_line *line =
        soc_ledger_lines_find_of(&ledger->lines, SOC_LEDGER_RUNS, agent);
    return line == NULL ? 0 : line->mark;
}

static bool read_mail(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_topic topic = {.kind = SOC_LEDGER_MESSAGE};
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        topic.number = record->message.key;
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark = SOC_OUTCOME_PENDING;
        return true;
    case SOC_RECORD_MESSAGE_END:
        end_message(ledger, &record->message_end);
        return true;
    case SOC_RECORD_MESSAGE_AGAIN:
        read_again(ledger, &record->message_again);
        return true;
    case SOC_RECORD_RECEIPT:
        read_receipt(ledger, record);
        return true;
    case SOC_RECORD_BROADCAST_END:
        end_reading(ledger, record);
        return true;
    case SOC_RECORD_TAKE:
        topic = (struct soc_ledger_topic){
            .kind = SOC_LEDGER_TAKE, .number = record->take.key, .who = record->take.agent};
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark =
            runs_of(ledger, record->take.agent);
        return true;
    default:
        return false;
    }
}

static void read_answer(struct soc_ledger *ledger, const struct soc_record_answer *answer)
{
    struct soc_ledger_line *line =
        soc_ledger_lines_find(&ledger->lines, (struct soc_ledger_topic){.kind = SOC_LEDGER_EFFECT,
                                                                        .number = answer->index,
                                                                        .who = answer->agent});
    if (line == NULL)
        return;
    struct soc_record effect = soc_ledger_lines_value(line);
    effect.effect.answer = answer->answer;
    replace(ledger, line, &effect);
}

static bool read_turn(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_ACTIVATION:
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_ACTIVATION,
                                          .who = record->activation.agent};
        soc_ledger_lines_put(&ledger->lines, topic, record);
        return true;
    case SOC_RECORD_EFFECT:
        topic = (struct soc_ledger_topic){
            .kind = SOC_LEDGER_EFFECT, .number = record->effect.index, .who = record->effect.agent};
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark =
            runs_of(ledger, record->effect.agent);
        return true;
    case SOC_RECORD_ANSWER:
        read_answer(ledger, &record->answer);
        return true;
    case SOC_RECORD_ACTIVATION_END:
        soc_ledger_lines_drop_of(&ledger->lines, SOC_LEDGER_ACTIVATION,
                                 record->activation_end.agent);
        topic =
            (struct soc_ledger_topic){.kind = SOC_LEDGER_RUNS, .who = record->activation_end.agent};
        soc_ledger_lines_need(&ledger->lines, topic)->mark++;
        return true;
    case SOC_RECORD_OUTPUT:
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_OUTPUT, .number = record->output.key};
        soc_ledger_lines_put(&ledger->lines, topic, record);
        return true;
    case SOC_RECORD_OUTPUT_END:
        if (record->output_end.key > ledger->shown)
            ledger->shown = record->output_end.key;
        return true;
    default:
        return false;
    }
}

static void end_item(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_record plain = {.type = SOC_RECORD_ITEM_END};
    plain.item_end.key = record->item_end.key;
    plain.item_end.time_ms = record->item_end.time_ms;
    plain.item_end.decision = record->item_end.decision;
    soc_ledger_lines_drop(&ledger->lines, (struct soc_ledger_topic){.kind = SOC_LEDGER_ITEM,
                                                                    .number = plain.item_end.key});
    soc_ledger_lines_put(
        &ledger->lines,
        (struct soc_ledger_topic){.kind = SOC_LEDGER_DECISION, .number = plain.item_end.key},
        &plain);
}

/* What is stored under a number until its end. */
static bool read_numbered(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_ledger_topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_INTRODUCTION:
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_INTRODUCTION,
                                          .number = record->introduction.key};
        soc_ledger_lines_put(&ledger->lines, topic, record);
        return true;
    case SOC_RECORD_INTRODUCTION_END:
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_INTRODUCTION,
                                          .number = record->introduction_end.key};
        soc_ledger_lines_drop(&ledger->lines, topic);
        return true;
    case SOC_RECORD_ITEM:
        soc_ledger_lines_put(
            &ledger->lines,
            (struct soc_ledger_topic){.kind = SOC_LEDGER_ITEM, .number = record->item.key}, record);
        return true;
    case SOC_RECORD_ITEM_END:
        end_item(ledger, record);
        return true;
    case SOC_RECORD_TASK:
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_TASK, .number = record->task.key};
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark = record->task.state;
        return true;
    case SOC_RECORD_BARRIER:
        soc_ledger_lines_put(
            &ledger->lines,
            (struct soc_ledger_topic){.kind = SOC_LEDGER_BARRIER, .number = record->barrier.key},
            record);
        return true;
    case SOC_RECORD_SEAT:
        topic = (struct soc_ledger_topic){
            .kind = SOC_LEDGER_SEAT, .number = record->seat.key, .who = record->seat.agent};
        soc_ledger_lines_put(&ledger->lines, topic, record);
        return true;
    case SOC_RECORD_BARRIER_END:
        soc_ledger_lines_drop(&ledger->lines,
                              (struct soc_ledger_topic){.kind = SOC_LEDGER_BARRIER,
                                                        .number = record->barrier_end.key});
        return true;
    default:
        return false;
    }
}

static void forget_keys(struct soc_ledger *ledger, const struct soc_record_sent_keys_end *end)
{
    uint64_t *until = &ledger->forgotten[end->is_of_queries != 0];
    if (end->until_ms > *until)
        *until = end->until_ms;
}

/* What is stored under a name for ever, or until it is too old. */
static void read_named(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_record plain = *record;
    struct soc_ledger_topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_ROLE:
        soc_ledger_lines_put(
            &ledger->lines,
            (struct soc_ledger_topic){.kind = SOC_LEDGER_ROLE, .who = record->role.id}, record);
        break;
    case SOC_RECORD_META:
        soc_ledger_lines_put(
            &ledger->lines,
            (struct soc_ledger_topic){.kind = SOC_LEDGER_META, .who = record->meta.name}, record);
        break;
    case SOC_RECORD_POSITION:
        soc_ledger_lines_put(
            &ledger->lines,
            (struct soc_ledger_topic){.kind = SOC_LEDGER_POSITION, .who = record->position.name},
            record);
        break;
    case SOC_RECORD_SENT_KEY:
        topic =
            (struct soc_ledger_topic){.kind = SOC_LEDGER_SENT_KEY, .who = record->sent_key.text};
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark = record->sent_key.since_ms;
        break;
    case SOC_RECORD_SENT_KEYS_END:
        forget_keys(ledger, &record->sent_keys_end);
        break;
    case SOC_RECORD_CALL_KEY:
        topic =
            (struct soc_ledger_topic){.kind = SOC_LEDGER_CALL_KEY, .who = record->call_key.text};
        soc_ledger_lines_put(&ledger->lines, topic, record)->mark = record->call_key.number;
        break;
    case SOC_RECORD_CALL_KEYS_END:
        if (record->call_keys_end.number > ledger->call_keys)
            ledger->call_keys = record->call_keys_end.number;
        break;
    case SOC_RECORD_MEMORY:
        plain.memory.time_ms = 0;
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_MEMORY,
                                          .number = record->memory.number,
                                          .who = record->memory.agent};
        soc_ledger_lines_put(&ledger->lines, topic, &plain);
        break;
    case SOC_RECORD_USAGE:
        ledger->scratch.length = 0;
        soc_buf_put_slice(&ledger->scratch, record->usage.task_id);
        soc_buf_put_byte(&ledger->scratch, '/');
        soc_buf_put_slice(&ledger->scratch, record->usage.model);
        topic = (struct soc_ledger_topic){.kind = SOC_LEDGER_USAGE,
                                          .who = record->usage.agent,
                                          .name = soc_buf_slice(&ledger->scratch)};
        soc_ledger_lines_put(&ledger->lines, topic, record);
        break;
    default: /* lines of logs, and history for replay */
        break;
    }
}

void soc_ledger_read(struct soc_ledger *ledger, const struct soc_record *record)
{
    if (!read_person(ledger, record) && !read_mail(ledger, record) && !read_turn(ledger, record) &&
        !read_numbered(ledger, record))
        read_named(ledger, record);
}

static bool is_pair(struct soc_slice a, struct soc_slice b, const char *first, const char *second)
{
    return soc_slice_equal(a, soc_slice_text(first)) && soc_slice_equal(b, soc_slice_text(second));
}

static bool is_child(const struct soc_ledger *ledger, struct soc_slice child,
                     struct soc_slice parent)
{
    const struct soc_ledger_line *line =
        soc_ledger_lines_find_of(&ledger->lines, SOC_LEDGER_PARENT, child);
    if (line == NULL)
        return false;
    struct soc_record record = soc_ledger_lines_value(line);
    return record.agent.is_adopted == 0 && soc_slice_equal(record.agent.parent, parent);
}

/* An entry that was removed counts if parent and child would have it by birth. */
static bool is_contact(const struct soc_ledger *ledger, const struct soc_ledger_line *line)
{
    if (!is_alive(ledger, line->who) || !is_alive(ledger, line->name))
        return false;
    return line->mark == 0 || is_child(ledger, line->who, line->name) ||
           is_child(ledger, line->name, line->who) ||
           is_pair(line->who, line->name, "root", "user") ||
           is_pair(line->who, line->name, "user", "root");
}

static bool is_pending(const struct soc_ledger *ledger, uint64_t key)
{
    const struct soc_ledger_line *line =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_MESSAGE, key);
    return line != NULL && line->mark == SOC_OUTCOME_PENDING && !line->is_over;
}

/* An open task needs its message for another try. */
static bool is_message(const struct soc_ledger *ledger, const struct soc_ledger_line *line)
{
    const struct soc_ledger_line *task =
        soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_TASK, line->number);
    return is_pending(ledger, line->number) ||
           (line->mark == SOC_OUTCOME_PROCESSED && task != NULL && task->mark < TASK_ENDED);
}

static bool is_key(const struct soc_ledger *ledger, const struct soc_ledger_line *line)
{
    bool is_query = memchr(QUERY_LETTERS, line->who.data[0], sizeof(QUERY_LETTERS) - 1) != NULL;
    return line->mark > ledger->forgotten[is_query];
}

static bool is_live(const struct soc_ledger *ledger, const struct soc_ledger_line *line)
{
    switch (line->kind) {
    case SOC_LEDGER_CONTACT:
        return is_contact(ledger, line);
    case SOC_LEDGER_STANDING:
        return line->mark != 0;
    case SOC_LEDGER_MESSAGE:
        return is_message(ledger, line);
    case SOC_LEDGER_ACK:
        return line->mark != 0 && is_pending(ledger, line->number);
    case SOC_LEDGER_TAKE:
        return line->mark == runs_of(ledger, line->who) && is_pending(ledger, line->number);
    case SOC_LEDGER_READER:
        return is_pending(ledger, line->number);
    case SOC_LEDGER_EFFECT:
        return line->mark == runs_of(ledger, line->who);
    case SOC_LEDGER_RUNS:
        return false;
    case SOC_LEDGER_OUTPUT:
        return line->number > ledger->shown;
    case SOC_LEDGER_MEMORY:
        return is_alive(ledger, line->who);
    case SOC_LEDGER_TASK:
        return line->mark < TASK_ENDED;
    case SOC_LEDGER_SEAT:
        return soc_ledger_lines_find_number(&ledger->lines, SOC_LEDGER_BARRIER, line->number) !=
               NULL;
    case SOC_LEDGER_SENT_KEY:
        return is_key(ledger, line);
    case SOC_LEDGER_CALL_KEY:
        return line->mark > ledger->call_keys;
    default:
        return true;
    }
}

/* Finds the line about the same, if it is live there. */
static const struct soc_ledger_line *find_same(const struct soc_ledger *ledger,
                                               const struct soc_ledger_line *line)
{
    const struct soc_ledger_line *same = soc_map_find(&ledger->lines, soc_buf_slice(&line->key));
    return same != NULL && is_live(ledger, same) ? same : NULL;
}

static void put_difference(struct soc_buf *out, const struct soc_ledger_line *line,
                           const struct soc_ledger_line *other)
{
    struct soc_record record = soc_ledger_lines_value(line);
    struct soc_record loaded = soc_ledger_lines_value(other);
    soc_ledger_lines_put_name(out, line);
    soc_buf_put_text(out, " is not loaded as it was written: ");
    soc_fields_put_json(out, &loaded);
    soc_buf_put_text(out, ", not ");
    soc_fields_put_json(out, &record);
}

bool soc_ledger_agrees(const struct soc_ledger *history, const struct soc_ledger *loaded,
                       struct soc_buf *out)
{
    size_t cursor = 0;
    const struct soc_ledger_line *line;
    while ((line = soc_map_each(&history->lines, &cursor)) != NULL) {
        if (!is_live(history, line))
            continue;
        const struct soc_ledger_line *other = find_same(loaded, line);
        if (other == NULL) {
            soc_ledger_lines_put_name(out, line);
            soc_buf_put_text(out, " is not loaded");
            return false;
        }
        if (!soc_slice_equal(soc_buf_slice(&line->value), soc_buf_slice(&other->value))) {
            put_difference(out, line, other);
            return false;
        }
    }
    cursor = 0;
    while ((line = soc_map_each(&loaded->lines, &cursor)) != NULL)
        if (is_live(loaded, line) && find_same(history, line) == NULL) {
            soc_ledger_lines_put_name(out, line);
            soc_buf_put_text(out, " is loaded, but is over according to the history");
            return false;
        }
    return true;
}

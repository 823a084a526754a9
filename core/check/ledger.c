#include "check/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/fields.h"

#define TASK_ENDED    2     /* the first state of a task that is over */
#define QUERY_LETTERS "aqx" /* that begin the keys of queries */

/* Kinds of lines, by the names they have in a report. An activation counts how many of its
 * agent have ended: what belongs to an earlier one is over. */
#define KINDS(K)                                                                                   \
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

enum kind {
#define K(tag, name) tag,
    KINDS(K)
#undef K
};

/* What a line is about: numbers and texts that no other line of its kind shares. */
struct topic {
    enum kind kind;
    uint64_t number;
    struct soc_slice who;
    struct soc_slice name;
};

struct line {
    enum kind kind;
    uint64_t number;
    uint64_t mark;         /* outcome, state, time or activation, as its kind needs it */
    bool is_over;          /* MESSAGE: a broadcast that all readers have finished */
    struct soc_slice who;  /* lent by `key` */
    struct soc_slice name; /* lent by `key` */
    struct soc_buf key;    /* of the map */
    struct soc_buf value;  /* a record, in its encoding */
};

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

static void free_line(struct line *line)
{
    if (line == NULL)
        return;
    soc_buf_fini(&line->key);
    soc_buf_fini(&line->value);
    free(line);
}

void soc_ledger_free(struct soc_ledger *ledger)
{
    size_t cursor = 0;
    struct line *line;
    if (ledger == NULL)
        return;
    while ((line = soc_map_each(&ledger->lines, &cursor)) != NULL)
        free_line(line);
    soc_map_fini(&ledger->lines);
    soc_buf_fini(&ledger->scratch);
    free(ledger);
}

static void put_key(struct soc_buf *out, const struct topic *topic)
{
    unsigned char kind = (unsigned char)topic->kind;
    soc_buf_put(out, &kind, sizeof(kind));
    soc_buf_put(out, &topic->number, sizeof(topic->number));
    soc_buf_put(out, &topic->who.length, sizeof(topic->who.length));
    soc_buf_put_slice(out, topic->who);
    soc_buf_put_slice(out, topic->name);
}

static struct line *find(const struct soc_ledger *ledger, struct topic topic)
{
    struct soc_buf key = {0};
    put_key(&key, &topic);
    struct line *line = soc_map_find(&ledger->lines, soc_buf_slice(&key));
    soc_buf_fini(&key);
    return line;
}

static struct line *find_of(const struct soc_ledger *ledger, enum kind kind, struct soc_slice who)
{
    return find(ledger, (struct topic){.kind = kind, .who = who});
}

static struct line *find_number(const struct soc_ledger *ledger, enum kind kind, uint64_t number)
{
    return find(ledger, (struct topic){.kind = kind, .number = number});
}

/* Adds a line without a value, or returns the one that is there. */
static struct line *need(struct soc_ledger *ledger, struct topic topic)
{
    struct line *line = find(ledger, topic);
    if (line != NULL)
        return line;
    line = soc_alloc_zero(sizeof(*line));
    line->kind = topic.kind;
    line->number = topic.number;
    put_key(&line->key, &topic);
    struct soc_slice key = soc_buf_slice(&line->key);
    line->name = soc_slice(key.data + key.length - topic.name.length, topic.name.length);
    line->who = soc_slice(line->name.data - topic.who.length, topic.who.length);
    soc_map_put(&ledger->lines, key, line);
    return line;
}

static void drop(struct soc_ledger *ledger, struct topic topic)
{
    struct line *line = find(ledger, topic);
    if (line == NULL)
        return;
    soc_map_take(&ledger->lines, soc_buf_slice(&line->key));
    free_line(line);
}

static void drop_of(struct soc_ledger *ledger, enum kind kind, struct soc_slice who)
{
    drop(ledger, (struct topic){.kind = kind, .who = who});
}

/* Stores the record as the value. An empty text is an absent one. */
static void set(struct line *line, const struct soc_record *record)
{
    struct soc_record plain = *record;
    const struct soc_fields *fields = soc_fields_of(plain.type);
    char *at = soc_fields_at(&plain);
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++)
        if (fields->items[i].is_text && ((struct soc_slice *)(void *)at)->length == 0)
            *(struct soc_slice *)(void *)at = (struct soc_slice){0};
    line->value.length = 0;
    soc_record_put(&line->value, &plain);
}

static struct line *put(struct soc_ledger *ledger, struct topic topic,
                        const struct soc_record *record)
{
    struct line *line = need(ledger, topic);
    set(line, record);
    return line;
}

/* Reads the value of a line; its texts are lent by it. */
static struct soc_record value_of(const struct line *line)
{
    struct soc_slice rest = soc_buf_slice(&line->value);
    struct soc_record record = {0};
    int rc = soc_record_next(&rest, &record);
    assert(rc > 0);
    (void)rc;
    return record;
}

/* Replaces the value by a changed copy of itself, which lends its texts. */
static void replace(struct soc_ledger *ledger, struct line *line, const struct soc_record *record)
{
    struct soc_buf old = line->value;
    line->value = ledger->scratch;
    set(line, record);
    ledger->scratch = old;
}

static bool is_alive(const struct soc_ledger *ledger, struct soc_slice id)
{
    return find_of(ledger, AGENT, id) != NULL;
}

static void put_parent(struct soc_ledger *ledger, struct soc_slice id, struct soc_slice parent,
                       uint64_t is_adopted)
{
    struct soc_record record = {.type = SOC_RECORD_AGENT};
    record.agent.id = id;
    record.agent.parent = parent;
    record.agent.is_adopted = is_adopted;
    put(ledger, (struct topic){.kind = PARENT, .who = id}, &record);
}

static void read_agent(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct soc_record plain = *record;
    plain.agent.parent = (struct soc_slice){0};
    plain.agent.is_adopted = 0;
    put(ledger, (struct topic){.kind = AGENT, .who = record->agent.id}, &plain);
    put_parent(ledger, record->agent.id, record->agent.parent, record->agent.is_adopted);
}

static void end_agent(struct soc_ledger *ledger, const struct soc_record *record)
{
    static const enum kind gone[] = {AGENT, PARENT, ENDING, STATE, STANDING};
    struct soc_slice id = record->agent_end.id;
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        drop_of(ledger, gone[i], id);
    struct soc_record plain = *record;
    plain.agent_end.parent = (struct soc_slice){0}; /* for the log only */
    put(ledger, (struct topic){.kind = ENDED, .who = id}, &plain);
}

static bool read_person(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct topic contact = {.kind = CONTACT};
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
            put(ledger, (struct topic){.kind = ENDING, .who = record->agent_ending.id}, record);
        return true;
    case SOC_RECORD_AGENT_PARENT:
        if (is_alive(ledger, record->agent_parent.id))
            put_parent(ledger, record->agent_parent.id, record->agent_parent.parent, 1);
        return true;
    case SOC_RECORD_STATE:
        if (is_alive(ledger, record->state.agent))
            put(ledger, (struct topic){.kind = STATE, .who = record->state.agent}, record);
        return true;
    case SOC_RECORD_STANDING:
        plain.standing.time_ms = plain.standing.births = 0;
        if (is_alive(ledger, record->standing.id))
            put(ledger, (struct topic){.kind = STANDING, .who = record->standing.id}, &plain)
                ->mark = plain.standing.hold | plain.standing.guards;
        return true;
    case SOC_RECORD_CONTACT: /* one that was removed and comes back is a new one */
        contact.who = record->contact.owner;
        contact.name = record->contact.id;
        put(ledger, contact, record)->mark = 0;
        return true;
    case SOC_RECORD_CONTACT_END:
        contact.who = record->contact_end.owner;
        contact.name = record->contact_end.id;
        put(ledger, contact, record)->mark = 1;
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
    struct line *line = find_number(ledger, MESSAGE, again->key);
    if (line == NULL && ledger->store != NULL) {
        struct soc_detail detail;
        soc_store_letter(ledger->store, again->key, read_letter, ledger, &detail);
        line = find_number(ledger, MESSAGE, again->key);
    }
    if (line == NULL)
        return;
    struct soc_record record = value_of(line);
    record.message.attempt = again->attempt;
    record.message.deliver_at_ms = again->deliver_at_ms;
    record.message.expires_ms = 0;
    replace(ledger, line, &record);
    line->mark = SOC_OUTCOME_PENDING;
    drop(ledger, (struct topic){.kind = ACK, .number = again->key});
}

static void read_receipt(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct line *line = find_number(ledger, MESSAGE, record->receipt.key);
    if (line == NULL)
        return;
    struct soc_record message = value_of(line);
    message.message.attempt = record->receipt.attempt;
    replace(ledger, line, &message);
    struct soc_record ack = *record;
    ack.receipt.time_ms = ack.receipt.attempt = 0;
    put(ledger, (struct topic){.kind = ACK, .number = record->receipt.key}, &ack)->mark =
        record->receipt.ack;
}

static void end_message(struct soc_ledger *ledger, const struct soc_record_message_end *end)
{
    struct line *line = find_number(ledger, MESSAGE, end->key);
    if (line == NULL)
        return;
    line->mark = end->outcome;
    struct soc_record message = value_of(line);
    drop(ledger, (struct topic){.kind = TAKE, .number = end->key, .who = message.message.to});
}

static void end_reading(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct topic topic = {
        .kind = TAKE, .number = record->broadcast_end.key, .who = record->broadcast_end.agent};
    struct line *line = find_number(ledger, MESSAGE, record->broadcast_end.key);
    drop(ledger, topic);
    topic.kind = READER;
    if (record->broadcast_end.agent.length > 0)
        put(ledger, topic, record);
    else if (line != NULL)
        line->is_over = true;
}

static uint64_t runs_of(const struct soc_ledger *ledger, struct soc_slice agent)
{
    const struct line *line = find_of(ledger, RUNS, agent);
    return line == NULL ? 0 : line->mark;
}

static bool read_mail(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct topic topic = {.kind = MESSAGE};
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        topic.number = record->message.key;
        put(ledger, topic, record)->mark = SOC_OUTCOME_PENDING;
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
        topic = (struct topic){.kind = TAKE, .number = record->take.key, .who = record->take.agent};
        put(ledger, topic, record)->mark = runs_of(ledger, record->take.agent);
        return true;
    default:
        return false;
    }
}

static void read_answer(struct soc_ledger *ledger, const struct soc_record_answer *answer)
{
    struct line *line =
        find(ledger, (struct topic){.kind = EFFECT, .number = answer->index, .who = answer->agent});
    if (line == NULL)
        return;
    struct soc_record effect = value_of(line);
    effect.effect.answer = answer->answer;
    replace(ledger, line, &effect);
}

static bool read_turn(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_ACTIVATION:
        topic = (struct topic){.kind = ACTIVATION, .who = record->activation.agent};
        put(ledger, topic, record);
        return true;
    case SOC_RECORD_EFFECT:
        topic = (struct topic){
            .kind = EFFECT, .number = record->effect.index, .who = record->effect.agent};
        put(ledger, topic, record)->mark = runs_of(ledger, record->effect.agent);
        return true;
    case SOC_RECORD_ANSWER:
        read_answer(ledger, &record->answer);
        return true;
    case SOC_RECORD_ACTIVATION_END:
        drop_of(ledger, ACTIVATION, record->activation_end.agent);
        topic = (struct topic){.kind = RUNS, .who = record->activation_end.agent};
        need(ledger, topic)->mark++;
        return true;
    case SOC_RECORD_OUTPUT:
        topic = (struct topic){.kind = OUTPUT, .number = record->output.key};
        put(ledger, topic, record);
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
    drop(ledger, (struct topic){.kind = ITEM, .number = plain.item_end.key});
    put(ledger, (struct topic){.kind = DECISION, .number = plain.item_end.key}, &plain);
}

/* What is stored under a number until its end. */
static bool read_numbered(struct soc_ledger *ledger, const struct soc_record *record)
{
    struct topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_INTRODUCTION:
        topic = (struct topic){.kind = INTRODUCTION, .number = record->introduction.key};
        put(ledger, topic, record);
        return true;
    case SOC_RECORD_INTRODUCTION_END:
        topic = (struct topic){.kind = INTRODUCTION, .number = record->introduction_end.key};
        drop(ledger, topic);
        return true;
    case SOC_RECORD_ITEM:
        put(ledger, (struct topic){.kind = ITEM, .number = record->item.key}, record);
        return true;
    case SOC_RECORD_ITEM_END:
        end_item(ledger, record);
        return true;
    case SOC_RECORD_TASK:
        topic = (struct topic){.kind = TASK, .number = record->task.key};
        put(ledger, topic, record)->mark = record->task.state;
        return true;
    case SOC_RECORD_BARRIER:
        put(ledger, (struct topic){.kind = BARRIER, .number = record->barrier.key}, record);
        return true;
    case SOC_RECORD_SEAT:
        topic = (struct topic){.kind = SEAT, .number = record->seat.key, .who = record->seat.agent};
        put(ledger, topic, record);
        return true;
    case SOC_RECORD_BARRIER_END:
        drop(ledger, (struct topic){.kind = BARRIER, .number = record->barrier_end.key});
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
    struct topic topic = {0};
    switch (record->type) {
    case SOC_RECORD_ROLE:
        put(ledger, (struct topic){.kind = ROLE, .who = record->role.id}, record);
        break;
    case SOC_RECORD_META:
        put(ledger, (struct topic){.kind = META, .who = record->meta.name}, record);
        break;
    case SOC_RECORD_POSITION:
        put(ledger, (struct topic){.kind = POSITION, .who = record->position.name}, record);
        break;
    case SOC_RECORD_SENT_KEY:
        topic = (struct topic){.kind = SENT_KEY, .who = record->sent_key.text};
        put(ledger, topic, record)->mark = record->sent_key.since_ms;
        break;
    case SOC_RECORD_SENT_KEYS_END:
        forget_keys(ledger, &record->sent_keys_end);
        break;
    case SOC_RECORD_CALL_KEY:
        topic = (struct topic){.kind = CALL_KEY, .who = record->call_key.text};
        put(ledger, topic, record)->mark = record->call_key.number;
        break;
    case SOC_RECORD_CALL_KEYS_END:
        if (record->call_keys_end.number > ledger->call_keys)
            ledger->call_keys = record->call_keys_end.number;
        break;
    case SOC_RECORD_MEMORY:
        plain.memory.time_ms = 0;
        topic = (struct topic){
            .kind = MEMORY, .number = record->memory.number, .who = record->memory.agent};
        put(ledger, topic, &plain);
        break;
    case SOC_RECORD_USAGE:
        ledger->scratch.length = 0;
        soc_buf_put_slice(&ledger->scratch, record->usage.task_id);
        soc_buf_put_byte(&ledger->scratch, '/');
        soc_buf_put_slice(&ledger->scratch, record->usage.model);
        topic = (struct topic){
            .kind = USAGE, .who = record->usage.agent, .name = soc_buf_slice(&ledger->scratch)};
        put(ledger, topic, record);
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
    const struct line *line = find_of(ledger, PARENT, child);
    if (line == NULL)
        return false;
    struct soc_record record = value_of(line);
    return record.agent.is_adopted == 0 && soc_slice_equal(record.agent.parent, parent);
}

/* An entry that was removed counts if parent and child would have it by birth. */
static bool is_contact(const struct soc_ledger *ledger, const struct line *line)
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
    const struct line *line = find_number(ledger, MESSAGE, key);
    return line != NULL && line->mark == SOC_OUTCOME_PENDING && !line->is_over;
}

/* An open task needs its message for another try. */
static bool is_message(const struct soc_ledger *ledger, const struct line *line)
{
    const struct line *task = find_number(ledger, TASK, line->number);
    return is_pending(ledger, line->number) ||
           (line->mark == SOC_OUTCOME_PROCESSED && task != NULL && task->mark < TASK_ENDED);
}

static bool is_key(const struct soc_ledger *ledger, const struct line *line)
{
    bool is_query = memchr(QUERY_LETTERS, line->who.data[0], sizeof(QUERY_LETTERS) - 1) != NULL;
    return line->mark > ledger->forgotten[is_query];
}

static bool is_live(const struct soc_ledger *ledger, const struct line *line)
{
    switch (line->kind) {
    case CONTACT:
        return is_contact(ledger, line);
    case STANDING:
        return line->mark != 0;
    case MESSAGE:
        return is_message(ledger, line);
    case ACK:
        return line->mark != 0 && is_pending(ledger, line->number);
    case TAKE:
        return line->mark == runs_of(ledger, line->who) && is_pending(ledger, line->number);
    case READER:
        return is_pending(ledger, line->number);
    case EFFECT:
        return line->mark == runs_of(ledger, line->who);
    case RUNS:
        return false;
    case OUTPUT:
        return line->number > ledger->shown;
    case MEMORY:
        return is_alive(ledger, line->who);
    case TASK:
        return line->mark < TASK_ENDED;
    case SEAT:
        return find_number(ledger, BARRIER, line->number) != NULL;
    case SENT_KEY:
        return is_key(ledger, line);
    case CALL_KEY:
        return line->mark > ledger->call_keys;
    default:
        return true;
    }
}

static void put_name(struct soc_buf *out, const struct line *line)
{
    static const char *const names[] = {
#define K(tag, name) [tag] = name,
        KINDS(K)
#undef K
    };
    soc_buf_put_text(out, names[line->kind]);
    if (line->number != 0)
        soc_buf_printf(out, " %llu", (unsigned long long)line->number);
    soc_buf_printf(out, "%s%.*s", line->who.length > 0 ? " " : "", (int)line->who.length,
                   line->who.data);
    soc_buf_printf(out, "%s%.*s", line->name.length > 0 ? " " : "", (int)line->name.length,
                   line->name.data);
}

/* Finds the line about the same, if it is live there. */
static const struct line *find_same(const struct soc_ledger *ledger, const struct line *line)
{
    const struct line *same = soc_map_find(&ledger->lines, soc_buf_slice(&line->key));
    return same != NULL && is_live(ledger, same) ? same : NULL;
}

static void put_difference(struct soc_buf *out, const struct line *line, const struct line *other)
{
    struct soc_record record = value_of(line);
    struct soc_record loaded = value_of(other);
    put_name(out, line);
    soc_buf_put_text(out, " is not loaded as it was written: ");
    soc_fields_put_json(out, &loaded);
    soc_buf_put_text(out, ", not ");
    soc_fields_put_json(out, &record);
}

bool soc_ledger_agrees(const struct soc_ledger *history, const struct soc_ledger *loaded,
                       struct soc_buf *out)
{
    size_t cursor = 0;
    const struct line *line;
    while ((line = soc_map_each(&history->lines, &cursor)) != NULL) {
        if (!is_live(history, line))
            continue;
        const struct line *other = find_same(loaded, line);
        if (other == NULL) {
            put_name(out, line);
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
            put_name(out, line);
            soc_buf_put_text(out, " is loaded, but is over according to the history");
            return false;
        }
    return true;
}

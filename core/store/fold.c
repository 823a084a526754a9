/* Folding: the batches at the front of the journal are read back, applied to the
 * tables and removed, all in one transaction.
 *
 * Batches are taken in windows of bounded size. What comes and goes inside one
 * window is never written: a message and its end become one row, the effects of
 * an activation that ended become none, of several states the last one counts.
 * The tables are the same afterwards as if every record had been written by
 * itself, whatever the windows were. So:
 *   1. messages, activations with their effects and takes, states and outputs of
 *      the window are kept in memory and written at its end;
 *   2. a record about something that is not in the window changes the tables at
 *      once;
 *   3. everything else is written at once, in order. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/database.h"
#include "store/fields.h"

#define WINDOW_BYTES_MAX (1u << 20) /* unless one batch alone is larger */

#define NONE ((size_t)-1)

struct message_item {
    struct soc_record record;
    uint64_t status;
    uint64_t finished_ms;
    uint64_t again_ms;
    uint64_t ack;
    struct soc_slice reason;
};

/* An activation that the window mentions. */
struct activation_item {
    struct soc_record record; /* type 0: the window has no record of it */
    size_t last_effect;       /* in `effects`, or NONE */
    bool is_ended;
};

/* An activation of which the window has a record, in the order of the first. */
struct begun_item {
    size_t activation;
};

struct effect_item {
    struct soc_record record;
    size_t activation; /* in `activations` */
    size_t previous;   /* effect of the same activation, or NONE */
};

struct take_item {
    struct soc_record record; /* type 0: its message has ended */
    size_t activation;
    size_t previous; /* take of the same message, or NONE */
};

struct plain_item {
    struct soc_record record; /* a state or an output */
};

/* Growing arrays; the memory is kept for the next window. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        struct type *items;                                                                        \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

struct soc_fold {
    struct soc_store *store; /* lent */
    struct soc_buf window;   /* the bytes of its batches; records lend from it */
    uint64_t last;           /* sequence of its last batch */
    LIST(message_item) messages;
    LIST(activation_item) activations;
    LIST(begun_item) begun;
    LIST(effect_item) effects;
    LIST(take_item) takes;
    LIST(plain_item) states;
    LIST(plain_item) outputs;
    /* Values are item numbers + 1 as pointers: the arrays move when they grow. */
    struct soc_map message_by_key;
    struct soc_map take_by_key;
    struct soc_map activation_by_agent;
    struct soc_map state_by_agent;
    uint64_t outputs_shown; /* highest key of an output_end */
    int rc;                 /* of SQLite; the first failure stays */
};

/* Makes room for one more item and returns it as an lvalue. */
#define ADD(list)                                                                                  \
    (*(make_room((void **)&(list).items, (list).count, &(list).capacity, sizeof(*(list).items)),   \
       &(list).items[(list).count++]))

static void make_room(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return;
    *capacity = *capacity == 0 ? 64 : *capacity * 2;
    *items = soc_realloc(*items, *capacity * size);
}

static void *number_as_value(size_t number)
{
    return (void *)(uintptr_t)(number + 1);
}

/* Returns the number behind a map's value, NONE for NULL. */
static size_t value_as_number(void *value)
{
    return (size_t)(uintptr_t)value - 1;
}

static void run(struct soc_fold *fold, enum soc_statement which)
{
    if (fold->rc == SQLITE_OK)
        fold->rc = soc_database_run(fold->store, which);
}

/* Binds the fields of `record` from parameter 1 on; returns the next index. */
static int bind_record(struct soc_fold *fold, enum soc_statement which, struct soc_record *record)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    const struct soc_shape *shape = soc_record_shape(record->type);
    const char *at = soc_record_fields(record);
    int index = 1;
    for (size_t i = 0; i < shape->count; at += soc_field_size(&shape->fields[i]), i++) {
        if (shape->fields[i].is_text)
            soc_bind_text(statement, index++, *(const struct soc_slice *)(const void *)at);
        else
            sqlite3_bind_int64(statement, index++, *(const int64_t *)(const void *)at);
    }
    return index;
}

static void run_record(struct soc_fold *fold, enum soc_statement which, struct soc_record *record)
{
    bind_record(fold, which, record);
    run(fold, which);
}

static void run_texts(struct soc_fold *fold, enum soc_statement which, struct soc_slice first,
                      const struct soc_slice *second)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    soc_bind_text(statement, 1, first);
    if (second != NULL)
        soc_bind_text(statement, 2, *second);
    run(fold, which);
}

static struct message_item *find_message(struct soc_fold *fold, uint64_t key)
{
    size_t number = value_as_number(soc_map_find_number(&fold->message_by_key, key));
    return number == NONE ? NULL : &fold->messages.items[number];
}

static void add_message(struct soc_fold *fold, struct soc_record *record)
{
    soc_map_put_number(&fold->message_by_key, record->message.key,
                       number_as_value(fold->messages.count));
    ADD(fold->messages) = (struct message_item){.record = *record};
}

static void end_takes(struct soc_fold *fold, uint64_t key)
{
    size_t number = value_as_number(soc_map_take_number(&fold->take_by_key, key));
    for (; number != NONE; number = fold->takes.items[number].previous)
        fold->takes.items[number].record.type = 0;
}

static void end_message(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->message_end.key);
    end_takes(fold, record->message_end.key);
    if (item == NULL) { /* only then it can have been taken before the window */
        run_record(fold, SOC_STATEMENT_MESSAGE_END, record);
        sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_TAKE_END), 1,
                           (int64_t)record->message_end.key);
        run(fold, SOC_STATEMENT_TAKE_END);
        return;
    }
    item->status = record->message_end.outcome;
    item->finished_ms = record->message_end.time_ms;
    item->reason = record->message_end.reason;
}

static void repeat_message(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->message_again.key);
    if (item == NULL) {
        run_record(fold, SOC_STATEMENT_MESSAGE_AGAIN, record);
        return;
    }
    item->status = SOC_OUTCOME_PENDING;
    item->finished_ms = 0;
    item->reason = (struct soc_slice){0};
    item->again_ms = record->message_again.time_ms;
    item->record.message.attempt = record->message_again.attempt;
    item->record.message.deliver_at_ms = record->message_again.deliver_at_ms;
    item->ack = 0;
    item->record.message.expires_ms = 0; /* whoever sends it again wants it handled */
}

static void note_receipt(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->receipt.key);
    if (item == NULL)
        return run_record(fold, SOC_STATEMENT_RECEIPT, record);
    item->record.message.attempt = record->receipt.attempt;
    item->ack = record->receipt.ack;
}

/* Returns the number of the agent's activation in the window. */
static size_t need_activation(struct soc_fold *fold, struct soc_slice agent)
{
    size_t number = value_as_number(soc_map_find(&fold->activation_by_agent, agent));
    if (number != NONE)
        return number;
    number = fold->activations.count;
    ADD(fold->activations) = (struct activation_item){.last_effect = NONE};
    soc_map_put(&fold->activation_by_agent, agent, number_as_value(number));
    return number;
}

static void set_activation(struct soc_fold *fold, struct soc_record *record)
{
    size_t number = need_activation(fold, record->activation.agent);
    if (fold->activations.items[number].record.type == 0)
        ADD(fold->begun) = (struct begun_item){number};
    fold->activations.items[number].record = *record;
}

static void add_take(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation = need_activation(fold, record->take.agent);
    size_t previous = value_as_number(soc_map_find_number(&fold->take_by_key, record->take.key));
    soc_map_put_number(&fold->take_by_key, record->take.key, number_as_value(fold->takes.count));
    ADD(fold->takes) = (struct take_item){*record, activation, previous};
}

static void add_effect(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation = need_activation(fold, record->effect.agent);
    size_t previous = fold->activations.items[activation].last_effect;
    fold->activations.items[activation].last_effect = fold->effects.count;
    ADD(fold->effects) = (struct effect_item){*record, activation, previous};
}

static void answer_effect(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation =
        value_as_number(soc_map_find(&fold->activation_by_agent, record->answer.agent));
    size_t effect = activation == NONE ? NONE : fold->activations.items[activation].last_effect;
    while (effect != NONE &&
           fold->effects.items[effect].record.effect.index != record->answer.index)
        effect = fold->effects.items[effect].previous;
    if (effect == NONE)
        run_record(fold, SOC_STATEMENT_ANSWER, record);
    else
        fold->effects.items[effect].record.effect.answer = record->answer.answer;
}

static void end_activation(struct soc_fold *fold, struct soc_slice agent)
{
    size_t number = value_as_number(soc_map_take(&fold->activation_by_agent, agent));
    if (number != NONE)
        fold->activations.items[number].is_ended = true;
    run_texts(fold, SOC_STATEMENT_ACTIVATION_END, agent, NULL);
    run_texts(fold, SOC_STATEMENT_EFFECTS_END, agent, NULL);
    run_texts(fold, SOC_STATEMENT_TAKES_END, agent, NULL);
}

static void set_state(struct soc_fold *fold, struct soc_record *record)
{
    size_t number = value_as_number(soc_map_find(&fold->state_by_agent, record->state.agent));
    if (number != NONE) {
        fold->states.items[number].record = *record;
        return;
    }
    soc_map_put(&fold->state_by_agent, record->state.agent, number_as_value(fold->states.count));
    ADD(fold->states) = (struct plain_item){*record};
}

/* Writes the state of the agent with this id now: another life of it begins, or
 * this one ends. */
static void write_state(struct soc_fold *fold, struct soc_slice id)
{
    size_t number = value_as_number(soc_map_take(&fold->state_by_agent, id));
    if (number == NONE)
        return;
    run_record(fold, SOC_STATEMENT_STATE, &fold->states.items[number].record);
    fold->states.items[number].record.type = 0;
}

static void add_agent(struct soc_fold *fold, struct soc_record *record)
{
    write_state(fold, record->agent.id);
    run_record(fold, SOC_STATEMENT_AGENT, record);
    if (record->agent.parent.data != NULL)
        run_texts(fold, SOC_STATEMENT_BIRTH, record->agent.parent, NULL);
}

static void end_agent(struct soc_fold *fold, struct soc_record *record)
{
    struct soc_slice id = record->agent_end.id;
    write_state(fold, id);
    run_texts(fold, SOC_STATEMENT_AGENT_CONTACTS_END, id, NULL);
    run_texts(fold, SOC_STATEMENT_PARENT_CONTACT_END, id, NULL);
    run_record(fold, SOC_STATEMENT_AGENT_END, record);
}

/* An entry that was forgotten comes back as a new one, last in order. */
static void put_contact(struct soc_fold *fold, struct soc_record *record)
{
    run_texts(fold, SOC_STATEMENT_CONTACT_FREE, record->contact.owner, &record->contact.id);
    run_record(fold, SOC_STATEMENT_CONTACT, record);
}

static void end_contact(struct soc_fold *fold, struct soc_record *record)
{
    run_record(fold, SOC_STATEMENT_CONTACT_DELETE, record);
    run_record(fold, SOC_STATEMENT_CONTACT_FORGOTTEN, record);
}

/* A reader that took it has let go of it, too. Without a reader: it is over. */
static void end_broadcast(struct soc_fold *fold, struct soc_record *record)
{
    struct soc_slice agent = record->broadcast_end.agent;
    enum soc_statement which =
        agent.data == NULL ? SOC_STATEMENT_BROADCAST_OVER : SOC_STATEMENT_BROADCAST_TAKE_END;
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    size_t number =
        value_as_number(soc_map_find_number(&fold->take_by_key, record->broadcast_end.key));
    for (; number != NONE; number = fold->takes.items[number].previous) {
        struct soc_record *take = &fold->takes.items[number].record;
        if (take->type != 0 && soc_slice_equal(take->take.agent, agent))
            take->type = 0;
    }
    sqlite3_bind_int64(statement, 1, (int64_t)record->broadcast_end.key);
    if (agent.data != NULL)
        soc_bind_text(statement, 2, agent);
    run(fold, which);
    if (agent.data != NULL)
        run_record(fold, SOC_STATEMENT_BROADCAST_END, record);
}

static void end_barrier(struct soc_fold *fold, struct soc_record *record)
{
    run_record(fold, SOC_STATEMENT_BARRIER_END, record);
    run_record(fold, SOC_STATEMENT_SEATS_END, record);
}

/* The statement of a record that is written as it is. */
static enum soc_statement plain_statement(enum soc_record_type type)
{
    static const unsigned char statements[] = {
        [SOC_RECORD_ROLE] = SOC_STATEMENT_ROLE,
        [SOC_RECORD_AGENT_ENDING] = SOC_STATEMENT_AGENT_ENDING,
        [SOC_RECORD_AGENT_PARENT] = SOC_STATEMENT_AGENT_PARENT,
        [SOC_RECORD_EVENT] = SOC_STATEMENT_EVENT,
        [SOC_RECORD_META] = SOC_STATEMENT_META,
        [SOC_RECORD_MEMORY] = SOC_STATEMENT_MEMORY,
        [SOC_RECORD_USAGE] = SOC_STATEMENT_USAGE,
        [SOC_RECORD_INTRODUCTION] = SOC_STATEMENT_INTRODUCTION,
        [SOC_RECORD_INTRODUCTION_END] = SOC_STATEMENT_INTRODUCTION_END,
        [SOC_RECORD_ITEM] = SOC_STATEMENT_ITEM,
        [SOC_RECORD_ITEM_END] = SOC_STATEMENT_ITEM_END,
        [SOC_RECORD_TASK] = SOC_STATEMENT_TASK,
        [SOC_RECORD_BARRIER] = SOC_STATEMENT_BARRIER,
        [SOC_RECORD_SEAT] = SOC_STATEMENT_SEAT,
        [SOC_RECORD_POSITION] = SOC_STATEMENT_POSITION,
        [SOC_RECORD_SENT_KEY] = SOC_STATEMENT_SENT_KEY,
        [SOC_RECORD_SENT_KEYS_END] = SOC_STATEMENT_SENT_KEYS_END,
        [SOC_RECORD_STANDING] = SOC_STATEMENT_STANDING,
        [SOC_RECORD_SOURCE] = SOC_STATEMENT_SOURCE,
        [SOC_RECORD_HISTORY] = SOC_STATEMENT_HISTORY,
        [SOC_RECORD_HISTORY_END] = SOC_STATEMENT_HISTORY_END,
    };
    assert(type < sizeof(statements) && statements[type] != 0);
    return (enum soc_statement)statements[type];
}

static void apply(struct soc_fold *fold, struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_AGENT:
        return add_agent(fold, record);
    case SOC_RECORD_AGENT_END:
        return end_agent(fold, record);
    case SOC_RECORD_STATE:
        return set_state(fold, record);
    case SOC_RECORD_CONTACT:
        return put_contact(fold, record);
    case SOC_RECORD_CONTACT_END:
        return end_contact(fold, record);
    case SOC_RECORD_MESSAGE:
        return add_message(fold, record);
    case SOC_RECORD_MESSAGE_END:
        return end_message(fold, record);
    case SOC_RECORD_MESSAGE_AGAIN:
        return repeat_message(fold, record);
    case SOC_RECORD_RECEIPT:
        return note_receipt(fold, record);
    case SOC_RECORD_TAKE:
        return add_take(fold, record);
    case SOC_RECORD_ACTIVATION:
        return set_activation(fold, record);
    case SOC_RECORD_EFFECT:
        return add_effect(fold, record);
    case SOC_RECORD_ANSWER:
        return answer_effect(fold, record);
    case SOC_RECORD_ACTIVATION_END:
        return end_activation(fold, record->activation_end.agent);
    case SOC_RECORD_OUTPUT:
        ADD(fold->outputs) = (struct plain_item){*record};
        return;
    case SOC_RECORD_OUTPUT_END:
        if (record->output_end.key > fold->outputs_shown)
            fold->outputs_shown = record->output_end.key;
        return run_record(fold, SOC_STATEMENT_OUTPUT_END, record);
    case SOC_RECORD_BROADCAST_END:
        return end_broadcast(fold, record);
    case SOC_RECORD_BARRIER_END:
        return end_barrier(fold, record);
    default:
        return run_record(fold, plain_statement(record->type), record);
    }
}

static void write_messages(struct soc_fold *fold)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, SOC_STATEMENT_MESSAGE);
    for (size_t i = 0; i < fold->messages.count; i++) {
        struct message_item *item = &fold->messages.items[i];
        int index = bind_record(fold, SOC_STATEMENT_MESSAGE, &item->record);
        sqlite3_bind_int64(statement, index++, (int64_t)item->status);
        soc_bind_positive(statement, index++, item->finished_ms); /* 0 while it is pending */
        soc_bind_text(statement, index++, item->reason);
        soc_bind_positive(statement, index++, item->again_ms);
        soc_bind_positive(statement, index, item->ack);
        run(fold, SOC_STATEMENT_MESSAGE);
    }
}

static void write_activations(struct soc_fold *fold)
{
    struct activation_item *activations = fold->activations.items;
    for (size_t i = 0; i < fold->begun.count; i++)
        if (!activations[fold->begun.items[i].activation].is_ended)
            run_record(fold, SOC_STATEMENT_ACTIVATION,
                       &activations[fold->begun.items[i].activation].record);
    for (size_t i = 0; i < fold->effects.count; i++)
        if (!activations[fold->effects.items[i].activation].is_ended)
            run_record(fold, SOC_STATEMENT_EFFECT, &fold->effects.items[i].record);
    for (size_t i = 0; i < fold->takes.count; i++)
        if (fold->takes.items[i].record.type != 0 &&
            !activations[fold->takes.items[i].activation].is_ended)
            run_record(fold, SOC_STATEMENT_TAKE, &fold->takes.items[i].record);
}

/* Writes what was kept until the end of the window. */
static void write_kept(struct soc_fold *fold)
{
    write_messages(fold);
    write_activations(fold);
    for (size_t i = 0; i < fold->states.count; i++)
        if (fold->states.items[i].record.type != 0)
            run_record(fold, SOC_STATEMENT_STATE, &fold->states.items[i].record);
    for (size_t i = 0; i < fold->outputs.count; i++)
        if (fold->outputs.items[i].record.output.key > fold->outputs_shown)
            run_record(fold, SOC_STATEMENT_OUTPUT, &fold->outputs.items[i].record);
}

static void clear_window(struct soc_fold *fold)
{
    fold->window.length = 0;
    fold->messages.count = 0;
    fold->activations.count = 0;
    fold->begun.count = 0;
    fold->effects.count = 0;
    fold->takes.count = 0;
    fold->states.count = 0;
    fold->outputs.count = 0;
    fold->outputs_shown = 0;
    soc_map_fini(&fold->message_by_key);
    soc_map_fini(&fold->take_by_key);
    soc_map_fini(&fold->activation_by_agent);
    soc_map_fini(&fold->state_by_agent);
    if (fold->window.capacity > 4 * WINDOW_BYTES_MAX)
        soc_buf_fini(&fold->window);
}

/* Reads the batches behind `last` into the window, up to `bytes_max`. */
static int read_window(struct soc_fold *fold, size_t bytes_max, struct soc_detail *detail)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, SOC_STATEMENT_READ);
    int rc = SOC_OK;
    int sqlite_rc = SQLITE_ROW;
    sqlite3_bind_int64(statement, 1, (int64_t)fold->last);
    while (rc == SOC_OK && fold->last < fold->store->sequence && fold->window.length < bytes_max) {
        struct soc_slice batch;
        sqlite_rc = sqlite3_step(statement);
        if (sqlite_rc != SQLITE_ROW)
            break;
        rc = soc_journal_row(statement, fold->last + 1, &batch, detail);
        if (rc == SOC_OK) {
            soc_buf_put_slice(&fold->window, batch);
            fold->last++;
        }
    }
    sqlite3_reset(statement);
    if (sqlite_rc == SQLITE_DONE)
        return soc_fail(detail, SOC_ECORRUPT, "batch %" PRIu64 " of the journal is missing",
                        fold->last + 1);
    return sqlite_rc == SQLITE_ROW ? rc : soc_database_fail(fold->store, sqlite_rc, detail);
}

/* Applies one window and removes it from the journal. */
static int fold_window(struct soc_fold *fold, size_t bytes_max, struct soc_detail *detail)
{
    clear_window(fold);
    int rc = read_window(fold, bytes_max, detail);
    if (rc < 0)
        return rc;
    struct soc_slice rest = soc_buf_slice(&fold->window);
    struct soc_record record;
    while ((rc = soc_record_next(&rest, &record)) > 0)
        apply(fold, &record);
    if (rc < 0)
        return soc_fail(detail, rc, "a batch up to %" PRIu64 " holds bytes that are no record",
                        fold->last);
    write_kept(fold);
    sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_FORGET), 1,
                       (int64_t)fold->last);
    run(fold, SOC_STATEMENT_FORGET);
    sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_PROGRESS), 1,
                       (int64_t)fold->last);
    run(fold, SOC_STATEMENT_PROGRESS);
    return fold->rc == SQLITE_OK ? SOC_OK : soc_database_fail(fold->store, fold->rc, detail);
}

int soc_store_fold(struct soc_store *store, size_t bytes_max, struct soc_detail *detail)
{
    if (store->folded == store->sequence)
        return 0;
    int rc = soc_store_materialise(store, detail);
    if (rc < 0)
        return rc;
    if (bytes_max == 0)
        bytes_max = 1;
    if (store->fold == NULL) {
        store->fold = soc_alloc_zero(sizeof(*store->fold));
        store->fold->store = store;
    }
    struct soc_fold *fold = store->fold;
    fold->last = store->folded;
    fold->rc = SQLITE_OK;
    size_t done = 0;
    /* Not synced: if it is lost, the journal has everything. The next append syncs it. */
    rc = soc_database_exec(store, "PRAGMA synchronous = NORMAL", detail);
    if (rc == SOC_OK)
        rc = soc_database_begin(store, detail);
    while (rc == SOC_OK && fold->last < store->sequence && (done == 0 || done < bytes_max)) {
        size_t left = bytes_max - done;
        rc = fold_window(fold, left < WINDOW_BYTES_MAX ? left : WINDOW_BYTES_MAX, detail);
        done += fold->window.length;
    }
    if (rc == SOC_OK)
        rc = soc_database_commit(store, detail);
    clear_window(fold);
    if (rc < 0)
        soc_database_rollback(store);
    store->has_failed |= rc < 0 && rc != SOC_EDISKFULL;
    int sync_rc = soc_database_exec(store, store->sync_sql, rc < 0 ? NULL : detail);
    if (rc < 0 || sync_rc < 0)
        return rc < 0 ? rc : sync_rc;
    store->folded = fold->last;
    store->backlog -= done;
    rc = soc_database_checkpoint(store, SOC_WAL_PAGES_MAX, detail);
    return rc < 0 ? rc : store->folded < store->sequence;
}

void soc_fold_free(struct soc_fold *fold)
{
    if (fold == NULL)
        return;
    clear_window(fold);
    soc_buf_fini(&fold->window);
    free(fold->messages.items);
    free(fold->activations.items);
    free(fold->begun.items);
    free(fold->effects.items);
    free(fold->takes.items);
    free(fold->states.items);
    free(fold->outputs.items);
    free(fold);
}

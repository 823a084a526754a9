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
 *   3. everything else is written at once, in order.
 *
 * A line of the activity log stays as it was written, at the place it has in the order of
 * records. A message keeps the place of its line and of that of its end; what other rows
 * could not keep, since they change or go, is a row of `events`. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/fields.h"
#include "store/fold_state.h"

#define WINDOW_BYTES_MAX (1u << 20) /* unless one batch alone is larger */

void soc_fold_make_room(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return;
    *capacity = *capacity == 0 ? 64 : *capacity * 2;
    *items = soc_realloc(*items, *capacity * size);
}

void soc_fold_run(struct soc_fold *fold, enum soc_statement which)
{
    if (fold->rc == SQLITE_OK)
        fold->rc = soc_database_run(fold->store, which);
}

int soc_fold_bind(struct soc_fold *fold, enum soc_statement which, struct soc_record *record)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    const struct soc_fields *fields = soc_fields_of(record->type);
    const char *at = soc_fields_at(record);
    int index = 1;
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++) {
        if (fields->items[i].is_text)
            soc_bind_text(statement, index++, *(const struct soc_slice *)(const void *)at);
        else
            sqlite3_bind_int64(statement, index++, *(const int64_t *)(const void *)at);
    }
    return index;
}

void soc_fold_run_record(struct soc_fold *fold, enum soc_statement which, struct soc_record *record)
{
    soc_fold_bind(fold, which, record);
    soc_fold_run(fold, which);
}

void soc_fold_run_line(struct soc_fold *fold, enum soc_statement which, struct soc_record *record)
{
    int index = soc_fold_bind(fold, which, record);
    sqlite3_bind_int64(soc_database_statement(fold->store, which), index, (int64_t)++fold->lines);
    soc_fold_run(fold, which);
}

static void run_texts(struct soc_fold *fold, enum soc_statement which, struct soc_slice first,
                      const struct soc_slice *second)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    soc_bind_text(statement, 1, first);
    if (second != NULL)
        soc_bind_text(statement, 2, *second);
    soc_fold_run(fold, which);
}

/* Returns the number of the agent's activation in the window. */
static size_t need_activation(struct soc_fold *fold, struct soc_slice agent)
{
    size_t number = soc_fold_number(soc_map_find(&fold->activation_by_agent, agent));
    if (number != SOC_FOLD_NONE)
        return number;
    number = fold->activations.count;
    SOC_FOLD_ADD(fold->activations) = (struct activation_item){.last_effect = SOC_FOLD_NONE};
    soc_map_put(&fold->activation_by_agent, agent, soc_fold_value(number));
    return number;
}

static void set_activation(struct soc_fold *fold, struct soc_record *record)
{
    size_t number = need_activation(fold, record->activation.agent);
    if (fold->activations.items[number].record.type == 0)
        SOC_FOLD_ADD(fold->begun) = (struct begun_item){number};
    fold->activations.items[number].record = *record;
}

static void add_take(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation = need_activation(fold, record->take.agent);
    size_t previous = soc_fold_number(soc_map_find_number(&fold->take_by_key, record->take.key));
    soc_map_put_number(&fold->take_by_key, record->take.key, soc_fold_value(fold->takes.count));
    SOC_FOLD_ADD(fold->takes) = (struct take_item){*record, activation, previous};
}

static void add_effect(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation = need_activation(fold, record->effect.agent);
    size_t previous = fold->activations.items[activation].last_effect;
    fold->activations.items[activation].last_effect = fold->effects.count;
    SOC_FOLD_ADD(fold->effects) = (struct effect_item){*record, activation, previous};
}

static void answer_effect(struct soc_fold *fold, struct soc_record *record)
{
    size_t activation =
        soc_fold_number(soc_map_find(&fold->activation_by_agent, record->answer.agent));
    size_t effect = activation == SOC_FOLD_NONE ? SOC_FOLD_NONE
                                                : fold->activations.items[activation].last_effect;
    while (effect != SOC_FOLD_NONE &&
           fold->effects.items[effect].record.effect.index != record->answer.index)
        effect = fold->effects.items[effect].previous;
    if (effect == SOC_FOLD_NONE)
        soc_fold_run_record(fold, SOC_STATEMENT_ANSWER, record);
    else
        fold->effects.items[effect].record.effect.answer = record->answer.answer;
}

static void end_activation(struct soc_fold *fold, struct soc_slice agent)
{
    size_t number = soc_fold_number(soc_map_take(&fold->activation_by_agent, agent));
    if (number != SOC_FOLD_NONE)
        fold->activations.items[number].is_ended = true;
    run_texts(fold, SOC_STATEMENT_ACTIVATION_END, agent, NULL);
    run_texts(fold, SOC_STATEMENT_EFFECTS_END, agent, NULL);
    run_texts(fold, SOC_STATEMENT_TAKES_END, agent, NULL);
}

static void set_state(struct soc_fold *fold, struct soc_record *record)
{
    size_t number = soc_fold_number(soc_map_find(&fold->state_by_agent, record->state.agent));
    if (number != SOC_FOLD_NONE) {
        fold->states.items[number].record = *record;
        return;
    }
    soc_map_put(&fold->state_by_agent, record->state.agent, soc_fold_value(fold->states.count));
    SOC_FOLD_ADD(fold->states) = (struct plain_item){*record};
}

/* Writes the state of the agent with this id now: another life of it begins, or
 * this one ends. */
static void write_state(struct soc_fold *fold, struct soc_slice id)
{
    size_t number = soc_fold_number(soc_map_take(&fold->state_by_agent, id));
    if (number == SOC_FOLD_NONE)
        return;
    soc_fold_run_record(fold, SOC_STATEMENT_STATE, &fold->states.items[number].record);
    fold->states.items[number].record.type = 0;
}

/* One that the script names leaves no line. */
static void put_role(struct soc_fold *fold, struct soc_record *record)
{
    soc_fold_run_record(fold, SOC_STATEMENT_ROLE, record);
    if (record->role.creator.data != NULL)
        soc_fold_run_line(fold, SOC_STATEMENT_ROLE_LINE, record);
}

static void add_agent(struct soc_fold *fold, struct soc_record *record)
{
    write_state(fold, record->agent.id);
    soc_fold_run_line(fold, SOC_STATEMENT_AGENT_LINE, record);
    soc_fold_run_record(fold, SOC_STATEMENT_AGENT, record);
    if (record->agent.parent.data != NULL)
        run_texts(fold, SOC_STATEMENT_BIRTH, record->agent.parent, NULL);
}

static void end_agent(struct soc_fold *fold, struct soc_record *record)
{
    struct soc_slice id = record->agent_end.id;
    write_state(fold, id);
    run_texts(fold, SOC_STATEMENT_AGENT_CONTACTS_END, id, NULL);
    run_texts(fold, SOC_STATEMENT_PARENT_CONTACT_END, id, NULL);
    soc_fold_run_line(fold, SOC_STATEMENT_AGENT_END_LINE, record);
    soc_fold_run_record(fold, SOC_STATEMENT_AGENT_END, record);
}

/* An entry that was forgotten comes back as a new one, last in order. */
static void put_contact(struct soc_fold *fold, struct soc_record *record)
{
    run_texts(fold, SOC_STATEMENT_CONTACT_FREE, record->contact.owner, &record->contact.id);
    soc_fold_run_record(fold, SOC_STATEMENT_CONTACT, record);
    soc_fold_run_line(fold, SOC_STATEMENT_CONTACT_LINE, record);
}

static void end_contact(struct soc_fold *fold, struct soc_record *record)
{
    soc_fold_run_record(fold, SOC_STATEMENT_CONTACT_DELETE, record);
    soc_fold_run_record(fold, SOC_STATEMENT_CONTACT_FORGOTTEN, record);
}

static void end_barrier(struct soc_fold *fold, struct soc_record *record)
{
    soc_fold_run_record(fold, SOC_STATEMENT_BARRIER_END, record);
    soc_fold_run_record(fold, SOC_STATEMENT_SEATS_END, record);
}

/* The statement of a record that is written as it is. */
static enum soc_statement plain_statement(enum soc_record_type type)
{
    static const unsigned char statements[] = {
        [SOC_RECORD_AGENT_ENDING] = SOC_STATEMENT_AGENT_ENDING,
        [SOC_RECORD_AGENT_PARENT] = SOC_STATEMENT_AGENT_PARENT,
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
    case SOC_RECORD_ROLE:
        return put_role(fold, record);
    case SOC_RECORD_EVENT:
        return soc_fold_run_line(fold, SOC_STATEMENT_EVENT, record);
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
        return soc_fold_message(fold, record);
    case SOC_RECORD_MESSAGE_END:
        return soc_fold_message_end(fold, record);
    case SOC_RECORD_MESSAGE_AGAIN:
        return soc_fold_message_again(fold, record);
    case SOC_RECORD_RECEIPT:
        return soc_fold_receipt(fold, record);
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
        SOC_FOLD_ADD(fold->outputs) = (struct plain_item){*record};
        return;
    case SOC_RECORD_OUTPUT_END:
        if (record->output_end.key > fold->outputs_shown)
            fold->outputs_shown = record->output_end.key;
        return soc_fold_run_record(fold, SOC_STATEMENT_OUTPUT_END, record);
    case SOC_RECORD_BROADCAST_END:
        return soc_fold_broadcast_end(fold, record);
    case SOC_RECORD_BARRIER_END:
        return end_barrier(fold, record);
    default:
        return soc_fold_run_record(fold, plain_statement(record->type), record);
    }
}

static void write_activations(struct soc_fold *fold)
{
    struct activation_item *activations = fold->activations.items;
    for (size_t i = 0; i < fold->begun.count; i++)
        if (!activations[fold->begun.items[i].activation].is_ended)
            soc_fold_run_record(fold, SOC_STATEMENT_ACTIVATION,
                                &activations[fold->begun.items[i].activation].record);
    for (size_t i = 0; i < fold->effects.count; i++)
        if (!activations[fold->effects.items[i].activation].is_ended)
            soc_fold_run_record(fold, SOC_STATEMENT_EFFECT, &fold->effects.items[i].record);
    for (size_t i = 0; i < fold->takes.count; i++)
        if (fold->takes.items[i].record.type != 0 &&
            !activations[fold->takes.items[i].activation].is_ended)
            soc_fold_run_record(fold, SOC_STATEMENT_TAKE, &fold->takes.items[i].record);
}

/* Writes what was kept until the end of the window. */
static void write_kept(struct soc_fold *fold)
{
    soc_fold_write_messages(fold);
    write_activations(fold);
    for (size_t i = 0; i < fold->states.count; i++)
        if (fold->states.items[i].record.type != 0)
            soc_fold_run_record(fold, SOC_STATEMENT_STATE, &fold->states.items[i].record);
    for (size_t i = 0; i < fold->outputs.count; i++)
        if (fold->outputs.items[i].record.output.key > fold->outputs_shown)
            soc_fold_run_record(fold, SOC_STATEMENT_OUTPUT, &fold->outputs.items[i].record);
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
    soc_fold_run(fold, SOC_STATEMENT_FORGET);
    sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_PROGRESS), 1,
                       (int64_t)fold->last);
    sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_PROGRESS), 2,
                       (int64_t)fold->lines);
    soc_fold_run(fold, SOC_STATEMENT_PROGRESS);
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
    fold->lines = store->lines;
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
    store->lines = fold->lines;
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

#include "store/tables/fold.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/tables/fold_links.h"
#include "store/tables/fold_mail.h"
#include "store/tables/window.h"
#include "store/tables/window_rows.h"

#define WINDOW_BYTES_MAX (4u << 20) /* unless one batch alone is larger */

struct soc_fold {
    struct soc_window window;
    uint64_t last; /* sequence of the last batch read */
    bool is_open;  /* the database knows the window's rows */
};

static void run_texts(struct soc_window *window, enum soc_statement which, struct soc_slice first,
                      const struct soc_slice *second)
{
    sqlite3_stmt *statement = soc_database_statement(window->database, which);
    soc_database_bind_text(statement, 1, first);
    if (second != NULL)
        soc_database_bind_text(statement, 2, *second);
    soc_window_run(window, which);
}

/* Returns the index of the agent's activation in the window, adding it if necessary. */
static size_t need_activation(struct soc_window *window, struct soc_slice agent)
{
    size_t number = soc_window_number(soc_map_find(&window->activation_by_agent, agent));
    if (number != SOC_WINDOW_NONE)
        return number;
    number = window->activations.count;
    SOC_WINDOW_ADD(window->activations) =
        (struct soc_window_activation){.last_effect = SOC_WINDOW_NONE};
    soc_map_put(&window->activation_by_agent, agent, soc_window_value(number));
    return number;
}

static void set_activation(struct soc_window *window, struct soc_record *record)
{
    size_t number = need_activation(window, record->activation.agent);
    if (window->activations.items[number].record.type == 0)
        SOC_WINDOW_ADD(window->begun) = (struct soc_window_begun){number};
    window->activations.items[number].record = *record;
}

static void add_take(struct soc_window *window, struct soc_record *record)
{
    size_t activation = need_activation(window, record->take.agent);
    size_t previous =
        soc_window_number(soc_map_find_number(&window->take_by_key, record->take.key));
    soc_map_put_number(&window->take_by_key, record->take.key,
                       soc_window_value(window->takes.count));
    SOC_WINDOW_ADD(window->takes) = (struct soc_window_take){*record, activation, previous};
}

static void add_effect(struct soc_window *window, struct soc_record *record)
{
    size_t activation = need_activation(window, record->effect.agent);
    size_t previous = window->activations.items[activation].last_effect;
    window->activations.items[activation].last_effect = window->effects.count;
    SOC_WINDOW_ADD(window->effects) = (struct soc_window_effect){*record, activation, previous};
}

static void answer_effect(struct soc_window *window, struct soc_record *record)
{
    size_t activation =
        soc_window_number(soc_map_find(&window->activation_by_agent, record->answer.agent));
    size_t effect = activation == SOC_WINDOW_NONE
                        ? SOC_WINDOW_NONE
                        : window->activations.items[activation].last_effect;
    while (effect != SOC_WINDOW_NONE &&
           window->effects.items[effect].record.effect.index != record->answer.index)
        effect = window->effects.items[effect].previous;
    if (effect == SOC_WINDOW_NONE)
        soc_window_run_record(window, SOC_STATEMENT_ANSWER, record);
    else
        window->effects.items[effect].record.effect.answer = record->answer.answer;
}

static void end_activation(struct soc_window *window, struct soc_slice agent)
{
    size_t number = soc_window_number(soc_map_take(&window->activation_by_agent, agent));
    if (number != SOC_WINDOW_NONE)
        window->activations.items[number].is_ended = true;
    if (soc_window_has_stored(window, SOC_WINDOW_ACTIVATIONS))
        run_texts(window, SOC_STATEMENT_ACTIVATION_END, agent, NULL);
    if (soc_window_has_stored(window, SOC_WINDOW_EFFECTS))
        run_texts(window, SOC_STATEMENT_EFFECTS_END, agent, NULL);
    if (soc_window_has_stored(window, SOC_WINDOW_TAKES))
        run_texts(window, SOC_STATEMENT_TAKES_END, agent, NULL);
}

static void set_state(struct soc_window *window, struct soc_record *record)
{
    size_t number = soc_window_number(soc_map_find(&window->state_by_agent, record->state.agent));
    if (number != SOC_WINDOW_NONE) {
        window->states.items[number].record = *record;
        return;
    }
    soc_map_put(&window->state_by_agent, record->state.agent,
                soc_window_value(window->states.count));
    SOC_WINDOW_ADD(window->states) = (struct soc_window_plain){*record};
}

/* Writes the state of this agent now: its life ends, or another begins. */
static void write_state(struct soc_window *window, struct soc_slice id)
{
    size_t number = soc_window_number(soc_map_take(&window->state_by_agent, id));
    if (number == SOC_WINDOW_NONE)
        return;
    soc_window_run_record(window, SOC_STATEMENT_STATE, &window->states.items[number].record);
    window->states.items[number].record.type = 0;
}

static void put_role(struct soc_window *window, struct soc_record *record)
{
    soc_window_run_record(window, SOC_STATEMENT_ROLE, record);
    soc_window_put_line(window, record);
}

static void add_agent(struct soc_window *window, struct soc_record *record)
{
    write_state(window, record->agent.id);
    soc_window_put_line(window, record);
    soc_window_run_record(window, SOC_STATEMENT_AGENT, record);
    if (record->agent.parent.data != NULL)
        run_texts(window, SOC_STATEMENT_BIRTH, record->agent.parent, NULL);
}

static void end_agent(struct soc_window *window, struct soc_record *record)
{
    struct soc_slice id = record->agent_end.id;
    write_state(window, id);
    run_texts(window, SOC_STATEMENT_AGENT_CONTACTS_END, id, NULL);
    run_texts(window, SOC_STATEMENT_PARENT_CONTACT_END, id, NULL);
    soc_window_put_line(window, record);
    soc_window_run_record(window, SOC_STATEMENT_AGENT_END, record);
}

/* A removed entry that comes back is a new one, last in order. */
static void put_contact(struct soc_window *window, struct soc_record *record)
{
    run_texts(window, SOC_STATEMENT_CONTACT_FREE, record->contact.owner, &record->contact.id);
    soc_window_run_record(window, SOC_STATEMENT_CONTACT, record);
    soc_window_put_line(window, record);
}

static void end_contact(struct soc_window *window, struct soc_record *record)
{
    soc_window_run_record(window, SOC_STATEMENT_CONTACT_DELETE, record);
    soc_window_run_record(window, SOC_STATEMENT_CONTACT_FORGOTTEN, record);
    soc_window_put_line(window, record);
}

static void end_barrier(struct soc_window *window, struct soc_record *record)
{
    soc_window_run_record(window, SOC_STATEMENT_BARRIER_END, record);
    soc_window_run_record(window, SOC_STATEMENT_SEATS_END, record);
}

static void put_usage(struct soc_window *window, struct soc_record *record)
{
    soc_window_run_record(window, SOC_STATEMENT_USAGE, record);
    soc_window_put_line(window, record);
}

/* Returns the statement of a record that is written as it is. */
static enum soc_statement plain_statement(enum soc_record_type type)
{
    static const unsigned char statements[] = {
        [SOC_RECORD_AGENT_ENDING] = SOC_STATEMENT_AGENT_ENDING,
        [SOC_RECORD_AGENT_PARENT] = SOC_STATEMENT_AGENT_PARENT,
        [SOC_RECORD_META] = SOC_STATEMENT_META,
        [SOC_RECORD_MEMORY] = SOC_STATEMENT_MEMORY,
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
        [SOC_RECORD_CALL_KEY] = SOC_STATEMENT_CALL_KEY,
        [SOC_RECORD_CALL_KEYS_END] = SOC_STATEMENT_CALL_KEYS_END,
        [SOC_RECORD_STANDING] = SOC_STATEMENT_STANDING,
        [SOC_RECORD_SOURCE] = SOC_STATEMENT_SOURCE,
        [SOC_RECORD_HISTORY] = SOC_STATEMENT_HISTORY,
        [SOC_RECORD_HISTORY_END] = SOC_STATEMENT_HISTORY_END,
    };
    assert(type < sizeof(statements) && statements[type] != 0);
    return (enum soc_statement)statements[type];
}

static void apply(struct soc_window *window, struct soc_record *record)
{
    soc_window_count(window, record);
    switch (record->type) {
    case SOC_RECORD_ROLE:
        return put_role(window, record);
    case SOC_RECORD_EVENT:
        return soc_window_put_line(window, record);
    case SOC_RECORD_USAGE:
        return put_usage(window, record);
    case SOC_RECORD_AGENT:
        return add_agent(window, record);
    case SOC_RECORD_AGENT_END:
        return end_agent(window, record);
    case SOC_RECORD_STATE:
        return set_state(window, record);
    case SOC_RECORD_CONTACT:
        return put_contact(window, record);
    case SOC_RECORD_CONTACT_END:
        return end_contact(window, record);
    case SOC_RECORD_MESSAGE:
        return soc_fold_mail_add(window, record);
    case SOC_RECORD_MESSAGE_END:
        return soc_fold_mail_end(window, record);
    case SOC_RECORD_MESSAGE_AGAIN:
        return soc_fold_mail_again(window, record);
    case SOC_RECORD_RECEIPT:
        return soc_fold_mail_receipt(window, record);
    case SOC_RECORD_TAKE:
        return add_take(window, record);
    case SOC_RECORD_ACTIVATION:
        return set_activation(window, record);
    case SOC_RECORD_EFFECT:
        return add_effect(window, record);
    case SOC_RECORD_ANSWER:
        return answer_effect(window, record);
    case SOC_RECORD_ACTIVATION_END:
        return end_activation(window, record->activation_end.agent);
    case SOC_RECORD_OUTPUT:
        SOC_WINDOW_ADD(window->outputs) = (struct soc_window_plain){*record};
        return;
    case SOC_RECORD_OUTPUT_END:
        if (record->output_end.key > window->outputs_shown)
            window->outputs_shown = record->output_end.key;
        return soc_window_run_record(window, SOC_STATEMENT_OUTPUT_END, record);
    case SOC_RECORD_BROADCAST_END:
        return soc_fold_mail_broadcast_end(window, record);
    case SOC_RECORD_BARRIER_END:
        return end_barrier(window, record);
    case SOC_RECORD_LINK:
        return soc_fold_links_put(window, record);
    case SOC_RECORD_LINK_ITEMS:
        return soc_fold_links_number(window, record);
    default:
        return soc_window_run_record(window, plain_statement(record->type), record);
    }
}

static void write_activations(struct soc_window *window)
{
    struct soc_window_activation *activations = window->activations.items;
    for (size_t i = 0; i < window->begun.count; i++)
        if (!activations[window->begun.items[i].activation].is_ended)
            soc_window_run_record(window, SOC_STATEMENT_ACTIVATION,
                                  &activations[window->begun.items[i].activation].record);
    for (size_t i = 0; i < window->effects.count; i++)
        if (!activations[window->effects.items[i].activation].is_ended)
            soc_window_run_record(window, SOC_STATEMENT_EFFECT, &window->effects.items[i].record);
    for (size_t i = 0; i < window->takes.count; i++)
        if (window->takes.items[i].record.type != 0 &&
            !activations[window->takes.items[i].activation].is_ended)
            soc_window_run_record(window, SOC_STATEMENT_TAKE, &window->takes.items[i].record);
}

/* Writes what was held back until the end of the window. */
static void write_kept(struct soc_window *window)
{
    soc_fold_mail_write(window);
    write_activations(window);
    soc_fold_links_write(window);
    for (size_t i = 0; i < window->states.count; i++)
        if (window->states.items[i].record.type != 0)
            soc_window_run_record(window, SOC_STATEMENT_STATE, &window->states.items[i].record);
    for (size_t i = 0; i < window->outputs.count; i++)
        if (window->outputs.items[i].record.output.key > window->outputs_shown)
            soc_window_run_record(window, SOC_STATEMENT_OUTPUT, &window->outputs.items[i].record);
}

/* Reads one window, applies it and removes it from the journal. */
static int fold_window(struct soc_fold *fold, const struct soc_fold_source *source, uint64_t until,
                       size_t bytes_max, struct soc_detail *detail)
{
    struct soc_window *window = &fold->window;
    soc_window_clear(window);
    int rc = source->read(source->user, &fold->last, until, bytes_max, &window->bytes, detail);
    if (rc < 0)
        return rc;
    struct soc_slice rest = soc_buf_slice(&window->bytes);
    struct soc_record record;
    while ((rc = soc_record_next(&rest, &record)) > 0)
        apply(window, &record);
    if (rc < 0)
        return soc_fail(detail, rc, "a batch up to %" PRIu64 " holds bytes that are not a record",
                        fold->last);
    write_kept(window);
    struct soc_database *database = window->database;
    if (window->rc == SQLITE_OK)
        window->rc = soc_lines_flush(&window->block, database, window->lines);
    sqlite3_bind_int64(soc_database_statement(database, SOC_STATEMENT_FORGET), 1,
                       (int64_t)fold->last);
    soc_window_run(window, SOC_STATEMENT_FORGET);
    sqlite3_stmt *progress = soc_database_statement(database, SOC_STATEMENT_PROGRESS);
    sqlite3_bind_int64(progress, 1, (int64_t)fold->last);
    sqlite3_bind_int64(progress, 2, (int64_t)window->lines);
    soc_window_run(window, SOC_STATEMENT_PROGRESS);
    return window->rc == SQLITE_OK ? SOC_OK : soc_database_fail(database, window->rc, detail);
}

static int open_rows(struct soc_fold *fold, struct soc_detail *detail)
{
    int rc = fold->is_open ? SQLITE_OK : soc_window_rows_open(&fold->window);
    fold->is_open = rc == SQLITE_OK;
    return fold->is_open ? SOC_OK : soc_database_fail(fold->window.database, rc, detail);
}

struct soc_fold *soc_fold_new(struct soc_database *database)
{
    struct soc_fold *fold = soc_alloc_zero(sizeof(*fold));
    fold->window.database = database;
    return fold;
}

void soc_fold_free(struct soc_fold *fold)
{
    if (fold == NULL)
        return;
    soc_window_fini(&fold->window);
    free(fold);
}

int soc_fold_run(struct soc_fold *fold, const struct soc_fold_source *source,
                 struct soc_store_position *at, size_t bytes_max, struct soc_detail *detail)
{
    struct soc_database *database = fold->window.database;
    size_t done = 0;
    assert(at->folded < at->sequence && bytes_max > 0);
    fold->last = at->folded;
    fold->window.lines = at->lines;
    fold->window.rc = SQLITE_OK;
    int rc = open_rows(fold, detail);
    if (rc == SOC_OK)
        rc = soc_database_begin(database, detail);
    while (rc == SOC_OK && fold->last < at->sequence && (done == 0 || done < bytes_max)) {
        size_t left = bytes_max - done;
        rc = fold_window(fold, source, at->sequence,
                         left < WINDOW_BYTES_MAX ? left : WINDOW_BYTES_MAX, detail);
        done += fold->window.bytes.length;
    }
    if (rc == SOC_OK)
        rc = soc_database_commit(database, detail);
    soc_window_clear(&fold->window);
    if (rc < 0) {
        soc_database_rollback(database);
        database->has_failed |= rc != SOC_EDISKFULL;
        return rc;
    }
    assert(done <= at->backlog);
    at->folded = fold->last;
    at->lines = fold->window.lines;
    at->backlog -= done;
    return SOC_OK;
}

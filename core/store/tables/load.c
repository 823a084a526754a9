#include "store/tables/load.h"

#include <assert.h>

#include "base/err.h"
#include "base/limits.h"
#include "store/fields.h"
#include "store/tables/schema.h"

/* Decided items are remembered this many keys back, to answer that they are. */
#define DECIDED_FROM "(SELECT max(key) - 1000000 FROM inbox_entries)"

/* Ended agents are remembered if they are among this many born last. */
#define TOMBSTONES_LOADED "100000"

/* Where to find records of one type; columns in the order of the fields. */
struct source {
    unsigned type;
    const char *sql;
};

/* Agents and contacts come merged in their order of origin, so that everyone's contacts
 * are restored in the order they were made: an entry notes who was born last before it.
 * That number follows the fields of a record and, for an agent, how it ends: an ended
 * agent may still be named by others, and its id is not reused. Only the youngest of
 * those are remembered, so that a start does not slow down with the number of agents
 * there ever were. */
#define AGENT_COLUMNS                                                                              \
    "created_ms, id, role, parent, CASE WHEN ended_ms IS NULL THEN brief END, is_adopted,"         \
    " since, is_external, is_isolated, number, ending_ms, ended_ms, end_reason"
#define REMEMBERED_FROM "(SELECT max(number) - " TOMBSTONES_LOADED " FROM agents)"

static const struct source agents = {
    SOC_RECORD_AGENT,
    "SELECT " AGENT_COLUMNS " FROM agents INDEXED BY agents_order"
    " WHERE ended_ms IS NULL AND number <= " REMEMBERED_FROM " UNION ALL SELECT " AGENT_COLUMNS
    " FROM agents WHERE number > " REMEMBERED_FROM " ORDER BY number"};
static const struct source contacts = {SOC_RECORD_CONTACT,
                                       "SELECT added_ms, source, owner, id, role, interface_spec,"
                                       " introduced_by, via, reason, usage_hint, has_written, born"
                                       " FROM contact_entries ORDER BY number"};

#define TEXT_OF(macro)     QUOTE_OF(macro)
#define QUOTE_OF(expanded) #expanded

/* Indexes of those last columns. */
#define AGENT_NUMBER 9
#define AGENT_ENDING 10
#define AGENT_ENDED  11
#define AGENT_REASON 12
#define CONTACT_BORN 11

/* The last ended tasks of each agent. The index is walked from owner to owner, so the
 * cost depends on their number and not on that of the tasks. */
#define DONE_TASKS                                                                                 \
    "WITH RECURSIVE busy(who) AS (SELECT min(owner) FROM task_entries INDEXED BY tasks_ended"      \
    "  WHERE state >= 2 UNION ALL SELECT (SELECT min(owner) FROM task_entries"                     \
    "   INDEXED BY tasks_ended WHERE state >= 2 AND owner > busy.who) FROM busy"                   \
    "  WHERE busy.who IS NOT NULL)"                                                                \
    " SELECT {task} FROM busy CROSS JOIN task_entries t ON t.key IN (SELECT key"                   \
    "  FROM task_entries INDEXED BY tasks_ended WHERE state >= 2 AND owner = busy.who"             \
    "  ORDER BY ended_ms DESC, key DESC LIMIT " TEXT_OF(                                           \
        SOC_TASKS_DONE_MAX) ") ORDER BY ended_ms, key"

/* The task that failed with a message, and the ended tasks above it. A parent is older
 * than its children, which ends the walk. */
#define FAILED_TASK                                                                                \
    "WITH RECURSIVE up(number, above) AS (SELECT key, parent FROM task_entries"                    \
    "  WHERE key = ?1 AND state = 3 UNION ALL SELECT t.key, t.parent FROM up"                      \
    "  JOIN task_entries t ON t.key = up.above WHERE up.above < up.number)"                        \
    " SELECT {task} FROM task_entries WHERE key IN (SELECT number FROM up) AND state >= 2"         \
    " ORDER BY key DESC"

/* A dead letter with a reply in transit: if the reply is lost, the request must end. */
#define ANSWERED_LETTERS                                                                           \
    "SELECT " SOC_LOAD_LETTER_COLUMNS " FROM message_entries WHERE status IN (2, 3) AND key IN"    \
    " (SELECT reply_to FROM message_entries INDEXED BY messages_pending"                           \
    "  WHERE status = 0 AND reply_to > 0) ORDER BY key"

/* Messages of open tasks that were handled before: a retry needs them. */
#define KEPT_MESSAGES                                                                              \
    "SELECT {message}, status, finished_ms, reason FROM message_entries"                           \
    " WHERE status IN (1, 6) AND key IN (SELECT key FROM task_entries INDEXED BY tasks_open"       \
    "  WHERE state < 2) ORDER BY key"

/* Stands for agents and contacts in the list. */
#define PEOPLE                                                                                     \
    {                                                                                              \
        0, NULL                                                                                    \
    }

/* In the order of loading. The named indexes hold live rows only; other plans would read
 * all history. */
static const struct source sources[] = {
    {SOC_RECORD_META, "SELECT {meta} FROM meta ORDER BY name"},
    {SOC_RECORD_ROLE, "SELECT created_ms, id, name, prompt, behaviour, interface_spec, creator,"
                      " is_isolated FROM roles ORDER BY number"},
    PEOPLE,
    {SOC_RECORD_STANDING,
     "SELECT 0, hold, guards, births, id FROM agents INDEXED BY agents_order WHERE ended_ms IS NULL"
     " AND (hold IS NOT NULL OR guards IS NOT NULL OR births IS NOT NULL) ORDER BY number"},
    {SOC_RECORD_STATE, "SELECT id, state FROM agents INDEXED BY agents_order"
                       " WHERE ended_ms IS NULL AND state IS NOT NULL ORDER BY number"},
    {SOC_RECORD_MESSAGE, "SELECT {message}, 0 FROM message_entries"
                         " INDEXED BY messages_pending WHERE status = 0 ORDER BY key"},
    {SOC_RECORD_MESSAGE, ANSWERED_LETTERS},
    {SOC_RECORD_RECEIPT, "SELECT key, time_ms, attempt, ack FROM message_entries"
                         " INDEXED BY messages_pending WHERE status = 0 AND ack > 0 ORDER BY key"},
    {SOC_RECORD_BROADCAST_END, "SELECT {broadcast_end} FROM broadcast_ends ORDER BY key, agent"},
    {SOC_RECORD_BARRIER, "SELECT {barrier} FROM barriers ORDER BY key"},
    {SOC_RECORD_SEAT, "SELECT {seat} FROM seats ORDER BY number"},
    {SOC_RECORD_USAGE,
     "SELECT calls, input_tokens, output_tokens, cost_micros, agent,"
     " nullif(task_id, ''), model, time_ms FROM usage ORDER BY agent, task_id, model"},
    {SOC_RECORD_ACTIVATION, "SELECT {activation} FROM activations"
                            " ORDER BY number"},
    {SOC_RECORD_EFFECT, "SELECT {effect} FROM effects"
                        " ORDER BY agent, idx"},
    /* After the activations: agents without one keep only the latest entries. */
    {SOC_RECORD_MEMORY, "SELECT number, 0, agent, entry FROM memories WHERE agent IN"
                        " (SELECT id FROM agents INDEXED BY agents_order WHERE ended_ms IS NULL)"
                        " ORDER BY agent, number"},
    {SOC_RECORD_INTRODUCTION, "SELECT {introduction} FROM introductions ORDER BY key"},
    {SOC_RECORD_ITEM, "SELECT {item} FROM inbox_entries"
                      " INDEXED BY inbox_open WHERE decided_ms IS NULL ORDER BY key"},
    {SOC_RECORD_ITEM_END, "SELECT key, decided_ms, decision, NULL, NULL, NULL FROM inbox_entries"
                          " WHERE decided_ms IS NOT NULL AND key > " DECIDED_FROM " ORDER BY key"},
    {SOC_RECORD_TASK, "SELECT {task} FROM task_entries INDEXED BY tasks_open"
                      " WHERE state < 2 ORDER BY key"},
    {SOC_RECORD_TASK, DONE_TASKS},
    {SOC_RECORD_MESSAGE, KEPT_MESSAGES},
    {SOC_RECORD_POSITION, "SELECT {position} FROM positions ORDER BY name"},
    {SOC_RECORD_SENT_KEY, "SELECT {sent_key} FROM sent_keys ORDER BY number"},
    {SOC_RECORD_CALL_KEY, "SELECT {call_key} FROM call_keys ORDER BY number"},
    {SOC_RECORD_TAKE, "SELECT {take} FROM takes ORDER BY number"},
    {SOC_RECORD_OUTPUT, "SELECT {output} FROM outputs ORDER BY key"},
    {SOC_RECORD_LINK, "SELECT {link} FROM links ORDER BY peer"},
    {SOC_RECORD_LINK_ITEMS, "SELECT {link_items} FROM link_items ORDER BY number"},
};

static int read_record(sqlite3_stmt *row, unsigned type, struct soc_record *record)
{
    const struct soc_fields *fields = soc_fields_of(type);
    char *at = soc_fields_at(record);
    int column = 0;
    assert(fields != NULL && sqlite3_column_count(row) >= (int)fields->count);
    record->type = (enum soc_record_type)type;
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++) {
        if (fields->items[i].is_text)
            *(struct soc_slice *)(void *)at = soc_database_text(row, column++);
        else
            *(uint64_t *)(void *)at = (uint64_t)sqlite3_column_int64(row, column++);
    }
    return column;
}

/* Hands out the end of an agent, if it has one. */
static int load_end(sqlite3_stmt *row, struct soc_slice id, soc_record_cb *cb, void *user)
{
    struct soc_record record = {.type = SOC_RECORD_AGENT_ENDING};
    if (sqlite3_column_type(row, AGENT_ENDED) != SQLITE_NULL) {
        record.type = SOC_RECORD_AGENT_END;
        record.agent_end.time_ms = (uint64_t)sqlite3_column_int64(row, AGENT_ENDED);
        record.agent_end.id = id;
        record.agent_end.reason = soc_database_text(row, AGENT_REASON);
        record.agent_end.parent = (struct soc_slice){0};
    } else if (sqlite3_column_type(row, AGENT_ENDING) != SQLITE_NULL) {
        record.agent_ending.time_ms = (uint64_t)sqlite3_column_int64(row, AGENT_ENDING);
        record.agent_ending.id = id;
        record.agent_ending.reason = soc_database_text(row, AGENT_REASON);
    } else {
        return SOC_OK;
    }
    return cb(&record, user);
}

/* Hands out one row, which may stand for more than one record. */
static int load_row(sqlite3_stmt *row, unsigned type, soc_record_cb *cb, void *user)
{
    struct soc_record record;
    if (type == SOC_RECORD_CONTACT && sqlite3_column_type(row, 1) == SQLITE_NULL) {
        record.type = SOC_RECORD_CONTACT_END;
        record.contact_end.owner = soc_database_text(row, 2);
        record.contact_end.id = soc_database_text(row, 3);
        record.contact_end.time_ms = 0;
        return cb(&record, user);
    }
    int column = read_record(row, type, &record);
    record.row = type == SOC_RECORD_AGENT ? (uint64_t)sqlite3_column_int64(row, AGENT_NUMBER) : 0;
    int rc = cb(&record, user);
    if (rc >= 0 && type == SOC_RECORD_AGENT)
        return load_end(row, record.agent.id, cb, user);
    if (rc < 0 || type != SOC_RECORD_MESSAGE || sqlite3_column_int(row, column) == 0)
        return rc;
    struct soc_record end = {.type = SOC_RECORD_MESSAGE_END};
    end.message_end.key = record.message.key;
    end.message_end.outcome = (uint64_t)sqlite3_column_int64(row, column);
    end.message_end.time_ms = (uint64_t)sqlite3_column_int64(row, column + 1);
    end.message_end.reason = soc_database_text(row, column + 2);
    return cb(&end, user);
}

/* Adds which records could not be read. */
static int fail_reading(struct soc_database *database, int sqlite_rc, unsigned type,
                        struct soc_detail *detail)
{
    struct soc_detail inner = {0};
    int rc = soc_database_fail(database, sqlite_rc, &inner);
    return soc_fail(detail, rc, "%s (while loading records of type '%s')", inner.text,
                    soc_fields_of(type)->name);
}

/* Hands out the rows of a source, whose parameter, if it has one, is `key`. */
static int load_source(struct soc_database *database, const struct source *source, uint64_t key,
                       soc_record_cb *cb, void *user, struct soc_detail *detail)
{
    sqlite3_stmt *statement;
    int sqlite_rc = soc_database_compile(database, source->sql, &statement);
    int rc = SOC_OK;
    if (sqlite_rc == SQLITE_OK && key != 0)
        sqlite_rc = sqlite3_bind_int64(statement, 1, (int64_t)key);
    while (sqlite_rc == SQLITE_OK || sqlite_rc == SQLITE_ROW) {
        sqlite_rc = sqlite3_step(statement);
        if (sqlite_rc == SQLITE_ROW)
            rc = load_row(statement, source->type, cb, user);
        if (rc < 0)
            break;
    }
    if (rc >= 0 && sqlite_rc != SQLITE_DONE)
        rc = fail_reading(database, sqlite_rc, source->type, detail);
    sqlite3_finalize(statement);
    return rc < 0 ? rc : SOC_OK;
}

/* Steps a statement if it was prepared; true for a row. */
static bool step(sqlite3_stmt *statement, int *sqlite_rc)
{
    if (*sqlite_rc == SQLITE_OK || *sqlite_rc == SQLITE_ROW)
        *sqlite_rc = sqlite3_step(statement);
    return *sqlite_rc == SQLITE_ROW;
}

static int load_people(struct soc_database *database, soc_record_cb *cb, void *user,
                       struct soc_detail *detail)
{
    sqlite3_stmt *agent;
    sqlite3_stmt *contact;
    int agent_rc = soc_database_compile(database, agents.sql, &agent);
    int contact_rc = soc_database_compile(database, contacts.sql, &contact);
    bool has_agent = step(agent, &agent_rc);
    bool has_contact = step(contact, &contact_rc);
    int rc = SOC_OK;
    while (rc >= 0 && (has_agent || has_contact)) {
        if (has_contact && (!has_agent || sqlite3_column_int64(contact, CONTACT_BORN) <
                                              sqlite3_column_int64(agent, AGENT_NUMBER))) {
            rc = load_row(contact, contacts.type, cb, user);
            has_contact = step(contact, &contact_rc);
        } else {
            rc = load_row(agent, agents.type, cb, user);
            has_agent = step(agent, &agent_rc);
        }
    }
    if (rc >= 0 && agent_rc != SQLITE_DONE)
        rc = soc_database_fail(database, agent_rc, detail);
    else if (rc >= 0 && contact_rc != SQLITE_DONE)
        rc = soc_database_fail(database, contact_rc, detail);
    sqlite3_finalize(agent);
    sqlite3_finalize(contact);
    return rc < 0 ? rc : SOC_OK;
}

int soc_load_tables(struct soc_database *database, soc_record_cb *cb, void *user,
                    struct soc_detail *detail)
{
    int rc = SOC_OK;
    for (size_t i = 0; rc == SOC_OK && i < sizeof(sources) / sizeof(sources[0]); i++)
        rc = sources[i].sql == NULL ? load_people(database, cb, user, detail)
                                    : load_source(database, &sources[i], 0, cb, user, detail);
    return rc;
}

int soc_load_letter(struct soc_database *database, uint64_t key, soc_record_cb *cb, void *user,
                    struct soc_detail *detail)
{
    static const struct source letter = {
        SOC_RECORD_MESSAGE, "SELECT " SOC_LOAD_LETTER_COLUMNS
                            " FROM message_entries WHERE key = ?1 AND status IN (2, 3)"};
    assert(key != 0);
    return load_source(database, &letter, key, cb, user, detail);
}

int soc_load_letter_row(sqlite3_stmt *row, soc_record_cb *cb, void *user)
{
    return load_row(row, SOC_RECORD_MESSAGE, cb, user);
}

int soc_load_failed_task(struct soc_database *database, uint64_t key, soc_record_cb *cb, void *user,
                         struct soc_detail *detail)
{
    static const struct source task = {SOC_RECORD_TASK, FAILED_TASK};
    assert(key != 0);
    return load_source(database, &task, key, cb, user, detail);
}

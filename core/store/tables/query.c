/* Queries: rows of the tables as JSON.
 *
 * The name of a column says how it is shown: "name:time" is a time of the society, whose
 * date is shown as RFC 3339, 0 being absent; "name:date" is a date already; "name:json" is JSON
 * already; "name:bool" is 0 or 1; a plain name is text or a number. NULL is left out. Members come
 * in the order of the columns, which is that of their names. */
#include "store/tables/query.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "model/message_fields.h"
#include "store/tables/load.h"
#include "store/tables/schema.h"

/* One kind of query. `up` orders rows as they are answered, `down` the other way round. */
struct question {
    const char *what;
    const char *columns;
    const char *from;
    const char *where;
    const char *up;
    const char *down;
};

/* How a message shows a field of each kind. */
#define SHOW_ANSWERED(name)                                                                        \
    ", CASE WHEN foreign_reply IS NOT NULL THEN foreign_reply WHEN reply_to > 0"                   \
    " THEN message_id(CASE WHEN reply_to_ms > 0 THEN reply_to_ms ELSE"                             \
    " (SELECT q.time_ms FROM message_entries q WHERE q.key = m.reply_to) END, reply_to) END"       \
    " AS " #name
#define SHOW_FLAG(name)     ", flags & " SOC_SQL_FLAG_##name " AS \"" #name ":bool\""
#define SHOW_ID(name)       ", coalesce(foreign_id, message_id(time_ms, key)) AS " #name
#define SHOW_KEY(name)      ", " #name
#define SHOW_NAME(name)     ", " #name
#define SHOW_NUMBER(name)   ", " #name
#define SHOW_PAYLOAD(name)  ", payload AS \"" #name ":json\""
#define SHOW_PRIORITY(name) ", " SOC_SQL_PRIORITY " AS " #name
#define SHOW_RECEIVER(name) ", receiver AS \"" #name "\""
#define SHOW_ROW(name)      ", " SHOW_OF_##name
#define SHOW_SECONDS(name)                                                                         \
    ", CASE WHEN expires_ms = 0 THEN NULL WHEN (expires_ms - time_ms) % 1000 = 0"                  \
    " THEN (expires_ms - time_ms) / 1000 ELSE (expires_ms - time_ms) / 1000.0 END AS " #name
#define SHOW_SENDER(name) ", sender AS \"" #name "\""
#define SHOW_SENT(name)   ", time_ms AS \"" #name ":time\""
#define SHOW_TIME(name)   ", " DATE_OF_##name " AS \"" #name ":date\""
#define SHOW_TYPE(name)   ", " #name

#define DATE_OF_deadline "deadline_ms"
#define DATE_OF_deliver_at                                                                         \
    "CASE WHEN flags & " SOC_SQL_FLAG_dated " THEN deliver_at_ms ELSE date_ms(deliver_at_ms) END"

#define SHOW_OF_ack         "CASE WHEN ack = 1 THEN 'received' END AS ack"
#define SHOW_OF_finished_at "finished_ms AS \"finished_at:time\""
#define SHOW_OF_reason      "reason AS \"reason:why\""
#define SHOW_OF_status      SOC_SQL_STATUS " AS status"

/* Which fields the history shows. */
#define IN_ENVELOPE(kind, name) SHOW_##kind(name)
#define IN_HISTORY(kind, name)  SHOW_##kind(name)
#define IN_SCRIPTS(kind, name)
#define IN_NOWHERE(kind, name)
#define SHOW_FIELD(tag, name, kind, by, shown, hashed) IN_##shown(kind, name)

/* Every column has a comma in front of it; that of the first is cut off. */
static const char message_columns[] = SOC_MESSAGE_FIELD_MAP(SHOW_FIELD);
#define MESSAGE_COLUMNS (message_columns + 2)

/* The same of a dead letter, with how often its turn was tried; where it was never handled, how
 * often it was delivered. */
static const char letter_columns[] =
    SOC_MESSAGE_FIELD_MAP(SHOW_FIELD) ", coalesce(CASE WHEN json_valid(reason) THEN"
                                      " json_extract(reason, '$.tries') END, attempt) AS tries";

/* The same of one message, with the id of its cause. */
static const char whole_message[] = SOC_MESSAGE_FIELD_MAP(
    SHOW_FIELD) ", CASE WHEN cause > 0 THEN"
                " message_id((SELECT c.time_ms FROM message_entries c WHERE c.key = m.cause),"
                " cause) END AS caused_by";

/* Times whose dates are in the span asked for. If no clock was ever set back, the bounds on
 * times say it all. */
#define DATED(column)                                                                              \
    "(:steps = 0 OR (date_ms(" column ") >= :since AND date_ms(" column ") < :until_date))"
#define SPAN(column) column " >= :since AND " column " < :until AND " DATED(column)

/* A message that began its chain has no correlation id: its own id is that of the chain. */
#define OF_CHAIN(sent_ms)                                                                          \
    "(:correlation IS NULL OR correlation_id = :correlation"                                       \
    " OR (correlation_id IS NULL AND key = :chain_key"                                             \
    " AND message_id(" sent_ms ", key) = :correlation))"
/* A broadcast (flag 128) that the agent has read, or is yet to read. */
#define READ_BY_AGENT                                                                              \
    "EXISTS(SELECT 1 FROM events e WHERE e.key = m.key AND e.agent = :agent"                       \
    " AND e.event <> 'turn_failed')"
#define AWAITS_AGENT                                                                               \
    "(status = 0 AND EXISTS(SELECT 1 FROM agents a WHERE a.id = :agent AND a.ended_ms IS NULL"     \
    " AND coalesce(a.since, 0) <= m.key) AND NOT EXISTS(SELECT 1 FROM broadcast_ends b"            \
    " WHERE b.key = m.key AND b.agent = :agent))"
#define MESSAGE_WHERE                                                                              \
    "(:agent IS NULL OR sender = :agent OR receiver = :agent"                                      \
    " OR (flags & 128 AND (" READ_BY_AGENT " OR " AWAITS_AGENT ")))"                               \
    " AND (:task IS NULL OR task_id = :task) AND (:type IS NULL OR type = :type)"                  \
    " AND " OF_CHAIN("time_ms") " AND " SPAN("time_ms")
/* Who wrote a dead letter to whom, and the code of the error it ended with. */
#define LETTER_WHERE                                                                               \
    "status IN (2, 3) AND (:from IS NULL OR sender = :from)"                                       \
    " AND (:to IS NULL OR receiver = :to)"                                                         \
    " AND (:reason IS NULL OR reason = :reason OR CASE WHEN json_valid(reason)"                    \
    "  THEN json_extract(reason, '$.error') END = :reason) AND " MESSAGE_WHERE
/* One message, the one it answers, the one in whose turn it was sent and the first that
 * answers it. */
#define WITH_ANSWERS                                                                               \
    "key IN (SELECT :key UNION ALL SELECT q.reply_to FROM message_entries q WHERE q.key = :key"    \
    " UNION ALL SELECT q.cause FROM message_entries q WHERE q.key = :key"                          \
    " UNION ALL SELECT min(a.key) FROM message_entries a"                                          \
    " WHERE a.reply_to = :key AND a.reply_to > 0)"
#define ACTIVITY_COLUMNS                                                                           \
    "agent, coalesce(correlation_id, message_id(sent_ms, key)) AS correlation_id, detail, event,"  \
    " place AS line, coalesce((SELECT m.foreign_id FROM message_entries m"                         \
    " WHERE m.key = activity_entries.key), message_id(sent_ms, key)) AS message_id, other,"        \
    " task_id,"                                                                                    \
    " time_ms AS \"time:time\", type"
#define ACTIVITY_UP   "place"
#define ACTIVITY_DOWN "place DESC"
#define NOW           "coalesce(:now, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))"
#define ITEM_COLUMNS                                                                               \
    "agent, body AS \"body:json\", changes AS \"changes:json\", choice AS \"choice:json\", "       \
    "comment,"                                                                                     \
    " correlation_id, time_ms AS \"created_at:time\", deadline_ms AS \"deadline:time\","           \
    " decided_ms AS \"decided_at:time\", " SOC_SQL_DECISION " AS decision,"                        \
    " 'item_' || substr(message_id(time_ms, key), 5) AS id, options AS \"options:json\","          \
    " CASE WHEN decided_ms IS NULL AND deadline_ms > 0 AND date_ms(deadline_ms) <= " NOW           \
    " THEN 1 END AS \"overdue:bool\", " SOC_SQL_PRIORITY " AS priority,"                           \
    " CASE WHEN decided_ms IS NULL THEN 'open' WHEN decision = 4 THEN 'withdrawn'"                 \
    " ELSE 'decided' END AS state, task_id, title"
#define ITEM_WHERE                                                                                 \
    "(:agent IS NULL OR agent = :agent) AND (:task IS NULL OR task_id = :task)"                    \
    " AND (:correlation IS NULL OR correlation_id = :correlation) AND " SPAN("time_ms")
/* When a task is retried: when its message is due. */
#define RETRY_MS                                                                                   \
    "CASE WHEN t.state = 0 AND t.tries > 0 THEN (SELECT m.deliver_at_ms FROM message_entries m"    \
    " WHERE m.key = t.key) END"
#define TASK_COLUMNS                                                                               \
    "owner AS agent, assigner, correlation_id, deadline_ms AS \"deadline:date\","                  \
    " ended_ms AS \"ended_at:time\", message_id(opened_ms, key) AS message_id,"                    \
    " opened_ms AS \"opened_at:time\","                                                            \
    " (SELECT p.id FROM task_entries p WHERE p.key = t.parent) AS parent,"                         \
    " 'P' || priority AS priority, reason AS \"reason:json\", " RETRY_MS " AS \"retry_at:time\","  \
    " started_ms AS \"started_at:time\", " SOC_SQL_TASK_STATE " AS state, id AS task_id, tries,"   \
    " " SOC_SQL_TASK_STYLE " AS type"
/* An entry without role or services shows those of the agent's role. */
#define SPEC_OF_CONTACT                                                                            \
    "coalesce(interface_spec, (SELECT r.interface_spec FROM agents a JOIN roles r ON"              \
    " r.id = a.role WHERE a.id = contacts.id AND a.ended_ms IS NULL))"
#define ROLE_OF_CONTACT                                                                            \
    "coalesce(role, (SELECT coalesce(r.name, a.role) FROM agents a LEFT JOIN roles r ON"           \
    " r.id = a.role WHERE a.id = contacts.id ORDER BY a.number DESC LIMIT 1))"
#define OF_CONTACT(column)                                                                         \
    "(SELECT e." column " FROM contact_entries e WHERE e.owner = contacts.owner"                   \
    " AND e.id = contacts.id)"

static const struct question questions[] = {
    {"agents",
     "brief AS \"brief:json\", created_ms AS \"created_at:time\", end_reason,"
     " ended_ms AS \"ended_at:time\", ending_ms AS \"ending_at:time\", id, parent,"
     " json_object('id', role, 'name', coalesce((SELECT r.name FROM roles r"
     " WHERE r.id = agents.role), role)) AS \"role:json\","
     " CASE WHEN ended_ms IS NOT NULL THEN 'stopped' WHEN hold & 2 THEN 'failed'"
     " WHEN hold & 1 THEN 'paused' WHEN ending_ms IS NOT NULL THEN 'ending' END AS status",
     "agents", "(:agent IS NULL OR id = :agent) AND " SPAN("created_ms"), "number", "number DESC"},
    {"contacts",
     "added_ms AS \"addedAt:time\", id, " SPEC_OF_CONTACT " AS \"interfaceSpec:json\","
     " introduced_by AS \"introducedBy\", owner, " OF_CONTACT(
         "reason") " AS reason,"
                   " " ROLE_OF_CONTACT " AS role, source, " OF_CONTACT(
                       "usage_hint") " AS \"usageHint\", via AS \"via:json\"",
     "contacts", "(:agent IS NULL OR owner = :agent) AND " SPAN("added_ms"), "added_ms, owner, id",
     "added_ms DESC, owner DESC, id DESC"},
    {"messages", MESSAGE_COLUMNS, "message_entries m", MESSAGE_WHERE, "key", "key DESC"},
    {"usage",
     "agent, calls, cost_micros / 1e6 AS cost, input_tokens, model, output_tokens,"
     " nullif(task_id, '') AS task_id",
     "usage", "(:agent IS NULL OR agent = :agent) AND (:task IS NULL OR task_id = :task)",
     "agent, task_id, model", "agent DESC, task_id DESC, model DESC"},
    {"dead_letters", letter_columns + 2, "message_entries m INDEXED BY messages_dead", LETTER_WHERE,
     "key", "key DESC"},
    {"message", whole_message + 2, "message_entries m", WITH_ANSWERS, "key", "key DESC"},
    {"life", ACTIVITY_COLUMNS, "activity_entries", "key = :key", ACTIVITY_UP, ACTIVITY_DOWN},
    {"inbox", ITEM_COLUMNS, "inbox_entries m INDEXED BY inbox_open",
     "decided_ms IS NULL AND " ITEM_WHERE, "m.priority, key", "m.priority DESC, key DESC"},
    {"inbox_past", ITEM_COLUMNS, "inbox_entries m",
     "(:state = 'all' OR (decided_ms IS NOT NULL AND (:state = 'withdrawn') = (decision = 4)))"
     " AND " ITEM_WHERE,
     "key", "key DESC"},
    {"item", ITEM_COLUMNS, "inbox_entries m", "key = :key", "key", "key DESC"},
    {"tasks", TASK_COLUMNS, "task_entries t",
     "(:agent IS NULL OR owner = :agent OR assigner = :agent) AND (:task IS NULL OR id = :task)"
     " AND (:type IS NULL OR " SOC_SQL_TASK_STATE " = :type OR " SOC_SQL_TASK_STYLE " = :type)"
     " AND (:correlation IS NULL OR correlation_id = :correlation) AND " SPAN("opened_ms"),
     "key", "key DESC"},
    {"roles",
     "behaviour, created_ms AS \"created_at:time\", creator, id,"
     " interface_spec AS \"interface_spec:json\", name, prompt",
     "roles", SPAN("created_ms"), "number", "number DESC"},
    {"meta", "name, value", "meta", "1", "name", "name DESC"},
};

/* Row numbers that depend on how the journal was folded are left out. */
static const char *const dump_sql[] = {
    "SELECT 'activations' AS \"table\", agent, key, time_ms, retries FROM activations"
    " ORDER BY agent",
    "SELECT 'agents' AS \"table\", number, id, role, parent, is_adopted, is_external, is_isolated,"
    " created_ms, "
    "ending_ms,"
    " ended_ms, end_reason, hold, guards, births, brief AS \"brief:json\", state AS \"state:json\" "
    "FROM agents"
    " ORDER BY number",
    "SELECT 'barriers' AS \"table\", * FROM barriers ORDER BY key",
    "SELECT 'broadcast_ends' AS \"table\", * FROM broadcast_ends ORDER BY key, agent",
    "SELECT 'call_keys' AS \"table\", number, time_ms, body, text, answer AS \"answer:json\""
    " FROM call_keys ORDER BY number",
    "SELECT 'contact_entries' AS \"table\", owner, id, source, role,"
    " interface_spec AS \"interface_spec:json\", introduced_by, via AS \"via:json\", added_ms,"
    " usage_hint"
    " FROM contact_entries ORDER BY owner, id",
    "SELECT 'effects' AS \"table\", agent, idx, hash, kind, answer AS \"answer:json\","
    " wait AS \"wait:json\", arguments AS \"arguments:json\" FROM effects ORDER BY agent, idx",
    "SELECT 'events' AS \"table\", * FROM events ORDER BY number",
    "SELECT 'history' AS \"table\", number, time_ms, key, checksum, what, agent,"
    " detail AS \"detail:json\" FROM history WHERE what IN ('run', 'question') ORDER BY number",
    "SELECT 'inbox_entries' AS \"table\", * FROM inbox_entries ORDER BY key",
    "SELECT 'message_entries' AS \"table\", key, time_ms, status, priority, flags, attempt, hops,"
    " reply_to, reply_to_ms, expires_ms, deliver_at_ms, deadline_ms, finished_ms, place, end_place,"
    " sender, receiver, type, task_id, correlation_id, external_id, dedupe_key, traceparent,"
    " reason, ack, cause, foreign_id, foreign_reply, payload AS \"payload:json\" FROM "
    "message_entries ORDER BY key",
    "SELECT 'link_items' AS \"table\", peer, first, count, keys FROM link_items"
    " ORDER BY peer, first",
    "SELECT 'links' AS \"table\", * FROM links ORDER BY peer",
    "SELECT 'memories' AS \"table\", agent, number, time_ms, entry AS \"entry:json\""
    " FROM memories ORDER BY agent, number",
    "SELECT 'meta' AS \"table\", name, value FROM meta ORDER BY name",
    "SELECT 'outputs' AS \"table\", * FROM outputs ORDER BY key",
    "SELECT 'positions' AS \"table\", * FROM positions ORDER BY name",
    "SELECT 'roles' AS \"table\", id, name, prompt, behaviour,"
    " interface_spec AS \"interface_spec:json\", creator, created_ms,"
    " is_isolated FROM roles ORDER BY id",
    "SELECT 'seats' AS \"table\", key, agent, question, asked_ms, state, payload AS "
    "\"payload:json\""
    " FROM seats ORDER BY key, agent",
    "SELECT 'sent_keys' AS \"table\", since_ms, key, sent_ms, text FROM sent_keys ORDER BY text",
    "SELECT 'tasks' AS \"table\", key, state, style, priority, alerts, tries, parent, opened_ms,"
    " started_ms, ended_ms, deadline_ms, limit_ms, id, assigner, owner, correlation_id,"
    " reason AS \"reason:json\" FROM task_entries ORDER BY key",
    "SELECT 'takes' AS \"table\", agent, key FROM takes ORDER BY agent, key",
    "SELECT 'usage' AS \"table\", * FROM usage ORDER BY agent, task_id, model",
};

static void put_text(struct soc_buf *out, sqlite3_stmt *row, int column, bool is_json)
{
    struct soc_slice text = soc_slice((const char *)sqlite3_column_text(row, column),
                                      (size_t)sqlite3_column_bytes(row, column));
    if (is_json && soc_json_check(text, NULL) == SOC_OK)
        soc_buf_put_slice(out, text);
    else
        soc_json_put_string(out, text);
}

static void put_member(const struct soc_calendar *calendar, struct soc_buf *out, sqlite3_stmt *row,
                       int column)
{
    const char *title = sqlite3_column_name(row, column);
    const char *colon = strchr(title, ':');
    const char *kind = colon == NULL ? "" : colon + 1;
    char name[64];
    size_t length = colon == NULL ? strlen(title) : (size_t)(colon - title);
    int type = sqlite3_column_type(row, column);
    bool is_date = strcmp(kind, "date") == 0;
    bool is_time = is_date || strcmp(kind, "time") == 0;
    if (type == SQLITE_NULL || strcmp(kind, "hidden") == 0 ||
        (is_time && sqlite3_column_int64(row, column) == 0))
        return;
    assert(length < sizeof(name));
    memcpy(name, title, length);
    name[length] = '\0';
    soc_json_put_name(out, name);
    if (is_time)
        soc_time_put_json(out,
                          is_date ? sqlite3_column_int64(row, column)
                                  : soc_calendar_date(calendar, sqlite3_column_int64(row, column)));
    else if (strcmp(kind, "bool") == 0)
        soc_buf_put_text(out, sqlite3_column_int(row, column) != 0 ? "true" : "false");
    else if (type == SQLITE_INTEGER)
        soc_json_put_integer(out, sqlite3_column_int64(row, column));
    else if (type == SQLITE_FLOAT)
        soc_json_put_number(out, sqlite3_column_double(row, column));
    else
        put_text(out, row, column, strcmp(kind, "json") == 0);
}

/* Why a message ended: of an error object, `reason` is the code and `error` the object. */
static void put_reason(struct soc_buf *out, sqlite3_stmt *row, int column)
{
    struct soc_slice text = soc_slice((const char *)sqlite3_column_text(row, column),
                                      (size_t)sqlite3_column_bytes(row, column));
    if (text.data == NULL)
        return;
    struct soc_slice code = {0};
    if (soc_json_check(text, NULL) == SOC_OK)
        code = soc_json_member(text, "error");
    soc_json_put_name(out, "reason");
    if (code.data == NULL) {
        soc_json_put_string(out, text);
        return;
    }
    soc_buf_put_slice(out, code);
    soc_json_put_name(out, "error");
    soc_buf_put_slice(out, text);
}

static void put_row(const struct soc_calendar *calendar, struct soc_buf *out, sqlite3_stmt *row)
{
    soc_buf_put_byte(out, '{');
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        if (strcmp(sqlite3_column_name(row, i), "reason:why") == 0)
            put_reason(out, row, i);
        else
            put_member(calendar, out, row, i);
    }
    soc_buf_put_byte(out, '}');
}

static void put_comma(struct soc_buf *out)
{
    if (out->length > 0 && out->data[out->length - 1] == '}')
        soc_buf_put_byte(out, ',');
}

/* Appends all rows, separated by commas; SOC_ETOOLARGE beyond `bytes_max` (0: no bound). */
static int put_rows(struct soc_database *database, sqlite3_stmt *statement, size_t bytes_max,
                    struct soc_buf *out, struct soc_detail *detail)
{
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        put_comma(out);
        put_row(&database->calendar, out, statement);
        if (bytes_max > 0 && out->length > bytes_max)
            return soc_fail(detail, SOC_ETOOLARGE, "the rows have more than %zu MB; ask for fewer",
                            bytes_max >> 20);
    }
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

/* Appends rows that come last first, in reverse order. */
static int put_rows_reversed(struct soc_database *database, sqlite3_stmt *statement,
                             struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_buf rows = {0};
    struct soc_buf starts = {0}; /* size_t each */
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        soc_buf_put(&starts, &rows.length, sizeof(rows.length));
        put_row(&database->calendar, &rows, statement);
    }
    size_t end = rows.length;
    for (size_t at = starts.length; at > 0; at -= sizeof(size_t)) {
        size_t start;
        memcpy(&start, starts.data + at - sizeof(start), sizeof(start));
        put_comma(out);
        soc_buf_put(out, rows.data + start, end - start);
        end = start;
    }
    soc_buf_fini(&rows);
    soc_buf_fini(&starts);
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

static void bind_named_text(sqlite3_stmt *statement, const char *name, struct soc_slice text)
{
    int index = sqlite3_bind_parameter_index(statement, name);
    if (index > 0)
        soc_database_bind_text(statement, index, text);
}

static void bind_named_number(sqlite3_stmt *statement, const char *name, int64_t number)
{
    int index = sqlite3_bind_parameter_index(statement, name);
    if (index > 0)
        sqlite3_bind_int64(statement, index, number);
}

/* Returns the key of the message that the query is about: its id may be one that another host
 * has given, and its key then that of another message or of none. */
static uint64_t key_of(struct soc_database *database, const struct soc_query *query, uint64_t key)
{
    static const char sql[] = "SELECT min(key) FROM message_entries WHERE foreign_id = ?1";
    sqlite3_stmt *row;
    struct soc_detail detail;
    if (query->id.data == NULL || soc_database_prepare(database, sql, &row, &detail) < 0)
        return key;
    soc_database_bind_text(row, 1, query->id);
    if (sqlite3_step(row) == SQLITE_ROW && sqlite3_column_int64(row, 0) > 0)
        key = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return key;
}

static void bind_query(struct soc_database *database, sqlite3_stmt *statement,
                       const struct soc_query *query)
{
    bind_named_text(statement, ":agent", query->agent);
    bind_named_text(statement, ":task", query->task);
    bind_named_text(statement, ":type", query->type);
    bind_named_text(statement, ":correlation", query->correlation_id);
    bind_named_text(statement, ":from", query->from);
    bind_named_text(statement, ":to", query->to);
    bind_named_text(statement, ":reason", query->reason);
    bind_named_text(statement, ":state", query->state);
    bind_named_number(statement, ":key", (int64_t)key_of(database, query, query->key));
    uint64_t chain_key;
    if (query->correlation_id.data != NULL &&
        soc_message_id_parse(query->correlation_id, &chain_key))
        bind_named_number(statement, ":chain_key", (int64_t)chain_key);
    if (query->now_ms > 0)
        bind_named_number(statement, ":now", query->now_ms);
    int64_t until_date_ms = query->until_ms > 0 ? query->until_ms : INT64_MAX;
    int64_t until_ms = soc_calendar_until(&database->calendar, until_date_ms);
    bind_named_number(statement, ":since", query->since_ms > 0 ? query->since_ms : INT64_MIN);
    bind_named_number(statement, ":until", until_ms);
    bind_named_number(statement, ":until_date", until_date_ms);
    bind_named_number(statement, ":steps", database->calendar.count);
    bind_named_number(statement, ":limit", query->limit);
}

int soc_query_read_calendar(struct soc_database *database, struct soc_detail *detail)
{
    sqlite3_stmt *row = soc_database_statement(database, SOC_STATEMENT_CLOCK);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    database->calendar.count = 0;
    if (rc == SQLITE_ROW)
        soc_calendar_read(&database->calendar, soc_database_text(row, 0));
    sqlite3_reset(row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SOC_OK : soc_database_fail(database, rc, detail);
}

static const struct question *find_question(const char *what)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (strcmp(questions[i].what, what) == 0)
            return &questions[i];
    return NULL;
}

int soc_query_prepare(struct soc_database *database, const struct soc_query *query,
                      bool is_backwards, sqlite3_stmt **out, struct soc_detail *detail)
{
    const struct question *question = find_question(soc_query_name(query));
    assert(question != NULL);
    struct soc_buf sql = {0};
    soc_buf_printf(&sql,
                   "SELECT %s, key AS \"key:hidden\" FROM %s WHERE %s"
                   " AND key > :low AND key <= :high ORDER BY %s",
                   question->columns, question->from, question->where,
                   is_backwards ? question->down : question->up);
    int rc = soc_database_prepare(database, soc_buf_text(&sql), out, detail);
    soc_buf_fini(&sql);
    if (rc == SOC_OK)
        bind_query(database, *out, query);
    return rc;
}

void soc_query_bind_span(sqlite3_stmt *statement, int64_t low, int64_t high)
{
    bind_named_number(statement, ":low", low);
    bind_named_number(statement, ":high", high);
}

void soc_query_put_row(struct soc_database *database, struct soc_buf *out, sqlite3_stmt *row)
{
    put_row(&database->calendar, out, row);
}

static int answer_question(struct soc_database *database, const struct question *question,
                           const struct soc_query *query, struct soc_buf *out,
                           struct soc_detail *detail)
{
    bool is_limited = query->limit > 0;
    struct soc_buf sql = {0};
    soc_buf_printf(&sql, "SELECT %s FROM %s WHERE %s ORDER BY %s%s", question->columns,
                   question->from, question->where, is_limited ? question->down : question->up,
                   is_limited ? " LIMIT :limit" : "");
    sqlite3_stmt *statement;
    int rc = soc_database_prepare(database, soc_buf_text(&sql), &statement, detail);
    soc_buf_fini(&sql);
    if (rc == SOC_OK)
        bind_query(database, statement, query);
    if (rc == SOC_OK)
        rc = is_limited ? put_rows_reversed(database, statement, out, detail)
                        : put_rows(database, statement, query->bytes_max, out, detail);
    sqlite3_finalize(statement);
    return rc;
}

static int dump(struct soc_database *database, struct soc_buf *out, struct soc_detail *detail)
{
    int rc = SOC_OK;
    for (size_t i = 0; rc == SOC_OK && i < sizeof(dump_sql) / sizeof(dump_sql[0]); i++) {
        sqlite3_stmt *statement;
        rc = soc_database_prepare(database, dump_sql[i], &statement, detail);
        if (rc == SOC_OK)
            rc = put_rows(database, statement, 0, out, detail);
        sqlite3_finalize(statement);
    }
    return rc;
}

/* Letters a page looks at, and the bytes after which it ends. Both keep a page to some
 * milliseconds. */
#define LETTERS_LOOKED_AT 1000
#define LETTERS_BYTES     (256u << 10)

/* Reads the last line of the log, and the key of the last letter a page looks at: 0, there
 * is none. */
static int find_span(struct soc_database *database, const struct soc_letters_span *span,
                     struct soc_letters_page *page, uint64_t *last, struct soc_detail *detail)
{
    static const char sql[] =
        "SELECT (SELECT lines FROM progress), max(key), count(*) FROM (SELECT key"
        " FROM message_entries INDEXED BY messages_dead WHERE status IN (2, 3) AND key > ?1"
        " ORDER BY key LIMIT ?2)";
    sqlite3_stmt *statement;
    int rc = soc_database_prepare(database, sql, &statement, detail);
    int sqlite_rc = SQLITE_ROW;
    if (rc == SOC_OK) {
        sqlite3_bind_int64(statement, 1, (int64_t)span->after);
        sqlite3_bind_int64(statement, 2, LETTERS_LOOKED_AT);
        sqlite_rc = sqlite3_step(statement);
    }
    if (rc == SOC_OK && sqlite_rc == SQLITE_ROW) {
        page->line = (uint64_t)sqlite3_column_int64(statement, 0);
        *last = (uint64_t)sqlite3_column_int64(statement, 1);
        page->next = sqlite3_column_int64(statement, 2) < LETTERS_LOOKED_AT ? 0 : *last;
    }
    sqlite3_finalize(statement);
    return sqlite_rc == SQLITE_ROW ? rc : soc_database_fail(database, sqlite_rc, detail);
}

static int put_record(const struct soc_record *record, void *user)
{
    soc_record_put(user, record);
    return SOC_OK;
}

/* Appends the records of the letters in the rows, or counts them. A page that is full says
 * where the next one begins. */
static int put_letters(struct soc_database *database, sqlite3_stmt *statement, bool is_count,
                       struct soc_letters_page *page, struct soc_buf *out,
                       struct soc_detail *detail)
{
    size_t begin = out->length;
    int sqlite_rc;
    int rc = SOC_OK;
    while (rc == SOC_OK && (sqlite_rc = sqlite3_step(statement)) == SQLITE_ROW) {
        uint64_t key =
            (uint64_t)sqlite3_column_int64(statement, sqlite3_column_count(statement) - 1);
        page->count++;
        if (is_count)
            continue;
        rc = soc_load_letter_row(statement, put_record, out);
        if (rc == SOC_OK)
            rc = soc_load_failed_task(database, key, put_record, out, detail);
        if (rc == SOC_OK && out->length - begin >= LETTERS_BYTES) {
            page->next = key;
            return SOC_OK;
        }
    }
    return rc < 0 || sqlite_rc == SQLITE_DONE ? rc : soc_database_fail(database, sqlite_rc, detail);
}

static int answer_letters(struct soc_database *database, const struct soc_query *query,
                          struct soc_buf *out, struct soc_detail *detail)
{
    const struct soc_letters_span *span = &query->span;
    struct soc_letters_page page = {0};
    struct soc_buf records = {0};
    uint64_t key = span->key == 0 ? 0 : key_of(database, query, span->key);
    uint64_t last = key;
    sqlite3_stmt *statement = NULL;
    int rc = key != 0 ? SOC_OK : find_span(database, span, &page, &last, detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(
            database,
            "SELECT " SOC_LOAD_LETTER_COLUMNS
            ", key FROM message_entries m INDEXED BY messages_dead"
            " WHERE " LETTER_WHERE
            " AND key > :after AND key <= :last AND coalesce(end_place, 0) <= :line ORDER BY key",
            &statement, detail);
    if (rc == SOC_OK) {
        bind_query(database, statement, query);
        bind_named_number(statement, ":after", (int64_t)(key != 0 ? key - 1 : span->after));
        bind_named_number(statement, ":last", (int64_t)last);
        bind_named_number(statement, ":line", span->line == 0 ? INT64_MAX : (int64_t)span->line);
        rc = put_letters(database, statement, span->is_count, &page, &records, detail);
    }
    sqlite3_finalize(statement);
    if (rc == SOC_OK) {
        soc_buf_put(out, &page, sizeof(page));
        soc_buf_put_slice(out, soc_buf_slice(&records));
    }
    soc_buf_fini(&records);
    return rc;
}

/* Items that are over are found without the index. */
const char *soc_query_name(const struct soc_query *query)
{
    bool is_past = query->state.data != NULL && !soc_slice_equal(query->state, SOC_SLICE("open"));
    return is_past && strcmp(query->what, "inbox") == 0 ? "inbox_past" : query->what;
}

int soc_query_answer(struct soc_database *database, const struct soc_query *query,
                     struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_buf rows = {0};
    int rc = soc_query_read_calendar(database, detail);
    if (rc < 0)
        return rc;
    if (strcmp(query->what, "letters") == 0)
        return answer_letters(database, query, out, detail);
    soc_buf_put_byte(&rows, '[');
    if (strcmp(query->what, "dump") == 0) {
        rc = dump(database, &rows, detail);
    } else {
        const struct question *question = find_question(soc_query_name(query));
        rc = question != NULL ? answer_question(database, question, query, &rows, detail)
                              : soc_fail(detail, SOC_EINVAL, "there is no query '%s'", query->what);
    }
    soc_buf_put_byte(&rows, ']');
    if (rc == SOC_OK)
        soc_buf_put_slice(out, soc_buf_slice(&rows));
    soc_buf_fini(&rows);
    return rc;
}

#include "store/tables/schema.h"

#include "model/message_fields.h"

/* A time and a message id in plain SQL, as env/clock and env/ids print them. */
#define DATE(ms)                                                                                   \
    "strftime('%Y-%m-%dT%H:%M:%S', " ms " / 1000, 'unixepoch') || printf('.%03dZ', " ms " % 1000)"
/* The date at a time of the society, by the steps of the calendar (env/calendar.h). */
#define DATE_MS(ms)                                                                                \
    "(" ms " - coalesce((SELECT s.value ->> 1 FROM json_each((SELECT c.value FROM meta c WHERE"    \
    " c.name = 'clock')) s WHERE s.value ->> 0 <= " ms " ORDER BY s.key DESC LIMIT 1), 0))"
#define TIME(ms) DATE(DATE_MS(ms))
#define ID(ms, key)                                                                                \
    "'msg_' || strftime('%Y%m%d_%H%M%S_', " ms " / 1000, 'unixepoch')"                             \
    " || printf('%03d%02d%010x', " ms " % 1000, (" key ") >> 40, (" key ") & 1099511627775)"

/* What the views show. */
#define MESSAGE_ID ID("m.time_ms", "m.key")
#define SHOWN_ID   "coalesce(m.foreign_id, " MESSAGE_ID ")"
#define ANSWERED_ID                                                                                \
    "coalesce(m.foreign_reply, " ID("coalesce(nullif(m.reply_to_ms, 0), q.time_ms)",               \
                                    "m.reply_to") ")"
#define ACTIVITY_ID   ID("sent_ms", "key")
#define SENT_AT       TIME("m.time_ms")
#define DEADLINE      TIME("m.deadline_ms") /* of an item: a time */
#define FINISHED_AT   TIME("m.finished_ms")
#define ACTIVITY_TIME TIME("time_ms")
#define ITEM_ID       "'item_' || substr(" MESSAGE_ID ", 5)"
#define DECIDED_AT    TIME("m.decided_ms")
#define OPENED_AT     TIME("t.opened_ms")
#define STARTED_AT    TIME("t.started_ms")
#define ENDED_AT      TIME("t.ended_ms")
#define TASK_DEADLINE DATE("t.deadline_ms")

/* How the view `messages` shows a field of each kind. Its first columns are written out. */
#define VIEW_ACK(name)
#define VIEW_ANSWERED(name) ", CASE WHEN m.reply_to > 0 THEN " ANSWERED_ID " END AS " #name
#define VIEW_FLAG(name)     ", m.flags & " SOC_SQL_FLAG_##name " AS " #name
#define VIEW_ID(name)
#define VIEW_KEY(name) ", m." #name
#define VIEW_MARK(name)
#define VIEW_NAME(name)     VIEW_KEY(name)
#define VIEW_NUMBER(name)   VIEW_KEY(name)
#define VIEW_PAYLOAD(name)  VIEW_KEY(name)
#define VIEW_PRIORITY(name) ", " SOC_SQL_PRIORITY " AS " #name
#define VIEW_RECEIVER(name)
#define VIEW_ROW(name) ", " VIEW_OF_##name " AS " #name
#define VIEW_SECONDS(name)                                                                         \
    ", CASE WHEN m.expires_ms > 0 THEN (m.expires_ms - m.time_ms) / 1000.0 END AS " #name
#define VIEW_SENDER(name)
#define VIEW_SENT(name)
#define VIEW_SPAN(name)
#define VIEW_TIME(name) ", CASE WHEN m." #name "_ms > 0 THEN " VIEW_DATE_OF_##name " END AS " #name
#define VIEW_TYPE(name) VIEW_KEY(name)

#define VIEW_DATE_OF_deadline DATE("m.deadline_ms")
#define VIEW_DATE_OF_deliver_at                                                                    \
    "CASE WHEN m.flags & " SOC_SQL_FLAG_dated                                                      \
    " THEN " DATE("m.deliver_at_ms") " ELSE " TIME("m.deliver_at_ms") " END"

#define VIEW_OF_ack         "CASE WHEN m.ack = 1 THEN 'received' END"
#define VIEW_OF_finished_at "CASE WHEN m.finished_ms > 0 THEN " FINISHED_AT " END"
#define VIEW_OF_reason      "m.reason"
#define VIEW_OF_status      SOC_SQL_STATUS

#define VIEW_FIELD(tag, name, kind, ...) VIEW_##kind(name)
#define MESSAGE_VIEW                     SOC_MESSAGE_FIELD_MAP(VIEW_FIELD)

/* Tables that came with a later version. */
#define INTRODUCTIONS                                                                              \
    "CREATE TABLE introductions("                                                                  \
    " key INTEGER PRIMARY KEY, time_ms INTEGER, for_key INTEGER, flags INTEGER, consent INTEGER,"  \
    " question INTEGER, deadline_ms INTEGER, requester TEXT, broker TEXT, correlation_id TEXT,"    \
    " reason TEXT, asked TEXT, found TEXT, usage_hint TEXT, via TEXT);"

/* `more` names the columns of later versions. */
#define INBOX(more)                                                                                \
    "CREATE TABLE inbox_entries("                                                                  \
    " key INTEGER PRIMARY KEY, time_ms INTEGER, priority INTEGER, deadline_ms INTEGER,"            \
    " agent TEXT, title TEXT, body TEXT, options TEXT, task_id TEXT, correlation_id TEXT,"         \
    " decided_ms INTEGER, decision INTEGER, changes TEXT, comment TEXT" more ");"                  \
    "CREATE INDEX inbox_open ON inbox_entries(key) WHERE decided_ms IS NULL;"
/* Conversations with models, and their usage. */
#define MODELS(more)                                                                               \
    "CREATE TABLE memories(number INTEGER, time_ms INTEGER, agent TEXT, entry TEXT,"               \
    " PRIMARY KEY(agent, number)) WITHOUT ROWID;"                                                  \
    "CREATE TABLE usage(calls INTEGER, input_tokens INTEGER, output_tokens INTEGER,"               \
    " cost_micros INTEGER, agent TEXT, task_id TEXT, model TEXT,"                                  \
    "" more " PRIMARY KEY(agent, task_id, model)) WITHOUT ROWID;"

#define TASKS                                                                                      \
    "CREATE TABLE task_entries("                                                                   \
    " key INTEGER PRIMARY KEY, state INTEGER NOT NULL, style INTEGER, priority INTEGER,"           \
    " alerts INTEGER, tries INTEGER, parent INTEGER, opened_ms INTEGER, started_ms INTEGER,"       \
    " ended_ms INTEGER, deadline_ms INTEGER, limit_ms INTEGER, id TEXT, assigner TEXT,"            \
    " owner TEXT, correlation_id TEXT, reason TEXT);"                                              \
    "CREATE INDEX tasks_open ON task_entries(key) WHERE state < 2;"                                \
    "CREATE INDEX tasks_ended ON task_entries(owner, ended_ms, key) WHERE state >= 2;"

/* Progress of broadcasts and barriers that are not over. */
#define ATONCE                                                                                     \
    "CREATE TABLE broadcast_ends(key INTEGER, time_ms INTEGER, outcome INTEGER, agent TEXT,"       \
    " PRIMARY KEY(key, agent)) WITHOUT ROWID;"                                                     \
    "CREATE TABLE barriers("                                                                       \
    " key INTEGER PRIMARY KEY, time_ms INTEGER, deadline_ms INTEGER, owner TEXT);"                 \
    "CREATE TABLE seats("                                                                          \
    " number INTEGER PRIMARY KEY, key INTEGER, question INTEGER, asked_ms INTEGER,"                \
    " state INTEGER, agent TEXT, payload TEXT, UNIQUE(key, agent));"

/* Deduplication keys of senders, oldest first. */
#define SENT_KEYS                                                                                  \
    "CREATE TABLE sent_keys("                                                                      \
    " number INTEGER PRIMARY KEY, since_ms INTEGER, key INTEGER, sent_ms INTEGER,"                 \
    " text TEXT UNIQUE);"                                                                          \
    "CREATE INDEX sent_keys_age ON sent_keys(since_ms);"                                           \
    "CREATE TABLE positions(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"

/* Orders done under a caller's idempotency key. */
#define CALL_KEYS                                                                                  \
    "CREATE TABLE call_keys("                                                                      \
    " number INTEGER PRIMARY KEY, time_ms INTEGER, body INTEGER, text TEXT, answer TEXT);"

/* Replies by the message they answer. */
#define REPLIES "CREATE INDEX messages_replies ON message_entries(reply_to) WHERE reply_to > 0;"

/* Messages from other hosts, by the ids that they have there. */
#define FOREIGN                                                                                    \
    "CREATE INDEX messages_foreign ON message_entries(foreign_id) WHERE foreign_id IS NOT NULL;"

/* Links to other hosts, and what was numbered for them and is not acked. */
#define LINKS                                                                                      \
    "CREATE TABLE links(peer TEXT PRIMARY KEY, own_id TEXT, peer_id TEXT, last INTEGER,"           \
    " acked INTEGER, taken INTEGER, peer_epoch INTEGER, epoch INTEGER) WITHOUT ROWID;"             \
    "CREATE TABLE link_items(number INTEGER PRIMARY KEY, peer TEXT, first INTEGER,"                \
    " count INTEGER, keys TEXT);"

/* Lines of the log about a message, to find who has read a broadcast. */
#define READERS "CREATE INDEX events_readers ON events(key, agent) WHERE key IS NOT NULL;"

/* Lines of the log that are not in the rows of messages. */
#define EVENTS(name)                                                                               \
    "CREATE TABLE " name "(number INTEGER PRIMARY KEY, time_ms INTEGER, event TEXT, agent TEXT,"   \
    " task_id TEXT, correlation_id TEXT, detail TEXT, other TEXT, key INTEGER);"

/* Which row holds which line (lines.h). */
#define LINES                                                                                      \
    "CREATE TABLE lines(line INTEGER PRIMARY KEY, count INTEGER NOT NULL, since_ms INTEGER,"       \
    " until_ms INTEGER, rows BLOB NOT NULL);"

/* For replay, if it is kept: what happened, and the scripts in force. */
#define HISTORY                                                                                    \
    "CREATE TABLE sources(hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"               \
    "CREATE TABLE history("                                                                        \
    " number INTEGER PRIMARY KEY, time_ms INTEGER, key INTEGER, checksum INTEGER NOT NULL,"        \
    " what TEXT NOT NULL, agent TEXT, detail TEXT NOT NULL);"

/* What a society was at some lines (snapshots.h). It can be done without, so an older program
 * may be without it. */
#define SNAPSHOTS                                                                                  \
    "CREATE TABLE IF NOT EXISTS snapshots(line INTEGER, part INTEGER, latest_ms INTEGER,"          \
    " bytes BLOB, PRIMARY KEY(line, part));"                                                       \
    "CREATE TABLE IF NOT EXISTS edge(number INTEGER PRIMARY KEY, row BLOB);"

static const char tables[] =
    "CREATE TABLE journal("
    " sequence INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, lines INTEGER, key INTEGER,"
    " batch BLOB NOT NULL);"
    "CREATE TABLE progress(folded INTEGER NOT NULL, lines INTEGER NOT NULL);"
    "INSERT INTO progress VALUES(0, 0);"

    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE roles("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, prompt TEXT,"
    " behaviour TEXT, interface_spec TEXT, creator TEXT, created_ms INTEGER,"
    " is_isolated INTEGER);"
    "CREATE TABLE agents("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL, role TEXT, parent TEXT,"
    " created_ms INTEGER, ended_ms INTEGER, end_reason TEXT, brief TEXT, state TEXT,"
    " ending_ms INTEGER, is_adopted INTEGER, since INTEGER, hold INTEGER, guards INTEGER,"
    " births INTEGER, is_external INTEGER, is_isolated INTEGER);"
    "CREATE UNIQUE INDEX agents_alive ON agents(id) WHERE ended_ms IS NULL;"
    "CREATE INDEX agents_order ON agents(number) WHERE ended_ms IS NULL;"
    "CREATE TABLE contact_entries("
    " number INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, source INTEGER,"
    " role TEXT, interface_spec TEXT, introduced_by TEXT, via TEXT, reason TEXT,"
    " added_ms INTEGER, born INTEGER, usage_hint TEXT, has_written INTEGER,"
    " UNIQUE(owner, id));" INTRODUCTIONS INBOX(", choice TEXT")

        "CREATE TABLE message_entries("
        " key INTEGER PRIMARY KEY, time_ms INTEGER, status INTEGER NOT NULL, priority INTEGER,"
        " flags INTEGER, attempt INTEGER, hops INTEGER, reply_to INTEGER, reply_to_ms INTEGER,"
        " expires_ms INTEGER, deliver_at_ms INTEGER, deadline_ms INTEGER, finished_ms INTEGER,"
        " place INTEGER, end_place INTEGER, sender TEXT, receiver TEXT, type TEXT, task_id TEXT,"
        " correlation_id TEXT, external_id TEXT, dedupe_key TEXT, traceparent TEXT, reason TEXT,"
        " payload TEXT, ack INTEGER, cause INTEGER, foreign_id TEXT, foreign_reply TEXT);"
        "CREATE INDEX messages_pending ON message_entries(key) WHERE status = 0;"
        "CREATE INDEX messages_dead ON message_entries(key) WHERE status IN (2, 3);"

    REPLIES FOREIGN LINKS TASKS MODELS(" time_ms INTEGER,") ATONCE SENT_KEYS CALL_KEYS HISTORY

    "CREATE TABLE activations("
    " number INTEGER PRIMARY KEY, agent TEXT NOT NULL UNIQUE, key INTEGER, time_ms INTEGER,"
    " retries INTEGER);"
    "CREATE TABLE effects("
    " agent TEXT NOT NULL, idx INTEGER NOT NULL, hash INTEGER, kind TEXT, answer TEXT, wait "
    "TEXT,"
    " arguments TEXT, PRIMARY KEY(agent, idx)) WITHOUT ROWID;"
    "CREATE TABLE takes(number INTEGER PRIMARY KEY, agent TEXT NOT NULL, key INTEGER NOT NULL);"
    "CREATE INDEX takes_agent ON takes(agent);"
    "CREATE INDEX takes_key ON takes(key);"
    "CREATE TABLE outputs("
    " key INTEGER PRIMARY KEY, time_ms INTEGER, agent TEXT, stream TEXT, text TEXT);" EVENTS(
        "events") READERS LINES SNAPSHOTS;

static const char views[] =
    "CREATE VIEW messages AS SELECT " SHOWN_ID " AS id, " SENT_AT " AS timestamp, m.sender,"
    " m.receiver" MESSAGE_VIEW ", m.key"
    " FROM message_entries m LEFT JOIN message_entries q ON q.key = m.reply_to;"
    "CREATE VIEW inbox AS SELECT " ITEM_ID " AS id, " SENT_AT " AS created_at, m.agent, m.title,"
    " m.body, m.options, " SOC_SQL_PRIORITY " AS priority,"
    " CASE WHEN m.deadline_ms > 0 THEN " DEADLINE " END AS deadline, m.task_id, m.correlation_id,"
    " CASE WHEN m.decided_ms > 0 THEN " DECIDED_AT " END AS decided_at, " SOC_SQL_DECISION
    " AS decision, m.changes, m.comment, m.choice FROM inbox_entries m;"
    "CREATE VIEW dead_letters AS SELECT * FROM messages WHERE key IN"
    " (SELECT key FROM message_entries WHERE status IN (2, 3));"

    "CREATE VIEW tasks AS SELECT t.id AS task_id, " SOC_SQL_TASK_STATE " AS state,"
    " t.owner AS agent, t.assigner, 'P' || t.priority AS priority, " SOC_SQL_TASK_STYLE " AS type,"
    " t.tries, (SELECT p.id FROM task_entries p WHERE p.key = t.parent) AS parent, " OPENED_AT
    " AS opened_at, CASE WHEN t.started_ms > 0 THEN " STARTED_AT " END AS started_at,"
    " CASE WHEN t.ended_ms > 0 THEN " ENDED_AT " END AS ended_at,"
    " CASE WHEN t.deadline_ms > 0 THEN " TASK_DEADLINE " END AS deadline, t.correlation_id,"
    " t.reason, t.key FROM task_entries t;"

    /* Parent and child know each other by birth, root and user always, unless a stored
     * entry says otherwise; one without a source means «removed». */
    "CREATE VIEW contacts AS WITH implied(owner, id, source, added_ms) AS ("
    " SELECT c.parent, c.id, 2, c.created_ms FROM agents c JOIN agents p"
    "  ON p.id = c.parent AND p.ended_ms IS NULL WHERE c.ended_ms IS NULL"
    " UNION ALL SELECT id, parent, 1, created_ms FROM agents"
    "  WHERE parent IS NOT NULL AND ended_ms IS NULL"
    " UNION ALL SELECT a.id, b.id, 0, max(a.created_ms, b.created_ms) FROM agents a, agents b"
    "  WHERE (a.id, b.id) IN (VALUES('root', 'user'), ('user', 'root'))"
    "  AND a.ended_ms IS NULL AND b.ended_ms IS NULL)"
    " SELECT owner, id, role, " SOC_SQL_SOURCE " AS source, introduced_by, via, interface_spec,"
    "  added_ms FROM contact_entries WHERE source IS NOT NULL"
    " UNION ALL SELECT i.owner, i.id, coalesce(r.name, a.role), " SOC_SQL_SOURCE ", NULL, NULL,"
    "  r.interface_spec, i.added_ms FROM implied i"
    "  LEFT JOIN agents a ON a.id = i.id AND a.ended_ms IS NULL"
    "  LEFT JOIN roles r ON r.id = a.role"
    "  WHERE NOT EXISTS(SELECT 1 FROM contact_entries e"
    "   WHERE e.owner = i.owner AND e.id = i.id);"

    /* `place` is the number of the line, `other` the second agent that it concerns. A dead
     * letter of a broadcast (flag 16) was not sent but made later from the broadcast, which
     * has a line; another one here would appear in the past. */
    "CREATE VIEW activity_entries AS"
    " SELECT time_ms, place, 'sent' AS event,"
    "  sender AS agent, receiver AS other, task_id, correlation_id, key, time_ms AS sent_ms,"
    "  type, 'to ' || receiver AS detail FROM message_entries WHERE flags & 16 = 0"
    " UNION ALL SELECT finished_ms, end_place, " SOC_SQL_STATUS ", receiver,"
    "  sender, task_id, correlation_id, key, time_ms, type, reason FROM message_entries m"
    "  WHERE finished_ms > 0"
    " UNION ALL SELECT e.time_ms, e.number, e.event,"
    "  coalesce(e.agent, m.receiver), coalesce(e.other, m.sender),"
    "  coalesce(e.task_id, m.task_id), coalesce(e.correlation_id, m.correlation_id), e.key,"
    "  m.time_ms, m.type, e.detail FROM events e LEFT JOIN message_entries m ON m.key = e.key;"
    /* The first message of a chain has no correlation id: its own id is that of the chain. */
    "CREATE VIEW activity_logs AS SELECT " ACTIVITY_TIME " AS time, event, agent, task_id,"
    " coalesce(correlation_id, CASE WHEN key > 0 THEN " ACTIVITY_ID " END) AS correlation_id,"
    " CASE WHEN key > 0 THEN " ACTIVITY_ID " END AS message_id, type,"
    " detail, other, place AS line FROM activity_entries ORDER BY place;";

/* Lines of versions 1 and 2 have no number. They get the first ones, in the order they were
 * shown in; all others move up. Then the number of an event is that of its line. */
#define NUMBER_LINES                                                                               \
    "CREATE TEMP TABLE unnumbered(line INTEGER PRIMARY KEY, kind INTEGER, id INTEGER);"            \
    "INSERT INTO temp.unnumbered(kind, id) SELECT kind, id FROM ("                                 \
    " SELECT 0 AS kind, key AS id, time_ms AS t, -5 AS p FROM message_entries"                     \
    "  WHERE place IS NULL"                                                                        \
    " UNION ALL SELECT 1, key, finished_ms, -3 FROM message_entries"                               \
    "  WHERE finished_ms > 0 AND end_place IS NULL"                                                \
    " UNION ALL SELECT 2, number, time_ms, coalesce(place, -2) FROM events"                        \
    "  WHERE coalesce(place, -2) < 0) ORDER BY t, p, id;"                                          \
    "CREATE INDEX temp.unnumbered_rows ON unnumbered(kind, id);"                                   \
    "UPDATE message_entries SET place = place + (SELECT count(*) FROM temp.unnumbered),"           \
    " end_place = end_place + (SELECT count(*) FROM temp.unnumbered)"                              \
    " WHERE place IS NOT NULL AND EXISTS(SELECT 1 FROM temp.unnumbered);"                          \
    "UPDATE message_entries SET end_place = end_place + (SELECT count(*) FROM temp.unnumbered)"    \
    " WHERE place IS NULL AND end_place IS NOT NULL;"                                              \
    "UPDATE message_entries SET place = (SELECT line FROM temp.unnumbered"                         \
    " WHERE kind = 0 AND id = key) WHERE place IS NULL;"                                           \
    "UPDATE message_entries SET end_place = (SELECT line FROM temp.unnumbered"                     \
    " WHERE kind = 1 AND id = key) WHERE end_place IS NULL AND finished_ms > 0;" EVENTS(           \
        "numbered_events") "INSERT INTO numbered_events SELECT CASE WHEN place > 0"                \
                           " THEN place + (SELECT count(*) FROM temp.unnumbered)"                  \
                           " ELSE (SELECT line FROM temp.unnumbered WHERE kind = 2 AND id = "      \
                           "e.number) END AS line,"                                                \
                           " time_ms, event, agent, task_id, correlation_id, detail, other, key "  \
                           "FROM events e"                                                         \
                           " ORDER BY line;"                                                       \
                           "DROP TABLE events; ALTER TABLE numbered_events RENAME TO "             \
                           "events;" READERS "UPDATE progress SET lines = lines + (SELECT "        \
                           "count(*) FROM temp.unnumbered);"                                       \
                           "DROP TABLE temp.unnumbered;"

/* From version index + 1 to the next. */
static const char *const upgrades[] = {
    "ALTER TABLE agents ADD COLUMN ending_ms INTEGER;"
    "ALTER TABLE agents ADD COLUMN is_adopted INTEGER;"
    "ALTER TABLE agents ADD COLUMN since INTEGER;"
    "ALTER TABLE agents ADD COLUMN hold INTEGER;"
    "ALTER TABLE agents ADD COLUMN guards INTEGER;"
    "ALTER TABLE agents ADD COLUMN births INTEGER;"
    "ALTER TABLE agents ADD COLUMN is_external INTEGER;"
    "ALTER TABLE message_entries ADD COLUMN ack INTEGER;"
    "ALTER TABLE contact_entries ADD COLUMN reason TEXT;"
    "ALTER TABLE effects ADD COLUMN arguments TEXT;" INTRODUCTIONS INBOX("") TASKS MODELS("")
        ATONCE SENT_KEYS HISTORY,
    /* Parts of the log that tables could not hold become lines, as far as they are left. */
    "ALTER TABLE progress ADD COLUMN lines INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE message_entries ADD COLUMN place INTEGER;"
    "ALTER TABLE message_entries ADD COLUMN end_place INTEGER;"
    "ALTER TABLE events ADD COLUMN place INTEGER;"
    "ALTER TABLE events ADD COLUMN other TEXT;"
    "ALTER TABLE events ADD COLUMN key INTEGER;" READERS
    "INSERT INTO events(place, time_ms, event, agent, detail)"
    " SELECT -8, created_ms, 'role_created', creator, id FROM roles WHERE creator IS NOT NULL"
    " ORDER BY number;"
    "INSERT INTO events(place, time_ms, event, agent, other, detail)"
    " SELECT -7, created_ms, 'spawned', id, parent, role FROM agents ORDER BY number;"
    "INSERT INTO events(place, time_ms, event, agent, other, detail)"
    " SELECT -6, added_ms, 'contact_added', owner, id, id || ' (' || " SOC_SQL_SOURCE " || ')'"
    " FROM contact_entries WHERE source IS NOT NULL ORDER BY number;"
    "INSERT INTO events(place, time_ms, event, key, detail)"
    " SELECT -4, again_ms, 'sent_again', key, 'attempt ' || attempt FROM message_entries"
    " WHERE again_ms > 0 ORDER BY key;"
    "INSERT INTO events(place, time_ms, event, agent, other, detail)"
    " SELECT -1, ended_ms, 'stopped', id, parent, end_reason FROM agents WHERE ended_ms > 0"
    " ORDER BY number;",
    "", /* only the views changed */
    "ALTER TABLE contact_entries ADD COLUMN usage_hint TEXT;"
    "ALTER TABLE contact_entries ADD COLUMN has_written INTEGER;"
    "ALTER TABLE inbox_entries ADD COLUMN choice TEXT;",
    "ALTER TABLE usage ADD COLUMN time_ms INTEGER;"
    "ALTER TABLE journal ADD COLUMN lines INTEGER;"
    "ALTER TABLE journal ADD COLUMN key INTEGER;" NUMBER_LINES LINES, /* filled by lines.c */
    CALL_KEYS REPLIES,
    "ALTER TABLE message_entries ADD COLUMN cause INTEGER;",
    "ALTER TABLE agents ADD COLUMN is_isolated INTEGER;",
    "ALTER TABLE message_entries ADD COLUMN foreign_id TEXT;"
    "ALTER TABLE message_entries ADD COLUMN foreign_reply TEXT;" FOREIGN LINKS,
    "ALTER TABLE roles ADD COLUMN is_isolated INTEGER;"
    "UPDATE roles SET is_isolated = 1"
    " WHERE creator IN (SELECT id FROM agents WHERE is_isolated = 1);",
};

_Static_assert(sizeof(upgrades) / sizeof(upgrades[0]) == SOC_SCHEMA_VERSION - 1,
               "every version needs a way to the next one");

const char *soc_schema_tables_sql(void)
{
    return tables;
}

const char *soc_schema_snapshots_sql(void)
{
    return SNAPSHOTS;
}

const char *soc_schema_views_sql(void)
{
    return views;
}

const char *soc_schema_drop_sql(void)
{
    return "DROP VIEW IF EXISTS activity_logs; DROP VIEW IF EXISTS activity_entries;"
           "DROP VIEW IF EXISTS contacts; DROP VIEW IF EXISTS dead_letters;"
           "DROP VIEW IF EXISTS messages; DROP VIEW IF EXISTS inbox; DROP VIEW IF EXISTS tasks;";
}

const char *soc_schema_upgrade_sql(int version)
{
    return upgrades[version - 1];
}

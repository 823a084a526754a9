#include "store/tables/statements.h"

#include <assert.h>
#include <stddef.h>

#include "store/tables/schema.h"

#define ALIVE " AND ended_ms IS NULL"

/* What a line takes from its message. */
#define LINE_COLUMNS                                                                               \
    "m.key, m.time_ms, m.flags, m.sender, m.receiver, m.type, m.task_id, m.correlation_id,"        \
    " m.foreign_id"

#define LINES_BLOCK_MAX "512" /* SOC_LINES_BLOCK_MAX */

/* Parameters for a record come in the order of its fields. */
static const char *const texts[SOC_STATEMENT_COUNT] = {
    [SOC_STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [SOC_STATEMENT_COMMIT] = "COMMIT",
    [SOC_STATEMENT_ROLLBACK] = "ROLLBACK",
    [SOC_STATEMENT_APPEND] = "INSERT INTO journal(sequence, checksum, lines, key, batch)"
                             " VALUES(?1, ?2, ?4, ?5, ?3)",
    [SOC_STATEMENT_READ] = "SELECT sequence, checksum, batch FROM journal"
                           " WHERE sequence > ?1 ORDER BY sequence",
    [SOC_STATEMENT_FORGET] = "DELETE FROM journal WHERE sequence <= ?1",
    [SOC_STATEMENT_PROGRESS] = "UPDATE progress SET folded = ?1, lines = ?2",
    [SOC_STATEMENT_LAST_LINE] =
        "SELECT coalesce((SELECT lines FROM journal ORDER BY sequence DESC LIMIT 1),"
        " (SELECT lines FROM progress)),"
        " coalesce((SELECT key FROM journal ORDER BY sequence DESC LIMIT 1),"
        " (SELECT max(key) FROM message_entries), 0)",
    [SOC_STATEMENT_ROLE] =
        "INSERT INTO roles(created_ms, id, name, prompt, behaviour, interface_spec, creator,"
        " is_isolated)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, 0)) ON CONFLICT(id) DO UPDATE SET"
        " created_ms = ?1, name = ?3, prompt = ?4, behaviour = ?5, interface_spec = ?6,"
        " creator = ?7, is_isolated = nullif(?8, 0)",
    [SOC_STATEMENT_AGENT] =
        "INSERT INTO agents(created_ms, id, role, parent, brief, is_adopted, since, is_external,"
        " is_isolated)"
        " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, nullif(?8, 0), nullif(?9, 0))"
        " ON CONFLICT(id) WHERE ended_ms IS NULL DO UPDATE SET role = ?3, parent = ?4, brief = ?5",
    [SOC_STATEMENT_AGENT_ENDING] =
        "UPDATE agents SET ending_ms = ?1, end_reason = ?3 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_AGENT_PARENT] =
        "UPDATE agents SET parent = ?3, is_adopted = 1 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_STANDING] =
        "UPDATE agents SET hold = nullif(?2, 0), guards = nullif(?3, 0) WHERE id = ?5" ALIVE,
    [SOC_STATEMENT_BIRTH] =
        "UPDATE agents SET births = coalesce(births, 0) + 1 WHERE id = ?1" ALIVE,
    [SOC_STATEMENT_AGENT_END] =
        "UPDATE agents SET ended_ms = ?1, end_reason = ?3 WHERE id = ?2" ALIVE,
    [SOC_STATEMENT_AGENT_CONTACTS_END] = "DELETE FROM contact_entries WHERE owner = ?1",
    [SOC_STATEMENT_PARENT_CONTACT_END] =
        "DELETE FROM contact_entries WHERE id = ?1"
        " AND owner = (SELECT parent FROM agents WHERE id = ?1" ALIVE ")",
    [SOC_STATEMENT_STATE] = "UPDATE agents SET state = ?2 WHERE id = ?1" ALIVE,
    [SOC_STATEMENT_CONTACT] =
        "INSERT INTO contact_entries(added_ms, source, owner, id, role, interface_spec,"
        " introduced_by, via, reason, usage_hint, has_written, born)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, (SELECT max(number) FROM agents))"
        " ON CONFLICT(owner, id) DO UPDATE SET added_ms = ?1, source = ?2, role = ?5,"
        " interface_spec = ?6, introduced_by = ?7, via = ?8, reason = ?9, usage_hint = ?10,"
        " has_written = ?11",
    [SOC_STATEMENT_CONTACT_FREE] =
        "DELETE FROM contact_entries WHERE owner = ?1 AND id = ?2 AND source IS NULL",
    [SOC_STATEMENT_CONTACT_DELETE] = "DELETE FROM contact_entries WHERE owner = ?1 AND id = ?2",
    [SOC_STATEMENT_CONTACT_FORGOTTEN] =
        "INSERT INTO contact_entries(owner, id, born)"
        " SELECT ?1, ?2, (SELECT max(number) FROM agents)"
        " WHERE EXISTS(SELECT 1 FROM agents WHERE id = ?1 AND parent = ?2" ALIVE ")"
        " OR EXISTS(SELECT 1 FROM agents WHERE id = ?2 AND parent = ?1" ALIVE ")"
        " OR (?1 = 'root' AND ?2 = 'user') OR (?1 = 'user' AND ?2 = 'root')",
    [SOC_STATEMENT_MESSAGES] =
        "INSERT INTO message_entries({message}, status, finished_ms, reason, ack, place, end_place)"
        " SELECT * FROM window_messages",
    [SOC_STATEMENT_MESSAGE_ENDS] =
        "UPDATE message_entries SET finished_ms = e.time_ms, status = e.outcome,"
        " reason = e.reason, end_place = e.place FROM window_ends e"
        " WHERE message_entries.key = e.key",
    [SOC_STATEMENT_MESSAGE_AGAIN] =
        "UPDATE message_entries SET attempt = ?3, deliver_at_ms = ?4, status = 0,"
        " flags = flags & ~" SOC_SQL_FLAG_dated ","
        " finished_ms = NULL, end_place = NULL, reason = NULL, expires_ms = 0, ack = NULL"
        " WHERE key = ?1",
    /* In the order of enum soc_window_stored. */
    [SOC_STATEMENT_UNDER_WAY] = "SELECT EXISTS(SELECT 1 FROM takes),"
                                " EXISTS(SELECT 1 FROM activations), EXISTS(SELECT 1 FROM effects)",
    [SOC_STATEMENT_TAKE] = "INSERT INTO takes({take}) VALUES({?take})",
    [SOC_STATEMENT_TAKE_END] = "DELETE FROM takes WHERE key = ?1",
    [SOC_STATEMENT_TAKES_END] = "DELETE FROM takes WHERE agent = ?1",
    [SOC_STATEMENT_ACTIVATION] =
        "INSERT INTO activations({activation}) VALUES({?activation})"
        " ON CONFLICT(agent) DO UPDATE SET key = ?1, time_ms = ?2, retries = ?3",
    [SOC_STATEMENT_ACTIVATION_END] = "DELETE FROM activations WHERE agent = ?1",
    [SOC_STATEMENT_EFFECT] = "INSERT OR REPLACE INTO effects({effect}) VALUES({?effect})",
    [SOC_STATEMENT_EFFECTS_END] = "DELETE FROM effects WHERE agent = ?1",
    [SOC_STATEMENT_ANSWER] = "UPDATE effects SET answer = ?3 WHERE agent = ?2 AND idx = ?1",
    [SOC_STATEMENT_OUTPUT] = "INSERT INTO outputs({output}) VALUES({?output})",
    [SOC_STATEMENT_OUTPUT_END] = "DELETE FROM outputs WHERE key <= ?1",
    /* A line of the activity log. About a message it has only the key; the view adds the
     * rest. */
    [SOC_STATEMENT_LINE] = "INSERT INTO events(number, time_ms, event, agent, other, task_id,"
                           " correlation_id, key, detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
                           " ?9)",
    [SOC_STATEMENT_END_LINE] = "INSERT INTO events(number, time_ms, event, key, detail)"
                               " SELECT ?5, ?2, " SOC_SQL_STATUS ", ?1, ?4"
                               " FROM (SELECT ?3 AS status) m",
    [SOC_STATEMENT_STORED_END_LINE] =
        "INSERT INTO events(number, time_ms, event, key, detail)"
        " SELECT end_place, finished_ms, " SOC_SQL_STATUS ", key, reason"
        " FROM message_entries m WHERE key = ?1 AND status <> 0",
    [SOC_STATEMENT_LINES] =
        "INSERT INTO lines(line, count, since_ms, until_ms, rows) VALUES(?1, ?2, ?3, ?4, ?5)",
    [SOC_STATEMENT_LINES_READ] = "SELECT line, count, rows FROM lines WHERE line > ?1"
                                 " AND line - count < ?2 AND until_ms >= ?3 AND since_ms < ?4"
                                 " ORDER BY line LIMIT 1",
    [SOC_STATEMENT_LINES_BACK] =
        "SELECT line, count, rows FROM lines WHERE line > ?1 AND line < ?2 + " LINES_BLOCK_MAX
        " AND line - count < ?2 AND until_ms >= ?3 AND since_ms < ?4 ORDER BY line DESC LIMIT 1",
    [SOC_STATEMENT_LINE_EVENT] =
        "SELECT e.time_ms, e.event, e.agent, e.other, e.task_id, e.correlation_id, e.key,"
        " e.detail, " LINE_COLUMNS
        " FROM events e LEFT JOIN message_entries m ON m.key = e.key WHERE e.number = ?1",
    [SOC_STATEMENT_LINE_MESSAGE] =
        "SELECT " LINE_COLUMNS ", m.end_place, m.finished_ms, m.status, m.reason"
        " FROM message_entries m WHERE m.key = ?1",
    [SOC_STATEMENT_BOUNDS] = "SELECT lines, key FROM journal WHERE sequence = ?1",
    [SOC_STATEMENT_JOURNAL_SPAN] =
        "SELECT (SELECT min(sequence) FROM journal), (SELECT max(sequence) FROM journal)",
    [SOC_STATEMENT_KEY_PLACE] =
        "SELECT key, place FROM message_entries WHERE key >= ?1 ORDER BY key LIMIT 1",
    [SOC_STATEMENT_PLACE_OF] =
        "SELECT place FROM message_entries WHERE key <= ?1 ORDER BY key DESC LIMIT 1",
    [SOC_STATEMENT_CLOCK] = "SELECT value FROM meta WHERE name = 'clock'",
    [SOC_STATEMENT_EDGES] =
        "SELECT (SELECT lines FROM progress),"
        " coalesce((SELECT lines FROM journal ORDER BY sequence DESC LIMIT 1),"
        " (SELECT lines FROM progress)),"
        " coalesce((SELECT line - count + 1 FROM lines ORDER BY line LIMIT 1), 1)",
    [SOC_STATEMENT_META] = "INSERT OR REPLACE INTO meta({meta}) VALUES({?meta})",
    [SOC_STATEMENT_INTRODUCTION] =
        "INSERT OR REPLACE INTO introductions({introduction}) VALUES({?introduction})",
    [SOC_STATEMENT_INTRODUCTION_END] = "DELETE FROM introductions WHERE key = ?1",
    [SOC_STATEMENT_ITEM] = "INSERT OR REPLACE INTO inbox_entries({item}) VALUES({?item})",
    [SOC_STATEMENT_ITEM_END] = "UPDATE inbox_entries SET decided_ms = ?2, decision = ?3,"
                               " changes = ?4, comment = ?5, choice = ?6 WHERE key = ?1",
    [SOC_STATEMENT_TASK] = "INSERT OR REPLACE INTO task_entries({task}) VALUES({?task})",
    [SOC_STATEMENT_BROADCAST_END] =
        "INSERT OR REPLACE INTO broadcast_ends({broadcast_end}) VALUES({?broadcast_end})",
    [SOC_STATEMENT_BROADCAST_TAKE_END] = "DELETE FROM takes WHERE key = ?1 AND agent = ?2",
    [SOC_STATEMENT_BROADCAST_OVER] = "DELETE FROM broadcast_ends WHERE key = ?1",
    [SOC_STATEMENT_BARRIER] = "INSERT OR REPLACE INTO barriers({barrier}) VALUES({?barrier})",
    [SOC_STATEMENT_SEAT] = "INSERT INTO seats({seat}) VALUES({?seat})"
                           " ON CONFLICT(key, agent) DO UPDATE SET question = ?2, asked_ms = ?3, "
                           "state = ?4, payload = ?6",
    [SOC_STATEMENT_BARRIER_END] = "DELETE FROM barriers WHERE key = ?1",
    [SOC_STATEMENT_SEATS_END] = "DELETE FROM seats WHERE key = ?1",
    [SOC_STATEMENT_SENT_KEY] = "INSERT OR REPLACE INTO sent_keys({sent_key}) VALUES({?sent_key})",
    [SOC_STATEMENT_RECEIPT] = "UPDATE message_entries SET attempt = ?3, ack = nullif(?4, 0)"
                              " WHERE key = ?1 AND ?2 IS NOT NULL",
    [SOC_STATEMENT_POSITION] = "INSERT OR REPLACE INTO positions({position}) VALUES({?position})",
    [SOC_STATEMENT_CALL_KEY] = "INSERT OR REPLACE INTO call_keys({call_key}) VALUES({?call_key})",
    [SOC_STATEMENT_CALL_KEYS_END] = "DELETE FROM call_keys WHERE number <= ?1",
    [SOC_STATEMENT_SENT_KEYS_END] = "DELETE FROM sent_keys WHERE since_ms <= ?1"
                                    " AND (text GLOB '[aqx]*') = ?2",
    [SOC_STATEMENT_MEMORY] = "INSERT OR REPLACE INTO memories({memory}) VALUES({?memory})",
    [SOC_STATEMENT_USAGE] =
        "INSERT OR REPLACE INTO usage({usage}) VALUES(?1, ?2, ?3, ?4, ?5, coalesce(?6, ''), ?7,"
        " nullif(?8, 0))",
    [SOC_STATEMENT_SOURCE] = "INSERT OR IGNORE INTO sources({source}) VALUES({?source})",
    [SOC_STATEMENT_HISTORY] =
        "INSERT INTO history({history}) VALUES(?1, nullif(?2, 0), ?3, ?4, ?5, ?6)",
    /* From the front only, so that a missing row shows; what was in force stays. */
    [SOC_STATEMENT_HISTORY_END] =
        "DELETE FROM history WHERE number < (SELECT number FROM history WHERE time_ms >= ?1"
        " ORDER BY number LIMIT 1) AND what IN ('run', 'question')",
    [SOC_STATEMENT_LINK] = "INSERT OR REPLACE INTO links({link}) VALUES({?link})",
    [SOC_STATEMENT_LINK_ITEMS] = "INSERT INTO link_items({link_items}) VALUES({?link_items})",
    [SOC_STATEMENT_LINK_ACKED] = "DELETE FROM link_items WHERE peer = ?6"
                                 " AND (first + count - 1 <= ?2 OR ?7 <> (SELECT own_id"
                                 " FROM links WHERE peer = ?6))",
};

const char *soc_statement_sql(enum soc_statement which)
{
    assert(which < SOC_STATEMENT_COUNT && texts[which] != NULL);
    return texts[which];
}

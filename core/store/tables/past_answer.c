#include "store/tables/past_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "store/store.h"
#include "store/tables/query.h"
#include "store/tables/schema.h"

/* An answer while it is written. */
struct answer {
    struct soc_database *database;
    struct soc_past *past;
    int64_t end_us; /* when its time is up; 0: never */
    unsigned checks;
    struct soc_buf *out;
    struct soc_detail *detail;
    sqlite3_stmt *role;    /* name and behaviour, by id */
    sqlite3_stmt *brief;   /* of an agent, by id, time and number of its birth */
    sqlite3_stmt *contact; /* how it came about, by owner, id and time */
    sqlite3_stmt *task;    /* what never changes of a task, by key */
    sqlite3_stmt *swaps;   /* details of the swaps of policies after a line */
};

#define CHECK_EVERY 16 /* rows between two readings of the clock */

/* Tells whether the time is up; asked after each row, so that every call gets on. */
static bool is_late(struct answer *answer)
{
    return answer->end_us != 0 && ++answer->checks % CHECK_EVERY == 0 &&
           soc_clock_monotonic_us() >= answer->end_us;
}

/* Begins a list, unless it was begun by an earlier call. */
static void begin_list(struct answer *answer, const char *name)
{
    if (answer->past->cursor.row > 0 || answer->past->cursor.tie > 0)
        return;
    soc_json_put_name(answer->out, name);
    soc_buf_put_byte(answer->out, '[');
}

static int end_list(struct answer *answer)
{
    soc_buf_put_byte(answer->out, ']');
    return SOC_OK;
}

static void begin_row(struct soc_buf *out)
{
    if (out->data[out->length - 1] != '[')
        soc_buf_put_byte(out, ',');
    soc_buf_put_byte(out, '{');
}

static void put_time(struct answer *answer, const char *name, int64_t time_ms)
{
    if (time_ms == 0)
        return;
    soc_json_put_name(answer->out, name);
    soc_time_put_json(answer->out, soc_calendar_date(&answer->database->calendar, time_ms));
}

static void put_count(struct answer *answer, const char *name, uint64_t count)
{
    soc_json_put_name(answer->out, name);
    soc_json_put_integer(answer->out, (int64_t)count);
}

static void put_text(struct answer *answer, const char *name, const char *text)
{
    soc_json_put_text_member(answer->out, name, soc_slice_text(text));
}

/* Appends a member that is JSON already, if it is there. */
static void put_json(struct answer *answer, const char *name, struct soc_slice json)
{
    if (json.data == NULL)
        return;
    soc_json_put_name(answer->out, name);
    soc_buf_put_slice(answer->out, json);
}

/* Looks for the row of a role; reset the statement afterwards. */
static bool find_role(struct answer *answer, const char *id)
{
    soc_database_bind_text(answer->role, 1, soc_slice_text(id));
    return sqlite3_step(answer->role) == SQLITE_ROW;
}

/* Lends the name of a role until the statement is reset; its id if it has no row. */
static struct soc_slice role_name(struct answer *answer, const char *id)
{
    struct soc_slice name = {0};
    if (id != NULL && find_role(answer, id))
        name = soc_database_text(answer->role, 0);
    return name.data != NULL ? name : soc_slice_text(id);
}

static void put_role(struct answer *answer, const struct soc_past_agent *agent)
{
    bool is_outside = agent->is_outside;
    soc_json_put_name(answer->out, "role");
    soc_buf_put_byte(answer->out, '{');
    put_text(answer, "id", agent->role);
    soc_json_put_text_member(answer->out, "name", role_name(answer, agent->role));
    soc_buf_put_byte(answer->out, '}');
    struct soc_slice behaviour = soc_database_text(answer->role, 1);
    if (behaviour.data != NULL && soc_slice_equal(behaviour, SOC_SLICE("external")))
        is_outside = true;
    sqlite3_reset(answer->role);
    if (is_outside)
        put_json(answer, "external", SOC_SLICE("true"));
}

static void put_agent(struct answer *answer, const struct soc_past_agent *agent)
{
    begin_row(answer->out);
    soc_database_bind_text(answer->brief, 1, soc_slice_text(agent->id));
    sqlite3_bind_int64(answer->brief, 2, agent->created_ms);
    sqlite3_bind_int64(answer->brief, 3, (int64_t)agent->birth);
    if (sqlite3_step(answer->brief) == SQLITE_ROW)
        put_json(answer, "brief", soc_database_text(answer->brief, 0));
    sqlite3_reset(answer->brief);
    put_count(answer, "children", agent->children);
    put_count(answer, "contacts", agent->ties.count);
    put_time(answer, "created_at", agent->created_ms);
    put_text(answer, "id", agent->id);
    if (agent->parent != NULL)
        put_text(answer, "parent", agent->parent);
    put_count(answer, "pending", agent->pending);
    put_role(answer, agent);
    put_text(answer, "status", soc_past_status(agent));
    soc_buf_put_byte(answer->out, '}');
}

static void count_children(struct soc_past *past)
{
    struct soc_past_agent *agent;
    for (size_t cursor = 0; (agent = soc_map_each(&past->agents, &cursor)) != NULL;)
        agent->children = 0;
    for (size_t cursor = 0; (agent = soc_map_each(&past->agents, &cursor)) != NULL;) {
        struct soc_past_agent *parent =
            agent->parent == NULL ? NULL
                                  : soc_map_find(&past->agents, soc_slice_text(agent->parent));
        if (parent != NULL)
            parent->children++;
    }
}

static int put_agents(struct answer *answer)
{
    struct soc_past *past = answer->past;
    const struct soc_past_agent *agent;
    if (past->cursor.row == 0)
        count_children(past);
    begin_list(answer, "agents");
    while ((agent = soc_map_each(&past->agents, &past->cursor.row)) != NULL) {
        put_agent(answer, agent);
        if (is_late(answer))
            return 1;
    }
    return end_list(answer);
}

/* How a contact came about, as far as its entry is still the same. */
static void put_introduction(struct answer *answer, const struct soc_past_agent *owner,
                             const struct soc_past_tie *tie)
{
    sqlite3_stmt *row = answer->contact;
    sqlite3_bind_text(row, 1, owner->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, tie->id, -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 3, tie->added_ms);
    if (sqlite3_step(row) == SQLITE_ROW) {
        soc_json_put_text_member(answer->out, "introducedBy", soc_database_text(row, 0));
        put_json(answer, "via", soc_database_text(row, 1));
    }
    sqlite3_reset(row);
}

static void put_contact(struct answer *answer, const struct soc_past_agent *agent,
                        const struct soc_past_tie *tie)
{
    begin_row(answer->out);
    put_time(answer, "addedAt", tie->added_ms);
    put_text(answer, "id", tie->id);
    put_text(answer, "owner", agent->id);
    soc_json_put_text_member(answer->out, "role", role_name(answer, tie->role));
    sqlite3_reset(answer->role);
    put_text(answer, "source", tie->source);
    put_introduction(answer, agent, tie);
    soc_buf_put_byte(answer->out, '}');
}

static int put_contacts(struct answer *answer)
{
    struct soc_past_cursor *cursor = &answer->past->cursor;
    const struct soc_past_agent *agent;
    const struct soc_past_tie *tie;
    begin_list(answer, "contacts");
    for (size_t next = cursor->row; (agent = soc_map_each(&answer->past->agents, &next)) != NULL;
         cursor->row = next) {
        while ((tie = soc_map_each(&agent->ties, &cursor->tie)) != NULL) {
            put_contact(answer, agent, tie);
            if (is_late(answer))
                return 1;
        }
        cursor->tie = 0;
    }
    return end_list(answer);
}

static void put_wait(struct answer *answer, const struct soc_past_agent *agent)
{
    struct soc_slice wait = soc_slice_text(agent->wait);
    begin_row(answer->out);
    put_text(answer, "agent", agent->id);
    if (agent->correlation_id != NULL)
        put_text(answer, "correlation_id", agent->correlation_id);
    put_json(answer, "deadline", soc_json_member(wait, "deadline"));
    put_json(answer, "kind", soc_json_member(wait, "kind"));
    put_json(answer, "message_id", soc_json_member(wait, "message_id"));
    struct soc_slice since = soc_json_member(wait, "since");
    if (since.data != NULL)
        put_json(answer, "since", since);
    else /* a line of an older version */
        put_time(answer, "since", agent->since_ms);
    put_json(answer, "type", soc_json_member(wait, "type"));
    put_json(answer, "waits_for", soc_json_member(wait, "waits_for"));
    soc_buf_put_byte(answer->out, '}');
}

static int put_waits(struct answer *answer)
{
    struct soc_past *past = answer->past;
    const struct soc_past_agent *agent;
    begin_list(answer, "waits");
    while ((agent = soc_map_each(&past->agents, &past->cursor.row)) != NULL) {
        if (agent->wait != NULL)
            put_wait(answer, agent);
        if (is_late(answer))
            return 1;
    }
    return end_list(answer);
}

/* What never changes of a task. */
static void put_origin(struct answer *answer, const struct soc_past_task *task)
{
    sqlite3_bind_int64(answer->task, 1, (int64_t)task->key);
    if (task->key != 0 && sqlite3_step(answer->task) == SQLITE_ROW) {
        int64_t deadline_ms = sqlite3_column_int64(answer->task, 0);
        char id[SOC_MESSAGE_ID_BYTES];
        if (deadline_ms != 0) {
            soc_json_put_name(answer->out, "deadline");
            soc_time_put_json(answer->out, deadline_ms);
        }
        soc_message_id_format(id, sqlite3_column_int64(answer->task, 4), task->key);
        soc_json_put_text_member(answer->out, "message_id", soc_slice(id, sizeof(id)));
        soc_json_put_text_member(answer->out, "parent", soc_database_text(answer->task, 1));
        soc_json_put_text_member(answer->out, "priority", soc_database_text(answer->task, 2));
        soc_json_put_text_member(answer->out, "type", soc_database_text(answer->task, 3));
    }
    sqlite3_reset(answer->task);
}

static void put_task(struct answer *answer, const struct soc_past_task *task)
{
    begin_row(answer->out);
    put_text(answer, "agent", task->owner);
    if (task->assigner != NULL)
        put_text(answer, "assigner", task->assigner);
    if (task->correlation_id != NULL)
        put_text(answer, "correlation_id", task->correlation_id);
    put_time(answer, "ended_at", task->ended_ms);
    put_origin(answer, task);
    put_time(answer, "opened_at", task->opened_ms);
    if (task->reason != NULL)
        put_json(answer, "reason", soc_slice_text(task->reason));
    put_time(answer, "started_at", task->started_ms);
    put_text(answer, "state", task->state);
    put_text(answer, "task_id", task->id);
    put_count(answer, "tries", task->tries);
    soc_buf_put_byte(answer->out, '}');
}

static int put_tasks(struct answer *answer)
{
    struct soc_past *past = answer->past;
    const struct soc_past_task *task;
    begin_list(answer, "tasks");
    while ((task = soc_map_each(&past->tasks, &past->cursor.row)) != NULL) {
        put_task(answer, task);
        if (is_late(answer))
            return 1;
    }
    return end_list(answer);
}

/* Appends an item without what came later. */
static int put_item(struct answer *answer, const struct soc_past_item *item)
{
    static const char *const later[] = {"changes",    "choice",   "comment",
                                        "decided_at", "decision", "overdue"};
    struct soc_query query = {.what = "item", .key = item->key};
    struct soc_buf rows = {0};
    struct soc_buf state = {0};
    struct soc_json_walk walk;
    int rc = soc_query_answer(answer->database, &query, &rows, answer->detail);
    soc_json_walk(&walk, soc_buf_slice(&rows));
    if (rc == SOC_OK && soc_json_next(&walk)) {
        struct soc_buf row = {0};
        soc_json_put_string(&state, soc_slice_text(item->state));
        soc_json_put_changed(&row, walk.value, "state", soc_buf_slice(&state));
        for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
            struct soc_buf changed = {0};
            if (strcmp(item->state, "open") != 0 && strcmp(later[i], "overdue") != 0)
                continue;
            soc_json_put_changed(&changed, soc_buf_slice(&row), later[i], (struct soc_slice){0});
            soc_buf_fini(&row);
            row = changed;
        }
        if (answer->out->data[answer->out->length - 1] != '[')
            soc_buf_put_byte(answer->out, ',');
        soc_buf_put_slice(answer->out, soc_buf_slice(&row));
        soc_buf_fini(&row);
    }
    soc_buf_fini(&rows);
    soc_buf_fini(&state);
    return rc;
}

static int put_inbox(struct answer *answer)
{
    struct soc_past *past = answer->past;
    const struct soc_past_item *item;
    int rc = SOC_OK;
    begin_list(answer, "inbox");
    while ((item = soc_map_each(&past->items, &past->cursor.row)) != NULL) {
        rc = put_item(answer, item);
        if (rc < 0 || is_late(answer))
            return rc < 0 ? rc : 1;
    }
    return end_list(answer);
}

/* Appends the side of a swap, `{ name, hash, … }`, as a policy of that kind. */
static void put_side(struct answer *answer, struct soc_slice kind, struct soc_slice side)
{
    if (side.data == NULL)
        return;
    begin_row(answer->out);
    put_json(answer, "hash", soc_json_member(side, "hash"));
    put_json(answer, "kind", kind);
    put_json(answer, "name", soc_json_member(side, "name"));
    put_json(answer, "settings", soc_json_member(side, "settings"));
    soc_buf_put_byte(answer->out, '}');
}

/* Appends what was in force of one kind: before its first swap after the line, if it had
 * one, what that replaced; otherwise what is in force now. */
static void put_policy(struct answer *answer, struct soc_slice now)
{
    struct soc_slice kind = soc_json_member(now, "kind");
    bool is_found = false;
    sqlite3_bind_int64(answer->swaps, 1, (int64_t)answer->past->last);
    while (!is_found && sqlite3_step(answer->swaps) == SQLITE_ROW) {
        struct soc_slice swap = soc_database_text(answer->swaps, 0);
        is_found = soc_slice_equal(soc_json_member(swap, "kind"), kind);
        if (is_found)
            put_side(answer, kind, soc_json_member(swap, "from"));
    }
    sqlite3_reset(answer->swaps);
    if (is_found)
        return;
    if (answer->out->data[answer->out->length - 1] != '[')
        soc_buf_put_byte(answer->out, ',');
    soc_buf_put_slice(answer->out, now);
}

static int put_policies(struct answer *answer)
{
    sqlite3_stmt *meta = NULL;
    struct soc_json_walk walk;
    int rc = soc_database_prepare(
        answer->database, "SELECT value FROM meta WHERE name = 'policies'", &meta, answer->detail);
    put_count(answer, "line", answer->past->last);
    soc_json_put_name(answer->out, "policies");
    soc_buf_put_byte(answer->out, '[');
    if (rc == SOC_OK && sqlite3_step(meta) == SQLITE_ROW) {
        soc_json_walk(&walk, soc_database_text(meta, 0));
        while (soc_json_next(&walk))
            put_policy(answer, walk.value);
    }
    soc_buf_put_byte(answer->out, ']');
    sqlite3_finalize(meta);
    return rc;
}

static int put_totals(struct answer *answer)
{
    const uint64_t *totals = answer->past->totals;
    const struct soc_past_agent *agent;
    uint64_t pending = totals[SOC_OUTCOME_PENDING] + answer->past->taken;
    uint64_t waiting = 0;
    for (size_t cursor = 0; (agent = soc_map_each(&answer->past->agents, &cursor)) != NULL;)
        waiting += agent->wait != NULL;
    put_time(answer, "time", answer->past->time_ms);
    soc_json_put_name(answer->out, "totals");
    soc_buf_put_byte(answer->out, '{');
    put_count(answer, "agents", answer->past->agents.count);
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++) {
        put_count(answer, soc_line_outcome((uint64_t)i), totals[i]);
        pending -= totals[i];
    }
    put_time(answer, "now", answer->past->time_ms);
    put_count(answer, "pending", pending);
    put_count(answer, "sent", totals[SOC_OUTCOME_PENDING]);
    put_count(answer, "taken", answer->past->taken);
    put_count(answer, "waiting", waiting);
    soc_buf_put_byte(answer->out, '}');
    return SOC_OK;
}

static int prepare(struct answer *answer)
{
    static const char task_sql[] =
        "SELECT t.deadline_ms, (SELECT p.id FROM task_entries p WHERE p.key = t.parent),"
        " 'P' || t.priority, " SOC_SQL_TASK_STYLE ", t.opened_ms FROM task_entries t"
        " WHERE t.key = ?1";
    struct soc_database *database = answer->database;
    int rc = soc_database_prepare(database, "SELECT name, behaviour FROM roles WHERE id = ?1",
                                  &answer->role, answer->detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database,
                                  "SELECT brief FROM agents WHERE number = ?3 AND id = ?1"
                                  " AND created_ms = ?2 UNION ALL SELECT brief FROM agents"
                                  " WHERE id = ?1 AND ended_ms IS NULL AND created_ms = ?2 LIMIT 1",
                                  &answer->brief, answer->detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database, task_sql, &answer->task, answer->detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database,
                                  "SELECT introduced_by, via FROM contact_entries"
                                  " WHERE owner = ?1 AND id = ?2 AND added_ms = ?3",
                                  &answer->contact, answer->detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(database,
                                  "SELECT detail FROM events WHERE number > ?1"
                                  " AND event = 'policy_swapped' ORDER BY number",
                                  &answer->swaps, answer->detail);
    return rc;
}

int soc_past_answer(struct soc_database *database, struct soc_past *past, int64_t end_us,
                    struct soc_buf *out, struct soc_detail *detail)
{
    static int (*const parts[])(struct answer *) = {
        put_agents, put_contacts, put_inbox, put_policies, put_tasks, put_totals, put_waits,
    };
    struct answer answer = {
        .database = database, .past = past, .end_us = end_us, .out = out, .detail = detail};
    struct soc_past_cursor *cursor = &past->cursor;
    int rc = prepare(&answer);
    if (cursor->part == 0 && cursor->row == 0)
        soc_buf_put_byte(out, '{');
    while (rc == SOC_OK && cursor->part < (int)(sizeof(parts) / sizeof(parts[0]))) {
        rc = parts[cursor->part](&answer);
        if (rc == SOC_OK)
            *cursor = (struct soc_past_cursor){.part = cursor->part + 1};
    }
    if (rc == SOC_OK)
        soc_buf_put_byte(out, '}');
    sqlite3_finalize(answer.role);
    sqlite3_finalize(answer.brief);
    sqlite3_finalize(answer.contact);
    sqlite3_finalize(answer.task);
    sqlite3_finalize(answer.swaps);
    return rc;
}

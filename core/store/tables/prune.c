#include "store/tables/prune.h"

#include <assert.h>
#include <stdio.h>

#include "env/clock.h"
#include "store/tables/lines.h"
#include "store/tables/page_activity.h"
#include "store/tables/page_rows.h"
#include "store/tables/query.h"
#include "store/tables/schema.h"
#include "store/tables/snapshots.h"

#define DAY_MS                INT64_C(86400000)
#define SWEEP_ROWS            256 /* looked at again in a step */
#define HISTORY_ROWS          "512"
#define HISTORY_ROWS_FOR_LINE 4   /* removing one costs as much as removing so many of its rows */
#define VACUUM_PAGES          128 /* given back in a step */
#define FREE_PAGES            64  /* not worth the trouble */
#define FREE_SHARE            8   /* one page in so many may be free */

/* What a step works with. */
struct step {
    struct soc_prune *prune;
    struct soc_database *database;
    struct soc_detail *detail;
    int64_t now_ms;
    int64_t line;       /* last one removed so far */
    int64_t horizon_ms; /* latest time in what was removed so far, but of ends */
    int64_t parent;     /* lowest parent of an open task; INT64_MAX: none */
    bool has_moved;     /* blocks were removed */
    sqlite3_stmt *task;
    sqlite3_stmt *message;
};

/* Parents of open tasks stay: what becomes of a child is told to them. */
#define REMOVE_TASK                                                                                \
    "DELETE FROM task_entries WHERE key = ?1 AND state >= 2 AND ended_ms <= ?2 AND key < ?3"

#define REMOVE_MESSAGE                                                                             \
    "DELETE FROM message_entries WHERE key = ?1 AND status <> 0 AND end_place <= ?2"               \
    " AND key < (SELECT max(key) FROM message_entries)"                                            \
    " AND NOT EXISTS(SELECT 1 FROM task_entries t WHERE t.key = ?1)"                               \
    " AND NOT EXISTS(SELECT 1 FROM message_entries p INDEXED BY messages_replies"                  \
    "  WHERE p.reply_to = ?1 AND p.reply_to > 0 AND p.status = 0)"                                 \
    " AND NOT EXISTS(SELECT 1 FROM takes WHERE key = ?1)"                                          \
    " AND NOT EXISTS(SELECT 1 FROM broadcast_ends b WHERE b.key = ?1)"                             \
    " AND NOT EXISTS(SELECT 1 FROM introductions i WHERE i.key = ?1)"

/* Runs SQL with up to two numbers. `*out`: the first column of its row, if it has one. */
static int ask(struct step *step, const char *sql, int64_t first, int64_t second, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int rc = soc_database_prepare(step->database, sql, &statement, step->detail);
    if (rc < 0)
        return rc;
    if (sqlite3_bind_parameter_count(statement) > 0)
        sqlite3_bind_int64(statement, 1, first);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sqlite3_bind_int64(statement, 2, second);
    int sqlite_rc = sqlite3_step(statement);
    if (sqlite_rc == SQLITE_ROW && out != NULL && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return sqlite_rc == SQLITE_ROW || sqlite_rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(step->database, sqlite_rc, step->detail);
}

static int run(struct step *step, sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SOC_OK : soc_database_fail(step->database, rc, step->detail);
}

/* Removes the task and the message with that key, unless they are live. */
static int remove_key(struct step *step, int64_t key)
{
    sqlite3_bind_int64(step->task, 1, key);
    sqlite3_bind_int64(step->task, 2, step->horizon_ms);
    sqlite3_bind_int64(step->task, 3, step->parent);
    int rc = run(step, step->task);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(step->message, 1, key);
    sqlite3_bind_int64(step->message, 2, step->line);
    rc = run(step, step->message);
    if (rc == SOC_OK && step->prune->edge != NULL && sqlite3_changes(step->database->db) > 0)
        soc_past_forget_letter(step->prune->edge, (uint64_t)key);
    return rc;
}

/* The first block, if it may go: it is not the last, and too old or `is_too_large`. */
static int find_block(struct step *step, int64_t oldest_ms, bool is_too_large, bool *is_found)
{
    sqlite3_stmt *row = NULL;
    int rc = soc_database_prepare(step->database,
                                  "SELECT line, until_ms FROM lines WHERE line <"
                                  " (SELECT max(line) FROM lines) ORDER BY line LIMIT 1",
                                  &row, step->detail);
    *is_found = false;
    if (rc < 0)
        return rc;
    int sqlite_rc = sqlite3_step(row);
    if (sqlite_rc == SQLITE_ROW) {
        int64_t until_ms = sqlite3_column_int64(row, 1);
        *is_found = is_too_large || until_ms < oldest_ms;
        if (*is_found) {
            step->line = sqlite3_column_int64(row, 0);
            if (until_ms > step->horizon_ms)
                step->horizon_ms = until_ms;
        }
    }
    sqlite3_finalize(row);
    return sqlite_rc == SQLITE_ROW || sqlite_rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(step->database, sqlite_rc, step->detail);
}

static void drop_edge(struct soc_prune *prune)
{
    soc_past_free(prune->edge);
    prune->edge = NULL;
}

/* Reads the edge, unless that was done before. */
static int need_edge(struct step *step, uint64_t first)
{
    struct soc_prune *prune = step->prune;
    bool is_found = false;
    if (prune->edge != NULL || prune->is_edge_lost)
        return SOC_OK;
    int rc = soc_snapshots_need_tables(step->database, step->detail);
    prune->edge = soc_past_new();
    if (rc == SOC_OK && first > 1)
        rc = soc_snapshots_read_edge(step->database, first - 1, prune->edge, &is_found,
                                     step->detail);
    prune->is_edge_lost = first > 1 && !is_found;
    if (rc == SOC_OK && !is_found)
        rc = soc_database_exec(step->database, "DELETE FROM edge", step->detail);
    if (prune->is_edge_lost) {
        drop_edge(prune);
    } else {
        prune->edge->is_tracked = true;
    }
    return rc;
}

/* Moves the edge behind a block that is about to be removed. */
static int move_edge(struct step *step, const struct soc_lines_block *block)
{
    static const struct soc_query query = {.what = "at"};
    uint64_t last = block->first + block->count - 1;
    int rc = step->has_moved ? SOC_OK : soc_query_read_calendar(step->database, step->detail);
    if (rc == SOC_OK)
        rc = need_edge(step, block->first);
    step->has_moved = true;
    if (rc < 0 || step->prune->edge == NULL)
        return rc;
    struct soc_page_rows rows = {.database = step->database,
                                 .query = &query,
                                 .detail = step->detail,
                                 .past = step->prune->edge,
                                 .until = last};
    rc = soc_page_activity_read(&rows, block->first - 1, last + 1, last);
    soc_page_rows_fini(&rows);
    step->prune->edge->line = last;
    return rc;
}

/* Removes the block that ends with the step's line. A message can only go with its end, which
 * comes after it: where it was sent, it need not be looked at. */
static int remove_block(struct step *step, uint64_t *removed)
{
    struct soc_lines_block block;
    struct soc_lines_span span = {.after = (uint64_t)step->line - 1, .until = (uint64_t)step->line};
    int rc = soc_lines_read(step->database, &span, &block, step->detail);
    if (rc == SOC_OK)
        rc = move_edge(step, &block);
    for (uint64_t i = 0; rc == SOC_OK && i < block.count; i++)
        if (block.entries[i].kind == SOC_LINES_END)
            rc = remove_key(step, (int64_t)block.entries[i].key);
    if (rc == SOC_OK)
        rc = ask(step, "DELETE FROM events WHERE number BETWEEN ?1 AND ?2", (int64_t)block.first,
                 step->line, NULL);
    if (rc == SOC_OK)
        rc = ask(step, "DELETE FROM lines WHERE line = ?1", step->line, 0, NULL);
    *removed += block.count;
    return rc;
}

/* Looks again at some of the rows that were live when their lines were removed. */
static int sweep(struct step *step)
{
    sqlite3_stmt *rows = NULL;
    int64_t keys[SWEEP_ROWS];
    int count = 0;
    int rc = soc_database_prepare(step->database,
                                  "SELECT key FROM message_entries WHERE key > ?1 AND place <= ?2"
                                  " AND status <> 0 ORDER BY key LIMIT ?3",
                                  &rows, step->detail);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, step->prune->swept_key);
    sqlite3_bind_int64(rows, 2, step->line);
    sqlite3_bind_int(rows, 3, SWEEP_ROWS);
    while (count < SWEEP_ROWS && sqlite3_step(rows) == SQLITE_ROW)
        keys[count++] = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    for (int i = 0; rc == SOC_OK && i < count; i++)
        rc = remove_key(step, keys[i]);
    step->prune->swept_key = count == SWEEP_ROWS ? keys[count - 1] : 0;
    return rc;
}

/* Removes the conversations of one agent that had ended by then. */
static int remove_memories(struct step *step)
{
    int64_t agent = 0;
    int rc = ask(step,
                 "SELECT number FROM agents WHERE number > ?1 AND ended_ms <= ?2"
                 " ORDER BY number LIMIT 1",
                 step->prune->swept_agent, step->horizon_ms, &agent);
    if (rc == SOC_OK && agent > 0)
        rc = ask(step,
                 "DELETE FROM memories WHERE agent = (SELECT id FROM agents WHERE number = ?1)",
                 agent, 0, NULL);
    if (rc == SOC_OK)
        step->prune->swept_agent = agent;
    return rc;
}

/* Removes some history up to that time, from its front; what later runs need stays. */
static int remove_history(struct step *step, int64_t until_ms, int *removed)
{
    int rc = ask(step,
                 "DELETE FROM history WHERE number IN (SELECT number FROM history"
                 " WHERE number < coalesce((SELECT number FROM history WHERE time_ms > ?1"
                 "  AND what IN ('run', 'question') ORDER BY number LIMIT 1), ?2)"
                 " AND what IN ('run', 'question') ORDER BY number LIMIT " HISTORY_ROWS ")",
                 until_ms, INT64_MAX, NULL);
    *removed = rc == SOC_OK ? sqlite3_changes(step->database->db) : 0;
    return rc;
}

/* Finds what a step has to know before its first block. */
static int begin(struct step *step)
{
    int64_t last_ms = 0;
    int64_t first = 1;
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    step->now_ms = soc_clock_now(&clock);
    step->parent = INT64_MAX;
    int rc = ask(step, "SELECT until_ms FROM lines ORDER BY line DESC LIMIT 1", 0, 0, &last_ms);
    if (last_ms > step->now_ms) /* the society's time is never set back */
        step->now_ms = last_ms;
    if (rc == SOC_OK)
        rc = ask(step, "SELECT line - count + 1 FROM lines ORDER BY line LIMIT 1", 0, 0, &first);
    step->line = first - 1;
    if (rc == SOC_OK)
        rc = ask(step, "SELECT since_ms FROM lines ORDER BY line LIMIT 1", 0, 0, &step->horizon_ms);
    if (rc == SOC_OK)
        rc = ask(step,
                 "SELECT min(parent) FROM task_entries INDEXED BY tasks_open WHERE state < 2"
                 " AND parent > 0",
                 0, 0, &step->parent);
    if (rc == SOC_OK)
        rc = soc_database_prepare(step->database, REMOVE_TASK, &step->task, step->detail);
    if (rc == SOC_OK)
        rc = soc_database_prepare(step->database, REMOVE_MESSAGE, &step->message, step->detail);
    return rc;
}

/* How large the database is. */
struct size {
    int64_t pages;
    int64_t free;
};

static int measure(struct step *step, struct size *size)
{
    int rc = ask(step, "PRAGMA page_count", 0, 0, &size->pages);
    return rc == SOC_OK ? ask(step, "PRAGMA freelist_count", 0, 0, &size->free) : rc;
}

/* Tells whether what is in use, but for the journal, exceeds its share of the limit: the
 * rest of the limit is for pages that are free. */
static int is_too_large(struct step *step, const struct soc_retention *retention, uint64_t backlog,
                        bool *out)
{
    struct size size = {0};
    *out = false;
    if (retention->bytes == 0)
        return SOC_OK;
    int rc = measure(step, &size);
    int64_t used = (size.pages - size.free) * SOC_SCHEMA_PAGE_BYTES - (int64_t)backlog;
    *out = used > retention->bytes - retention->bytes / FREE_SHARE;
    return rc;
}

/* Removes what is too old, or the oldest while it is too much: the history of a block before the
 * next block. */
static int remove_blocks(struct step *step, const struct soc_retention *retention, uint64_t backlog,
                         uint64_t lines_max)
{
    int64_t oldest_ms = retention->days == 0 ? INT64_MIN : step->now_ms - retention->days * DAY_MS;
    uint64_t removed = 0;
    bool is_found = true;
    int rc = SOC_OK;
    while (rc == SOC_OK && is_found && removed < lines_max) {
        bool is_large = false;
        int cleared = 0;
        rc = remove_history(step, step->horizon_ms, &cleared);
        removed += (uint64_t)cleared / HISTORY_ROWS_FOR_LINE;
        if (rc < 0 || cleared > 0)
            continue; /* it may be enough, or there is more */
        rc = is_too_large(step, retention, backlog, &is_large);
        if (rc == SOC_OK)
            rc = find_block(step, oldest_ms, is_large, &is_found);
        if (rc == SOC_OK && is_found) {
            rc = remove_block(step, &removed);
        } else if (rc == SOC_OK && is_large) { /* of one block only, yet too much */
            rc = remove_history(step, INT64_MAX, &cleared);
            removed += (uint64_t)cleared / HISTORY_ROWS_FOR_LINE;
            is_found = cleared > 0;
        }
    }
    step->prune->has_more = is_found;
    return rc;
}

/* Gives free pages at the end of the file back, unless they will be needed soon. Does
 * nothing in a database of an older version, in which free pages are only used again. */
static int shrink(struct step *step, const struct soc_retention *retention)
{
    struct size size = {0};
    char sql[64];
    int64_t mode = 0;
    int rc = measure(step, &size);
    if (rc == SOC_OK)
        rc = ask(step, "PRAGMA auto_vacuum", 0, 0, &mode);
    bool is_due = size.free > FREE_PAGES &&
                  (size.free > size.pages / FREE_SHARE ||
                   (retention->bytes > 0 && size.pages * SOC_SCHEMA_PAGE_BYTES > retention->bytes));
    if (rc < 0 || mode != 2 || !is_due)
        return rc;
    snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
    step->prune->has_more = true;
    return soc_database_exec(step->database, sql, step->detail);
}

/* Stores the edge, if lines were removed, and removes the snapshots of these lines. */
static int keep_edge(struct step *step)
{
    int rc = SOC_OK;
    if (!step->has_moved)
        return SOC_OK;
    if (step->prune->edge != NULL)
        rc = soc_snapshots_write_edge(step->database, step->prune->edge, step->detail);
    return rc == SOC_OK
               ? soc_snapshots_forget(step->database, (uint64_t)step->line + 1, step->detail)
               : rc;
}

void soc_prune_fini(struct soc_prune *prune)
{
    drop_edge(prune);
}

int soc_prune_step(struct soc_prune *prune, struct soc_database *database,
                   const struct soc_retention *retention, uint64_t backlog, uint64_t lines_max,
                   struct soc_detail *detail)
{
    struct step step = {.prune = prune, .database = database, .detail = detail};
    assert(retention->days > 0 || retention->bytes > 0);
    prune->has_more = false;
    int rc = soc_database_begin(database, detail);
    if (rc < 0)
        return rc;
    rc = begin(&step);
    if (rc == SOC_OK)
        rc = remove_blocks(&step, retention, backlog, lines_max);
    if (rc == SOC_OK)
        rc = sweep(&step);
    if (rc == SOC_OK)
        rc = remove_memories(&step);
    if (rc == SOC_OK)
        rc = keep_edge(&step);
    sqlite3_finalize(step.task);
    sqlite3_finalize(step.message);
    if (rc == SOC_OK)
        rc = soc_database_commit(database, detail);
    else
        soc_database_rollback(database);
    if (rc < 0) { /* it is ahead of what is stored, and so are the tables */
        drop_edge(prune);
        prune->is_edge_lost = false;
    }
    return rc == SOC_OK ? shrink(&step, retention) : rc;
}

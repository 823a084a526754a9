#include "store/tables/page.h"

#include <string.h>

#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "store/tables/lines.h"
#include "store/tables/page_activity.h"
#include "store/tables/page_rows.h"
#include "store/tables/past.h"
#include "store/tables/past_answer.h"
#include "store/tables/query.h"
#include "store/tables/snapshots.h"

#define CHUNK_ROWS "256" /* rows that are looked at between two readings of the clock */

/* A list whose rows have keys. Cursors are lines: those of the messages with these keys. Items
 * are no messages, and several of them may lie between two lines: theirs are the keys. */
struct list {
    const char *what;
    const char *up;   /* the key up to which the next rows of (?1, ?2] go */
    const char *down; /* the key before the last rows of (?1, ?2] */
    const char *last; /* the highest key, if cursors are keys; NULL: they are lines */
};

#define UP(table, where)                                                                           \
    "SELECT max(key) FROM (SELECT key FROM " table " WHERE " where                                 \
    "key > ?1 AND key <= ?2 ORDER BY key LIMIT " CHUNK_ROWS ")"
#define DOWN(table, where)                                                                         \
    "SELECT min(key) - 1 FROM (SELECT key FROM " table " WHERE " where                             \
    "key > ?1 AND key <= ?2 ORDER BY key DESC LIMIT " CHUNK_ROWS ")"
#define DEAD_TABLE "message_entries INDEXED BY messages_dead"
#define DEAD_WHERE "status IN (2, 3) AND "

static const struct list lists[] = {
    {"messages", UP("message_entries", ""), DOWN("message_entries", ""), NULL},
    {"dead_letters", UP(DEAD_TABLE, DEAD_WHERE), DOWN(DEAD_TABLE, DEAD_WHERE), NULL},
    {"tasks", UP("task_entries", ""), DOWN("task_entries", ""), NULL},
    {"inbox_past", UP("inbox_entries", ""), DOWN("inbox_entries", ""),
     "SELECT max(key) FROM inbox_entries"},
};

static const struct list *find_list(const struct soc_query *query)
{
    const char *what = soc_query_name(query);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (strcmp(lists[i].what, what) == 0)
            return &lists[i];
    return NULL;
}

static bool is_activity(const struct soc_query *query)
{
    return strcmp(query->what, "activity") == 0;
}

bool soc_page_serves(const struct soc_query *query)
{
    return is_activity(query) || query->past != NULL || find_list(query) != NULL;
}

/* Runs a statement with up to two numbers and returns the one it answers; `fallback` for
 * none. */
static int ask_number(struct soc_page_rows *rows, sqlite3_stmt *statement, int64_t first,
                      int64_t second, int64_t *number)
{
    sqlite3_bind_int64(statement, 1, first);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sqlite3_bind_int64(statement, 2, second);
    int rc = sqlite3_step(statement);
    *number = rc == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL
                  ? sqlite3_column_int64(statement, 0)
                  : -1;
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(rows->database, rc, rows->detail);
}

/* Finds the highest key of a message whose line is at most `line`: lines rise with keys. */
static int find_key(struct soc_page_rows *rows, uint64_t line, int64_t *key)
{
    sqlite3_stmt *statement = soc_database_statement(rows->database, SOC_STATEMENT_KEY_PLACE);
    int64_t low = 0;
    int64_t high = (int64_t)soc_message_id_key_of(UINT64_MAX, SOC_HOSTS_MAX - 1);
    int rc = SQLITE_DONE;
    while (low < high && (rc == SQLITE_ROW || rc == SQLITE_DONE)) {
        int64_t middle = low + (high - low) / 2;
        sqlite3_bind_int64(statement, 1, middle);
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW && (uint64_t)sqlite3_column_int64(statement, 1) <= line)
            low = sqlite3_column_int64(statement, 0) + 1;
        else
            high = middle;
        sqlite3_reset(statement);
    }
    *key = low - 1;
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(rows->database, rc, rows->detail);
}

/* Finds the line of the message with that key, or of the one before it. */
static int find_line(struct soc_page_rows *rows, int64_t key, uint64_t *line)
{
    sqlite3_stmt *statement = soc_database_statement(rows->database, SOC_STATEMENT_PLACE_OF);
    int64_t number;
    int rc = ask_number(rows, statement, key, 0, &number);
    *line = number < 0 ? 0 : (uint64_t)number;
    return rc;
}

/* Narrows (after, until] to blocks of lines with a time that is asked for. */
static int narrow(struct soc_page_rows *rows, uint64_t *after, uint64_t *until)
{
    const struct soc_query *query = rows->query;
    struct soc_lines_block block;
    if ((query->since_ms == 0 && query->until_ms == 0) || strcmp(query->what, "messages") != 0)
        return SOC_OK;
    struct soc_lines_span span = {*after, *until, query->since_ms, soc_page_rows_until(rows),
                                  false};
    int rc = soc_lines_read(rows->database, &span, &block, rows->detail);
    if (rc == SOC_OK && block.first == 0) {
        *after = *until;
        return SOC_OK;
    }
    uint64_t first = block.first;
    span.is_backwards = true;
    if (rc == SOC_OK)
        rc = soc_lines_read(rows->database, &span, &block, rows->detail);
    if (rc == SOC_OK && block.first != 0 && block.first + block.count - 1 < *until)
        *until = block.first + block.count - 1;
    if (first - 1 > *after)
        *after = first - 1;
    return rc;
}

/* Takes the rows of (low, high] into the page, until it is over. `*key`: the last one. */
static int take_rows(struct soc_page_rows *rows, sqlite3_stmt *statement, int64_t low, int64_t high,
                     int64_t *key)
{
    int sqlite_rc = SQLITE_DONE;
    bool is_over = false;
    soc_query_bind_span(statement, low, high);
    while (!is_over && (sqlite_rc = sqlite3_step(statement)) == SQLITE_ROW) {
        *key = sqlite3_column_int64(statement, sqlite3_column_count(statement) - 1);
        soc_query_put_row(rows->database, soc_page_rows_begin(rows), statement);
        soc_page_rows_end(rows);
        is_over = soc_page_rows_is_over(rows);
    }
    sqlite3_reset(statement);
    if (sqlite_rc == SQLITE_DONE) /* all were looked at */
        *key = rows->is_backwards ? low + 1 : high;
    return sqlite_rc == SQLITE_ROW || sqlite_rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(rows->database, sqlite_rc, rows->detail);
}

/* Walks the rows with keys in (low, high]; `*is_done`: all of them. `*last`: the key of the last
 * one that was looked at. */
static int walk_keys(struct soc_page_rows *rows, sqlite3_stmt *bound, sqlite3_stmt *statement,
                     int64_t low, int64_t high, int64_t *last, bool *is_done)
{
    int64_t key = rows->is_backwards ? high + 1 : low;
    int rc = SOC_OK;
    do {
        int64_t edge;
        rc = ask_number(rows, bound, low, high, &edge);
        if (rc == SOC_OK && edge < 0)
            *is_done = true;
        if (rc < 0 || edge < 0)
            break;
        rc = rows->is_backwards ? take_rows(rows, statement, edge, high, &key)
                                : take_rows(rows, statement, low, edge, &key);
        if (rows->is_backwards)
            high = key - 1;
        else
            low = key;
    } while (rc == SOC_OK && !soc_page_rows_is_over(rows) && !soc_page_rows_is_late(rows));
    *last = key;
    return rc;
}

/* Finds the keys (low, high] that lie behind the cursor `after`, up to the cursor `until`. */
static int find_span(struct soc_page_rows *rows, const struct list *list, uint64_t after,
                     uint64_t until, int64_t *low, int64_t *high)
{
    *low = (int64_t)after;
    *high = (int64_t)until;
    if (list->last != NULL)
        return SOC_OK;
    int rc = find_key(rows, after, low);
    return rc == SOC_OK ? find_key(rows, until, high) : rc;
}

static int read_list(struct soc_page_rows *rows, const struct list *list, uint64_t after,
                     uint64_t before, bool *is_done)
{
    uint64_t until = before - 1 < rows->until ? before - 1 : rows->until;
    int64_t low = 0;
    int64_t high = 0;
    int64_t last = 0;
    sqlite3_stmt *bound = NULL;
    sqlite3_stmt *statement = NULL;
    int rc = narrow(rows, &after, &until);
    if (rc == SOC_OK && after >= until) {
        *is_done = true;
        return SOC_OK;
    }
    if (rc == SOC_OK)
        rc = find_span(rows, list, after, until, &low, &high);
    if (rc == SOC_OK)
        rc = soc_database_prepare(rows->database, rows->is_backwards ? list->down : list->up,
                                  &bound, rows->detail);
    if (rc == SOC_OK)
        rc = soc_query_prepare(rows->database, rows->query, rows->is_backwards, &statement,
                               rows->detail);
    if (rc == SOC_OK)
        rc = walk_keys(rows, bound, statement, low, high, &last, is_done);
    uint64_t looked = (uint64_t)last;
    if (rc == SOC_OK && !*is_done && list->last == NULL)
        rc = find_line(rows, last, &looked);
    if (rc == SOC_OK && !*is_done)
        rows->looked = looked;
    sqlite3_finalize(bound);
    sqlite3_finalize(statement);
    return rc;
}

/* What a page has to know of the tables. */
struct edges {
    uint64_t folded; /* last line in the tables */
    uint64_t last;   /* last line of all batches */
    uint64_t first;  /* first line there is; 1 if nothing was removed */
};

static int find_edges(struct soc_page_rows *rows, struct edges *edges)
{
    sqlite3_stmt *row = soc_database_statement(rows->database, SOC_STATEMENT_EDGES);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        edges->folded = (uint64_t)sqlite3_column_int64(row, 0);
        edges->last = (uint64_t)sqlite3_column_int64(row, 1);
        edges->first = (uint64_t)sqlite3_column_int64(row, 2);
    }
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(rows->database, rc, rows->detail);
}

/* Tells whether lines right beside the cursor were removed. */
static bool is_gone(const struct soc_query *query, uint64_t first)
{
    if (query->has_after)
        return query->after + 1 < first;
    return query->before != 0 && query->before <= first && first > 1;
}

static int fail_gone(const struct soc_query *query, struct soc_page *page, uint64_t first,
                     struct soc_detail *detail)
{
    page->first = first;
    return soc_fail(detail, SOC_EGONE, "lines %s %llu were removed; the first is %llu",
                    query->has_after ? "after" : "before",
                    (unsigned long long)(query->has_after ? query->after : query->before),
                    (unsigned long long)first);
}

/* Says where the pages beside this one begin. */
static void set_cursors(const struct soc_page_rows *rows, struct soc_page *page, uint64_t after,
                        bool is_done)
{
    if (!rows->is_backwards)
        page->next = is_done || rows->looked >= rows->until ? 0 : rows->looked;
    else
        page->previous = is_done || rows->looked <= after + 1 ? 0 : rows->looked;
    if (rows->is_backwards && rows->query->before == 0)
        page->next = page->last;
}

/* Reads the last cursor of a list; that of the activity log is its last line. */
static int find_last(struct soc_page_rows *rows, const struct list *list, const struct edges *edges,
                     uint64_t *last)
{
    sqlite3_stmt *statement = NULL;
    int64_t key = 0;
    *last = list == NULL ? edges->last : edges->folded;
    if (list == NULL || list->last == NULL)
        return SOC_OK;
    int rc = soc_database_prepare(rows->database, list->last, &statement, rows->detail);
    if (rc == SOC_OK)
        rc = ask_number(rows, statement, 0, 0, &key);
    sqlite3_finalize(statement);
    *last = key < 0 ? 0 : (uint64_t)key;
    return rc;
}

static int answer_page(struct soc_database *database, const struct soc_query *query,
                       struct soc_page *page, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_page_rows rows = {.database = database, .query = query, .detail = detail};
    struct edges edges = {0};
    const struct list *list = find_list(query);
    bool is_done = false;
    *page = (struct soc_page){0};
    int rc = soc_query_read_calendar(database, detail);
    if (rc == SOC_OK)
        rc = find_edges(&rows, &edges);
    if (rc == SOC_OK)
        rc = find_last(&rows, list, &edges, &page->last);
    /* Of a list, rows from before the first line are left: those that are live. */
    if (list != NULL && (query->after == 0 || list->last != NULL))
        edges.first = 1;
    if (rc == SOC_OK && is_gone(query, edges.first))
        return fail_gone(query, page, edges.first, detail);
    if (rc < 0)
        return rc;
    uint64_t after = query->has_after ? query->after : edges.first - 1;
    uint64_t before = query->before == 0 ? UINT64_MAX : query->before;
    page->first = edges.first;
    page->as_of = list == NULL ? edges.last : edges.folded;
    rows.until = page->last;
    if (query->upto != 0 && query->upto < rows.until)
        rows.until = query->upto;
    rows.is_backwards = !query->has_after;
    rows.begin = rows.looked = query->has_after ? after : before;
    if (query->budget_us > 0)
        rows.end_us = soc_clock_monotonic_us() + query->budget_us;
    if (list == NULL)
        rc = soc_page_activity_read(&rows, after, before, edges.folded);
    else
        rc = read_list(&rows, list, after, before, &is_done);
    if (rc == SOC_OK) {
        soc_page_rows_put(&rows, out);
        set_cursors(&rows, page, after, is_done);
    }
    soc_page_rows_fini(&rows);
    return rc;
}

/* Finds where a past begins, or begins anew because lines that it had to come to were removed
 * meanwhile. */
static int begin_past(struct soc_page_rows *rows, const struct soc_snapshots_span *span)
{
    struct soc_past *past = rows->past;
    bool is_answered = past->cursor.part > 0 || past->cursor.row > 0 || past->cursor.tie > 0;
    if (past->has_begun && (is_answered || past->line + 1 >= span->first))
        return SOC_OK;
    soc_past_empty(past);
    int rc = soc_snapshots_begin(rows->database, span, past, rows->detail);
    past->has_begun = rc == SOC_OK;
    if (rc == SOC_OK && past->line + 1 < span->first)
        rc = soc_fail(rows->detail, SOC_EGONE, "lines before %llu were removed",
                      (unsigned long long)span->first);
    return rc;
}

/* Feeds a past up to `until`, or until the page is over or a snapshot may be due. */
static int feed_past(struct soc_page_rows *rows, uint64_t until, uint64_t folded)
{
    struct soc_past *past = rows->past;
    uint64_t stop = (past->line / SOC_SNAPSHOT_LINES + 1) * SOC_SNAPSHOT_LINES;
    if (past->line >= until)
        return SOC_OK;
    rows->until = stop < until ? stop : until;
    rows->begin = rows->looked = past->line;
    int rc = soc_page_activity_read(rows, past->line, rows->until + 1, folded);
    past->line = rows->looked;
    return rc;
}

/* One page of a past: lines up to the one asked for, then parts of the answer. */
static int answer_past(struct soc_database *database, const struct soc_query *query,
                       struct soc_page *page, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_page_rows rows = {
        .database = database, .query = query, .detail = detail, .past = query->past};
    struct edges edges = {0};
    *page = (struct soc_page){0};
    int rc = soc_query_read_calendar(database, detail);
    if (rc == SOC_OK)
        rc = find_edges(&rows, &edges);
    uint64_t until = query->upto != 0 && query->upto < edges.folded ? query->upto : edges.folded;
    struct soc_snapshots_span span = {edges.first, until, query->until_ms};
    page->first = edges.first;
    page->as_of = edges.folded;
    if (query->budget_us > 0)
        rows.end_us = soc_clock_monotonic_us() + query->budget_us;
    if (rc == SOC_OK)
        rc = begin_past(&rows, &span);
    if (rc == SOC_OK)
        rc = feed_past(&rows, until, edges.folded);
    soc_page_rows_fini(&rows);
    if (rc < 0)
        return rc;
    page->next = rows.past->line;
    if (rows.past->line < until)
        return SOC_OK;
    rc = soc_past_answer(database, rows.past, rows.end_us, out, detail);
    if (rc == SOC_OK)
        page->next = 0;
    return rc < 0 ? rc : SOC_OK;
}

int soc_page_answer(struct soc_database *database, const struct soc_query *query,
                    struct soc_page *page, struct soc_buf *out, struct soc_detail *detail)
{
    return query->past == NULL ? answer_page(database, query, page, out, detail)
                               : answer_past(database, query, page, out, detail);
}

#include "store/tables/page_activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "store/line.h"
#include "store/tables/lines.h"
#include "store/tables/past.h"
#include "store/tables/tails.h"

/* The walk of one page. */
struct walk {
    struct soc_page_rows *rows;
    uint64_t chain_key; /* of the message that the asked chain began with; 0: none */
    uint64_t first;     /* sequences of the batches that are not folded */
    uint64_t last;
    struct soc_tails *tails;      /* lent */
    const struct soc_tail *batch; /* lent, whose lines are walked; NULL: none */
    struct soc_buf scratch;
    struct soc_buf texts; /* of a message from another batch */
};

static bool is_of_chain(const struct walk *walk, const struct soc_line *line)
{
    struct soc_slice asked = walk->rows->query->correlation_id;
    char id[SOC_MESSAGE_ID_BYTES];
    if (asked.data == NULL)
        return true;
    if (line->correlation_id.data != NULL)
        return soc_slice_equal(line->correlation_id, asked);
    if (line->key == 0 || line->key != walk->chain_key || line->sent_ms == 0)
        return false;
    soc_message_id_format(id, line->sent_ms, line->key);
    return soc_slice_equal(soc_slice(id, sizeof(id)), asked);
}

static struct soc_slice event_of(const struct soc_line *line)
{
    return line->event == NULL ? line->name : soc_slice_text(line->event);
}

/* A text that is not asked for is any. */
static bool is_as_asked(struct soc_slice asked, struct soc_slice text, struct soc_slice other)
{
    return asked.data == NULL || (text.data != NULL && soc_slice_equal(asked, text)) ||
           (other.data != NULL && soc_slice_equal(asked, other));
}

static bool fits(const struct walk *walk, const struct soc_line *line, int64_t date_ms)
{
    const struct soc_query *query = walk->rows->query;
    return (query->since_ms == 0 || date_ms >= query->since_ms) &&
           (query->until_ms == 0 || date_ms < query->until_ms) &&
           is_as_asked(query->agent, line->agent, line->other) &&
           is_as_asked(query->task, line->task_id, (struct soc_slice){0}) &&
           is_as_asked(query->type, line->type, event_of(line)) && is_of_chain(walk, line);
}

static void put_line(struct soc_buf *out, const struct soc_line *line, int64_t date_ms)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_slice message_id = {0};
    if (line->foreign_id.data != NULL) {
        message_id = line->foreign_id;
    } else if (line->key != 0 && soc_message_id_host(line->key) < SOC_HOSTS_MAX &&
               line->sent_ms != 0) {
        soc_message_id_format(id, line->sent_ms, line->key);
        message_id = soc_slice(id, sizeof(id));
    }
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "agent", line->agent);
    soc_json_put_text_member(out, "correlation_id",
                             line->correlation_id.data != NULL ? line->correlation_id : message_id);
    soc_json_put_text_member(out, "detail", line->detail);
    soc_json_put_text_member(out, "event", event_of(line));
    soc_json_put_name(out, "line");
    soc_json_put_integer(out, (int64_t)line->number);
    soc_json_put_text_member(out, "message_id", message_id);
    soc_json_put_text_member(out, "other", line->other);
    soc_json_put_text_member(out, "task_id", line->task_id);
    if (date_ms != 0) {
        soc_json_put_name(out, "time");
        soc_time_put_json(out, date_ms);
    }
    soc_json_put_text_member(out, "type", line->type);
    soc_buf_put_byte(out, '}');
}

static void feed_past(struct soc_past *past, const struct soc_line *line, int64_t date_ms)
{
    soc_past_feed(past, line);
    if (date_ms > past->latest_ms)
        past->latest_ms = date_ms;
}

/* Takes a line that was found into the page, if it fits. */
static void take_line(struct walk *walk, const struct soc_line *line)
{
    struct soc_past *past = walk->rows->past;
    int64_t date_ms = soc_calendar_date(&walk->rows->database->calendar, line->time_ms);
    bool is_taken = fits(walk, line, date_ms);
    if (past != NULL && is_taken) {
        feed_past(past, line, date_ms);
    } else if (past != NULL) {
        past->is_partial = true;
    } else if (is_taken) {
        put_line(soc_page_rows_begin(walk->rows), line, date_ms);
        soc_page_rows_end(walk->rows);
    }
}

/* ---- from the tables ---- */

/* Columns of a message, from `column` on, as SOC_STATEMENT_LINE_MESSAGE has them. */
static struct soc_record_message read_message(sqlite3_stmt *row, int column)
{
    return (struct soc_record_message){
        .key = (uint64_t)sqlite3_column_int64(row, column),
        .time_ms = (uint64_t)sqlite3_column_int64(row, column + 1),
        .flags = (uint64_t)sqlite3_column_int64(row, column + 2),
        .from = soc_database_text(row, column + 3),
        .to = soc_database_text(row, column + 4),
        .type = soc_database_text(row, column + 5),
        .task_id = soc_database_text(row, column + 6),
        .correlation_id = soc_database_text(row, column + 7),
        .foreign_id = soc_database_text(row, column + 8),
    };
}

static void read_stored_event(struct walk *walk, sqlite3_stmt *row, uint64_t number)
{
    struct soc_line line = {
        .number = number,
        .time_ms = sqlite3_column_int64(row, 0),
        .name = soc_database_text(row, 1),
        .agent = soc_database_text(row, 2),
        .other = soc_database_text(row, 3),
        .task_id = soc_database_text(row, 4),
        .correlation_id = soc_database_text(row, 5),
        .key = (uint64_t)sqlite3_column_int64(row, 6),
        .detail = soc_database_text(row, 7),
    };
    struct soc_record_message message = read_message(row, 8);
    if (line.key != 0 && message.key == line.key)
        soc_line_complete(&line, &message);
    take_line(walk, &line);
}

/* Takes a row of `events`, if there is one. Returns SQLite's result code. */
static int take_event(struct walk *walk, uint64_t number)
{
    sqlite3_stmt *row = soc_database_statement(walk->rows->database, SOC_STATEMENT_LINE_EVENT);
    sqlite3_bind_int64(row, 1, (int64_t)number);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW)
        read_stored_event(walk, row, number);
    sqlite3_reset(row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Makes the line of a message row; false if the row does not hold it. */
static bool read_stored_message(sqlite3_stmt *row, enum soc_lines_kind kind, struct soc_line *line,
                                struct soc_buf *scratch)
{
    uint64_t number = line->number;
    struct soc_record_message message = read_message(row, 0);
    struct soc_record record = {.type = SOC_RECORD_MESSAGE, .message = message};
    if (kind == SOC_LINES_SENT && soc_line_is_hidden(&message))
        return false;
    if (kind == SOC_LINES_END) {
        if ((uint64_t)sqlite3_column_int64(row, 9) != number)
            return false;
        record.type = SOC_RECORD_MESSAGE_END;
        record.message_end = (struct soc_record_message_end){
            .key = message.key,
            .time_ms = (uint64_t)sqlite3_column_int64(row, 10),
            .outcome = (uint64_t)sqlite3_column_int64(row, 11),
            .reason = soc_database_text(row, 12),
        };
    }
    soc_line_read(&record, line, scratch);
    soc_line_complete(line, &message);
    line->number = number;
    return true;
}

static int take_message(struct walk *walk, uint64_t number, struct soc_lines_entry entry)
{
    sqlite3_stmt *row = soc_database_statement(walk->rows->database, SOC_STATEMENT_LINE_MESSAGE);
    struct soc_line line = {.number = number};
    bool is_moved = false;
    sqlite3_bind_int64(row, 1, (int64_t)entry.key);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW && read_stored_message(row, entry.kind, &line, &walk->scratch))
        take_line(walk, &line);
    else if (rc == SQLITE_ROW)
        is_moved = entry.kind == SOC_LINES_END; /* the message is pending again */
    sqlite3_reset(row);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return rc;
    return is_moved ? take_event(walk, number) : SQLITE_OK;
}

static int take_stored(struct walk *walk, const struct soc_lines_block *block, uint64_t number)
{
    struct soc_lines_entry entry = block->entries[number - block->first];
    int rc = entry.kind == SOC_LINES_EVENT ? take_event(walk, number)
                                           : take_message(walk, number, entry);
    walk->rows->looked = number;
    return rc == SQLITE_OK ? SOC_OK
                           : soc_database_fail(walk->rows->database, rc, walk->rows->detail);
}

/* Walks the lines of the tables in (after, until], up or down. */
static int walk_tables(struct walk *walk, uint64_t after, uint64_t until)
{
    struct soc_page_rows *rows = walk->rows;
    struct soc_lines_block *block = soc_alloc(sizeof(*block));
    bool is_exhausted = false; /* no further line has a time that fits */
    int rc = SOC_OK;
    while (rc == SOC_OK && after < until && !soc_page_rows_is_over(rows)) {
        struct soc_lines_span span = {after, until, rows->query->since_ms,
                                      soc_page_rows_until(rows), rows->is_backwards};
        rc = soc_lines_read(rows->database, &span, block, rows->detail);
        is_exhausted = rc == SOC_OK && block->first == 0;
        if (rc < 0 || is_exhausted)
            break;
        uint64_t low = block->first - 1 > after ? block->first - 1 : after;
        if (rows->past != NULL && low > after)
            rows->past->is_partial = true;
        uint64_t high = block->first + block->count - 1;
        high = high < until ? high : until;
        while (rc == SOC_OK && low < high && !soc_page_rows_is_over(rows))
            rc = take_stored(walk, block, rows->is_backwards ? high-- : ++low);
        if (low < high)
            break;
        if (rows->is_backwards)
            until = block->first - 1 > after ? block->first - 1 : after;
        else
            after = high;
    }
    if (is_exhausted && rows->past != NULL)
        rows->past->is_partial = true;
    if (is_exhausted)
        rows->looked = rows->is_backwards ? after + 1 : until;
    free(block);
    return rc;
}

/* ---- from batches ---- */

/* Returns the last line of batch `sequence`, or its highest key if `is_key`. */
static int read_bound(struct walk *walk, uint64_t sequence, bool is_key, uint64_t *bound)
{
    struct soc_database *database = walk->rows->database;
    sqlite3_stmt *row = soc_database_statement(database, SOC_STATEMENT_BOUNDS);
    sqlite3_bind_int64(row, 1, (int64_t)sequence);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW)
        *bound = (uint64_t)sqlite3_column_int64(row, is_key ? 1 : 0);
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, walk->rows->detail);
}

/* Finds the first batch whose bound is at least `wanted`; `last` + 1 if there is none. */
static int find_batch(struct walk *walk, bool is_key, uint64_t wanted, uint64_t *sequence)
{
    uint64_t low = walk->first;
    uint64_t high = walk->last + 1;
    int rc = SOC_OK;
    while (rc == SOC_OK && low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t bound = 0;
        rc = read_bound(walk, middle, is_key, &bound);
        if (bound >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    *sequence = low;
    return rc;
}

/* Copies a text out of a row that is about to be reset. */
static struct soc_slice keep_text(struct soc_buf *texts, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    size_t start = texts->length;
    soc_buf_put_slice(texts, text);
    return soc_slice(texts->data + start, text.length);
}

/* Completes a line from the row of its message, if there is one. */
static int complete_from_tables(struct walk *walk, struct soc_line *line, bool *is_found)
{
    struct soc_database *database = walk->rows->database;
    sqlite3_stmt *row = soc_database_statement(database, SOC_STATEMENT_LINE_MESSAGE);
    sqlite3_bind_int64(row, 1, (int64_t)line->key);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    *is_found = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) {
        struct soc_record_message message = read_message(row, 0);
        struct soc_buf *texts = &walk->texts;
        texts->length = 0;
        soc_buf_reserve(texts, message.from.length + message.to.length + message.type.length +
                                   message.task_id.length + message.correlation_id.length);
        message.from = keep_text(texts, message.from);
        message.to = keep_text(texts, message.to);
        message.type = keep_text(texts, message.type);
        message.task_id = keep_text(texts, message.task_id);
        message.correlation_id = keep_text(texts, message.correlation_id);
        soc_line_complete(line, &message);
    }
    sqlite3_reset(row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? SOC_OK
               : soc_database_fail(database, rc, walk->rows->detail);
}

/* Completes a line about a message, which is in the same batch, in the tables, or in an
 * earlier batch. */
static int complete(struct walk *walk, struct soc_line *line)
{
    struct soc_record record;
    const struct soc_tail *other = NULL;
    bool is_found = soc_tail_find(walk->batch, line->key, &record);
    if (is_found) {
        soc_line_complete(line, &record.message);
        return SOC_OK;
    }
    int rc = complete_from_tables(walk, line, &is_found);
    if (rc < 0 || is_found)
        return rc;
    uint64_t sequence;
    rc = find_batch(walk, true, line->key, &sequence);
    if (rc == SOC_OK && sequence <= walk->last)
        rc = soc_tails_read(walk->tails, walk->rows->database, sequence, walk->batch, &other,
                            walk->rows->detail);
    if (rc == SOC_OK && other != NULL && soc_tail_find(other, line->key, &record))
        soc_line_complete(line, &record.message);
    return rc;
}

/* Takes the line of one record of the batch. */
static int take_record(struct walk *walk, struct soc_slice bytes, uint64_t number)
{
    struct soc_record record;
    struct soc_line line;
    int rc = SOC_OK;
    if (soc_record_next(&bytes, &record) <= 0)
        return SOC_OK;
    walk->rows->looked = number;
    if (record.type == SOC_RECORD_MESSAGE && soc_line_is_hidden(&record.message))
        return SOC_OK;
    soc_line_read(&record, &line, &walk->scratch);
    line.number = number;
    if (line.key != 0 && record.type != SOC_RECORD_MESSAGE)
        rc = complete(walk, &line);
    if (rc == SOC_OK)
        take_line(walk, &line);
    return rc;
}

/* Walks the lines of one batch in (after, until], up or down. */
static int walk_batch(struct walk *walk, uint64_t after, uint64_t until)
{
    struct soc_page_rows *rows = walk->rows;
    const struct soc_tail *batch = walk->batch;
    uint64_t low = batch->lines > after ? batch->lines : after;
    uint64_t high = batch->lines + batch->starts.length / sizeof(size_t);
    int rc = SOC_OK;
    high = high < until ? high : until;
    while (rc == SOC_OK && low < high && !soc_page_rows_is_over(rows)) {
        uint64_t number = rows->is_backwards ? high-- : ++low;
        size_t start;
        memcpy(&start, batch->starts.data + (size_t)(number - batch->lines - 1) * sizeof(start),
               sizeof(start));
        struct soc_slice bytes = soc_buf_slice(&batch->bytes);
        rc = take_record(walk, soc_slice(bytes.data + start, bytes.length - start), number);
    }
    return rc;
}

static int walk_journal(struct walk *walk, uint64_t after, uint64_t until)
{
    struct soc_page_rows *rows = walk->rows;
    uint64_t sequence = walk->first;
    int rc = SOC_OK;
    if (walk->first > walk->last || after >= until)
        return SOC_OK;
    rc = find_batch(walk, false, rows->is_backwards ? until : after + 1, &sequence);
    while (rc == SOC_OK && sequence >= walk->first && sequence <= walk->last &&
           !soc_page_rows_is_over(rows)) {
        rc =
            soc_tails_read(walk->tails, rows->database, sequence, NULL, &walk->batch, rows->detail);
        if (rc == SOC_OK)
            rc = walk_batch(walk, after, until);
        if (rows->is_backwards ? walk->batch->lines <= after : rows->looked >= until)
            break;
        sequence += rows->is_backwards ? UINT64_MAX : 1;
    }
    return rc;
}

static int find_journal(struct walk *walk)
{
    struct soc_database *database = walk->rows->database;
    sqlite3_stmt *row = soc_database_statement(database, SOC_STATEMENT_JOURNAL_SPAN);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW && sqlite3_column_type(row, 0) != SQLITE_NULL) {
        walk->first = (uint64_t)sqlite3_column_int64(row, 0);
        walk->last = (uint64_t)sqlite3_column_int64(row, 1);
    }
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, walk->rows->detail);
}

int soc_page_activity_read(struct soc_page_rows *rows, uint64_t after, uint64_t before,
                           uint64_t folded)
{
    struct soc_tails *kept = rows->database->tails;
    struct walk walk = {.rows = rows, .first = 1, .tails = kept == NULL ? soc_tails_new() : kept};
    uint64_t until = before - 1 < rows->until ? before - 1 : rows->until;
    uint64_t middle = folded < until ? folded : until; /* the last one in the tables */
    uint64_t begin = folded > after ? folded : after;
    if (rows->query->correlation_id.data != NULL)
        soc_message_id_parse(rows->query->correlation_id, &walk.chain_key);
    int rc = find_journal(&walk);
    if (rc == SOC_OK && rows->is_backwards)
        rc = walk_journal(&walk, begin, until);
    if (rc == SOC_OK)
        rc = walk_tables(&walk, after, middle);
    if (rc == SOC_OK && !rows->is_backwards)
        rc = walk_journal(&walk, begin, until);
    if (kept == NULL)
        soc_tails_free(walk.tails);
    else
        soc_tails_trim(kept);
    soc_buf_fini(&walk.scratch);
    soc_buf_fini(&walk.texts);
    return rc;
}

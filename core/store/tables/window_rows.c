#include "store/tables/window_rows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/fields.h"
#include "store/tables/columns.h"

#define FIELDS_MAX 32

/* A table, while it is known to the database. */
struct table {
    sqlite3_vtab base;         /* first */
    struct soc_window *window; /* lent */
    bool is_of_ends;
    int count; /* of the columns that are fields of the record */
    struct soc_field fields[FIELDS_MAX];
    size_t offsets[FIELDS_MAX]; /* of these fields, from the first one on */
};

struct cursor {
    sqlite3_vtab_cursor base; /* first */
    size_t at;
    size_t count;
    const struct table *table;
    const char *record; /* the fields of the present one */
};

/* What follows the fields of the record in window_messages. */
enum { STATUS, FINISHED, REASON, ACK, PLACE, END_PLACE };

static const char messages_sql[] =
    "CREATE TABLE t({message}, status, finished_ms, reason, ack, place, end_place)";
static const char ends_sql[] = "CREATE TABLE t({message_end}, place)";

static void read_fields(struct table *table, unsigned type)
{
    const struct soc_fields *fields = soc_fields_of(type);
    size_t offset = 0;
    assert(fields->count <= FIELDS_MAX);
    table->count = (int)fields->count;
    for (size_t i = 0; i < fields->count; i++) {
        table->fields[i] = fields->items[i];
        table->offsets[i] = offset;
        offset += soc_fields_size(&fields->items[i]);
    }
}

static int connect_to(sqlite3 *db, void *user, bool is_of_ends, sqlite3_vtab **out)
{
    struct table *table = soc_alloc_zero(sizeof(*table));
    struct soc_buf sql = {0};
    table->window = user;
    table->is_of_ends = is_of_ends;
    read_fields(table, is_of_ends ? SOC_RECORD_MESSAGE_END : SOC_RECORD_MESSAGE);
    soc_columns_expand(&sql, is_of_ends ? ends_sql : messages_sql);
    int rc = sqlite3_declare_vtab(db, soc_buf_text(&sql));
    soc_buf_fini(&sql);
    *out = &table->base;
    if (rc == SQLITE_OK)
        return rc;
    free(table);
    *out = NULL;
    return rc;
}

static int connect_messages(sqlite3 *db, void *user, int count, const char *const *words,
                            sqlite3_vtab **out, char **error)
{
    (void)count;
    (void)words;
    (void)error;
    return connect_to(db, user, false, out);
}

static int connect_ends(sqlite3 *db, void *user, int count, const char *const *words,
                        sqlite3_vtab **out, char **error)
{
    (void)count;
    (void)words;
    (void)error;
    return connect_to(db, user, true, out);
}

static int disconnect(sqlite3_vtab *base)
{
    free(base);
    return SQLITE_OK;
}

/* There is one plan: all rows. Few, as against those of the stored tables. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = 1;
    info->estimatedRows = 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = soc_alloc_zero(sizeof(*cursor));
    (void)base;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

static void find_record(struct cursor *cursor)
{
    const struct soc_window *window = cursor->table->window;
    if (cursor->at >= cursor->count)
        return;
    cursor->record = cursor->table->is_of_ends
                         ? (const char *)&window->ends.items[cursor->at].end
                         : (const char *)&window->messages.items[cursor->at].record.message;
}

static int begin(sqlite3_vtab_cursor *base, int number, const char *name, int count,
                 sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    (void)number;
    (void)name;
    (void)count;
    (void)values;
    cursor->table = (const struct table *)base->pVtab;
    const struct soc_window *window = cursor->table->window;
    cursor->at = 0;
    cursor->count = cursor->table->is_of_ends ? window->ends.count : window->messages.count;
    find_record(cursor);
    return SQLITE_OK;
}

static int go_on(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->at++;
    find_record(cursor);
    return SQLITE_OK;
}

static int is_over(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->count;
}

static void put_text(sqlite3_context *context, struct soc_slice text)
{
    if (text.data != NULL)
        sqlite3_result_text64(context, text.data, text.length, SQLITE_STATIC, SQLITE_UTF8);
}

/* 0 is NULL. */
static void put_positive(sqlite3_context *context, uint64_t number)
{
    if (number != 0)
        sqlite3_result_int64(context, (int64_t)number);
}

static void put_state(sqlite3_context *context, const struct soc_window_message *item, int which)
{
    switch (which) {
    case STATUS:
        return sqlite3_result_int64(context, (int64_t)item->status);
    case FINISHED: /* 0 while pending */
        return put_positive(context, item->finished_ms);
    case REASON:
        return put_text(context, item->reason);
    case ACK:
        return put_positive(context, item->ack);
    case PLACE:
        return sqlite3_result_int64(context, (int64_t)item->place);
    default:
        return put_positive(context, item->end_place);
    }
}

static int put_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct table *table = cursor->table;
    if (column < table->count) {
        const void *field = cursor->record + table->offsets[column];
        if (table->fields[column].is_text)
            put_text(context, *(const struct soc_slice *)field);
        else
            sqlite3_result_int64(context, *(const int64_t *)field);
    } else if (table->is_of_ends) {
        sqlite3_result_int64(context, (int64_t)table->window->ends.items[cursor->at].place);
    } else {
        put_state(context, &table->window->messages.items[cursor->at], column - table->count);
    }
    return SQLITE_OK;
}

static int put_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)((const struct cursor *)base)->at;
    return SQLITE_OK;
}

/* Tables without CREATE VIRTUAL TABLE: nothing about them is stored. */
#define MODULE(connect)                                                                            \
    {                                                                                              \
        .xConnect = (connect), .xBestIndex = plan, .xDisconnect = disconnect,                      \
        .xOpen = open_cursor, .xClose = close_cursor, .xFilter = begin, .xNext = go_on,            \
        .xEof = is_over, .xColumn = put_column, .xRowid = put_number                               \
    }

static const sqlite3_module messages = MODULE(connect_messages);
static const sqlite3_module ends = MODULE(connect_ends);

int soc_window_rows_open(struct soc_window *window)
{
    sqlite3 *db = window->database->db;
    int rc = sqlite3_create_module(db, "window_messages", &messages, window);
    return rc == SQLITE_OK ? sqlite3_create_module(db, "window_ends", &ends, window) : rc;
}

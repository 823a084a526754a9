#include "store/tables/window.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/fields.h"

#define CAPACITY_KEPT_MAX (4u << 20) /* bytes of the buffer that are kept for the next window */

void soc_window_make_room(void **items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return;
    *capacity = *capacity == 0 ? 64 : *capacity * 2;
    *items = soc_realloc(*items, *capacity * size);
}

void soc_window_run(struct soc_window *window, enum soc_statement which)
{
    if (window->rc == SQLITE_OK)
        window->rc = soc_database_run(window->database, which);
}

int soc_window_bind(struct soc_window *window, enum soc_statement which, struct soc_record *record)
{
    sqlite3_stmt *statement = soc_database_statement(window->database, which);
    const struct soc_fields *fields = soc_fields_of(record->type);
    const char *at = soc_fields_at(record);
    assert(fields != NULL);
    int index = 1;
    int count = sqlite3_bind_parameter_count(statement);
    for (size_t i = 0; i < fields->count && index <= count;
         at += soc_fields_size(&fields->items[i]), i++) {
        if (fields->items[i].is_text)
            soc_database_bind_text(statement, index++, *(const struct soc_slice *)(const void *)at);
        else
            sqlite3_bind_int64(statement, index++, *(const int64_t *)(const void *)at);
    }
    return index;
}

void soc_window_run_record(struct soc_window *window, enum soc_statement which,
                           struct soc_record *record)
{
    soc_window_bind(window, which, record);
    soc_window_run(window, which);
}

bool soc_window_has_stored(struct soc_window *window, enum soc_window_stored which)
{
    if (!window->is_stored_known && window->rc == SQLITE_OK) {
        sqlite3_stmt *row = soc_database_statement(window->database, SOC_STATEMENT_UNDER_WAY);
        int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
        for (int i = 0; rc == SQLITE_ROW && i < SOC_WINDOW_STORED_COUNT; i++)
            window->stored[i] = sqlite3_column_int(row, i) != 0;
        window->is_stored_known = rc == SQLITE_ROW;
        sqlite3_reset(row);
        if (rc != SQLITE_ROW)
            window->rc = rc;
    }
    return window->stored[which];
}

void soc_window_count(struct soc_window *window, const struct soc_record *record)
{
    struct soc_lines_entry entry = {.kind = SOC_LINES_EVENT};
    if (window->rc != SQLITE_OK || !soc_line_is_made(record))
        return;
    if (record->type == SOC_RECORD_MESSAGE)
        entry = (struct soc_lines_entry){SOC_LINES_SENT, record->message.key};
    else if (record->type == SOC_RECORD_MESSAGE_END)
        entry = (struct soc_lines_entry){SOC_LINES_END, record->message_end.key};
    window->rc = soc_lines_add(&window->block, window->database, ++window->lines, entry,
                               soc_line_time(record));
}

void soc_window_put_line(struct soc_window *window, const struct soc_record *record)
{
    sqlite3_stmt *statement = soc_database_statement(window->database, SOC_STATEMENT_LINE);
    struct soc_line line;
    if (!soc_line_is_made(record))
        return;
    soc_line_read(record, &line, &window->scratch);
    sqlite3_bind_int64(statement, 1, (int64_t)window->lines);
    sqlite3_bind_int64(statement, 2, line.time_ms);
    soc_database_bind_text(statement, 3,
                           line.event == NULL ? line.name : soc_slice_text(line.event));
    soc_database_bind_text(statement, 4, line.agent);
    soc_database_bind_text(statement, 5, line.other);
    soc_database_bind_text(statement, 6, line.task_id);
    soc_database_bind_text(statement, 7, line.correlation_id);
    soc_database_bind_positive(statement, 8, line.key);
    soc_database_bind_text(statement, 9, line.detail);
    soc_window_run(window, SOC_STATEMENT_LINE);
}

void soc_window_clear(struct soc_window *window)
{
    window->bytes.length = 0;
    window->messages.count = 0;
    window->ends.count = 0;
    window->activations.count = 0;
    window->begun.count = 0;
    window->effects.count = 0;
    window->takes.count = 0;
    window->states.count = 0;
    window->outputs.count = 0;
    window->links.count = 0;
    window->link_items.count = 0;
    window->outputs_shown = 0;
    window->is_stored_known = false;
    window->block.bytes.length = 0;
    window->block.count = window->block.key = 0;
    soc_map_fini(&window->message_by_key);
    soc_map_fini(&window->end_by_key);
    soc_map_fini(&window->take_by_key);
    soc_map_fini(&window->activation_by_agent);
    soc_map_fini(&window->state_by_agent);
    if (window->bytes.capacity > CAPACITY_KEPT_MAX)
        soc_buf_fini(&window->bytes);
}

void soc_window_fini(struct soc_window *window)
{
    soc_window_clear(window);
    soc_buf_fini(&window->bytes);
    soc_buf_fini(&window->scratch);
    soc_lines_fini(&window->block);
    free(window->messages.items);
    free(window->ends.items);
    free(window->activations.items);
    free(window->begun.items);
    free(window->effects.items);
    free(window->takes.items);
    free(window->states.items);
    free(window->outputs.items);
    free(window->links.items);
    free(window->link_items.items);
}

#include "store/tables/fold_mail.h"

static struct soc_window_message *find_message(struct soc_window *window, uint64_t key)
{
    size_t number = soc_window_number(soc_map_find_number(&window->message_by_key, key));
    return number == SOC_WINDOW_NONE ? NULL : &window->messages.items[number];
}

void soc_fold_mail_add(struct soc_window *window, struct soc_record *record)
{
    soc_map_put_number(&window->message_by_key, record->message.key,
                       soc_window_value(window->messages.count));
    SOC_WINDOW_ADD(window->messages) =
        (struct soc_window_message){.record = *record, .place = window->lines};
}

static void end_takes(struct soc_window *window, uint64_t key)
{
    size_t number = soc_window_number(soc_map_take_number(&window->take_by_key, key));
    for (; number != SOC_WINDOW_NONE; number = window->takes.items[number].previous)
        window->takes.items[number].record.type = 0;
}

/* The message had ended and is pending again: its end stays in the log. */
static void keep_end(struct soc_window *window, const struct soc_window_message *item, uint64_t key)
{
    enum soc_statement which =
        item == NULL ? SOC_STATEMENT_STORED_END_LINE : SOC_STATEMENT_END_LINE;
    sqlite3_stmt *statement = soc_database_statement(window->database, which);
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    if (item != NULL) {
        sqlite3_bind_int64(statement, 2, (int64_t)item->finished_ms);
        sqlite3_bind_int64(statement, 3, (int64_t)item->status);
        soc_database_bind_text(statement, 4, item->reason);
        sqlite3_bind_int64(statement, 5, (int64_t)item->end_place);
    }
    if (item == NULL || item->status != SOC_OUTCOME_PENDING)
        soc_window_run(window, which);
}

/* Writes the ends so far, before something else happens to such a message. */
static void write_ends(struct soc_window *window)
{
    if (window->ends.count > 0)
        soc_window_run(window, SOC_STATEMENT_MESSAGE_ENDS);
    window->ends.count = 0;
    soc_map_fini(&window->end_by_key);
}

/* Adds the end of a message that was sent before the window. Of two the last one counts. */
static void add_end(struct soc_window *window, const struct soc_record_message_end *end)
{
    size_t number = soc_window_number(soc_map_find_number(&window->end_by_key, end->key));
    if (number == SOC_WINDOW_NONE) {
        soc_map_put_number(&window->end_by_key, end->key, soc_window_value(window->ends.count));
        number = window->ends.count;
        (void)SOC_WINDOW_ADD(window->ends);
    }
    window->ends.items[number] = (struct soc_window_end){*end, window->lines};
    if (!soc_window_has_stored(window, SOC_WINDOW_TAKES))
        return;
    sqlite3_bind_int64(soc_database_statement(window->database, SOC_STATEMENT_TAKE_END), 1,
                       (int64_t)end->key);
    soc_window_run(window, SOC_STATEMENT_TAKE_END);
}

/* The most frequent ends need no look: such a message was pending. */
static bool was_pending(uint64_t outcome)
{
    return outcome == SOC_OUTCOME_PROCESSED || outcome == SOC_OUTCOME_HANDED_OVER;
}

void soc_fold_mail_end(struct soc_window *window, struct soc_record *record)
{
    const struct soc_record_message_end *end = &record->message_end;
    struct soc_window_message *item = find_message(window, end->key);
    end_takes(window, end->key);
    if (!was_pending(end->outcome)) {
        write_ends(window);
        keep_end(window, item, end->key);
    }
    if (item == NULL) { /* otherwise it was not taken before this window */
        add_end(window, end);
        return;
    }
    item->status = end->outcome;
    item->finished_ms = end->time_ms;
    item->reason = end->reason;
    item->end_place = window->lines;
}

void soc_fold_mail_again(struct soc_window *window, struct soc_record *record)
{
    struct soc_window_message *item = find_message(window, record->message_again.key);
    write_ends(window);
    keep_end(window, item, record->message_again.key);
    soc_window_put_line(window, record);
    if (item == NULL) {
        soc_window_run_record(window, SOC_STATEMENT_MESSAGE_AGAIN, record);
        return;
    }
    item->status = SOC_OUTCOME_PENDING;
    item->finished_ms = 0;
    item->reason = (struct soc_slice){0};
    item->end_place = 0;
    item->record.message.attempt = record->message_again.attempt;
    item->record.message.deliver_at_ms = record->message_again.deliver_at_ms;
    item->record.message.flags &= ~(uint64_t)SOC_MESSAGE_IS_DATED;
    item->ack = 0;
    item->record.message.expires_ms = 0; /* sent again, it is to be handled */
}

void soc_fold_mail_receipt(struct soc_window *window, struct soc_record *record)
{
    struct soc_window_message *item = find_message(window, record->receipt.key);
    if (item == NULL)
        return soc_window_run_record(window, SOC_STATEMENT_RECEIPT, record);
    item->record.message.attempt = record->receipt.attempt;
    item->ack = record->receipt.ack;
}

/* A reader that took it has released it as well. Without a reader the broadcast is over. */
void soc_fold_mail_broadcast_end(struct soc_window *window, struct soc_record *record)
{
    struct soc_slice agent = record->broadcast_end.agent;
    enum soc_statement which =
        agent.data == NULL ? SOC_STATEMENT_BROADCAST_OVER : SOC_STATEMENT_BROADCAST_TAKE_END;
    sqlite3_stmt *statement = soc_database_statement(window->database, which);
    size_t number =
        soc_window_number(soc_map_find_number(&window->take_by_key, record->broadcast_end.key));
    for (; number != SOC_WINDOW_NONE; number = window->takes.items[number].previous) {
        struct soc_record *take = &window->takes.items[number].record;
        if (take->type != 0 && soc_slice_equal(take->take.agent, agent))
            take->type = 0;
    }
    sqlite3_bind_int64(statement, 1, (int64_t)record->broadcast_end.key);
    if (agent.data != NULL)
        soc_database_bind_text(statement, 2, agent);
    soc_window_run(window, which);
    if (agent.data == NULL)
        return;
    soc_window_run_record(window, SOC_STATEMENT_BROADCAST_END, record);
    soc_window_put_line(window, record);
}

void soc_fold_mail_write(struct soc_window *window)
{
    write_ends(window);
    if (window->messages.count > 0)
        soc_window_run(window, SOC_STATEMENT_MESSAGES);
}

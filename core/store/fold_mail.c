/* Folding messages: a message of the window and what becomes of it are one row. */
#include "store/fold_state.h"

static struct message_item *find_message(struct soc_fold *fold, uint64_t key)
{
    size_t number = soc_fold_number(soc_map_find_number(&fold->message_by_key, key));
    return number == SOC_FOLD_NONE ? NULL : &fold->messages.items[number];
}

void soc_fold_message(struct soc_fold *fold, struct soc_record *record)
{
    soc_map_put_number(&fold->message_by_key, record->message.key,
                       soc_fold_value(fold->messages.count));
    SOC_FOLD_ADD(fold->messages) = (struct message_item){.record = *record};
}

static void end_takes(struct soc_fold *fold, uint64_t key)
{
    size_t number = soc_fold_number(soc_map_take_number(&fold->take_by_key, key));
    for (; number != SOC_FOLD_NONE; number = fold->takes.items[number].previous)
        fold->takes.items[number].record.type = 0;
}

void soc_fold_message_end(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->message_end.key);
    end_takes(fold, record->message_end.key);
    if (item == NULL) { /* only then it can have been taken before the window */
        soc_fold_run_record(fold, SOC_STATEMENT_MESSAGE_END, record);
        sqlite3_bind_int64(soc_database_statement(fold->store, SOC_STATEMENT_TAKE_END), 1,
                           (int64_t)record->message_end.key);
        soc_fold_run(fold, SOC_STATEMENT_TAKE_END);
        return;
    }
    item->status = record->message_end.outcome;
    item->finished_ms = record->message_end.time_ms;
    item->reason = record->message_end.reason;
}

void soc_fold_message_again(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->message_again.key);
    if (item == NULL) {
        soc_fold_run_record(fold, SOC_STATEMENT_MESSAGE_AGAIN, record);
        return;
    }
    item->status = SOC_OUTCOME_PENDING;
    item->finished_ms = 0;
    item->reason = (struct soc_slice){0};
    item->again_ms = record->message_again.time_ms;
    item->record.message.attempt = record->message_again.attempt;
    item->record.message.deliver_at_ms = record->message_again.deliver_at_ms;
    item->ack = 0;
    item->record.message.expires_ms = 0; /* whoever sends it again wants it handled */
}

void soc_fold_receipt(struct soc_fold *fold, struct soc_record *record)
{
    struct message_item *item = find_message(fold, record->receipt.key);
    if (item == NULL)
        return soc_fold_run_record(fold, SOC_STATEMENT_RECEIPT, record);
    item->record.message.attempt = record->receipt.attempt;
    item->ack = record->receipt.ack;
}

/* A reader that took it has let go of it, too. Without a reader: it is over. */
void soc_fold_broadcast_end(struct soc_fold *fold, struct soc_record *record)
{
    struct soc_slice agent = record->broadcast_end.agent;
    enum soc_statement which =
        agent.data == NULL ? SOC_STATEMENT_BROADCAST_OVER : SOC_STATEMENT_BROADCAST_TAKE_END;
    sqlite3_stmt *statement = soc_database_statement(fold->store, which);
    size_t number =
        soc_fold_number(soc_map_find_number(&fold->take_by_key, record->broadcast_end.key));
    for (; number != SOC_FOLD_NONE; number = fold->takes.items[number].previous) {
        struct soc_record *take = &fold->takes.items[number].record;
        if (take->type != 0 && soc_slice_equal(take->take.agent, agent))
            take->type = 0;
    }
    sqlite3_bind_int64(statement, 1, (int64_t)record->broadcast_end.key);
    if (agent.data != NULL)
        soc_bind_text(statement, 2, agent);
    soc_fold_run(fold, which);
    if (agent.data != NULL)
        soc_fold_run_record(fold, SOC_STATEMENT_BROADCAST_END, record);
}

void soc_fold_write_messages(struct soc_fold *fold)
{
    sqlite3_stmt *statement = soc_database_statement(fold->store, SOC_STATEMENT_MESSAGE);
    for (size_t i = 0; i < fold->messages.count; i++) {
        struct message_item *item = &fold->messages.items[i];
        int index = soc_fold_bind(fold, SOC_STATEMENT_MESSAGE, &item->record);
        sqlite3_bind_int64(statement, index++, (int64_t)item->status);
        soc_bind_positive(statement, index++, item->finished_ms); /* 0 while it is pending */
        soc_bind_text(statement, index++, item->reason);
        soc_bind_positive(statement, index++, item->again_ms);
        soc_bind_positive(statement, index, item->ack);
        soc_fold_run(fold, SOC_STATEMENT_MESSAGE);
    }
}

#include "parts/duplicates/duplicates.h"

#include "base/json.h"
#include "env/ids.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turn.h"

/* For keys a turn is one moment, however long it takes: none that it remembers is
 * forgotten or replaced before the turn is over. */
static int64_t moment(struct soc_host *host)
{
    struct soc_turn *turn = &host->turn;
    if (turn->keys_ms == 0)
        turn->keys_ms = soc_host_now(host);
    return turn->keys_ms;
}

/* The words of one of the two keys; false if the sender did not give it. */
static bool words_of(const struct soc_agent *from, const struct soc_send *send,
                     enum soc_message_text which, struct soc_dedupe_words *words)
{
    *words = (struct soc_dedupe_words){
        .kind = which == SOC_TEXT_EXTERNAL_ID ? SOC_DEDUPE_EXTERNAL
                : send->is_listed             ? SOC_DEDUPE_LIST
                                              : SOC_DEDUPE_KEY,
        .sender = soc_sender_id(from),
        .receiver = send->to,
        .words = send->texts[which],
    };
    return words->words.data != NULL;
}

bool soc_duplicates_find(struct soc_host *host, const struct soc_agent *from,
                         const struct soc_send *send, struct soc_buf *receipt)
{
    static const enum soc_message_text keys[] = {SOC_TEXT_EXTERNAL_ID, SOC_TEXT_DEDUPE_KEY};
    const struct soc_dedupe_entry *entry = NULL;
    for (int i = 0; i < 2 && entry == NULL; i++) {
        struct soc_dedupe_words words;
        if (words_of(from, send, keys[i], &words))
            entry = soc_dedupe_find(&host->sent_keys, &words, moment(host), host->dedupe_window_ms);
    }
    if (entry == NULL)
        return false;
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, entry->sent_ms, entry->key);
    receipt->length = 0;
    soc_buf_put_text(receipt, "[{\"duplicate\":true");
    soc_json_put_text_member(receipt, "messageId", soc_slice(id, sizeof(id)));
    soc_buf_put_text(receipt, "}]");
    return true;
}

int soc_duplicates_refuse(struct soc_buf *receipt)
{
    struct soc_json_walk walk;
    struct soc_buf id = {0};
    soc_json_walk(&walk, soc_buf_slice(receipt));
    soc_json_next(&walk);
    soc_json_string(soc_json_member(walk.value, "messageId"), &id);
    soc_refuse_named(receipt, "duplicate", "this was sent before, under the same key");
    receipt->length--;
    soc_json_put_text_member(receipt, "messageId", soc_buf_slice(&id));
    soc_buf_put_byte(receipt, '}');
    soc_buf_fini(&id);
    return SOC_EEXISTS;
}

/* What is forgotten stays so whatever becomes of the turn. */
static void forget(struct soc_host *host, int64_t now_ms)
{
    if (soc_dedupe_forget(&host->sent_keys, now_ms, host->dedupe_window_ms) == 0)
        return;
    struct soc_record record = {
        .type = SOC_RECORD_SENT_KEYS_END,
        .sent_keys_end = {.until_ms = (uint64_t)(now_ms - host->dedupe_window_ms)},
    };
    soc_record_put(&host->turn.kept, &record);
}

static void remember(struct soc_host *host, const struct soc_dedupe_words *words,
                     const struct soc_message *message)
{
    int64_t now_ms = moment(host);
    struct soc_dedupe_entry *entry =
        soc_dedupe_add(&host->sent_keys, words, message->key, message->time_ms, now_ms);
    struct soc_record record = {.type = SOC_RECORD_SENT_KEY};
    record.sent_key = (struct soc_record_sent_key){
        .since_ms = (uint64_t)now_ms,
        .key = message->key,
        .sent_ms = (uint64_t)message->time_ms,
        .text = soc_slice(entry->text, entry->length),
    };
    if (host->options.keys_apart)
        soc_host_flush(host);
    soc_batch_put(host, &record);
    soc_turn_note(host, (struct soc_undo){.kind = SOC_UNDO_SENT_KEY, .sent_key = entry});
}

void soc_duplicates_note(struct soc_host *host, const struct soc_send *send,
                         const struct soc_message *message)
{
    static const enum soc_message_text keys[] = {SOC_TEXT_EXTERNAL_ID, SOC_TEXT_DEDUPE_KEY};
    forget(host, moment(host));
    for (int i = 0; i < 2; i++) {
        struct soc_dedupe_words words;
        if (words_of(message->from, send, keys[i], &words))
            remember(host, &words, message);
    }
}

void soc_duplicates_restore(struct soc_host *host, const struct soc_record_sent_key *record)
{
    soc_dedupe_restore(&host->sent_keys, record->text, record->key, (int64_t)record->sent_ms,
                       (int64_t)record->since_ms);
}

void soc_duplicates_restore_end(struct soc_host *host, const struct soc_record_sent_keys_end *r)
{
    soc_dedupe_forget(&host->sent_keys, (int64_t)r->until_ms, 0);
}

void soc_duplicates_set_window(struct soc_host *host, int64_t window_ms)
{
    host->dedupe_window_ms = window_ms;
}

#include "parts/duplicates/duplicates.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "env/rng.h"
#include "kernel/mail/passage.h"
#include "kernel/operations/call_keys.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "model/delivery/dedupe.h"
#include "parts/table.h"

/* The keys of messages sent before. */
struct duplicates {
    struct soc_dedupe keys;
    int64_t window_ms;
    uint64_t turn;     /* number of the turn that last used keys … */
    int64_t moment_ms; /* … and the time it uses for them */
};

static struct duplicates *of(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_DUPLICATES);
}

/* Returns the time used for keys. It stands still within a turn, however long that
 * takes, so that no key the turn relies on is forgotten or replaced before the turn
 * ends. */
static int64_t moment(struct soc_host *host)
{
    struct duplicates *duplicates = of(host);
    if (duplicates->turn != host->turn.number) {
        duplicates->turn = host->turn.number;
        duplicates->moment_ms = soc_host_now(host);
    }
    return duplicates->moment_ms;
}

/* Reads one of the two keys. False if the sender did not set it. */
static bool read_key(const struct soc_agent *from, const struct soc_send *send,
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

static bool has_key(const struct soc_send *send)
{
    return send->texts[SOC_TEXT_EXTERNAL_ID].data != NULL ||
           send->texts[SOC_TEXT_DEDUPE_KEY].data != NULL;
}

bool soc_duplicates_find(struct soc_host *host, const struct soc_agent *from,
                         const struct soc_send *send, struct soc_buf *receipt)
{
    static const enum soc_message_text keys[] = {SOC_TEXT_EXTERNAL_ID, SOC_TEXT_DEDUPE_KEY};
    const struct soc_dedupe_entry *entry = NULL;
    if (!has_key(send))
        return false;
    for (int i = 0; i < 2 && entry == NULL; i++) {
        struct soc_dedupe_words words;
        if (read_key(from, send, keys[i], &words))
            entry = soc_dedupe_find(&of(host)->keys, &words, moment(host), of(host)->window_ms);
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

void soc_duplicates_trace(struct soc_host *host, const struct soc_agent *from,
                          struct soc_slice receipt)
{
    struct soc_slice id =
        soc_json_member(soc_slice(receipt.data + 1, receipt.length - 2), "messageId");
    struct soc_buf detail = {0};
    soc_buf_put_text(&detail, "{\"message_id\":");
    soc_buf_put_slice(&detail, id);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, "duplicate", from, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* As soc_duplicates_find, for a send in the open turn. */
static bool find_duplicate(struct soc_host *host, const struct soc_agent *from,
                           const struct soc_send *send, struct soc_buf *receipt)
{
    bool is_found = soc_duplicates_find(host, from, send, receipt);
    if (is_found)
        soc_duplicates_trace(host, from, soc_buf_slice(receipt));
    return is_found;
}

/* Forgets old keys. This is not undone if the turn rolls back. */
static void forget(struct soc_host *host, int64_t now_ms)
{
    if (soc_dedupe_forget(&of(host)->keys, now_ms, of(host)->window_ms) == 0)
        return;
    struct soc_record record = {
        .type = SOC_RECORD_SENT_KEYS_END,
        .sent_keys_end = {.until_ms = (uint64_t)(now_ms - of(host)->window_ms)},
    };
    soc_batch_keep(host, &record);
}

static void forget_key(struct soc_host *host, struct soc_undo *undo)
{
    soc_dedupe_remove(&of(host)->keys, undo->data);
}

static void remember(struct soc_host *host, const struct soc_dedupe_words *words,
                     const struct soc_message *message)
{
    assert(words->words.data != NULL && host->turn.is_open);
    int64_t now_ms = moment(host);
    struct soc_buf text = {0};
    soc_dedupe_text(&text, words);
    struct soc_dedupe_entry *entry = soc_dedupe_restore(&of(host)->keys, soc_buf_slice(&text),
                                                        message->key, message->time_ms, now_ms);
    struct soc_record record = {.type = SOC_RECORD_SENT_KEY};
    record.sent_key = (struct soc_record_sent_key){
        .since_ms = (uint64_t)now_ms,
        .key = message->key,
        .sent_ms = (uint64_t)message->time_ms,
        .text = soc_buf_slice(&text),
    };
    if (host->options.keys_apart)
        soc_batch_seal(host);
    soc_batch_put(host, &record);
    static const struct soc_undo_ops ops = {.roll_back = forget_key, .is_talk = true};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .data = entry});
    soc_buf_fini(&text);
}

static int note(struct soc_host *host, const struct soc_passage *passage,
                struct soc_message *message, struct soc_buf *error)
{
    const struct soc_send *send = &passage->send;
    (void)error;
    if (!has_key(send))
        return SOC_OK;
    static const enum soc_message_text keys[] = {SOC_TEXT_EXTERNAL_ID, SOC_TEXT_DEDUPE_KEY};
    forget(host, moment(host));
    for (int i = 0; i < 2; i++) {
        struct soc_dedupe_words words;
        if (read_key(message->from, send, keys[i], &words))
            remember(host, &words, message);
    }
    return SOC_OK;
}

void soc_duplicates_set_window(struct soc_host *host, int64_t window_ms)
{
    assert(window_ms >= 0);
    of(host)->window_ms = window_ms;
    soc_call_keys_set_window(host, window_ms);
    const struct soc_witness *witness = host->options.witness;
    if (witness != NULL)
        witness->windowed(witness->user, window_ms);
}

static void *open_duplicates(struct soc_host *host)
{
    struct duplicates *duplicates = soc_alloc_zero(sizeof(*duplicates));
    duplicates->window_ms = SOC_DEDUPE_WINDOW_MS;
    soc_call_keys_set_window(host, SOC_DEDUPE_WINDOW_MS);
    /* Nothing that can be seen depends on it, so a simulation may have another each time. */
    for (int i = 0; i < 2; i++)
        duplicates->keys.secret[i] = soc_rng_system_seed();
    return duplicates;
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    const struct soc_record_sent_key *key = &record->sent_key;
    if (record->type == SOC_RECORD_SENT_KEY && !soc_dedupe_is_of_query(key->text))
        soc_dedupe_restore(&of(host)->keys, key->text, key->key, (int64_t)key->sent_ms,
                           (int64_t)key->since_ms);
    else if (record->type == SOC_RECORD_SENT_KEYS_END && record->sent_keys_end.is_of_queries == 0)
        soc_dedupe_forget(&of(host)->keys, (int64_t)record->sent_keys_end.until_ms, 0);
    return SOC_OK;
}

static void free_duplicates(struct soc_host *host)
{
    soc_dedupe_fini(&of(host)->keys);
    free(of(host));
}

const struct soc_part soc_duplicates_part = {
    .name = "duplicates",
    .number = SOC_PART_DUPLICATES,
    .open = open_duplicates,
    .restore = restore,
    .free = free_duplicates,
    .find_duplicate = find_duplicate,
    .sent = note,
};

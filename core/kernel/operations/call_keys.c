#include "kernel/operations/call_keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"

/* A key in use. */
struct soc_call_key {
    struct soc_call_key *next; /* a newer one */
    struct soc_call_key *previous;
    uint64_t number;       /* rises; 0: its order is being carried out */
    int64_t time_ms;       /* when it was done */
    uint64_t body;         /* hash of operation and parameters */
    struct soc_buf joined; /* calls that wait for its end, as pointers */
    size_t text_length;
    size_t answer_length;
    char *answer; /* owned; NULL: none yet */
    char text[];  /* caller and key; not terminated */
};

static struct soc_call_keys *of(struct soc_host *host)
{
    return &host->call_keys;
}

static struct soc_slice text_of(const struct soc_call_key *key)
{
    return soc_slice(key->text, key->text_length);
}

/* What a key costs, its share of the map included. */
static size_t bytes_of(const struct soc_call_key *key)
{
    return sizeof(*key) + key->text_length + key->answer_length + 64;
}

static struct soc_call_key *add(struct soc_host *host, struct soc_slice text, uint64_t body)
{
    struct soc_call_key *key = soc_alloc_zero(sizeof(*key) + text.length);
    key->body = body;
    key->text_length = text.length;
    memcpy(key->text, text.data, text.length);
    soc_map_put(&of(host)->by_text, text_of(key), key);
    return key;
}

/* Appends it as the newest of those that are done. */
static void link_last(struct soc_host *host, struct soc_call_key *key)
{
    struct soc_call_keys *keys = of(host);
    key->previous = keys->last;
    if (keys->last == NULL)
        keys->first = key;
    else
        keys->last->next = key;
    keys->last = key;
    keys->bytes += bytes_of(key);
}

static void unlink_key(struct soc_host *host, struct soc_call_key *key)
{
    struct soc_call_keys *keys = of(host);
    if (key->previous == NULL)
        keys->first = key->next;
    else
        key->previous->next = key->next;
    if (key->next == NULL)
        keys->last = key->previous;
    else
        key->next->previous = key->previous;
    keys->bytes -= bytes_of(key);
}

static void free_key(struct soc_host *host, struct soc_call_key *key)
{
    soc_map_take(&of(host)->by_text, text_of(key));
    if (key->number != 0)
        unlink_key(host, key);
    soc_buf_fini(&key->joined);
    free(key->answer);
    free(key);
}

static void set_answer(struct soc_call_key *key, struct soc_slice answer)
{
    key->answer = soc_copy_text(answer.data, answer.length);
    key->answer_length = answer.length;
}

/* Forgets the oldest keys, whose window is over or for which there is no room. */
static void forget(struct soc_host *host)
{
    struct soc_call_keys *keys = of(host);
    int64_t until_ms = soc_host_now(host) - keys->window_ms;
    uint64_t number = 0;
    while (keys->first != NULL &&
           (keys->first->time_ms <= until_ms || keys->bytes > SOC_CALL_KEYS_BYTES_MAX)) {
        number = keys->first->number;
        free_key(host, keys->first);
    }
    if (number == 0)
        return;
    struct soc_record record = {.type = SOC_RECORD_CALL_KEYS_END,
                                .call_keys_end = {.number = number}};
    soc_batch_keep(host, &record);
}

enum soc_call_key_state soc_call_keys_begin(struct soc_host *host,
                                            const struct soc_call_key_words *words,
                                            struct soc_call_key **key, struct soc_slice *answer)
{
    struct soc_buf text = {0};
    enum soc_call_key_state state = SOC_CALL_KEY_DONE;
    assert(words->caller.data != NULL && words->key.data != NULL);
    forget(host);
    soc_buf_put_slice(&text, words->caller);
    soc_buf_put_byte(&text, '\n'); /* in no caller's name */
    soc_buf_put_slice(&text, words->key);
    *key = soc_map_find(&of(host)->by_text, soc_buf_slice(&text));
    if (*key == NULL) {
        *key = add(host, soc_buf_slice(&text), words->body);
        state = SOC_CALL_KEY_NEW;
    } else if ((*key)->body != words->body) {
        state = SOC_CALL_KEY_REUSED;
    } else if ((*key)->number == 0) {
        state = SOC_CALL_KEY_OPEN;
    } else {
        *answer = soc_slice((*key)->answer, (*key)->answer_length);
    }
    soc_buf_fini(&text);
    return state;
}

void soc_call_keys_keep(struct soc_host *host, struct soc_call_key *key, struct soc_slice answer)
{
    assert(key->number == 0 && !host->turn.is_open);
    key->number = ++of(host)->number;
    key->time_ms = soc_host_now(host);
    set_answer(key, answer);
    link_last(host, key);
    struct soc_record record = {.type = SOC_RECORD_CALL_KEY};
    record.call_key = (struct soc_record_call_key){
        .number = key->number,
        .time_ms = (uint64_t)key->time_ms,
        .body = key->body,
        .text = text_of(key),
        .answer = answer,
    };
    soc_batch_put(host, &record);
}

void soc_call_keys_drop(struct soc_host *host, struct soc_call_key *key)
{
    assert(key->number == 0 && key->joined.length == 0);
    free_key(host, key);
}

void soc_call_keys_join(struct soc_call_key *key, void *call)
{
    soc_buf_put(&key->joined, &call, sizeof(call));
}

void *soc_call_keys_take_joined(struct soc_call_key *key)
{
    void *call;
    if (key->joined.length == 0)
        return NULL;
    memcpy(&call, key->joined.data, sizeof(call));
    key->joined.length -= sizeof(call);
    memmove(key->joined.data, key->joined.data + sizeof(call), key->joined.length);
    return call;
}

void soc_call_keys_set_window(struct soc_host *host, int64_t window_ms)
{
    of(host)->window_ms = window_ms;
}

static void restore_key(struct soc_host *host, const struct soc_record_call_key *record)
{
    struct soc_call_key *key = soc_map_find(&of(host)->by_text, record->text);
    if (key != NULL)
        free_key(host, key);
    key = add(host, record->text, record->body);
    key->number = record->number;
    key->time_ms = (int64_t)record->time_ms;
    set_answer(key, record->answer);
    link_last(host, key);
    if (of(host)->number < record->number)
        of(host)->number = record->number;
}

void soc_call_keys_restore(struct soc_host *host, const struct soc_record *record)
{
    struct soc_call_keys *keys = of(host);
    if (record->type == SOC_RECORD_CALL_KEY && record->call_key.number > 0 &&
        record->call_key.answer.data != NULL && record->call_key.text.data != NULL)
        restore_key(host, &record->call_key);
    else if (record->type == SOC_RECORD_CALL_KEYS_END)
        while (keys->first != NULL && keys->first->number <= record->call_keys_end.number)
            free_key(host, keys->first);
}

void soc_call_keys_fini(struct soc_host *host)
{
    struct soc_call_key *key;
    size_t cursor = 0;
    while ((key = soc_map_each(&of(host)->by_text, &cursor)) != NULL) {
        soc_buf_fini(&key->joined);
        free(key->answer);
        free(key);
    }
    soc_map_fini(&of(host)->by_text);
}

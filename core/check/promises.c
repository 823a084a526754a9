/* Promises: what happens once. A decision, a message per deduplication key and window, the
 * lines that a door reads. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "check/check.h"
#include "check/readers.h"

static void read_item(struct soc_check *check, uint64_t key)
{
    if (soc_map_find_number(&check->items, key) != NULL)
        soc_books_fail(check, "item %llu was opened twice", (unsigned long long)key);
    soc_map_put_number(&check->items, key, (void *)(uintptr_t)1);
}

static void read_item_end(struct soc_check *check, const struct soc_record_item_end *record)
{
    uintptr_t state = (uintptr_t)soc_map_find_number(&check->items, record->key);
    if (state != 1)
        soc_books_fail(check, "item %llu was decided %s", (unsigned long long)record->key,
                       state == 0 ? "but never opened" : "twice");
    soc_map_put_number(&check->items, record->key, (void *)(uintptr_t)(record->decision + 2));
}

/* A wait for a decision ends with that decision or with an error. */
void soc_check_promises_decided(struct soc_check *check, const struct soc_check_agent *agent,
                                struct soc_slice answer)
{
    uintptr_t state = (uintptr_t)soc_map_find_number(&check->items, agent->wait_key);
    if (answer.length > 0 && answer.data[0] == '[' && state < 2)
        soc_books_fail(check, "%.*s has a decision about item %llu, which is not decided",
                       (int)agent->id.length, agent->id.data, (unsigned long long)agent->wait_key);
}

/* A wait for a message to be processed ends when it is, or with an error. */
void soc_check_promises_acked(struct soc_check *check, const struct soc_check_agent *agent,
                              struct soc_slice answer)
{
    const struct soc_check_message *message =
        agent->wait_key < check->messages_count ? check->messages[agent->wait_key] : NULL;
    bool is_processed = message != NULL && message->outcome == SOC_OUTCOME_PROCESSED;
    if (answer.length > 0 && answer.data[0] == '[' && !is_processed)
        soc_books_fail(check, "%.*s has an ack of message %llu, which is not processed",
                       (int)agent->id.length, agent->id.data, (unsigned long long)agent->wait_key);
}

void soc_check_promises_keyed(struct soc_check *check, const struct soc_record_message *record)
{
    check->keyed += (record->dedupe_key.length > 0) + (record->external_id.length > 0);
}

/* A key that was forgotten is sent under again, at the earliest when its window is over. */
static void read_key(struct soc_check *check, const struct soc_record_sent_key *record)
{
    int64_t window_ms = check->window_ms == 0 ? SOC_DEDUPE_WINDOW_MS : check->window_ms;
    struct soc_check_key *key = soc_map_find(&check->keys, record->text);
    if (record->text.length > 0 && memchr("qax", record->text.data[0], 3) != NULL)
        return; /* of a query: no message bears it */
    check->keyed--;
    if (key == NULL) {
        key = soc_books_room(check, sizeof(*key));
        soc_map_put(&check->keys, soc_books_copy(check, record->text), key);
    } else if ((int64_t)record->since_ms - key->since_ms < window_ms) {
        soc_books_fail(check, "message %llu has a key that was used %lld ms before",
                       (unsigned long long)record->key,
                       (long long)((int64_t)record->since_ms - key->since_ms));
    }
    key->since_ms = (int64_t)record->since_ms;
}

void soc_check_promises_kept(struct soc_check *check)
{
    if (check->keyed != 0)
        soc_books_fail(check, "a message and its deduplication key are not in the same batch");
    check->keyed = 0;
}

/* Reads the key of a message from its id, whose last ten digits it is; 0: there is none. */
static uint64_t read_message_key(struct soc_slice answer)
{
    static const char mark[] = "\"messageId\":\"";
    const char *at = memmem(answer.data, answer.length, mark, sizeof(mark) - 1);
    if (at == NULL)
        return 0;
    at += sizeof(mark) - 1;
    const char *end = memchr(at, '"', (size_t)(answer.data + answer.length - at));
    return end == NULL || end - at < 10 ? 0 : strtoull(end - 10, NULL, 16);
}

/* Notes whether the last order of this batch sends; others name messages of the past. */
static bool read_order(struct soc_check *check, const struct soc_record_event *record)
{
    static const char *const ops[] = {"\"op\":\"send\"", "\"op\":\"intake\""};
    if (!soc_slice_equal(record->event, SOC_SLICE("order")))
        return false;
    check->is_sending = false;
    for (int i = 0; i < 2; i++)
        check->is_sending |=
            memmem(record->detail.data, record->detail.length, ops[i], strlen(ops[i])) != NULL;
    return true;
}

/* What was sent under the key is in its batch. */
static void check_sent(struct soc_check *check, struct soc_slice answer)
{
    uint64_t key = check->is_sending ? read_message_key(answer) : 0;
    check->is_sending = false;
    if (key == 0)
        return;
    const struct soc_check_message *message =
        key < check->messages_count ? check->messages[key] : NULL;
    if (message == NULL || message->place <= check->begun)
        soc_books_fail(check, "message %llu and the key of its caller are not in the same batch",
                       (unsigned long long)key);
}

static void read_call_key(struct soc_check *check, const struct soc_record_call_key *record)
{
    int64_t window_ms = check->window_ms == 0 ? SOC_DEDUPE_WINDOW_MS : check->window_ms;
    struct soc_check_key *key = soc_map_find(&check->call_keys, record->text);
    if (key == NULL) {
        key = soc_books_room(check, sizeof(*key));
        soc_map_put(&check->call_keys, soc_books_copy(check, record->text), key);
    } else if ((int64_t)record->time_ms - key->since_ms < window_ms) {
        soc_books_fail(check, "two orders were done under one key of a caller, %lld ms apart",
                       (long long)((int64_t)record->time_ms - key->since_ms));
    }
    key->since_ms = (int64_t)record->time_ms;
    check_sent(check, record->answer);
}

/* The lines of a simulated door are numbered from 1: none is read twice or left out. */
static void read_position(struct soc_check *check, const struct soc_record_position *record)
{
    static const char mark[] = "sim:";
    if (record->name.length < sizeof(mark) ||
        memcmp(record->name.data, mark, sizeof(mark) - 1) != 0)
        return;
    int64_t line = 0;
    soc_json_integer(record->value, &line);
    struct soc_check_place *place = soc_map_find(&check->places, record->name);
    if (place == NULL) {
        place = soc_books_room(check, sizeof(*place));
        soc_map_put(&check->places, soc_books_copy(check, record->name), place);
    }
    if (line != place->line + 1)
        soc_books_fail(check, "the door reads line %lld of %.*s after line %lld", (long long)line,
                       (int)record->name.length, record->name.data, (long long)place->line);
    place->line = line;
}

/* A refused line that names a missing receiver `nobody-N` does so once. */
static bool read_refusal(struct soc_check *check, const struct soc_record_event *record)
{
    const struct soc_check_agent *agent = soc_books_find(check, record->agent);
    static const char mark[] = "\"nobody-";
    if (!soc_slice_equal(record->event, SOC_SLICE("outside_refused")))
        return false;
    if (agent != NULL && record->detail.length > 0 &&
        memmem(record->detail.data, record->detail.length, mark, sizeof(mark) - 1) != NULL &&
        !soc_books_note_once(check, agent, record->detail))
        soc_books_fail(check, "a line of %.*s was refused twice: %.*s", (int)agent->id.length,
                       agent->id.data, (int)record->detail.length, record->detail.data);
    return true;
}

bool soc_check_promises(struct soc_check *check, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_ITEM:
        read_item(check, record->item.key);
        return true;
    case SOC_RECORD_ITEM_END:
        read_item_end(check, &record->item_end);
        return true;
    case SOC_RECORD_SENT_KEY:
        read_key(check, &record->sent_key);
        return true;
    case SOC_RECORD_CALL_KEY:
        read_call_key(check, &record->call_key);
        return true;
    case SOC_RECORD_POSITION:
        read_position(check, &record->position);
        return true;
    case SOC_RECORD_EVENT:
        return read_order(check, &record->event) || read_refusal(check, &record->event);
    default:
        return false;
    }
}

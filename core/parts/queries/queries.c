/* Queries: which questions a `response` may answer.
 *
 * A response names its query by `query_id`, a reply answers the message itself. An open request is
 * answered at once. For a `query` that nobody waits for, and for a request that ended without an
 * answer, asker, receiver and id are remembered as keys (model/delivery/dedupe.h), for
 * SOC_QUERY_WINDOW_MS. A query from another host has the id that it has there; one that its asker
 * waits for is never open here (kernel/mail/asked.h). Any other response is refused: it answers
 * nothing, or somebody else's query, or the same one again, as is a second reply. Layer: parts.
 * Thread: loop. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "env/rng.h"
#include "kernel/mail/asked.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/requests.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/turn.h"
#include "model/delivery/dedupe.h"
#include "parts/table.h"

struct queries {
    const struct soc_symbol *query;
    const struct soc_symbol *response;
    struct soc_dedupe keys;
};

static struct queries *of(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_QUERIES);
}

static void *open_queries(struct soc_host *host)
{
    struct queries *queries = soc_alloc_zero(sizeof(*queries));
    queries->query = soc_intern_mark(&host->types.table, SOC_SLICE("query"));
    queries->response = soc_intern_mark(&host->types.table, SOC_SLICE("response"));
    for (int i = 0; i < 2; i++)
        queries->keys.secret[i] = soc_rng_system_seed(); /* nothing visible depends on it */
    return queries;
}

static void free_queries(struct soc_host *host)
{
    soc_dedupe_fini(&of(host)->keys);
    free(of(host));
}

static const struct soc_dedupe_entry *find(struct soc_host *host, enum soc_dedupe_kind kind,
                                           const struct soc_agent *asker, struct soc_slice asked,
                                           struct soc_slice id)
{
    struct soc_dedupe_words words = {
        .kind = kind, .sender = soc_agent_id(asker), .receiver = asked, .words = id};
    return soc_dedupe_find(&of(host)->keys, &words, soc_host_now(host), SOC_QUERY_WINDOW_MS);
}

/* Forgets old keys. This is not undone if the turn rolls back. */
static void forget(struct soc_host *host)
{
    int64_t until_ms = soc_host_now(host) - SOC_QUERY_WINDOW_MS;
    if (soc_dedupe_forget(&of(host)->keys, until_ms, 0) == 0)
        return;
    struct soc_record record = {
        .type = SOC_RECORD_SENT_KEYS_END,
        .sent_keys_end = {.until_ms = (uint64_t)until_ms, .is_of_queries = 1},
    };
    soc_batch_keep(host, &record);
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    soc_dedupe_remove(&of(host)->keys, undo->data);
}

static void remember(struct soc_host *host, const struct soc_dedupe_words *words, uint64_t key,
                     int64_t sent_ms)
{
    assert(key > 0 && words->words.data != NULL);
    int64_t now_ms = soc_host_now(host);
    struct soc_buf text = {0};
    soc_dedupe_text(&text, words);
    struct soc_dedupe_entry *entry =
        soc_dedupe_restore(&of(host)->keys, soc_buf_slice(&text), key, sent_ms, now_ms);
    struct soc_record record = {.type = SOC_RECORD_SENT_KEY};
    record.sent_key = (struct soc_record_sent_key){
        .since_ms = (uint64_t)now_ms,
        .key = key,
        .sent_ms = (uint64_t)sent_ms,
        .text = soc_buf_slice(&text),
    };
    soc_batch_put(host, &record);
    static const struct soc_undo_ops ops = {.roll_back = take_back, .is_talk = true};
    if (host->turn.is_open)
        soc_turn_note(host, (struct soc_undo){.ops = &ops, .data = entry});
    soc_buf_fini(&text);
}

/* Remembers a question under its id and under another one, if it has one. */
static void remember_both(struct soc_host *host, struct soc_dedupe_words words, uint64_t key,
                          int64_t sent_ms, struct soc_slice other_id)
{
    char id[SOC_MESSAGE_ID_BYTES];
    forget(host);
    soc_message_id_format(id, sent_ms, key);
    words.words = soc_slice(id, sizeof(id));
    remember(host, &words, key, sent_ms);
    words.words = other_id;
    if (other_id.data != NULL)
        remember(host, &words, key, sent_ms);
}

static int refuse(struct soc_buf *error, const char *message, struct soc_slice query_id,
                  struct soc_slice to)
{
    soc_refusal_begin(error, SOC_ENOQUERY, message);
    soc_json_put_text_member(error, "query_id", query_id);
    soc_json_put_text_member(error, "to", to);
    return soc_refusal_end(error, SOC_ENOQUERY);
}

/* Tells whether `asked` has answered the query with that key. */
static bool has_answered(struct soc_host *host, const struct soc_agent *asker,
                         const struct soc_agent *asked, uint64_t key, int64_t sent_ms)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, sent_ms, key);
    return find(host, SOC_DEDUPE_ANSWERED, asker, soc_agent_id(asked), soc_slice(id, sizeof(id)));
}

/* Joins a response to the open request of another host that it names. */
static bool join_asked(struct soc_host *host, struct soc_passage *p, struct soc_slice id)
{
    struct soc_asked asked;
    if (!p->to->is_remote || /* else the search would be in vain, and there may be many */
        !soc_asked_find(host, p->from, id, &asked) || asked.from != p->to ||
        has_answered(host, p->to, p->from, asked.key, asked.time_ms))
        return false;
    soc_asked_address(&asked, &p->send);
    return true;
}

/* Finds what `p`, a response that names `id`, answers. */
static int join(struct soc_host *host, struct soc_passage *p, struct soc_slice id,
                struct soc_buf *error)
{
    assert(p->from != NULL && p->to != NULL);
    struct soc_slice asked = soc_agent_id(p->from);
    if (join_asked(host, p, id))
        return SOC_OK;
    const struct soc_dedupe_entry *entry = find(host, SOC_DEDUPE_LAPSED, p->to, asked, id);
    bool is_late = entry != NULL;
    if (entry == NULL)
        entry = find(host, SOC_DEDUPE_QUERY, p->to, asked, id);
    if (entry == NULL)
        entry = find(host, SOC_DEDUPE_QUERY, p->to, SOC_SLICE("All"), id);
    if (entry == NULL)
        return refuse(error, "the receiver has not asked this agent that query", id,
                      soc_agent_id(p->to));
    if (has_answered(host, p->to, p->from, entry->key, entry->sent_ms))
        return refuse(error, "the query is already answered", id, soc_agent_id(p->to));
    p->send.answers_key = entry->key;
    p->send.answers_ms = entry->sent_ms;
    p->send.is_late = is_late;
    return SOC_OK;
}

/* Tells whether the open turn has answered the request. A delayed answer may still be lost. */
static bool is_answered(const struct soc_host *host, uint64_t key)
{
    const struct soc_message *message = host->turn.sent.first;
    while (message != NULL && !(message->flags & SOC_MESSAGE_IS_REPLY && message->reply_to == key &&
                                message->deliver_at_ms == 0))
        message = message->next;
    return message != NULL;
}

/* A response becomes the answer to what it names. A reply names it already. */
static int complete(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    struct soc_buf id = {0};
    int rc = SOC_OK;
    if (p->type != of(host)->response || p->from == NULL || p->send.answers != NULL ||
        p->send.answers_key != 0 || p->send.payload.data[0] != '{' ||
        !soc_json_string(soc_json_member(p->send.payload, "query_id"), &id))
        return rc;
    const struct soc_request *request =
        p->to == NULL ? NULL : soc_request_find_query(host, p->to, p->from, p->send.payload);
    if (p->to == NULL) {
        rc = refuse(error, "a response goes to the agent that asked", soc_buf_slice(&id),
                    p->send.to);
    } else if (request == NULL) {
        rc = join(host, p, soc_buf_slice(&id), error);
    } else if (is_answered(host, request->key)) {
        rc = refuse(error, "the query is already answered", soc_buf_slice(&id), p->send.to);
    } else {
        p->send.answers_key = request->key;
        p->send.answers_ms = request->time_ms;
    }
    soc_buf_fini(&id);
    return rc;
}

/* Tells whether the request that a message opened ended without an answer. */
static bool is_lapsed(struct soc_host *host, const struct soc_message *message)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, message);
    return find(host, SOC_DEDUPE_LAPSED, message->from, soc_agent_id(message->to),
                soc_slice(id, sizeof(id)));
}

static void prepare(struct soc_host *host, struct soc_passage *p)
{
    const struct soc_message *asked = p->send.answers;
    p->is_query_answer = asked != NULL && asked->type == of(host)->query && asked->from != NULL &&
                         p->from != NULL &&
                         (!(asked->flags & SOC_MESSAGE_WANTS_REPLY) || is_lapsed(host, asked));
    p->is_query_answer |= p->send.answers_key != 0 && p->send.is_late && p->from != NULL &&
                          p->to != NULL && p->to->is_remote; /* which is remembered at a start */
}

static int check(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    char id[SOC_MESSAGE_ID_BYTES];
    const struct soc_message *asked = p->send.answers;
    if (!p->is_query_answer || asked == NULL ||
        !has_answered(host, asked->from, p->from, asked->key, asked->time_ms))
        return SOC_OK;
    soc_envelope_id(id, asked);
    return refuse(error, "the query is already answered", soc_slice(id, sizeof(id)), p->send.to);
}

static void remember_question(struct soc_host *host, const struct soc_passage *p,
                              const struct soc_message *message)
{
    struct soc_dedupe_words words = {
        .kind = SOC_DEDUPE_QUERY,
        .sender = soc_agent_id(p->from),
        .receiver = p->to == NULL ? SOC_SLICE("All") : soc_agent_id(p->to),
    };
    remember_both(host, words, message->key, message->time_ms,
                  soc_message_text(message, SOC_TEXT_EXTERNAL_ID));
    words.words = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    if (words.words.data != NULL)
        remember(host, &words, message->key, message->time_ms);
}

static void remember_answer(struct soc_host *host, const struct soc_passage *p,
                            const struct soc_message *message)
{
    char id[SOC_MESSAGE_ID_BYTES];
    soc_message_id_format(id, message->reply_to_ms, message->reply_to);
    struct soc_dedupe_words words = {
        .kind = SOC_DEDUPE_ANSWERED,
        .sender = soc_agent_id(p->to),
        .receiver = soc_agent_id(p->from),
        .words = soc_slice(id, sizeof(id)),
    };
    forget(host);
    remember(host, &words, message->reply_to, message->reply_to_ms);
}

static int sent(struct soc_host *host, const struct soc_passage *p, struct soc_message *message,
                struct soc_buf *error)
{
    (void)error;
    if (p->from == NULL)
        return SOC_OK;
    if (p->type == of(host)->query && !p->send.wants_reply)
        remember_question(host, p, message);
    bool is_joined = p->type == of(host)->response && p->to != NULL && message->reply_to != 0 &&
                     (p->send.is_late || !(message->flags & SOC_MESSAGE_IS_REPLY));
    if (p->is_query_answer || is_joined)
        remember_answer(host, p, message);
    return SOC_OK;
}

/* A request ended without an answer: a response to it is late. */
static void request_lapsed(struct soc_host *host, const struct soc_request *request)
{
    struct soc_dedupe_words words = {
        .kind = SOC_DEDUPE_LAPSED,
        .sender = soc_agent_id(request->from),
        .receiver = soc_agent_id(request->to),
    };
    remember_both(host, words, request->key, request->time_ms,
                  request->external_id == NULL ? (struct soc_slice){0}
                                               : soc_slice_text(request->external_id));
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    const struct soc_record_sent_key *key = &record->sent_key;
    if (record->type == SOC_RECORD_SENT_KEY && soc_dedupe_is_of_query(key->text))
        soc_dedupe_restore(&of(host)->keys, key->text, key->key, (int64_t)key->sent_ms,
                           (int64_t)key->since_ms);
    else if (record->type == SOC_RECORD_SENT_KEYS_END && record->sent_keys_end.is_of_queries != 0)
        soc_dedupe_forget(&of(host)->keys, (int64_t)record->sent_keys_end.until_ms, 0);
    return SOC_OK;
}

const struct soc_part soc_queries_part = {
    .name = "queries",
    .number = SOC_PART_QUERIES,
    .open = open_queries,
    .restore = restore,
    .free = free_queries,
    .prepare = prepare,
    .complete = complete,
    .check = check,
    .sent = sent,
    .request_lapsed = request_lapsed,
};

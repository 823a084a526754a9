#include "parts/contacts/introductions.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "kernel/ending.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/requests.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/wait.h"
#include "parts/contacts/acquaintance.h"
#include "parts/contacts/contacts_state.h"
#include "parts/human/human.h"

static struct soc_introduction *find(const struct soc_host *host, uint64_t key)
{
    return soc_contacts_state(host)->introductions.count == 0
               ? NULL
               : soc_map_find_number(&soc_contacts_state(host)->introductions, key);
}

void soc_introductions_put_asked(struct soc_buf *out, const struct soc_introduction *entry)
{
    soc_buf_put_byte(out, '[');
    for (uint32_t i = 0; i < entry->asked_count; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_agent_id(entry->asked[i]));
    }
    soc_buf_put_byte(out, ']');
}

void soc_introductions_set_hops(struct soc_host *host, int64_t hops_max)
{
    assert(hops_max > 0);
    soc_contacts_state(host)->hops_max = (uint32_t)hops_max;
}

void soc_introductions_store(struct soc_host *host, struct soc_introduction *entry)
{
    struct soc_buf asked = {0};
    soc_introductions_put_asked(&asked, entry);
    struct soc_record record = {.type = SOC_RECORD_INTRODUCTION};
    record.introduction = (struct soc_record_introduction){
        .key = entry->key,
        .time_ms = (uint64_t)entry->time_ms,
        .for_key = entry->for_key,
        .flags = (entry->is_held ? SOC_INTRODUCTION_IS_HELD : 0) |
                 (entry->is_consent ? SOC_INTRODUCTION_IS_CONSENT : 0) |
                 (entry->item != 0 ? SOC_INTRODUCTION_IS_ITEM : 0),
        .consent = entry->consent,
        .question = entry->item != 0 ? entry->item : entry->question,
        .deadline_ms = (uint64_t)entry->deadline_ms,
        .requester = soc_agent_id(entry->requester),
        .broker = soc_agent_id(entry->broker),
        .correlation_id = soc_slice_text(entry->correlation_id),
        .reason = soc_slice_text(entry->reason),
        .asked = soc_buf_slice(&asked),
        .found = entry->found == NULL ? (struct soc_slice){0} : soc_agent_id(entry->found),
        .usage_hint = soc_slice_text(entry->usage_hint),
        .via = soc_slice_text(entry->via),
    };
    soc_batch_put(host, &record);
    soc_buf_fini(&asked);
    entry->is_stored = true;
}

static struct soc_introduction *open_entry(struct soc_host *host, const struct soc_message *message)
{
    assert(find(host, message->key) == NULL);
    struct soc_introduction *entry =
        soc_introduction_new(message->key, message->time_ms, message->from, message->to);
    struct soc_buf reason = {0};
    soc_text_set(&entry->correlation_id, soc_message_text(message, SOC_TEXT_CORRELATION_ID));
    if (soc_json_string(soc_json_member(soc_message_payload(message), "reason"), &reason))
        soc_text_set(&entry->reason, soc_buf_slice(&reason));
    soc_buf_fini(&reason);
    soc_map_put_number(&soc_contacts_state(host)->introductions, entry->key, entry);
    return entry;
}

/* Ends the current question, answered or given up. */
static void end_question(struct soc_host *host, struct soc_introduction *entry)
{
    if (entry->question == 0)
        return;
    soc_heap_remove(&host->timers, &entry->timer);
    assert(host->waits.count > 0);
    host->waits.count--;
    entry->question = 0;
}

static void remove_entry(struct soc_host *host, struct soc_introduction *entry)
{
    end_question(host, entry);
    if (entry->is_stored) {
        struct soc_record record = {
            .type = SOC_RECORD_INTRODUCTION_END,
            .introduction_end = {.key = entry->key},
        };
        soc_batch_put(host, &record);
    }
    uint64_t item = entry->item;
    soc_map_take_number(&soc_contacts_state(host)->introductions, entry->key);
    soc_introduction_free(entry);
    if (item != 0)
        soc_human_withdraw_item(host, item);
}

void soc_introductions_close(struct soc_host *host, uint64_t key)
{
    struct soc_introduction *entry;
    while (key != 0 && (entry = find(host, key)) != NULL) {
        struct soc_message *message = entry->message;
        struct soc_agent *broker = entry->broker;
        key = entry->question; /* its answer is no longer needed */
        remove_entry(host, entry);
        if (message == NULL)
            continue;
        soc_router_finish(host, message, SOC_OUTCOME_CANCELLED,
                          SOC_SLICE("{\"error\":\"timeout\"}"));
        soc_ending_check(host, broker);
    }
}

struct soc_agent *soc_introductions_target(const struct soc_host *host, uint64_t key,
                                           struct soc_agent *broker)
{
    const struct soc_introduction *entry = find(host, key);
    while (entry != NULL && entry->message != NULL) {
        entry = entry->question == 0 ? NULL : find(host, entry->question);
        broker = entry == NULL ? NULL : entry->broker;
    }
    return broker;
}

/* The agent at the start of the chain of questions now waits for someone else. */
static void note_requester(struct soc_host *host, const struct soc_introduction *entry)
{
    const struct soc_introduction *served;
    while (entry->for_key != 0 && (served = find(host, entry->for_key)) != NULL)
        entry = served;
    soc_wait_note(host, entry->requester);
}

/* Sends on behalf of the broker, caused by the request it holds. `entry` may be gone
 * afterwards. With `is_question` the message becomes the entry's open question. */
static int send_as_broker(struct soc_host *host, struct soc_introduction *entry,
                          const struct soc_send *send, bool is_question, bool is_consent)
{
    struct soc_message *message;
    struct soc_buf error = {0};
    assert(entry->message != NULL && (!is_question || entry->question == 0));
    soc_turn_begin(host, entry->broker, NULL);
    host->turn.cause = entry->message;
    int rc = soc_router_send(host, entry->broker, send, &message, &error);
    if (rc < 0) {
        soc_turn_rollback(host);
        soc_trace_event(host, SOC_LOG_WARN, "introduction_failed", entry->broker,
                        soc_buf_slice(&error));
    } else if (is_question) {
        struct soc_introduction *asked = open_entry(host, message);
        asked->for_key = entry->key;
        asked->is_consent = is_consent;
        entry->question = message->key;
        host->waits.count++;
        entry->timer.kind = soc_part_timer(SOC_PART_CONTACTS);
        soc_heap_add(&host->timers, &entry->timer, entry->deadline_ms);
        soc_introductions_store(host, asked);
        soc_introductions_store(host, entry);
        note_requester(host, entry);
    }
    soc_buf_fini(&error);
    if (rc == SOC_OK)
        soc_commit_turn(host);
    return rc;
}

/* Answers the held request with `target`, or with NULL and a reason. */
static void respond(struct soc_host *host, struct soc_introduction *entry,
                    const struct soc_agent *target, struct soc_slice text)
{
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    if (target == NULL) {
        soc_json_put_text_member(&payload, "reason", text);
        soc_json_put_name(&payload, "target_agent");
        soc_buf_put_text(&payload, "null}");
    } else {
        soc_json_put_name(&payload, "target_agent");
        soc_buf_put_byte(&payload, '{');
        soc_json_put_text_member(&payload, "id", soc_agent_id(target));
        soc_buf_put_byte(&payload, '}');
        soc_json_put_text_member(&payload, "usage_hint", text);
        soc_buf_put_byte(&payload, '}');
    }
    uint64_t key = entry->key;
    struct soc_message *request = entry->message;
    struct soc_agent *broker = entry->broker;
    entry->is_held = false; /* the request is finished below */
    struct soc_send send = {
        .to = soc_agent_id(entry->requester),
        .type = SOC_SLICE("introduction_response"),
        .payload = soc_buf_slice(&payload),
        .answers_key = key,
        .answers_ms = entry->time_ms,
    };
    if (send_as_broker(host, entry, &send, false, false) < 0) {
        entry->message = NULL;
        remove_entry(host, entry);
        soc_request_fail(host, key, "no_introduction", "the answer could not be sent",
                         (struct soc_slice){0});
    }
    soc_buf_fini(&payload);
    soc_router_finish(host, request, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_ending_check(host, broker);
}

/* Copies the members of the request that a question passes on. */
static void put_request(struct soc_buf *out, struct soc_slice payload)
{
    static const char *const names[] = {"reason", "required_capability"};
    for (int i = 0; i < 2; i++) {
        struct soc_slice value = soc_json_member(payload, names[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, names[i]);
        soc_buf_put_slice(out, value);
    }
}

/* Asks a contact of the broker. True if that failed and the policy must choose again. */
static bool ask_onward(struct soc_host *host, struct soc_introduction *entry, struct soc_agent *who)
{
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    put_request(&payload, soc_message_payload(entry->message));
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = {
        .to = soc_agent_id(who),
        .type = SOC_SLICE("introduction_request"),
        .payload = soc_buf_slice(&payload),
    };
    bool has_failed = send_as_broker(host, entry, &send, true, false) < 0;
    if (has_failed)
        soc_introduction_note_asked(entry, who);
    soc_buf_fini(&payload);
    return has_failed;
}

static void put_person(struct soc_buf *out, const char *name, const struct soc_agent *agent)
{
    if (agent == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_agent_id(agent));
    soc_json_put_text_member(out, "role", soc_slice_text(agent->role->name));
    soc_buf_put_byte(out, '}');
}

/* Asks `who` whether the requester may meet `target`. True if that failed. */
static bool ask_consent(struct soc_host *host, struct soc_introduction *entry,
                        struct soc_agent *who, const struct soc_agent *target)
{
    struct soc_buf payload = {0};
    soc_buf_put_byte(&payload, '{');
    put_request(&payload, soc_message_payload(entry->message));
    put_person(&payload, "requester", entry->requester);
    soc_json_put_text_member(&payload, "subject", SOC_SLICE("introduction"));
    put_person(&payload, "target_agent", target);
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = {
        .to = soc_agent_id(who),
        .type = SOC_SLICE("collaboration_request"),
        .payload = soc_buf_slice(&payload),
        .is_formal = true,
    };
    bool has_failed = send_as_broker(host, entry, &send, true, true) < 0;
    if (has_failed)
        entry->consent = SOC_CONSENT_REFUSED;
    soc_buf_fini(&payload);
    return has_failed;
}

static void leave_to_broker(struct soc_host *host, struct soc_introduction *entry)
{
    struct soc_message *message = entry->message;
    entry->message = NULL;
    entry->is_held = false;
    soc_introductions_store(host, entry);
    note_requester(host, entry);
    soc_router_hand_over(host, message);
}

/* Takes the next step of a request held by the host. True if the policy must be asked
 * again immediately. */
static bool take_step(struct soc_host *host, struct soc_introduction *entry)
{
    struct soc_introduce_answer answer = {0};
    assert(entry->message != NULL && host->hooks.introduce != NULL);
    bool asks_again = false;
    host->hooks.introduce(host->hooks.user, entry, &answer);
    entry->deadline_ms = soc_host_now(host) + answer.timeout_ms;
    struct soc_slice text =
        answer.text.length == 0 ? (struct soc_slice){0} : soc_buf_slice(&answer.text);
    switch (answer.kind) {
    case SOC_INTRODUCE_LEAVE:
        leave_to_broker(host, entry);
        break;
    case SOC_INTRODUCE_NAME:
        respond(host, entry, answer.who, text);
        break;
    case SOC_INTRODUCE_ASK:
        asks_again = ask_onward(host, entry, answer.who);
        break;
    case SOC_INTRODUCE_CONSENT:
        asks_again = ask_consent(host, entry, answer.who, answer.target);
        break;
    case SOC_INTRODUCE_REFUSE:
        respond(host, entry, NULL, text);
        break;
    }
    soc_buf_fini(&answer.text);
    return asks_again;
}

/* A step may make others due, of the same request or of those asked onward. They queue
 * up, so that a long chain of refusals needs no deep stack. */
static void advance(struct soc_host *host, uint64_t key)
{
    struct soc_buf *due = &soc_contacts_state(host)->due;
    soc_buf_put(due, &key, sizeof(key));
    if (soc_contacts_state(host)->is_introducing)
        return;
    soc_contacts_state(host)->is_introducing = true;
    for (size_t at = 0; at < due->length; at += sizeof(key)) {
        memcpy(&key, due->data + at, sizeof(key));
        struct soc_introduction *entry = find(host, key);
        while (entry != NULL && entry->message != NULL && entry->question == 0 &&
               take_step(host, entry))
            continue;
    }
    due->length = 0;
    soc_contacts_state(host)->is_introducing = false;
}

bool soc_introductions_is_new(const struct soc_host *host, const struct soc_message *message)
{
    return message->type == soc_contacts_state(host)->request && message->from != NULL &&
           !(message->to != NULL && message->to->is_remote) && find(host, message->key) == NULL;
}

bool soc_introductions_receive(struct soc_host *host, struct soc_message *message)
{
    if (message->from == NULL || host->hooks.introduce == NULL)
        return false; /* without a policy it waits for a run with one */
    struct soc_introduction *entry = find(host, message->key);
    if (entry == NULL)
        entry = open_entry(host, message);
    entry->message = message;
    entry->is_held = true;
    advance(host, message->key);
    return true;
}

/* The agents that the refusing broker had asked count as asked in vain as well. */
static void note_others(struct soc_host *host, struct soc_introduction *entry, struct soc_slice via)
{
    struct soc_json_walk walk;
    if (via.data == NULL)
        return;
    soc_json_walk(&walk, via);
    while (soc_json_next(&walk)) {
        struct soc_slice id = soc_json_plain_string(walk.value);
        struct soc_agent *agent = id.data == NULL ? NULL : soc_registry_find(host, id);
        if (agent != NULL && agent != entry->broker && agent != entry->requester &&
            !soc_introduction_was_asked(entry, agent))
            soc_introduction_note_asked(entry, agent);
    }
}

/* Takes over the answer to a question of the host. */
static void take_answer(struct soc_host *host, struct soc_introduction *entry,
                        const struct soc_introduction *question, const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    end_question(host, entry);
    if (question->is_consent) {
        struct soc_slice accepted =
            payload.data[0] == '{' ? soc_json_member(payload, "accepted") : payload;
        bool is_given = accepted.data != NULL && soc_slice_equal(accepted, SOC_SLICE("true"));
        entry->consent = is_given ? SOC_CONSENT_GIVEN : SOC_CONSENT_REFUSED;
        return;
    }
    struct soc_named named = {0};
    if (message->type == soc_contacts_state(host)->response)
        named = soc_introduction_named(payload);
    entry->found = named.id.data == NULL ? NULL : soc_registry_find(host, named.id);
    if (entry->found == NULL || entry->found == entry->requester) {
        entry->found = NULL;
        soc_introduction_note_asked(entry, question->broker);
        note_others(host, entry, soc_json_member(payload, "via"));
        return;
    }
    struct soc_buf hint = {0};
    if (soc_json_string(soc_json_member(payload, "usage_hint"), &hint))
        soc_text_set(&entry->usage_hint, soc_buf_slice(&hint));
    soc_buf_fini(&hint);
    soc_text_set(&entry->via, soc_json_member(payload, "via"));
}

/* Adds the agent named by the response to the requester's contacts. */
static void learn(struct soc_host *host, const struct soc_message *message,
                  const struct soc_introduction *entry)
{
    struct soc_slice payload = soc_message_payload(message);
    struct soc_named named = soc_introduction_named(payload);
    struct soc_agent *target = named.id.data == NULL ? NULL : soc_registry_find(host, named.id);
    struct soc_buf hint = {0};
    struct soc_buf role = {0};
    if (target == NULL || target->is_ending)
        return;
    soc_json_string(soc_json_member(payload, "usage_hint"), &hint);
    struct soc_slice given = soc_json_member(payload, "target_agent");
    if (given.length > 0 && given.data[0] == '{')
        soc_json_string(soc_json_member(given, "role"), &role);
    struct soc_acquaintance how = {
        .by = message->from,
        .via = soc_json_member(payload, "via"),
        .interface_spec = named.spec,
        .reason = entry == NULL ? (struct soc_slice){0} : soc_slice_text(entry->reason),
        .role = target->is_remote && role.length > 0 ? soc_buf_slice(&role) : (struct soc_slice){0},
        .usage_hint = hint.length == 0 ? (struct soc_slice){0} : soc_buf_slice(&hint),
    };
    soc_acquaint_by_introduction(host, message->to, target, &how);
    soc_buf_fini(&hint);
    soc_buf_fini(&role);
}

/* The broker itself answered what the host held for it: finishes the request and drops
 * what was asked onward. */
static void release(struct soc_host *host, struct soc_agent *broker, struct soc_message *request,
                    uint64_t question)
{
    soc_introductions_close(host, question);
    soc_router_finish(host, request, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    if (broker->activation == NULL) /* otherwise checked when that ends */
        soc_ending_check(host, broker);
}

/* Tells whether it answers a question that the host no longer asks. What another host asked is
 * open there. */
static bool is_too_late(const struct soc_message *message, const struct soc_introduction *entry)
{
    return entry == NULL && message->reply_to != 0 && message->flags & SOC_MESSAGE_IS_FORMAL &&
           !(message->flags & SOC_MESSAGE_IS_REPLY) &&
           !(message->to != NULL && message->to->is_remote);
}

/* An agent elsewhere is asked: its host answers, and here is known that it was asked. */
static void note_remote(struct soc_host *host, const struct soc_message *message)
{
    if (message->type == soc_contacts_state(host)->request && message->from != NULL &&
        message->to->is_remote && find(host, message->key) == NULL)
        soc_introductions_store(host, open_entry(host, message));
}

bool soc_introductions_accept(struct soc_host *host, struct soc_message *message)
{
    note_remote(host, message);
    struct soc_introduction *entry = find(host, message->reply_to);
    if (entry != NULL && (entry->requester != message->to || entry->broker != message->from))
        entry = NULL;
    bool is_let_in = message->reply_to == 0; /* allowed by the policy, though nobody asked */
    if (message->type == soc_contacts_state(host)->response && message->from != NULL &&
        (entry != NULL || is_let_in))
        learn(host, message, entry);
    if (is_too_late(message, entry)) {
        soc_trace_message(host, "late_reply", message);
        soc_router_finish(host, message, SOC_OUTCOME_DROPPED,
                          SOC_SLICE("{\"error\":\"late_reply\"}"));
        return true;
    }
    if (entry == NULL)
        return false;
    uint64_t for_key = entry->for_key;
    struct soc_introduction *served = for_key == 0 ? NULL : find(host, for_key);
    struct soc_message *held = entry->is_held ? entry->message : NULL;
    uint64_t question = entry->question;
    if (served != NULL)
        take_answer(host, served, entry, message);
    remove_entry(host, entry);
    if (held != NULL)
        release(host, message->from, held, question);
    if (for_key == 0)
        return false;
    soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    if (served != NULL)
        advance(host, for_key);
    return true;
}

void soc_introductions_timer(struct soc_host *host, struct soc_introduction *entry)
{
    const struct soc_introduction *question = find(host, entry->question);
    uint64_t key = entry->key;
    end_question(host, entry);
    if (question != NULL) {
        if (question->is_consent)
            entry->consent = SOC_CONSENT_REFUSED;
        else
            soc_introduction_note_asked(entry, question->broker);
        soc_introductions_close(host, question->key); /* along with what the host holds for it */
    }
    advance(host, key);
}

bool soc_introductions_is_question(const struct soc_host *host, uint64_t key)
{
    const struct soc_introduction *entry = find(host, key);
    return entry != NULL && entry->for_key != 0;
}

bool soc_introductions_is_item(const struct soc_host *host, uint64_t key)
{
    const struct soc_introduction *entry = find(host, key);
    return entry != NULL && entry->item != 0;
}

bool soc_introductions_has_held(const struct soc_host *host, const struct soc_agent *agent)
{
    size_t cursor = 0;
    const struct soc_introduction *entry;
    while ((entry = soc_map_each(&soc_contacts_state(host)->introductions, &cursor)) != NULL)
        if (entry->broker == agent && entry->message != NULL)
            return true;
    return false;
}

/* Ends a request to an agent that has terminated. */
static void end_request(struct soc_host *host, struct soc_introduction *entry,
                        struct soc_slice reason)
{
    struct soc_message *message = entry->message;
    struct soc_introduction *served = entry->for_key == 0 ? NULL : find(host, entry->for_key);
    entry->message = NULL;
    if (served != NULL)
        soc_introductions_timer(host, served); /* as if the question had timed out */
    else if (message == NULL)
        remove_entry(host, entry);
    if (message != NULL)
        soc_router_finish(host, message, SOC_OUTCOME_DEAD, reason);
}

void soc_introductions_end_agent(struct soc_host *host, const struct soc_agent *agent,
                                 struct soc_slice reason)
{
    struct soc_buf keys = {0}; /* collected first: ending one may open others */
    size_t cursor = 0;
    struct soc_introduction *entry;
    uint64_t key;
    while ((entry = soc_map_each(&soc_contacts_state(host)->introductions, &cursor)) != NULL)
        if (entry->broker == agent || (entry->requester == agent && entry->message == NULL))
            soc_buf_put(&keys, &entry->key, sizeof(entry->key));
    for (size_t at = 0; at < keys.length; at += sizeof(key)) {
        memcpy(&key, keys.data + at, sizeof(key));
        entry = find(host, key);
        if (entry != NULL)
            end_request(host, entry, reason);
    }
    soc_buf_fini(&keys);
}

/* A record holds the whole request, while live code changes one field at a time and stores
 * the result. */
void soc_introductions_restore(struct soc_host *host, const struct soc_record_introduction *r)
{
    struct soc_agent *requester = soc_registry_find_stored(host, r->requester);
    struct soc_agent *broker = soc_registry_find_stored(host, r->broker);
    soc_introductions_forget(host, r->key);
    if (requester == NULL || broker == NULL)
        return; /* one of them has terminated */
    struct soc_introduction *entry =
        soc_introduction_new(r->key, (int64_t)r->time_ms, requester, broker);
    entry->for_key = r->for_key;
    entry->is_consent = r->flags & SOC_INTRODUCTION_IS_CONSENT;
    entry->is_held = r->flags & SOC_INTRODUCTION_IS_HELD;
    entry->is_stored = true;
    entry->consent = (enum soc_consent)r->consent;
    if (r->flags & SOC_INTRODUCTION_IS_ITEM)
        entry->item = r->question;
    else
        entry->question = r->question;
    entry->deadline_ms = (int64_t)r->deadline_ms;
    soc_text_set(&entry->correlation_id, r->correlation_id);
    soc_text_set(&entry->reason, r->reason);
    soc_text_set(&entry->usage_hint, r->usage_hint);
    soc_text_set(&entry->via, r->via);
    entry->found = r->found.data == NULL ? NULL : soc_registry_find_stored(host, r->found);
    struct soc_json_walk walk;
    soc_json_walk(&walk, r->asked);
    while (soc_json_next(&walk)) {
        struct soc_agent *agent = soc_registry_find_stored(host, soc_json_plain_string(walk.value));
        if (agent != NULL)
            soc_introduction_note_asked(entry, agent);
    }
    soc_map_put_number(&soc_contacts_state(host)->introductions, entry->key, entry);
}

void soc_introductions_forget(struct soc_host *host, uint64_t key)
{
    soc_introduction_free(soc_map_take_number(&soc_contacts_state(host)->introductions, key));
}

bool soc_introductions_reclaim(struct soc_host *host, struct soc_message *message)
{
    struct soc_introduction *entry = find(host, message->key);
    if (entry == NULL || !entry->is_held)
        return false;
    entry->message = message;
    return true;
}

void soc_introductions_resume(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_introduction *entry;
    while ((entry = soc_map_each(&soc_contacts_state(host)->introductions, &cursor)) != NULL) {
        if (entry->question == 0)
            continue;
        host->waits.count++;
        entry->timer.kind = soc_part_timer(SOC_PART_CONTACTS);
        soc_heap_add(&host->timers, &entry->timer, entry->deadline_ms);
    }
}

void soc_introductions_free(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_introduction *entry;
    while ((entry = soc_map_each(&soc_contacts_state(host)->introductions, &cursor)) != NULL) {
        soc_heap_remove(&host->timers, &entry->timer);
        soc_mail_free(host, entry->message);
        soc_introduction_free(entry);
    }
    soc_map_fini(&soc_contacts_state(host)->introductions);
    soc_buf_fini(&soc_contacts_state(host)->due);
}

/* Introductions, person: requests to `user` as items of the inbox. */
#include "base/json.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/contacts/contacts_state.h"
#include "parts/contacts/introductions.h"
#include "parts/human/human.h"

/* Tells whether the user can introduce the contact to the requester. */
static bool is_option(const struct soc_contact *contact, const struct soc_agent *requester)
{
    const struct soc_agent *peer = contact->peer;
    return peer != requester && !peer->is_ended && !peer->is_ending;
}

/* Appends the contacts of `user` that can be chosen: as ids, or with their roles. */
static void put_contacts(const struct soc_introduction *entry, bool has_roles, struct soc_buf *out)
{
    const struct soc_contacts *contacts = &entry->broker->contacts;
    const char *before = "";
    soc_buf_put_byte(out, '[');
    for (uint32_t i = 0; i < contacts->count; i++) {
        const struct soc_agent *peer = contacts->items[i].peer;
        if (!is_option(&contacts->items[i], entry->requester))
            continue;
        soc_buf_put_text(out, before);
        before = ",";
        if (!has_roles) {
            soc_json_put_string(out, soc_agent_id(peer));
            continue;
        }
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "id", soc_agent_id(peer));
        soc_json_put_text_member(out, "role", soc_slice_text(peer->role->name));
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_byte(out, ']');
}

/* Appends { contacts, reason?, required_capability? }. */
static void put_body(const struct soc_introduction *entry, struct soc_slice payload,
                     struct soc_buf *out)
{
    static const char *const names[] = {"reason", "required_capability"};
    soc_buf_put_byte(out, '{');
    soc_json_put_name(out, "contacts");
    put_contacts(entry, true, out);
    for (int i = 0; i < 2 && payload.data[0] == '{'; i++) {
        struct soc_slice value = soc_json_member(payload, names[i]);
        if (value.data == NULL)
            continue;
        soc_json_put_name(out, names[i]);
        soc_buf_put_slice(out, value);
    }
    soc_buf_put_byte(out, '}');
}

/* Appends «introduction for ID: what it seeks». */
static void put_title(const struct soc_introduction *entry, struct soc_slice payload,
                      struct soc_buf *out)
{
    struct soc_buf sought = {0};
    soc_buf_printf(out, "introduction for %s", entry->requester->id);
    if (payload.data[0] == '{' &&
        soc_json_string(soc_json_member(payload, "required_capability"), &sought)) {
        soc_buf_put_text(out, ": ");
        soc_buf_put_slice(out, soc_buf_slice(&sought));
    }
    soc_buf_fini(&sought);
}

/* Returns how long the requester still waits for its answer; -1: it does not wait. */
static int64_t time_left(struct soc_host *host, const struct soc_introduction *entry)
{
    const struct soc_activation *activation = entry->requester->activation;
    bool is_waiting = activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
                      activation->wait.kind == SOC_WAIT_REPLY &&
                      activation->wait.request_key == entry->key;
    return is_waiting ? activation->wait.deadline_ms - soc_host_now(host) : -1;
}

bool soc_introductions_show(struct soc_host *host, const struct soc_message *message)
{
    if (message->type != soc_contacts_state(host)->request)
        return false;
    struct soc_introduction *entry =
        soc_map_find_number(&soc_contacts_state(host)->introductions, message->key);
    if (entry == NULL || entry->item != 0)
        return entry != NULL; /* over; or an item since before a crash */
    struct soc_slice payload = soc_message_payload(message);
    struct soc_buf title = {0};
    struct soc_buf body = {0};
    struct soc_buf options = {0};
    put_title(entry, payload, &title);
    put_body(entry, payload, &body);
    put_contacts(entry, false, &options);
    struct soc_escalation escalation = {
        .title = soc_buf_slice(&title),
        .body = soc_buf_slice(&body),
        .options = soc_buf_slice(&options),
        .priority = (enum soc_priority)message->priority,
        .timeout_ms = time_left(host, entry),
    };
    soc_turn_begin(host, entry->requester, NULL);
    host->turn.cause = message;
    entry->item = soc_human_escalate(host, &escalation)->key;
    soc_introductions_store(host, entry);
    soc_commit_turn(host);
    soc_buf_fini(&options);
    soc_buf_fini(&body);
    soc_buf_fini(&title);
    return true;
}

/* Appends the payload of the response. */
static int put_response(const struct soc_verdict *verdict, struct soc_buf *out,
                        struct soc_buf *error)
{
    enum soc_decision decision = soc_decision_parse(verdict->decision);
    struct soc_slice comment = verdict->comment;
    if (decision == SOC_DECISION_REJECT) {
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(
            out, "reason",
            comment.data != NULL && comment.length > 0 ? comment : SOC_SLICE("the user declined"));
        soc_json_put_name(out, "target_agent");
        soc_buf_put_text(out, "null}");
        return SOC_OK;
    }
    if (decision != SOC_DECISION_APPROVE || verdict->choice.data == NULL)
        return soc_refuse(error, SOC_EINVAL,
                          "choose the contact to introduce, or reject the request", "member",
                          SOC_SLICE("choice"));
    soc_buf_put_text(out, "{\"target_agent\":{\"id\":");
    soc_buf_put_slice(out, verdict->choice);
    soc_buf_put_byte(out, '}');
    if (comment.length > 0)
        soc_json_put_text_member(out, "usage_hint", comment);
    soc_buf_put_byte(out, '}');
    return SOC_OK;
}

int soc_introductions_decide(struct soc_host *host, const struct soc_item *item,
                             const struct soc_verdict *verdict, struct soc_message **message,
                             struct soc_buf *error)
{
    const struct soc_introduction *entry;
    size_t cursor = 0;
    while ((entry = soc_map_each(&soc_contacts_state(host)->introductions, &cursor)) != NULL &&
           entry->item != item->key)
        continue;
    if (entry == NULL)
        return SOC_OK;
    struct soc_buf payload = {0};
    int rc = put_response(verdict, &payload, error);
    struct soc_send send = {
        .to = soc_agent_id(entry->requester),
        .type = SOC_SLICE("introduction_response"),
        .payload = soc_buf_slice(&payload),
        .texts = {[SOC_TEXT_TASK_ID] = soc_slice_text(item->task_id),
                  [SOC_TEXT_CORRELATION_ID] = soc_slice_text(item->correlation_id)},
        .priority = item->priority,
        .has_priority = true,
        .answers_key = entry->key,
        .answers_ms = entry->time_ms,
    };
    if (rc == SOC_OK)
        rc = soc_router_send(host, host->registry.user, &send, message, error);
    soc_buf_fini(&payload);
    return rc < 0 ? rc : 1;
}

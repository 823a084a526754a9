/* Introductions, format: how they look in messages and in the journal. */
#include "base/json.h"
#include "kernel/look.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "parts/contacts/contacts_state.h"
#include "parts/contacts/introductions.h"

/* Tells whether the current turn has already answered the request. */
static bool is_answered(const struct soc_host *host, uint64_t key)
{
    const struct soc_message *message = host->turn.sent.first;
    while (message != NULL && message->reply_to != key)
        message = message->next;
    return message != NULL;
}

/* Lends the open request that a response or a consent belongs to: the one it names,
 * otherwise the oldest between the two agents. */
static struct soc_introduction *find_answered(const struct soc_host *host,
                                              const struct soc_agent *from,
                                              const struct soc_agent *to,
                                              const struct soc_send *send, bool is_consent)
{
    struct soc_map *all = &soc_contacts_state(host)->introductions;
    uint64_t key = send->answers != NULL ? send->answers->key : send->answers_key;
    if (key != 0) {
        struct soc_introduction *named = soc_map_find_number(all, key);
        bool is_it = named != NULL && named->broker == from && named->requester == to &&
                     named->is_consent == is_consent && !is_answered(host, key);
        return is_it ? named : NULL;
    }
    struct soc_slice text = send->texts[SOC_TEXT_CORRELATION_ID];
    struct soc_introduction *oldest = NULL;
    struct soc_introduction *entry;
    size_t cursor = 0;
    while ((entry = soc_map_each(all, &cursor)) != NULL) {
        if (entry->broker != from || entry->requester != to || entry->is_consent != is_consent ||
            is_answered(host, entry->key))
            continue;
        if (text.data != NULL && entry->correlation_id != NULL &&
            soc_slice_equal(text, soc_slice_text(entry->correlation_id)))
            return entry;
        if (oldest == NULL)
            oldest = entry;
    }
    return oldest;
}

/* The policy may let a response pass that nobody asked for, or that answers a request
 * that is over. */
static int check_unsolicited(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                             struct soc_buf *error)
{
    if (host->hooks.takes_unsolicited(host->hooks.user, from, to))
        return SOC_OK;
    soc_refuse_named(error, "unsolicited_introduction",
                     "the receiver did not ask this agent for an introduction, or no longer waits "
                     "for one");
    error->length--;
    soc_json_put_text_member(error, "to", soc_agent_id(to));
    return soc_refusal_end(error, SOC_EREFUSED);
}

/* Only an existing agent that the sender knows, other than the receiver, can be
 * introduced. */
static int check_target(struct soc_host *host, const struct soc_agent *from,
                        const struct soc_agent *to, struct soc_slice id, struct soc_agent **target,
                        struct soc_buf *error)
{
    *target = soc_registry_find(host, id);
    if (*target == NULL)
        return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", id);
    if ((*target)->is_ending)
        return soc_refuse(error, SOC_ENOAGENT, "the agent is about to end; introduce another",
                          "agentId", id);
    if (*target == to)
        return soc_refuse_format(error, "an agent cannot be introduced to itself",
                                 SOC_SLICE("introduction_response"));
    if (*target != from && !from->is_remote && soc_contacts_find(&from->contacts, *target) == NULL)
        return soc_refuse(error, SOC_ENOCONTACT, "an agent can introduce only its contacts", "to",
                          id);
    return SOC_OK;
}

/* Lends the target's services: as the sender knows them, as the response says, or as
 * the target's role says. */
static struct soc_slice spec_of(const struct soc_agent *from, const struct soc_agent *target,
                                struct soc_slice said)
{
    const struct soc_contact *contact = soc_contacts_find(&from->contacts, target);
    if (target->role->interface_spec != NULL)
        return soc_slice_text(target->role->interface_spec);
    if (contact != NULL && contact->extra != NULL && contact->extra->interface_spec != NULL)
        return soc_slice_text(contact->extra->interface_spec);
    return said;
}

static void put_target(struct soc_buf *out, const struct soc_agent *from,
                       const struct soc_agent *target, struct soc_slice said)
{
    struct soc_slice spec = spec_of(from, target, said);
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", soc_agent_id(target));
    if (spec.data != NULL) {
        soc_json_put_name(out, "interface_spec");
        soc_buf_put_slice(out, spec);
    }
    soc_json_put_text_member(out, "role", soc_slice_text(target->role->name));
    soc_buf_put_byte(out, '}');
}

/* Appends the path to the target, nearest first; for a refusal, everyone who was asked. */
static void put_via(struct soc_buf *out, const struct soc_agent *from,
                    const struct soc_introduction *entry, const struct soc_agent *target)
{
    struct soc_buf rest = {0};
    const struct soc_contact *contact =
        target == NULL ? NULL : soc_contacts_find(&from->contacts, target);
    bool is_held = entry != NULL && entry->message != NULL;
    if (is_held && target == NULL)
        soc_introductions_put_asked(&rest, entry);
    else if (contact != NULL && contact->extra != NULL && contact->extra->via != NULL)
        soc_buf_put_text(&rest, contact->extra->via); /* how the sender got to know it */
    soc_introduction_extend(out, soc_agent_id(from),
                            rest.length == 0 ? (struct soc_slice){0} : soc_buf_slice(&rest),
                            (struct soc_slice){0});
    soc_buf_fini(&rest);
}

/* Sets one member of the payload in `*payload`. */
static void change(struct soc_buf *payload, const char *name, struct soc_slice value)
{
    struct soc_buf changed = {0};
    soc_json_put_changed(&changed, soc_buf_slice(payload), name, value);
    soc_buf_fini(payload);
    *payload = changed;
}

static int prepare_response(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                            const struct soc_introduction *entry, struct soc_send *send,
                            struct soc_buf *payload, struct soc_buf *error)
{
    struct soc_named named = soc_introduction_named(send->payload);
    struct soc_agent *target = NULL;
    int rc = entry == NULL ? check_unsolicited(host, from, to, error) : SOC_OK;
    if (rc == SOC_OK && named.id.data != NULL)
        rc = check_target(host, from, to, named.id, &target, error);
    else if (rc == SOC_OK && !named.is_refusal)
        rc =
            soc_refuse_format(error, "name the target_agent, or null and a reason if there is none",
                              SOC_SLICE("introduction_response"));
    if (rc < 0 || from->is_remote) /* its own host has checked and completed it */
        return rc;
    struct soc_buf value = {0};
    soc_buf_put_slice(payload, send->payload);
    if (!soc_slice_equal(named.given_by, SOC_SLICE("target_agent")))
        change(payload, named.given_by.data, (struct soc_slice){0});
    if (target != NULL)
        put_target(&value, from, target, named.spec);
    else
        soc_buf_put_text(&value, "null");
    change(payload, "target_agent", soc_buf_slice(&value));
    value.length = 0;
    put_via(&value, from, entry, target);
    change(payload, "via", soc_buf_slice(&value));
    soc_buf_fini(&value);
    send->payload = soc_buf_slice(payload);
    return SOC_OK;
}

/* A request that has passed too many agents ends with a refusal. */
static int check_hops(const struct soc_host *host, struct soc_slice via, struct soc_buf *error)
{
    struct soc_json_walk walk;
    uint32_t count = 0;
    soc_json_walk(&walk, via);
    while (soc_json_next(&walk))
        count++;
    if (count <= soc_contacts_state(host)->hops_max + 1) /* and the first requester */
        return SOC_OK;
    soc_refuse_named(error, "no_introduction",
                     "the request was passed on too often; decline it, with a reason");
    error->length--;
    soc_json_put_text_member(error, "reason", SOC_SLICE("the request was passed on too often"));
    soc_json_put_name(error, "via");
    soc_buf_put_slice(error, via);
    return soc_refusal_end(error, SOC_EREFUSED);
}

/* The sender's host alone says which path a request took: its first requester and everyone
 * who passed it on. */
static int prepare_request(const struct soc_host *host, const struct soc_agent *from,
                           struct soc_send *send, struct soc_buf *payload, struct soc_buf *error)
{
    const struct soc_message *cause = host->turn.cause;
    struct soc_buf via = {0};
    bool is_passed_on = cause != NULL && cause->type == soc_contacts_state(host)->request &&
                        cause->from != NULL && cause->to == from;
    if (send->payload.data[0] != '{' || from->is_remote)
        return SOC_OK;
    if (is_passed_on) {
        struct soc_slice way = soc_json_member(soc_message_payload(cause), "via");
        struct soc_slice first =
            way.data == NULL ? soc_agent_id(cause->from) : (struct soc_slice){0};
        soc_introduction_extend(&via, first, way, soc_agent_id(from));
    } else if (soc_json_member(send->payload, "via").data == NULL) {
        return SOC_OK;
    }
    int rc = is_passed_on ? check_hops(host, soc_buf_slice(&via), error) : SOC_OK;
    if (rc < 0) {
        soc_buf_fini(&via);
        return rc;
    }
    soc_json_put_changed(payload, send->payload, "via",
                         is_passed_on ? soc_buf_slice(&via) : (struct soc_slice){0});
    soc_buf_fini(&via);
    send->payload = soc_buf_slice(payload);
    return SOC_OK;
}

int soc_introductions_prepare(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                              const struct soc_symbol *type, struct soc_send *send,
                              struct soc_buf *payload, struct soc_buf *error)
{
    bool is_response = type == soc_contacts_state(host)->response;
    if (from != NULL && type == soc_contacts_state(host)->request)
        return prepare_request(host, from, send, payload, error);
    if (from == NULL || (!is_response && type != soc_contacts_state(host)->collaboration_response))
        return SOC_OK;
    const struct soc_introduction *entry = find_answered(host, from, to, send, !is_response);
    int rc = is_response ? prepare_response(host, from, to, entry, send, payload, error) : SOC_OK;
    if (rc == SOC_OK && entry != NULL && send->answers == NULL) {
        send->answers_key = entry->key;
        send->answers_ms = entry->time_ms;
    }
    return rc;
}

/* Appends why a reply introduces nobody: its text, or that the agent it names has ended. */
static void put_reason(struct soc_buf *out, struct soc_slice payload, bool has_named)
{
    static const char *const names[] = {"reason", "text"};
    struct soc_slice reason = {0};
    if (has_named)
        reason = SOC_SLICE("\"the agent that was introduced has ended\"");
    for (int i = 0; i < 2 && reason.data == NULL && payload.data[0] == '{'; i++)
        reason = soc_json_member(payload, names[i]);
    soc_json_put_name(out, "reason");
    soc_buf_put_slice(out, reason.data == NULL ? SOC_SLICE("\"\"") : reason);
}

void soc_introductions_put_answer(struct soc_host *host, const struct soc_message *reply,
                                  struct soc_buf *answer)
{
    struct soc_slice payload = soc_message_payload(reply);
    struct soc_named named = {0};
    if (reply->type == soc_contacts_state(host)->response)
        named = soc_introduction_named(payload);
    struct soc_agent *target = named.id.data == NULL ? NULL : soc_registry_find(host, named.id);
    const struct soc_contact *contact = target == NULL || target->is_ending
                                            ? NULL
                                            : soc_contacts_find(&reply->to->contacts, target);
    answer->length = 0;
    if (contact != NULL) {
        soc_buf_put_byte(answer, '[');
        soc_look_contact(host, contact, answer);
        soc_buf_put_byte(answer, ']');
        return;
    }
    soc_refuse_named(answer, "no_introduction", "no suitable agent is known; see the reason");
    answer->length--;
    put_reason(answer, payload, named.id.data != NULL);
    struct soc_slice via = soc_json_member(payload, "via");
    soc_json_put_name(answer, "via");
    if (via.data != NULL)
        soc_buf_put_slice(answer, via);
    else
        soc_introduction_extend(answer, soc_agent_id(reply->from), (struct soc_slice){0},
                                (struct soc_slice){0});
    soc_buf_put_byte(answer, '}');
}

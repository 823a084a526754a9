#include "parts/hosts/hosts_orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/agents.h"
#include "kernel/ending.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/notice.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/contacts/book.h"
#include "parts/group/broadcasts.h"
#include "parts/hosts/hosts_notify.h"
#include "parts/hosts/hosts_probe.h"
#include "parts/hosts/hosts_ring.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks_lookup.h"

/* ---- giving orders ---- */

/* Sends an order inside the running agent's turn. */
static int order(struct soc_host *host, struct soc_slice name, const char *type,
                 struct soc_slice payload, bool wants_reply, struct soc_message **message,
                 struct soc_buf *error)
{
    struct soc_buf to = {0};
    struct soc_send send = soc_hosts_order_of(soc_hosts_system_at(name, &to), type, payload);
    send.wants_reply = wants_reply;
    int rc = soc_router_send(host, host->turn.agent, &send, message, error);
    soc_buf_fini(&to);
    return rc;
}

/* An id that no host gives: it ends in a number of this host. */
static struct soc_slice make_id(struct soc_host *host, struct soc_slice role,
                                char out[SOC_ID_BYTES_MAX + 1])
{
    snprintf(out, SOC_ID_BYTES_MAX + 1, "%.*s_%" PRIu64, role.length > 40 ? 40 : (int)role.length,
             role.data, host->next_key++);
    return soc_slice_text(out);
}

static void put_flag(struct soc_buf *out, const char *name, bool is_set)
{
    if (!is_set)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_text(out, "true");
}

int soc_hosts_spawn(struct soc_host *host, const struct soc_hosts_birth *birth,
                    struct soc_message **message, struct soc_agent **child, struct soc_buf *error)
{
    char made[SOC_ID_BYTES_MAX + 1];
    struct soc_slice id = birth->id.data == NULL ? make_id(host, birth->role, made) : birth->id;
    struct soc_buf payload = {0};
    struct soc_buf address = {0};
    if (soc_map_find(&host->registry.peers, birth->host) == NULL)
        return soc_refuse(error, SOC_ENOHOST, NULL, "host", birth->host);
    if (!soc_id_is_valid(id))
        return soc_refuse(error, SOC_EBADID, NULL, "agentId", id);
    if (!soc_id_is_valid(birth->role))
        return soc_refuse(error, SOC_ENOROLE, NULL, "roleId", birth->role);
    int rc = soc_book_check_brief(host, host->turn.agent, birth->brief, error);
    if (rc < 0)
        return rc;
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "role", birth->role);
    soc_json_put_text_member(&payload, "id", id);
    put_flag(&payload, "external", birth->is_external);
    put_flag(&payload, "isolated",
             birth->is_isolated || soc_registry_isolates(host, host->turn.agent));
    put_flag(&payload, "ungranted", birth->denied & SOC_ISOLATED_UNGRANTED);
    put_flag(&payload, "unthinking", birth->denied & SOC_ISOLATED_UNTHINKING);
    soc_json_put_name(&payload, "task_brief");
    soc_buf_put_slice(&payload, birth->brief);
    soc_buf_put_byte(&payload, '}');
    rc = order(host, birth->host, "host_spawn", soc_buf_slice(&payload), true, message, error);
    soc_buf_put_slice(&address, id);
    soc_buf_put_byte(&address, '@');
    soc_buf_put_slice(&address, birth->host);
    if (rc == SOC_OK)
        *child = soc_registry_need_remote(host, soc_buf_slice(&address));
    soc_buf_fini(&address);
    soc_buf_fini(&payload);
    return rc;
}

/* Lends a child elsewhere of the running agent, and the parts of its address. */
static int find_child(struct soc_host *host, struct soc_slice id, struct soc_slice *local,
                      struct soc_slice *name, struct soc_buf *error)
{
    struct soc_agent *child = soc_registry_find(host, id);
    if (child == NULL || !child->is_remote || !soc_id_divide(id, local, name))
        return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", id);
    const struct soc_contact *known = soc_contacts_find(&host->turn.agent->contacts, child);
    if (known == NULL || known->source != SOC_SOURCE_CHILD)
        return soc_refuse(error, SOC_EFORBIDDEN,
                          "an agent on another host obeys its parent alone; ask the parent",
                          "agentId", id);
    return SOC_OK;
}

static void put_order(struct soc_buf *out, struct soc_slice id, struct soc_slice reason)
{
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "id", id);
    if (reason.data != NULL)
        soc_json_put_text_member(out, "reason", reason);
}

int soc_hosts_end_child(struct soc_host *host, struct soc_slice id, bool is_forced,
                        struct soc_slice reason, struct soc_buf *error)
{
    struct soc_buf payload = {0};
    struct soc_slice local;
    struct soc_slice name;
    struct soc_message *message;
    int rc = find_child(host, id, &local, &name, error);
    if (rc < 0)
        return rc;
    put_order(&payload, local, reason);
    put_flag(&payload, "force", is_forced);
    soc_buf_put_byte(&payload, '}');
    rc = order(host, name, "host_end", soc_buf_slice(&payload), false, &message, error);
    soc_buf_fini(&payload);
    return rc;
}

int soc_hosts_hold_child(struct soc_host *host, const struct soc_hold_order *hold,
                         struct soc_buf *answer)
{
    struct soc_buf payload = {0};
    struct soc_slice local;
    struct soc_slice name;
    struct soc_message *message;
    answer->length = 0;
    int rc = find_child(host, hold->id, &local, &name, answer);
    if (rc < 0)
        return rc;
    put_order(&payload, local, hold->reason);
    put_flag(&payload, "resume", hold->is_resume);
    put_flag(&payload, "subtree", hold->has_subtree);
    soc_buf_put_byte(&payload, '}');
    rc = order(host, name, "host_hold", soc_buf_slice(&payload), false, &message, answer);
    soc_buf_fini(&payload);
    if (rc < 0)
        return rc;
    soc_buf_put_text(answer, "[{\"count\":1");
    soc_json_put_text_member(answer, "id", hold->id);
    soc_buf_put_text(answer, "}]");
    return SOC_OK;
}

int soc_hosts_check_order(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    struct soc_slice local;
    struct soc_slice name;
    if (p->to != NULL && soc_registry_is_all(p->to) && !p->send.is_report)
        return soc_broadcasts_check(host, p->from, &p->send, error);
    if (p->to == NULL || !p->to->is_remote || p->send.is_formal ||
        !soc_id_divide(soc_agent_id(p->to), &local, &name) ||
        !soc_slice_equal(local, SOC_SLICE("system")))
        return SOC_OK;
    return soc_refuse(error, SOC_ENOAGENT, NULL, "agentId", soc_agent_id(p->to));
}

int soc_hosts_broadcast(struct soc_host *host, const struct soc_passage *p,
                        struct soc_message *message, struct soc_buf *error)
{
    const struct soc_hosts_peer *peer;
    int rc = SOC_OK;
    if (p->to != NULL || !p->send.is_everywhere)
        return SOC_OK;
    for (size_t cursor = 0;
         rc == SOC_OK && (peer = soc_map_each(&soc_hosts_state(host)->peers, &cursor)) != NULL;) {
        struct soc_buf to = {0};
        struct soc_message *copy;
        struct soc_send send = p->send;
        soc_buf_printf(&to, "All@%s", peer->name);
        send.to = soc_buf_slice(&to);
        send.type = soc_symbol_slice(p->type);
        send.payload = soc_message_payload(message);
        send.texts[SOC_TEXT_EXTERNAL_ID] = send.texts[SOC_TEXT_DEDUPE_KEY] = (struct soc_slice){0};
        send.is_everywhere = false;
        send.is_report = send.is_bare = true;
        if (soc_map_find(&host->registry.peers, soc_slice_text(peer->name)) != NULL)
            rc = soc_router_send(host, p->from, &send, &copy, error);
        soc_buf_fini(&to);
    }
    return rc;
}

void soc_hosts_ack(struct soc_host *host, const struct soc_message *message,
                   enum soc_outcome outcome)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    struct soc_slice local;
    struct soc_slice name;
    struct soc_buf payload = {0};
    if (id.data == NULL || !(message->flags & SOC_MESSAGE_REQUIRES_ACK) || message->from == NULL ||
        message->to == NULL || !message->from->is_remote ||
        !soc_id_divide(soc_agent_id(message->from), &local, &name))
        return;
    put_order(&payload, soc_agent_id(message->to), (struct soc_slice){0});
    soc_json_put_text_member(&payload, "message_id", id);
    soc_json_put_name(&payload, "outcome");
    soc_json_put_integer(&payload, outcome);
    soc_buf_put_byte(&payload, '}');
    soc_hosts_notify(host, name, "host_ack", soc_buf_slice(&payload));
    soc_buf_fini(&payload);
}

void soc_hosts_tell_begun(struct soc_host *host, const struct soc_message *message)
{
    struct soc_slice id = soc_message_text(message, SOC_TEXT_FOREIGN_ID);
    const struct soc_task *task = soc_tasks_find_key(host, message->key);
    struct soc_slice local;
    struct soc_slice name;
    struct soc_buf payload = {0};
    if (task == NULL || task->tries > 0 || id.data == NULL || message->from == NULL ||
        !message->from->is_remote || !soc_id_divide(soc_agent_id(message->from), &local, &name))
        return;
    put_order(&payload, soc_agent_id(task->owner), (struct soc_slice){0});
    soc_json_put_text_member(&payload, "message_id", id);
    soc_buf_put_byte(&payload, '}');
    soc_hosts_notify(host, name, "host_begun", soc_buf_slice(&payload));
    soc_buf_fini(&payload);
}

/* ---- obeying ---- */

/* An order as it came. */
struct given {
    struct soc_host *host;
    struct soc_hosts_peer *peer;
    struct soc_agent *from; /* NULL: its host itself */
    struct soc_slice payload;
    struct soc_slice id;
    struct soc_slice reason;
    struct soc_buf answer; /* members of the answer, or the error object */
};

static bool is_set(const struct given *given, const char *name)
{
    return soc_slice_equal(soc_json_member(given->payload, name), SOC_SLICE("true"));
}

/* Appends the address of an id of this host as a member. */
static void put_own(const struct soc_host *host, struct soc_buf *out, const char *name,
                    struct soc_slice id)
{
    struct soc_buf address = {0};
    soc_buf_printf(&address, "%.*s@%s", (int)id.length, id.data, host->registry.host_name);
    soc_json_put_text_member(out, name, soc_buf_slice(&address));
    soc_buf_fini(&address);
}

static int spawn(struct given *given)
{
    struct soc_host *host = given->host;
    struct soc_agent *child;
    struct soc_spawn draft = {
        .role = soc_json_plain_string(soc_json_member(given->payload, "role")),
        .id = given->id,
        .brief = soc_json_member(given->payload, "task_brief"),
        .is_external = is_set(given, "external"),
        .is_isolated = is_set(given, "isolated"),
        .denied = (is_set(given, "ungranted") ? SOC_ISOLATED_UNGRANTED : 0) |
                  (is_set(given, "unthinking") ? SOC_ISOLATED_UNTHINKING : 0),
    };
    if (given->from == NULL || draft.role.data == NULL ||
        soc_json_kind(draft.brief) != SOC_JSON_OBJECT)
        return soc_refuse(&given->answer, SOC_EBADMESSAGE, NULL, NULL, (struct soc_slice){0});
    soc_turn_begin(host, given->from, NULL);
    int rc = soc_agents_spawn(host, &draft, &child, &given->answer);
    if (rc < 0) {
        soc_turn_rollback(host);
        return rc;
    }
    soc_commit_turn(host);
    put_own(host, &given->answer, "id", soc_agent_id(child));
    soc_json_put_text_member(&given->answer, "roleId", soc_slice_text(child->role->id));
    soc_json_put_text_member(&given->answer, "roleName", soc_slice_text(child->role->name));
    return SOC_OK;
}

/* The agent that may give the order: the sender, or if its host speaks for one that has
 * ended, the parent of the child, which is of that host. */
static struct soc_agent *giver(const struct given *given)
{
    const struct soc_agent *child = soc_registry_find(given->host, given->id);
    if (given->from != NULL || child == NULL || child->parent == NULL || !child->parent->is_remote)
        return given->from;
    return soc_hosts_peer_of(given->host, child->parent) == given->peer ? child->parent : NULL;
}

static int end(struct given *given)
{
    struct soc_agent *agent = giver(given);
    bool is_forced = is_set(given, "force");
    if (agent == NULL)
        return soc_refuse(&given->answer, SOC_ENOAGENT, NULL, "agentId", given->id);
    soc_turn_begin(given->host, agent, NULL);
    int rc =
        soc_ending_terminate(given->host, given->id, &is_forced, given->reason, &given->answer);
    soc_commit_turn(given->host);
    return rc;
}

static int hold(struct given *given)
{
    struct soc_hold_order hold = {
        .id = given->id,
        .reason = given->reason,
        .is_resume = is_set(given, "resume"),
        .has_subtree = is_set(given, "subtree"),
    };
    const struct soc_agent *child = soc_registry_find(given->host, given->id);
    if (given->from == NULL || child == NULL || child->parent != given->from)
        return soc_refuse(&given->answer, SOC_EFORBIDDEN, NULL, "agentId", given->id);
    soc_turn_begin(given->host, given->from, NULL);
    int rc = soc_hold_order(given->host, &hold, &given->answer);
    soc_commit_turn(given->host);
    if (rc == SOC_OK)
        given->answer.length = 0;
    return rc;
}

/* Nobody waits for the child any more, and its parent no longer knows it. */
static int forget(struct given *given)
{
    struct soc_host *host = given->host;
    struct soc_slice name = soc_json_plain_string(soc_json_member(given->payload, "parent"));
    struct soc_agent *parent = name.data == NULL ? NULL : soc_registry_find_any(host, name);
    struct soc_buf address = {0};
    soc_buf_put_slice(&address, given->id);
    soc_buf_put_byte(&address, '@');
    soc_buf_put_text(&address, given->peer->name);
    struct soc_agent *child = soc_registry_need_remote(host, soc_buf_slice(&address));
    const struct soc_contact *known =
        parent == NULL ? NULL : soc_contacts_find(&parent->contacts, child);
    if (given->from == NULL && known != NULL && known->source == SOC_SOURCE_CHILD)
        soc_book_erase(host, parent, child);
    soc_buf_fini(&address);
    return SOC_OK;
}

bool soc_hosts_awaits_ack(struct soc_host *host, const struct soc_hosts_peer *peer, uint64_t key)
{
    const struct soc_agent *to = soc_acks_receiver(host, key);
    return to != NULL && to->is_remote && soc_hosts_peer_of(host, to) == peer;
}

/* What an agent of this host sent has ended at its receiver. */
static int note_ack(struct given *given)
{
    uint64_t key;
    int64_t outcome;
    struct soc_slice id = soc_json_plain_string(soc_json_member(given->payload, "message_id"));
    if (given->from != NULL || id.data == NULL || !soc_message_id_parse(id, &key) ||
        !soc_json_integer(soc_json_member(given->payload, "outcome"), &outcome) ||
        !soc_hosts_awaits_ack(given->host, given->peer, key))
        return SOC_OK;
    if (outcome == SOC_OUTCOME_PROCESSED)
        soc_acks_note_key(given->host, key, SOC_ACK_PROCESSED);
    else
        soc_acks_fail_key(given->host, key, (enum soc_outcome)outcome, (struct soc_slice){0});
    return SOC_OK;
}

/* A task that an agent of this host has given to one of the peer has begun there. */
static int note_begun(struct given *given)
{
    uint64_t key;
    struct soc_slice id = soc_json_plain_string(soc_json_member(given->payload, "message_id"));
    if (given->from != NULL || id.data == NULL || !soc_message_id_parse(id, &key))
        return SOC_OK;
    const struct soc_task *task = soc_tasks_find_key(given->host, key);
    if (task != NULL && task->owner->is_remote &&
        soc_hosts_peer_of(given->host, task->owner) == given->peer)
        soc_tasks_begin_remote(given->host, key);
    return SOC_OK;
}

static int pass_probe(struct given *given)
{
    if (given->from == NULL)
        soc_hosts_take_probe(given->host, given->peer, given->id, given->payload);
    return SOC_OK;
}

static int confirm_ring(struct given *given)
{
    if (given->from == NULL)
        soc_hosts_confirm_ring(given->host, soc_json_member(given->payload, "cycle"), false);
    return SOC_OK;
}

static int break_ring(struct given *given)
{
    if (given->from == NULL)
        soc_hosts_break_ring(given->host, given->id, soc_json_member(given->payload, "cycle"));
    return SOC_OK;
}

/* Sends the answer of a birth, or the refusal of any order, to the sender. */
static void answer(struct given *given, const struct soc_record_message *r, int rc)
{
    struct soc_buf payload = {0};
    if (given->from == NULL || (rc == SOC_OK && given->answer.length == 0)) {
        soc_buf_fini(&given->answer);
        return;
    }
    if (rc == SOC_OK)
        soc_buf_put_byte(&payload, '{');
    soc_buf_put(&payload, given->answer.data, given->answer.length - (rc < 0));
    soc_json_put_text_member(&payload, "message_id", r->foreign_id);
    if (rc < 0 && soc_json_member(soc_buf_slice(&given->answer), "to").data == NULL)
        put_own(given->host, &payload, "to", given->id);
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = soc_hosts_order_of(r->from, rc < 0 ? "delivery_failed" : "host_answer",
                                              soc_buf_slice(&payload));
    soc_notice_send(given->host, NULL, &send, "answer_failed");
    soc_buf_fini(&payload);
    soc_buf_fini(&given->answer);
}

bool soc_hosts_obey(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_agent *from,
                    const struct soc_record_message *r)
{
    static const struct {
        const char *type;
        int (*obey)(struct given *given);
    } orders[] = {{"host_spawn", spawn},        {"host_end", end},
                  {"host_hold", hold},          {"host_gone", forget},
                  {"host_ack", note_ack},       {"host_begun", note_begun},
                  {"host_probe", pass_probe},   {"host_probe_back", confirm_ring},
                  {"host_deadlock", break_ring}};
    struct given given = {
        .host = host,
        .peer = peer,
        .from = from,
        .payload = r->payload,
        .id = soc_json_plain_string(soc_json_member(r->payload, "id")),
        .reason = soc_json_plain_string(soc_json_member(r->payload, "reason")),
    };
    if (!soc_slice_equal(r->to, SOC_SLICE("system")))
        return false;
    int rc = soc_refuse(&given.answer, SOC_EBADMESSAGE, NULL, NULL, (struct soc_slice){0});
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (!(r->flags & SOC_MESSAGE_IS_FORMAL) || !soc_id_is_valid(given.id) ||
            !soc_slice_equal(r->type, soc_slice_text(orders[i].type)))
            continue;
        given.answer.length = 0;
        rc = orders[i].obey(&given);
    }
    answer(&given, r, rc);
    return true;
}

/* ---- what came of it ---- */

/* The child is born: its parent knows it, under the name of its role. */
static void add_child(struct soc_host *host, struct soc_agent *parent, struct soc_slice payload)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(payload, "id"));
    struct soc_slice role = soc_json_plain_string(soc_json_member(payload, "roleId"));
    struct soc_buf name = {0};
    struct soc_agent *child = id.data == NULL ? NULL : soc_registry_find(host, id);
    if (child != NULL && child->is_remote && role.data != NULL && soc_id_is_valid(role) &&
        soc_json_string(soc_json_member(payload, "roleName"), &name) && name.length > 0) {
        struct soc_contact_extra *extra = soc_alloc_zero(sizeof(*extra));
        child->role = soc_registry_remote_role(host, role, soc_buf_slice(&name));
        soc_text_set(&extra->role, soc_buf_slice(&name));
        soc_book_write(host, parent, child, SOC_SOURCE_CHILD, soc_host_now(host), extra);
    }
    soc_buf_fini(&name);
}

void soc_hosts_take_answer(struct soc_host *host, struct soc_message *message)
{
    static const char *const members[] = {"id", "roleId", "roleName"};
    struct soc_slice payload = soc_message_payload(message);
    struct soc_request *request = soc_request_find(host, message->reply_to);
    if (!message->to->is_ended)
        add_child(host, message->to, payload);
    if (request == NULL || request->from != message->to)
        return;
    struct soc_buf out = {0};
    soc_buf_put_text(&out, "[{");
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        soc_json_put_name(&out, members[i]);
        soc_buf_put_slice(&out, soc_json_member(payload, members[i]));
    }
    soc_buf_put_text(&out, "}]");
    soc_request_answer(host, request, soc_buf_slice(&out));
    soc_buf_fini(&out);
}

static void end_children(struct soc_host *host, const struct soc_agent *agent)
{
    for (uint32_t i = 0; i < agent->contacts.count; i++) {
        const struct soc_contact *contact = &agent->contacts.items[i];
        struct soc_slice local;
        struct soc_slice name;
        struct soc_buf payload = {0};
        if (contact->source != SOC_SOURCE_CHILD || !contact->peer->is_remote ||
            !soc_id_divide(soc_agent_id(contact->peer), &local, &name))
            continue;
        put_order(&payload, local, soc_slice_text(agent->end_reason));
        soc_buf_put_byte(&payload, '}');
        soc_hosts_notify(host, name, "host_end", soc_buf_slice(&payload));
        soc_buf_fini(&payload);
    }
}

void soc_hosts_agent_ended(struct soc_host *host, struct soc_agent *agent)
{
    struct soc_slice parent;
    struct soc_slice name;
    struct soc_buf payload = {0};
    end_children(host, agent);
    if (agent->parent == NULL || !agent->parent->is_remote ||
        !soc_id_divide(soc_agent_id(agent->parent), &parent, &name))
        return;
    put_order(&payload, soc_agent_id(agent), (struct soc_slice){0});
    soc_json_put_text_member(&payload, "parent", parent);
    soc_buf_put_byte(&payload, '}');
    soc_hosts_notify(host, name, "host_gone", soc_buf_slice(&payload));
    soc_buf_fini(&payload);
}

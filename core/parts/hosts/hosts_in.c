/* Hosts, input: items of other hosts, and reports about what could not be delivered. */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/notice.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/transit.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/trace.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/hosts/hosts_orders.h"
#include "parts/hosts/hosts_state.h"
#include "parts/tasks/tasks_lookup.h"

#define HAS_DEAD_LETTER "the request could not be handled; its host has the dead letter"

/* ---- reports ---- */

/* Sends { error, message, message_id, to } to the sender of a message from elsewhere. `error`:
 * the error object. `key` is that of the message if it is a request; 0: it is not. */
static void report(struct soc_host *host, struct soc_slice sender, struct soc_slice id,
                   struct soc_slice to, struct soc_slice error, uint64_t key)
{
    struct soc_buf payload = {0};
    soc_buf_put_slice(&payload, soc_slice(error.data, error.length - 1));
    soc_json_put_text_member(&payload, "message_id", id);
    if (soc_json_member(error, "to").data == NULL)
        soc_json_put_text_member(&payload, "to", to);
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = {
        .to = sender,
        .type = SOC_SLICE("delivery_failed"),
        .payload = soc_buf_slice(&payload),
        .is_bare = true,
        .answers_key = key,
        .is_late = key != 0,
    };
    soc_notice_send(host, NULL, &send, "report_failed");
    soc_buf_fini(&payload);
}

void soc_hosts_report(struct soc_host *host, const struct soc_message *message,
                      enum soc_outcome outcome)
{
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_buf error = {0};
    if (!(message->flags & SOC_MESSAGE_WANTS_REPLY) || soc_transit_replies(host, message->key) ||
        (outcome == SOC_OUTCOME_CANCELLED && soc_tasks_opens(host, message)))
        return; /* the result of a cancelled task says more */
    soc_envelope_id(id, message);
    if (outcome == SOC_OUTCOME_EXPIRED)
        soc_refuse(&error, SOC_EEXPIRED, NULL, NULL, (struct soc_slice){0});
    else
        soc_refuse(&error, SOC_ERECEIVER, HAS_DEAD_LETTER, NULL, (struct soc_slice){0});
    soc_hosts_note_reply(host, message->key);
    report(host, soc_agent_id(message->from), soc_slice(id, sizeof(id)), soc_agent_id(message->to),
           soc_buf_slice(&error), message->key);
    soc_buf_fini(&error);
}

void soc_hosts_tell_askers(struct soc_host *host, const struct soc_agent *agent)
{
    struct soc_map *map = &soc_hosts_state(host)->asked;
    struct soc_hosts_asked *asked;
    struct soc_buf error = {0};
    soc_refuse(&error, SOC_ERECEIVER, NULL, NULL, (struct soc_slice){0});
    for (size_t cursor = 0; (asked = soc_map_each(map, &cursor)) != NULL;) {
        if (asked->to != agent || !asked->is_open || soc_transit_replies(host, asked->key))
            continue;
        asked->is_open = false;
        report(host, soc_agent_id(asked->from), soc_slice(asked->id, SOC_MESSAGE_ID_BYTES),
               soc_agent_id(agent), soc_buf_slice(&error), asked->key);
    }
    soc_buf_fini(&error);
}

/* A child that was not born had been given a task. */
static void fail_child(struct soc_host *host, const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    struct soc_slice id = soc_json_plain_string(soc_json_member(payload, "to"));
    const struct soc_agent *child = id.data == NULL ? NULL : soc_registry_find(host, id);
    bool is_there = soc_slice_equal(soc_json_plain_string(soc_json_member(payload, "error")),
                                    soc_slice_text(soc_error_name(SOC_EEXISTS)));
    if (child != NULL && child->is_remote && !is_there &&
        soc_slice_equal(soc_slice_text(child->role->id), SOC_SLICE("unknown")))
        soc_tasks_fail_remote(host, child, 0, payload);
}

bool soc_hosts_take_report(struct soc_host *host, struct soc_message *message)
{
    const struct soc_hosts *hosts = soc_hosts_state(host);
    struct soc_buf error = {0};
    struct soc_buf text = {0};
    if (message->from != NULL || soc_message_text(message, SOC_TEXT_FOREIGN_ID).data == NULL)
        return false;
    if (message->type == hosts->answer) {
        soc_hosts_take_answer(host, message);
        soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
        return true;
    }
    if (message->type != hosts->failed)
        return false;
    struct soc_slice payload = soc_message_payload(message);
    if (message->flags & SOC_MESSAGE_IS_FORMAL)
        fail_child(host, message);
    soc_json_string(soc_json_member(payload, "error"), &error);
    soc_json_string(soc_json_member(payload, "message"), &text);
    soc_request_fail(host, message->reply_to, soc_buf_text(&error), soc_buf_text(&text),
                     soc_json_member(payload, "reason"));
    soc_router_finish(host, message, SOC_OUTCOME_PROCESSED, (struct soc_slice){0});
    soc_buf_fini(&error);
    soc_buf_fini(&text);
    return true;
}

/* ---- items ---- */

/* An item as it was read; its texts are lent by the item. */
struct arrival {
    struct soc_record_message message;
    struct soc_record_role role; /* of the sender; absent: not known */
};

/* Tells whether the sender is an agent of that peer, or its host. */
static bool is_of_peer(struct soc_slice from, const struct soc_hosts_peer *peer)
{
    struct soc_slice agent;
    struct soc_slice name;
    return soc_slice_equal(from, SOC_SLICE("system")) ||
           (soc_id_divide(from, &agent, &name) &&
            soc_slice_equal(name, soc_slice_text(peer->name)));
}

static bool read_item(struct soc_slice item, const struct soc_hosts_peer *peer,
                      struct arrival *arrival)
{
    struct soc_record record;
    uint64_t key;
    if (soc_record_next(&item, &record) != 1 || record.type != SOC_RECORD_MESSAGE)
        return false;
    arrival->message = record.message;
    arrival->role = (struct soc_record_role){0};
    if (soc_record_next(&item, &record) == 1 && record.type == SOC_RECORD_ROLE)
        arrival->role = record.role;
    const struct soc_record_message *r = &arrival->message;
    return is_of_peer(r->from, peer) && soc_id_is_valid(r->to) && r->type.length > 0 &&
           r->type.length <= SOC_TYPE_BYTES_MAX && r->priority < SOC_PRIORITY_COUNT &&
           soc_message_id_parse(r->foreign_id, &key) &&
           r->correlation_id.length <= SOC_KEY_BYTES_MAX &&
           r->external_id.length <= SOC_KEY_BYTES_MAX &&
           r->traceparent.length <= SOC_KEY_BYTES_MAX && soc_json_check(r->payload, NULL) == SOC_OK;
}

/* Gives the proxy the role that its host says it has. */
static void set_role(struct soc_host *host, struct soc_agent *proxy,
                     const struct soc_record_role *r)
{
    if (r->id.length == 0 || r->name.length == 0 || !soc_id_is_valid(r->id) ||
        (soc_slice_equal(r->id, soc_slice_text(proxy->role->id)) &&
         soc_slice_equal(r->name, soc_slice_text(proxy->role->name))))
        return;
    proxy->role = soc_registry_remote_role(host, r->id, r->name);
}

static bool is_result(struct soc_slice type)
{
    return soc_slice_equal(type, SOC_SLICE("result")) ||
           soc_slice_equal(type, SOC_SLICE("task_complete"));
}

/* Addresses an answer: `foreign_reply` is an id of this host. A result also answers its task,
 * whatever its host remembers. */
static void set_answered(struct soc_host *host, const struct soc_record_message *r,
                         struct soc_send *send)
{
    const struct soc_task *task = NULL;
    if (is_result(r->type) && r->task_id.data != NULL &&
        !soc_slice_equal(r->from, SOC_SLICE("system")))
        task = soc_tasks_find(host, soc_registry_need(host, r->from), r->task_id);
    if (task != NULL) {
        send->answers_key = task->key;
        send->answers_ms = task->opened_ms;
        return;
    }
    uint64_t key;
    struct soc_slice id = r->foreign_reply;
    struct soc_slice named = {0};
    if (soc_slice_equal(r->type, SOC_SLICE("delivery_failed")) ||
        soc_slice_equal(r->type, SOC_SLICE("host_answer")))
        named = soc_json_plain_string(soc_json_member(r->payload, "message_id"));
    if (named.data != NULL)
        id = named;
    if (id.data == NULL || !soc_message_id_parse(id, &key) || key == 0 || key >= host->next_key ||
        (soc_message_id_host(key) != soc_message_id_host(host->next_key) &&
         soc_message_id_host(key) != 0)) /* 0: sent before it had a number */
        return;
    send->answers_key = key;
    send->answers_ms = soc_message_id_time(id);
    /* An answer to an order is the business of this part, whoever waits for it. */
    send->is_late = r->flags & SOC_MESSAGE_IS_REPLY || (named.data != NULL && send->is_formal);
}

/* Fills in what is left of the times; a time that is over stays over. */
static void set_times(struct soc_host *host, const struct soc_record_message *r, int64_t ahead_ms,
                      struct soc_send *send)
{
    int64_t shared_ms = soc_host_now(host) + ahead_ms;
    if (r->expires_ms != 0) {
        int64_t left_ms = (int64_t)r->expires_ms - shared_ms;
        send->ttl_ms = left_ms > 0 ? left_ms : -1;
    }
    if (r->deadline_ms != 0)
        send->deadline_ms = (int64_t)r->deadline_ms - shared_ms + soc_clock_date(&host->clock);
}

static struct soc_send send_of(struct soc_host *host, const struct soc_record_message *r,
                               int64_t ahead_ms)
{
    struct soc_send send = {
        .to = r->to,
        .type = r->type,
        .payload = r->payload,
        .priority = (enum soc_priority)r->priority,
        .has_priority = true,
        .requires_ack = (r->flags & SOC_MESSAGE_REQUIRES_ACK) != 0,
        .has_requires_ack = true,
        .wants_reply = (r->flags & SOC_MESSAGE_WANTS_REPLY) != 0,
        .is_formal = (r->flags & SOC_MESSAGE_IS_FORMAL) != 0,
        .is_report = true, /* its own host has asked the contacts policy */
        .is_bare = true,
        .hops = (uint32_t)r->hops,
    };
    send.texts[SOC_TEXT_TASK_ID] = r->task_id;
    send.texts[SOC_TEXT_CORRELATION_ID] = r->correlation_id;
    send.texts[SOC_TEXT_EXTERNAL_ID] = r->external_id;
    send.texts[SOC_TEXT_TRACEPARENT] = r->traceparent;
    send.texts[SOC_TEXT_FOREIGN_ID] = r->foreign_id;
    set_times(host, r, ahead_ms, &send);
    set_answered(host, r, &send);
    return send;
}

/* A message that is refused is reported to its sender, unless it is such a report. */
static void refuse(struct soc_host *host, struct soc_agent *from,
                   const struct soc_record_message *r, struct soc_slice error)
{
    soc_trace_event(host, SOC_LOG_WARN, "remote_refused", from, error);
    if (from != NULL)
        report(host, r->from, r->foreign_id, r->to, error, 0);
}

/* Tells whether it reports that the peer refused a message whose sender waits for an ack of it,
 * and ends that wait. */
static bool fails_ack(struct soc_host *host, const struct soc_hosts_peer *peer,
                      const struct soc_record_message *r)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(r->payload, "message_id"));
    uint64_t key;
    return soc_slice_equal(r->type, SOC_SLICE("delivery_failed")) &&
           soc_slice_equal(r->from, SOC_SLICE("system")) && id.data != NULL &&
           soc_message_id_parse(id, &key) && soc_hosts_awaits_ack(host, peer, key) &&
           soc_acks_refuse_key(host, key, r->payload);
}

/* Tells whether it reports that a task was refused, and fails the task: its assigner hears of it
 * by the result. */
static bool fails_task(struct soc_host *host, const struct soc_hosts_peer *peer,
                       const struct soc_record_message *r)
{
    struct soc_slice id = soc_json_plain_string(soc_json_member(r->payload, "message_id"));
    struct soc_slice to = soc_json_plain_string(soc_json_member(r->payload, "to"));
    struct soc_buf address = {0};
    uint64_t key;
    if (!soc_slice_equal(r->type, SOC_SLICE("delivery_failed")) ||
        !soc_slice_equal(r->from, SOC_SLICE("system")) || id.data == NULL ||
        !soc_message_id_parse(id, &key) || key == 0 || !soc_id_is_valid(to))
        return false;
    soc_buf_printf(&address, "%.*s@%s", (int)to.length, to.data, peer->name);
    bool is_told = soc_tasks_fail_remote(
        host, soc_registry_need_remote(host, soc_buf_slice(&address)), key, r->payload);
    soc_buf_fini(&address);
    return is_told;
}

/* Tells whether a host says that a task of one of its agents has failed or was cancelled, though
 * the agent did not, and ends the task here. */
static bool ends_task(struct soc_host *host, struct soc_hosts_peer *peer,
                      const struct soc_record_message *r)
{
    uint64_t key;
    if (!is_result(r->type) || !soc_slice_equal(r->from, SOC_SLICE("system")) ||
        r->foreign_reply.data == NULL || !soc_message_id_parse(r->foreign_reply, &key))
        return false;
    const struct soc_task *task = soc_tasks_find_key(host, key);
    struct soc_slice error = soc_json_member(r->payload, "error");
    if (task == NULL)
        return soc_tasks_is_over(host, key); /* its assigner knows: by a reply, or ended it */
    if (!task->owner->is_remote || soc_hosts_peer_of(host, task->owner) != peer)
        return false;
    if (soc_slice_equal(soc_json_plain_string(soc_json_member(r->payload, "status")),
                        SOC_SLICE("cancelled")))
        return soc_tasks_note_cancelled(host, key, error);
    struct soc_buf reason = {0};
    soc_buf_put_text(&reason, "{\"error\":");
    soc_buf_put_slice(&reason, error.data == NULL ? SOC_SLICE("\"receiver_failed\"") : error);
    soc_buf_put_byte(&reason, '}');
    soc_tasks_fail_remote(host, task->owner, key, soc_buf_slice(&reason));
    soc_request_fail(host, key, soc_error_name(SOC_ERECEIVER), HAS_DEAD_LETTER,
                     soc_buf_slice(&reason));
    soc_buf_fini(&reason);
    return true;
}

/* Tells whether the host of the assigner says that a task is cancelled, and cancels it here: its
 * owner hears of it from this host. */
static bool cancels(struct soc_host *host, const struct soc_record_message *r)
{
    const struct soc_agent *owner = soc_registry_find(host, r->to);
    return r->flags & SOC_MESSAGE_IS_FORMAL && soc_slice_equal(r->type, SOC_SLICE("abort")) &&
           r->task_id.data != NULL && owner != NULL &&
           soc_tasks_cancel_remote(host, owner, r->task_id, soc_json_member(r->payload, "reason"));
}

/* Tells whether it is the first task of an agent that was to be born with it, and was not; its
 * id may be that of another agent. Such a message names the order for the birth. */
static bool is_for_unborn(struct soc_host *host, const struct soc_agent *from,
                          struct soc_record_message *r)
{
    if (r->flags & SOC_MESSAGE_IS_REPLY || r->foreign_reply.data == NULL ||
        !soc_slice_equal(r->type, SOC_SLICE("task_assignment")))
        return false;
    const struct soc_agent *to = soc_registry_find_any(host, r->to);
    r->foreign_reply = (struct soc_slice){0};
    return to == NULL || to->parent == NULL || to->parent != from;
}

/* Asks the hosts policy about what is no answer. */
static bool is_accepted(struct soc_host *host, const struct soc_record_message *r,
                        struct soc_buf *error)
{
    struct soc_buf said = {0};
    struct soc_buf to = {0};
    if (host->hooks.accepts == NULL || r->flags & SOC_MESSAGE_IS_REPLY ||
        soc_slice_equal(r->from, SOC_SLICE("system")))
        return true;
    soc_buf_printf(&to, "%.*s@%s", (int)r->to.length, r->to.data, host->registry.host_name);
    bool is = host->hooks.accepts(host->hooks.user, r->from, soc_buf_slice(&to), r->type, &said);
    if (!is) {
        soc_refusal_begin_said(error, SOC_EREFUSED, "the policy hosts of that host refused this",
                               soc_buf_slice(&to), soc_buf_slice(&said));
        soc_refusal_end(error, SOC_EREFUSED);
    }
    soc_buf_fini(&said);
    soc_buf_fini(&to);
    return is;
}

void soc_hosts_take(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice item,
                    int64_t ahead_ms)
{
    struct arrival arrival;
    struct soc_message *message;
    struct soc_buf error = {0};
    if (item.length == 0)
        return;
    if (!read_item(item, peer, &arrival)) {
        soc_buf_put_text(&error, "{\"error\":\"invalid_message_format\"}");
        soc_trace_event(host, SOC_LOG_ERROR, "remote_refused", NULL, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return;
    }
    struct soc_agent *from = soc_slice_equal(arrival.message.from, SOC_SLICE("system"))
                                 ? NULL
                                 : soc_registry_need_remote(host, arrival.message.from);
    if (from != NULL)
        set_role(host, from, &arrival.role);
    if (!is_accepted(host, &arrival.message, &error)) {
        refuse(host, from, &arrival.message, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return;
    }
    bool is_awaited = fails_ack(host, peer, &arrival.message);
    if (fails_task(host, peer, &arrival.message) || is_awaited ||
        ends_task(host, peer, &arrival.message) || cancels(host, &arrival.message) ||
        soc_hosts_obey(host, peer, from, &arrival.message))
        return;
    if (is_for_unborn(host, from, &arrival.message)) {
        soc_refuse(&error, SOC_ENOAGENT, NULL, "agentId", arrival.message.to);
        refuse(host, from, &arrival.message, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return;
    }
    struct soc_send send = send_of(host, &arrival.message, ahead_ms);
    soc_turn_begin(host, from, NULL);
    int rc = soc_router_send(host, from, &send, &message, &error);
    if (rc != SOC_OK) {
        soc_turn_rollback(host);
        if (rc < 0)
            refuse(host, from, &arrival.message, soc_buf_slice(&error));
        soc_buf_fini(&error);
        return;
    }
    soc_hosts_remember(host, message);
    if (message->to != NULL)
        soc_map_put(&peer->known, soc_agent_id(message->to), message->to);
    soc_commit_turn(host);
    soc_buf_fini(&error);
}

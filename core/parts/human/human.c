#include "parts/human/human.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/turn.h"
#include "kernel/turns/waiting.h"
#include "parts/human/human_state.h"
#include "parts/tasks/tasks_lookup.h"

void soc_human_put_id(struct soc_buf *out, const char *name, int64_t time_ms, uint64_t key)
{
    char id[SOC_ITEM_ID_BYTES];
    soc_item_id_format(id, time_ms, key);
    soc_json_put_text_member(out, name, soc_slice(id, sizeof(id)));
}

size_t soc_human_count(const struct soc_host *host)
{
    return soc_human_state(host)->inbox.open.count;
}

/* Records an activity event about an item with one extra text member. */
static void put_event(struct soc_host *host, const char *event, const struct soc_item *item,
                      const char *name, struct soc_slice text)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_human_put_id(&detail, "item_id", item->time_ms, item->key);
    soc_json_put_text_member(&detail, name, text);
    soc_buf_put_byte(&detail, '}');
    struct soc_record record = {.type = SOC_RECORD_EVENT};
    record.event = (struct soc_record_event){
        .time_ms = (uint64_t)soc_host_now(host),
        .event = soc_slice_text(event),
        .agent = soc_agent_id(item->agent),
        .task_id = soc_slice_text(item->task_id),
        .correlation_id = soc_slice_text(item->correlation_id),
        .detail = soc_buf_slice(&detail),
    };
    soc_batch_put(host, &record);
    soc_buf_fini(&detail);
}

/* Logs what happened to an item; `decision` may be absent. */
static void trace_item(struct soc_host *host, const char *event, const struct soc_item *item,
                       const char *decision)
{
    struct soc_buf detail = {0};
    soc_buf_put_byte(&detail, '{');
    soc_human_put_id(&detail, "item_id", item->time_ms, item->key);
    soc_json_put_text_member(&detail, "title", soc_slice_text(item->title));
    soc_json_put_text_member(&detail, "decision", soc_slice_text(decision));
    soc_buf_put_byte(&detail, '}');
    soc_trace(host, event, item->agent, soc_buf_slice(&detail), "%s%s%s", item->title,
              decision == NULL ? "" : ": ", decision == NULL ? "" : decision);
    soc_buf_fini(&detail);
}

/* Opens the item of the record; lends it. Live code and recovery both use this. */
static struct soc_item *open_item(struct soc_host *host, const struct soc_record_item *record,
                                  struct soc_agent *agent)
{
    struct soc_item *item = soc_item_new(record->key, (int64_t)record->time_ms, agent);
    item->priority = (enum soc_priority)record->priority;
    item->deadline_ms = (int64_t)record->deadline_ms;
    soc_text_set(&item->title, record->title);
    soc_text_set(&item->body, record->body);
    soc_text_set(&item->options, record->options);
    soc_text_set(&item->task_id, record->task_id);
    soc_text_set(&item->correlation_id, record->correlation_id);
    soc_inbox_add(&soc_human_state(host)->inbox, item);
    return item;
}

/* Ends the item of the record; the caller owns the result. NULL: recovery did not load
 * the item because it was over. Live code and recovery both use this. */
static struct soc_item *end_item(struct soc_host *host, const struct soc_record_item_end *record)
{
    return soc_inbox_end(&soc_human_state(host)->inbox, record->key,
                         (enum soc_decision)record->decision);
}

static void settle_item(struct soc_host *host, struct soc_undo *undo)
{
    const struct soc_item *item = undo->data;
    trace_item(host, "escalation", item, NULL);
}

static void take_back_item(struct soc_host *host, struct soc_undo *undo)
{
    const struct soc_item *item = undo->data;
    soc_item_free(soc_inbox_take(&soc_human_state(host)->inbox, item->key));
}

const struct soc_item *soc_human_escalate(struct soc_host *host,
                                          const struct soc_escalation *escalation)
{
    assert(host->turn.is_open && host->turn.agent != NULL);
    struct soc_agent *agent = host->turn.agent;
    const struct soc_message *cause = host->turn.cause;
    int64_t now_ms = soc_host_now(host);
    char id[SOC_MESSAGE_ID_BYTES];
    struct soc_record record = {.type = SOC_RECORD_ITEM};
    record.item = (struct soc_record_item){
        .key = host->next_key++,
        .time_ms = (uint64_t)now_ms,
        .priority = escalation->priority,
        .agent = soc_agent_id(agent),
        .title = escalation->title,
        .body = escalation->body,
        .options = escalation->options,
    };
    if (escalation->timeout_ms >= 0)
        record.item.deadline_ms =
            (uint64_t)(now_ms + (escalation->timeout_ms > 0 ? escalation->timeout_ms : 1));
    if (cause != NULL) { /* inherited as by any message sent in this turn */
        record.item.task_id = soc_message_text(cause, SOC_TEXT_TASK_ID);
        record.item.correlation_id = soc_envelope_chain(cause, id);
    }
    soc_batch_put(host, &record);
    struct soc_item *item = open_item(host, &record.item, agent);
    put_event(host, "escalation", item, "title", escalation->title);
    static const struct soc_undo_ops ops = {.roll_back = take_back_item, .commit = settle_item};
    soc_turn_note(host, (struct soc_undo){.ops = &ops, .data = item});
    struct soc_buf shown = {0};
    soc_human_look_item(host, item, &shown);
    soc_egress_print(host, SOC_SLICE("inbox"), soc_agent_id(item->agent), soc_buf_slice(&shown));
    soc_buf_fini(&shown);
    return item;
}

struct soc_wait soc_human_wait(const struct soc_host *host, const struct soc_item *item,
                               int64_t timeout_ms)
{
    return (struct soc_wait){
        .kind = SOC_WAIT_HUMAN,
        .request_key = item->key,
        .request_ms = item->time_ms,
        .on = host->registry.user,
        .timeout_ms = timeout_ms,
        .deadline_ms = item->deadline_ms,
    };
}

/* Lends the activation that waits for the item. NULL: it timed out, failed or never
 * waited. */
static struct soc_activation *waiter_of(const struct soc_item *item)
{
    struct soc_activation *activation = item->agent->activation;
    bool is_waiting = activation != NULL && activation->state == SOC_ACTIVATION_WAITING &&
                      activation->wait.kind == SOC_WAIT_HUMAN &&
                      activation->wait.request_key == item->key;
    return is_waiting ? activation : NULL;
}

static int refuse_verdict(struct soc_buf *error, const char *sentence, const char *member)
{
    return soc_refuse(error, SOC_EINVAL, sentence, "member", soc_slice_text(member));
}

/* Lends the option that `choice` means: the same JSON, or a text that reads like it. Absent
 * if there is none. */
static struct soc_slice find_option(const struct soc_item *item, struct soc_slice choice)
{
    struct soc_buf text = {0};
    struct soc_slice found = {0};
    struct soc_json_walk walk;
    bool is_text = soc_json_kind(choice) == SOC_JSON_STRING;
    if (is_text)
        soc_json_string(choice, &text);
    soc_json_walk(&walk, soc_slice_text(item->options == NULL ? "[]" : item->options));
    while (found.data == NULL && soc_json_next(&walk))
        if (soc_slice_equal(walk.value, choice) ||
            (is_text && soc_slice_equal(walk.value, soc_buf_slice(&text))))
            found = walk.value;
    soc_buf_fini(&text);
    return found;
}

/* Replaces the choice of the verdict by the option it means. */
static int check_choice(const struct soc_item *item, struct soc_verdict *verdict,
                        struct soc_buf *error)
{
    if (verdict->choice.data == NULL)
        return SOC_OK;
    if (soc_decision_parse(verdict->decision) == SOC_DECISION_REJECT)
        return refuse_verdict(error, "choice cannot be used with reject", "choice");
    struct soc_slice option = find_option(item, verdict->choice);
    if (option.data != NULL) {
        verdict->choice = option;
        return SOC_OK;
    }
    if (item->options == NULL)
        return refuse_verdict(error, "the item has no options to choose from", "choice");
    soc_refusal_begin(error, SOC_EINVAL, "choice must be one of the item's options");
    soc_json_put_text_member(error, "member", SOC_SLICE("choice"));
    soc_json_put_name(error, "options");
    soc_buf_put_text(error, item->options);
    return soc_refusal_end(error, SOC_EINVAL);
}

/* Finds the open item of the verdict and validates the rest. */
static int check_verdict(struct soc_host *host, struct soc_verdict *verdict, struct soc_item **item,
                         struct soc_buf *error)
{
    uint64_t key;
    if (!soc_item_id_parse(verdict->item_id, &key))
        return soc_refuse(error, SOC_ENOITEM, NULL, "item_id", verdict->item_id);
    if (verdict->decision.data == NULL && verdict->choice.data != NULL)
        verdict->decision = SOC_SLICE("approve");
    enum soc_decision decision = soc_decision_parse(verdict->decision);
    if (decision == SOC_DECISION_NONE)
        return refuse_verdict(error, "decision must be approve, modify or reject", "decision");
    struct soc_slice changes = verdict->changes;
    if (changes.data != NULL && soc_json_kind(changes) != SOC_JSON_OBJECT &&
        soc_json_kind(changes) != SOC_JSON_ARRAY)
        return refuse_verdict(error, "changes must be an object or a list", "changes");
    if (changes.data == NULL && decision == SOC_DECISION_MODIFY)
        return refuse_verdict(error, "modify needs changes", "changes");
    if (changes.data != NULL && decision != SOC_DECISION_MODIFY)
        return refuse_verdict(error, "changes are allowed only with modify", "changes");
    *item = soc_inbox_find(&soc_human_state(host)->inbox, key);
    if (*item != NULL && !soc_item_id_is(verdict->item_id, (*item)->time_ms, key))
        return soc_refuse(error, SOC_ENOITEM, NULL, "item_id", verdict->item_id);
    if (*item != NULL)
        return check_choice(*item, verdict, error);
    decision = soc_inbox_decision(&soc_human_state(host)->inbox, key);
    if (decision == SOC_DECISION_NONE || decision == SOC_DECISION_WITHDRAWN)
        return soc_refuse(error, decision == SOC_DECISION_NONE ? SOC_ENOITEM : SOC_EWITHDRAWN, NULL,
                          "item_id", verdict->item_id);
    char sentence[96];
    snprintf(sentence, sizeof(sentence), "the item is already decided (%s)",
             soc_decision_name(decision));
    soc_refusal_begin(error, SOC_EDECIDED, sentence);
    soc_json_put_text_member(error, "item_id", verdict->item_id);
    soc_json_put_text_member(error, "decision", soc_slice_text(soc_decision_name(decision)));
    return soc_refusal_end(error, SOC_EDECIDED);
}

/* Appends { changes?, choice?, comment?, decision, item_id? }. */
static void put_verdict(struct soc_buf *out, const struct soc_verdict *verdict, bool has_id)
{
    soc_buf_put_byte(out, '{');
    if (verdict->changes.data != NULL) {
        soc_json_put_name(out, "changes");
        soc_buf_put_slice(out, verdict->changes);
    }
    if (verdict->choice.data != NULL) {
        soc_json_put_name(out, "choice");
        soc_buf_put_slice(out, verdict->choice);
    }
    soc_json_put_text_member(out, "comment", verdict->comment);
    soc_json_put_text_member(out, "decision", verdict->decision);
    if (has_id)
        soc_json_put_text_member(out, "item_id", verdict->item_id);
    soc_buf_put_byte(out, '}');
}

/* Sends the decision to an agent that is not waiting for it. */
static int send_decision(struct soc_host *host, const struct soc_item *item,
                         const struct soc_verdict *verdict, struct soc_message **message,
                         struct soc_buf *error)
{
    struct soc_buf payload = {0};
    put_verdict(&payload, verdict, true);
    struct soc_send send = {
        .to = soc_agent_id(item->agent),
        .type = SOC_SLICE("decision"),
        .payload = soc_buf_slice(&payload),
        .texts = {[SOC_TEXT_TASK_ID] = soc_slice_text(item->task_id),
                  [SOC_TEXT_CORRELATION_ID] = soc_slice_text(item->correlation_id)},
        .priority = item->priority,
        .has_priority = true,
        .is_formal = true,
        .is_bare = true,
    };
    int rc = soc_router_send(host, host->registry.user, &send, message, error);
    soc_buf_fini(&payload);
    return rc;
}

static void put_result(struct soc_buf *answer, const struct soc_item *item,
                       const struct soc_verdict *verdict, bool is_delivered,
                       const struct soc_message *message)
{
    answer->length = 0;
    soc_buf_put_text(answer, "[{");
    soc_json_put_text_member(answer, "agent", soc_agent_id(item->agent));
    if (verdict->choice.data != NULL) {
        soc_json_put_name(answer, "choice");
        soc_buf_put_slice(answer, verdict->choice);
    }
    soc_json_put_text_member(answer, "decision", verdict->decision);
    soc_json_put_name(answer, "delivered");
    soc_buf_put_text(answer, is_delivered ? "true" : "false");
    soc_json_put_text_member(answer, "item_id", verdict->item_id);
    if (message != NULL) {
        char id[SOC_MESSAGE_ID_BYTES];
        soc_envelope_id(id, message);
        soc_json_put_text_member(answer, "messageId", soc_slice(id, sizeof(id)));
    }
    if (!is_delivered)
        soc_json_put_text_member(
            answer, "note", SOC_SLICE("the asking agent has terminated; the decision is recorded"));
    soc_buf_put_text(answer, "}]");
}

static void settle_decision(struct soc_host *host, struct soc_undo *undo)
{
    struct soc_item *item = undo->data;
    struct soc_inbox *inbox = &soc_human_state(host)->inbox;
    trace_item(host, "decision", item, soc_decision_name(soc_inbox_decision(inbox, item->key)));
    struct soc_activation *activation = waiter_of(item);
    if (activation != NULL)
        activation->has_progress = true;
    if (undo->old != NULL && activation != NULL)
        soc_waiting_answer(host, activation, soc_slice_text(undo->old));
    free(undo->old);
    soc_item_free(item);
}

static void reopen_item(struct soc_host *host, struct soc_undo *undo)
{
    free(undo->old);
    soc_inbox_reopen(&soc_human_state(host)->inbox, undo->data);
}

/* Closes an open item, in memory and in the journal. */
static void close_item(struct soc_host *host, struct soc_item *item,
                       const struct soc_verdict *verdict, bool is_waited)
{
    enum soc_decision decision = soc_decision_parse(verdict->decision);
    static const struct soc_undo_ops ops = {.roll_back = reopen_item, .commit = settle_decision};
    struct soc_undo undo = {.ops = &ops};
    struct soc_record record = {.type = SOC_RECORD_ITEM_END};
    record.item_end = (struct soc_record_item_end){
        .key = item->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .decision = decision,
        .changes = verdict->changes,
        .comment = verdict->comment,
        .choice = verdict->choice,
    };
    soc_batch_put(host, &record);
    put_event(host, "decision", item, "decision", verdict->decision);
    undo.data = end_item(host, &record.item_end);
    assert(undo.data == item);
    if (is_waited) {
        struct soc_buf answer = {0};
        soc_buf_put_byte(&answer, '[');
        put_verdict(&answer, verdict, false);
        soc_buf_put_byte(&answer, ']');
        undo.old = soc_copy_text(answer.data, answer.length);
        soc_buf_fini(&answer);
    }
    soc_turn_note(host, undo);
}

int soc_human_decide(struct soc_host *host, const struct soc_verdict *given, struct soc_buf *answer)
{
    struct soc_verdict settled = *given;
    struct soc_verdict *verdict = &settled;
    assert(host->turn.is_open && host->turn.agent == host->registry.user);
    struct soc_item *item = NULL;
    struct soc_message *message = NULL;
    int rc = check_verdict(host, verdict, &item, answer);
    if (rc < 0)
        return rc;
    bool is_waited = waiter_of(item) != NULL;
    bool is_gone = item->agent->is_ended || item->agent->is_ending;
    for (size_t i = 0; rc == SOC_OK && host->parts.calls.decide[i] != NULL; i++)
        rc = host->parts.calls.decide[i](host, item, verdict, &message, answer);
    if (rc == SOC_OK && !is_waited && !is_gone)
        rc = send_decision(host, item, verdict, &message, answer);
    if (rc < 0)
        return rc;
    put_result(answer, item, verdict, is_waited || !is_gone, message);
    close_item(host, item, verdict, is_waited);
    return SOC_OK;
}

int soc_human_decide_now(struct soc_host *host, const struct soc_verdict *verdict,
                         struct soc_buf *answer)
{
    soc_turn_begin(host, host->registry.user, NULL);
    int rc = soc_human_decide(host, verdict, answer);
    if (rc < 0)
        soc_turn_rollback(host);
    else
        soc_commit_turn(host);
    return rc;
}

/* Tells the person that an item on display can no longer be decided. */
static void show_withdrawn(struct soc_host *host, const struct soc_item *item)
{
    struct soc_buf shown = {0};
    soc_human_look_item(host, item, &shown);
    shown.length--;
    soc_json_put_name(&shown, "withdrawn");
    soc_buf_put_text(&shown, "true}");
    soc_egress_print(host, SOC_SLICE("inbox"), soc_agent_id(item->agent), soc_buf_slice(&shown));
    soc_buf_fini(&shown);
}

static void withdraw(struct soc_host *host, uint64_t key)
{
    struct soc_record record = {.type = SOC_RECORD_ITEM_END};
    record.item_end = (struct soc_record_item_end){
        .key = key,
        .time_ms = (uint64_t)soc_host_now(host),
        .decision = SOC_DECISION_WITHDRAWN,
    };
    soc_batch_put(host, &record);
    struct soc_item *item = end_item(host, &record.item_end);
    assert(item != NULL);
    put_event(host, "withdrawn", item, "title", soc_slice_text(item->title));
    trace_item(host, "withdrawn", item, NULL);
    show_withdrawn(host, item);
    soc_item_free(item);
}

/* Withdraws the item; a waiting activation gets `error`. */
static void give_up(struct soc_host *host, const struct soc_item *item, struct soc_slice error)
{
    struct soc_activation *waiter = waiter_of(item);
    withdraw(host, item->key);
    if (waiter != NULL)
        soc_waiting_answer(host, waiter, error);
}

void soc_human_withdraw(struct soc_host *host, const struct soc_agent *owner,
                        struct soc_slice task_id, uint64_t task_key, struct soc_slice error)
{
    size_t count = 0;
    if (soc_human_state(host)->inbox.open.count == 0)
        return;
    struct soc_item **items = soc_inbox_sorted(&soc_human_state(host)->inbox, &count);
    bool is_own = !host->turn.is_open;
    if (is_own)
        soc_turn_begin(host, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        if (items[i]->task_id != NULL && items[i]->key > task_key &&
            soc_slice_equal(task_id, soc_slice_text(items[i]->task_id)) &&
            (items[i]->agent == owner || soc_tasks_is_helper(host, items[i]->agent, task_id)))
            give_up(host, items[i], error);
    if (is_own)
        soc_commit_turn(host);
    free(items);
}

void soc_human_withdraw_item(struct soc_host *host, uint64_t key)
{
    if (soc_inbox_find(&soc_human_state(host)->inbox, key) == NULL)
        return;
    bool is_own = !host->turn.is_open;
    if (is_own)
        soc_turn_begin(host, NULL, NULL);
    withdraw(host, key);
    if (is_own)
        soc_commit_turn(host);
}

/* Its work is dropped and nobody is left to get the decisions. An agent that ends by itself has
 * none that it waits for; what it left behind without waiting is still for the person to see. */
static void agent_forced(struct soc_host *host, struct soc_agent *agent)
{
    size_t count = 0;
    if (soc_human_count(host) == 0)
        return;
    struct soc_item **items = soc_inbox_sorted(&soc_human_state(host)->inbox, &count);
    for (size_t i = 0; i < count; i++)
        if (items[i]->agent == agent)
            soc_human_withdraw_item(host, items[i]->key);
    free(items);
}

void soc_human_address(struct soc_host *host, struct soc_send *send)
{
    struct soc_buf intent = {0};
    soc_human_route(host, send, &intent);
    soc_buf_fini(&intent);
}

void soc_human_route(struct soc_host *host, struct soc_send *send, struct soc_buf *intent)
{
    if (host->hooks.route == NULL) {
        send->to = soc_agent_id(host->registry.user);
        send->is_intake = true;
        return;
    }
    struct soc_buf detail = {0};
    const struct soc_agent *agent = host->hooks.route(host->hooks.user, send->payload, intent);
    if (agent == NULL || agent->is_ended || agent->is_ending)
        agent = host->registry.root;
    send->to = soc_agent_id(agent);
    soc_buf_put_byte(&detail, '{');
    if (intent->length > 0)
        soc_json_put_text_member(&detail, "intent", soc_buf_slice(intent));
    soc_json_put_text_member(&detail, "route_to", send->to);
    soc_buf_put_byte(&detail, '}');
    soc_trace_event(host, SOC_LOG_INFO, "intake", host->registry.user, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

static void pass_on(struct soc_host *host, struct soc_message *message)
{
    struct soc_buf error = {0};
    struct soc_message *sent;
    struct soc_send send = {
        .type = soc_symbol_slice(message->type),
        .payload = soc_message_payload(message),
        .priority = (enum soc_priority)message->priority,
        .has_priority = true,
    };
    soc_human_address(host, &send);
    soc_turn_begin(host, host->registry.user, NULL);
    host->turn.cause = message;
    int rc = soc_router_send(host, host->registry.user, &send, &sent, &error);
    if (rc < 0)
        soc_turn_rollback(host);
    else
        soc_commit_turn(host);
    soc_router_finish(host, message, rc < 0 ? SOC_OUTCOME_DEAD : SOC_OUTCOME_PROCESSED,
                      rc < 0 ? soc_buf_slice(&error) : (struct soc_slice){0});
    soc_buf_fini(&error);
}

static void pass_on_all(struct soc_host *host)
{
    struct soc_message *message;
    while (host->hooks.route != NULL &&
           (message = soc_message_list_pop(&soc_human_state(host)->intake)) != NULL)
        pass_on(host, message);
}

static bool arrive(struct soc_host *host, struct soc_message *message)
{
    if (!(message->flags & SOC_MESSAGE_IS_INTAKE) || message->to->is_ended)
        return false;
    soc_message_list_push(&soc_human_state(host)->intake, message);
    pass_on_all(host);
    return true;
}

static enum soc_reclaim reclaim(struct soc_host *host, struct soc_message *message)
{
    if (!(message->flags & SOC_MESSAGE_IS_INTAKE))
        return SOC_RECLAIM_NONE;
    soc_message_list_push(&soc_human_state(host)->intake, message);
    return SOC_RECLAIM_TAKEN;
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_ITEM)
        open_item(host, &record->item, soc_registry_need(host, record->item.agent));
    else if (record->type == SOC_RECORD_ITEM_END)
        soc_item_free(end_item(host, &record->item_end));
    return SOC_OK;
}

static void *open_human(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_human_state));
}

static void free_human(struct soc_host *host)
{
    struct soc_human_state *human = soc_human_state(host);
    soc_inbox_fini(&human->inbox);
    soc_mail_free_list(host, &human->intake);
    free(human);
}

static void put(const struct soc_host *host, const struct soc_activation *activation,
                struct soc_buf *out)
{
    (void)host;
    soc_human_put_id(out, "item_id", activation->wait.request_ms, activation->wait.request_key);
}

static const struct soc_wait_ops waits[] = {{.kind = SOC_WAIT_HUMAN, .put = put}, {0}};

const struct soc_part soc_human_part = {
    .name = "human",
    .number = SOC_PART_HUMAN,
    .operations = soc_human_operations,
    .waits = waits,
    .open = open_human,
    .started = pass_on_all,
    .free = free_human,
    .restore = restore,
    .reclaim = reclaim,
    .arrive = arrive,
    .agent_forced = agent_forced,
    .work_cancelled = soc_human_withdraw,
};

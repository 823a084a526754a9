#include "kernel/recover.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "kernel/agents.h"
#include "kernel/deadlock.h"
#include "kernel/egress.h"
#include "kernel/router.h"
#include "kernel/schedule.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/transit.h"
#include "kernel/wait.h"
#include "parts/contacts/introductions.h"
#include "parts/duplicates/duplicates.h"
#include "parts/group/barriers.h"
#include "parts/group/broadcasts.h"
#include "parts/group/news.h"
#include "parts/human/human.h"
#include "parts/models/memory.h"
#include "parts/outside/outside_state.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks.h"

/* What is known only until the load is over. */
struct loader {
    struct soc_host *host;
    struct soc_map pending;  /* key -> message */
    struct soc_map takes;    /* key -> agent that took it */
    struct soc_map handling; /* key -> agent whose activation handles it */
    struct soc_map hearing;  /* agent -> key of the broadcast its activation handles */
    struct soc_buf heard;    /* struct heard: broadcasts that were taken */
    struct soc_buf app;
};

/* A broadcast that an agent took by `receive`. */
struct heard {
    uint64_t key;
    struct soc_agent *agent;
};

static struct soc_role *role_of(struct soc_host *host, struct soc_slice id)
{
    struct soc_role *role = soc_map_find(&host->roles, id);
    if (role == NULL) {
        role = soc_role_new(id, id); /* the script may still declare it */
        soc_map_put(&host->roles, soc_slice_text(role->id), role);
    }
    return role;
}

static bool is_text(const char *text, struct soc_slice stored)
{
    return text == NULL || stored.data == NULL ? (text == NULL) == (stored.data == NULL)
                                               : soc_slice_equal(soc_slice_text(text), stored);
}

static bool is_as_stored(const struct soc_role *role, const struct soc_record_role *r)
{
    return is_text(role->name, r->name) && is_text(role->prompt, r->prompt) &&
           is_text(role->interface_spec, r->interface_spec);
}

static void apply_role(struct soc_host *host, const struct soc_record_role *r)
{
    struct soc_role *role = role_of(host, r->id);
    if (role->is_of_script) { /* one made in a turn is not written over */
        role->is_stored = r->creator.data != NULL || is_as_stored(role, r);
        return;
    }
    soc_text_set(&role->name, r->name);
    soc_text_set(&role->prompt, r->prompt.data == NULL ? SOC_SLICE("") : r->prompt);
    soc_text_set(&role->interface_spec, r->interface_spec);
    soc_text_set(&role->behaviour, r->behaviour);
    role->is_external =
        r->behaviour.data != NULL && soc_slice_equal(r->behaviour, SOC_SLICE("external"));
    role->is_declared = r->creator.data != NULL; /* else the script must say so again */
}

static void apply_agent(struct soc_host *host, const struct soc_record_agent *r)
{
    struct soc_agent *parent = r->parent.data == NULL ? NULL : soc_agents_need(host, r->parent);
    struct soc_agent *agent =
        soc_agent_new(r->id, role_of(host, r->role), parent, (int64_t)r->time_ms);
    if (r->brief.data != NULL)
        soc_agent_set_brief(agent, r->brief);
    agent->since = r->since;
    agent->news = r->since == 0 ? 0 : r->since - 1;
    agent->is_external = agent->role->is_external || r->is_external;
    soc_map_put(&host->agents, soc_agent_id(agent), agent);
    host->agents_alive++;
    if (soc_slice_equal(r->id, SOC_SLICE("user")))
        host->user = agent;
    if (soc_slice_equal(r->id, SOC_SLICE("root")))
        host->root = agent;
    if (parent != NULL) {
        parent->children++;
        parent->births++;
        if (r->is_adopted)
            return; /* records of their own say whom it knows */
        soc_contacts_put(&agent->contacts, parent, SOC_SOURCE_PARENT, agent->created_ms, NULL);
        if (!parent->is_ended)
            soc_contacts_put(&parent->contacts, agent, SOC_SOURCE_CHILD, agent->created_ms, NULL);
    } else if (host->user != NULL && host->root != NULL) {
        int64_t time_ms = agent->created_ms;
        soc_contacts_put(&host->user->contacts, host->root, SOC_SOURCE_SYSTEM, time_ms, NULL);
        soc_contacts_put(&host->root->contacts, host->user, SOC_SOURCE_SYSTEM, time_ms, NULL);
    }
}

static void apply_agent_end(struct soc_host *host, const struct soc_record_agent_end *r)
{
    struct soc_agent *agent = soc_agents_need(host, r->id);
    agent->is_ended = true;
    host->agents_alive--;
    if (agent->parent != NULL) {
        agent->parent->children--;
        soc_contacts_remove(&agent->parent->contacts, agent);
    }
    soc_agent_shrink(agent);
    soc_memory_forget(host, agent);
}

static void apply_agent_ending(struct soc_host *host, const struct soc_record_agent_ending *r)
{
    struct soc_agent *agent = soc_agents_need(host, r->id);
    agent->is_ending = true;
    soc_text_set(&agent->end_reason, r->reason);
}

/* Their contacts have records of their own. */
static void apply_agent_parent(struct soc_host *host, const struct soc_record_agent_parent *r)
{
    struct soc_agent *agent = soc_agents_need(host, r->id);
    if (agent->parent != NULL)
        agent->parent->children--;
    agent->parent = soc_agents_need(host, r->parent);
    agent->parent->children++;
}

static void apply_contact(struct soc_host *host, const struct soc_record_contact *r)
{
    struct soc_contact_extra *extra = NULL;
    if (r->role.data != NULL || r->interface_spec.data != NULL || r->introduced_by.data != NULL ||
        r->via.data != NULL || r->reason.data != NULL) {
        extra = soc_alloc_zero(sizeof(*extra));
        soc_text_set(&extra->role, r->role);
        soc_text_set(&extra->interface_spec, r->interface_spec);
        soc_text_set(&extra->introduced_by, r->introduced_by);
        soc_text_set(&extra->via, r->via);
        soc_text_set(&extra->reason, r->reason);
    }
    soc_contacts_put(&soc_agents_need(host, r->owner)->contacts, soc_agents_need(host, r->id),
                     (enum soc_source)r->source, (int64_t)r->time_ms, extra);
}

static void apply_message(struct loader *loader, const struct soc_record_message *r)
{
    struct soc_message_draft draft = {
        .key = r->key,
        .time_ms = (int64_t)r->time_ms,
        .from = soc_agents_need(loader->host, r->from),
        .to = r->flags & SOC_MESSAGE_IS_BROADCAST ? NULL : soc_agents_need(loader->host, r->to),
        .type = soc_intern(&loader->host->types, r->type),
        .reply_to = r->reply_to,
        .reply_to_ms = (int64_t)r->reply_to_ms,
        .expires_ms = (int64_t)r->expires_ms,
        .deliver_at_ms = (int64_t)r->deliver_at_ms,
        .deadline_ms = (int64_t)r->deadline_ms,
        .priority = (uint8_t)r->priority,
        .flags = (uint8_t)r->flags,
        .attempt = (uint16_t)r->attempt,
        .hops = (uint32_t)r->hops,
        .payload = r->payload,
        .texts =
            {
#define F(tag, name, kind, ...) SOC_IF_TEXT_##kind([SOC_TEXT_##tag] = r->name, )
                SOC_MESSAGE_FIELD_MAP(F)
#undef F
            },
    };
    if (draft.to == NULL)
        soc_broadcasts_restore(loader->host, soc_message_new(&draft));
    else
        soc_map_put_number(&loader->pending, r->key, soc_message_new(&draft));
}

static void apply_message_end(struct loader *loader, const struct soc_record_message_end *r)
{
    struct soc_message *message = soc_map_take_number(&loader->pending, r->key);
    if (message == NULL)
        message = soc_map_take_number(&loader->host->dead, r->key);
    if (message == NULL) {
        soc_broadcasts_forget(loader->host, r->key);
        return;
    }
    soc_map_take_number(&loader->takes, r->key);
    soc_map_take_number(&loader->handling, r->key);
    if (r->outcome == SOC_OUTCOME_DEAD || r->outcome == SOC_OUTCOME_EXPIRED) {
        message->outcome = (uint8_t)r->outcome;
        soc_map_put_number(&loader->host->dead, r->key, message);
    } else if (r->outcome != SOC_OUTCOME_PROCESSED || !soc_tasks_keep(loader->host, message)) {
        soc_message_free(message);
    }
}

static void apply_message_again(struct loader *loader, const struct soc_record_message_again *r)
{
    struct soc_message *message = soc_map_take_number(&loader->host->dead, r->key);
    if (message == NULL)
        message = soc_tasks_release(loader->host, r->key);
    if (message == NULL)
        return;
    message->outcome = SOC_OUTCOME_PENDING;
    message->attempt = (uint16_t)r->attempt;
    message->deliver_at_ms = (int64_t)r->deliver_at_ms;
    message->expires_ms = 0;
    soc_outside_forget_receipt(loader->host, r->key);
    soc_map_put_number(&loader->pending, r->key, message);
}

static void forget_wait(struct soc_activation *activation)
{
    free(activation->wait.correlation_id);
    free(activation->wait.call);
    activation->wait = (struct soc_wait){0};
}

static int apply_effect(struct loader *loader, const struct soc_record_effect *r)
{
    struct soc_activation *activation = soc_agents_need(loader->host, r->agent)->activation;
    enum soc_effect_kind kind;
    if (activation != NULL && r->index < activation->effects_count)
        activation->effects_count = (uint32_t)r->index; /* a look that was asked anew */
    if (activation == NULL || r->index != activation->effects_count ||
        !soc_effect_parse(r->kind, &kind))
        return SOC_ECORRUPT;
    soc_activation_add(activation, kind, r->hash);
    soc_activation_note(activation, (uint32_t)r->index, r->arguments);
    forget_wait(activation);
    if (r->answer.data != NULL)
        soc_activation_answer(activation, (uint32_t)r->index, r->answer);
    else if (!soc_wait_parse(loader->host, r->wait, &activation->wait))
        return SOC_ECORRUPT;
    return SOC_OK;
}

static int apply_answer(struct loader *loader, const struct soc_record_answer *r)
{
    struct soc_activation *activation = soc_agents_need(loader->host, r->agent)->activation;
    if (activation == NULL || r->index >= activation->effects_count ||
        activation->effects[r->index].answer_length != 0)
        return SOC_ECORRUPT;
    soc_activation_answer(activation, (uint32_t)r->index, r->answer);
    forget_wait(activation);
    return SOC_OK;
}

static void apply_activation(struct loader *loader, const struct soc_record_activation *r)
{
    struct soc_agent *agent = soc_agents_need(loader->host, r->agent);
    soc_schedule_new_activation(loader->host, agent)->is_stored = true;
    soc_map_take(&loader->hearing, soc_agent_id(agent));
    if (soc_map_find_number(&loader->host->broadcasts, r->key) != NULL)
        soc_map_put(&loader->hearing, soc_agent_id(agent), (void *)(uintptr_t)r->key);
    else if (r->key != 0)
        soc_map_put_number(&loader->handling, r->key, agent);
}

static void apply_take(struct loader *loader, const struct soc_record_take *r)
{
    struct soc_agent *agent = soc_agents_need(loader->host, r->agent);
    struct heard heard = {r->key, agent};
    if (soc_map_find_number(&loader->host->broadcasts, r->key) != NULL)
        soc_buf_put(&loader->heard, &heard, sizeof(heard));
    else
        soc_map_put_number(&loader->takes, r->key, agent);
}

/* The messages of a finished activation end by records of their own. */
static void apply_activation_end(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_agents_need(host, id);
    if (agent->activation != NULL)
        soc_schedule_release(host, agent->activation);
}

static void apply_meta(struct loader *loader, const struct soc_record_meta *r)
{
    struct soc_host *host = loader->host;
    if (soc_slice_equal(r->name, SOC_SLICE("app"))) {
        loader->app.length = 0;
        soc_buf_put_slice(&loader->app, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("main"))) {
        host->main_is_done = host->main_was_done = true;
    } else if (soc_slice_equal(r->name, SOC_SLICE("cursor"))) {
        soc_host_read_cursor(host, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("policies"))) {
        host->policies.length = 0;
        soc_buf_put_slice(&host->policies, r->value);
    }
}

/* Records of what goes to many at once, and of what leaves the society. */
static void apply_of_many(struct soc_host *host, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_BROADCAST_END:
        if (record->broadcast_end.agent.data != NULL)
            soc_broadcasts_restore_end(host, record->broadcast_end.key,
                                       soc_agents_need(host, record->broadcast_end.agent));
        break;
    case SOC_RECORD_BARRIER:
        soc_barriers_restore(host, &record->barrier, soc_agents_need(host, record->barrier.owner));
        break;
    case SOC_RECORD_SEAT:
        soc_barriers_restore_seat(host, &record->seat, soc_agents_need(host, record->seat.agent));
        break;
    case SOC_RECORD_BARRIER_END:
        soc_barriers_forget(host, record->barrier_end.key);
        break;
    case SOC_RECORD_POSITION:
        soc_outside_restore_position(host, &record->position);
        break;
    case SOC_RECORD_SENT_KEY:
        soc_duplicates_restore(host, &record->sent_key);
        break;
    case SOC_RECORD_SENT_KEYS_END:
        soc_duplicates_restore_end(host, &record->sent_keys_end);
        break;
    case SOC_RECORD_MEMORY:
        soc_memory_restore(host, &record->memory);
        break;
    case SOC_RECORD_USAGE:
        soc_usage_restore(host, &record->usage);
        break;
    case SOC_RECORD_OUTPUT:
        soc_egress_restore(host, record->output.key, record->output.stream, record->output.agent,
                           record->output.text);
        break;
    case SOC_RECORD_OUTPUT_END:
        soc_egress_forget(host, record->output_end.key);
        break;
    default: /* events and whatever changes nothing that is live */
        break;
    }
}

/* Records of agents, what they know and what they remember. */
static void apply_person(struct soc_host *host, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_ROLE:
        apply_role(host, &record->role);
        break;
    case SOC_RECORD_AGENT:
        apply_agent(host, &record->agent);
        break;
    case SOC_RECORD_AGENT_END:
        apply_agent_end(host, &record->agent_end);
        break;
    case SOC_RECORD_AGENT_ENDING:
        apply_agent_ending(host, &record->agent_ending);
        break;
    case SOC_RECORD_AGENT_PARENT:
        apply_agent_parent(host, &record->agent_parent);
        break;
    case SOC_RECORD_STANDING:
        soc_hold_restore(soc_agents_need(host, record->standing.id), &record->standing);
        break;
    case SOC_RECORD_STATE:
        soc_agent_set_state(soc_agents_need(host, record->state.agent), record->state.state);
        break;
    case SOC_RECORD_CONTACT:
        apply_contact(host, &record->contact);
        break;
    case SOC_RECORD_CONTACT_END:
        soc_contacts_remove(&soc_agents_need(host, record->contact_end.owner)->contacts,
                            soc_agents_need(host, record->contact_end.id));
        break;
    case SOC_RECORD_INTRODUCTION:
        soc_introductions_restore(host, &record->introduction);
        break;
    case SOC_RECORD_INTRODUCTION_END:
        soc_introductions_forget(host, record->introduction_end.key);
        break;
    case SOC_RECORD_ITEM:
        soc_human_restore(host, &record->item, soc_agents_need(host, record->item.agent));
        break;
    case SOC_RECORD_ITEM_END:
        soc_human_restore_end(host, &record->item_end);
        break;
    case SOC_RECORD_TASK:
        soc_tasks_restore(host, &record->task);
        break;
    default:
        apply_of_many(host, record);
        break;
    }
}

static int apply(const struct soc_record *record, void *user)
{
    struct loader *loader = user;
    struct soc_host *host = loader->host;
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        apply_message(loader, &record->message);
        break;
    case SOC_RECORD_MESSAGE_END:
        apply_message_end(loader, &record->message_end);
        break;
    case SOC_RECORD_MESSAGE_AGAIN:
        apply_message_again(loader, &record->message_again);
        break;
    case SOC_RECORD_RECEIPT:
        soc_outside_restore_receipt(
            host, soc_map_find_number(&loader->pending, record->receipt.key), &record->receipt);
        break;
    case SOC_RECORD_TAKE:
        apply_take(loader, &record->take);
        break;
    case SOC_RECORD_ACTIVATION:
        apply_activation(loader, &record->activation);
        break;
    case SOC_RECORD_EFFECT:
        return apply_effect(loader, &record->effect);
    case SOC_RECORD_ANSWER:
        return apply_answer(loader, &record->answer);
    case SOC_RECORD_ACTIVATION_END:
        apply_activation_end(host, record->activation_end.agent);
        break;
    case SOC_RECORD_META:
        apply_meta(loader, &record->meta);
        break;
    default:
        apply_person(host, record);
        break;
    }
    return SOC_OK;
}

static int compare_due(const void *a, const void *b)
{
    const struct soc_message *x = *(struct soc_message *const *)a;
    const struct soc_message *y = *(struct soc_message *const *)b;
    if (soc_message_due_ms(x) != soc_message_due_ms(y))
        return soc_message_due_ms(x) < soc_message_due_ms(y) ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Gives each pending message to whoever holds it: the activation that handles
 * it, the one that took it, a timer, or the mailbox. */
static void settle_message(struct loader *loader, struct soc_message *message)
{
    struct soc_host *host = loader->host;
    struct soc_agent *handler = soc_map_find_number(&loader->handling, message->key);
    struct soc_agent *taker = soc_map_find_number(&loader->takes, message->key);
    soc_tasks_attach(host, message);
    if (handler != NULL && handler->activation != NULL) {
        handler->activation->message = message;
    } else if (taker != NULL && taker->activation != NULL) {
        soc_message_list_push(&taker->activation->taken, message);
    } else if (soc_introductions_reclaim(host, message)) {
        return;
    } else if (message->flags & SOC_MESSAGE_IS_INTAKE) {
        soc_message_list_push(&host->intake, message);
    } else if (message->deliver_at_ms > soc_host_now(host) ||
               message->flags & SOC_MESSAGE_IS_REPLY || /* never through the mailbox */
               soc_introductions_is_new(host, message)) {
        soc_transit_add(host, message);
    } else if (message->to->is_external) {
        soc_outside_take(host, message);
    } else {
        soc_mailbox_push(&message->to->mailbox, message);
        soc_router_watch(host, message);
        soc_schedule_ready(host, message->to);
    }
}

/* Gives activations the copies of broadcasts that they held. */
static void settle_broadcasts(struct loader *loader)
{
    struct soc_host *host = loader->host;
    size_t cursor = 0;
    struct soc_agent *agent;
    soc_broadcasts_count_left(host);
    while (loader->hearing.count > 0 && (agent = soc_map_each(&host->agents, &cursor)) != NULL) {
        uint64_t key = (uintptr_t)soc_map_find(&loader->hearing, soc_agent_id(agent));
        if (key != 0 && agent->activation != NULL)
            agent->activation->message = soc_broadcasts_hold(host, key, agent);
    }
    const struct heard *heard = (const void *)loader->heard.data;
    for (size_t i = 0; i < loader->heard.length / sizeof(*heard); i++) {
        struct soc_activation *activation = heard[i].agent->activation;
        struct soc_message *message =
            activation == NULL ? NULL : soc_broadcasts_hold(host, heard[i].key, heard[i].agent);
        if (message != NULL)
            soc_message_list_push(&activation->taken, message);
    }
    soc_broadcasts_resume(host);
}

static void settle_messages(struct loader *loader)
{
    size_t count = loader->pending.count;
    struct soc_message **messages = soc_alloc((count + 1) * sizeof(*messages));
    size_t cursor = 0;
    for (size_t i = 0; i < count; i++)
        messages[i] = soc_map_each(&loader->pending, &cursor);
    qsort(messages, count, sizeof(*messages), compare_due);
    for (size_t i = 0; i < count; i++)
        settle_message(loader, messages[i]);
    free(messages);
}

/* Mail that fell due while nobody ran goes to who waits to receive it, unless the
 * wait had timed out before. */
static void offer_mail(struct soc_host *host, struct soc_activation *activation)
{
    const struct soc_wait *wait = &activation->wait;
    struct soc_agent *agent = activation->agent;
    if (wait->kind != SOC_WAIT_RECEIVE)
        return;
    struct soc_message *message =
        soc_mailbox_find(&agent->mailbox, (struct soc_mail_filter){wait->on, wait->type});
    if (message == NULL ||
        (wait->deadline_ms != 0 && soc_message_due_ms(message) > wait->deadline_ms))
        return;
    soc_mailbox_remove(&agent->mailbox, message);
    soc_heap_remove(&host->timers, &message->timer);
    soc_wait_offer(host, agent, message);
}

static void settle_activations(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->agents, &cursor)) != NULL) {
        struct soc_activation *activation = agent->activation;
        if (activation == NULL)
            continue;
        if (activation->wait.kind == SOC_WAIT_LOOK) {
            activation->wait = (struct soc_wait){0};
            activation->effects_count--;
        }
        soc_activation_keep(activation);
        activation->has_progress = true; /* nobody knows any more: no false alarm */
        if (activation->wait.kind == SOC_WAIT_NONE || agent->is_external)
            soc_schedule_ready(host, agent); /* outside, since now: to be told that it is over */
        if (activation->wait.kind == SOC_WAIT_NONE)
            continue;
        soc_news_look(host, agent); /* before it waits: it may have timed out */
        soc_wait_begin(host, activation);
        activation->told = (uint8_t)soc_status_of_work(host, agent);
        soc_deadlock_note(host, agent);
        offer_mail(host, activation);
    }
}

int soc_recover(struct soc_host *host, struct soc_buf *app, struct soc_detail *detail)
{
    struct loader loader = {.host = host};
    int rc = soc_store_load(host->options.store, apply, &loader, detail);
    if (rc == SOC_OK) {
        settle_broadcasts(&loader);
        settle_messages(&loader);
        settle_activations(host);
        soc_introductions_resume(host);
        soc_tasks_resume(host);
    } else {
        size_t cursor = 0;
        struct soc_message *message;
        while ((message = soc_map_each(&loader.pending, &cursor)) != NULL)
            soc_message_free(message);
    }
    soc_map_fini(&loader.pending);
    soc_map_fini(&loader.takes);
    soc_map_fini(&loader.handling);
    soc_map_fini(&loader.hearing);
    soc_buf_fini(&loader.heard);
    *app = loader.app;
    return rc;
}

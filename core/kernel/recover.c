#include "kernel/recover.h"
#include "kernel/operations/call_keys.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/mail/transit.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/status.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/halt.h"
#include "kernel/turns/handling.h"
#include "kernel/turns/main.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/wait.h"
#include "kernel/turns/waiting.h"
#include "store/store.h"

/* What is needed only while the store is loaded. */
struct soc_loader {
    struct soc_host *host;
    struct soc_map pending;  /* key -> message */
    struct soc_map dead;     /* key -> dead letter, if the records so far have it */
    struct soc_map takes;    /* key -> agent that took it */
    struct soc_map handling; /* key -> agent whose activation handles it */
    struct soc_buf app;
    int64_t reached_ms;        /* the time of the last batch */
    struct soc_detail *detail; /* lent, or NULL */
};

static struct soc_role *role_of(struct soc_host *host, struct soc_slice id)
{
    struct soc_role *role = soc_registry_find_role(host, id);
    return role != NULL ? role : soc_registry_add_role(host, id, id); /* may be declared later */
}

static bool is_text(const char *text, struct soc_slice stored)
{
    return text == NULL || stored.data == NULL ? (text == NULL) == (stored.data == NULL)
                                               : soc_slice_equal(soc_slice_text(text), stored);
}

static bool is_as_stored(const struct soc_role *role, const struct soc_record_role *r)
{
    return is_text(role->name, r->name) && is_text(role->prompt, r->prompt) &&
           is_text(role->interface_spec, r->interface_spec) &&
           role->is_isolated == (r->is_isolated != 0);
}

static void apply_role(struct soc_host *host, const struct soc_record_role *r)
{
    struct soc_role *role = role_of(host, r->id);
    if (role->is_of_script) { /* the script's definition wins over the stored one */
        role->is_stored = r->creator.data != NULL || is_as_stored(role, r);
        return;
    }
    soc_registry_fill_role(role, r);
    role->is_declared = r->creator.data != NULL; /* else the script must define it again */
}

static void apply_agent(struct soc_host *host, const struct soc_record *record)
{
    const struct soc_record_agent *r = &record->agent;
    struct soc_agent *parent = r->parent.data == NULL ? NULL : soc_registry_need(host, r->parent);
    if (record->row > host->registry.births) /* some before it are not loaded */
        host->registry.births = record->row - 1;
    soc_registry_add(host, r, role_of(host, r->role), parent);
}

/* Changes of contacts have records of their own. */
static void apply_agent_parent(struct soc_host *host, const struct soc_record_agent_parent *r)
{
    soc_registry_set_parent(soc_registry_need(host, r->id), soc_registry_need(host, r->parent));
}

struct soc_message *soc_recover_message(struct soc_host *host, const struct soc_record_message *r)
{
    struct soc_message_draft draft = {
        .key = r->key,
        .time_ms = (int64_t)r->time_ms,
        .sent_date_ms = soc_clock_date_of(&host->clock, (int64_t)r->time_ms),
        .from = soc_registry_need(host, r->from),
        .to = r->flags & SOC_MESSAGE_IS_BROADCAST ? NULL : soc_registry_need(host, r->to),
        .type = soc_intern(&host->types.table, r->type),
        .reply_to = r->reply_to,
        .reply_to_ms = (int64_t)r->reply_to_ms,
        .cause = r->cause,
        .expires_ms = (int64_t)r->expires_ms,
        .deliver_at_ms = (int64_t)r->deliver_at_ms,
        .deadline_ms = (int64_t)r->deadline_ms,
        .priority = (uint8_t)r->priority,
        .flags = (uint8_t)r->flags,
        .attempt = (uint16_t)r->attempt,
        .hops = (uint32_t)r->hops,
        .payload = r->payload,
    };
#define F(tag, name, kind, ...) SOC_IF_TEXT_##kind(draft.texts[SOC_TEXT_##tag] = r->name;)
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
    return soc_message_new(&draft);
}

struct soc_message *soc_recover_pending(const struct soc_host *host, uint64_t key)
{
    assert(host->loader != NULL);
    return soc_map_find_number(&host->loader->pending, key);
}

/* Broadcasts are restored by the part that keeps them. */
static void apply_message(struct soc_loader *loader, const struct soc_record_message *r)
{
    if (!(r->flags & SOC_MESSAGE_IS_BROADCAST))
        soc_map_put_number(&loader->pending, r->key, soc_recover_message(loader->host, r));
}

/* Returns true if a part still needs a processed message and has taken it. */
static bool is_kept(struct soc_host *host, struct soc_message *message)
{
    bool is = false;
    for (size_t i = 0; !is && host->parts.calls.keep[i] != NULL; i++)
        is = host->parts.calls.keep[i](host, message);
    return is;
}

/* soc_router_finish does the same live, where it also tells parts and answers requests.
 * Here parts restore from their own records, and the message sits in the loader's tables. */
static void apply_message_end(struct soc_loader *loader, const struct soc_record_message_end *r)
{
    struct soc_message *message = soc_map_take_number(&loader->pending, r->key);
    if (message == NULL)
        message = soc_map_take_number(&loader->dead, r->key);
    if (message == NULL)
        return;
    soc_map_take_number(&loader->takes, r->key);
    soc_map_take_number(&loader->handling, r->key);
    if (r->outcome == SOC_OUTCOME_DEAD || r->outcome == SOC_OUTCOME_EXPIRED) {
        message->outcome = (uint8_t)r->outcome;
        soc_map_put_number(&loader->dead, r->key, message);
    } else if ((r->outcome != SOC_OUTCOME_PROCESSED && r->outcome != SOC_OUTCOME_HANDED_OVER) ||
               !is_kept(loader->host, message)) {
        soc_message_free(message);
    }
}

static int take_letter(const struct soc_record *record, void *user)
{
    struct soc_loader *loader = user;
    if (record->type == SOC_RECORD_MESSAGE)
        apply_message(loader, &record->message);
    else
        apply_message_end(loader, &record->message_end);
    return SOC_OK;
}

/* A dead letter that was redelivered after the tables were folded is read from there. */
static int apply_message_again(struct soc_loader *loader, const struct soc_record_message_again *r)
{
    struct soc_message *message = soc_map_take_number(&loader->dead, r->key);
    for (size_t i = 0; message == NULL && loader->host->parts.calls.release[i] != NULL; i++)
        message = loader->host->parts.calls.release[i](loader->host, r->key);
    if (message == NULL && soc_map_find_number(&loader->pending, r->key) == NULL) {
        int rc = soc_store_letter(loader->host->options.store, r->key, take_letter, loader,
                                  loader->detail);
        if (rc < 0)
            return rc;
        message = soc_map_take_number(&loader->dead, r->key);
    }
    if (message == NULL)
        return SOC_OK;
    soc_router_set_again(loader->host, message, r);
    soc_map_put_number(&loader->pending, r->key, message);
    return SOC_OK;
}

static void forget_wait(struct soc_activation *activation)
{
    free(activation->wait.correlation_id);
    free(activation->wait.call);
    activation->wait = (struct soc_wait){0};
}

/* Live, an effect gets its answer and its wait in steps while the script runs (gate.c); its
 * record has the sum of them. Both use the functions of model/activation.h. */
static int apply_effect(struct soc_loader *loader, const struct soc_record_effect *r)
{
    struct soc_activation *activation = soc_registry_need(loader->host, r->agent)->activation;
    enum soc_effect_kind kind;
    if (activation != NULL && r->index < activation->effects_count)
        activation->effects_count = (uint32_t)r->index; /* a query that was repeated */
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

static int apply_answer(struct soc_loader *loader, const struct soc_record_answer *r)
{
    struct soc_activation *activation = soc_registry_need(loader->host, r->agent)->activation;
    if (activation == NULL || r->index >= activation->effects_count ||
        activation->effects[r->index].answer_length != 0)
        return SOC_ECORRUPT;
    soc_activation_answer(activation, (uint32_t)r->index, r->answer);
    forget_wait(activation);
    return SOC_OK;
}

static void apply_activation(struct soc_loader *loader, const struct soc_record_activation *r)
{
    struct soc_agent *agent = soc_registry_need(loader->host, r->agent);
    soc_handling_new(loader->host, agent)->is_stored = true;
    if (r->key != 0)
        soc_map_put_number(&loader->handling, r->key, agent);
}

static void apply_take(struct soc_loader *loader, const struct soc_record_take *r)
{
    soc_map_put_number(&loader->takes, r->key, soc_registry_need(loader->host, r->agent));
}

/* The messages of a finished activation have records of their own. */
static void apply_activation_end(struct soc_host *host, struct soc_slice id)
{
    struct soc_agent *agent = soc_registry_need(host, id);
    if (agent->activation != NULL)
        soc_handling_release(host, agent->activation);
}

static void apply_meta(struct soc_loader *loader, const struct soc_record_meta *r)
{
    struct soc_host *host = loader->host;
    if (soc_slice_equal(r->name, SOC_SLICE("app"))) {
        loader->app.length = 0;
        soc_buf_put_slice(&loader->app, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("main"))) {
        host->main.is_done = host->main.was_done = true;
    } else if (soc_slice_equal(r->name, SOC_SLICE("main_failed"))) {
        soc_main_restore(host, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("halted"))) {
        soc_halt_restore(host, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("cursor"))) {
        loader->reached_ms = soc_batch_read_cursor(host, r->value);
    } else if (soc_slice_equal(r->name, SOC_SLICE("clock"))) {
        soc_calendar_read(&host->clock.calendar, r->value);
    }
}

/* Applies a record to the kernel's state. Types that are missing here do not concern the
 * kernel: they belong to a part or only to the tables. */
static int apply_own(struct soc_loader *loader, const struct soc_record *record)
{
    struct soc_host *host = loader->host;
    switch (record->type) {
    case SOC_RECORD_META:
        apply_meta(loader, &record->meta);
        break;
    case SOC_RECORD_ROLE:
        apply_role(host, &record->role);
        break;
    case SOC_RECORD_AGENT:
        apply_agent(host, record);
        break;
    case SOC_RECORD_AGENT_ENDING:
        soc_registry_set_ending(soc_registry_need(host, record->agent_ending.id),
                                record->agent_ending.reason);
        break;
    case SOC_RECORD_AGENT_END:
        soc_registry_end(host, soc_registry_need(host, record->agent_end.id));
        break;
    case SOC_RECORD_AGENT_PARENT:
        apply_agent_parent(host, &record->agent_parent);
        break;
    case SOC_RECORD_STATE:
        soc_agent_set_state(soc_registry_need(host, record->state.agent), record->state.state);
        break;
    case SOC_RECORD_MESSAGE:
        apply_message(loader, &record->message);
        break;
    case SOC_RECORD_MESSAGE_END:
        apply_message_end(loader, &record->message_end);
        break;
    case SOC_RECORD_MESSAGE_AGAIN:
        return apply_message_again(loader, &record->message_again);
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
    case SOC_RECORD_OUTPUT:
        soc_egress_restore(host, record->output.key, record->output.stream, record->output.agent,
                           record->output.text);
        break;
    case SOC_RECORD_OUTPUT_END:
        soc_egress_forget(host, record->output_end.key);
        break;
    case SOC_RECORD_CALL_KEY:
    case SOC_RECORD_CALL_KEYS_END:
        soc_call_keys_restore(host, record);
        break;
    default:
        break;
    }
    return SOC_OK;
}

/* Where records name agents that must exist, now or as a tombstone. `system` does not
 * count: it is only a sender. */
static const struct {
    enum soc_record_type type;
    bool is_optional; /* the name may be absent */
    size_t offset;
} agent_names[] = {
#define NAME(tag, field, is_optional)                                                              \
    {                                                                                              \
        SOC_RECORD_##tag, is_optional, offsetof(struct soc_record, field)                          \
    }
    NAME(AGENT, agent.id, false),
    NAME(AGENT_END, agent_end.id, false),
    NAME(AGENT_ENDING, agent_ending.id, false),
    NAME(AGENT_PARENT, agent_parent.id, false),
    NAME(AGENT_PARENT, agent_parent.parent, false),
    NAME(STATE, state.agent, false),
    NAME(CONTACT, contact.owner, false),
    NAME(CONTACT, contact.id, false),
    NAME(CONTACT_END, contact_end.owner, false),
    NAME(CONTACT_END, contact_end.id, false),
    NAME(TAKE, take.agent, false),
    NAME(ACTIVATION, activation.agent, false),
    NAME(EFFECT, effect.agent, false),
    NAME(ANSWER, answer.agent, false),
    NAME(ACTIVATION_END, activation_end.agent, false),
    NAME(ITEM, item.agent, false),
    NAME(BROADCAST_END, broadcast_end.agent, true),
    NAME(BARRIER, barrier.owner, false),
    NAME(SEAT, seat.agent, false),
    NAME(STANDING, standing.id, false),
#undef NAME
};

/* Tells whether that can be the id of an agent here, or the address of one elsewhere. */
static bool is_id_or_address(struct soc_slice id)
{
    struct soc_slice agent;
    struct soc_slice host;
    return (id.length > 0 && id.length <= SOC_ID_BYTES_MAX) || soc_id_divide(id, &agent, &host);
}

static bool is_agent_id(struct soc_slice id)
{
    return is_id_or_address(id) && !soc_slice_equal(id, SOC_SLICE("system"));
}

/* Returns true if sender, receiver and priority are valid. */
static bool is_message_sound(const struct soc_record_message *r)
{
    return is_id_or_address(r->from) && r->priority < SOC_PRIORITY_COUNT &&
           (r->flags & SOC_MESSAGE_IS_BROADCAST || is_agent_id(r->to));
}

/* Returns true if every agent that the record names can exist. The journal is not trusted:
 * what follows dereferences these agents. */
static bool is_sound(const struct soc_record *record)
{
    if (record->type == SOC_RECORD_MESSAGE)
        return is_message_sound(&record->message);
    for (size_t i = 0; i < sizeof(agent_names) / sizeof(agent_names[0]); i++) {
        if (agent_names[i].type != record->type)
            continue;
        struct soc_slice name;
        memcpy(&name, (const char *)record + agent_names[i].offset, sizeof(name));
        if (!is_agent_id(name) && !(agent_names[i].is_optional && name.data == NULL))
            return false;
    }
    return true;
}

static int apply(const struct soc_record *record, void *user)
{
    struct soc_loader *loader = user;
    const struct soc_part_calls *calls = &loader->host->parts.calls;
    int rc = is_sound(record) ? apply_own(loader, record) : SOC_ECORRUPT;
    for (size_t i = 0; rc == SOC_OK && calls->restore[i] != NULL; i++)
        rc = calls->restore[i](loader->host, record);
    return rc == SOC_ECORRUPT
               ? soc_fail(loader->detail, rc, "invalid record of type %d", (int)record->type)
               : rc;
}

static int compare_due(const void *a, const void *b)
{
    const struct soc_message *x = *(struct soc_message *const *)a;
    const struct soc_message *y = *(struct soc_message *const *)b;
    if (soc_message_due_ms(x) != soc_message_due_ms(y))
        return soc_message_due_ms(x) < soc_message_due_ms(y) ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Asks the parts whether a pending message is one of theirs. */
static enum soc_reclaim reclaim(struct soc_host *host, struct soc_message *message)
{
    enum soc_reclaim answer = SOC_RECLAIM_NONE;
    for (size_t i = 0; answer == SOC_RECLAIM_NONE && host->parts.calls.reclaim[i] != NULL; i++)
        answer = host->parts.calls.reclaim[i](host, message);
    return answer;
}

/* Gives a pending message back to its holder: the activation that handles it, the one
 * that received it, a part, a timer, or the mailbox. */
static void place_message(struct soc_loader *loader, struct soc_message *message)
{
    struct soc_host *host = loader->host;
    assert(!message->is_queued && !soc_heap_has(&message->timer));
    struct soc_agent *handler = soc_map_find_number(&loader->handling, message->key);
    struct soc_agent *taker = soc_map_find_number(&loader->takes, message->key);
    SOC_PARTS_TELL(host, attach, host, message);
    if (handler != NULL && handler->activation != NULL) {
        handler->activation->message = message;
        return;
    }
    if (taker != NULL && taker->activation != NULL) {
        soc_message_list_push(&taker->activation->taken, message);
        return;
    }
    enum soc_reclaim reclaimed = reclaim(host, message);
    if (reclaimed == SOC_RECLAIM_TAKEN)
        return;
    bool is_for_waiter = message->flags & SOC_MESSAGE_IS_REPLY && !message->to->is_remote;
    if (reclaimed == SOC_RECLAIM_TRANSIT || message->deliver_at_ms > soc_host_now(host) ||
        is_for_waiter) { /* replies bypass the mailbox */
        soc_transit_add(host, message);
        return;
    }
    if (soc_router_hand_out(host, message))
        return;
    soc_mail_queue(host, message, false);
    soc_ready_add(host, message->to);
}

/* Settles when a message is due, now that the calendar is complete: a date stays that date,
 * and of a delay there is as much left as there was. */
static void settle_delivery(const struct soc_host *host, struct soc_message *message)
{
    if (message->flags & SOC_MESSAGE_IS_DATED)
        message->deliver_at_ms = soc_clock_time_of(&host->clock, message->deliver_date_ms);
    else
        message->deliver_date_ms = soc_clock_date_of(&host->clock, message->deliver_at_ms);
}

static void place_messages(struct soc_loader *loader)
{
    size_t count = loader->pending.count;
    struct soc_message **messages = soc_alloc((count + 1) * sizeof(*messages));
    size_t cursor = 0;
    for (size_t i = 0; i < count; i++) {
        messages[i] = soc_map_each(&loader->pending, &cursor);
        settle_delivery(loader->host, messages[i]);
    }
    qsort(messages, count, sizeof(*messages), compare_due);
    for (size_t i = 0; i < count; i++)
        place_message(loader, messages[i]);
    free(messages);
}

/* A message that fell due while the society was down goes to the agent that waits to
 * receive it, unless the wait had timed out before. */
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
    soc_waiting_offer(host, agent, message);
}

/* Marks a request whose message was handled, or is a dead letter while its reply is in
 * transit. */
static void note_end(struct soc_host *host, const struct soc_activation *activation)
{
    struct soc_request *request = activation->wait.kind != SOC_WAIT_REPLY
                                      ? NULL
                                      : soc_request_find(host, activation->wait.request_key);
    if (request == NULL)
        return;
    request->is_dead = soc_map_find_number(&host->loader->dead, request->key) != NULL;
    request->is_finished = !request->is_dead && soc_recover_pending(host, request->key) == NULL;
}

static void resume_activations(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        struct soc_activation *activation = agent->activation;
        if (activation == NULL)
            continue;
        if (activation->wait.kind == SOC_WAIT_LOOK || activation->wait.kind == SOC_WAIT_ORDER) {
            activation->wait = (struct soc_wait){0};
            assert(activation->effects_count > 0); /* it asks the store by its last effect */
            activation->effects_count--;
        }
        if (agent == host->registry.user)
            soc_main_forget(host, activation);
        soc_activation_keep(activation);
        activation->has_progress = true; /* unknown after a restart: avoid a false alarm */
        if (activation->wait.kind == SOC_WAIT_NONE || agent->is_external)
            soc_ready_add(host, agent); /* moved outside: the schedule abandons its activation */
        if (activation->wait.kind == SOC_WAIT_NONE)
            continue;
        soc_host_look_for_news(host, agent); /* before it waits: it may have timed out */
        soc_waiting_begin(host, activation);
        note_end(host, activation);
        activation->logged_status = (uint8_t)soc_status_of_work(host, agent);
        soc_wait_note(host, agent);
        offer_mail(host, activation);
        if (activation->wait.kind == SOC_WAIT_ACK)
            soc_acks_catch_up(host, activation,
                              soc_recover_pending(host, activation->wait.request_key));
    }
}

static void free_messages(const struct soc_map *messages)
{
    size_t cursor = 0;
    struct soc_message *message;
    while ((message = soc_map_each(messages, &cursor)) != NULL)
        soc_message_free(message);
}

/* Goes on from the time of the earlier run. If the clock was set back since, that is said,
 * and stored before anything else. */
static void resume_clock(struct soc_loader *loader)
{
    struct soc_host *host = loader->host;
    int64_t before_ms = soc_calendar_behind(&host->clock.calendar);
    struct soc_buf json = {0};
    if (!soc_clock_resume(&host->clock, loader->reached_ms)) {
        host->log.behind_ms = before_ms;
        return;
    }
    int64_t behind_ms = soc_calendar_behind(&host->clock.calendar);
    int64_t seconds = (behind_ms > before_ms ? behind_ms - before_ms : before_ms) / 1000;
    host->log.behind_ms = behind_ms;
    soc_calendar_put(&host->clock.calendar, &json);
    soc_batch_put_meta(host, "clock", soc_buf_slice(&json));
    json.length = 0;
    soc_buf_printf(&json, "{\"ahead_ms\":%lld,\"was_ahead_ms\":%lld}", (long long)behind_ms,
                   (long long)before_ms);
    soc_log_say_printf(
        &host->log, behind_ms > before_ms ? SOC_LOG_WARN : SOC_LOG_INFO, soc_host_now(host),
        "clock", SOC_SLICE("system"), soc_buf_slice(&json),
        "the clock of this machine is %lld days %02lld:%02lld:%02lld %s",
        (long long)(seconds / 86400), (long long)(seconds / 3600 % 24),
        (long long)(seconds / 60 % 60), (long long)(seconds % 60),
        behind_ms > before_ms
            ? "behind what an earlier run has seen; times follow it again, timers keep what was "
              "left of them, and ids keep their higher time"
            : "further than in the last run, and no longer behind an earlier one; times and ids "
              "follow it");
    soc_buf_fini(&json);
}

int soc_recover(struct soc_host *host, struct soc_buf *app, struct soc_detail *detail)
{
    assert(host->loader == NULL && host->registry.agents.count == 0);
    assert(!host->turn.is_open);
    struct soc_loader loader = {.host = host, .detail = detail};
    host->loader = &loader;
    int rc = soc_store_load(host->options.store, apply, &loader, detail);
    if (rc == SOC_OK) {
        resume_clock(&loader);
        SOC_PARTS_TELL(host, loaded, host);
        place_messages(&loader);
        resume_activations(host);
        SOC_PARTS_TELL(host, resume, host);
    } else {
        free_messages(&loader.pending);
    }
    free_messages(&loader.dead);
    soc_map_fini(&loader.dead);
    soc_map_fini(&loader.pending);
    soc_map_fini(&loader.takes);
    soc_map_fini(&loader.handling);
    host->loader = NULL;
    *app = loader.app;
    return rc;
}

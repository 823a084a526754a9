#include "kernel/host.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/agents.h"
#include "kernel/deadlock.h"
#include "kernel/egress.h"
#include "kernel/recover.h"
#include "kernel/router.h"
#include "kernel/schedule.h"
#include "kernel/state.h"
#include "kernel/turn.h"
#include "kernel/wait.h"
#include "parts/contacts/introductions.h"
#include "parts/group/barriers.h"
#include "parts/group/broadcasts.h"
#include "parts/history/history.h"
#include "parts/human/human.h"
#include "parts/models/calls.h"
#include "parts/models/memory.h"
#include "parts/outside/outside_state.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks.h"

#define SEQUENCE_SEED 0x9e3779b97f4a7c15ull
#define EVICT_LOOKS   16              /* agents looked at for one that waits */
#define ORDER_SEED    0x6f72646572ull /* keeps the scheduler's chance apart from scripts' */

struct soc_host *soc_host_new(const struct soc_host_options *options)
{
    struct soc_host *host = soc_alloc_zero(sizeof(*host));
    host->options = *options;
    if (host->options.effects_max == 0)
        host->options.effects_max = SOC_EFFECTS_MAX;
    host->log = options->log;
    soc_clock_init(&host->clock, options->loop == NULL);
    host->type_general = soc_intern(&host->types, SOC_SLICE("general"));
    host->type_introduction_request = soc_intern(&host->types, SOC_SLICE("introduction_request"));
    host->type_introduction_response = soc_intern(&host->types, SOC_SLICE("introduction_response"));
    host->type_collaboration_response =
        soc_intern(&host->types, SOC_SLICE("collaboration_response"));
    host->type_checkpoint_request = soc_intern(&host->types, SOC_SLICE("checkpoint_request"));
    host->type_checkpoint_response = soc_intern(&host->types, SOC_SLICE("checkpoint_response"));
    host->tasks = soc_tasks_new(host);
    host->outside = soc_outside_new();
    host->type_response = soc_intern(&host->types, SOC_SLICE("response"));
    host->policy_generation = 1;
    host->dedupe_window_ms = SOC_DEDUPE_WINDOW_MS;
    soc_guard_init(host);
    host->next_key = 1;
    host->next_output = 1;
    host->next_wait = 1;
    static const char *const own_roles[] = {"user", "root", "unknown"};
    for (size_t i = 0; i < sizeof(own_roles) / sizeof(own_roles[0]); i++) {
        struct soc_slice name = soc_slice_text(own_roles[i]);
        struct soc_role *role = soc_role_new(name, name);
        soc_map_put(&host->roles, soc_slice_text(role->id), role);
    }
    return host;
}

void soc_host_set_hooks(struct soc_host *host, const struct soc_hooks *hooks)
{
    host->hooks = *hooks;
}

static void put_meta(struct soc_host *host, const char *name, struct soc_slice value)
{
    struct soc_record record = {
        .type = SOC_RECORD_META,
        .meta = {.name = soc_slice_text(name), .value = value},
    };
    soc_batch_put(host, &record);
}

/* Every batch ends with the counters that finished messages no longer show. */
static void put_cursor(struct soc_host *host)
{
    const struct soc_totals *t = &host->totals;
    const uint64_t numbers[] = {host->next_key,    (uint64_t)soc_host_now(host),
                                host->next_output, t->sent,
                                t->outcome[1],     t->outcome[2],
                                t->outcome[3],     t->outcome[4],
                                t->outcome[5]};
    host->scratch.length = 0;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        soc_buf_put_byte(&host->scratch, i == 0 ? '[' : ',');
        soc_json_put_integer(&host->scratch, (int64_t)numbers[i]);
    }
    soc_buf_put_byte(&host->scratch, ']');
    put_meta(host, "cursor", soc_buf_slice(&host->scratch));
}

void soc_host_read_cursor(struct soc_host *host, struct soc_slice json)
{
    int64_t numbers[9] = {0};
    struct soc_json_walk walk;
    soc_json_walk(&walk, json);
    for (int i = 0; i < 9 && soc_json_next(&walk); i++)
        soc_json_integer(walk.value, &numbers[i]);
    host->next_key = (uint64_t)numbers[0];
    soc_clock_raise(&host->clock, numbers[1]);
    host->next_output = (uint64_t)numbers[2];
    host->totals.sent = (uint64_t)numbers[3];
    for (int i = SOC_OUTCOME_PROCESSED; i <= SOC_OUTCOME_CANCELLED; i++)
        host->totals.outcome[i] = (uint64_t)numbers[3 + i];
}

static void on_durable(uint64_t sequence, void *user)
{
    struct soc_host *host = user;
    if (host->options.witness != NULL)
        host->options.witness->durable(host->options.witness->user, sequence);
    soc_egress_release(host, sequence);
}

static void on_full(bool is_full, void *user)
{
    struct soc_host *host = user;
    host->is_full = is_full;
    host->retry_ms =
        is_full && host->options.loop == NULL ? soc_host_now(host) + SOC_FULL_RETRY_MS : 0;
    soc_log_printf(&host->log, is_full ? SOC_LOG_ERROR : SOC_LOG_INFO, soc_host_now(host),
                   "storage", SOC_SLICE("system"), "%s",
                   is_full ? "the disk is full: nothing new starts until there is room"
                           : "there is room again: going on");
}

static void on_failed(const struct soc_detail *detail, void *user)
{
    struct soc_host *host = user;
    host->is_failed = true;
    host->options.failed(host->options.user, detail);
}

static void create_first_agents(struct soc_host *host, struct soc_slice app)
{
    static const char *const ids[] = {"user", "root"};
    put_meta(host, "app", app);
    for (int i = 0; i < 2; i++) {
        struct soc_slice id = soc_slice_text(ids[i]);
        int64_t now_ms = soc_host_now(host);
        struct soc_agent *agent = soc_agent_new(id, soc_map_find(&host->roles, id), NULL, now_ms);
        soc_map_put(&host->agents, soc_agent_id(agent), agent);
        host->agents_alive++;
        struct soc_record record = {.type = SOC_RECORD_AGENT};
        record.agent = (struct soc_record_agent){.time_ms = (uint64_t)now_ms, .id = id, .role = id};
        soc_batch_put(host, &record);
    }
    host->user = soc_map_find(&host->agents, SOC_SLICE("user"));
    host->root = soc_map_find(&host->agents, SOC_SLICE("root"));
    int64_t now_ms = soc_host_now(host);
    soc_contacts_put(&host->user->contacts, host->root, SOC_SOURCE_SYSTEM, now_ms, NULL);
    soc_contacts_put(&host->root->contacts, host->user, SOC_SOURCE_SYSTEM, now_ms, NULL);
}

int soc_host_start(struct soc_host *host, struct soc_slice app, struct soc_detail *detail)
{
    assert(host->hooks.run != NULL && host->journal == NULL);
    struct soc_buf stored = {0};
    int rc = soc_recover(host, &stored, detail);
    if (rc == SOC_OK && host->user != NULL && !soc_slice_equal(app, soc_buf_slice(&stored)))
        rc = soc_fail(detail, SOC_EOTHERAPP,
                      "the state belongs to the app '%s'; give this one its own --state DIR",
                      soc_buf_text(&stored));
    soc_buf_fini(&stored);
    if (rc < 0)
        return rc;
    soc_memory_settle(host);
    if (host->user == NULL)
        create_first_agents(host, app);
    soc_agents_store_roles(host);
    host->next_sequence = soc_store_sequence(host->options.store) + 1;
    /* A recovered society goes on with other chances than those it has used. */
    uint64_t seed = host->options.seed + (host->next_sequence - 1) * SEQUENCE_SEED;
    soc_rng_init(&host->rng, seed);
    soc_rng_init(&host->order, seed ^ ORDER_SEED);
    struct soc_journal_events events = {on_durable, on_full, on_failed, host};
    host->journal = soc_journal_open(host->options.store, host->options.loop, &events);
    soc_schedule_ready(host, host->user);
    soc_human_pass_on(host);
    soc_calls_resume(host);
    soc_egress_release(host, 0); /* lines of a former run that were in doubt */
    return SOC_OK;
}

void soc_host_begin_main(struct soc_host *host)
{
    if (host->main_was_done || host->has_main)
        return;
    host->has_main = true;
    soc_schedule_main(host);
}

int soc_host_load(struct soc_host *host, struct soc_detail *detail)
{
    struct soc_buf app = {0};
    int rc = soc_recover(host, &app, detail);
    soc_buf_fini(&app);
    return rc;
}

bool soc_host_main_was_done(const struct soc_host *host)
{
    return host->main_was_done;
}

static void fire(struct soc_host *host, struct soc_heap_item *item)
{
    char *base = (char *)item;
    soc_heap_remove(&host->timers, item);
    switch ((enum soc_timer_kind)item->kind) {
    case SOC_TIMER_MESSAGE:
        soc_router_timer(host, (void *)(base - offsetof(struct soc_message, timer)));
        break;
    case SOC_TIMER_ACTIVATION:
        soc_wait_timer(host, (void *)(base - offsetof(struct soc_activation, timer)));
        break;
    case SOC_TIMER_REQUEST:
        soc_request_timeout(host, (void *)(base - offsetof(struct soc_request, timer)));
        break;
    case SOC_TIMER_INTRODUCTION:
        soc_introductions_timer(host, (void *)(base - offsetof(struct soc_introduction, timer)));
        break;
    case SOC_TIMER_CALL:
        soc_calls_timer(host, (void *)(base - offsetof(struct soc_outcall, timer)));
        break;
    }
}

/* The earlier of two times, of which 0 is none. */
static int64_t earlier(int64_t a_ms, int64_t b_ms)
{
    if (a_ms == 0 || b_ms == 0)
        return a_ms + b_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

/* When the first timer is due, 0: there is none. */
static int64_t timer_due(const struct soc_host *host)
{
    const struct soc_heap_item *item = soc_heap_peek(&host->timers);
    return item == NULL ? 0 : item->due_ms;
}

int64_t soc_host_next_wait(const struct soc_host *host)
{
    return earlier(timer_due(host), host->retry_ms);
}

int64_t soc_host_next_due(const struct soc_host *host)
{
    return earlier(soc_host_next_wait(host), earlier(soc_tasks_due(host), soc_outside_due(host)));
}

/* A simulated society itself tries a full disk again, by its own time. */
static bool retry_disk(struct soc_host *host)
{
    if (host->retry_ms == 0 || host->retry_ms > soc_host_now(host))
        return false;
    host->retry_ms = soc_host_now(host) + SOC_FULL_RETRY_MS;
    soc_journal_retry(host->journal);
    return true;
}

/* What a turn, a timer or a door leaves to be looked at when it is over. */
static void settle(struct soc_host *host)
{
    soc_deadlock_settle(host);
    if (host->guard_meetings.length > 0)
        soc_guard_settle(host);
}

static bool fire_next(struct soc_host *host)
{
    struct soc_heap_item *item = soc_heap_peek(&host->timers);
    int64_t due_ms = earlier(timer_due(host), earlier(soc_tasks_due(host), soc_outside_due(host)));
    if (due_ms == 0 || due_ms > soc_host_now(host))
        return false;
    if (item != NULL && item->due_ms == due_ms)
        fire(host, item);
    else if (soc_tasks_due(host) == due_ms)
        soc_tasks_fire(host);
    else
        soc_outside_fire(host);
    settle(host);
    return true;
}

static bool can_run(const struct soc_host *host)
{
    return !host->is_full && !host->is_failed && !host->main_has_failed &&
           host->batch.length < SOC_BATCH_BYTES_MAX &&
           soc_journal_bytes(host->journal) < SOC_JOURNAL_BYTES_MAX;
}

void soc_host_flush(struct soc_host *host)
{
    if (host->batch.length == 0 || host->is_failed)
        return;
    put_cursor(host);
    if (host->options.witness != NULL)
        host->options.witness->sealed(host->options.witness->user, host->next_sequence,
                                      soc_buf_slice(&host->batch));
    host->next_sequence++; /* before: what is let out meanwhile belongs to the next */
    uint64_t sequence = soc_journal_submit(host->journal, &host->batch);
    assert(sequence + 1 == host->next_sequence);
    (void)sequence;
}

void soc_host_hold(struct soc_host *host, bool is_held)
{
    soc_journal_hold(host->journal, is_held);
}

void soc_host_commit(struct soc_host *host, size_t count)
{
    soc_journal_commit(host->journal, count);
}

const struct soc_agent *soc_host_evict(struct soc_host *host, uint64_t chance)
{
    size_t cursor = (size_t)(chance % host->agents.entry_count);
    struct soc_agent *agent = NULL;
    for (int i = 0; i < EVICT_LOOKS; i++) {
        agent = soc_map_each(&host->agents, &cursor);
        if (agent == NULL)
            cursor = 0;
        else if (agent->activation != NULL && agent->activation->script != NULL)
            break;
    }
    if (agent == NULL || agent->activation == NULL || agent->activation->script == NULL)
        return NULL;
    assert(!host->turn.is_open);
    host->hooks.drop(host->hooks.user, agent->activation);
    return agent;
}

/* A batch goes when the writer is free, so that batches grow with the load. */
static void flush_if_free(struct soc_host *host)
{
    if (soc_journal_bytes(host->journal) == 0 || host->batch.length >= SOC_BATCH_BYTES_MAX)
        soc_host_flush(host);
}

static bool run_next(struct soc_host *host)
{
    if (!can_run(host) || !soc_schedule_run(host))
        return false;
    settle(host);
    return true;
}

bool soc_host_step(struct soc_host *host)
{
    if (host->is_failed)
        return false;
    settle(host); /* what a door or a restart has left */
    bool did = retry_disk(host) || fire_next(host) || run_next(host);
    flush_if_free(host);
    return did;
}

int64_t soc_host_tick(struct soc_host *host)
{
    if (host->is_failed)
        return SOC_TICK_IDLE;
    settle(host);
    retry_disk(host);
    while (fire_next(host))
        continue;
    for (int i = 0; i < SOC_TURNS_PER_TICK_MAX && run_next(host); i++)
        continue;
    flush_if_free(host);
    if (host->ready_count > 0 && can_run(host))
        return SOC_TICK_NOW;
    int64_t due_ms = soc_host_next_due(host);
    if (due_ms == 0)
        return SOC_TICK_IDLE;
    int64_t wait_ms = due_ms - soc_host_now(host);
    return wait_ms < 1 ? 1 : wait_ms;
}

bool soc_host_is_quiet(const struct soc_host *host)
{
    return host->ready_count == 0 && host->waiting == 0 && host->delayed == 0 &&
           host->requests.count == 0 && host->outside->climbed == 0 &&
           host->outputs_first == NULL && host->batch.length == 0 &&
           soc_journal_bytes(host->journal) == 0;
}

bool soc_host_main_is_done(const struct soc_host *host)
{
    return host->main_is_done || !host->has_main;
}

bool soc_host_main_has_failed(const struct soc_host *host)
{
    return host->main_has_failed;
}

struct soc_slice soc_host_main_error(const struct soc_host *host)
{
    return soc_buf_slice(&host->main_error);
}

bool soc_host_is_still(const struct soc_host *host)
{
    return host->ready_count == 0 && soc_host_next_due(host) == 0 && host->outputs_first == NULL &&
           host->batch.length == 0 && soc_journal_bytes(host->journal) == 0;
}

bool soc_host_is_full(const struct soc_host *host)
{
    return host->is_full;
}

bool soc_host_is_failed(const struct soc_host *host)
{
    return host->is_failed;
}

struct soc_clock *soc_host_clock(struct soc_host *host)
{
    return &host->clock;
}

struct soc_log *soc_host_log(struct soc_host *host)
{
    return &host->log;
}

static void free_messages(struct soc_host *host, struct soc_message_list *list)
{
    struct soc_message *message;
    while ((message = soc_message_list_pop(list)) != NULL) {
        soc_heap_remove(&host->timers, &message->timer);
        soc_router_free(host, message);
    }
}

static void free_activation(struct soc_host *host, struct soc_activation *activation)
{
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    soc_heap_remove(&host->timers, &activation->timer);
    soc_router_free(host, activation->message);
    free_messages(host, &activation->taken);
    soc_activation_free(activation);
}

static void free_agents(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->agents, &cursor)) != NULL) {
        for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
            free_messages(host, &agent->mailbox.classes[p]);
        if (agent->activation != NULL)
            free_activation(host, agent->activation);
    }
    cursor = 0;
    while ((agent = soc_map_each(&host->agents, &cursor)) != NULL)
        soc_agent_free(agent);
    soc_map_fini(&host->agents);
}

/* Whatever is left in the heap now are messages not due yet and requests of
 * doors. */
static void free_timers(struct soc_host *host)
{
    struct soc_heap_item *item;
    while ((item = soc_heap_peek(&host->timers)) != NULL) {
        soc_heap_remove(&host->timers, item);
        if (item->kind == SOC_TIMER_MESSAGE)
            soc_router_free(host, (void *)((char *)item - offsetof(struct soc_message, timer)));
    }
    soc_heap_fini(&host->timers);
}

static void free_host(struct soc_host *host)
{
    size_t cursor = 0;
    void *item;
    soc_introductions_free(host);
    soc_broadcasts_free(host);
    soc_barriers_free(host);
    soc_inbox_fini(&host->inbox);
    soc_dedupe_fini(&host->sent_keys);
    soc_usage_free(host);
    soc_memory_free(host);
    free_messages(host, &host->intake);
    soc_outside_free(host);
    soc_tasks_free(host);
    soc_hold_free(host);
    free_agents(host);
    free_timers(host);
    while ((item = soc_map_each(&host->requests, &cursor)) != NULL)
        soc_request_free(item);
    soc_map_fini(&host->requests);
    soc_map_fini(&host->answers_coming);
    for (cursor = 0; (item = soc_map_each(&host->dead, &cursor)) != NULL;)
        soc_router_free(host, item);
    soc_map_fini(&host->dead);
    for (cursor = 0; (item = soc_map_each(&host->roles, &cursor)) != NULL;)
        soc_role_free(item);
    soc_map_fini(&host->roles);
    while (host->pool_count > 0)
        soc_activation_free(host->pool[--host->pool_count]);
    soc_egress_free(host->outputs_first);
    soc_history_free(host);
    free(host->turn.undo);
    free(host->orchestrator);
    free(host->ready);
    soc_intern_fini(&host->types);
    soc_buf_fini(&host->turn.kept);
    soc_buf_fini(&host->waits_changed);
    soc_buf_fini(&host->calls_leaving);
    soc_buf_fini(&host->guard_meetings);
    soc_buf_fini(&host->batch);
    soc_buf_fini(&host->policies);
    soc_buf_fini(&host->scratch);
    soc_buf_fini(&host->error);
    soc_buf_fini(&host->main_error);
    free(host);
}

void soc_host_close(struct soc_host *host, int64_t fold_ms_max)
{
    soc_calls_stop(host);
    if (host->journal != NULL) {
        soc_host_flush(host);
        soc_journal_close(host->journal, fold_ms_max);
    }
    free_host(host);
}

void soc_host_crash(struct soc_host *host)
{
    soc_calls_stop(host);
    if (host->journal != NULL)
        soc_journal_crash(host->journal);
    free_host(host);
}

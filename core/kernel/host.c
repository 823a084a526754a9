#include "kernel/host.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/agents.h"
#include "kernel/ending.h"
#include "kernel/look.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/dead.h"
#include "kernel/mail/mail.h"
#include "kernel/mail/requests.h"
#include "kernel/mail/router.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/call_keys.h"
#include "kernel/parts.h"
#include "kernel/recover.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "kernel/tap.h"
#include "kernel/turns/batch.h"
#include "kernel/turns/deadlock.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/halt.h"
#include "kernel/turns/main.h"
#include "kernel/turns/ready.h"
#include "kernel/turns/schedule.h"
#include "kernel/turns/waiting.h"
#include "store/journal.h"
#include "store/store.h"

#define SEQUENCE_SEED 0x9e3779b97f4a7c15ull
#define EVICT_LOOKS   16              /* agents tried to find a waiting one */
#define ORDER_SEED    0x6f72646572ull /* separates the scheduler's draws from the scripts' */

struct soc_host *soc_host_new(const struct soc_host_options *options)
{
    assert(options->store != NULL && options->parts != NULL);
    struct soc_host *host = soc_alloc_zero(sizeof(*host));
    host->options = *options;
    if (host->options.effects_max == 0)
        host->options.effects_max = SOC_EFFECTS_MAX;
    host->log = options->log;
    soc_clock_init(&host->clock, options->loop == NULL);
    host->types.general = soc_intern(&host->types.table, SOC_SLICE("general"));
    host->next_key = 1;
    host->outbox.next = 1;
    host->waits.next = 1;
    soc_parts_open(host, options->parts);
    soc_parts_serve_wait(&host->parts, &soc_request_wait_ops);
    soc_parts_serve_wait(&host->parts, &soc_look_wait_ops);
    soc_parts_serve_wait(&host->parts, &soc_acks_wait_ops);
    soc_parts_serve_wait(&host->parts, &soc_dead_wait_ops);
    static const char *const own_roles[] = {"user", "root", "unknown"};
    for (size_t i = 0; i < sizeof(own_roles) / sizeof(own_roles[0]); i++) {
        struct soc_slice name = soc_slice_text(own_roles[i]);
        struct soc_role *role = soc_role_new(name, name);
        soc_map_put(&host->registry.roles, soc_slice_text(role->id), role);
    }
    return host;
}

void soc_host_set_hooks(struct soc_host *host, const struct soc_hooks *hooks)
{
    host->hooks = *hooks;
}

static void on_durable(uint64_t sequence, void *user)
{
    struct soc_host *host = user;
    if (host->options.witness != NULL)
        host->options.witness->durable(host->options.witness->user, sequence);
    soc_egress_release(host, sequence);
    soc_tap_note(host);
}

static void on_full(bool is_full, void *user)
{
    struct soc_host *host = user;
    host->disk.is_full = is_full;
    host->disk.retry_ms =
        is_full && host->options.loop == NULL ? soc_host_now(host) + SOC_FULL_RETRY_MS : 0;
    soc_log_printf(&host->log, is_full ? SOC_LOG_ERROR : SOC_LOG_INFO, soc_host_now(host),
                   "storage", SOC_SLICE("system"), "%s",
                   is_full ? "the disk is full; no new work starts until there is space"
                           : "disk space is available again; resuming");
}

static void on_failed(const struct soc_detail *detail, void *user)
{
    struct soc_host *host = user;
    host->disk.is_failed = true;
    host->options.failed(host->options.user, detail);
}

/* Tells the journal, if there is one. */
static void retain(struct soc_host *host)
{
    struct soc_retention retention = {host->options.retention_days,
                                      host->options.retention_mb << 20};
    if (host->journal != NULL)
        soc_journal_retain(host->journal, retention);
}

void soc_host_set_retention_days(struct soc_host *host, int64_t days)
{
    host->options.retention_days = days;
    retain(host);
}

void soc_host_set_retention_mb(struct soc_host *host, int64_t mb)
{
    host->options.retention_mb = mb;
    retain(host);
}

int64_t soc_host_retention_days(const struct soc_host *host)
{
    return host->options.retention_days;
}

int64_t soc_host_retention_mb(const struct soc_host *host)
{
    return host->options.retention_mb;
}

int soc_host_start(struct soc_host *host, struct soc_slice app, struct soc_detail *detail)
{
    assert(host->hooks.run != NULL && host->journal == NULL);
    struct soc_buf stored = {0};
    int rc = soc_recover(host, &stored, detail);
    if (rc == SOC_OK && host->registry.user != NULL &&
        !soc_slice_equal(app, soc_buf_slice(&stored)))
        rc = soc_fail(detail, SOC_EOTHERAPP,
                      "the state belongs to the app '%s'; use another --state DIR for this one",
                      soc_buf_text(&stored));
    soc_buf_fini(&stored);
    if (rc < 0)
        return rc;
    if (host->registry.user == NULL) {
        soc_batch_put_meta(host, "app", app);
        soc_agents_create_first(host);
    }
    soc_agents_store_roles(host);
    host->next_sequence = soc_store_sequence(host->options.store) + 1;
    /* A recovered society must not repeat the random numbers it has used. */
    uint64_t seed = host->options.seed + (host->next_sequence - 1) * SEQUENCE_SEED;
    soc_rng_init(&host->rng, seed);
    soc_rng_init(&host->order, seed ^ ORDER_SEED);
    struct soc_journal_events events = {on_durable, on_full, on_failed, host};
    host->journal = soc_journal_open(host->options.store, host->options.loop, &events);
    retain(host);
    soc_ready_add(host, host->registry.user);
    SOC_PARTS_TELL(host, started, host);
    soc_egress_release(host, 0); /* lines of an earlier run that may not have been shown */
    return SOC_OK;
}

void soc_host_begin_main(struct soc_host *host)
{
    assert(host->journal != NULL);
    if (host->main.was_done || host->main.exists)
        return;
    host->main.exists = true;
    soc_main_begin(host);
}

int soc_host_load(struct soc_host *host, struct soc_detail *detail)
{
    struct soc_buf app = {0};
    assert(host->journal == NULL);
    int rc = soc_recover(host, &app, detail);
    soc_buf_fini(&app);
    return rc;
}

bool soc_host_main_was_done(const struct soc_host *host)
{
    return host->main.was_done;
}

static void fire(struct soc_host *host, struct soc_heap_item *item)
{
    char *base = (char *)item;
    assert(!host->turn.is_open && item->kind < SOC_TIMER_PARTS + SOC_PARTS_MAX);
    soc_heap_remove(&host->timers, item);
    if (item->kind == SOC_TIMER_MESSAGE) {
        struct soc_message *message = (void *)(base - offsetof(struct soc_message, timer));
        struct soc_agent *to = message->to;
        soc_router_timer(host, message);
        if (to != NULL)
            soc_ending_check(host, to);
    } else if (item->kind == SOC_TIMER_ACTIVATION) {
        soc_waiting_timer(host, (void *)(base - offsetof(struct soc_activation, timer)));
    } else if (item->kind == SOC_TIMER_REQUEST) {
        soc_request_timeout(host, (void *)(base - offsetof(struct soc_request, timer)));
    } else if (item->kind == SOC_TIMER_AWAITING) {
        soc_awaiting_timeout(host, (void *)item);
    } else {
        const struct soc_part *part = host->parts.timers[item->kind - SOC_TIMER_PARTS];
        assert(part != NULL && part->timer != NULL);
        part->timer(host, item);
    }
}

/* Returns the earlier of two times, where 0 means none. */
static int64_t earlier(int64_t a_ms, int64_t b_ms)
{
    if (a_ms == 0 || b_ms == 0)
        return a_ms + b_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Returns when the first timer is due, 0: none. */
static int64_t timer_due(const struct soc_host *host)
{
    const struct soc_heap_item *item = soc_heap_peek(&host->timers);
    return item == NULL ? 0 : item->due_ms;
}

int64_t soc_host_next_wait(const struct soc_host *host)
{
    return earlier(timer_due(host), host->disk.retry_ms);
}

/* Returns when the first part is due, 0: never. */
static int64_t parts_due(const struct soc_host *host)
{
    int64_t due_ms = 0;
    for (size_t i = 0; host->parts.calls.due[i] != NULL; i++)
        due_ms = earlier(due_ms, host->parts.calls.due[i](host));
    return due_ms;
}

int64_t soc_host_next_due(const struct soc_host *host)
{
    return earlier(soc_host_next_wait(host), parts_due(host));
}

/* A simulated society retries a full disk by its own clock. */
static bool retry_disk(struct soc_host *host)
{
    if (host->disk.retry_ms == 0 || host->disk.retry_ms > soc_host_now(host))
        return false;
    host->disk.retry_ms = soc_host_now(host) + SOC_FULL_RETRY_MS;
    soc_journal_retry(host->journal);
    return true;
}

/* Completes a step (a turn, a timer or a door call): deadlocks, then the parts. */
static void settle(struct soc_host *host)
{
    assert(!host->turn.is_open);
    soc_deadlock_settle(host);
    SOC_PARTS_TELL(host, settle, host);
}

/* Fires the part that is due at that time. If there are several, the last in the table
 * goes first. */
static void fire_part(struct soc_host *host, int64_t due_ms)
{
    const struct soc_part_calls *calls = &host->parts.calls;
    size_t last = SIZE_MAX;
    for (size_t i = 0; calls->due[i] != NULL; i++)
        if (calls->due[i](host) == due_ms)
            last = i;
    assert(last != SIZE_MAX &&
           calls->fire[last] != NULL); /* parts.c: `due` and `fire` come together */
    calls->fire[last](host);
}

static bool fire_next(struct soc_host *host)
{
    struct soc_heap_item *item = soc_heap_peek(&host->timers);
    int64_t due_ms = earlier(timer_due(host), parts_due(host));
    if (due_ms == 0 || due_ms > soc_host_now(host))
        return false;
    if (item != NULL && item->due_ms == due_ms)
        fire(host, item);
    else
        fire_part(host, due_ms);
    settle(host);
    return true;
}

static bool can_run(const struct soc_host *host)
{
    return !host->disk.is_full && !host->disk.is_failed && !host->main.has_failed &&
           host->batch.length < SOC_BATCH_BYTES_MAX && !soc_host_is_saturated(host);
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
    size_t cursor = (size_t)(chance % host->registry.agents.entry_count);
    struct soc_agent *agent = NULL;
    for (int i = 0; i < EVICT_LOOKS; i++) {
        agent = soc_map_each(&host->registry.agents, &cursor);
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

/* Seals a batch when the writer is free, so that batches grow with the load. */
static void flush_if_free(struct soc_host *host)
{
    if (soc_journal_bytes(host->journal) == 0 || host->batch.length >= SOC_BATCH_BYTES_MAX)
        soc_batch_seal(host);
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
    if (host->disk.is_failed)
        return false;
    settle(host); /* what a door or a restart left to do */
    bool did = retry_disk(host) || fire_next(host) || run_next(host);
    flush_if_free(host);
    return did;
}

int64_t soc_host_tick(struct soc_host *host)
{
    if (host->disk.is_failed)
        return SOC_TICK_IDLE;
    settle(host);
    retry_disk(host);
    while (fire_next(host))
        continue;
    int64_t end_ms = soc_host_now(host) + SOC_TICK_MS_MAX;
    for (int i = 0; i < SOC_TURNS_PER_TICK_MAX && run_next(host); i++)
        if (soc_host_now(host) >= end_ms)
            break;
    flush_if_free(host);
    if (host->ready.count > 0 && can_run(host))
        return SOC_TICK_NOW;
    int64_t due_ms = soc_host_next_due(host);
    if (due_ms == 0)
        return SOC_TICK_IDLE;
    int64_t wait_ms = due_ms - soc_host_now(host);
    return wait_ms < 1 ? 1 : wait_ms;
}

static bool is_busy(const struct soc_host *host)
{
    bool is = false;
    for (size_t i = 0; !is && host->parts.calls.is_busy[i] != NULL; i++)
        is = host->parts.calls.is_busy[i](host);
    return is;
}

bool soc_host_is_quiet(const struct soc_host *host)
{
    return host->ready.count == 0 && host->waits.count == 0 && host->transit.count == 0 &&
           host->requests.count == 0 && !is_busy(host) && host->outbox.first == NULL &&
           host->batch.length == 0 && soc_journal_bytes(host->journal) == 0;
}

bool soc_host_main_is_done(const struct soc_host *host)
{
    return host->main.is_done || !host->main.exists;
}

bool soc_host_main_has_failed(const struct soc_host *host)
{
    return host->main.has_failed;
}

struct soc_slice soc_host_main_error(const struct soc_host *host)
{
    return soc_buf_slice(&host->main.error);
}

bool soc_host_is_stalled(const struct soc_host *host)
{
    return host->ready.count == 0 && soc_host_next_due(host) == 0 && host->outbox.first == NULL &&
           host->batch.length == 0 && soc_journal_bytes(host->journal) == 0;
}

bool soc_host_is_full(const struct soc_host *host)
{
    return host->disk.is_full;
}

bool soc_host_is_saturated(const struct soc_host *host)
{
    return soc_journal_bytes(host->journal) >= SOC_JOURNAL_BYTES_MAX;
}

bool soc_host_is_failed(const struct soc_host *host)
{
    return host->disk.is_failed;
}

struct soc_clock *soc_host_clock(struct soc_host *host)
{
    return &host->clock;
}

struct soc_watchdog *soc_host_watchdog(const struct soc_host *host)
{
    return host->options.loop == NULL ? NULL : soc_loop_watchdog(host->options.loop);
}

struct soc_log *soc_host_log(struct soc_host *host)
{
    return &host->log;
}

static void free_activation(struct soc_host *host, struct soc_activation *activation)
{
    if (activation->script != NULL)
        host->hooks.drop(host->hooks.user, activation);
    soc_heap_remove(&host->timers, &activation->timer);
    soc_mail_free(host, activation->message);
    soc_mail_free_list(host, &activation->taken);
    soc_activation_free(activation);
}

static void free_agents(struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
            soc_mail_free_list(host, &agent->mailbox.classes[p]);
        if (agent->activation != NULL)
            free_activation(host, agent->activation);
    }
    for (cursor = 0; (agent = soc_registry_each_remote(host, &cursor)) != NULL;)
        for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
            soc_mail_free_list(host, &agent->mailbox.classes[p]);
    cursor = 0;
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL)
        soc_agent_free(agent);
    soc_map_fini(&host->registry.agents);
}

/* The heap now holds only messages in transit and requests of doors. */
static void free_timers(struct soc_host *host)
{
    struct soc_heap_item *item;
    while ((item = soc_heap_peek(&host->timers)) != NULL) {
        soc_heap_remove(&host->timers, item);
        if (item->kind == SOC_TIMER_MESSAGE)
            soc_mail_free(host, (void *)((char *)item - offsetof(struct soc_message, timer)));
    }
    soc_heap_fini(&host->timers);
}

static void free_host(struct soc_host *host)
{
    size_t cursor = 0;
    void *item;
    assert(!host->turn.is_open);
    soc_awaiting_free_all(host);
    soc_tap_free(host);
    soc_call_keys_fini(host);
    soc_parts_free(host);
    free_agents(host);
    free_timers(host);
    while ((item = soc_map_each(&host->requests, &cursor)) != NULL)
        soc_request_free(item);
    soc_map_fini(&host->requests);
    soc_acks_fini(host);
    soc_map_fini(&host->transit.answers);
    soc_dead_fini(host);
    soc_registry_fini(host);
    while (host->pool.count > 0)
        soc_activation_free(host->pool.items[--host->pool.count]);
    soc_egress_free(host->outbox.first);
    free(host->turn.undo);
    free(host->ready.agents);
    soc_intern_fini(&host->types.table);
    soc_buf_fini(&host->turn.kept);
    soc_buf_fini(&host->waits.changed);
    soc_buf_fini(&host->batch);
    soc_buf_fini(&host->main.error);
    soc_halt_fini(host);
    free(host);
}

void soc_host_close(struct soc_host *host, int64_t fold_ms_max)
{
    SOC_PARTS_TELL(host, stop, host);
    soc_dead_close(host);
    soc_tap_close(host);
    if (host->journal != NULL) {
        soc_batch_seal(host);
        soc_journal_close(host->journal, fold_ms_max);
    }
    free_host(host);
}

void soc_host_crash(struct soc_host *host)
{
    SOC_PARTS_TELL(host, stop, host);
    soc_dead_close(host);
    soc_tap_close(host);
    if (host->journal != NULL)
        soc_journal_crash(host->journal);
    free_host(host);
}

#include "sim/simulate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "sim/callers.h"
#include "sim/outsiders.h"
#include "store/disk/disk.h"
#include "store/journal.h"
#include "store/store.h"

#define SLOW_MS    1000
#define FOLD_BYTES 4096
#define CALLS      60   /* a disk fault strikes within this many calls */
#define ASK_STEPS  32   /* between two polls of is_stopped */
#define FULL_STEPS 16   /* a full disk stays full for about this many steps */
#define APART_MS   1000 /* a date may be off by so much: no step of the clock */

static bool happens(struct soc_simulation *simulation, enum soc_fault_kind kind)
{
    return soc_faults_happens(simulation->faults, kind);
}

/* Returns the cause of a crash: the disk, if it has failed. */
static enum soc_fault_kind cause_of(const struct soc_simulation *simulation)
{
    if (simulation->disk == NULL || !simulation->host->disk.is_failed)
        return SOC_FAULT_CRASH;
    return soc_disk_struck(simulation->disk) == SOC_DISK_CRASH ? SOC_FAULT_POWER : SOC_FAULT_IO;
}

static void log_crash(struct soc_simulation *simulation, int64_t pause_ms)
{
    static const char *const ways[SOC_FAULT_COUNT] = {
        [SOC_FAULT_CRASH] = "the society is killed (kill -9)",
        [SOC_FAULT_POWER] = "the society dies in a disk call",
        [SOC_FAULT_IO] = "a disk call fails and the society stops",
    };
    struct soc_host *host = simulation->host;
    enum soc_fault_kind kind = cause_of(simulation);
    size_t lost = host->batch.length + soc_journal_bytes(host->journal);
    soc_faults_log(simulation->faults, kind, soc_clock_date(&host->clock), (struct soc_slice){0},
                   "%s%s%s; it restarts, the clock moved by %lld ms", ways[kind],
                   simulation->is_losing ? ", the power fails" : "",
                   lost > 0 ? ", not everything was durable" : "", (long long)pause_ms);
}

/* Connects those outside to the host. */
static void join(struct soc_simulation *simulation)
{
    if (simulation->outsiders != NULL)
        soc_outsiders_join(simulation->outsiders, simulation->host);
    if (simulation->callers != NULL)
        soc_callers_join(simulation->callers, simulation->host);
}

static void crash(struct soc_simulation *simulation)
{
    int64_t pause_ms = soc_faults_draw_pause(simulation->faults);
    int64_t date_ms = soc_clock_date(&simulation->host->clock) + pause_ms;
    bool has_power = !simulation->is_losing;
    assert(simulation->restart != NULL);
    log_crash(simulation, pause_ms);
    simulation->is_losing = false;
    if (simulation->callers != NULL)
        soc_callers_part(simulation->callers);
    simulation->restart(simulation, date_ms, has_power);
    if (simulation->host == NULL)
        return;
    int64_t apart_ms = soc_clock_date(&simulation->host->clock) - date_ms;
    simulation->has_moved |= llabs(apart_ms) > APART_MS;
    soc_host_hold(simulation->host, true);
    if (simulation->count != NULL && simulation->host->batch.length == 0)
        simulation->count(simulation);
    join(simulation);
}

/* Folds part of the journal into the tables, as the writer does when it is idle. */
static void fold(struct soc_simulation *simulation)
{
    struct soc_store *store = simulation->host->options.store;
    struct soc_detail detail;
    size_t bytes = (size_t)soc_rng_below(&simulation->faults->rng, FOLD_BYTES);
    soc_faults_log(simulation->faults, SOC_FAULT_FOLD, soc_clock_date(&simulation->host->clock),
                   (struct soc_slice){0}, "part of the journal is folded into the tables");
    int rc = soc_store_fold(store, bytes, &detail);
    if (rc < 0 && rc != SOC_EDISKFULL)
        crash(simulation);
    else if (simulation->folded != NULL && simulation->disk == NULL)
        simulation->folded(simulation);
}

/* Logs when the disk becomes full or has space again, before the clock moves. */
static void log_full(struct soc_simulation *simulation)
{
    bool is_full = simulation->disk != NULL && soc_disk_is_full(simulation->disk);
    if (simulation->host == NULL || is_full == simulation->was_full)
        return;
    simulation->was_full = is_full;
    soc_faults_log(simulation->faults, SOC_FAULT_FULL, soc_clock_date(&simulation->host->clock),
                   (struct soc_slice){0}, "the disk %s", is_full ? "is full" : "has space again");
}

/* Arms a disk fault that strikes soon. The crash follows when the host notices that its
 * disk has failed. */
static void inject_disk_fault(struct soc_simulation *simulation)
{
    static const enum soc_disk_fault errors[] = {SOC_DISK_READ_ERROR, SOC_DISK_WRITE_ERROR,
                                                 SOC_DISK_SYNC_ERROR};
    struct soc_rng *rng = &simulation->faults->rng;
    struct soc_disk *disk = simulation->disk;
    if (soc_disk_is_full(disk)) {
        if (soc_rng_below(rng, FULL_STEPS) == 0)
            soc_disk_clear(disk);
    } else if (happens(simulation, SOC_FAULT_POWER)) {
        simulation->is_losing = soc_rng_below(rng, 4) > 0;
        soc_disk_arm(disk, SOC_DISK_CRASH, 1 + soc_rng_below(rng, CALLS));
    } else if (happens(simulation, SOC_FAULT_IO)) {
        simulation->is_losing = soc_rng_below(rng, 2) > 0;
        soc_disk_arm(disk, errors[soc_rng_below(rng, 3)], 1 + soc_rng_below(rng, CALLS));
    } else if (happens(simulation, SOC_FAULT_FULL)) {
        soc_disk_arm(disk, SOC_DISK_FULL, 1 + soc_rng_below(rng, CALLS));
    }
}

/* Sets the wall clock of a running society. Its own time must not move, so nothing becomes
 * due. */
static void step_clock(struct soc_simulation *simulation)
{
    struct soc_clock *clock = &simulation->host->clock;
    int64_t step_ms = soc_faults_draw_clock_step(simulation->faults);
    int64_t before_ms = soc_clock_now(clock);
    if (step_ms == 0)
        return;
    soc_faults_log(simulation->faults, SOC_FAULT_JUMP, soc_clock_date(clock), (struct soc_slice){0},
                   "the wall clock is set by %lld ms", (long long)step_ms);
    soc_clock_step(clock, step_ms);
    simulation->has_moved |= soc_clock_now(clock) != before_ms;
}

static void evict(struct soc_simulation *simulation)
{
    struct soc_host *host = simulation->host;
    const struct soc_agent *agent = soc_host_evict(host, soc_rng_next(&simulation->faults->rng));
    if (agent != NULL)
        soc_faults_log(simulation->faults, SOC_FAULT_EVICT, soc_clock_date(&host->clock),
                       soc_agent_id(agent), "coroutine dropped; replayed when it resumes");
}

static void slow_down(struct soc_simulation *simulation)
{
    struct soc_host *host = simulation->host;
    int64_t now_ms = soc_host_now(host);
    int64_t ms = 1 + (int64_t)soc_rng_below(&simulation->faults->rng, SLOW_MS);
    soc_faults_log(simulation->faults, SOC_FAULT_SLOW, soc_clock_date(&host->clock),
                   (struct soc_slice){0}, "%lld ms pass", (long long)ms);
    soc_clock_move(&host->clock, now_ms + ms);
}

/* Injects the faults of one step. Late batches are not logged until a crash loses them,
 * since that would be a line for nearly every step. */
static void inject_faults(struct soc_simulation *simulation)
{
    struct soc_faults *faults = simulation->faults;
    struct soc_host *host = simulation->host;
    if (simulation->disk != NULL)
        inject_disk_fault(simulation);
    log_full(simulation);
    step_clock(simulation);
    if (!happens(simulation, SOC_FAULT_LAG))
        soc_host_commit(host, 1 + (size_t)soc_rng_below(&faults->rng, 4));
    if (happens(simulation, SOC_FAULT_EVICT))
        evict(simulation);
    if (happens(simulation, SOC_FAULT_SLOW))
        slow_down(simulation);
    if (happens(simulation, SOC_FAULT_CRASH))
        crash(simulation);
    else if (happens(simulation, SOC_FAULT_FOLD))
        fold(simulation);
}

/* Makes everything durable. Released output may record more, hence the loop. */
static bool make_durable(struct soc_host *host)
{
    bool did = false;
    for (int i = 0; i < 3 && (host->batch.length > 0 || soc_journal_bytes(host->journal) > 0);
         i++) {
        soc_batch_seal(host);
        soc_host_commit(host, SIZE_MAX);
        did = true;
    }
    return did;
}

/* Has the live society counted if everything is durable; `is_made` makes it so. */
static void count(struct soc_simulation *simulation, bool is_made)
{
    struct soc_host *host = simulation->host;
    if (simulation->count == NULL || host == NULL || host->disk.is_failed || host->disk.is_full)
        return;
    if (is_made)
        make_durable(host);
    if (host->batch.length == 0 && soc_journal_bytes(host->journal) == 0 && !host->disk.is_failed)
        simulation->count(simulation);
}

static bool has_ended(const struct soc_host *host)
{
    return host == NULL || host->main.has_failed || host->disk.is_failed;
}

/* Returns when the next timer that counts is due, 0: none. */
static int64_t host_due(const struct soc_host *host, bool is_app)
{
    if (is_app)
        return soc_host_main_is_done(host) && soc_host_is_quiet(host) ? 0 : soc_host_next_due(host);
    return soc_host_next_wait(host) == 0 ? 0 : soc_host_next_due(host);
}

/* Returns the earlier of two times, where 0 means none. */
static int64_t earlier(int64_t a_ms, int64_t b_ms)
{
    if (a_ms == 0 || b_ms == 0)
        return a_ms + b_ms;
    return a_ms < b_ms ? a_ms : b_ms;
}

static int64_t next_due(const struct soc_simulation *simulation, bool is_app)
{
    int64_t due_ms = host_due(simulation->host, is_app);
    if (simulation->outsiders != NULL)
        due_ms = earlier(due_ms, soc_outsiders_due(simulation->outsiders));
    if (simulation->callers != NULL)
        due_ms = earlier(due_ms, soc_callers_due(simulation->callers));
    return due_ms;
}

/* Lets those outside do something that is due. */
static bool act_outside(struct soc_simulation *simulation)
{
    bool has_acted =
        simulation->outsiders != NULL && soc_outsiders_act(simulation->outsiders, simulation->host);
    return (simulation->callers != NULL && soc_callers_act(simulation->callers)) || has_acted;
}

/* Injects the faults of a step, which may start the host anew. Returns whether it runs. */
static bool strike(struct soc_simulation *simulation)
{
    if (simulation->faults != NULL)
        inject_faults(simulation);
    if (simulation->has_moved)
        return false;
    if (simulation->disk != NULL && simulation->host != NULL && simulation->host->disk.is_failed)
        crash(simulation);
    return !has_ended(simulation->host);
}

/* Takes a step; what is not durable becomes so if there is nothing else to do. Returns whether
 * there was anything. */
static bool step(struct soc_simulation *simulation)
{
    struct soc_host *host = simulation->host;
    bool has_acted = act_outside(simulation);
    bool has_stepped = soc_host_step(host) || has_acted || make_durable(host);
    if (simulation->faults != NULL)
        log_full(simulation);
    if (simulation->faults != NULL && simulation->faults->has_raised) {
        simulation->faults->has_raised = false;
        count(simulation, true);
    }
    return has_stepped;
}

static bool is_stopped(struct soc_simulation *simulation)
{
    return simulation->is_stopped != NULL && simulation->steps % ASK_STEPS == 0 &&
           simulation->is_stopped(simulation);
}

static enum soc_simulated run(struct soc_simulation *simulation, int64_t until_ms, bool is_app)
{
    int64_t end_ms =
        simulation->span_ms == 0 ? INT64_MAX : soc_host_now(simulation->host) + simulation->span_ms;
    for (;;) {
        simulation->steps++;
        if (simulation->steps_max != 0 && simulation->steps > simulation->steps_max)
            return SOC_SIMULATED_STUCK;
        if (is_stopped(simulation))
            return SOC_SIMULATED_STOPPED;
        bool is_running = strike(simulation);
        if (simulation->has_moved)
            return SOC_SIMULATED_MOVED;
        if (!is_running)
            break;
        if (step(simulation))
            continue;
        struct soc_host *host = simulation->host;
        int64_t due_ms = next_due(simulation, is_app && until_ms == 0);
        if (until_ms != 0)
            due_ms = soc_host_next_due(host);
        if (due_ms == 0 || (until_ms != 0 && due_ms > until_ms))
            return until_ms == 0 ? SOC_SIMULATED_QUIET : SOC_SIMULATED_TIME;
        if (due_ms > end_ms)
            return SOC_SIMULATED_LATE;
        soc_clock_move(&host->clock, due_ms);
    }
    return SOC_SIMULATED_ENDED;
}

enum soc_simulated soc_simulate(struct soc_simulation *simulation, int64_t until_ms, bool is_app)
{
    assert(simulation->host != NULL && simulation->host->options.loop == NULL);
    if (simulation->faults != NULL)
        soc_host_hold(simulation->host, true);
    join(simulation);
    enum soc_simulated end = run(simulation, until_ms, is_app);
    struct soc_host *host = simulation->host;
    if (host == NULL)
        return SOC_SIMULATED_ENDED;
    if (end == SOC_SIMULATED_TIME)
        soc_clock_move(&host->clock, until_ms);
    soc_simulate_settle(simulation);
    return end;
}

bool soc_simulate_step(struct soc_simulation *simulation)
{
    assert(simulation->host != NULL && simulation->faults != NULL);
    simulation->steps++;
    soc_host_hold(simulation->host, true);
    return strike(simulation) && step(simulation);
}

void soc_simulate_settle(struct soc_simulation *simulation)
{
    struct soc_host *host = simulation->host;
    make_durable(host);
    count(simulation, false);
    soc_host_hold(host, false);
}

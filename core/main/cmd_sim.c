#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "check/check.h"
#include "embed/assembly.h"
#include "embed/home.h"
#include "env/clock.h"
#include "kernel/look.h"
#include "main/command.h"
#include "main/options.h"
#include "main/show.h"
#include "parts/tasks/tasks.h"
#include "script/calls/chat.h"
#include "sim/callers.h"
#include "sim/outsiders.h"
#include "sim/simulate.h"
#include "store/disk/disk.h"
#include "store/sqlite/sqlite.h"
#include "world/witness.h"

#define PROGRESS_US 1000000 /* between two progress lines */

#define KEPT_BYTES (256 << 20)
#define TOP_BYTES  (4 << 20)

/* Default limits of one seed. A seed that exceeds one of them counts as endless. */
#define STEPS_MAX 5000000
#define SPAN_MS   31536000000 /* a year */

#define NEW_DISK_IN 4 /* one seed in this many has an empty disk */
#define BUSIEST     5 /* agents named when a seed is endless */

struct sim {
    const char *path;         /* of the app */
    const char *again_before; /* the command that repeats a seed, before and after `--seed N` */
    const char *again_after;
    const char *faults;
    int64_t steps_max; /* of one seed */
    int64_t span_ms;   /* virtual time of one seed */
    const char *dump;  /* file that receives the rows of the store at the end */
    FILE *dump_file;
    int start_fd;    /* the directory the command was started in, for the dump */
    const char *app; /* file name, relative to the app's directory */
    char *home;      /* owned; NULL: not found */
    bool is_json;
    bool is_strict;
    bool is_many;                  /* several seeds: no transcripts */
    struct soc_text_list policies; /* paths relative to the app's directory */
    struct soc_text_list settings;
    struct soc_text_list rest; /* the app's own arguments */
    struct soc_detail failure; /* of the store, or of a restart */
    int output_error;          /* errno of the first failed write to stdout, or 0 */
    uint32_t fault_set;
    struct soc_faults plan;
    struct soc_buf last_error;
    struct soc_buf unexpected;       /* the first model call without a scripted answer */
    struct soc_buf blank;            /* an empty database in memory */
    struct soc_disk *empty_disk;     /* has an empty store */
    struct soc_disk *disk;           /* of this seed; NULL: in memory */
    struct soc_outsiders *outsiders; /* of this seed */
    struct soc_callers *callers;     /* of this seed; NULL: the app wants none */
    struct soc_check *check;
    struct soc_witness witness;
    struct soc_assembly parts;
    struct soc_assembly_options options;
    uint64_t messages; /* of all seeds together */
    uint64_t first;    /* seed */
    uint64_t last;
    uint64_t count;      /* of seeds */
    int64_t start_us;    /* when the first seed started */
    int64_t progress_us; /* when progress was last printed */
};

static bool show(void *user, struct soc_slice stream, struct soc_slice agent, struct soc_slice text)
{
    struct sim *sim = user;
    soc_check_shown(sim->check, stream, agent, text);
    if (sim->is_many)
        return true;
    if (sim->output_error == 0 && !soc_show(stream.data, agent.data, text, sim->is_json))
        sim->output_error = errno == 0 ? EIO : errno;
    return sim->output_error == 0;
}

static int64_t now_of(const struct sim *sim)
{
    return soc_clock_now(soc_host_clock(sim->parts.host));
}

static void note_handed(void *user, struct soc_slice agent, uint64_t key, struct soc_slice id)
{
    struct sim *sim = user;
    soc_check_outside(sim->check, agent, key, id, now_of(sim));
}

static void note_acked(void *user, struct soc_slice agent, uint64_t key, bool is_done)
{
    struct sim *sim = user;
    soc_check_acked(sim->check, agent, key, is_done, now_of(sim));
}

static void note_said(void *user, struct soc_slice agent, struct soc_slice external_id,
                      struct soc_slice to)
{
    struct sim *sim = user;
    soc_check_said(sim->check, agent, external_id, to, now_of(sim));
}

static void check_folded(struct soc_simulation *simulation)
{
    const struct sim *sim = simulation->user;
    soc_check_stored(sim->check, sim->parts.store);
}

static void count_all(struct soc_simulation *simulation)
{
    soc_witness_census(((struct sim *)simulation->user)->check, simulation->host);
}

static void note_failure(void *user, const struct soc_detail *detail)
{
    struct sim *sim = user;
    sim->failure = *detail;
}

/* With several seeds only the last error is kept, for the seed that fails. */
static void write_transcript(struct soc_slice line, void *user)
{
    struct sim *sim = user;
    if (sim->is_many) {
        sim->last_error.length = 0;
        soc_buf_put_slice(&sim->last_error, line);
    } else {
        fwrite(line.data, 1, line.length, stdout);
    }
}

static int report_waits(const struct soc_assembly *parts)
{
    struct soc_buf waits = {0};
    struct soc_json_walk walk;
    fflush(stdout);
    soc_look_waits(parts->host, &waits);
    soc_complain(0, "nothing is left to run and main has not finished; waiting:");
    soc_json_walk(&walk, soc_buf_slice(&waits));
    while (soc_json_next(&walk))
        fprintf(stderr, "  %.*s\n", (int)walk.value.length, walk.value.data);
    soc_buf_fini(&waits);
    return SOC_EXIT_FAILED;
}

/* Call this before a script is freed: its record of model calls is freed with it. */
static void note_calls(struct sim *sim)
{
    if (sim->unexpected.length == 0 && sim->parts.script != NULL)
        soc_buf_put_text(&sim->unexpected, soc_chat_unexpected(sim->parts.script));
}

/* Opens the store as the crash left it and starts the society, which may crash again. */
static int start_again(struct sim *sim, int64_t date_ms, bool has_power)
{
    int rc = SOC_OK;
    sim->failure.text[0] = '\0';
    note_calls(sim);
    if (sim->disk != NULL) {
        soc_disk_kill(sim->disk);
        soc_assembly_crash(&sim->parts);
        soc_store_close(sim->parts.store);
        sim->parts.store = NULL;
        soc_disk_restart(sim->disk, has_power ? SOC_DISK_KILL : SOC_DISK_POWER_LOSS);
        uint64_t call = soc_faults_draw_start_crash(&sim->plan);
        if (call > 0)
            soc_disk_arm(sim->disk, SOC_DISK_CRASH, call);
        rc = soc_assembly_reopen(&sim->parts, &sim->options, &sim->failure);
    } else {
        soc_assembly_crash(&sim->parts);
    }
    if (rc < 0)
        return rc;
    /* Check what the crash left before the society changes it. */
    soc_check_reload(sim->check, sim->parts.store);
    return soc_assembly_resume(&sim->parts, &sim->options, date_ms, &sim->failure);
}

static void restart(struct soc_simulation *simulation, int64_t date_ms, bool has_power)
{
    struct sim *sim = simulation->user;
    int rc = start_again(sim, date_ms, has_power);
    while (rc < 0 && sim->disk != NULL && soc_disk_struck(sim->disk) != SOC_DISK_NONE) {
        bool is_up = soc_rng_below(&sim->plan.rng, 2) > 0;
        soc_faults_log(&sim->plan, SOC_FAULT_POWER, date_ms, (struct soc_slice){0},
                       "crash during recovery%s; restarting", is_up ? "" : " with power loss");
        rc = start_again(sim, date_ms, is_up);
    }
    simulation->host = rc < 0 ? NULL : sim->parts.host;
}

static int report_main(const struct sim *sim)
{
    if (sim->last_error.length > 0)
        fwrite(sim->last_error.data, 1, sim->last_error.length, stderr);
    return SOC_EXIT_FAILED;
}

static void print_progress(struct sim *sim, uint64_t done, int64_t now_us)
{
    double seconds = now_us - sim->start_us < 1 ? 1e-6 : (double)(now_us - sim->start_us) / 1e6;
    fprintf(stderr, "%llu of %llu seeds, %.1f seeds/s\n", (unsigned long long)done,
            (unsigned long long)sim->count, (double)done / seconds);
    sim->progress_us = now_us;
}

static void print_place(const char *before, uint64_t seed, const struct soc_simulation *at)
{
    char time[SOC_TIME_BYTES];
    soc_time_format(time, soc_clock_date(soc_host_clock(at->host)));
    soc_complain(0, "%sseed %llu: virtual time %.*s, %llu steps", before, (unsigned long long)seed,
                 SOC_TIME_BYTES, time, (unsigned long long)at->steps);
}

/* While several seeds run, SIGINT and SIGTERM are blocked and polled here. */
static bool is_interrupted(void)
{
    sigset_t signals;
    sigpending(&signals);
    return sigismember(&signals, SIGINT) == 1 || sigismember(&signals, SIGTERM) == 1;
}

static bool is_stopped(struct soc_simulation *simulation)
{
    struct sim *sim = simulation->user;
    uint64_t seed = sim->options.seed;
    int64_t now_us = soc_clock_monotonic_us();
    if (is_interrupted()) {
        print_place("stopped: ", seed, simulation);
        return true;
    }
    if (now_us - sim->progress_us >= PROGRESS_US) {
        print_progress(sim, seed - sim->first, now_us);
        print_place("", seed, simulation);
    }
    return false;
}

static int report_endless(const struct sim *sim, enum soc_simulated end)
{
    struct soc_buf busiest = {0};
    soc_check_put_busiest(sim->check, BUSIEST, &busiest);
    if (end == SOC_SIMULATED_LATE)
        soc_complain(0,
                     "the run does not end: the next event is more than %lld ms of virtual time "
                     "after the start (--limit-ms)",
                     (long long)sim->span_ms);
    else
        soc_complain(0, "the run does not end: %lld steps taken (--limit-steps)",
                     (long long)sim->steps_max);
    if (busiest.length > 0)
        soc_complain(0, "busiest agents: %s", soc_buf_text(&busiest));
    soc_buf_fini(&busiest);
    return SOC_EXIT_FAILED;
}

/* Names the tasks that nobody has ended, which is a failure with --strict. */
static int report_tasks(const struct sim *sim)
{
    struct soc_buf names = {0};
    bool has_some = soc_tasks_put_open(sim->parts.host, &names) > 0;
    if (has_some && (sim->is_strict || !sim->is_many))
        soc_complain(0, "%s", soc_buf_text(&names));
    soc_buf_fini(&names);
    return has_some && sim->is_strict ? SOC_EXIT_FAILED : SOC_EXIT_DONE;
}

/* Lends what the callers complain of; NULL: nothing. */
static const char *judge_callers(struct sim *sim, const struct soc_simulation *simulation)
{
    if (sim->callers == NULL)
        return NULL;
    if (sim->disk != NULL)
        soc_disk_clear(sim->disk); /* no faults after the run */
    if (simulation->host != NULL && !soc_host_is_failed(simulation->host))
        soc_callers_end(sim->callers);
    return soc_callers_fault(sim->callers);
}

static int run_parts(struct sim *sim)
{
    struct soc_simulation simulation = {
        .host = sim->parts.host,
        .faults = sim->options.faults,
        .disk = sim->disk,
        .outsiders = sim->outsiders,
        .callers = sim->callers,
        .steps_max = (uint64_t)sim->steps_max,
        .span_ms = sim->span_ms,
        .is_stopped = sim->is_many ? is_stopped : NULL,
        .restart = restart,
        .count = count_all,
        .folded = check_folded,
        .user = sim,
    };
    enum soc_simulated end = soc_simulate(&simulation, 0, true);
    const char *fault = judge_callers(sim, &simulation);
    if (fault != NULL)
        return soc_complain(SOC_EXIT_FAILED, "%s", fault);
    if (soc_check_fault(sim->check) != NULL)
        return soc_complain(SOC_EXIT_FAILED, "%s", soc_check_fault(sim->check));
    if (sim->failure.text[0] != '\0')
        return soc_complain(SOC_EXIT_DISK, "%s", sim->failure.text);
    if (sim->output_error != 0)
        return soc_complain(SOC_EXIT_FAILED, "stdout: %s", strerror(sim->output_error));
    note_calls(sim);
    if (sim->unexpected.length > 0)
        soc_complain(0, "%s", soc_buf_text(&sim->unexpected));
    if (end == SOC_SIMULATED_STOPPED)
        return SOC_EXIT_INTERRUPTED;
    if (end == SOC_SIMULATED_MOVED)
        return soc_complain(SOC_EXIT_FAILED, "%s", SOC_SIMULATED_MOVED_TEXT);
    if (end == SOC_SIMULATED_STUCK || end == SOC_SIMULATED_LATE)
        return report_endless(sim, end);
    if (end == SOC_SIMULATED_ENDED)
        return report_main(sim);
    if (!soc_host_main_is_done(simulation.host))
        return report_waits(&sim->parts);
    soc_check_end(sim->check, INT64_MAX); /* every deadline has passed */
    if (soc_check_fault(sim->check) != NULL)
        return soc_complain(SOC_EXIT_FAILED, "%s", soc_check_fault(sim->check));
    int code = report_tasks(sim);
    return sim->unexpected.length > 0 ? SOC_EXIT_FAILED : code;
}

/* Changes to the app's directory, so that paths in messages, tracebacks and the store do
 * not depend on where the command was started. */
static int enter_app_directory(struct sim *sim)
{
    const char *path = sim->path;
    const char *slash = strrchr(path, '/');
    struct soc_buf home = {0};
    if (soc_home_find(&home))
        sim->home = realpath(soc_buf_text(&home), NULL);
    soc_buf_fini(&home);
    if (sim->dump != NULL && (sim->start_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return soc_complain(SOC_EXIT_FAILED, ".: %s", strerror(errno));
    sim->app = slash == NULL ? path : slash + 1;
    char *directory = slash == NULL
                          ? soc_copy_text(".", 1)
                          : soc_copy_text(path, slash == path ? 1 : (size_t)(slash - path));
    int code = SOC_EXIT_DONE;
    if (slash != NULL && chdir(directory) < 0)
        code = soc_complain(SOC_EXIT_FAILED, "%s: %s", path, strerror(errno));
    free(directory);
    return code;
}

static void prepare(struct sim *sim)
{
    sim->check = soc_check_new();
    sim->witness = soc_witness_of(sim->check);
    sim->options = (struct soc_assembly_options){
        .app_file = sim->app,
        .home = sim->home,
        .is_simulated = true,
        .blank = &sim->blank,
        .arguments = (char *const *)sim->rest.items,
        .argument_count = sim->rest.count,
        .policies = sim->policies.items,
        .settings = sim->settings.items,
        .log = {.level = sim->is_many ? SOC_LOG_ERROR : SOC_LOG_INFO,
                .is_json = sim->is_json,
                .write = write_transcript,
                .user = sim},
        .show = show,
        .failed = note_failure,
        .user = sim,
        .faults = sim->fault_set == SOC_FAULTS_NONE ? NULL : &sim->plan,
        .witness = &sim->witness,
    };
}

static void take_dump(int rc, struct soc_slice rows, void *user)
{
    if (rc == SOC_OK)
        soc_buf_put_slice(user, rows);
}

/* Writes every row of the store, sorted, one per line. */
static int write_dump(struct sim *sim)
{
    struct soc_buf rows = {0};
    struct soc_json_walk walk;
    struct soc_query query = {.what = "dump"};
    if (sim->disk != NULL)
        soc_disk_clear(sim->disk); /* no faults after the run */
    soc_look_query(sim->parts.host, &query, take_dump, &rows);
    soc_json_walk(&walk, rows.length > 0 ? soc_buf_slice(&rows) : SOC_SLICE("[]"));
    while (soc_json_next(&walk))
        fprintf(sim->dump_file, "%.*s\n", (int)walk.value.length, walk.value.data);
    soc_buf_fini(&rows);
    bool is_written = fflush(sim->dump_file) == 0 && !ferror(sim->dump_file);
    return is_written ? SOC_EXIT_DONE : soc_complain(SOC_EXIT_FAILED, "cannot write %s", sim->dump);
}

/* Creates a disk for the seed if its plan needs one. */
static int take_disk(struct sim *sim, uint64_t seed, struct soc_detail *detail)
{
    int rc = SOC_OK;
    soc_store_close(sim->parts.store);
    sim->parts.store = NULL;
    soc_disk_free(sim->disk);
    sim->disk = NULL;
    if (sim->plan.has_disk && sim->empty_disk == NULL) {
        struct soc_store *store;
        sim->empty_disk = soc_disk_new(0);
        rc = soc_sqlite_open(&store, &(struct soc_sqlite_options){.disk = sim->empty_disk}, detail);
        if (rc == SOC_OK)
            soc_store_close(store);
    }
    if (sim->plan.has_disk) /* some seeds also make their store */
        sim->disk =
            seed % NEW_DISK_IN == 0 ? soc_disk_new(seed) : soc_disk_copy(sim->empty_disk, seed);
    sim->options.disk = sim->disk;
    return rc;
}

/* Keeps freed memory in the process for the next seed. Returning it to the system, which
 * clears it again, would cost time hundreds of times a second. */
static void tune(void)
{
    soc_sqlite_be_alone();
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    mallopt(M_TOP_PAD, TOP_BYTES);
#endif
}

/* Called after the app has loaded: a failed load does not truncate an older dump. */
static int open_dump(struct sim *sim, struct soc_detail *detail)
{
    if (sim->dump == NULL)
        return SOC_OK;
    int fd = openat(sim->start_fd, sim->dump, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0)
        sim->dump_file = fdopen(fd, "w");
    return sim->dump_file != NULL
               ? SOC_OK
               : soc_fail(detail, SOC_EACCESS, "%s: %s", sim->dump, strerror(errno));
}

/* The first seed creates the assembly; later ones reuse it. */
static int begin(struct sim *sim, uint64_t seed, struct soc_detail *detail)
{
    bool is_first = sim->parts.L == NULL;
    if (!is_first)
        soc_assembly_crash(&sim->parts);
    int rc = take_disk(sim, seed, detail);
    if (rc == SOC_OK && is_first) {
        rc = soc_assembly_load(&sim->parts, &sim->options, detail);
        if (rc == SOC_OK)
            rc = open_dump(sim, detail);
        return rc == SOC_OK ? soc_assembly_start(&sim->parts, detail) : rc;
    }
    if (rc == SOC_OK)
        rc = soc_assembly_reopen(&sim->parts, &sim->options, detail);
    return rc == SOC_OK ? soc_assembly_resume(&sim->parts, &sim->options, 0, detail) : rc;
}

static int simulate(struct sim *sim, uint64_t seed)
{
    struct soc_detail detail = {0};
    sim->options.seed = seed;
    sim->last_error.length = 0;
    sim->unexpected.length = 0;
    sim->failure.text[0] = '\0';
    soc_check_reset(sim->check);
    soc_faults_init(&sim->plan, sim->fault_set, seed);
    sim->plan.log = sim->is_many ? NULL : &sim->options.log;
    soc_outsiders_free(sim->outsiders);
    struct soc_outsiders_watch watch = {note_handed, note_acked, note_said, sim};
    sim->outsiders = soc_outsiders_new(seed, sim->options.faults, &watch);
    soc_check_watched(sim->check);
    soc_callers_free(sim->callers);
    sim->callers = NULL;
    int rc = begin(sim, seed, &detail);
    if (rc == SOC_OK && soc_script_callers(sim->parts.script) > 0)
        sim->callers = soc_callers_new(seed, soc_script_callers(sim->parts.script));
    int code = rc < 0 ? soc_complain(soc_exit_of(rc), "%s", detail.text) : run_parts(sim);
    if (sim->dump_file != NULL && sim->parts.host != NULL) {
        int dumped = write_dump(sim);
        code = code == SOC_EXIT_DONE ? dumped : code;
    }
    sim->messages += soc_check_messages(sim->check);
    return code;
}

static void print_repeat_command(const struct sim *sim, uint64_t seed, const char *what)
{
    soc_complain(0, "seed %llu %s; repeat it with: %s --seed %llu%s", (unsigned long long)seed,
                 what, sim->again_before, (unsigned long long)seed, sim->again_after);
}

static void block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

static int simulate_many(struct sim *sim)
{
    uint64_t first = sim->first;
    uint64_t last = sim->last;
    sim->count = last - first == UINT64_MAX ? UINT64_MAX : last - first + 1;
    sim->start_us = sim->progress_us = soc_clock_monotonic_us();
    block_signals();
    for (uint64_t seed = first;; seed++) {
        int code = simulate(sim, seed);
        bool is_over = code == SOC_EXIT_INTERRUPTED;
        if (sim->is_json && !is_over)
            printf("{\"seed\":%llu,\"ok\":%s}\n", (unsigned long long)seed,
                   code == SOC_EXIT_DONE ? "true" : "false");
        if (fflush(stdout) != 0) /* not a failure of the seed */
            return soc_complain(SOC_EXIT_FAILED, "stdout: %s", strerror(errno));
        if (code != SOC_EXIT_DONE) {
            print_repeat_command(sim, seed, is_over ? "was stopped" : "failed");
            return code;
        }
        int64_t now_us = soc_clock_monotonic_us();
        if (seed == last || now_us - sim->progress_us >= PROGRESS_US)
            print_progress(sim, seed - first + 1, now_us);
        if (seed == last)
            return SOC_EXIT_DONE;
        if (is_interrupted())
            return soc_complain(SOC_EXIT_INTERRUPTED, "stopped after seed %llu",
                                (unsigned long long)seed);
    }
}

static int run_seeds(struct sim *sim)
{
    struct soc_detail detail;
    if (!soc_faults_parse(sim->faults, &sim->fault_set, &detail))
        return soc_complain(SOC_EXIT_USAGE, "sim: --faults: %s", detail.text);
    int code = enter_app_directory(sim);
    if (code != SOC_EXIT_DONE)
        return code;
    tune();
    prepare(sim);
    code = sim->is_many ? simulate_many(sim) : simulate(sim, sim->first);
    soc_callers_free(sim->callers); /* they listen to the host */
    soc_assembly_free(&sim->parts);
    soc_outsiders_free(sim->outsiders);
    soc_disk_free(sim->disk);
    soc_disk_free(sim->empty_disk);
    soc_check_free(sim->check);
    soc_buf_fini(&sim->last_error);
    soc_buf_fini(&sim->unexpected);
    soc_buf_fini(&sim->blank);
    if (sim->dump_file != NULL)
        fclose(sim->dump_file);
    if (sim->start_fd >= 0)
        close(sim->start_fd);
    free(sim->home);
    return code;
}

/* A seed is any unsigned 64-bit number; Lua integers are signed. */
static bool read_seed(lua_State *L, const char *name, uint64_t *seed)
{
    const char *digits = soc_options_text(L, name);
    assert(digits != NULL && digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0');
    errno = 0;
    *seed = strtoull(digits, NULL, 10);
    bool is_seed = errno == 0;
    if (!is_seed)
        soc_complain(0, "sim: seed %s is too large", digits);
    return is_seed;
}

int soc_cmd_sim(lua_State *L)
{
    struct sim sim = {
        .path = soc_options_text(L, "app"),
        .again_before = soc_options_text(L, "again_before"),
        .again_after = soc_options_text(L, "again_after"),
        .faults = soc_options_text(L, "faults"),
        .dump = soc_options_text(L, "dump"),
        .start_fd = -1,
        .steps_max = soc_options_number(L, "limit_steps", STEPS_MAX),
        .span_ms = soc_options_number(L, "limit_ms", SPAN_MS),
        .is_json = soc_options_flag(L, "json"),
        .is_strict = soc_options_flag(L, "strict"),
        .is_many = soc_options_flag(L, "is_many"),
        .policies = soc_options_list(L, "policy"),
        .settings = soc_options_list(L, "set"),
        .rest = soc_options_list(L, "rest"),
    };
    assert(sim.path != NULL && sim.faults != NULL && sim.again_before != NULL);
    int code = SOC_EXIT_USAGE;
    if (read_seed(L, "first", &sim.first) && read_seed(L, "last", &sim.last)) {
        if (sim.first <= sim.last)
            code = run_seeds(&sim);
        else
            soc_complain(0, "sim: --seeds A..B needs A <= B");
    }
    soc_text_list_fini(&sim.policies);
    soc_text_list_fini(&sim.settings);
    soc_text_list_fini(&sim.rest);
    lua_pushinteger(L, code);
    return 1;
}

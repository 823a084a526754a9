#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "bridge/control/client.h"
#include "env/clock.h"
#include "env/log.h"
#include "main/command.h"
#include "main/options.h"
#include "main/show.h"
#include "society.h"

#define HELD_TRIES    40
#define HELD_PAUSE_MS 50

struct run {
    const char *app;
    const char *state;
    const char *level;
    const char *again;   /* the command that continues the run */
    const char *welcome; /* printed before the address of the page; NULL: nothing */
    bool is_fresh;
    bool retries_main;
    bool accepts_changes;
    bool is_json;
    bool is_quiet;
    const char *http;
    const char *web;
    bool is_http_open;
    bool is_insecure;
    bool is_once;
    const char *redis;
    struct soc_text_list policies;
    struct soc_text_list settings;
    struct soc_text_list rest; /* arguments of the app */
    struct soc_society *society;
    int output_error; /* errno of the first failed write to stdout, or 0 */
};

/* Writes nothing after the first failure; the next run shows the rest. */
static bool show(void *user, const char *stream, const char *agent, const char *text, size_t length)
{
    struct run *run = user;
    if (run->output_error == 0 && !soc_show(stream, agent, soc_slice(text, length), run->is_json))
        run->output_error = errno == 0 ? EIO : errno;
    return run->output_error == 0;
}

/* Prints the final status, as JSON if the log is JSON. */
static int __attribute__((format(printf, 4, 5)))
conclude(const struct run *run, int code, const char *event, const char *format, ...)
{
    struct soc_buf text = {0};
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    size_t length = (size_t)vsnprintf(NULL, 0, format, args);
    va_end(args);
    vsnprintf(soc_buf_reserve(&text, length + 1), length + 1, format, again);
    va_end(again);
    text.length = length;
    if (run->is_json) {
        bool is_failure = code != SOC_EXIT_DONE && code != SOC_EXIT_INTERRUPTED;
        struct soc_log log = {.is_json = true};
        struct soc_clock clock;
        soc_clock_init(&clock, false);
        soc_log_line(&log, is_failure ? SOC_LOG_ERROR : SOC_LOG_INFO, soc_clock_now(&clock), event,
                     (struct soc_slice){0}, soc_buf_slice(&text));
    } else {
        soc_complain(code, "%s", soc_buf_text(&text));
    }
    soc_buf_fini(&text);
    return code;
}

static int end_run(const struct run *run, enum soc_society_end end)
{
    if (end == SOC_SOCIETY_DISK_FAILED)
        return conclude(run, SOC_EXIT_DISK, "ended",
                        "ended without storing everything; the next start goes on from "
                        "what is stored");
    if (end == SOC_SOCIETY_FAILED)
        return conclude(
            run, SOC_EXIT_FAILED, "ended",
            "main failed; to try it again: %s\n"
            "  to run main from its start: add --retry-main; to start over: add --fresh",
            run->again);
    if (run->output_error != 0)
        return conclude(run, SOC_EXIT_FAILED, "ended", "stdout: %s", strerror(run->output_error));
    if (end == SOC_SOCIETY_INTERRUPTED)
        return conclude(run, SOC_EXIT_INTERRUPTED, "ended", "interrupted; resume with: %s",
                        run->again);
    if (end == SOC_SOCIETY_STOPPED || end == SOC_SOCIETY_TERMINATED)
        return conclude(run, SOC_EXIT_DONE, "ended", "stopped; resume with: %s", run->again);
    return SOC_EXIT_DONE;
}

/* Returns true if another command holds the state of the stopped society, which takes
 * moments. A running society answers on its socket and keeps the lock. */
static bool is_held_for_a_moment(const char *state)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, state, &detail);
    if (rc == SOC_OK)
        soc_control_client_close(client);
    return rc == SOC_ENOFILE;
}

static int open_society(struct run *run, const struct soc_society_options *options, char *error)
{
    int rc = soc_society_open(&run->society, options, error);
    for (int i = 0; i < HELD_TRIES && rc == SOC_ELOCKED && is_held_for_a_moment(run->state); i++) {
        poll(NULL, 0, HELD_PAUSE_MS);
        rc = soc_society_open(&run->society, options, error);
    }
    return rc;
}

/* What SOCIETY_WATCHDOG_MS says; 0 if it is not set or no number. */
static int watchdog_ms(void)
{
    const char *text = getenv("SOCIETY_WATCHDOG_MS");
    return text == NULL ? 0 : atoi(text);
}

/* What SOCIETY_TRIAL_MS says: 0 is no time at all. */
static int trial_ms(void)
{
    const char *text = getenv("SOCIETY_TRIAL_MS");
    int ms = text == NULL ? 0 : atoi(text);
    return text != NULL && ms <= 0 ? -1 : ms;
}

/* Asks on the terminal; anything but yes is no. */
static bool confirm(void *user, const char *text)
{
    (void)user;
    char line[16];
    fprintf(stderr, "%s; park them as dead letters and go on? [y/N] ", text);
    fflush(stderr);
    return fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

/* The exit code of a failed disk stands: a signal that comes during the last steps changes
 * nothing any more. */
static void hold_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static int run_app(struct run *run)
{
    char *program = realpath("/proc/self/exe", NULL); /* NULL: clients can start no replay */
    struct soc_society_options options = {
        .app_file = run->app,
        .state_dir = run->state,
        .program = program,
        .is_fresh = run->is_fresh,
        .retries_main = run->retries_main,
        .accepts_changes = run->accepts_changes,
        .confirm = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? confirm : NULL,
        .arguments = (char *const *)run->rest.items,
        .argument_count = run->rest.count,
        .policies = run->policies.items,
        .settings = run->settings.items,
        .log_level = run->level,
        .log_is_json = run->is_json,
        .log_has_colour = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL,
        .watchdog_ms = watchdog_ms(),
        .trial_ms = trial_ms(),
        .has_socket = true,
        .http = run->http,
        .http_is_open = run->is_http_open,
        .http_is_insecure = run->is_insecure,
        .web_dir = run->web,
        .is_once = run->is_once,
        .redis = run->redis,
        .watches_policies = true,
        .has_terminal = isatty(STDOUT_FILENO) && !run->is_json && !run->is_quiet,
        .has_status_line = isatty(STDERR_FILENO) && !run->is_json && !run->is_quiet,
        .takes_signals = true,
        .notifies_manager = true,
        .show = show,
        .user = run,
    };
    char error[SOC_SOCIETY_ERROR_BYTES];
    int rc = open_society(run, &options, error);
    free(program);
    if (rc < 0)
        return conclude(run, rc == SOC_EINVAL ? SOC_EXIT_USAGE : soc_exit_of(rc), "not_started",
                        "%s", error);
    if (run->welcome != NULL) {
        printf("%s %s\n", run->welcome, soc_society_url(run->society));
        fflush(stdout);
    }
    bool has_nothing_to_do =
        soc_society_was_finished(run->society) && soc_society_is_idle(run->society);
    enum soc_society_end end = soc_society_run(run->society);
    if (end == SOC_SOCIETY_DISK_FAILED)
        hold_signals();
    size_t open_items = soc_society_open_items(run->society);
    char open_tasks[SOC_SOCIETY_ERROR_BYTES];
    bool has_tasks = soc_society_open_tasks(run->society, open_tasks) > 0;
    /* Closing folds the rest of the journal and may find damage. */
    if (soc_society_close(run->society) < 0)
        end = SOC_SOCIETY_DISK_FAILED;
    int code = end_run(run, end);
    if (open_items > 0 && !run->is_quiet)
        conclude(run, code, "inbox", "%zu undecided in the inbox; see: society inbox --state %s",
                 open_items, run->state);
    if (end == SOC_SOCIETY_DONE && has_tasks && !run->is_quiet)
        conclude(run, code, "tasks", "%s", open_tasks);
    if (code == SOC_EXIT_DONE && has_nothing_to_do)
        conclude(
            run, code, "ended",
            "main finished in an earlier run of %s and there is nothing to do; --fresh starts over",
            run->state);
    return code;
}

int soc_cmd_run(lua_State *L)
{
    struct run run = {
        .app = soc_options_text(L, "app"),
        .state = soc_options_text(L, "state"),
        .level = soc_options_text(L, "log"),
        .again = soc_options_text(L, "again"),
        .welcome = soc_options_text(L, "welcome"),
        .is_fresh = soc_options_flag(L, "fresh"),
        .retries_main = soc_options_flag(L, "retry_main"),
        .accepts_changes = soc_options_flag(L, "accept_changes"),
        .is_json = soc_options_flag(L, "json"),
        .is_quiet = soc_options_flag(L, "quiet"),
        .http = soc_options_text(L, "http"),
        .web = soc_options_text(L, "web"),
        .is_http_open = soc_options_flag(L, "http_open"),
        .is_insecure = soc_options_flag(L, "insecure"),
        .is_once = soc_options_flag(L, "once"),
        .redis = soc_options_text(L, "redis"),
        .policies = soc_options_list(L, "policy"),
        .settings = soc_options_list(L, "set"),
        .rest = soc_options_list(L, "rest"),
    };
    assert(run.app != NULL && run.state != NULL && run.level != NULL && run.again != NULL);
    int code = run_app(&run);
    soc_text_list_fini(&run.policies);
    soc_text_list_fini(&run.settings);
    soc_text_list_fini(&run.rest);
    lua_pushinteger(L, code);
    return 1;
}

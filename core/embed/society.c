#include "society.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/version.h"
#include "bridge/control/control.h"
#include "bridge/files/files.h"
#include "bridge/http/door.h"
#include "bridge/links/links.h"
#include "bridge/otlp/otlp.h"
#include "bridge/redis/door.h"
#include "bridge/terminal/terminal.h"
#include "embed/assembly.h"
#include "embed/home.h"
#include "embed/joined.h"
#include "embed/policy_watch.h"
#include "embed/replays.h"
#include "embed/service.h"
#include "embed/status_line.h"
#include "embed/step_watch.h"
#include "embed/trial.h"
#include "env/rng.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/look.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "parts/hosts/hosts_settings.h"
#include "parts/human/human.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks.h"
#include "parts/telemetry/telemetry.h"

#define SETTLE_POLL_MS 20

static_assert(SOC_SOCIETY_DISK == SOC_EIO, "one number for a broken disk");

struct soc_society {
    struct soc_assembly parts;
    struct soc_control *control;
    struct soc_files *files;               /* NULL: the app uses no files */
    struct soc_redis_settings redis_alone; /* where only the options ask for Redis */
    struct soc_redis_door *redis;          /* NULL: no Redis */
    struct soc_door *door;                 /* NULL: no HTTP */
    struct soc_links *links;               /* NULL: it has joined no other hosts */
    struct soc_replays *replays;           /* NULL: in memory, or the program is not known */
    struct soc_policy_watch *policies;     /* NULL: policy files are not watched */
    struct soc_terminal *terminal;         /* NULL: no terminal input */
    struct soc_status_line *status;        /* NULL: not shown */
    struct soc_service *service;           /* NULL: nobody started it as a service */
    struct soc_step_watch *steps;          /* NULL: steps are not measured */
    struct soc_otlp_settings spans;        /* where spans go */
    struct soc_otlp *otlp;                 /* NULL: nowhere */
    bool (*show)(void *user, const char *stream, const char *agent, const char *text,
                 size_t length);
    void *user;
    atomic_bool is_stopped; /* any thread */
    bool is_once;           /* ends when `main` has, although there is a door */
    bool is_interrupted;
    bool is_terminated; /* by SIGTERM */
    bool has_disk_failed;
    bool is_finished;               /* it has ended by itself */
    bool has_refused;               /* `show` refused something */
    const struct soc_agent *paused; /* reported as the pause that blocks everything; NULL: none */
};

static bool print_line(struct soc_slice text)
{
    return fwrite(text.data, 1, text.length, stdout) == text.length && putchar('\n') != EOF &&
           fflush(stdout) == 0;
}

static bool show_line(void *user, struct soc_slice stream, struct soc_slice agent,
                      struct soc_slice text)
{
    struct soc_society *society = user;
    bool is_shown = true;
    soc_status_line_clear(society->status);
    if (society->terminal != NULL && soc_slice_equal(stream, SOC_SLICE("inbox")))
        is_shown = soc_terminal_show(society->terminal, text);
    else if (society->show != NULL)
        /* The host NUL-terminates these slices. */
        is_shown = society->show(society->user, stream.data, agent.data, text.data, text.length);
    else if (soc_slice_equal(stream, SOC_SLICE("stdout")))
        is_shown = print_line(text);
    society->has_refused = !is_shown;
    return is_shown;
}

static void write_log(struct soc_slice line, void *user)
{
    struct soc_society *society = user;
    soc_status_line_clear(society->status);
    fwrite(line.data, 1, line.length, stderr);
}

/* Messages to the person at the terminal are not recorded. */
static bool say_to_terminal(void *user, struct soc_slice text)
{
    struct soc_society *society = user;
    assert(society->show != NULL);
    soc_status_line_clear(society->status);
    bool is_said = society->show(society->user, "terminal", "system", text.data, text.length);
    society->has_refused |= !is_said;
    return is_said;
}

static void note_failure(void *user, const struct soc_detail *detail)
{
    struct soc_society *society = user;
    society->has_disk_failed = true;
    struct soc_log *log = soc_host_log(society->parts.host);
    soc_log_printf(log, SOC_LOG_ERROR, soc_clock_now(soc_host_clock(society->parts.host)),
                   "storage", SOC_SLICE("system"), "%s", detail->text);
}

static void note_interrupt(int signal_number, void *user)
{
    struct soc_society *society = user;
    if (society->has_disk_failed) /* it ends already, and not because of the signal */
        return;
    society->is_interrupted = true;
    society->is_terminated = signal_number == SIGTERM;
    signal(SIGINT, SIG_DFL); /* the next one kills */
    signal(SIGTERM, SIG_DFL);
    soc_loop_stop(society->parts.loop);
}

static void stop_for_client(void *user)
{
    soc_society_stop(user);
}

static int use_policy(void *user, const char *kind, const char *name, struct soc_slice settings,
                      bool is_trial, struct soc_detail *detail)
{
    struct soc_society *society = user;
    struct soc_script *script = society->parts.script;
    int rc = soc_script_use_policy(script, kind, name, settings, is_trial, detail);
    if (society->policies != NULL)
        soc_policy_watch_renew(society->policies);
    return rc;
}

static void put_policy_names_for_client(void *user, const char *kind, struct soc_buf *out)
{
    const struct soc_society *society = user;
    soc_script_put_policy_names(society->parts.script, kind, out);
}

/* Loads the app without a state and discards it: a state is moved aside only for an app
 * that can start. */
static int try_to_load(const struct soc_assembly_options *options, struct soc_detail *detail)
{
    struct soc_assembly parts = {0};
    struct soc_assembly_options trial = *options;
    trial.state_dir = NULL;
    trial.log.level = SOC_LOG_NONE;
    int rc = soc_assembly_load(&parts, &trial, detail);
    if (rc == SOC_OK)
        soc_assembly_free(&parts);
    return rc;
}

static const char *read_variable(const char *name)
{
    return getenv(name);
}

/* Spans that become durable again at the start already leave. */
static void open_telemetry(struct soc_society *society)
{
    struct soc_host *host = society->parts.host;
    struct soc_log *log = soc_host_log(host);
    const struct soc_buf *faults = &society->spans.faults;
    for (size_t at = 0; at < faults->length; at += strlen(faults->data + at) + 1)
        soc_log_line(log, SOC_LOG_WARN, soc_clock_now(soc_host_clock(host)), "telemetry",
                     SOC_SLICE("system"), soc_slice_text(faults->data + at));
    if (society->spans.url == NULL)
        return;
    struct soc_otlp_options options = {
        .loop = society->parts.loop,
        .settings = &society->spans,
        .app_name = society->parts.app_name,
        .log = *log,
    };
    society->otlp = soc_otlp_open(&options);
    if (society->spans.has_content)
        soc_telemetry_set_content(host, true);
    soc_telemetry_listen(host, &society->spans.sampler, soc_otlp_add, society->otlp);
}

/* What the person is told if activations do not fit the changed script. */
static int refuse_change(const struct soc_trial *trial, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_ECHANGED,
                    "the script has changed, and %zu of %zu waiting activations do not fit it; "
                    "--accept-changes parks them as dead letters, --retry-main runs main from its "
                    "start; agent:version lets old ones take the old way: docs/upgrading.md",
                    trial->misfit_count, trial->tried + trial->left);
}

static bool is_accepted(const struct soc_trial *trial, const struct soc_society_options *options)
{
    char text[SOC_SOCIETY_ERROR_BYTES];
    if (trial->misfit_count == 0 || options->accepts_changes)
        return true;
    snprintf(text, sizeof(text), "%zu of %zu waiting activations do not fit the changed script",
             trial->misfit_count, trial->tried + trial->left);
    return options->confirm != NULL && options->confirm(options->user, text);
}

/* Before anything runs: if the script is not the one of the last run, tries what waits. If it
 * is refused, the state stays as it was. */
static int try_changes(struct soc_society *society, const struct soc_society_options *options,
                       const struct soc_assembly_options *assembly, struct soc_detail *detail)
{
    struct soc_trial trial = {0};
    struct soc_host *host = society->parts.host;
    int rc = SOC_OK;
    soc_trial_run(&trial, &society->parts, assembly,
                  options->trial_ms == 0 ? SOC_TRIAL_MS_MAX : options->trial_ms);
    soc_trial_log(&trial, host);
    if (is_accepted(&trial, options)) {
        soc_trial_park(&trial, host);
        soc_trial_accept(&trial, host);
    } else {
        rc = refuse_change(&trial, detail);
        soc_assembly_end_host(&society->parts, true);
    }
    soc_trial_fini(&trial);
    return rc;
}

static int open_parts(struct soc_society *society, const struct soc_society_options *options,
                      struct soc_detail *detail)
{
    struct soc_assembly_options assembly = {
        .app_file = options->app_file,
        .state_dir = options->state_dir,
        .home = options->home,
        .program = options->program,
        .seed = soc_rng_system_seed(),
        .retries_main = options->retries_main,
        .arguments = options->arguments,
        .argument_count = options->argument_count,
        .policies = options->policies,
        .settings = options->settings,
        .log = {.level = SOC_LOG_WARN,
                .is_json = options->log_is_json,
                .has_colour = options->log_has_colour,
                .write = write_log,
                .user = society},
        .show = show_line,
        .failed = note_failure,
        .user = society,
        .has_telemetry = society->spans.url != NULL,
    };
    int rc = SOC_OK;
    if (options->log_level != NULL &&
        !soc_log_level_parse(soc_slice_text(options->log_level), &assembly.log.level))
        return soc_fail(detail, SOC_EINVAL, "unknown log level %s", options->log_level);
    if (options->is_fresh && options->state_dir != NULL) {
        rc = try_to_load(&assembly, detail);
        if (rc == SOC_OK)
            rc = soc_assembly_put_aside(options->state_dir, detail);
    }
    if (rc == SOC_OK)
        rc = soc_assembly_load(&society->parts, &assembly, detail);
    if (rc == SOC_OK)
        open_telemetry(society);
    if (rc == SOC_OK)
        rc = soc_assembly_start(&society->parts, detail);
    if (rc == SOC_OK && options->state_dir != NULL)
        rc = try_changes(society, options, &assembly, detail);
    return rc;
}

static int open_terminal(struct soc_society *society, struct soc_detail *detail)
{
    struct soc_terminal_options terminal = {
        .host = society->parts.host,
        .loop = society->parts.loop,
        .input = STDIN_FILENO,
        .say = say_to_terminal,
        .user = society,
    };
    if (society->show == NULL || !soc_terminal_is_there(STDIN_FILENO))
        return SOC_OK;
    return soc_terminal_open(&society->terminal, &terminal, detail);
}

static int open_files(struct soc_society *society, struct soc_detail *detail)
{
    struct soc_files_options files = {
        .host = society->parts.host,
        .loop = society->parts.loop,
        .settings = soc_script_files(society->parts.script),
        .app_name = society->parts.app_name,
    };
    return files.settings == NULL ? SOC_OK : soc_files_open(&society->files, &files, detail);
}

/* Comes before the files, which lead to all agents that are left. */
static int open_redis(struct soc_society *society, const struct soc_society_options *options,
                      struct soc_detail *detail)
{
    const struct soc_redis_settings *settings = soc_script_redis(society->parts.script);
    const struct soc_hosts_settings *hosts = soc_script_hosts(society->parts.script);
    bool is_for_hosts = hosts != NULL && !soc_hosts_settings_are_bare(hosts);
    if (settings == NULL && (options->redis == NULL || is_for_hosts))
        return SOC_OK;
    if (settings == NULL) {
        soc_redis_settings_read(&society->redis_alone, SOC_SLICE("{}"), detail);
        settings = &society->redis_alone;
    }
    if (settings->roles == NULL && soc_script_files(society->parts.script) != NULL)
        return soc_fail(detail, SOC_EINVAL,
                        "both 'files' and 'redis' are set; 'redis.roles' must say which roles "
                        "live behind Redis");
    struct soc_redis_door_options door = {
        .host = society->parts.host,
        .loop = society->parts.loop,
        .settings = settings,
        .url = options->redis,
        .app_name = society->parts.app_name,
    };
    return soc_redis_door_open(&society->redis, &door, detail);
}

static int start_replay_for_client(void *user, struct soc_slice policies, struct soc_buf *answer)
{
    struct soc_society *society = user;
    return soc_replays_start(society->replays, policies, answer);
}

static int put_replay_for_client(void *user, struct soc_slice id, struct soc_buf *answer)
{
    struct soc_society *society = user;
    return soc_replays_put(society->replays, id, answer);
}

static struct soc_operations operations_of(struct soc_society *society)
{
    bool has_replays = society->replays != NULL;
    return (struct soc_operations){.host = society->parts.host,
                                   .stop = stop_for_client,
                                   .use_policy = use_policy,
                                   .put_policy_names = put_policy_names_for_client,
                                   .start_replay = has_replays ? start_replay_for_client : NULL,
                                   .put_replay = has_replays ? put_replay_for_client : NULL,
                                   .user = society};
}

/* Appends the directory of the page. */
static void put_web_dir(const struct soc_society_options *options, struct soc_buf *out)
{
    if (options->web_dir != NULL) {
        soc_buf_put_text(out, options->web_dir);
        return;
    }
    if (options->home != NULL)
        soc_buf_put_text(out, options->home);
    else if (soc_home_find(out))
        out->length--; /* its NUL */
    soc_buf_put_text(out, "/web");
}

static void tell_of_door(struct soc_society *society, bool is_open)
{
    struct soc_host *host = society->parts.host;
    struct soc_buf detail = {0};
    struct soc_buf text = {0};
    soc_buf_printf(&text,
                   is_open ? "listening on %s; anybody on this machine may do everything, since "
                             "--http-open asks for no token"
                           : "listening on %s; `society open` lets a browser in",
                   soc_door_url(society->door));
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "url", soc_slice_text(soc_door_url(society->door)));
    soc_json_put_text_member(&detail, "text", soc_buf_slice(&text));
    soc_buf_put_byte(&detail, '}');
    soc_log_say(soc_host_log(host), is_open ? SOC_LOG_WARN : SOC_LOG_INFO,
                soc_clock_now(soc_host_clock(host)), "http", SOC_SLICE("system"),
                soc_buf_slice(&detail), soc_buf_slice(&text));
    soc_buf_fini(&detail);
    soc_buf_fini(&text);
}

static int open_http(struct soc_society *society, const struct soc_society_options *options,
                     struct soc_detail *detail)
{
    static const struct soc_web_settings none = {0};
    const struct soc_web_settings *settings = soc_script_web(society->parts.script);
    struct soc_buf pages = {0};
    if (options->http == NULL && settings == NULL)
        return SOC_OK;
    if (options->state_dir == NULL)
        return soc_fail(detail, SOC_EINVAL, "HTTP needs a state directory: it holds the token");
    signal(SIGPIPE, SIG_IGN);
    put_web_dir(options, &pages);
    struct soc_door_options door = {
        .society = operations_of(society),
        .loop = society->parts.loop,
        .directory = options->state_dir,
        .settings = settings == NULL ? &none : settings,
        .listen = options->http,
        .pages = soc_buf_text(&pages),
        .is_open = options->http_is_open,
        .is_insecure = options->http_is_insecure,
    };
    int rc = soc_door_open(&society->door, &door, detail);
    soc_buf_fini(&pages);
    if (rc == SOC_OK)
        tell_of_door(society, options->http_is_open);
    return rc;
}

static int open_doors(struct soc_society *society, const struct soc_society_options *options,
                      struct soc_detail *detail)
{
    if (options->program != NULL && options->state_dir != NULL)
        society->replays = soc_replays_new(options->state_dir, options->program);
    int rc = options->has_terminal ? open_terminal(society, detail) : SOC_OK;
    soc_assembly_warn_of_parents(&society->parts, options->state_dir);
    if (rc == SOC_OK)
        rc = open_redis(society, options, detail);
    if (rc == SOC_OK)
        rc = open_files(society, detail);
    if (rc < 0)
        return rc;
    if (options->takes_signals)
        soc_loop_on_interrupt(society->parts.loop, note_interrupt, society);
    society->service = options->notifies_manager ? soc_service_open(society->parts.loop) : NULL;
    if (options->has_status_line)
        society->status = soc_status_line_open(society->parts.loop, society->parts.host);
    if (options->watches_policies)
        society->policies = soc_policy_watch_open(&society->parts);
    rc = soc_joined_open(&society->links, &society->parts, detail);
    if (rc == SOC_OK)
        rc = open_http(society, options, detail);
    if (rc < 0 || !options->has_socket || options->state_dir == NULL)
        return rc;
    signal(SIGPIPE, SIG_IGN);
    struct soc_control_options control = {
        .society = operations_of(society),
        .loop = society->parts.loop,
        .directory = options->state_dir,
    };
    return soc_control_open(&society->control, &control, detail);
}

int soc_society_open(struct soc_society **out, const struct soc_society_options *options,
                     char error[SOC_SOCIETY_ERROR_BYTES])
{
    struct soc_detail detail = {0};
    struct soc_society *society = soc_alloc_zero(sizeof(*society));
    society->show = options->show;
    society->user = options->user;
    soc_otlp_settings_read(&society->spans, read_variable);
    society->is_once = options->is_once;
    int rc = open_parts(society, options, &detail);
    if (rc == SOC_OK && options->watchdog_ms > 0)
        society->steps =
            soc_step_watch_open(society->parts.loop, society->parts.host, options->watchdog_ms);
    if (rc == SOC_OK)
        rc = open_doors(society, options, &detail);
    if (rc < 0) {
        snprintf(error, SOC_SOCIETY_ERROR_BYTES, "%s",
                 detail.text[0] == '\0' ? soc_error_text(rc) : detail.text);
        soc_society_close(society);
        return rc;
    }
    *out = society;
    return SOC_OK;
}

static bool is_over(struct soc_society *society)
{
    const struct soc_assembly *parts = &society->parts;
    if (society->has_disk_failed || society->has_refused || soc_host_main_has_failed(parts->host))
        return true;
    if (!soc_script_has_main(parts->script) || !soc_host_main_is_done(parts->host) ||
        !soc_host_is_quiet(parts->host) || !soc_redis_door_is_done(society->redis) ||
        ((society->door != NULL || society->redis != NULL || society->links != NULL) &&
         !society->is_once))
        return false;
    const struct soc_agent *paused = soc_hold_keeps_work(parts->host);
    if (paused != NULL && society->paused != paused)
        soc_log_printf(soc_host_log(parts->host), SOC_LOG_WARN,
                       soc_clock_now(soc_host_clock(parts->host)), "waiting", soc_agent_id(paused),
                       "the only work left waits for a paused agent; use `society resume`");
    society->paused = paused;
    return paused == NULL && !soc_files_take_rest(society->files);
}

static int64_t tick(void *user)
{
    struct soc_society *society = user;
    int64_t wait_ms = SOC_TICK_NOW;
    bool is_stopped = atomic_load(&society->is_stopped);
    if (!is_stopped)
        wait_ms = soc_host_tick(society->parts.host);
    bool was_quiet = soc_host_is_quiet(society->parts.host);
    if (is_stopped || is_over(society))
        soc_loop_stop(society->parts.loop);
    else if (was_quiet && !soc_host_is_quiet(society->parts.host))
        wait_ms = SOC_TICK_NOW; /* lines were read from the files */
    return wait_ms;
}

static void note_durable(void *user)
{
    *(bool *)user = true;
}

/* Whoever interrupts a society whose disk is full does not wait for space: nothing of what is
 * not stored has left the process, so it ends as if it had been killed. */
static void give_up_full(struct soc_society *society)
{
    struct soc_detail detail;
    soc_fail(&detail, SOC_EDISKFULL,
             "interrupted while the disk is full; what was not stored is done again at the next "
             "start");
    note_failure(society, &detail);
}

/* Waits until everything done is durable and, if possible, shown, without another turn. */
static void settle(struct soc_society *society)
{
    bool is_durable = false;
    if (society->has_disk_failed)
        return;
    soc_gate_when_durable(society->parts.host, note_durable, &is_durable);
    soc_batch_seal(society->parts.host);
    while (!is_durable && !society->has_disk_failed) {
        soc_loop_poll(society->parts.loop, SETTLE_POLL_MS);
        if (society->is_interrupted && !is_durable && soc_host_is_full(society->parts.host))
            give_up_full(society);
    }
}

enum soc_society_end soc_society_run(struct soc_society *society)
{
    if (society->has_refused)
        settle(society); /* retries */
    soc_service_ready(society->service);
    soc_door_set_ending(society->door, false);
    if (!society->has_disk_failed && !society->has_refused && !society->is_interrupted)
        soc_loop_run(society->parts.loop, tick, society);
    soc_service_stopping(society->service);
    soc_door_set_ending(society->door, true);
    bool was_stopped = atomic_exchange(&society->is_stopped, false);
    settle(society);
    soc_status_line_clear(society->status); /* the caller may write to the terminal */
    if (society->has_disk_failed)
        return SOC_SOCIETY_DISK_FAILED;
    if (soc_host_main_has_failed(society->parts.host))
        return SOC_SOCIETY_FAILED;
    if (society->is_interrupted)
        return society->is_terminated ? SOC_SOCIETY_TERMINATED : SOC_SOCIETY_INTERRUPTED;
    if (was_stopped || society->has_refused)
        return SOC_SOCIETY_STOPPED;
    society->is_finished = true;
    return SOC_SOCIETY_DONE;
}

void soc_society_stop(struct soc_society *society)
{
    atomic_store(&society->is_stopped, true);
    soc_loop_wake(society->parts.loop);
}

/* Copies the message of an error object. */
static void explain(struct soc_slice refusal, char error[SOC_SOCIETY_ERROR_BYTES])
{
    struct soc_buf text = {0};
    if (!soc_json_string(soc_json_member(refusal, "message"), &text))
        soc_json_string(soc_json_member(refusal, "error"), &text);
    snprintf(error, SOC_SOCIETY_ERROR_BYTES, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
}

int soc_society_send(struct soc_society *society, const char *to, const char *payload,
                     const char *text, char id[SOC_SOCIETY_ID_BYTES],
                     char error[SOC_SOCIETY_ERROR_BYTES])
{
    struct soc_host *host = society->parts.host;
    struct soc_buf json = {0};
    struct soc_buf answer = {0};
    if (text != NULL) {
        soc_buf_put_byte(&json, '{');
        soc_json_put_text_member(&json, "text", soc_slice_text(text));
        soc_buf_put_byte(&json, '}');
    } else {
        soc_buf_put_text(&json, payload);
    }
    struct soc_send send = {.to = soc_slice_text(to), .payload = soc_buf_slice(&json)};
    int rc = soc_json_check(send.payload, NULL);
    if (rc == SOC_OK && to == NULL)
        soc_human_address(host, &send);
    if (rc < 0)
        snprintf(error, SOC_SOCIETY_ERROR_BYTES, "the payload is not JSON");
    else if ((rc = soc_gate_send_as(host, soc_registry_user(host), &send, &answer)) < 0)
        explain(soc_buf_slice(&answer), error);
    if (rc == SOC_OK && id != NULL) {
        struct soc_slice object = soc_slice(answer.data + 1, answer.length - 2);
        struct soc_slice given = soc_json_plain_string(soc_json_member(object, "messageId"));
        snprintf(id, SOC_SOCIETY_ID_BYTES, "%.*s", (int)given.length, given.data);
    }
    soc_buf_fini(&json);
    soc_buf_fini(&answer);
    return rc;
}

const char *soc_society_url(const struct soc_society *society)
{
    return society->door == NULL ? NULL : soc_door_url(society->door);
}

size_t soc_society_open_items(const struct soc_society *society)
{
    return soc_human_count(society->parts.host);
}

size_t soc_society_open_tasks(const struct soc_society *society, char text[SOC_SOCIETY_ERROR_BYTES])
{
    struct soc_buf names = {0};
    size_t count = soc_tasks_put_open(society->parts.host, &names);
    snprintf(text, SOC_SOCIETY_ERROR_BYTES, "%s", soc_buf_text(&names));
    soc_buf_fini(&names);
    return count;
}

bool soc_society_was_finished(const struct soc_society *society)
{
    return soc_host_main_was_done(society->parts.host);
}

bool soc_society_is_idle(struct soc_society *society)
{
    int64_t pending = 0;
    int64_t waiting = 0;
    struct soc_buf stats = {0};
    soc_look_stats(society->parts.host, &stats);
    soc_json_integer(soc_json_member(soc_buf_slice(&stats), "pending"), &pending);
    soc_json_integer(soc_json_member(soc_buf_slice(&stats), "waiting"), &waiting);
    soc_buf_fini(&stats);
    return pending == 0 && waiting == 0;
}

int soc_society_close(struct soc_society *society)
{
    if (society == NULL)
        return SOC_OK;
    soc_policy_watch_close(society->policies);
    soc_service_close(society->service);
    soc_status_line_close(society->status);
    society->status = NULL;
    soc_control_stop(society->control);
    soc_door_stop(society->door);
    soc_redis_door_stop(society->redis);
    soc_files_stop(society->files, society->is_finished);
    soc_links_stop(society->links);
    soc_step_watch_close(society->steps);
    soc_assembly_end_host(&society->parts, society->has_disk_failed);
    soc_otlp_close(society->otlp);
    soc_otlp_settings_fini(&society->spans);
    int rc = society->has_disk_failed ? SOC_EIO : SOC_OK;
    soc_control_close(society->control);
    soc_door_close(society->door);
    soc_terminal_close(society->terminal);
    soc_files_free(society->files);
    soc_links_free(society->links);
    soc_redis_door_free(society->redis);
    soc_redis_settings_fini(&society->redis_alone);
    soc_assembly_free(&society->parts);
    soc_replays_free(society->replays);
    free(society);
    return rc;
}

const char *soc_society_version(void)
{
    return SOC_VERSION;
}

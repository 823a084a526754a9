#include "embed/replay.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "embed/assembly.h"
#include "embed/home.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/registry.h"
#include "lualib/sources.h"
#include "parts/history/history.h"
#include "parts/history/replay.h"
#include "parts/models/memory.h"
#include "parts/table.h"
#include "script/history/rerun.h"
#include "script/turns/behaviour.h"
#include "store/sqlite/sqlite.h"

/* A society for one stretch of history, created when first needed. */
struct stretch {
    struct soc_buf start; /* detail of its row */
    struct soc_assembly parts;
    struct soc_buf app;   /* path of the script */
    struct soc_buf texts; /* of its files */
    struct soc_kept_file *files;
    size_t file_count;
    bool is_made;
    bool is_broken; /* it cannot be created, which was reported */
};

struct replay {
    const struct soc_replay_options *options;
    struct soc_replay_totals *totals;
    struct soc_detail *detail;
    struct soc_store *store;
    struct stretch stretch;
    int64_t last;  /* number of the previous row */
    bool has_runs; /* a run was seen: from here on no row may be missing */
    int error;     /* ends the replay */
};

static void tell(struct replay *replay, const struct soc_replay_finding *finding)
{
    replay->totals->differences++;
    replay->options->found(replay->options->user, finding);
}

/* Reports a finding in words. */
static void tell_words(struct replay *replay, const struct soc_history_row *row, const char *what,
                       const char *words)
{
    struct soc_buf text = {0};
    soc_json_put_string(&text, soc_slice_text(words));
    struct soc_replay_finding finding = {.what = what,
                                         .number = row->number,
                                         .time_ms = row->time_ms,
                                         .agent = row->agent,
                                         .effect = -1,
                                         .now = soc_buf_slice(&text)};
    tell(replay, &finding);
    soc_buf_fini(&text);
}

static void end_stretch(struct stretch *stretch)
{
    if (stretch->is_made)
        soc_assembly_free(&stretch->parts);
    for (size_t i = 0; i < stretch->file_count; i++)
        free((void *)stretch->files[i].path);
    free(stretch->files);
    soc_buf_fini(&stretch->start);
    soc_buf_fini(&stretch->app);
    soc_buf_fini(&stretch->texts);
    *stretch = (struct stretch){0};
}

static struct soc_slice member(const struct stretch *stretch, const char *name)
{
    return soc_json_member(soc_buf_slice(&stretch->start), name);
}

static uint32_t number_of(const struct stretch *stretch, const char *name)
{
    int64_t number = 0;
    soc_json_integer(member(stretch, name), &number);
    return number < 0 || number > UINT32_MAX ? 0 : (uint32_t)number;
}

static bool is_policy_file(const struct stretch *stretch, struct soc_slice path)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, member(stretch, "policies"));
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_member(walk.value, "path"), path))
            return true;
    return false;
}

/* Today's script uses today's modules; policies stay. */
static bool is_wanted(const struct replay *replay, struct soc_slice path)
{
    struct soc_slice home = member(&replay->stretch, "home");
    /* Both include their quotes. */
    bool is_shipped = home.length > 1 && path.length > home.length &&
                      memcmp(path.data, home.data, home.length - 1) == 0 &&
                      path.data[home.length - 1] == '/';
    return replay->options->app_file == NULL || is_shipped ||
           is_policy_file(&replay->stretch, path);
}

/* Reads the texts of the files that the row lists. Pointers into `texts` are set when
 * it is complete. */
static int read_files(struct replay *replay)
{
    struct stretch *stretch = &replay->stretch;
    struct soc_json_walk walk;
    struct soc_buf name = {0};
    int rc = SOC_OK;
    soc_json_walk(&walk, member(stretch, "files"));
    while (rc == SOC_OK && soc_json_next(&walk)) {
        struct soc_slice path = soc_json_member(walk.value, "path");
        size_t start = stretch->texts.length;
        name.length = 0;
        if (!is_wanted(replay, path) || !soc_json_string(path, &name))
            continue;
        rc = soc_store_source(replay->store,
                              soc_json_plain_string(soc_json_member(walk.value, "hash")),
                              &stretch->texts, replay->detail);
        size_t count = stretch->file_count++;
        stretch->files = soc_realloc(stretch->files, stretch->file_count * sizeof(*stretch->files));
        stretch->files[count] = (struct soc_kept_file){
            soc_copy_text(name.data, name.length), soc_slice(NULL, stretch->texts.length - start)};
    }
    size_t at = 0;
    for (size_t i = 0; i < stretch->file_count; i++) {
        stretch->files[i].text.data = soc_buf_text(&stretch->texts) + at;
        at += stretch->files[i].text.length;
    }
    soc_buf_fini(&name);
    return rc;
}

/* Returns the arguments the app was run with. */
static char **read_arguments(const struct stretch *stretch, int *count)
{
    struct soc_json_walk walk;
    char **arguments = NULL;
    *count = 0;
    soc_json_walk(&walk, member(stretch, "arguments"));
    while (soc_json_next(&walk)) {
        struct soc_buf text = {0};
        soc_json_string(walk.value, &text);
        arguments = soc_realloc(arguments, (size_t)(*count + 1) * sizeof(*arguments));
        arguments[(*count)++] = soc_copy_text(soc_buf_text(&text), text.length);
        soc_buf_fini(&text);
    }
    return arguments;
}

static bool show_nothing(void *user, struct soc_slice stream, struct soc_slice agent,
                         struct soc_slice text)
{
    (void)user, (void)stream, (void)agent, (void)text;
    return true;
}

static void fail_nothing(void *user, const struct soc_detail *detail)
{
    (void)user, (void)detail;
}

/* Loads the app as it was, or today's. */
static int load_app(struct replay *replay)
{
    struct stretch *stretch = &replay->stretch;
    struct soc_buf home = {0};
    int count;
    char **arguments = read_arguments(stretch, &count);
    soc_json_string(member(stretch, "home"), &home);
    if (replay->options->app_file != NULL)
        soc_buf_put_text(&stretch->app, replay->options->app_file);
    else
        soc_json_string(member(stretch, "app"), &stretch->app);
    struct soc_kept_file none = {0};
    struct soc_assembly_options options = {
        .app_file = soc_buf_text(&stretch->app),
        .home = soc_buf_text(&home),
        .seed_dir = replay->options->state_dir,
        .is_simulated = true,
        .arguments = arguments,
        .argument_count = count,
        .kept = stretch->files == NULL ? &none : stretch->files,
        .kept_count = stretch->file_count,
        .has_files = replay->options->app_file != NULL,
        .log = {.level = SOC_LOG_NONE},
        .show = show_nothing,
        .failed = fail_nothing,
    };
    int rc = soc_assembly_load(&stretch->parts, &options, replay->detail);
    stretch->is_made = rc == SOC_OK;
    if (rc < 0 && replay->options->app_file != NULL)
        replay->error = SOC_EINVAL; /* a request that cannot be met is no finding */
    for (int i = 0; i < count; i++)
        free(arguments[i]);
    free(arguments);
    soc_buf_fini(&home);
    return rc;
}

/* Finds a policy by name in today's folders: next to the app, then shipped. */
static void find_policy(const struct stretch *stretch, const char *kind, const char *name,
                        struct soc_buf *path)
{
    struct soc_buf directory = {0};
    if (strchr(name, '/') != NULL || strstr(name, ".lua") != NULL) {
        soc_buf_put_text(path, name);
        return;
    }
    const char *slash = strrchr(stretch->app.data, '/');
    if (slash == NULL)
        soc_buf_put_byte(&directory, '.');
    else
        soc_buf_put(&directory, stretch->app.data, (size_t)(slash - stretch->app.data));
    soc_buf_printf(path, "%s/policies/%s/%s.lua", soc_buf_text(&directory), kind, name);
    if (access(soc_buf_text(path), R_OK) < 0) {
        path->length = directory.length = 0;
        soc_home_find(&directory);
        soc_buf_printf(path, "%s/policies/%s/%s.lua", soc_buf_text(&directory), kind, name);
    }
    soc_buf_fini(&directory);
}

/* Activates the policies of the command line, from today's files. */
static int use_policies(struct replay *replay)
{
    assert(replay->stretch.is_made);
    struct stretch *stretch = &replay->stretch;
    int rc = SOC_OK;
    soc_sources_use(stretch->parts.L, false, true);
    for (size_t i = 0;
         rc == SOC_OK && replay->options->policies != NULL && replay->options->policies[i] != NULL;
         i++) {
        const char *text = replay->options->policies[i];
        const char *equals = strchr(text, '=');
        struct soc_buf path = {0};
        if (equals == NULL || equals == text || equals[1] == '\0')
            return soc_fail(replay->detail, SOC_EINVAL, "a policy must be KIND=NAME, not '%s'",
                            text);
        char *kind = soc_copy_text(text, (size_t)(equals - text));
        find_policy(stretch, kind, equals + 1, &path);
        rc = soc_script_use_policy(stretch->parts.script, kind, soc_buf_text(&path),
                                   (struct soc_slice){0}, false, replay->detail);
        if (rc < 0)
            replay->error = SOC_EINVAL;
        soc_buf_fini(&path);
        free(kind);
    }
    soc_sources_use(stretch->parts.L, true, replay->options->app_file != NULL);
    return rc;
}

static void put_memory(void *user, const struct soc_record_memory *entry)
{
    soc_memory_restore(user, entry);
}

static int make_stretch(struct replay *replay)
{
    struct stretch *stretch = &replay->stretch;
    if (stretch->start.length == 0)
        return soc_fail(replay->detail, SOC_ENOFILE,
                        "the scripts and policies of that time were not kept");
    if (member(stretch, "app").data == NULL && replay->options->app_file == NULL)
        return soc_fail(replay->detail, SOC_ENOFILE,
                        "the app was a function in a test, which cannot be kept; give a script "
                        "with --app FILE");
    int rc = read_files(replay);
    if (rc == SOC_OK)
        rc = load_app(replay);
    if (rc == SOC_OK)
        rc = soc_rerun_put_policies(stretch->parts.script, member(stretch, "policies"),
                                    replay->detail);
    if (rc == SOC_OK)
        rc = use_policies(replay);
    if (rc == SOC_OK)
        rc = soc_host_start(stretch->parts.host, soc_slice_text(stretch->parts.app_name),
                            replay->detail);
    if (rc == SOC_OK)
        rc = soc_store_memories(replay->store, put_memory, stretch->parts.host, replay->detail);
    if (rc < 0)
        return rc;
    soc_gate_set_effects_max(stretch->parts.host, number_of(stretch, "effects_max"));
    soc_rerun_begin(stretch->parts.script, number_of(stretch, "steps_max"));
    replay->totals->starts++;
    return SOC_OK;
}

/* Returns true if the society for this row exists; an error is reported once. */
static bool need_stretch(struct replay *replay, const struct soc_history_row *row)
{
    struct stretch *stretch = &replay->stretch;
    if (stretch->is_broken || replay->error < 0)
        return false;
    if (stretch->is_made)
        return true;
    if (make_stretch(replay) == SOC_OK)
        return true;
    stretch->is_broken = true;
    if (replay->error == SOC_OK)
        tell_words(replay, row, "load", replay->detail->text);
    return false;
}

static void tell_run(struct replay *replay, const struct soc_history_row *row,
                     const struct soc_replay *result)
{
    static const char *const names[] = {"", "effect", "end", "result", "state"};
    struct soc_slice message = soc_json_member(row->detail, "message");
    struct soc_replay_finding finding = {
        .what = names[result->point],
        .number = row->number,
        .time_ms = row->time_ms,
        .agent = row->agent,
        .message = soc_json_plain_string(soc_json_member(message, "id")),
        .effect = result->point == SOC_REPLAY_EFFECT ? (int64_t)result->index : -1,
    };
    if (result->recorded.length > 0)
        finding.recorded = soc_buf_slice(&result->recorded);
    if (result->now.length > 0)
        finding.now = soc_buf_slice(&result->now);
    tell(replay, &finding);
}

static void repeat_run(struct replay *replay, const struct soc_history_row *row,
                       struct soc_slice brief)
{
    struct soc_replay result = {.run = row->detail};
    if (!need_stretch(replay, row))
        return;
    struct soc_host *host = replay->stretch.parts.host;
    struct soc_agent *agent = soc_replay_prepare(host, row->agent, row->detail, brief);
    soc_behaviour_find_all(replay->stretch.parts.script);
    if (soc_replay_run(host, agent, &result) < 0)
        tell_words(replay, row, "damage", "the row is invalid");
    replay->totals->runs++;
    replay->totals->effects += result.effects;
    if (result.point != SOC_REPLAY_SAME)
        tell_run(replay, row, &result);
    soc_replay_fini(&result);
}

static void repeat_recorded(struct replay *replay, const struct soc_history_row *row)
{
    struct soc_buf brief = {0};
    struct soc_slice hash = soc_json_plain_string(soc_json_member(row->detail, "brief"));
    if (hash.data != NULL && soc_store_source(replay->store, hash, &brief, replay->detail) < 0)
        tell_words(replay, row, "damage", replay->detail->text);
    repeat_run(replay, row, soc_buf_slice(&brief));
    soc_buf_fini(&brief);
}

static void tell_question(struct replay *replay, const struct soc_history_row *row,
                          struct soc_slice recorded, struct soc_slice now)
{
    struct soc_buf asked = {0};
    struct soc_replay_finding finding = {
        .what = "question",
        .number = row->number,
        .time_ms = row->time_ms,
        .agent = row->agent,
        .message = soc_json_plain_string(soc_json_member(row->detail, "message")),
        .effect = -1,
        .recorded = recorded,
        .now = now,
    };
    if (soc_json_integer(soc_json_member(row->detail, "effect"), &finding.effect))
        finding.effect--; /* it counts the effects begun, including the one that asks */
    soc_json_string(soc_json_member(row->detail, "kind"), &asked);
    soc_buf_put_byte(&asked, '.');
    soc_json_string(soc_json_member(row->detail, "question"), &asked);
    soc_buf_put_byte(&asked, '(');
    struct soc_slice arguments = soc_json_member(row->detail, "arguments");
    if (arguments.length > 2)
        soc_buf_put(&asked, arguments.data + 1, arguments.length - 2);
    soc_buf_put_byte(&asked, ')');
    finding.asked = soc_buf_slice(&asked);
    tell(replay, &finding);
    soc_buf_fini(&asked);
}

static void repeat_question(struct replay *replay, const struct soc_history_row *row)
{
    struct soc_buf answer = {0};
    struct soc_slice recorded = soc_json_member(row->detail, "answer");
    if (!need_stretch(replay, row))
        return;
    replay->totals->questions++;
    if (soc_rerun_ask(replay->stretch.parts.script, row->detail, &answer, replay->detail) < 0) {
        answer.length = 0;
        soc_json_put_string(&answer, soc_slice_text(replay->detail->text));
    }
    if (!soc_slice_equal(recorded, soc_buf_slice(&answer)))
        tell_question(replay, row, recorded, soc_buf_slice(&answer));
    soc_buf_fini(&answer);
}

/* Adds a module's file that was read inside a turn. */
static void add_file(struct replay *replay, const struct soc_history_row *row)
{
    struct soc_buf text = {0};
    struct soc_buf path = {0};
    if (!need_stretch(replay, row))
        return;
    int rc =
        soc_store_source(replay->store, soc_json_plain_string(soc_json_member(row->detail, "hash")),
                         &text, replay->detail);
    if (rc < 0)
        tell_words(replay, row, "damage", replay->detail->text);
    else if (is_wanted(replay, soc_json_member(row->detail, "path")) &&
             soc_json_string(soc_json_member(row->detail, "path"), &path))
        soc_sources_keep(replay->stretch.parts.L, soc_buf_text(&path), soc_buf_slice(&text));
    soc_buf_fini(&text);
    soc_buf_fini(&path);
}

static void begin_stretch(struct replay *replay, const struct soc_history_row *row)
{
    end_stretch(&replay->stretch);
    soc_buf_put_slice(&replay->stretch.start, row->detail);
}

/* Only the oldest rows may have been pruned; a gap after them is damage. */
static void check_row(struct replay *replay, const struct soc_history_row *row, bool is_start)
{
    if (row->is_damaged)
        tell_words(replay, row, "damage", "the row is damaged; it is skipped");
    if (replay->has_runs && row->number != replay->last + 1)
        tell_words(replay, row, "damage", "rows before this one are missing");
    replay->has_runs |= !is_start;
    replay->last = row->number;
}

static int repeat(void *user, const struct soc_history_row *row)
{
    struct replay *replay = user;
    bool is_start = soc_slice_equal(row->what, SOC_SLICE("start"));
    bool is_file = soc_slice_equal(row->what, SOC_SLICE("file"));
    check_row(replay, row, is_start || is_file);
    if (row->is_damaged)
        replay->totals->rows_done++;
    else if (is_start)
        begin_stretch(replay, row);
    else if (is_file)
        add_file(replay, row);
    else if (soc_slice_equal(row->what, SOC_SLICE("run")))
        repeat_recorded(replay, row);
    else
        repeat_question(replay, row);
    replay->totals->rows_done += !row->is_damaged;
    if (replay->options->progress != NULL)
        replay->options->progress(replay->options->user, replay->totals);
    return replay->error;
}

/* The society that is only inspected runs no script. */
static enum soc_turn_end run_nothing(void *user, struct soc_activation *activation,
                                     struct soc_buf *error)
{
    (void)user, (void)activation, (void)error;
    return SOC_TURN_BROKEN;
}

static void drop_nothing(void *user, struct soc_activation *activation)
{
    (void)user, (void)activation;
}

static void repeat_waiting(struct replay *replay, struct soc_host *host)
{
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_registry_each(host, &cursor)) != NULL) {
        struct soc_buf run = {0};
        if (agent->activation == NULL)
            continue;
        soc_history_describe(host, agent->activation, &run);
        struct soc_history_row row = {.what = SOC_SLICE("run"),
                                      .agent = soc_agent_id(agent),
                                      .time_ms = soc_clock_now(soc_host_clock(host)),
                                      .detail = soc_buf_slice(&run)};
        replay->totals->waiting++;
        repeat_run(replay, &row, soc_slice(agent->brief, agent->brief_length));
        soc_buf_fini(&run);
    }
}

/* Repeats activations that still wait at the end of history, up to their wait. */
static int look_at_rest(struct replay *replay)
{
    struct soc_host_options options = {
        .store = replay->store, .log = {.level = SOC_LOG_NONE}, .parts = soc_part_table};
    struct soc_host *host = soc_host_new(&options);
    struct soc_hooks hooks = {.run = run_nothing, .drop = drop_nothing};
    soc_host_set_hooks(host, &hooks);
    int rc = soc_host_load(host, replay->detail);
    if (rc == SOC_OK)
        repeat_waiting(replay, host);
    soc_host_crash(host);
    return rc == SOC_OK ? replay->error : rc;
}

int soc_replay_history(const struct soc_replay_options *options, struct soc_replay_totals *totals,
                       struct soc_detail *detail)
{
    struct replay replay = {.options = options, .totals = totals, .detail = detail};
    struct soc_sqlite_options store = {.directory = options->state_dir,
                                       .access = SOC_SQLITE_SNAPSHOT};
    *totals = (struct soc_replay_totals){0};
    int rc = soc_sqlite_open(&replay.store, &store, detail);
    if (rc < 0)
        return rc;
    rc = soc_store_history_count(replay.store, &totals->rows, detail);
    if (rc == SOC_OK && totals->rows == 0)
        rc = soc_fail(detail, SOC_EINVAL,
                      "%s keeps no history: run it with society.config{ history = \"full\" }, or "
                      "with --set history=full",
                      options->state_dir);
    if (rc == SOC_OK)
        rc = soc_store_history(replay.store, repeat, &replay, detail);
    if (rc == SOC_OK)
        rc = look_at_rest(&replay);
    end_stretch(&replay.stretch);
    soc_store_close(replay.store);
    return rc;
}

#include "embed/trial.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/log_detail.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/schedule.h"
#include "parts/history/history.h"
#include "parts/history/replay.h"
#include "parts/models/memory.h"
#include "parts/policies/policies.h"
#include "script/history/recorder.h"
#include "script/history/rerun.h"
#include "script/turns/behaviour.h"

/* An activation that does not fit. */
struct soc_misfit {
    struct soc_agent *agent; /* lent by the society */
    struct soc_buf error;    /* a JSON object, as the activation would end with */
};

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

static bool has_something_to_try(struct soc_host *host, const struct soc_agent *agent)
{
    return agent->activation != NULL && agent->activation->effects_count > 0 &&
           !agent->is_external && !soc_registry_isolates(host, agent);
}

/* Returns how many there are to try, and counts those that cannot be. */
static size_t count_waiting(struct soc_trial *trial, struct soc_host *host)
{
    size_t count = 0;
    size_t cursor = 0;
    const struct soc_agent *agent;
    while ((agent = soc_registry_each(host, &cursor)) != NULL)
        if (has_something_to_try(host, agent))
            count++;
        else if (agent->activation != NULL && soc_registry_isolates(host, agent))
            trial->isolated++;
    return count;
}

/* Puts the swaps in force that outlast a run. One that cannot be loaded was reported at the
 * start. */
static void use_kept_policies(struct soc_script *script, struct soc_slice kept)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, kept);
    while (soc_json_next(&walk)) {
        struct soc_buf kind = {0};
        struct soc_buf name = {0};
        struct soc_detail detail = {{0}};
        if (soc_json_string(soc_json_member(walk.value, "kind"), &kind) &&
            soc_json_string(soc_json_member(walk.value, "name"), &name))
            soc_script_use_policy(script, soc_buf_text(&kind), soc_buf_text(&name),
                                  soc_json_member(walk.value, "settings"), false, &detail);
        soc_buf_fini(&kind);
        soc_buf_fini(&name);
    }
}

/* Loads the script a second time, for a society in memory. */
static int make_stage(struct soc_assembly *stage, const struct soc_assembly *parts,
                      const struct soc_assembly_options *options, struct soc_detail *detail)
{
    struct soc_assembly_options other = *options;
    other.seed_dir = options->state_dir;
    other.state_dir = NULL;
    other.is_simulated = true;
    other.retries_main = false;
    other.log = (struct soc_log){.level = SOC_LOG_NONE};
    other.show = show_nothing;
    other.failed = fail_nothing;
    other.has_telemetry = false;
    int rc = soc_assembly_load(stage, &other, detail);
    if (rc < 0)
        return rc;
    use_kept_policies(stage->script, soc_policies_kept(parts->host));
    rc = soc_host_start(stage->host, soc_slice_text(stage->app_name), detail);
    if (rc < 0) {
        soc_assembly_free(stage);
        return rc;
    }
    soc_gate_set_effects_max(stage->host, soc_gate_effects_max(parts->host));
    soc_rerun_begin(stage->script, 0);
    return SOC_OK;
}

/* Appends what an effect was or is, or how the script ended, in words. */
static void put_words(struct soc_buf *out, struct soc_slice what)
{
    struct soc_slice effect = soc_json_plain_string(soc_json_member(what, "effect"));
    struct soc_slice arguments = soc_json_member(what, "arguments");
    struct soc_buf message = {0};
    if (effect.data != NULL)
        soc_buf_put_slice(out, effect);
    else if (soc_json_string(soc_json_member(what, "message"), &message))
        soc_buf_printf(out, "the script raises: %s", soc_buf_text(&message));
    else
        soc_buf_put_text(out, "the script ends instead");
    if (arguments.length > 2) {
        soc_buf_put_byte(out, '(');
        soc_log_put_text(out, soc_slice(arguments.data + 1, arguments.length - 2),
                         SOC_LOG_PAYLOAD_BYTES_MAX);
        soc_buf_put_byte(out, ')');
    }
    soc_buf_fini(&message);
}

static void put_effect(struct soc_buf *error, const char *name, const char *arguments,
                       struct soc_slice what)
{
    struct soc_slice effect = soc_json_member(what, "effect");
    if (effect.data != NULL) {
        soc_json_put_name(error, name);
        soc_buf_put_slice(error, effect);
    }
    soc_refusal_put_shown(error, arguments, soc_json_member(what, "arguments"));
}

static void put_error(struct soc_buf *error, const struct soc_agent *agent,
                      const struct soc_replay *result, struct soc_slice message)
{
    struct soc_buf text = {0};
    bool is_called = soc_json_member(soc_buf_slice(&result->recorded), "effect").data != NULL;
    bool has_arguments =
        soc_json_member(soc_buf_slice(&result->recorded), "arguments").data != NULL;
    bool ends = soc_json_member(soc_buf_slice(&result->now), "effect").data == NULL;
    soc_buf_printf(&text, "the script or its arguments have changed: effect %u was ",
                   result->index + 1);
    put_words(&text, soc_buf_slice(&result->recorded));
    soc_buf_put_text(&text, ends ? ", and now " : ", and now it is ");
    put_words(&text, soc_buf_slice(&result->now));
    if (result->where.length > 0) {
        soc_buf_put_text(&text, " at ");
        soc_buf_put_slice(&text, soc_buf_slice(&result->where));
    }
    if (is_called && !has_arguments)
        soc_buf_put_text(&text, "; what it was called with is known if society.config has "
                                "history = \"full\"");
    soc_refusal_begin(error, SOC_ENONDET, soc_buf_text(&text));
    soc_buf_fini(&text);
    soc_json_put_name(error, "index");
    soc_json_put_integer(error, result->index);
    put_effect(error, "recorded", "recorded_arguments", soc_buf_slice(&result->recorded));
    put_effect(error, "now", "arguments", soc_buf_slice(&result->now));
    if (result->where.length > 0)
        soc_json_put_text_member(error, "where", soc_buf_slice(&result->where));
    soc_json_put_text_member(error, "agent", soc_agent_id(agent));
    if (message.data != NULL)
        soc_json_put_text_member(error, "message_id", message);
    soc_refusal_end(error, SOC_ENONDET);
}

static void add_misfit(struct soc_trial *trial, struct soc_agent *agent,
                       const struct soc_replay *result)
{
    struct soc_slice message = soc_json_member(result->run, "message");
    size_t count = trial->misfit_count++;
    trial->misfits = soc_realloc(trial->misfits, trial->misfit_count * sizeof(*trial->misfits));
    trial->misfits[count] = (struct soc_misfit){.agent = agent};
    put_error(&trial->misfits[count].error, agent, result,
              soc_json_plain_string(soc_json_member(message, "id")));
}

/* An agent whose role the script no longer has keeps its mail until it is back. */
static void try_one(struct soc_trial *trial, struct soc_host *host, struct soc_assembly *stage,
                    struct soc_agent *agent)
{
    struct soc_buf run = {0};
    soc_history_describe(host, agent->activation, &run);
    struct soc_replay result = {.run = soc_buf_slice(&run)};
    soc_memory_copy(stage->host, host, agent);
    struct soc_agent *double_of =
        soc_replay_prepare(stage->host, soc_agent_id(agent), soc_buf_slice(&run),
                           soc_slice(agent->brief, agent->brief_length));
    soc_behaviour_find_all(stage->script);
    bool is_main = agent->activation->message == NULL;
    if (is_main || double_of->role->is_runnable) {
        trial->tried++;
        if (soc_replay_run(stage->host, double_of, &result) == SOC_OK &&
            result.point == SOC_REPLAY_EFFECT)
            add_misfit(trial, agent, &result);
    }
    soc_replay_fini(&result);
    soc_buf_fini(&run);
}

static void try_all(struct soc_trial *trial, struct soc_host *host, struct soc_assembly *stage,
                    int64_t ms)
{
    int64_t end_ms = soc_clock_now(soc_host_clock(host)) + ms;
    size_t cursor = 0;
    struct soc_agent *agent;
    while ((agent = soc_registry_each(host, &cursor)) != NULL) {
        if (!has_something_to_try(host, agent))
            continue;
        if (soc_clock_now(soc_host_clock(host)) < end_ms)
            try_one(trial, host, stage, agent);
        else
            trial->left++;
    }
    if (trial->left > 0 && ms < 0)
        snprintf(trial->why_left, sizeof(trial->why_left), "SOCIETY_TRIAL_MS is 0");
    else if (trial->left > 0)
        snprintf(trial->why_left, sizeof(trial->why_left),
                 "the trial ends after %lld ms; SOCIETY_TRIAL_MS gives it more", (long long)ms);
}

void soc_trial_run(struct soc_trial *trial, const struct soc_assembly *parts,
                   const struct soc_assembly_options *options, int64_t ms)
{
    struct soc_detail detail = {{0}};
    struct soc_assembly stage = {0};
    *trial = (struct soc_trial){.script = soc_recorder_hash(parts->L, parts->script)};
    trial->is_changed = trial->script != soc_history_script(parts->host);
    size_t waiting = trial->is_changed ? count_waiting(trial, parts->host) : 0;
    if (waiting == 0)
        return;
    if (make_stage(&stage, parts, options, &detail) < 0) {
        trial->left = waiting;
        snprintf(trial->why_left, sizeof(trial->why_left), "%s", detail.text);
        return;
    }
    try_all(trial, parts->host, &stage, ms);
    soc_assembly_free(&stage);
}

/* Puts what a line of JSON says about activations that were not tried. */
static void put_left(struct soc_buf *out, size_t left, size_t waiting, const char *reason)
{
    out->length = 0;
    soc_buf_printf(out, "{\"left\":%zu", left);
    soc_json_put_text_member(out, "reason", soc_slice_text(reason));
    soc_buf_printf(out, ",\"waiting\":%zu}", waiting);
}

void soc_trial_log(const struct soc_trial *trial, struct soc_host *host)
{
    struct soc_log *log = soc_host_log(host);
    int64_t now_ms = soc_clock_now(soc_host_clock(host));
    struct soc_buf detail = {0};
    for (size_t i = 0; i < trial->misfit_count; i++)
        soc_log_event(log, SOC_LOG_WARN, now_ms, "misfit", soc_agent_id(trial->misfits[i].agent),
                      soc_buf_slice(&trial->misfits[i].error));
    if (trial->left > 0) {
        put_left(&detail, trial->left, trial->left + trial->tried, trial->why_left);
        soc_log_say_printf(log, SOC_LOG_WARN, now_ms, "trial", SOC_SLICE("system"),
                           soc_buf_slice(&detail),
                           "%zu of %zu waiting activations were not tried against the changed "
                           "script: %s",
                           trial->left, trial->left + trial->tried, trial->why_left);
    }
    if (trial->isolated > 0) {
        put_left(&detail, trial->isolated, trial->isolated, "isolated");
        soc_log_say_printf(log, SOC_LOG_WARN, now_ms, "trial", SOC_SLICE("system"),
                           soc_buf_slice(&detail),
                           "%zu waiting activations of isolated agents were not tried against "
                           "the changed script: they run in processes of their own",
                           trial->isolated);
    }
    soc_buf_fini(&detail);
}

void soc_trial_park(const struct soc_trial *trial, struct soc_host *host)
{
    for (size_t i = 0; i < trial->misfit_count; i++)
        soc_schedule_park(host, trial->misfits[i].agent, soc_buf_slice(&trial->misfits[i].error));
}

void soc_trial_accept(const struct soc_trial *trial, struct soc_host *host)
{
    if (trial->is_changed && trial->left == 0)
        soc_history_set_script(host, trial->script);
}

void soc_trial_fini(struct soc_trial *trial)
{
    for (size_t i = 0; i < trial->misfit_count; i++)
        soc_buf_fini(&trial->misfits[i].error);
    free(trial->misfits);
    *trial = (struct soc_trial){0};
}

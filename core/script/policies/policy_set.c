#include "script/policies/policy_set.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"
#include "kernel/trace.h"
#include "parts/contacts/book.h"
#include "script/policies/policy_check.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_log.h"
#include "script/policies/policy_shelf.h"
#include "script/turns/budget.h"
#include "script/turns/frame.h"

/* Steps of a turn that a question costs. */
#define ASK_STEPS 100

/* An active policy and its functions, kept apart so that nobody can change them later. */
struct soc_policy_set {
    struct soc_policy policies[SOC_POLICY_COUNT];
    struct soc_policy fallbacks[SOC_POLICY_COUNT];
    int answers[SOC_QUESTION_COUNT]; /* LUA_NOREF: the fallback answers */
    int fallback_answers[SOC_QUESTION_COUNT];
};

static int fail_kind(const char *kind, struct soc_detail *detail)
{
    struct soc_buf text = {0};
    soc_kind_put_unknown(&text, kind);
    soc_fail(detail, SOC_EINVAL, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
    return SOC_EINVAL;
}

/* Stores the checked table at `index`, its settings on top (popped) and its functions. */
static void keep(lua_State *L, int kind, int index, struct soc_policy *policy, int *answers)
{
    assert(lua_istable(L, index));
    soc_policy_keep_ref(L, &policy->settings_ref);
    lua_pushvalue(L, index);
    soc_policy_keep_ref(L, &policy->table_ref);
    policy->is_reported = false;
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        enum soc_policy_question question = (enum soc_policy_question)i;
        if ((int)soc_kind_of(question) != kind)
            continue;
        soc_option_field(L, index, soc_kind_function(question));
        soc_policy_keep_ref(L, &answers[i]);
    }
}

/* Checks the table at `index` and activates it. */
static int admit(lua_State *L, struct soc_script *script, const struct soc_policy_source *source,
                 int index, int settings_index, struct soc_detail *detail)
{
    struct soc_policy_shape shape;
    int kind = soc_kind_find(source->kind);
    if (kind < 0)
        return fail_kind(source->kind, detail);
    struct soc_policy *policy = &script->policies->policies[kind];
    soc_kind_shape(source->kind, source->name, source->path, &shape);
    int rc = soc_policy_is_shelved(L, index) ? SOC_OK : soc_policy_check(L, index, &shape, detail);
    if (rc == SOC_OK && source->path != NULL)
        soc_policy_shelf_put(L, script, source->path, source->hash, index);
    if (rc == SOC_OK)
        rc = soc_policy_push_settings(L, index, settings_index, detail);
    if (rc == SOC_OK && script->tries_policies)
        lua_pop(L, 1);
    if (rc < 0 || script->tries_policies)
        return rc;
    keep(L, kind, index, policy, script->policies->answers);
    soc_policy_keep_given(L, policy, settings_index);
    soc_policy_identify(policy, source);
    soc_book_policy_changed(script->host);
    return SOC_OK;
}

int soc_policy_set_use_table(lua_State *L, struct soc_script *script, const char *kind,
                             const char *name, int index, int settings_index,
                             struct soc_detail *detail)
{
    struct soc_policy_source source = {.kind = kind, .name = name};
    return admit(L, script, &source, index, settings_index, detail);
}

int soc_policy_set_use_file(lua_State *L, struct soc_script *script,
                            struct soc_policy_source *source, int settings_index,
                            struct soc_detail *detail)
{
    source->hash[0] = '\0';
    if (soc_kind_find(source->kind) < 0)
        return fail_kind(source->kind, detail);
    int rc = soc_policy_load_hashed(L, script, source->path, source->hash, detail);
    if (rc < 0)
        return rc;
    rc = admit(L, script, source, lua_gettop(L), settings_index, detail);
    lua_pop(L, 1);
    return rc;
}

static int fail_find(const struct soc_script *script, const char *kind, const char *name,
                     struct soc_detail *detail)
{
    if (script->app_dir == NULL)
        return soc_fail(detail, SOC_ENOFILE, "there is no policy %s/%s.lua in %s/policies", kind,
                        name, script->home);
    return soc_fail(detail, SOC_ENOFILE,
                    "there is no policy %s/%s.lua in %s/policies or %s/policies", kind, name,
                    script->app_dir, script->home);
}

int soc_policy_set_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                       int settings_index, struct soc_detail *detail)
{
    char path[SOC_PATH_BYTES_MAX];
    if (soc_kind_find(kind) < 0)
        return fail_kind(kind, detail);
    if (!soc_policy_find(script, kind, name, path, sizeof(path)))
        return fail_find(script, kind, name, detail);
    struct soc_policy_source source = {.kind = kind, .name = name, .path = path};
    return soc_policy_set_use_file(L, script, &source, settings_index, detail);
}

/* Stores the kind's shipped policy as the fallback, and activates it, or the app's own
 * of that name. */
static int use_default(lua_State *L, struct soc_script *script, int kind, struct soc_detail *detail)
{
    char path[SOC_PATH_BYTES_MAX];
    char found[SOC_PATH_BYTES_MAX];
    struct soc_policy_set *set = script->policies;
    int top = lua_gettop(L);
    struct soc_policy_source source = {
        .kind = soc_kind_name(kind),
        .name = soc_kind_fallback((enum soc_policy_kind)kind),
        .path = path,
    };
    snprintf(path, sizeof(path), "%s/policies/%s/%s.lua", script->home, source.kind, source.name);
    int rc = soc_policy_shelf_load(L, script, path, source.hash, detail);
    if (rc < 0)
        return rc;
    rc = admit(L, script, &source, top + 1, 0, detail);
    if (rc == SOC_OK)
        rc = soc_policy_push_settings(L, top + 1, 0, detail);
    if (rc == SOC_OK)
        keep(L, kind, top + 1, &set->fallbacks[kind], set->fallback_answers);
    if (rc == SOC_OK && soc_policy_find(script, source.kind, source.name, found, sizeof(found)) &&
        strcmp(found, path) != 0) {
        source.path = found;
        rc = soc_policy_set_use_file(L, script, &source, 0, detail);
    }
    lua_settop(L, top);
    return rc;
}

int soc_policy_set_open(lua_State *L, struct soc_script *script, struct soc_detail *detail)
{
    assert(script->policies == NULL);
    struct soc_policy_set *set = soc_alloc_zero(sizeof(*set));
    script->policies = set;
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        soc_policy_init(&set->policies[i]);
        soc_policy_init(&set->fallbacks[i]);
    }
    for (int i = 0; i < SOC_QUESTION_COUNT; i++)
        set->answers[i] = set->fallback_answers[i] = LUA_NOREF;
    int rc = SOC_OK;
    for (int i = 0; i < SOC_POLICY_COUNT && rc == SOC_OK; i++)
        rc = use_default(L, script, i, detail);
    return rc;
}

void soc_policy_set_fini(lua_State *L, struct soc_script *script)
{
    struct soc_policy_set *set = script->policies;
    if (set == NULL)
        return;
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        soc_policy_fini(L, &set->policies[i]);
        soc_policy_fini(L, &set->fallbacks[i]);
    }
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        luaL_unref(L, LUA_REGISTRYINDEX, set->answers[i]);
        luaL_unref(L, LUA_REGISTRYINDEX, set->fallback_answers[i]);
    }
    free(set);
    script->policies = NULL;
}

bool soc_policy_set_answers(const struct soc_script *script, enum soc_policy_question question)
{
    const struct soc_policy_set *set = script->policies;
    return set->answers[question] >= 0 || set->fallback_answers[question] >= 0;
}

struct soc_policy *soc_policy_set_get(const struct soc_script *script, enum soc_policy_kind kind)
{
    assert(kind < SOC_POLICY_COUNT);
    return &script->policies->policies[kind];
}

void soc_policy_set_charge(lua_State *L, struct soc_script *script)
{
    if (soc_gate_activation(script->host) == NULL)
        return;
    soc_budget_charge(L, script, ASK_STEPS);
}

/* Calls `function` with copies of the `count` values that end at the top and the
 * settings. Pushes two results, or the text of the error. */
static bool try(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                int function, int settings, int count)
{
    int first = lua_gettop(L) - count + 1;
    luaL_checkstack(L, count + 4, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int i = 0; i < count; i++)
        lua_pushvalue(L, first + i);
    lua_rawgeti(L, LUA_REGISTRYINDEX, settings);
    soc_frame_enter(script);
    int status = soc_policy_call(L, count + 1, 2);
    soc_frame_leave(script);
    if (status != LUA_OK)
        return false;
    if (soc_kind_is_answer(L, -2, question))
        return true;
    lua_pushfstring(L, "%s answered %s", soc_kind_function(question), luaL_typename(L, -2));
    return false;
}

void soc_policy_set_complain(struct soc_script *script, enum soc_policy_question question,
                             const char *text)
{
    struct soc_policy *policy = soc_policy_set_get(script, soc_kind_of(question));
    const char *kind = soc_kind_name((int)soc_kind_of(question));
    struct soc_buf detail = {0};
    if (text == NULL)
        text = "the error raised is not a string";
    soc_policy_log_fail(script, text);
    if (policy->is_reported)
        return;
    policy->is_reported = true;
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "hash", soc_slice_text(policy->identity.hash));
    soc_json_put_text_member(&detail, "kind", soc_slice_text(kind));
    soc_json_put_text_member(&detail, "name", soc_slice_text(policy->identity.name));
    soc_json_put_text_member(&detail, "question", soc_slice_text(soc_kind_function(question)));
    soc_json_put_text_member(&detail, "reason", soc_slice_text(text));
    soc_buf_put_byte(&detail, '}');
    soc_log_say_printf(soc_host_log(script->host), SOC_LOG_ERROR,
                       soc_clock_now(soc_host_clock(script->host)), "policy_failed",
                       SOC_SLICE("system"), soc_buf_slice(&detail),
                       "%s: %s; the default policy answers", kind, text);
    soc_trace_keep(script->host, "policy_failed", soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* Replaces the arguments above `base` with the two results. */
static bool settle_results(lua_State *L, int base, bool is_answered)
{
    assert(lua_gettop(L) >= base);
    if (is_answered)
        lua_rotate(L, base + 1, 2);
    lua_settop(L, is_answered ? base + 2 : base);
    return is_answered;
}

bool soc_policy_set_ask_fallback(lua_State *L, struct soc_script *script,
                                 enum soc_policy_question question, int count)
{
    const struct soc_policy_set *set = script->policies;
    int settings = set->fallbacks[soc_kind_of(question)].settings_ref;
    int base = lua_gettop(L) - count;
    assert(base >= 0);
    return settle_results(
        L, base, try(L, script, question, set->fallback_answers[question], settings, count));
}

static bool ask(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                int count)
{
    const struct soc_policy_set *set = script->policies;
    int base = lua_gettop(L) - count;
    if (set->answers[question] != LUA_NOREF) {
        int settings = set->policies[soc_kind_of(question)].settings_ref;
        if (try(L, script, question, set->answers[question], settings, count))
            return settle_results(L, base, true);
        soc_policy_set_complain(script, question, lua_tostring(L, -1));
        lua_settop(L, base + count);
    }
    return soc_policy_set_ask_fallback(L, script, question, count);
}

static bool takes_parameters(lua_State *L, int function)
{
    lua_Debug about;
    if (function == LUA_NOREF)
        return false; /* it is not asked */
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    lua_getinfo(L, ">u", &about);
    return about.nparams > 0 || about.isvararg;
}

bool soc_policy_set_heeds(lua_State *L, const struct soc_script *script,
                          enum soc_policy_question question)
{
    const struct soc_policy_set *set = script->policies;
    return script->keeps_history || takes_parameters(L, set->answers[question]) ||
           takes_parameters(L, set->fallback_answers[question]);
}

bool soc_policy_set_ask(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                        int count)
{
    soc_policy_set_charge(L, script);
    if (!script->keeps_history)
        return ask(L, script, question, count);
    soc_policy_log_begin(L, script, count);
    bool is_answered = ask(L, script, question, count);
    const struct soc_policy *policy = soc_policy_set_get(script, soc_kind_of(question));
    soc_policy_log_end(L, script, question, policy->identity.name, is_answered);
    return is_answered;
}

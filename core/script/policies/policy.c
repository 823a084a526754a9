#include "script/policies/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/refusal.h"
#include "kernel/trace.h"
#include "lualib/nearest.h"
#include "parts/contacts/book.h"
#include "script/history/history.h"
#include "script/policies/messages.h"
#include "script/policies/policy_shelf.h"
#include "script/turns/effect.h"

static const struct {
    const char *name;
    const char *usual;
} kinds[SOC_POLICY_COUNT] = {
#define K(tag, folder, usual) {folder, usual},
    SOC_POLICY_MAP(K)
#undef K
};

static const struct {
    enum soc_policy_kind kind;
    const char *function;
    bool is_required;
    enum soc_answer_kind answer;
} questions[SOC_QUESTION_COUNT] = {
#define Q(tag, kind, function, is_required, answer)                                                \
    {SOC_POLICY_##kind, function, is_required, answer},
    SOC_QUESTION_MAP(Q)
#undef Q
};

static int find_kind(const char *kind)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++)
        if (strcmp(kinds[i].name, kind) == 0)
            return i;
    return -1;
}

static struct soc_policy_shape shape_of(int kind, const char *name)
{
    struct soc_policy_shape shape = {.kind = kinds[kind].name, .name = name};
    int count = 0;
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        if ((int)questions[i].kind != kind)
            continue;
        shape.functions[count].name = questions[i].function;
        shape.functions[count++].is_required = questions[i].is_required;
    }
    return shape;
}

const char *soc_policy_kind_name(int number)
{
    if (number == SOC_POLICY_COUNT)
        return SOC_MESSAGES;
    return number < SOC_POLICY_COUNT ? kinds[number].name : NULL;
}

bool soc_policy_question(const char *kind, const char *function, enum soc_question *question)
{
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        *question = (enum soc_question)i;
        if (strcmp(kinds[questions[i].kind].name, kind) == 0 &&
            strcmp(questions[i].function, function) == 0)
            return true;
    }
    return false;
}

bool soc_policy_shape(const char *kind, const char *name, const char *path,
                      struct soc_policy_shape *shape)
{
    static const char *const fields[] = {"types", "default", "name", NULL};
    int number = find_kind(kind);
    bool is_messages = strcmp(kind, SOC_MESSAGES) == 0;
    if (number < 0 && !is_messages)
        return false;
    if (is_messages)
        *shape = (struct soc_policy_shape){
            .kind = SOC_MESSAGES, .name = name, .fields = fields, .has_own_examples = true};
    else
        *shape = shape_of(number, name);
    shape->path = path;
    return true;
}

static const char *each_kind(const void *user, int number)
{
    (void)user;
    return soc_policy_kind_name(number);
}

void soc_policy_put_unknown_kind(struct soc_buf *out, const char *kind)
{
    soc_buf_printf(out, "there is no policy kind '%s'", kind);
    soc_nearest_put(out, kind, each_kind, NULL);
    soc_buf_put_text(out, " (kinds:");
    for (int i = 0; soc_policy_kind_name(i) != NULL; i++)
        soc_buf_printf(out, "%s %s", i == 0 ? "" : ",", soc_policy_kind_name(i));
    soc_buf_put_byte(out, ')');
}

static int fail_kind(const char *kind, struct soc_detail *detail)
{
    struct soc_buf text = {0};
    soc_policy_put_unknown_kind(&text, kind);
    soc_fail(detail, SOC_EINVAL, "%s", soc_buf_text(&text));
    soc_buf_fini(&text);
    return SOC_EINVAL;
}

static void replace_ref(lua_State *L, int *ref)
{
    luaL_unref(L, LUA_REGISTRYINDEX, *ref);
    *ref = lua_isnil(L, -1) ? (lua_pop(L, 1), LUA_NOREF) : luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Keeps the checked table at `index`, its settings on top (popped) and its
 * functions, so that nobody changes them later. */
static void keep(lua_State *L, int kind, int index, struct soc_policy *policy, int *answers)
{
    replace_ref(L, &policy->settings_ref);
    lua_pushvalue(L, index);
    replace_ref(L, &policy->table_ref);
    policy->is_reported = false;
    for (int i = 0; i < SOC_QUESTION_COUNT; i++) {
        if ((int)questions[i].kind != kind)
            continue;
        soc_raw_field(L, index, questions[i].function);
        replace_ref(L, &answers[i]);
    }
}

void soc_policy_keep_given(lua_State *L, struct soc_policy *policy, int settings_index)
{
    if (policy->given_ref != 0)
        luaL_unref(L, LUA_REGISTRYINDEX, policy->given_ref);
    policy->given_ref = 0;
    if (settings_index == 0)
        return;
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, settings_index) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    policy->given_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Checks the table at `index` and puts it in force. `path` and `hash` are NULL if
 * it has no file. */
static int let_in(lua_State *L, struct soc_script *script, struct soc_policy_source source,
                  int index, int settings_index, struct soc_detail *detail)
{
    int number = find_kind(source.kind);
    if (number < 0)
        return fail_kind(source.kind, detail);
    struct soc_policy *policy = &script->policies[number];
    struct soc_policy_shape shape = shape_of(number, source.name);
    shape.path = source.path;
    int rc = soc_policy_is_shelved(L, index) ? SOC_OK
                                             : soc_policy_check(L, script, index, &shape, detail);
    if (rc == SOC_OK && source.path != NULL)
        soc_policy_shelf_put(L, script, source.path, source.hash, index);
    if (rc == SOC_OK)
        rc = soc_policy_push_settings(L, index, settings_index, detail);
    if (rc < 0)
        return rc;
    keep(L, number, index, policy, script->answers);
    soc_policy_keep_given(L, policy, settings_index);
    soc_identity_set(&policy->identity, source.name, source.path,
                     source.path == NULL ? NULL : source.hash);
    soc_book_policy_changed(script->host);
    return SOC_OK;
}

int soc_policy_use_table(lua_State *L, struct soc_script *script, const char *kind,
                         const char *name, int index, int settings_index, struct soc_detail *detail)
{
    struct soc_policy_source source = {.kind = kind, .name = name};
    if (strcmp(kind, SOC_MESSAGES) == 0)
        return soc_messages_use_table(L, script, index, settings_index, detail);
    return let_in(L, script, source, index, settings_index, detail);
}

int soc_policy_use_file(lua_State *L, struct soc_script *script, struct soc_policy_source *source,
                        int settings_index, struct soc_detail *detail)
{
    source->hash[0] = '\0';
    if (strcmp(source->kind, SOC_MESSAGES) == 0)
        return soc_messages_use_file(L, script, source, settings_index, detail);
    if (find_kind(source->kind) < 0)
        return fail_kind(source->kind, detail);
    int rc = soc_policy_load_hashed(L, script, source->path, source->hash, detail);
    if (rc < 0)
        return rc;
    rc = let_in(L, script, *source, lua_gettop(L), settings_index, detail);
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

int soc_policy_use(lua_State *L, struct soc_script *script, const char *kind, const char *name,
                   int settings_index, struct soc_detail *detail)
{
    char path[SOC_PATH_BYTES_MAX];
    if (strcmp(kind, SOC_MESSAGES) == 0)
        return soc_messages_use(L, script, name, settings_index, detail);
    if (find_kind(kind) < 0)
        return fail_kind(kind, detail);
    if (!soc_policy_find(script, kind, name, path, sizeof(path)))
        return fail_find(script, kind, name, detail);
    struct soc_policy_source source = {.kind = kind, .name = name, .path = path};
    return soc_policy_use_file(L, script, &source, settings_index, detail);
}

void soc_policy_wrap(lua_State *L, const char *kind, int index, int settings_index)
{
    const char *function = "function";
    for (int i = SOC_QUESTION_COUNT - 1; i >= 0; i--)
        if (strcmp(kinds[questions[i].kind].name, kind) == 0)
            function = questions[i].function; /* the kind's first question */
    lua_createtable(L, 0, 4);
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    lua_pushinteger(L, 1);
    lua_setfield(L, -2, "version");
    if (settings_index != 0) { /* a function cannot say which ones it has */
        lua_pushvalue(L, settings_index);
        lua_setfield(L, -2, "defaults");
    }
    lua_pushvalue(L, index);
    lua_setfield(L, -2, function);
    lua_replace(L, index);
}

/* Keeps the shipped policy of the kind for when another one fails, and puts it in
 * force, or the app's own of that name. */
static int use_usual(lua_State *L, struct soc_script *script, int kind, struct soc_detail *detail)
{
    char path[SOC_PATH_BYTES_MAX];
    char found[SOC_PATH_BYTES_MAX];
    int top = lua_gettop(L);
    struct soc_policy_source source = {kinds[kind].name, kinds[kind].usual, path, {0}};
    snprintf(path, sizeof(path), "%s/policies/%s/%s.lua", script->home, source.kind, source.name);
    int rc = soc_policy_shelf_load(L, script, path, source.hash, detail);
    if (rc < 0)
        return rc;
    rc = let_in(L, script, source, top + 1, 0, detail);
    if (rc == SOC_OK)
        rc = soc_policy_push_settings(L, top + 1, 0, detail);
    if (rc == SOC_OK)
        keep(L, kind, top + 1, &script->usual[kind], script->usual_answers);
    if (rc == SOC_OK && soc_policy_find(script, source.kind, source.name, found, sizeof(found)) &&
        strcmp(found, path) != 0) {
        source.path = found;
        rc = soc_policy_use_file(L, script, &source, 0, detail);
    }
    lua_settop(L, top);
    return rc;
}

int soc_policy_use_defaults(lua_State *L, struct soc_script *script, struct soc_detail *detail)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++)
        script->usual[i] = script->policies[i] =
            (struct soc_policy){.table_ref = LUA_NOREF, .settings_ref = LUA_NOREF};
    for (int i = 0; i < SOC_QUESTION_COUNT; i++)
        script->answers[i] = script->usual_answers[i] = LUA_NOREF;
    int rc = SOC_OK;
    for (int i = 0; i < SOC_POLICY_COUNT && rc == SOC_OK; i++)
        rc = use_usual(L, script, i, detail);
    if (rc == SOC_OK)
        rc = soc_messages_use_defaults(L, script, detail);
    return rc;
}

static void release(lua_State *L, struct soc_policy *policies, const int *answers)
{
    for (int i = 0; i < SOC_POLICY_COUNT; i++) {
        luaL_unref(L, LUA_REGISTRYINDEX, policies[i].table_ref);
        luaL_unref(L, LUA_REGISTRYINDEX, policies[i].settings_ref);
        if (policies[i].given_ref != 0)
            luaL_unref(L, LUA_REGISTRYINDEX, policies[i].given_ref);
        soc_identity_fini(&policies[i].identity);
    }
    for (int i = 0; i < SOC_QUESTION_COUNT; i++)
        luaL_unref(L, LUA_REGISTRYINDEX, answers[i]);
}

void soc_policy_free(lua_State *L, struct soc_script *script)
{
    soc_messages_free(L, script);
    if (script->usual[0].table_ref == 0)
        return; /* it never came to policies */
    release(L, script->policies, script->answers);
    release(L, script->usual, script->usual_answers);
}

#define ASK_STEPS 100

void soc_policy_charge(lua_State *L, struct soc_script *script)
{
    if (soc_gate_activation(script->host) == NULL)
        return;
    script->steps_left -= ASK_STEPS;
    if (script->steps_left > 0)
        return;
    soc_refuse_named(&script->error, "budget",
                     "one turn ran too many steps; split the work over several messages");
    soc_effect_break(L, script);
}

static bool is_one_of(lua_State *L, int index, const char *first, const char *second)
{
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    return text != NULL && (strcmp(text, first) == 0 || strcmp(text, second) == 0);
}

/* A rung of a ladder: { at_ms, action }. */
static bool is_rung(lua_State *L, int index)
{
    int top = lua_gettop(L);
    size_t length = 0;
    if (!lua_istable(L, index))
        return false;
    soc_raw_field(L, index, "at_ms");
    lua_Number at_ms = lua_tonumber(L, -1);
    bool is_time = lua_type(L, -1) == LUA_TNUMBER && at_ms >= 0 && at_ms <= 1e14;
    soc_raw_field(L, index, "action");
    const char *action = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    bool is_action = action != NULL && soc_rung_parse(soc_slice(action, length)) != SOC_RUNG_END;
    lua_settop(L, top);
    return is_time && is_action;
}

static bool is_sensible(lua_State *L, int index, enum soc_answer_kind kind)
{
    lua_Number number = lua_tonumber(L, index);
    switch (kind) {
    case SOC_ANSWER_BOOLEAN:
        return lua_isboolean(L, index);
    case SOC_ANSWER_VERDICT:
        return lua_isboolean(L, index) || lua_istable(L, index);
    case SOC_ANSWER_TEXT:
        return lua_type(L, index) == LUA_TSTRING;
    case SOC_ANSWER_DELAY:
        return lua_isnil(L, index) ||
               (lua_type(L, index) == LUA_TNUMBER && number >= 0 && number <= 1e14);
    case SOC_ANSWER_TABLE:
        return lua_istable(L, index);
    case SOC_ANSWER_RUNG:
        return lua_isnil(L, index) || is_rung(L, lua_absindex(L, index));
    case SOC_ANSWER_FATE:
        return is_one_of(L, index, "end", "adopt");
    }
    return false;
}

/* Calls `function` with copies of the `count` values that end at the top and the
 * settings; two results pushed, or the error's text. */
static bool try(lua_State *L, enum soc_question question, int function, int settings, int count)
{
    int first = lua_gettop(L) - count + 1;
    luaL_checkstack(L, count + 4, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int i = 0; i < count; i++)
        lua_pushvalue(L, first + i);
    lua_rawgeti(L, LUA_REGISTRYINDEX, settings);
    if (soc_policy_call(L, count + 1, 2) != LUA_OK)
        return false;
    if (is_sensible(L, -2, questions[question].answer))
        return true;
    lua_pushfstring(L, "%s answered %s", questions[question].function, luaL_typename(L, -2));
    return false;
}

void soc_policy_complain(struct soc_script *script, enum soc_question question, const char *text)
{
    struct soc_policy *policy = &script->policies[questions[question].kind];
    const char *kind = kinds[questions[question].kind].name;
    struct soc_buf detail = {0};
    if (text == NULL)
        text = "an error value that is no text was raised";
    soc_history_note_failure(script, text);
    if (policy->is_reported)
        return;
    policy->is_reported = true;
    soc_log_printf(soc_host_log(script->host), SOC_LOG_ERROR,
                   soc_clock_now(soc_host_clock(script->host)), "policy_failed",
                   SOC_SLICE("system"), "%s: %s; the usual answer holds", kind, text);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "hash", soc_slice_text(policy->identity.hash));
    soc_json_put_text_member(&detail, "kind", soc_slice_text(kind));
    soc_json_put_text_member(&detail, "name", soc_slice_text(policy->identity.name));
    soc_json_put_text_member(&detail, "question", soc_slice_text(questions[question].function));
    soc_json_put_text_member(&detail, "reason", soc_slice_text(text));
    soc_buf_put_byte(&detail, '}');
    soc_trace_keep(script->host, "policy_failed", soc_buf_slice(&detail));
    soc_buf_fini(&detail);
}

/* The two results take the place of the `count` arguments behind `base`. */
static bool settle_results(lua_State *L, int base, bool is_answered)
{
    if (is_answered)
        lua_rotate(L, base + 1, 2);
    lua_settop(L, is_answered ? base + 2 : base);
    return is_answered;
}

bool soc_policy_ask_usual(lua_State *L, struct soc_script *script, enum soc_question question,
                          int count)
{
    enum soc_policy_kind kind = questions[question].kind;
    int base = lua_gettop(L) - count;
    return settle_results(
        L, base,
        try(L, question, script->usual_answers[question], script->usual[kind].settings_ref, count));
}

static bool ask(lua_State *L, struct soc_script *script, enum soc_question question, int count)
{
    enum soc_policy_kind kind = questions[question].kind;
    int base = lua_gettop(L) - count;
    if (script->answers[question] != LUA_NOREF) {
        if (try(L, question, script->answers[question], script->policies[kind].settings_ref, count))
            return settle_results(L, base, true);
        soc_policy_complain(script, question, lua_tostring(L, -1));
        lua_settop(L, base + count);
    }
    return soc_policy_ask_usual(L, script, question, count);
}

bool soc_policy_ask(lua_State *L, struct soc_script *script, enum soc_question question, int count)
{
    enum soc_policy_kind kind = questions[question].kind;
    soc_policy_charge(L, script);
    if (!script->keeps_history)
        return ask(L, script, question, count);
    soc_history_ask(L, script, count);
    bool is_answered = ask(L, script, question, count);
    soc_history_answered(L, script, kinds[kind].name, questions[question].function,
                         &script->policies[kind], is_answered);
    return is_answered;
}

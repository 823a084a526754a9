#include "script/policies/policy_load.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "lualib/lua_json.h"
#include "lualib/lua_source.h"
#include "lualib/sources.h"
#include "sandbox/sandbox.h"
#include "script/policies/policy_texts.h"

/* VM instructions between two checks of the budget. */
#define STEPS_PER_LOOK (SOC_POLICY_STEPS_MAX / 10)

static int refuse_effect(lua_State *L)
{
    return luaL_error(L, "a policy is a pure function: it prints nothing and asks no clock and no "
                         "chance");
}

void soc_policy_push_environment(lua_State *L, const struct soc_script *script)
{
    struct soc_sandbox_gate gate = {refuse_effect, refuse_effect, refuse_effect, refuse_effect,
                                    NULL};
    soc_sandbox_push(L, &gate);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, lua_gettop(L) - 1, "society.json");
    char path[4096];
    snprintf(path, sizeof(path), "%s/lua", script->home);
    soc_sandbox_add_own_path(L, lua_gettop(L), path);
}

/* Registry key of the remaining steps: a hook has no other access to them, and
 * coroutines of the policy share them. */
static const char budget_key = 0;

#define TOO_LONG "the policy ran too many steps; does it loop?"

static int64_t *find_steps(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &budget_key);
    int64_t *steps_left = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return steps_left;
}

/* Ends the policy's answer. `at`: the frame that is to blame. */
static void end_answer(lua_State *L, lua_Debug *at, const char *what)
{
    lua_getinfo(L, "Sl", at);
    lua_pushfstring(L, "%s:%d: %s", at->short_src, at->currentline, what);
    soc_sandbox_raise_fatal(L);
}

static void spend_steps(lua_State *L, lua_Debug *debug)
{
    int64_t *steps_left = find_steps(L);
    *steps_left -= lua_gethookcount(L);
    if (*steps_left <= 0)
        end_answer(L, debug, TOO_LONG);
}

/* Steps of a library function in the time of a VM instruction that calls something. A policy
 * must get through the longest payload. */
#define STEPS_IN_ONE 512

/* The same for functions of libraries, where no hook is called. */
static void spend_in_library(lua_State *L, uint64_t steps)
{
    lua_Debug at;
    int64_t *steps_left = find_steps(L);
    *steps_left -= (int64_t)(steps / STEPS_IN_ONE);
    if (*steps_left <= 0 && (lua_getstack(L, 1, &at) || lua_getstack(L, 0, &at)))
        end_answer(L, &at, TOO_LONG);
}

static void refuse_text(lua_State *L, uint64_t limit)
{
    (void)limit;
    lua_Debug at;
    if (lua_getstack(L, 1, &at) || lua_getstack(L, 0, &at))
        end_answer(L, &at, "the policy made too long a text");
}

int soc_policy_call(lua_State *L, int arguments, int results)
{
    assert(lua_gettop(L) > arguments);
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L);
    int count = lua_gethookcount(L);
    int64_t steps_left = SOC_POLICY_STEPS_MAX;
    lua_pushlightuserdata(L, &steps_left);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &budget_key);
    struct soc_sandbox_budget former = soc_sandbox_set_budget(
        L, &(struct soc_sandbox_budget){.charge = spend_in_library,
                                        .refuse_text = refuse_text,
                                        .text_bytes_max = SOC_SCRIPT_TEXT_BYTES_MAX});
    lua_sethook(L, spend_steps, LUA_MASKCOUNT, STEPS_PER_LOOK);
    int status = lua_pcall(L, arguments, results, 0);
    if (lua_gethook(L) == spend_steps) /* else the turn's budget is spent: its hook stays */
        lua_sethook(L, hook, mask, count);
    soc_sandbox_set_budget(L, &former);
    if (status != LUA_OK && soc_sandbox_fatal_value(L, -1))
        lua_remove(L, -2);
    return status;
}

const char *soc_policy_shipped(const struct soc_script *script, const char *path)
{
    size_t length = strlen(script->home);
    bool is_shipped =
        strncmp(path, script->home, length) == 0 && strncmp(path + length, "/policies/", 10) == 0;
    return is_shipped ? path + length : NULL;
}

void soc_policy_put_name(const struct soc_script *script, const char *path, struct soc_buf *out)
{
    const char *rest = soc_policy_shipped(script, path);
    if (rest != NULL)
        soc_buf_put_text(out, SOC_POLICY_OWN);
    soc_buf_put_text(out, rest == NULL ? path : rest);
}

void soc_policy_put_path(const struct soc_script *script, const char *name, struct soc_buf *out)
{
    size_t length = strlen(SOC_POLICY_OWN);
    bool is_shipped = strncmp(name, SOC_POLICY_OWN "/", length + 1) == 0;
    if (is_shipped)
        soc_buf_put_text(out, script->home);
    soc_buf_put_text(out, is_shipped ? name + length : name);
}

bool soc_policy_find(const struct soc_script *script, const char *kind, const char *name,
                     char *path, size_t size)
{
    if (strchr(name, '/') != NULL || strstr(name, ".lua") != NULL) {
        snprintf(path, size, "%s", name);
        return true;
    }
    const char *roots[] = {script->app_dir, script->home};
    for (int i = 0; i < 2; i++) {
        if (roots[i] == NULL)
            continue;
        snprintf(path, size, "%s/policies/%s/%s.lua", roots[i], kind, name);
        if (soc_sources_has(script->L, path))
            return true;
    }
    return false;
}

/* Skips `:LINE: `; NULL if it is not there. */
static const char *skip_line_number(const char *at, int *line)
{
    char *end;
    if (*at != ':' || at[1] < '0' || at[1] > '9')
        return NULL;
    *line = (int)strtol(at + 1, &end, 10);
    if (end[0] != ':')
        return NULL;
    return end[1] == ' ' ? end + 2 : end + 1;
}

const char *soc_policy_locate(const char *path, const char *message, int *line)
{
    size_t length = strlen(path);
    const char *rest = NULL;
    *line = 0;
    if (strncmp(message, path, length) == 0) {
        rest = skip_line_number(message + length, line);
    } else if (strncmp(message, "...", 3) == 0) {
        size_t shown = strcspn(message + 3, ":");
        if (shown < length && strncmp(message + 3, path + length - shown, shown) == 0)
            rest = skip_line_number(message + 3 + shown, line);
    }
    if (rest == NULL)
        *line = 0;
    return rest == NULL ? message : rest;
}

/* Pops the error on top and reports it as FILE:LINE: MESSAGE. */
static int fail_load(lua_State *L, const char *path, struct soc_detail *detail)
{
    assert(lua_gettop(L) > 0);
    int line;
    const char *message = lua_tostring(L, -1);
    if (message == NULL)
        message = "the error raised is not a string";
    const char *text = soc_policy_locate(path, message, &line);
    soc_fail(detail, SOC_ESCRIPT, "%s:%d: %s", path, line == 0 ? 1 : line, text);
    lua_pop(L, 1);
    return SOC_ESCRIPT;
}

static bool read_source(lua_State *L, const char *path, struct soc_buf *text)
{
    size_t count;
    FILE *file = soc_sources_open(L, path);
    if (file == NULL)
        return false;
    while ((count = fread(soc_buf_reserve(text, 65536), 1, 65536, file)) > 0)
        text->length += count;
    bool is_read = ferror(file) == 0;
    fclose(file);
    return is_read;
}

/* Pushes the chunk of the file with the environment on top as its own. */
static int push_chunk(lua_State *L, const char *path, char hash[SOC_POLICY_HASH_BYTES],
                      struct soc_detail *detail)
{
    struct soc_buf text = {0};
    struct soc_detail fault = {{0}};
    int line;
    if (!read_source(L, path, &text)) {
        int code =
            errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? SOC_ENOFILE : SOC_EACCESS;
        soc_buf_fini(&text);
        return soc_fail(detail, code, "%s: %s", path, strerror(errno));
    }
    soc_policy_hash(hash, soc_buf_slice(&text));
    int rc = soc_sandbox_load_text(L, -1, soc_buf_slice(&text), path, &fault);
    soc_buf_fini(&text);
    if (rc == SOC_OK)
        return rc;
    const char *what = soc_policy_locate(path, fault.text, &line);
    if (line == 0)
        return soc_fail(detail, rc, "%s", what);
    return soc_fail(detail, rc, "%s:%d: %s", path, line, what);
}

int soc_policy_load_hashed(lua_State *L, const struct soc_script *script, const char *path,
                           char hash[SOC_POLICY_HASH_BYTES], struct soc_detail *detail)
{
    hash[0] = '\0';
    soc_policy_push_environment(L, script);
    int env = lua_gettop(L);
    int rc = push_chunk(L, path, hash, detail);
    if (rc == SOC_OK && soc_policy_call(L, 0, 1) != LUA_OK)
        rc = fail_load(L, path, detail);
    if (rc == SOC_OK)
        soc_sandbox_freeze(L, env);
    lua_remove(L, env);
    if (rc < 0)
        return rc;
    rc = soc_policy_texts(L, script, path, hash, detail);
    if (rc < 0)
        lua_pop(L, 1);
    return rc;
}

int soc_policy_load(lua_State *L, const struct soc_script *script, const char *path,
                    struct soc_detail *detail)
{
    char hash[SOC_POLICY_HASH_BYTES];
    return soc_policy_load_hashed(L, script, path, hash, detail);
}

int soc_policy_push_settings(lua_State *L, int index, int settings_index, struct soc_detail *detail)
{
    lua_newtable(L);
    int out = lua_gettop(L);
    if (soc_option_field(L, index, "defaults") == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, out + 1) != 0) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, out);
        }
    }
    lua_settop(L, out);
    if (settings_index == 0 || lua_isnoneornil(L, settings_index))
        return SOC_OK;
    lua_pushnil(L);
    while (lua_next(L, settings_index) != 0) {
        lua_pushvalue(L, -2);
        if (lua_rawget(L, out) == LUA_TNIL) {
            soc_fail(detail, SOC_EINVAL, "the policy has no setting '%s'",
                     lua_type(L, -3) == LUA_TSTRING ? lua_tostring(L, -3) : "(no name)");
            lua_settop(L, out - 1);
            return SOC_EINVAL;
        }
        lua_pop(L, 1);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, out);
    }
    return SOC_OK;
}

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "embed/assembly.h"
#include "embed/home.h"
#include "kernel/agents.h"
#include "kernel/registry.h"
#include "kernel/state.h"
#include "lualib/lua_source.h"
#include "lualib/sources.h"
#include "main/command.h"
#include "main/lint.h"
#include "main/options.h"
#include "parts/history/replay.h"
#include "script/history/rerun.h"
#include "script/policies/policy_audit.h"
#include "script/turns/behaviour.h"
#include "script/turns/handout.h"

/* Returns true if the text requires "society". */
static bool requires_society(const char *text)
{
    struct soc_lua_source source = {text, 1};
    struct soc_token token;
    struct soc_token before = {0};
    for (; soc_lua_source_next(&source, &token); before = token)
        if (token.kind == SOC_TOKEN_TEXT && token.length == 9 &&
            memcmp(token.text + 1, "society", 7) == 0 &&
            (soc_token_is(&before, "(") || soc_token_is(&before, "require")))
            return true;
    return false;
}

/* Distinguishes a policy from an app without running it: a policy does not require
 * "society", returns a table, and is in a folder `policies` or has a policy's fields. */
static bool is_policy(const char *path)
{
    static const char *const fields[] = {"kind", "version", "defaults", "examples", NULL};
    struct soc_buf source = {0};
    bool is_among = strstr(path, "policies/") != NULL;
    bool has_field = false;
    if (!soc_lua_source_read(path, &source)) {
        soc_buf_fini(&source);
        return false;
    }
    const char *text = soc_buf_text(&source);
    for (int i = 0; fields[i] != NULL; i++)
        has_field = has_field || soc_lua_source_field_line(text, fields[i]) > 0;
    bool returns = soc_lua_source_return_line(text) > 0;
    bool asks = requires_society(text);
    soc_buf_fini(&source);
    return !asks && (is_among || (returns && has_field));
}

static bool ignore_show(void *user, struct soc_slice stream, struct soc_slice agent,
                        struct soc_slice text)
{
    (void)user, (void)stream, (void)agent, (void)text;
    return true;
}

static void ignore_failure(void *user, const struct soc_detail *detail)
{
    (void)user, (void)detail;
}

static void print_finding(void *user, int line, bool is_warning, const char *text)
{
    const char *path = user;
    fprintf(stderr, "%s:%d: %s%s\n", path, line, is_warning ? "warning: " : "", text);
}

static int check_policy(const struct soc_assembly_options *options)
{
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    if (soc_assembly_make(&parts, options, &detail) < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int errors = soc_policy_audit(parts.script, options->app_file, print_finding,
                                  (void *)(uintptr_t)options->app_file, &detail);
    soc_assembly_free(&parts);
    if (errors > 0)
        return SOC_EXIT_FAILED;
    printf("ok: %s\n", detail.text);
    return SOC_EXIT_DONE;
}

/* Audits the policies an app uses, except those that come with the program. */
struct app_check {
    struct soc_script *script;
    const char *home;
    int errors;
};

static void check_file(void *user, const char *path)
{
    struct app_check *check = user;
    struct soc_detail detail = {0};
    size_t length = strlen(check->home);
    if (strncmp(path, check->home, length) != 0 || path[length] != '/')
        check->errors +=
            soc_policy_audit(check->script, path, print_finding, (void *)(uintptr_t)path, &detail);
}

/* Warns of an app's own file. */
static void warn_of_file(void *user, const char *path)
{
    const struct app_check *check = user;
    size_t length = strlen(check->home);
    if (strncmp(path, check->home, length) != 0 || path[length] != '/')
        soc_lint_refused(path, soc_script_may_load(check->script));
}

/* Compiles the module that handout.h finds for the name at 1, without running it. */
static int compile_module(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, 2);
    size_t length;
    lua_settop(L, 1);
    soc_handout_find(L, script);
    const char *text = lua_tolstring(L, -1, &length);
    lua_pushfstring(L, "@%s", lua_tostring(L, -2));
    if (luaL_loadbufferx(L, text, length, lua_tostring(L, -1), "t") != LUA_OK)
        return lua_error(L);
    return 0;
}

/* Checks the modules of isolated roles, which are not loaded with the app. Returns how many cannot
 * run. */
static int check_isolated(struct soc_assembly *parts)
{
    lua_State *L = parts->L;
    size_t cursor = 0;
    int faults = 0;
    struct soc_role *role;
    while ((role = soc_registry_each_role(parts->host, &cursor)) != NULL) {
        const char *name = role->is_isolated ? soc_behaviour_name(parts->script, role) : NULL;
        if (name == NULL || soc_behaviour_thinks(parts->script, role) ||
            soc_registry_find_role(parts->host, soc_slice_text(name)) != NULL)
            continue;
        lua_pushcfunction(L, compile_module);
        lua_pushstring(L, name);
        lua_pushlightuserdata(L, parts->script);
        if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
            fprintf(stderr, "the isolated role '%s': %s\n", role->id, lua_tostring(L, -1));
            lua_pop(L, 1);
            faults++;
        }
    }
    return faults;
}

static int count_roles(struct soc_host *host)
{
    static const char *const own[] = {"user", "root", "unknown"};
    size_t cursor = 0;
    int count = 0;
    const struct soc_role *role;
    while ((role = soc_registry_each_role(host, &cursor)) != NULL) {
        count++;
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(role->id, own[i]) == 0)
                count--;
    }
    return count;
}

/* Warns of a file that is valid Lua but no app: run, it would wait for ever in silence. */
static void warn_of_nothing(const struct soc_assembly *parts, int roles, const char *path)
{
    const struct soc_role *root = soc_registry_find_role(parts->host, SOC_SLICE("root"));
    if (roles == 0 && !soc_script_has_main(parts->script) && root->script_mark == 0)
        fprintf(stderr, "%s: warning: this app declares nothing: no role, no root and no main\n",
                path);
}

/* Tokens as the model client estimates them (society.llm.usage): four bytes each, or one
 * character of a wide script. */
static size_t estimate_tokens(struct soc_slice text)
{
    size_t wide = 0;
    for (size_t i = 0; i < text.length; i++)
        wide += (unsigned char)text.data[i] >= 0xe2 && (unsigned char)text.data[i] <= 0xf4;
    return (text.length - 3 * wide) / 4 + wide + 1;
}

/* Prints how long the prompt of an agent in that role is, before its brief and any contacts. */
static void print_prompt(struct soc_host *host, struct soc_role *role)
{
    struct soc_buf object = {0};
    struct soc_buf text = {0};
    bool is_root = strcmp(role->id, "root") == 0;
    struct soc_agent *agent = soc_replay_agent(host, soc_slice_text(is_root ? "root" : "agent"));
    agent->role = role;
    soc_buf_put_byte(&object, '{');
    soc_json_put_text_member(&object, "role", soc_slice_text(role->id));
    bool is_told = host->hooks.put_context != NULL &&
                   host->hooks.put_context(host->hooks.user, agent, &object);
    soc_buf_put_byte(&object, '}');
    if (is_told && soc_json_string(soc_json_member(soc_buf_slice(&object), "context"), &text))
        printf("prompt of %s: about %zu tokens\n", role->id, estimate_tokens(soc_buf_slice(&text)));
    soc_buf_fini(&object);
    soc_buf_fini(&text);
}

/* The same for every role that thinks with a model. */
static void print_prompts(struct soc_assembly *parts)
{
    struct soc_detail detail = {0};
    size_t cursor = 0;
    struct soc_role *role;
    if (soc_host_start(parts->host, soc_slice_text(parts->app_name), &detail) < 0)
        return;
    soc_rerun_begin(parts->script, 0);
    while ((role = soc_registry_each_role(parts->host, &cursor)) != NULL)
        if (soc_behaviour_thinks(parts->script, role))
            print_prompt(parts->host, role);
}

static int check_app(const struct soc_assembly_options *options)
{
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    int rc = soc_assembly_load(&parts, options, &detail);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = SOC_EXIT_FAILED;
    struct soc_buf home = {0};
    soc_home_find(&home);
    struct app_check check = {.script = parts.script, .home = soc_buf_text(&home)};
    soc_script_each_policy_file(parts.script, check_file, &check);
    soc_sources_each(parts.L, 0, warn_of_file, &check);
    soc_buf_fini(&home);
    check.errors += check_isolated(&parts);
    if (soc_lint_calls(parts.L, 1, options->app_file) == 0 && check.errors == 0) {
        int roles = count_roles(parts.host);
        code = SOC_EXIT_DONE;
        warn_of_nothing(&parts, roles, options->app_file);
        printf("ok: %d role%s, %s\n", roles, roles == 1 ? "" : "s",
               soc_script_has_main(parts.script) ? "main" : "no main");
        print_prompts(&parts);
    }
    soc_assembly_free(&parts);
    return code;
}

int soc_cmd_check(lua_State *L)
{
    struct soc_text_list rest = soc_options_list(L, "rest");
    struct soc_assembly_options options = {
        .app_file = soc_options_text(L, "app"),
        .is_simulated = true,
        .arguments = (char *const *)rest.items,
        .argument_count = rest.count,
        .log = {.level = SOC_LOG_WARN},
        .show = ignore_show,
        .failed = ignore_failure,
    };
    assert(options.app_file != NULL);
    int code = is_policy(options.app_file) ? check_policy(&options) : check_app(&options);
    soc_text_list_fini(&rest);
    lua_pushinteger(L, code);
    return 1;
}

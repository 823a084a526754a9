#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "embed/assembly.h"
#include "host/agents.h"
#include "main/args.h"
#include "main/command.h"
#include "main/lint.h"
#include "script/lua_json.h"
#include "script/sandbox.h"

static int refuse_effect(lua_State *L)
{
    return luaL_error(L, "nothing is run");
}

static void end_long_run(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    luaL_error(L, "too many steps");
}

/* Called protected with the path: returns the `kind` of the table that the file
 * returns when it is run alone. An app needs a society and fails here. */
static int read_kind(lua_State *L)
{
    static const struct soc_sandbox_gate gate = {refuse_effect, refuse_effect, refuse_effect,
                                                 refuse_effect, NULL};
    const char *path = lua_tostring(L, 1);
    struct soc_detail detail;
    luaL_openlibs(L);
    soc_sandbox_push(L, &gate);
    int env = lua_gettop(L);
    soc_lua_json_open(L);
    soc_sandbox_preload(L, env, "society.json");
    if (soc_sandbox_load(L, env, path, path, &detail) < 0)
        return 0;
    lua_sethook(L, end_long_run, LUA_MASKCOUNT, SOC_POLICY_STEPS_MAX);
    lua_call(L, 0, 1);
    if (!lua_istable(L, -1))
        return 0;
    lua_pushliteral(L, "kind");
    lua_rawget(L, -2);
    return lua_type(L, -1) == LUA_TSTRING ? 1 : 0;
}

/* Returns the kind of the policy in the file, NULL if it is none. Owned. */
static char *find_kind(const char *path)
{
    char *kind = NULL;
    lua_State *L = luaL_newstate();
    lua_pushcfunction(L, read_kind);
    lua_pushstring(L, path);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1))
        kind = soc_copy_text(lua_tostring(L, -1), strlen(lua_tostring(L, -1)));
    lua_close(L);
    return kind;
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

static int check_policy(const struct soc_assembly_options *options, const char *kind)
{
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    struct soc_buf path = {0};
    int rc = soc_assembly_make(&parts, options, &detail);
    if (strchr(options->app_file, '/') == NULL)
        soc_buf_put_text(&path, "./"); /* a path, not a name */
    soc_buf_put_text(&path, options->app_file);
    if (rc == SOC_OK)
        rc = soc_script_use_policy(parts.script, kind, soc_buf_text(&path), &detail);
    soc_buf_fini(&path);
    soc_assembly_free(&parts);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    printf("ok: a policy of the kind %s\n", kind);
    return SOC_EXIT_DONE;
}

static int count_roles(struct soc_host *host)
{
    static const char *const own[] = {"user", "root", "unknown"};
    size_t cursor = 0;
    int count = 0;
    const struct soc_role *role;
    while ((role = soc_agents_each_role(host, &cursor)) != NULL) {
        count++;
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(role->id, own[i]) == 0)
                count--;
    }
    return count;
}

static int check_app(const struct soc_assembly_options *options)
{
    struct soc_assembly parts;
    struct soc_detail detail = {0};
    int rc = soc_assembly_load(&parts, options, &detail);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = SOC_EXIT_FAILED;
    if (soc_lint_calls(parts.L, 1, options->app_file) == 0) {
        int roles = count_roles(parts.host);
        code = SOC_EXIT_DONE;
        printf("ok: %d role%s, %s\n", roles, roles == 1 ? "" : "s",
               soc_script_has_main(parts.script) ? "main" : "no main");
    }
    soc_assembly_free(&parts);
    return code;
}

int soc_cmd_check(int argc, char **argv)
{
    struct soc_args args = {.command = "check"};
    const struct soc_option none[] = {{NULL, SOC_OPTION_FLAG, NULL}};
    int code = soc_args_parse(&args, argc, argv, none, 1, 1);
    if (code == SOC_ARGS_GO) {
        struct soc_assembly_options options = {
            .app_file = args.words.items[0],
            .is_simulated = true,
            .arguments = args.rest,
            .argument_count = args.rest_count,
            .log = {.level = SOC_LOG_WARN},
            .show = ignore_show,
            .failed = ignore_failure,
        };
        char *kind = find_kind(options.app_file);
        code = kind == NULL ? check_app(&options) : check_policy(&options, kind);
        free(kind);
    }
    soc_text_list_fini(&args.words);
    return code;
}

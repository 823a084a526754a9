#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "bridge/http/logins.h"
#include "bridge/http/routes.h"
#include "bridge/http/tokens.h"
#include "env/clock.h"
#include "main/program.h"
#include "store/directory.h"

#define URL_BYTES_MAX 256

/* Pushes a text, or nil, the error name and a sentence. */
static int push(lua_State *L, int rc, struct soc_buf *text, const struct soc_detail *detail)
{
    if (rc < 0) {
        luaL_pushfail(L);
        lua_pushstring(L, soc_error_name(rc));
        lua_pushstring(L, detail->text);
    } else {
        lua_pushlstring(L, text->length == 0 ? "" : text->data, text->length);
    }
    soc_buf_fini(text);
    return rc < 0 ? 3 : 1;
}

static int token_add(lua_State *L)
{
    struct soc_buf token = {0};
    struct soc_detail detail = {0};
    int rc = soc_tokens_add(luaL_checkstring(L, 1), luaL_checkstring(L, 2), luaL_checkstring(L, 3),
                            luaL_optstring(L, 4, NULL), &token, &detail);
    return push(L, rc, &token, &detail);
}

static int token_list(lua_State *L)
{
    struct soc_buf list = {0};
    struct soc_detail detail = {0};
    int rc = soc_tokens_list(luaL_checkstring(L, 1), &list, &detail);
    return push(L, rc, &list, &detail);
}

static int token_remove(lua_State *L)
{
    struct soc_buf nothing = {0};
    struct soc_detail detail = {0};
    int rc = soc_tokens_remove(luaL_checkstring(L, 1), luaL_checkstring(L, 2), &detail);
    return push(L, rc, &nothing, &detail);
}

/* Reads the address of the running door. */
static bool read_url(const char *state, struct soc_buf *out)
{
    struct soc_buf path = {0};
    char line[URL_BYTES_MAX];
    soc_directory_path(&path, state, "http.url");
    FILE *file = fopen(path.data, "re");
    soc_buf_fini(&path);
    if (file == NULL)
        return false;
    bool is_read = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    if (is_read)
        soc_buf_put(out, line, strcspn(line, "\n"));
    return is_read;
}

static int login_url(lua_State *L)
{
    const char *state = luaL_checkstring(L, 1);
    struct soc_buf url = {0};
    struct soc_buf key = {0};
    struct soc_detail detail = {0};
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    int rc = SOC_OK;
    if (!soc_directory_is_held(state) || !read_url(state, &url))
        rc = soc_fail(&detail, SOC_ENOFILE,
                      "no society in %s is reached by HTTP; start it with: society run APP.lua "
                      "--http PORT",
                      state);
    if (rc == SOC_OK)
        rc = soc_tokens_read_key(state, &key, &detail);
    if (rc == SOC_OK) {
        soc_buf_put_text(&url, "/login?code=");
        soc_logins_put_code(&url, soc_buf_slice(&key), soc_clock_now(&clock));
    }
    soc_buf_fini(&key);
    return push(L, rc, &url, &detail);
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static const char *shape_of(const struct soc_route *route)
{
    static const char *const shapes[] = {"list", "one", "none", "text", "lines"};
    return shapes[route->shape];
}

/* A list of { method, path, operation?, scope?, status, done?, shape, summary }. */
static void push_routes(lua_State *L)
{
    const struct soc_route *route;
    lua_newtable(L);
    for (size_t i = 0; (route = soc_routes_at(i)) != NULL; i++) {
        const struct soc_operation *operation = soc_routes_operation(route);
        unsigned scope = soc_routes_scope(route);
        lua_createtable(L, 0, 8);
        set_text(L, "method", route->method);
        set_text(L, "path", route->path);
        set_text(L, "operation", route->operation);
        set_text(L, "scope", scope == 0 ? NULL : soc_scope_name((enum soc_scope)scope));
        set_text(L, "shape", shape_of(route));
        set_text(L, "done", route->done);
        set_text(L, "summary", route->summary != NULL ? route->summary : operation->summary);
        lua_pushinteger(L, route->status == 0 ? 200 : route->status);
        lua_setfield(L, -2, "status");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static const luaL_Reg functions[] = {
    {"token_add", token_add},
    {"token_list", token_list},
    {"token_remove", token_remove},
    {"login_url", login_url},
    {NULL, NULL},
};

void soc_program_add_web(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
    push_routes(L);
    lua_setfield(L, -2, "routes");
}

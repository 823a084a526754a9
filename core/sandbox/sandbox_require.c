/* Sandbox require: the society's own modules, then files next to the app.
 *
 * Each environment has a table with the modules loaded so far and the directories to
 * search. A file runs once, in the environment, with its name and path as arguments; it
 * cannot wait while it loads. Cycles are detected from the active calls of require, so
 * a failed load leaves no trace.
 * Layer: sandbox. Thread: loop. */
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>

/* Fields of an environment's modules. */
#define LOADED      1
#define DIRECTORIES 2
#define NAMES       3 /* a set: what the environment came with */
#define IS_FROZEN   4
#define MAY_LOAD    5 /* texts, even when it is frozen */
#define FINDER      6 /* a function that knows the files; nil: the directories are searched */

/* Upvalues of require. */
#define LOADED_UPVALUE      1
#define DIRECTORIES_UPVALUE 2
#define ENVIRONMENT_UPVALUE 3
#define MODULES_UPVALUE     4

/* Pushes field `which` of the modules of the environment at `index`. */
static void push_modules(lua_State *L, int index, int which)
{
    index = lua_absindex(L, index);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_MODULES);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    luaL_argexpected(L, lua_istable(L, -1), index, "sandbox environment");
    lua_rawgeti(L, -1, which);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

void soc_sandbox_preload(lua_State *L, int index, const char *name)
{
    assert(lua_istable(L, index));
    push_modules(L, index, LOADED);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

void soc_sandbox_add_path(lua_State *L, int index, const char *directory)
{
    assert(lua_istable(L, index));
    push_modules(L, index, DIRECTORIES);
    lua_pushstring(L, directory);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

void soc_sandbox_add_own_path(lua_State *L, int index, const char *directory)
{
    soc_sandbox_add_path(L, index, directory);
    push_modules(L, index, DIRECTORIES);
    lua_pushliteral(L, SOC_SANDBOX_OWN);
    lua_setfield(L, -2, directory);
    lua_pop(L, 1);
}

void soc_sandbox_note_names(lua_State *L)
{
    int environment = lua_gettop(L);
    push_modules(L, environment, NAMES);
    lua_pushnil(L);
    while (lua_next(L, environment)) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushboolean(L, 1);
        lua_rawset(L, environment + 1);
    }
    lua_settop(L, environment);
}

/* Freezes the table on top, a loaded module, unless it is the app's own. */
static void freeze_module(lua_State *L, const char *name)
{
    static const char *const libraries[] = {"coroutine", "math",  "os",  "society",
                                            "string",    "table", "utf8"};
    bool is_ours = strncmp(name, "society.", strlen("society.")) == 0;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        is_ours = is_ours || strcmp(name, libraries[i]) == 0;
    if (is_ours && lua_istable(L, -1))
        soc_sandbox_freeze_table(L, -1, name);
}

void soc_sandbox_freeze(lua_State *L, int index)
{
    int environment = lua_absindex(L, index);
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, NULL);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_MODULES);
    lua_pushvalue(L, environment);
    lua_rawget(L, -2);
    if (lua_rawgeti(L, -1, IS_FROZEN) == LUA_TNIL) {
        lua_pushboolean(L, 1);
        lua_rawseti(L, -3, IS_FROZEN);
        push_modules(L, environment, NAMES);
        soc_sandbox_freeze_names(L, environment, -1);
        push_modules(L, environment, LOADED);
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            freeze_module(L, lua_tostring(L, -2));
            lua_pop(L, 1);
        }
    }
    lua_settop(L, top);
}

/* Pushes the modules of the environment at `index`. */
static void push_all_modules(lua_State *L, int index)
{
    soc_sandbox_push_state_value(L, SOC_SANDBOX_MODULES);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

void soc_sandbox_allow_load(lua_State *L, int index, bool is_allowed)
{
    index = lua_absindex(L, index);
    push_all_modules(L, index);
    lua_pushboolean(L, is_allowed);
    lua_rawseti(L, -2, MAY_LOAD);
    lua_pop(L, 1);
}

void soc_sandbox_set_finder(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    assert(lua_isfunction(L, -1));
    push_all_modules(L, index);
    lua_insert(L, -2);
    lua_rawseti(L, -2, FINDER);
    lua_pop(L, 1);
}

bool soc_sandbox_may_load(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    push_all_modules(L, index);
    lua_rawgeti(L, -1, IS_FROZEN);
    lua_rawgeti(L, -2, MAY_LOAD);
    bool may = lua_isnil(L, -2) || lua_toboolean(L, -1);
    lua_pop(L, 3);
    return may;
}

/* Raises unless the value at 1 is a valid module name. */
static const char *check_name(lua_State *L)
{
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (length == 0 || strspn(name, allowed) != length || name[0] == '.' ||
        name[length - 1] == '.' || strstr(name, "..") != NULL)
        luaL_error(L,
                   "require: '%s' is not a module name; names are parts of A-Z a-z 0-9 _ - "
                   "joined by dots",
                   name);
    return name;
}

/* Raises if an outer call of require is loading `name`. */
static void check_cycle(lua_State *L, const char *name)
{
    lua_Debug frame;
    lua_getstack(L, 0, &frame);
    lua_getinfo(L, "f", &frame);
    int self = lua_gettop(L);
    lua_pushstring(L, name); /* the path from that call to here */
    for (int level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "f", &frame);
        bool is_require = lua_rawequal(L, -1, self);
        lua_pop(L, 1);
        if (!is_require || lua_getlocal(L, &frame, 1) == NULL)
            continue;
        const char *outer = lua_tostring(L, -1);
        lua_pushfstring(L, "%s -> %s", outer, lua_tostring(L, -2));
        if (strcmp(outer, name) == 0)
            luaL_error(L, "require: module '%s' requires itself (%s)", name, lua_tostring(L, -1));
        lua_replace(L, self + 1);
        lua_settop(L, self + 1);
    }
    lua_settop(L, self - 1);
}

/* Tries the file whose path is on top of the stack, with its display name below. On
 * success pops the path and pushes its chunk; else pops both and appends the display
 * name to the text below. */
static bool try_file(lua_State *L, const char *name)
{
    struct soc_detail detail;
    int top = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(ENVIRONMENT_UPVALUE));
    int rc = soc_sandbox_load(L, -1, lua_tostring(L, top), lua_tostring(L, top - 1), &detail);
    if (rc == SOC_OK) {
        lua_replace(L, top);
        lua_settop(L, top);
        return true;
    }
    if (rc != SOC_ENOFILE)
        luaL_error(L, "require: module '%s': %s", name, detail.text);
    const char *tried = lua_tostring(L, top - 2);
    lua_pushfstring(L, "%s%s%s", tried, *tried == '\0' ? "" : ", ", lua_tostring(L, top - 1));
    lua_replace(L, top - 2);
    lua_settop(L, top - 2);
    return false;
}

/* Pushes the display name of directory `i`, and its path. */
static void push_directory(lua_State *L, lua_Integer i)
{
    lua_rawgeti(L, lua_upvalueindex(DIRECTORIES_UPVALUE), i);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, lua_upvalueindex(DIRECTORIES_UPVALUE)) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
    }
    lua_insert(L, -2);
}

/* Pushes the display name of the first file found, and its chunk; raises if there is
 * none. */
static void find_file(lua_State *L, const char *name)
{
    const char *relative = luaL_gsub(L, name, ".", "/");
    lua_Integer count = (lua_Integer)lua_rawlen(L, lua_upvalueindex(DIRECTORIES_UPVALUE));
    lua_pushliteral(L, ""); /* the files tried */
    for (lua_Integer i = 1; i <= count; i++) {
        static const char *const forms[] = {"%s/%s.lua", "%s/%s/init.lua"};
        for (size_t form = 0; form < 2; form++) {
            push_directory(L, i);
            lua_pushfstring(L, forms[form], lua_tostring(L, -2), relative);
            lua_pushfstring(L, forms[form], lua_tostring(L, -2), relative);
            lua_replace(L, -3);
            lua_replace(L, -3);
            if (try_file(L, name))
                return;
        }
    }
    if (count == 0)
        luaL_error(L, "require: no module '%s' and no directory to search", name);
    luaL_error(L, "require: no module '%s'; tried %s", name, lua_tostring(L, -1));
}

/* The same by the environment's finder, if it has one. */
static bool ask_finder(lua_State *L, const char *name)
{
    struct soc_detail detail;
    size_t length;
    if (lua_rawgeti(L, lua_upvalueindex(MODULES_UPVALUE), FINDER) == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    lua_pushvalue(L, 1);
    lua_call(L, 1, 2);
    const char *text = luaL_checklstring(L, -1, &length);
    lua_pushvalue(L, lua_upvalueindex(ENVIRONMENT_UPVALUE));
    if (soc_sandbox_load_text(L, lua_gettop(L), soc_slice(text, length), luaL_checkstring(L, -3),
                              &detail) < 0)
        luaL_error(L, "require: module '%s': %s", name, detail.text);
    lua_replace(L, -3);
    lua_pop(L, 1);
    return true;
}

/* require(name) -> module [, path] */
static int sandbox_require(lua_State *L)
{
    const char *name = check_name(L);
    lua_settop(L, 1);
    if (lua_getfield(L, lua_upvalueindex(LOADED_UPVALUE), name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    check_cycle(L, name);
    if (!ask_finder(L, name))
        find_file(L, name);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    bool is_frozen = lua_rawgeti(L, lua_upvalueindex(MODULES_UPVALUE), IS_FROZEN) != LUA_TNIL;
    lua_pop(L, 1);
    if (is_frozen)
        freeze_module(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, lua_upvalueindex(LOADED_UPVALUE), name);
    lua_pushvalue(L, -2);
    return 2;
}

void soc_sandbox_open_require(lua_State *L)
{
    int environment = lua_gettop(L);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_MODULES);
    lua_pushvalue(L, environment);
    lua_createtable(L, 4, 0);
    lua_newtable(L);
    lua_rawseti(L, -2, NAMES);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -4, LOADED);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -4, DIRECTORIES);
    lua_pushvalue(L, environment);
    lua_pushvalue(L, -4);
    lua_pushcclosure(L, sandbox_require, 4);
    lua_setfield(L, environment, "require");
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

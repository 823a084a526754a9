#include <assert.h>
#include <stdbool.h>

#include <lauxlib.h>

#include "main/program.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/transfer.h"

static void set_number(lua_State *L, const char *name, uint64_t number)
{
    lua_pushinteger(L, (lua_Integer)number);
    lua_setfield(L, -2, name);
}

/* Sets `host` and the list `peers`, if it has joined others. */
static void set_hosts(lua_State *L, const struct soc_backup_report *report)
{
    if (report->host[0] == '\0')
        return;
    lua_pushstring(L, report->host);
    lua_setfield(L, -2, "host");
    lua_newtable(L);
    const char *at = report->peers;
    for (lua_Integer i = 1; *at != '\0'; i++) {
        size_t length = strcspn(at, ",");
        lua_pushlstring(L, at, length);
        lua_seti(L, -2, i);
        at += length + 1;
    }
    lua_setfield(L, -2, "peers");
}

/* Pushes { bytes, sequence, line, records, host?, peers? }, or nil, the error name and a sentence.
 */
static int push_report(lua_State *L, int rc, const struct soc_backup_report *report,
                       const struct soc_detail *detail)
{
    if (rc < 0) {
        luaL_pushfail(L);
        lua_pushstring(L, soc_error_name(rc));
        lua_pushstring(L, detail->text);
        return 3;
    }
    lua_createtable(L, 0, 6);
    set_number(L, "bytes", report->bytes);
    set_number(L, "sequence", report->sequence);
    set_number(L, "line", report->line);
    set_number(L, "records", report->records);
    set_hosts(L, report);
    return 1;
}

static int backup(lua_State *L)
{
    struct soc_detail detail = {0};
    struct soc_backup_report report;
    int rc = soc_backup_make(luaL_checkstring(L, 1), luaL_checkstring(L, 2), lua_toboolean(L, 3),
                             &report, &detail);
    return push_report(L, rc, &report, &detail);
}

static int restore(lua_State *L)
{
    struct soc_detail detail = {0};
    struct soc_backup_report report;
    int rc = soc_backup_restore(luaL_checkstring(L, 1), luaL_checkstring(L, 2), &report, &detail);
    return push_report(L, rc, &report, &detail);
}

static int verify_file(lua_State *L)
{
    struct soc_detail detail = {0};
    struct soc_backup_report report;
    int rc = soc_backup_verify_file(luaL_checkstring(L, 1), &report, &detail);
    return push_report(L, rc, &report, &detail);
}

static int verify_state(lua_State *L)
{
    struct soc_detail detail = {0};
    struct soc_backup_report report;
    int rc = soc_backup_verify_state(luaL_checkstring(L, 1), &report, &detail);
    return push_report(L, rc, &report, &detail);
}

/* Calls the Lua function at index 2 with the line; what it raises stays on the stack. */
static int take_row(struct soc_slice line, void *user)
{
    lua_State *L = user;
    lua_pushvalue(L, 2);
    lua_pushlstring(L, line.data, line.length);
    return lua_pcall(L, 1, 0, 0) == LUA_OK ? SOC_OK : SOC_EINVAL;
}

/* The line that the function returns; it stays at index 3, so that it lasts. */
static int next_row(struct soc_slice *line, void *user)
{
    lua_State *L = user;
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_pcall(L, 0, 1, 0) != LUA_OK)
        return SOC_EINVAL;
    *line = (struct soc_slice){0};
    if (!lua_isnil(L, 3))
        line->data = luaL_tolstring(L, 3, &line->length);
    return SOC_OK;
}

/* Pushes true, or nil, the error name and a sentence; raises what the function has raised. */
static int push_transfer(lua_State *L, int rc, const struct soc_detail *detail)
{
    if (rc < 0 && detail->text[0] == '\0')
        return lua_error(L);
    if (rc < 0)
        return push_report(L, rc, NULL, detail);
    lua_pushboolean(L, true);
    return 1;
}

static int write_rows(lua_State *L)
{
    struct soc_detail detail = {0};
    const char *state = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    const char *table = luaL_optstring(L, 3, NULL);
    return push_transfer(L, soc_transfer_write(state, table, take_row, L, &detail), &detail);
}

static int read_rows(lua_State *L)
{
    struct soc_detail detail = {0};
    const char *state = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    return push_transfer(L, soc_transfer_read(state, next_row, L, &detail), &detail);
}

static const luaL_Reg functions[] = {
    {"backup", backup},
    {"restore", restore},
    {"verify_file", verify_file},
    {"verify_state", verify_state},
    {"write_rows", write_rows},
    {"read_rows", read_rows},
    {NULL, NULL},
};

void soc_program_add_backup(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
}

#include <assert.h>
#include <stdbool.h>

#include <lauxlib.h>

#include "main/program.h"
#include "store/sqlite/backup.h"

static void set_number(lua_State *L, const char *name, uint64_t number)
{
    lua_pushinteger(L, (lua_Integer)number);
    lua_setfield(L, -2, name);
}

/* Pushes { bytes, sequence, line, records }, or nil, the error name and a sentence. */
static int push_report(lua_State *L, int rc, const struct soc_backup_report *report,
                       const struct soc_detail *detail)
{
    if (rc < 0) {
        luaL_pushfail(L);
        lua_pushstring(L, soc_error_name(rc));
        lua_pushstring(L, detail->text);
        return 3;
    }
    lua_createtable(L, 0, 4);
    set_number(L, "bytes", report->bytes);
    set_number(L, "sequence", report->sequence);
    set_number(L, "line", report->line);
    set_number(L, "records", report->records);
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

static const luaL_Reg functions[] = {
    {"backup", backup},
    {"restore", restore},
    {"verify_file", verify_file},
    {"verify_state", verify_state},
    {NULL, NULL},
};

void soc_program_add_backup(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
}

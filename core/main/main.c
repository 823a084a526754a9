/* The program: passes its arguments to the commands, which are written in Lua. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "embed/home.h"
#include "lualib/lua_heap.h"
#include "lualib/lua_json.h"
#include "main/command.h"
#include "main/program.h"
#include "store/sqlite/sqlite.h"
#include "worker/zygote.h"
#include "world/world.h"

int soc_complain(int code, const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fputs("society: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

int soc_exit_of(int error)
{
    bool is_disk = error == SOC_EIO || error == SOC_EDISKFULL || error == SOC_ECORRUPT;
    if (error == SOC_ECHANGED)
        return SOC_EXIT_USAGE;
    return is_disk ? SOC_EXIT_DISK : SOC_EXIT_FAILED;
}

/* If a standard stream is closed, the first file opened would get its number and receive
 * the output. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* Modules are loaded from home only. `test` uses LUA_PATH, through SOC_PROGRAM_PATH. */
static void set_modules(lua_State *L, const char *home)
{
    static const luaL_Reg modules[] = {
        {"society", soc_world_open},
        {"society.json", soc_lua_json_open},
        {"society.program", soc_program_open},
        {NULL, NULL},
    };
    lua_pushstring(L, home);
    lua_setfield(L, LUA_REGISTRYINDEX, SOC_WORLD_HOME);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    lua_setfield(L, LUA_REGISTRYINDEX, SOC_PROGRAM_PATH);
    lua_pushfstring(L, "%s/lua/?.lua;%s/lua/?/init.lua", home, home);
    lua_setfield(L, -2, "path");
    lua_getfield(L, -1, "preload");
    luaL_setfuncs(L, modules, 0);
    lua_pop(L, 2);
}

/* Called in protected mode with home, argv and argc; returns the exit code. */
static int run_command(lua_State *L)
{
    const char *home = lua_tostring(L, 1);
    char **argv = lua_touserdata(L, 2);
    int argc = (int)lua_tointeger(L, 3);
    luaL_openlibs(L);
    set_modules(L, home);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "society.command");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "run");
    lua_createtable(L, argc, 0);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_call(L, 1, 1);
    luaL_checkinteger(L, -1);
    return 1;
}

static int run(int argc, char **argv)
{
    struct soc_buf home = {0};
    if (!soc_home_find(&home)) {
        soc_buf_fini(&home);
        return soc_complain(SOC_EXIT_FAILED,
                            "cannot find lua/society and policies; set SOCIETY_HOME");
    }
    lua_State *L = soc_lua_heap_open(SOC_SCRIPT_BYTES_MAX);
    assert(L != NULL);
    memset(lua_getextraspace(L), 0, LUA_EXTRASPACE);
    lua_pushcfunction(L, run_command);
    lua_pushstring(L, soc_buf_text(&home));
    lua_pushlightuserdata(L, argv);
    lua_pushinteger(L, argc);
    soc_buf_fini(&home);
    int code;
    if (lua_pcall(L, 3, 1, 0) != LUA_OK)
        code = soc_complain(SOC_EXIT_FAILED, "%s", luaL_tolstring(L, -1, NULL));
    else
        code = (int)lua_tointeger(L, -1);
    soc_lua_heap_close(L);
    return code;
}

/* A command fails if its output could not be written. */
static int end_output(int code)
{
    int error = fflush(stdout) == 0 ? 0 : errno;
    if (code != SOC_EXIT_DONE || (error == 0 && !ferror(stdout)))
        return code;
    return soc_complain(SOC_EXIT_FAILED, "stdout: %s",
                        error == 0 ? "the output is incomplete" : strerror(error));
}

/* Memory holds keys of models, which must not get into a core file. A limit of 1 byte is
 * honoured also where cores go to a program (core(5)), which a limit of 0 is not. */
static void leave_no_core(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max < 1 ? limit.rlim_max : 1;
    setrlimit(RLIMIT_CORE, &limit);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], SOC_ZYGOTE_ARGUMENT) == 0)
        return soc_zygote_main(STDIN_FILENO);
    leave_no_core();
    fill_standard_streams();
    soc_sqlite_count_nothing();
    return end_output(run(argc, argv));
}

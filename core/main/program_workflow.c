#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bridge/files/workdir.h"
#include "main/program.h"

#define WORKFLOW "society.workflow"

#define FOLDER_MODE 0700
#define FILE_MODE   0600

static struct soc_workdir *check_workflow(lua_State *L)
{
    struct soc_workdir *dir = luaL_checkudata(L, 1, WORKFLOW);
    assert(dir->path != NULL);
    return dir;
}

static enum soc_place check_place(lua_State *L)
{
    /* In the order of enum soc_place. */
    static const char *const names[] = {"root",      "channel", "agents",  "state",
                                        "heartbeat", "logs",    "archive", NULL};
    static_assert(sizeof(names) / sizeof(names[0]) == SOC_PLACE_COUNT + 1, "one name each");
    return (enum soc_place)luaL_checkoption(L, 2, NULL, names);
}

/* Pushes true, or nil and the text of a negative errno. */
static int push_result(lua_State *L, int code)
{
    if (code == 0) {
        lua_pushboolean(L, true);
        return 1;
    }
    luaL_pushfail(L);
    lua_pushstring(L, strerror(-code));
    return 2;
}

/* Reads the rest of an open file into `bytes`. Returns their number or a negative errno. */
static ssize_t read_rest(int file, char *bytes, size_t length, off_t from)
{
    size_t done = 0;
    while (done < length) {
        ssize_t count = pread(file, bytes + done, length - done, from + (off_t)done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            break; /* it was truncated meanwhile */
        done += (size_t)count;
    }
    return (ssize_t)done;
}

static int read_file(lua_State *L)
{
    struct stat info;
    luaL_Buffer bytes;
    struct soc_workdir *dir = check_workflow(L);
    enum soc_place place = check_place(L);
    lua_Integer from = luaL_optinteger(L, 4, 0);
    luaL_argcheck(L, from >= 0, 4, "an offset expected");
    int file = soc_workdir_open_file(dir, place, luaL_checkstring(L, 3), O_RDONLY);
    if (file < 0)
        return push_result(L, file);
    ssize_t count = fstat(file, &info) < 0 ? -errno : 0;
    size_t length = count == 0 && info.st_size > from ? (size_t)(info.st_size - from) : 0;
    char *room = luaL_buffinitsize(L, &bytes, length);
    if (count == 0)
        count = read_rest(file, room, length, from);
    close(file);
    luaL_pushresultsize(&bytes, count < 0 ? 0 : (size_t)count);
    if (count < 0)
        return push_result(L, (int)count);
    lua_pushinteger(L, info.st_size);
    return 2;
}

static int append_line(lua_State *L)
{
    struct soc_slice line;
    struct soc_buf text = {0};
    struct soc_workdir *dir = check_workflow(L);
    enum soc_place place = check_place(L);
    const char *name = luaL_checkstring(L, 3);
    line.data = luaL_checklstring(L, 4, &line.length);
    int code = soc_workdir_end_line(dir, place, name);
    soc_buf_put_slice(&text, line);
    soc_buf_put_byte(&text, '\n');
    if (code == 0)
        code = soc_workdir_append(dir, place, name, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return push_result(L, code);
}

static int replace_file(lua_State *L)
{
    struct soc_slice text;
    struct soc_workdir *dir = check_workflow(L);
    enum soc_place place = check_place(L);
    const char *name = luaL_checkstring(L, 3);
    text.data = luaL_checklstring(L, 4, &text.length);
    return push_result(L, soc_workdir_replace(dir, place, name, text, NULL));
}

static int close_workflow(lua_State *L)
{
    soc_workdir_close(luaL_checkudata(L, 1, WORKFLOW));
    return 0;
}

static const luaL_Reg methods[] = {
    {"read", read_file},
    {"append", append_line},
    {"replace", replace_file},
    {"__gc", close_workflow},
    {NULL, NULL},
};

int soc_program_open_workflow(lua_State *L)
{
    struct soc_detail detail = {0};
    const char *path = luaL_checkstring(L, 1);
    struct soc_workdir *dir = lua_newuserdatauv(L, sizeof(*dir), 0);
    *dir = (struct soc_workdir){0};
    if (luaL_newmetatable(L, WORKFLOW)) {
        luaL_setfuncs(L, methods, 0);
        lua_pushvalue(L, -1);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
    if (soc_workdir_open(dir, path, false, FOLDER_MODE, FILE_MODE, &detail) == SOC_OK)
        return 1;
    luaL_pushfail(L);
    lua_pushstring(L, detail.text);
    return 2;
}

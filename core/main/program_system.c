#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lauxlib.h>

#include "base/buf.h"
#include "env/clock.h"
#include "main/program.h"

#define INPUT_BYTES 4096

/* Pushes nil and the text of errno. */
static int push_errno(lua_State *L)
{
    const char *why = strerror(errno);
    luaL_pushfail(L);
    lua_pushstring(L, why);
    return 2;
}

static int now(lua_State *L)
{
    struct soc_clock clock;
    soc_clock_init(&clock, false);
    lua_pushinteger(L, soc_clock_now(&clock));
    return 1;
}

static int pause_for(lua_State *L)
{
    poll(NULL, 0, (int)luaL_checkinteger(L, 1));
    return 0;
}

static int input(lua_State *L)
{
    char bytes[INPUT_BYTES];
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t count = -1;
    bool is_due = poll(&ready, 1, (int)luaL_checkinteger(L, 1)) > 0;
    if (is_due)
        count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (!is_due || (count < 0 && (errno == EINTR || errno == EAGAIN)))
        luaL_pushfail(L);
    else
        lua_pushlstring(L, bytes, count < 0 ? 0 : (size_t)count);
    return 1;
}

static int is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* Columns of the terminal that stdout is; nil if it is none or does not tell. */
static int terminal_width(lua_State *L)
{
    struct winsize size = {0};
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        lua_pushinteger(L, size.ws_col);
    else
        luaL_pushfail(L);
    return 1;
}

static int complete_path(lua_State *L)
{
    char *path = realpath(luaL_checkstring(L, 1), NULL);
    if (path == NULL)
        return push_errno(L);
    lua_pushstring(L, path);
    free(path);
    return 1;
}

static int make_directory(lua_State *L)
{
    if (mkdir(luaL_checkstring(L, 1), 0777) == 0) {
        lua_pushboolean(L, true);
        return 1;
    }
    bool is_there = errno == EEXIST;
    int count = push_errno(L);
    lua_pushboolean(L, is_there);
    return count + 1;
}

static int make_private_directory(lua_State *L)
{
    const char *place = getenv("TMPDIR");
    lua_pushfstring(L, "%s/society-XXXXXX", place == NULL || *place == '\0' ? "/tmp" : place);
    struct soc_buf path = {0};
    soc_buf_put_text(&path, lua_tostring(L, -1));
    char *made = mkdtemp((char *)(uintptr_t)soc_buf_text(&path));
    int error = errno;
    if (made != NULL)
        lua_pushstring(L, made);
    soc_buf_fini(&path);
    errno = error;
    return made != NULL ? 1 : push_errno(L);
}

/* Removes what is in the directory at `path`, directories in it to a depth of `levels`, and
 * itself. What cannot be removed stays. */
static void remove_all(const char *path, int levels)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct soc_buf inside = {0};
        soc_buf_printf(&inside, "%s/%s", path, entry->d_name);
        if (unlink(soc_buf_text(&inside)) < 0 && levels > 0)
            remove_all(soc_buf_text(&inside), levels - 1);
        soc_buf_fini(&inside);
    }
    if (directory != NULL)
        closedir(directory);
    rmdir(path);
}

static int remove_directory(lua_State *L)
{
    remove_all(luaL_checkstring(L, 1), 1);
    return 0;
}

static int is_empty_directory(lua_State *L)
{
    DIR *directory = opendir(luaL_checkstring(L, 1));
    const struct dirent *entry;
    bool is_empty = directory != NULL;
    while (is_empty && (entry = readdir(directory)) != NULL)
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (directory != NULL)
        closedir(directory);
    lua_pushboolean(L, is_empty);
    return 1;
}

static int write_new(lua_State *L)
{
    size_t length;
    const char *path = luaL_checkstring(L, 1);
    const char *text = luaL_checklstring(L, 2, &length);
    FILE *file = fopen(path, "wx");
    if (file == NULL)
        return push_errno(L);
    bool is_written = fwrite(text, 1, length, file) == length;
    if (fclose(file) != 0 || !is_written)
        return push_errno(L);
    lua_pushboolean(L, true);
    return 1;
}

static int variables(lua_State *L)
{
    const char *prefix = luaL_checkstring(L, 1);
    int count = 0;
    lua_newtable(L);
    for (char **each = environ; *each != NULL; each++) {
        const char *equals = strchr(*each, '=');
        if (equals == NULL || strncmp(*each, prefix, strlen(prefix)) != 0)
            continue;
        lua_createtable(L, 2, 0);
        lua_pushlstring(L, *each, (size_t)(equals - *each));
        lua_rawseti(L, -2, 1);
        lua_pushstring(L, equals + 1);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

static int ignore_closed_pipes(lua_State *L)
{
    (void)L;
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

static const luaL_Reg functions[] = {
    {"now", now},
    {"pause", pause_for},
    {"input", input},
    {"is_terminal", is_terminal},
    {"terminal_width", terminal_width},
    {"complete_path", complete_path},
    {"make_directory", make_directory},
    {"make_private_directory", make_private_directory},
    {"remove_directory", remove_directory},
    {"is_empty_directory", is_empty_directory},
    {"write_new", write_new},
    {"variables", variables},
    {"ignore_closed_pipes", ignore_closed_pipes},
    {"open_workflow", soc_program_open_workflow},
    {NULL, NULL},
};

void soc_program_add_system(lua_State *L)
{
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
}

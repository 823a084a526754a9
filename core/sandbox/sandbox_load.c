/* Sandbox load: compiles the text of a script for an environment.
 *
 * A simulation starts the same app thousands of times, and compiling it was most of a
 * start. So the state caches, for each chunk name, the last text and its bytecode.
 * Scripts cannot reach the cache, and can load text only. The price is the memory for
 * both.
 * Layer: sandbox. Thread: loop. */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "lualib/sources.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_parts.h"

#define KEPT_BYTES_MAX (256u << 10) /* longer texts are not cached */

/* Fields of a cache entry. */
#define TEXT 1
#define CODE 2

/* Pushes the file as a string; false, with errno and nothing pushed, if it cannot be
 * read. */
static bool push_file(lua_State *L, const char *path)
{
    luaL_Buffer text;
    size_t count;
    FILE *file = soc_sources_open(L, path);
    if (file == NULL)
        return false;
    luaL_buffinit(L, &text);
    while ((count = fread(luaL_prepbuffer(&text), 1, LUAL_BUFFERSIZE, file)) > 0)
        luaL_addsize(&text, count);
    int error = ferror(file) != 0 ? errno : 0;
    fclose(file);
    luaL_pushresult(&text);
    if (error == 0)
        return true;
    lua_pop(L, 1);
    errno = error;
    return false;
}

/* The bytecode of a chunk. The buffer occupies stack slots, and lua_dump needs the
 * chunk on top when it begins, so the first piece creates the buffer. */
struct code {
    bool is_begun;
    luaL_Buffer bytes;
};

static int add_code(lua_State *L, const void *bytes, size_t length, void *user)
{
    struct code *code = user;
    if (!code->is_begun)
        luaL_buffinit(L, &code->bytes);
    code->is_begun = true;
    luaL_addlstring(&code->bytes, bytes, length);
    return 0;
}

/* Caches the text at `text` and the chunk on top under the name at `name`. */
static void keep(lua_State *L, int name, int text)
{
    assert(lua_isfunction(L, -1) && lua_type(L, text) == LUA_TSTRING);
    int chunk = lua_gettop(L);
    struct code code = {.is_begun = false};
    luaL_checkstack(L, 8, NULL);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_CHUNKS);
    lua_pushvalue(L, name);
    lua_createtable(L, 2, 0);
    lua_pushvalue(L, text);
    lua_rawseti(L, -2, TEXT);
    lua_pushvalue(L, chunk);
    lua_dump(L, add_code, &code, false);
    luaL_pushresult(&code.bytes);
    lua_rawseti(L, chunk + 3, CODE);
    lua_settop(L, chunk + 3);
    lua_rawset(L, chunk + 1);
    lua_settop(L, chunk);
}

/* Pushes the cached chunk if the text is the same; else pushes nothing. */
static bool push_kept(lua_State *L, int name, int text)
{
    int top = lua_gettop(L);
    size_t length;
    luaL_checkstack(L, 8, NULL);
    soc_sandbox_push_state_value(L, SOC_SANDBOX_CHUNKS);
    lua_pushvalue(L, name);
    bool is_kept = lua_rawget(L, -2) == LUA_TTABLE && lua_rawgeti(L, -1, TEXT) == LUA_TSTRING &&
                   lua_rawequal(L, -1, text) && lua_rawgeti(L, -2, CODE) == LUA_TSTRING;
    if (is_kept) {
        const char *code = lua_tolstring(L, -1, &length);
        is_kept = luaL_loadbufferx(L, code, length, lua_tostring(L, name), "b") == LUA_OK;
    }
    if (is_kept)
        lua_replace(L, top + 1);
    lua_settop(L, is_kept ? top + 1 : top);
    return is_kept;
}

/* Pushes the text loaded under that name before, if files are frozen. */
static bool push_frozen(lua_State *L, const char *chunk_name)
{
    int top = lua_gettop(L);
    luaL_checkstack(L, 8, NULL);
    if (!soc_sources_are_frozen(L))
        return false;
    soc_sandbox_push_state_value(L, SOC_SANDBOX_CHUNKS);
    lua_pushfstring(L, "@%s", chunk_name);
    bool is_there = lua_rawget(L, -2) == LUA_TTABLE && lua_rawgeti(L, -1, TEXT) == LUA_TSTRING;
    if (is_there)
        lua_replace(L, top + 1);
    lua_settop(L, is_there ? top + 1 : top);
    return is_there;
}

/* What precedes the text of a file, on its first line. All functions of a file share its
 * `_ENV`, so one that set it would take the libraries from the others: it is a constant.
 * Local variables of that name remain possible. */
static const char constant_env[] = "local _ENV <const> = _ENV ";

/* A text in two pieces. */
struct pieces {
    struct soc_slice piece[2];
    int next;
};

/* A lua_Reader. */
static const char *read_piece(lua_State *L, void *user, size_t *length)
{
    struct pieces *pieces = user;
    (void)L;
    while (pieces->next < 2 && pieces->piece[pieces->next].length == 0)
        pieces->next++;
    if (pieces->next == 2)
        return NULL;
    *length = pieces->piece[pieces->next].length;
    return pieces->piece[pieces->next++].data;
}

/* Pushes the chunk of the text at `text`, or the error. */
static int push_chunk(lua_State *L, int name, int text)
{
    size_t length;
    const char *start = lua_tolstring(L, text, &length);
    const char *end = start + length;
    if (push_kept(L, name, text))
        return LUA_OK;
    if (length >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0) /* as Lua does */
        start += 3;
    if (start < end && *start == '#')
        while (start < end && *start != '\n')
            start++;
    struct pieces pieces = {
        .piece = {soc_slice(constant_env, sizeof(constant_env) - 1),
                  soc_slice(start, (size_t)(end - start))},
    };
    int status = lua_load(L, read_piece, &pieces, lua_tostring(L, name), "t");
    if (status == LUA_OK && length <= KEPT_BYTES_MAX)
        keep(L, name, text);
    return status;
}

/* Loads the text on top, which is popped, with the environment at `index`. */
static int load(lua_State *L, int index, const char *chunk_name, struct soc_detail *detail)
{
    assert(lua_type(L, -1) == LUA_TSTRING);
    int text = lua_gettop(L);
    bool is_binary = lua_tostring(L, text)[0] == LUA_SIGNATURE[0];
    lua_pushfstring(L, "@%s", chunk_name);
    int status = push_chunk(L, text + 1, text);
    lua_replace(L, text);
    lua_settop(L, text);
    if (status == LUA_OK) {
        lua_pushvalue(L, index);
        lua_setupvalue(L, -2, 1);
        return SOC_OK;
    }
    if (is_binary)
        soc_fail(detail, SOC_ESCRIPT, "%s: precompiled code cannot be loaded", chunk_name);
    else
        soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    return SOC_ESCRIPT;
}

int soc_sandbox_load(lua_State *L, int index, const char *path, const char *chunk_name,
                     struct soc_detail *detail)
{
    index = lua_absindex(L, index);
    if (push_frozen(L, chunk_name) || push_file(L, path))
        return load(L, index, chunk_name, detail);
    int code = errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? SOC_ENOFILE : SOC_EACCESS;
    return soc_fail(detail, code, "%s: %s", path, strerror(errno));
}

int soc_sandbox_load_text(lua_State *L, int index, struct soc_slice text, const char *chunk_name,
                          struct soc_detail *detail)
{
    index = lua_absindex(L, index);
    lua_pushlstring(L, text.data, text.length);
    return load(L, index, chunk_name, detail);
}

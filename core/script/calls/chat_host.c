#include "script/calls/chat_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "lualib/lua_plain.h"
#include "script/calls/chat_settings.h"
#include "script/calls/keys.h"
#include "script/calls/secrets.h"
#include "script/turns/environments.h"

static int engine_random(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushnumber(L, (lua_Number)(soc_gate_random(script->host) >> 11) * 0x1.0p-53);
    return 1;
}

static int engine_now(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushinteger(L, soc_clock_date(soc_host_clock(script->host)));
    return 1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* getenv(name) -> text | nil: as of when the app had loaded, and only variables whose
 * name rules out a secret; nothing in a simulation, so that it behaves the same
 * everywhere. */
static int engine_getenv(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = luaL_checkstring(L, 1);
    bool is_open = ends_with(name, "_BASE_URL") || ends_with(name, "_MODEL");
    lua_pushstring(L, is_open ? soc_keys_setting(script->keys, name) : NULL);
    return 1;
}

/* has_key(name) -> true, false, or "broken" */
static int engine_has_key(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    const char *value = soc_keys_value(script->keys, luaL_checkstring(L, 1));
    if (value != NULL && !soc_keys_is_sendable(value))
        lua_pushliteral(L, "broken");
    else
        lua_pushboolean(L, value != NULL);
    return 1;
}

/* trouble() -> the fault that a simulation injects into a model call; nil: none */
static int engine_trouble(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushstring(L, soc_gate_inject_model_fault(script->host));
    return 1;
}

/* read() -> text | nil, message: the configured recording and nothing else. */
static int engine_read(lua_State *L)
{
    const struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    struct soc_buf text = {0};
    size_t count = 1;
    const char *path = soc_chat_settings_replay(script);
    if (path == NULL) {
        lua_pushnil(L);
        lua_pushliteral(L, "set llm.replay to the file of a recording");
        return 2;
    }
    FILE *file = fopen(path, "rb");
    while (file != NULL && count > 0 && text.length < SOC_JSON_BYTES_MAX) {
        count = fread(soc_buf_reserve(&text, 65536), 1, 65536, file);
        text.length += count;
    }
    bool is_bad = file == NULL || ferror(file);
    if (is_bad) {
        lua_pushnil(L);
        lua_pushfstring(L, "%s: %s", path, strerror(errno));
    } else {
        lua_pushlstring(L, text.data, text.length);
    }
    if (file != NULL)
        fclose(file);
    soc_buf_fini(&text);
    return is_bad ? 2 : 1;
}

/* Opens a file for appending; a new one is readable by its owner only, because it holds
 * conversations. */
static FILE *open_own(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "ab");
    if (fd >= 0 && file == NULL)
        close(fd);
    return file;
}

/* append(text): to the configured recording. A simulation writes nothing, so that it
 * cannot overwrite the recorded answers of a model. */
static int engine_append(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    size_t length;
    const char *line = luaL_checklstring(L, 1, &length);
    struct soc_buf text = {0};
    const char *path = soc_chat_settings_record(script);
    if (path == NULL)
        return luaL_error(L, "llm.record names no file");
    if (script->is_simulated)
        return 0;
    soc_buf_put(&text, line, length);
    soc_secrets_scrub(script, &text);
    FILE *file = open_own(path);
    bool is_written = file != NULL && fwrite(text.data, 1, text.length, file) == text.length;
    if (file != NULL && fclose(file) != 0)
        is_written = false;
    soc_buf_fini(&text);
    if (!is_written)
        return luaL_error(L, "%s: %s", path, strerror(errno));
    return 0;
}

/* scrub(text) -> the text without the keys that requests carried */
static int engine_scrub(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    size_t length;
    const char *given = luaL_checklstring(L, 1, &length);
    struct soc_buf text = {0};
    soc_buf_put(&text, given, length);
    soc_secrets_scrub(script, &text);
    lua_pushlstring(L, text.data, text.length);
    soc_buf_fini(&text);
    return 1;
}

/* provider(name) -> the app's module of that name, in a copy that no script can reach */
static int engine_provider(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = luaL_checkstring(L, 1);
    soc_environments_push_llm(L, script);
    soc_environments_push_provider(L, script, name, lua_gettop(L));
    return 1;
}

/* plain(value) -> a copy of it as data | nil, message */
static int engine_plain(lua_State *L)
{
    struct soc_detail detail;
    luaL_checkany(L, 1);
    if (soc_lua_plain(L, 1, "answer", &detail) == SOC_OK)
        return 1;
    lua_pushnil(L);
    lua_pushstring(L, detail.text);
    return 2;
}

void soc_chat_host_push(lua_State *L, struct soc_script *script)
{
    static const luaL_Reg functions[] = {
        {"random", engine_random},
        {"now", engine_now},
        {"getenv", engine_getenv},
        {"has_key", engine_has_key},
        {"trouble", engine_trouble},
        {"read", engine_read},
        {"append", engine_append},
        {"scrub", engine_scrub},
        {"plain", engine_plain},
        {"provider", engine_provider},
        {NULL, NULL},
    };
    lua_newtable(L);
    lua_pushlightuserdata(L, script);
    luaL_setfuncs(L, functions, 1);
}

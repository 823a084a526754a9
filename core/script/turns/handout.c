#include "script/turns/handout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/mail/envelope.h"
#include "kernel/registry.h"
#include "lualib/sources.h"
#include "sandbox/sandbox.h"
#include "script/turns/behaviour.h"

/* Appends the file's text; false if it cannot be read, or is larger than a script may be. */
static bool read_file(lua_State *L, const char *path, struct soc_buf *out)
{
    size_t count;
    FILE *file = soc_sources_open(L, path);
    if (file == NULL)
        return false;
    while ((count = fread(soc_buf_reserve(out, BUFSIZ), 1, BUFSIZ, file)) > 0 &&
           out->length <= SOC_RUN_LUA_BYTES_MAX)
        out->length += count;
    bool is_read = ferror(file) == 0 && out->length <= SOC_RUN_LUA_BYTES_MAX;
    fclose(file);
    return is_read;
}

void soc_handout_set_app(struct soc_script *script, const char *path, int argc, char **argv)
{
    struct soc_buf text = {0};
    struct soc_buf *out = &script->app;
    out->length = 0;
    if (!read_file(script->L, path, &text) || soc_utf8_fault(soc_buf_slice(&text)) >= 0) {
        soc_buf_fini(&text);
        return;
    }
    soc_buf_put_text(out, "{\"arguments\":[");
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            soc_buf_put_byte(out, ',');
        soc_json_put_string(out, soc_slice_text(argv[i]));
    }
    soc_buf_put_byte(out, ']');
    soc_json_put_text_member(out, "path", soc_slice_text(path));
    soc_json_put_text_member(out, "text", soc_buf_slice(&text));
    soc_buf_put_byte(out, '}');
    soc_buf_fini(&text);
}

/* Appends the names of the functions in a table, but for those that change the society. */
static void put_names(lua_State *L, int ref, struct soc_buf *out)
{
    static const char *const changes[] = {"role", "root", "main", "policy", "config", "new"};
    soc_buf_put_byte(out, '[');
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        bool is_put = lua_type(L, -2) == LUA_TSTRING && lua_iscfunction(L, -1);
        for (size_t i = 0; is_put && i < sizeof(changes) / sizeof(changes[0]); i++)
            is_put = strcmp(lua_tostring(L, -2), changes[i]) != 0;
        if (is_put && out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        if (is_put)
            soc_json_put_string(out, soc_slice_text(lua_tostring(L, -2)));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    soc_buf_put_byte(out, ']');
}

bool soc_handout_needs_app(const struct soc_script *script, const struct soc_role *role)
{
    const char *name = soc_behaviour_name(script, role);
    /* A role that bears the name of its module is not its own behaviour. */
    bool needs_app =
        name == NULL || (strcmp(name, role->id) != 0 &&
                         soc_registry_find_role(script->host, soc_slice_text(name)) != NULL);
    return needs_app && script->app.length > 0;
}

void soc_handout_put_open(struct soc_script *script, const struct soc_activation *activation,
                          struct soc_buf *out)
{
    const struct soc_agent *agent = activation->agent;
    const char *name = soc_behaviour_name(script, agent->role);
    soc_buf_put_byte(out, '{');
    if (soc_handout_needs_app(script, agent->role)) {
        soc_json_put_name(out, "app");
        soc_buf_put_slice(out, soc_buf_slice(&script->app));
    }
    soc_json_put_text_member(out, "behaviour", soc_slice_text(name));
    if (agent->brief != NULL) {
        soc_json_put_name(out, "brief");
        soc_buf_put_slice(out, soc_slice(agent->brief, agent->brief_length));
    }
    soc_json_put_text_member(out, "id", soc_agent_id(agent));
    soc_json_put_name(out, "looks");
    put_names(script->L, script->module_ref, out);
    soc_json_put_name(out, "memory_bytes");
    soc_json_put_integer(out, script->memory_bytes_max);
    soc_json_put_name(out, "methods");
    put_names(script->L, script->methods_ref, out);
    soc_json_put_text_member(out, "role", soc_slice_text(agent->role->id));
    soc_json_put_text_member(out, "role_name", soc_slice_text(agent->role->name));
    soc_json_put_name(out, "text_bytes");
    soc_json_put_integer(out, SOC_SCRIPT_TEXT_BYTES_MAX);
    soc_buf_put_byte(out, '}');
}

void soc_handout_put_run(const struct soc_activation *activation, struct soc_buf *out)
{
    const struct soc_agent *agent = activation->agent;
    const struct soc_message *message = activation->message;
    bool is_of_host = message->from == NULL && activation->effects_count == 0;
    soc_buf_put_text(out, is_of_host ? "{\"is_of_host\":true" : "{\"is_of_host\":false");
    soc_json_put_name(out, "message");
    soc_envelope_put_script_json(out, message);
    if (agent->parent != NULL)
        soc_json_put_text_member(out, "parent", soc_agent_id(agent->parent));
    if (agent->state != NULL) {
        soc_json_put_name(out, "state");
        soc_buf_put_slice(out, soc_slice(agent->state, agent->state_length));
    }
    soc_buf_put_byte(out, '}');
}

/* Tries a path; on success pushes how it is shown and the text, and returns true. */
static bool try_path(lua_State *L, const char *directory, const char *shown, const char *module,
                     const char *form)
{
    struct soc_buf text = {0};
    char path[SOC_PATH_BYTES_MAX];
    char shown_path[SOC_PATH_BYTES_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s%s", directory, module, form);
    snprintf(shown_path, sizeof(shown_path), "%s/%s%s", shown, module, form);
    if (length < 0 || (size_t)length >= sizeof(path))
        return false;
    bool is_found = read_file(L, path, &text) && soc_utf8_fault(soc_buf_slice(&text)) < 0;
    if (is_found) {
        lua_pushstring(L, shown_path);
        lua_pushlstring(L, text.data, text.length);
    }
    soc_buf_fini(&text);
    return is_found;
}

static bool try_directory(lua_State *L, const char *directory, const char *shown,
                          const char *module)
{
    return try_path(L, directory, shown, module, ".lua") ||
           try_path(L, directory, shown, module, "/init.lua");
}

int soc_handout_find(lua_State *L, const struct soc_script *script)
{
    char own[SOC_PATH_BYTES_MAX];
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (length == 0 || strspn(name, allowed) != length || name[0] == '.' ||
        name[length - 1] == '.' || strstr(name, "..") != NULL)
        return luaL_error(L, "require: '%s' is not a module name", name);
    const char *module = luaL_gsub(L, name, ".", "/");
    snprintf(own, sizeof(own), "%s/lua", script->home);
    if ((script->app_dir != NULL && try_directory(L, script->app_dir, script->app_dir, module)) ||
        try_directory(L, own, SOC_SANDBOX_OWN, module))
        return 2;
    return luaL_error(L,
                      "require: no module '%s' for an isolated agent: a file of UTF-8 text "
                      "beside the app, of 1 MB at most",
                      name);
}

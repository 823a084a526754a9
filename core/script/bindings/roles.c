#include "script/bindings/roles.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "lualib/lua_json.h"
#include "script/calls/grants.h"
#include "script/turns/behaviour.h"

static struct soc_slice optional_text(lua_State *L, int index, const char *name)
{
    size_t length;
    int type = soc_option_field(L, index, name);
    if (type == LUA_TNIL)
        return (struct soc_slice){0};
    if (type != LUA_TSTRING)
        luaL_error(L, "role: '%s' must be a string, got %s", name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    if (!soc_option_is_text(soc_slice(text, length)))
        luaL_error(L, "role: '%s' must be UTF-8 without NUL", name);
    return soc_slice(text, length);
}

static bool is_text_field(lua_State *L, int index, const char *name)
{
    bool is_text = soc_option_field(L, index, name) == LUA_TSTRING;
    lua_pop(L, 1);
    return is_text;
}

static int refuse_spec(struct soc_frame *frame, const char *reason)
{
    soc_refuse_named(&frame->error, "invalid_interface_spec", reason);
    return SOC_EINVAL;
}

static int read_spec(lua_State *L, struct soc_frame *frame, int index, struct soc_role_draft *draft)
{
    static const char *const required[] = {"services", "input_format", "output_format"};
    struct soc_detail detail;
    if (soc_option_field(L, index, "interface_spec") == LUA_TNIL)
        return SOC_OK;
    int spec = lua_gettop(L);
    if (lua_type(L, spec) != LUA_TTABLE)
        return refuse_spec(frame, "interface_spec: a table expected");
    for (int i = 0; i < 3; i++) {
        if (is_text_field(L, spec, required[i]))
            continue;
        soc_fail(&detail, SOC_EINVAL, "interface_spec: '%s' must be a string", required[i]);
        return refuse_spec(frame, detail.text);
    }
    if (soc_lua_json_encode(L, spec, "interface_spec", SOC_BRIEF_BYTES_MAX, &frame->payload,
                            &detail) < 0)
        return refuse_spec(frame, detail.text);
    soc_lua_json_list(&frame->payload, "examples", &frame->scratch);
    draft->interface_spec = soc_buf_slice(&frame->payload);
    return SOC_OK;
}

/* Makes the id of a role without one: its name if valid, else a hash of it, so that a
 * restart makes the same id. */
static void make_id(lua_State *L, struct soc_role_draft *draft)
{
    char id[32];
    if (soc_id_is_valid(draft->name)) {
        draft->id = draft->name;
        return;
    }
    snprintf(id, sizeof(id), "role_%08llx",
             (unsigned long long)(soc_hash(draft->name.data, draft->name.length, 0) >> 32));
    draft->id = soc_slice_text(lua_pushstring(L, id));
}

static int read_behaviour(lua_State *L, struct soc_script *script, int index,
                          struct soc_role_draft *draft, bool in_turn)
{
    int type = soc_option_field(L, index, "behaviour");
    if (type == LUA_TNIL)
        return LUA_NOREF;
    if (in_turn && type != LUA_TSTRING)
        luaL_error(L, "role: inside a turn a behaviour is the name of a module or of a role "
                      "declared at load; a function cannot survive a restart");
    if (type == LUA_TSTRING) {
        size_t length;
        const char *text = lua_tolstring(L, -1, &length);
        draft->behaviour = soc_slice(text, length);
        draft->is_external = soc_slice_equal(draft->behaviour, SOC_SLICE("external"));
        if (draft->is_external)
            return LUA_NOREF; /* no script runs for it */
    }
    if (draft->is_isolated && script->leaves_isolated && type == LUA_TSTRING)
        return soc_behaviour_keep_name(L, script, lua_gettop(L));
    return soc_behaviour_keep(L, script, lua_gettop(L));
}

/* A role created in a turn outlives this start, its own time-out would not. */
static int64_t read_reply_timeout(lua_State *L, int index, const struct soc_role_draft *draft,
                                  bool in_turn)
{
    int64_t otherwise = soc_behaviour_reply_timeout(draft->behaviour);
    int64_t ms = soc_option_integer(L, index, "role", "reply_timeout_ms", otherwise);
    if (in_turn && ms != otherwise)
        luaL_error(L, "role: 'reply_timeout_ms' is for roles declared at load");
    if (ms < 0 || ms > 100000000000000)
        luaL_error(L, "role: 'reply_timeout_ms' must be an integer from 1 to 10^14");
    return ms;
}

/* A role created in a turn is isolated if the agent is that creates it. The grants stay on the
 * stack. */
static bool read_isolated(lua_State *L, const struct soc_script *script, int index,
                          struct soc_role_draft *draft, bool in_turn)
{
    int type = soc_option_field(L, index, "isolated");
    if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TTABLE)
        luaL_error(L, "role: 'isolated' must be a boolean or a table, got %s",
                   luaL_typename(L, -1));
    bool is_isolated = lua_toboolean(L, -1);
    if (type == LUA_TTABLE && !in_turn)
        draft->grants = soc_grants_read(L, lua_gettop(L));
    if (in_turn && type != LUA_TNIL)
        luaL_error(L, "role: 'isolated' is for roles declared at load; agents are isolated when "
                      "they are spawned");
    return in_turn ? soc_registry_isolates(script->host, soc_gate_activation(script->host)->agent)
                   : is_isolated;
}

int soc_role_read(lua_State *L, struct soc_frame *frame, int index, struct soc_role_draft *draft,
                  bool in_turn, int *behaviour)
{
    struct soc_script *script = frame->script;
    luaL_checktype(L, index, LUA_TTABLE);
    static const char *const known[] = {
        "id",        "name",           "prompt",           "rolePrompt",
        "behaviour", "interface_spec", "reply_timeout_ms", "isolated",
        NULL};
    soc_option_check_names(L, index, "role", known);
    *draft = (struct soc_role_draft){
        .id = optional_text(L, index, "id"),
        .name = optional_text(L, index, "name"),
        .prompt = optional_text(L, index, "prompt"),
    };
    struct soc_slice other = optional_text(L, index, "rolePrompt");
    if (draft->prompt.data != NULL && other.data != NULL)
        luaL_error(L, "role: give prompt or rolePrompt, not both");
    if (draft->prompt.data == NULL)
        draft->prompt = other;
    if (draft->name.data == NULL)
        draft->name = draft->id;
    if (draft->name.data == NULL)
        luaL_error(L, "role: an id or a name is needed");
    if (draft->id.data == NULL)
        make_id(L, draft);
    assert(draft->id.data != NULL && draft->name.data != NULL);
    draft->is_isolated = read_isolated(L, script, index, draft, in_turn);
    *behaviour = read_behaviour(L, script, index, draft, in_turn);
    draft->reply_timeout_ms = read_reply_timeout(L, index, draft, in_turn);
    return read_spec(L, frame, index, draft);
}

#include "script/calls/grants.h"

#include <string.h>

#include "base/json.h"
#include "kernel/registry.h"
#include "script/calls/keys.h"
#include "script/turns/behaviour.h"

static void put_list(lua_State *L, int grants, const char *name, struct soc_buf *out,
                     bool (*is_good)(const char *text))
{
    int type = soc_option_field(L, grants, name);
    int list = lua_gettop(L);
    if (type == LUA_TNIL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_byte(out, '[');
    lua_Integer count = type == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, list) : 0;
    for (lua_Integer i = 1; i <= count; i++, lua_settop(L, list)) {
        bool is_text = lua_rawgeti(L, list, i) == LUA_TSTRING;
        const char *text = is_text ? lua_tostring(L, -1) : "";
        if (strlen(text) != lua_rawlen(L, -1) || !is_good(text)) {
            count = 0;
            break;
        }
        soc_buf_put_text(out, i > 1 ? "," : "");
        soc_json_put_string(out, soc_slice_text(text));
    }
    soc_buf_put_byte(out, ']');
    if (count == 0) {
        soc_buf_fini(out);
        luaL_error(L, "role: 'isolated.%s' must be a list of %s", name,
                   strcmp(name, "http") == 0 ? "URLs that requests may begin with"
                                             : "names of variables");
    }
}

static bool is_variable(const char *text)
{
    return soc_keys_is_name(soc_slice_text(text));
}

static bool is_place(const char *text)
{
    return soc_keys_is_place(text) && soc_option_is_text(soc_slice_text(text));
}

struct soc_slice soc_grants_read(lua_State *L, int index)
{
    static const char *const known[] = {"http", "secrets", "chat", NULL};
    struct soc_buf out = {0};
    size_t length;
    soc_option_check_names(L, index, "role: isolated", known);
    soc_option_check(L, index, "role: isolated", "chat", LUA_TBOOLEAN);
    soc_option_field(L, index, "chat");
    bool has_chat = lua_toboolean(L, -1);
    soc_buf_put_byte(&out, '{');
    soc_json_put_name(&out, "chat");
    soc_buf_put_text(&out, has_chat ? "true" : "false");
    put_list(L, index, "http", &out, is_place);
    put_list(L, index, "secrets", &out, is_variable);
    soc_buf_put_byte(&out, '}');
    lua_pushlstring(L, out.data, out.length);
    soc_buf_fini(&out);
    const char *text = lua_tolstring(L, -1, &length);
    return soc_slice(text, length);
}

/* Lends a member of what the agent is granted, or an absent one. */
static struct soc_slice grant(const struct soc_agent *agent, const char *name)
{
    bool has_any = !(agent->isolation & SOC_ISOLATED_UNGRANTED) && agent->role->grants != NULL;
    return has_any ? soc_json_member(soc_slice_text(agent->role->grants), name)
                   : (struct soc_slice){0};
}

bool soc_grants_chat(const struct soc_script *script, const struct soc_agent *agent)
{
    if (agent->isolation & SOC_ISOLATED_UNTHINKING)
        return false;
    return !soc_registry_isolates(script->host, agent) ||
           soc_behaviour_thinks(script, agent->role) ||
           soc_slice_equal(grant(agent, "chat"), SOC_SLICE("true"));
}

uint8_t soc_grants_denied(const struct soc_script *script, const struct soc_role *role)
{
    const struct soc_agent *parent = soc_gate_activation(script->host)->agent;
    uint8_t denied = 0;
    if (!soc_registry_isolates(script->host, parent))
        return 0;
    if (role != parent->role || parent->isolation & SOC_ISOLATED_UNGRANTED)
        denied |= SOC_ISOLATED_UNGRANTED;
    if (!soc_grants_chat(script, parent))
        denied |= SOC_ISOLATED_UNTHINKING;
    return denied;
}

/* Tells whether a list of strings has one that fits. */
static bool list_fits(struct soc_slice list, struct soc_slice value,
                      bool (*fits)(struct soc_slice value, const char *item))
{
    struct soc_json_walk walk;
    bool is_met = false;
    if (list.data == NULL)
        return false;
    soc_json_walk(&walk, list);
    while (!is_met && soc_json_next(&walk)) {
        struct soc_buf item = {0};
        is_met = soc_json_string(walk.value, &item) && fits(value, soc_buf_text(&item));
        soc_buf_fini(&item);
    }
    return is_met;
}

static bool is_same(struct soc_slice value, const char *item)
{
    return soc_slice_equal(value, soc_slice_text(item));
}

void soc_grants_check(const struct soc_agent *agent, struct soc_slice url, const char *secret,
                      struct soc_buf *fault)
{
    if (agent->isolation & SOC_ISOLATED_UNGRANTED)
        soc_buf_put_text(fault,
                         "an isolated agent spawned this agent, with another role or on another "
                         "host, so the grants of its role do not apply");
    else if (!list_fits(grant(agent, "http"), url, soc_keys_is_within))
        soc_buf_printf(fault,
                       "this agent is isolated, and its role is not granted that URL: "
                       "society.role{ id = \"%s\", isolated = { http = { \"https://…/\" } } }",
                       agent->role->id);
    else if (secret != NULL && !list_fits(grant(agent, "secrets"), soc_slice_text(secret), is_same))
        soc_buf_printf(fault,
                       "this agent is isolated, and its role is not granted that secret: "
                       "society.role{ id = \"%s\", isolated = { secrets = { \"%s\" } } }",
                       agent->role->id, secret);
}

bool soc_grants_name_address(struct soc_slice url)
{
    const char *text = memchr(url.data, '/', url.length);
    size_t length = 0;
    if (text == NULL || text + 2 > url.data + url.length)
        return false;
    text += 2;
    size_t left = (size_t)(url.data + url.length - text);
    while (length < left && strchr(":/?#", text[length]) == NULL)
        length++;
    struct soc_slice host = soc_slice(text, length);
    if (soc_slice_equal(host, SOC_SLICE("localhost")) || (left > 0 && text[0] == '['))
        return true;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '.' && (text[i] < '0' || text[i] > '9'))
            return false;
    return length > 0;
}

/* Hosts answers: asks the policy `hosts` what is taken from other hosts and where agents are
 * born. */
#include <assert.h>

#include "lualib/lua_json.h"
#include "parts/hosts/hosts.h"
#include "script/answers/answers.h"
#include "script/policies/policy_set.h"

static void push_text(lua_State *L, struct soc_slice text)
{
    lua_pushlstring(L, text.data == NULL ? "" : text.data, text.length);
}

bool soc_answer_accepts(void *user, struct soc_slice from, struct soc_slice to,
                        struct soc_slice type, struct soc_buf *refusal)
{
    struct soc_script *script = user;
    lua_State *L = script->L;
    int top = lua_gettop(L);
    bool is_taken = true;
    if (!soc_policy_set_answers(script, SOC_ASK_ACCEPT))
        return true;
    luaL_checkstack(L, 12, NULL);
    push_text(L, from);
    push_text(L, to);
    push_text(L, type);
    if (soc_policy_set_ask(L, script, SOC_ASK_ACCEPT, 3)) {
        is_taken = lua_toboolean(L, -2);
        if (!is_taken)
            soc_answer_put_refusal(L, lua_gettop(L), refusal);
    }
    lua_settop(L, top);
    return is_taken;
}

bool soc_answer_place(lua_State *L, struct soc_script *script, struct soc_slice role,
                      struct soc_slice brief, struct soc_buf *name)
{
    int top = lua_gettop(L);
    struct soc_buf places = {0};
    if (!soc_hosts_put_places(script->host, &places)) {
        soc_buf_fini(&places);
        return false;
    }
    luaL_checkstack(L, 12, NULL);
    push_text(L, role);
    bool is_asked = soc_lua_json_decode(L, brief, NULL) == SOC_OK &&
                    soc_lua_json_decode(L, soc_buf_slice(&places), NULL) == SOC_OK;
    soc_buf_fini(&places);
    if (is_asked && soc_policy_set_ask(L, script, SOC_ASK_PLACE, 3) &&
        lua_type(L, -2) == LUA_TSTRING) {
        size_t length;
        const char *text = lua_tolstring(L, -2, &length);
        soc_buf_put(name, text, length);
    }
    lua_settop(L, top);
    return name->length > 0;
}

#include "script/turns/receipt.h"

#include <assert.h>

#include "base/limits.h"
#include "env/ids.h"
#include "script/turns/lazy.h"

/* Makes the receipt at index 1 a plain table. A lua_CFunction, for lazy.h. Writing fills
 * the table first, so until then it has one entry: the time under the negated number,
 * which `#` does not count. */
static int fill(lua_State *L)
{
    char id[SOC_MESSAGE_ID_BYTES];
    lua_pushnil(L);
    if (lua_next(L, 1) == 0)
        return 0;
    lua_Integer private_key = lua_tointeger(L, -2);
    assert(private_key < 0);
    soc_message_id_format(id, lua_tointeger(L, -1), (uint64_t)-private_key);
    lua_pushnil(L);
    lua_rawseti(L, 1, private_key);
    lua_pushnil(L);
    lua_setmetatable(L, 1);
    lua_pushliteral(L, "messageId");
    lua_pushlstring(L, id, sizeof(id));
    lua_rawset(L, 1);
    return 0;
}

static int receipt_index(lua_State *L)
{
    fill(L);
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    return 1;
}

void soc_receipt_open(lua_State *L, struct soc_script *script)
{
    soc_lazy_push(L, script, receipt_index, fill);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    script->receipt_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_receipt_push(lua_State *L, struct soc_script *script, const struct soc_message *message)
{
    assert(message->key != 0);
    lua_createtable(L, 0, 1);
    lua_pushinteger(L, message->time_ms);
    lua_rawseti(L, -2, -(lua_Integer)message->key);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->receipt_meta_ref);
    lua_setmetatable(L, -2);
}

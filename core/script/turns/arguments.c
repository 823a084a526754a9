#include "script/turns/arguments.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_json.h"

void soc_arguments_put_value(lua_State *L, int index, struct soc_buf *out)
{
    struct soc_detail detail;
    size_t length = out->length;
    if (lua_isnil(L, index) ||
        soc_lua_json_encode(L, index, "value", SOC_JSON_BYTES_MAX, out, &detail) < 0) {
        out->length = length;
        soc_buf_put_text(out, "null");
    }
}

/* Returns the index of an effect's last argument, counting the handle that methods get
 * first. The values above it on the stack belong to the binding. */
static int last_argument(lua_State *L, enum soc_effect_kind kind)
{
    int top = lua_gettop(L);
    int last = 4;
    switch (kind) {
    case SOC_EFFECT_PRINT:
        return top - 1; /* the line made of them */
    case SOC_EFFECT_NOW:
    case SOC_EFFECT_CONTACTS:
        last = 1;
        break;
    case SOC_EFFECT_SEND:
    case SOC_EFFECT_REQUEST:
    case SOC_EFFECT_RECEIVE:
    case SOC_EFFECT_SLEEP:
    case SOC_EFFECT_CREATE_ROLE:
    case SOC_EFFECT_CONTACT:
    case SOC_EFFECT_KNOWS:
    case SOC_EFFECT_CAN_SEND:
    case SOC_EFFECT_ADD_CONTACT:
    case SOC_EFFECT_REMOVE_CONTACT:
    case SOC_EFFECT_LOAD:
    case SOC_EFFECT_ESCALATE:
    case SOC_EFFECT_REQUEST_INTRODUCTION:
    case SOC_EFFECT_BROADCAST:
    case SOC_EFFECT_CHECKPOINT:
        last = 2;
        break;
    case SOC_EFFECT_LOG:
    case SOC_EFFECT_RANDOM:
    case SOC_EFFECT_LOOK:
        last = 3;
        break;
    default:
        break;
    }
    return last < top ? last : top;
}

/* Tells whether the effect's first argument is a message, of which the id is enough. */
static bool is_about_message(enum soc_effect_kind kind)
{
    return kind == SOC_EFFECT_REPLY || kind == SOC_EFFECT_INTRODUCE || kind == SOC_EFFECT_DECLINE ||
           kind == SOC_EFFECT_COMPLETE || kind == SOC_EFFECT_FAIL;
}

/* Appends the id of the message at `index`, or any other value as it is. */
static void put_message(lua_State *L, int index, struct soc_buf *out)
{
    size_t start = out->length;
    soc_arguments_put_value(L, index, out);
    assert(out->length > start);
    struct soc_slice id = soc_json_member(soc_slice(out->data + start, out->length - start), "id");
    if (id.data == NULL)
        return;
    memmove(out->data + start, id.data, id.length);
    out->length = start + id.length;
}

void soc_arguments_put(lua_State *L, enum soc_effect_kind kind, struct soc_buf *out)
{
    int last = last_argument(L, kind);
    int first = lua_type(L, 1) == LUA_TUSERDATA ? 2 : 1;
    while (last >= first && lua_isnil(L, last))
        last--;
    soc_buf_put_byte(out, '[');
    for (int i = first; i <= last; i++) {
        if (i > first)
            soc_buf_put_byte(out, ',');
        if (i == 2 && is_about_message(kind))
            put_message(L, i, out);
        else
            soc_arguments_put_value(L, i, out);
    }
    soc_buf_put_byte(out, ']');
}

/* Message: an envelope as scripts see it.
 *
 * A table with the payload; the other fields are packed in one string under a private
 * key. Four frequent fields are read from the string each time; reading any other one
 * fills the whole table. So a message costs two fields, not fifteen. Iteration, writing
 * and whatever bypasses the metatable (pairs, next, rawget, the JSON encoder) fill the
 * table first. */
#include "script/turns/message.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/message_view.h"
#include "lualib/lua_json.h"
#include "script/turns/lazy.h"

/* Its address is the private key. */
static const char packed_key;

/* A packed string: the message's numbers, three lengths, then `to`, `from`, the type and
 * the texts. */
#define LENGTHS_AT SOC_MESSAGE_NUMBERS_BYTES
#define NAMES_AT   (LENGTHS_AT + 3)

static void push_packed(lua_State *L, const struct soc_message *message)
{
    char bytes[NAMES_AT + 2 * SOC_ADDRESS_BYTES_MAX + SOC_TYPE_BYTES_MAX +
               SOC_TEXT_COUNT * SOC_KEY_BYTES_MAX];
    struct soc_slice from =
        message->from == NULL ? SOC_SLICE("system") : soc_agent_id(message->from);
    struct soc_slice to = soc_receiver_id(message);
    size_t texts = 0;
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        texts += message->text_length[i];
    char *place = bytes + LENGTHS_AT;
    memcpy(bytes, (const char *)message + SOC_MESSAGE_NUMBERS, LENGTHS_AT);
    *place++ = (char)to.length;
    *place++ = (char)from.length;
    *place++ = (char)message->type->length;
    place = mempcpy(place, to.data, to.length);
    place = mempcpy(place, from.data, from.length);
    place = mempcpy(place, message->type->text, message->type->length);
    place = mempcpy(place, message->bytes + message->payload_length, texts);
    assert(place <= bytes + sizeof(bytes));
    lua_pushlstring(L, bytes, (size_t)(place - bytes));
}

/* Looks at a packed message; its numbers are unpacked into `room`. */
static struct soc_message_view view_of(const char *bytes, struct soc_message *room)
{
    const uint8_t *lengths = (const uint8_t *)bytes + LENGTHS_AT;
    const char *to = bytes + NAMES_AT;
    const char *from = to + lengths[0];
    const char *type = from + lengths[1];
    memcpy((char *)room + SOC_MESSAGE_NUMBERS, bytes, LENGTHS_AT);
    return (struct soc_message_view){
        .message = room,
        .to = soc_slice(to, lengths[0]),
        .from = soc_slice(from, lengths[1]),
        .type = soc_slice(type, lengths[2]),
        .texts = type + lengths[2],
    };
}

/* Pushes the value of a field; false, with nothing pushed, if the message has none. */
static bool push_field(lua_State *L, const struct soc_message_view *view,
                       enum soc_message_field field)
{
    struct soc_viewed value;
    soc_message_view_get(view, field, &value);
    switch (value.kind) {
    case SOC_VIEWED_FLAG:
        lua_pushboolean(L, value.flag);
        return true;
    case SOC_VIEWED_INTEGER:
        lua_pushinteger(L, value.integer);
        return true;
    case SOC_VIEWED_NUMBER:
        lua_pushnumber(L, value.number);
        return true;
    case SOC_VIEWED_TEXT:
        lua_pushlstring(L, value.text.data, value.text.length);
        return true;
    case SOC_VIEWED_JSON: /* the payload, which is there already */
    case SOC_VIEWED_NOTHING:
        break;
    }
    return false;
}

/* Sets what a packed string holds as fields of the table on top. */
static void unpack(lua_State *L, const char *bytes)
{
    struct soc_message room;
    struct soc_message_view view = view_of(bytes, &room);
    for (int i = 0; i < SOC_MESSAGE_FIELD_COUNT; i++) {
        enum soc_message_field field = (enum soc_message_field)i;
        const struct soc_field_rule *rule = soc_message_fields_rule(field);
        bool is_shown = rule->shown == SOC_SHOWN_ENVELOPE || rule->shown == SOC_SHOWN_SCRIPTS;
        if (is_shown && push_field(L, &view, field))
            lua_setfield(L, -2, rule->name);
    }
}

/* Fills in the message at index 1, once. A lua_CFunction, for lua_fill.h. */
static int fill(lua_State *L)
{
    if (lua_rawgetp(L, 1, &packed_key) == LUA_TSTRING) {
        lua_pushnil(L);
        lua_rawsetp(L, 1, &packed_key);
        const char *bytes = lua_tostring(L, -1);
        lua_pushvalue(L, 1);
        unpack(L, bytes);
    }
    return 0;
}

/* Pushes the field if it is one of the four that are read without filling in. */
static bool push_packed_field(lua_State *L, const char *name, const char *bytes)
{
    static const enum soc_message_field often[] = {SOC_MESSAGE_FIELD_FROM, SOC_MESSAGE_FIELD_TYPE,
                                                   SOC_MESSAGE_FIELD_TO, SOC_MESSAGE_FIELD_ID};
    for (size_t i = 0; i < sizeof(often) / sizeof(often[0]); i++) {
        if (strcmp(name, soc_message_fields_rule(often[i])->name) != 0)
            continue;
        struct soc_message room;
        struct soc_message_view view = view_of(bytes, &room);
        return push_field(L, &view, often[i]);
    }
    return false;
}

/* __index: a field that is not there yet, or `text`. Upvalue 1: the box. */
static int message_index(lua_State *L)
{
    if (lua_rawgetp(L, 1, &packed_key) == LUA_TSTRING) {
        if (lua_type(L, 2) == LUA_TSTRING &&
            push_packed_field(L, lua_tostring(L, 2), lua_tostring(L, -1)))
            return 1;
        fill(L);
        lua_pushvalue(L, 2);
        if (lua_rawget(L, 1) != LUA_TNIL)
            return 1;
    }
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "text") != 0)
        return 0;
    struct soc_script *script = soc_box_script(L, lua_upvalueindex(1));
    luaL_checkstack(L, 12, NULL);
    script->hooks.push_text(L, script);
    lua_pushliteral(L, "text");
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

void soc_message_open(lua_State *L, struct soc_script *script)
{
    soc_lazy_push(L, script, message_index, fill);
    lua_pushliteral(L, "message");
    lua_setfield(L, -2, "__metatable");
    script->message_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushliteral(L, "payload");
    script->payload_name_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_message_mark(lua_State *L, struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->message_meta_ref);
    lua_setmetatable(L, -2);
}

/* At most this much JSON is kept as tables for receivers. Messages beyond that are
 * decoded from their JSON. */
#define COPIES_BYTES_MAX (4u << 20)

bool soc_message_has_room(const struct soc_script *script, size_t length)
{
    return length <= COPIES_BYTES_MAX - script->copies_bytes;
}

void soc_message_keep_copy(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    assert(message->script_mark == 0);
    message->script_mark = luaL_ref(L, LUA_REGISTRYINDEX);
    script->copies_bytes += message->payload_length;
}

void soc_message_forget(void *user, struct soc_message *message)
{
    struct soc_script *script = user;
    assert(script->copies_bytes >= message->payload_length);
    luaL_unref(script->L, LUA_REGISTRYINDEX, message->script_mark);
    message->script_mark = 0;
    script->copies_bytes -= message->payload_length;
}

/* The payload: the copy made when it was sent, or read from its JSON. */
static void push_payload(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    struct soc_detail detail;
    if (message->script_mark != 0) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, message->script_mark);
        soc_message_forget(script, message);
    } else if (soc_lua_json_decode(L, soc_message_payload(message), &detail) < 0) {
        luaL_error(L, "a stored payload is damaged: %s", detail.text);
    }
}

void soc_message_push(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    lua_createtable(L, 0, 2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->payload_name_ref);
    push_payload(L, script, message);
    lua_rawset(L, -3);
    push_packed(L, message);
    lua_rawsetp(L, -2, &packed_key);
    soc_message_mark(L, script);
}

bool soc_message_key_of(lua_State *L, int index, uint64_t *key)
{
    bool is_packed = lua_rawgetp(L, index, &packed_key) == LUA_TSTRING;
    if (is_packed) {
        struct soc_message room;
        *key = view_of(lua_tostring(L, -1), &room).message->key;
    }
    lua_pop(L, 1);
    return is_packed;
}

/* Message: how an envelope looks to a script.
 *
 * It is a table with the payload; the rest waits packed in one string under a
 * private key. Four fields that are often asked for are read from there each time;
 * any other one has the whole table filled in. So a message costs two fields, not
 * fifteen. Whoever walks such a table or looks past its metatable (pairs, next,
 * rawget, the JSON encoder) has it filled first, and so has who writes to it. */
#include "script/turns/message.h"

#include <string.h>

#include "base/limits.h"
#include "env/clock.h"
#include "env/ids.h"
#include "kernel/envelope.h"
#include "lualib/lua_json.h"
#include "script/policies/answers.h"
#include "script/turns/lazy.h"

/* Its address is the private key. */
static const char packed_key;

/* What the packed string begins with; `to`, `from`, the type and the texts follow. */
struct packed {
    uint64_t key;
    uint64_t reply_to;
    int64_t time_ms;
    int64_t reply_to_ms;
    int64_t expires_ms;
    int64_t deliver_at_ms;
    int64_t deadline_ms;
    uint32_t hops;
    uint16_t attempt;
    uint16_t text_length[SOC_TEXT_COUNT];
    uint8_t priority;
    uint8_t flags;
    uint8_t to_length;
    uint8_t from_length;
    uint8_t type_length;
};

static void push_packed(lua_State *L, const struct soc_message *message)
{
    char bytes[sizeof(struct packed) + 2 * SOC_ID_BYTES_MAX + SOC_TYPE_BYTES_MAX +
               SOC_TEXT_COUNT * SOC_KEY_BYTES_MAX];
    struct soc_slice from =
        message->from == NULL ? SOC_SLICE("system") : soc_agent_id(message->from);
    struct soc_slice to = soc_receiver_id(message);
    struct packed packed = {
        .key = message->key,
        .reply_to = message->reply_to,
        .time_ms = message->time_ms,
        .reply_to_ms = message->reply_to_ms,
        .expires_ms = message->expires_ms,
        .deliver_at_ms = message->deliver_at_ms,
        .deadline_ms = message->deadline_ms,
        .attempt = message->attempt,
        .hops = message->hops,
        .priority = message->priority,
        .flags = message->flags,
        .to_length = (uint8_t)to.length,
        .from_length = (uint8_t)from.length,
        .type_length = (uint8_t)message->type->length,
    };
    memcpy(packed.text_length, message->text_length, sizeof(packed.text_length));
    size_t texts = 0;
    for (int i = 0; i < SOC_TEXT_COUNT; i++)
        texts += message->text_length[i];
    char *place = bytes + sizeof(packed);
    memcpy(bytes, &packed, sizeof(packed));
    place = mempcpy(place, to.data, to.length);
    place = mempcpy(place, from.data, from.length);
    place = mempcpy(place, message->type->text, packed.type_length);
    place = mempcpy(place, message->bytes + message->payload_length, texts);
    lua_pushlstring(L, bytes, (size_t)(place - bytes));
}

static void set_text(lua_State *L, const char *name, struct soc_slice text)
{
    lua_pushlstring(L, text.data, text.length);
    lua_setfield(L, -2, name);
}

static void set_time(lua_State *L, const char *name, int64_t time_ms)
{
    char text[SOC_TIME_BYTES];
    if (time_ms == 0)
        return;
    soc_time_format(text, time_ms);
    set_text(L, name, soc_slice(text, sizeof(text)));
}

static void set_id(lua_State *L, const char *name, int64_t time_ms, uint64_t key)
{
    char id[SOC_MESSAGE_ID_BYTES];
    if (key == 0)
        return;
    soc_message_id_format(id, time_ms, key);
    set_text(L, name, soc_slice(id, sizeof(id)));
}

static void set_integer(lua_State *L, const char *name, int64_t number)
{
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
}

/* Sets what a packed string holds as fields of the table on top. */
static void unpack(lua_State *L, const char *bytes)
{
    static const char *const names[SOC_TEXT_COUNT] = {"task_id", "correlation_id", "external_id",
                                                      NULL, "traceparent"};
    struct packed packed;
    memcpy(&packed, bytes, sizeof(packed));
    const char *place = bytes + sizeof(packed);
    set_id(L, "id", packed.time_ms, packed.key);
    set_id(L, "reply_to", packed.reply_to_ms, packed.reply_to);
    set_time(L, "timestamp", packed.time_ms);
    set_time(L, "deliver_at", packed.deliver_at_ms);
    set_time(L, "deadline", packed.deadline_ms);
    set_text(L, "to", soc_slice(place, packed.to_length));
    place += packed.to_length;
    set_text(L, "from", soc_slice(place, packed.from_length));
    place += packed.from_length;
    set_text(L, "type", soc_slice(place, packed.type_length));
    place += packed.type_length;
    set_text(L, "priority", soc_slice_text(soc_priority_name(packed.priority)));
    set_integer(L, "attempt", packed.attempt);
    set_integer(L, "hops", packed.hops);
    lua_pushboolean(L, packed.flags & SOC_MESSAGE_REQUIRES_ACK);
    lua_setfield(L, -2, "requires_ack");
    if (packed.flags & SOC_MESSAGE_WANTS_REPLY) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, "wants_reply");
    }
    if (packed.expires_ms != 0) {
        int64_t ttl_ms = packed.expires_ms - packed.time_ms;
        if (ttl_ms % 1000 == 0)
            lua_pushinteger(L, ttl_ms / 1000);
        else
            lua_pushnumber(L, (lua_Number)ttl_ms / 1000);
        lua_setfield(L, -2, "ttl_seconds");
    }
    for (int i = 0; i < SOC_TEXT_COUNT; i++) {
        if (packed.text_length[i] > 0 && names[i] != NULL)
            set_text(L, names[i], soc_slice(place, packed.text_length[i]));
        place += packed.text_length[i];
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
    struct packed packed;
    memcpy(&packed, bytes, sizeof(packed));
    const char *to = bytes + sizeof(packed);
    const char *from = to + packed.to_length;
    if (strcmp(name, "from") == 0) {
        lua_pushlstring(L, from, packed.from_length);
    } else if (strcmp(name, "type") == 0) {
        lua_pushlstring(L, from + packed.from_length, packed.type_length);
    } else if (strcmp(name, "to") == 0) {
        lua_pushlstring(L, to, packed.to_length);
    } else if (strcmp(name, "id") == 0) {
        char id[SOC_MESSAGE_ID_BYTES];
        soc_message_id_format(id, packed.time_ms, packed.key);
        lua_pushlstring(L, id, sizeof(id));
    } else {
        return false;
    }
    return true;
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
    return soc_answer_message_index(L);
}

void soc_message_open(lua_State *L, struct soc_script *script)
{
    soc_lazy_push(L, script, message_index, fill);
    lua_pushliteral(L, "message");
    lua_setfield(L, -2, "__metatable");
    script->message_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

void soc_mark_message(lua_State *L, struct soc_script *script)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->message_meta_ref);
    lua_setmetatable(L, -2);
}

/* So much JSON is kept as tables for receivers that will run soon; a queue beyond
 * that is read from its JSON. */
#define COPIES_BYTES_MAX (4u << 20)

bool soc_message_has_room(const struct soc_script *script, size_t length)
{
    return length <= COPIES_BYTES_MAX - script->copies_bytes;
}

void soc_message_keep_copy(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    message->script_mark = luaL_ref(L, LUA_REGISTRYINDEX);
    script->copies_bytes += message->payload_length;
}

void soc_message_drop_copy(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    luaL_unref(L, LUA_REGISTRYINDEX, message->script_mark);
    message->script_mark = 0;
    script->copies_bytes -= message->payload_length;
}

/* The payload: the copy made when it was sent, or read from its JSON. */
static void push_payload(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    struct soc_detail detail;
    if (message->script_mark != 0) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, message->script_mark);
        soc_message_drop_copy(L, script, message);
    } else if (soc_lua_json_decode(L, soc_message_payload(message), &detail) < 0) {
        luaL_error(L, "a stored payload is damaged: %s", detail.text);
    }
}

void soc_push_message(lua_State *L, struct soc_script *script, struct soc_message *message)
{
    lua_createtable(L, 0, 2);
    push_payload(L, script, message);
    lua_setfield(L, -2, "payload");
    push_packed(L, message);
    lua_rawsetp(L, -2, &packed_key);
    soc_mark_message(L, script);
}

bool soc_message_key_of(lua_State *L, int index, uint64_t *key)
{
    bool is_packed = lua_rawgetp(L, index, &packed_key) == LUA_TSTRING;
    if (is_packed) {
        struct packed packed;
        memcpy(&packed, lua_tostring(L, -1), sizeof(packed));
        *key = packed.key;
    }
    lua_pop(L, 1);
    return is_packed;
}

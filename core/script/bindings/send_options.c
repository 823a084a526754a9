#include "script/bindings/send_options.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "kernel/refusal.h"
#include "lualib/lua_json.h"
#include "script/turns/message.h"
#include "script/turns/payload.h"

/* Raises a mistake of the script. */
static int raise(lua_State *L, const struct soc_send_input_fault *fault)
{
    return luaL_error(L, "%s", fault->detail.text);
}

static struct soc_value value_at(lua_State *L, int index)
{
    struct soc_value value = {.kind = SOC_VALUE_OTHER};
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        value.kind = SOC_VALUE_TEXT;
        value.text.data = lua_tolstring(L, index, &value.text.length);
        break;
    case LUA_TNUMBER:
        value.kind = SOC_VALUE_NUMBER;
        value.number = lua_tonumber(L, index);
        break;
    case LUA_TBOOLEAN:
        value.kind = SOC_VALUE_FLAG;
        value.flag = lua_toboolean(L, index);
        break;
    case LUA_TLIGHTUSERDATA:
        if (soc_lua_is_null(L, index))
            value.kind = SOC_VALUE_NULL;
        break;
    default:
        break;
    }
    return value;
}

/* Where the values of a table are on the stack. */
struct found {
    int slots[SOC_MESSAGE_FIELD_COUNT];
    uint32_t fields; /* 1 << field: its slot is filled */
    uint32_t twice;  /* 1 << field: given under two names */
};

/* Raises with the name of the first unknown option, in the order of names. */
static int raise_unknown(lua_State *L, int index, unsigned context)
{
    const char *known[2 * SOC_MESSAGE_FIELD_COUNT];
    int count = 0;
    do
        known[count] = soc_message_fields_name(context, count);
    while (known[count++] != NULL);
    soc_option_check_names(L, index,
                           context & SOC_SEND_FROM_REPLY       ? "reply"
                           : context & SOC_SEND_FROM_BROADCAST ? "broadcast"
                                                               : "send",
                           known);
    assert(false && "an unknown option is known");
    return 0;
}

/* Notes a field given under a second name, whose value is on top. json.null does not
 * count. */
static void note_again(lua_State *L, int field, struct found *found)
{
    if (soc_lua_is_null(L, -1))
        return;
    if (!soc_lua_is_null(L, found->slots[field]))
        found->twice |= 1u << field;
    found->slots[field] = lua_gettop(L);
}

/* Puts the values of the options on the stack. */
static void find_options(lua_State *L, int index, unsigned context, struct found *found)
{
    int slot = lua_gettop(L);
    found->fields = found->twice = 0;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        struct soc_slice name = {0};
        int field = -1;
        if (lua_type(L, -2) == LUA_TSTRING) {
            name.data = lua_tolstring(L, -2, &name.length);
            field = soc_message_fields_find(name, context);
        }
        if (field < 0)
            raise_unknown(L, index, context);
        slot += 2; /* a name and its value, both of which stay */
        if (found->fields >> field & 1)
            note_again(L, field, found);
        else
            found->slots[field] = slot;
        found->fields |= 1u << field;
        lua_pushvalue(L, -2);
    }
}

/* Reads a list of receivers. A copy on the stack keeps its texts alive, because a policy
 * that runs during the send may change the table. */
static void read_list(lua_State *L, int index, unsigned context, struct soc_send_input *input)
{
    struct soc_send_input_fault fault;
    size_t count = lua_rawlen(L, index);
    if (soc_send_input_check_list(context, count, &fault) < 0)
        raise(L, &fault);
    input->receivers = lua_newuserdatauv(L, count * sizeof(*input->receivers), 0);
    input->receivers_count = count;
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        struct soc_value value = value_at(L, -1);
        if (soc_send_input_set_receiver(&input->receivers[i], &value, &fault) < 0)
            raise(L, &fault);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    input->fields |= 1u << SOC_MESSAGE_FIELD_TO;
}

static void read_options(lua_State *L, const struct found *found, unsigned context,
                         struct soc_send_input *input)
{
    struct soc_send_input_fault fault;
    for (uint32_t left = found->fields; left != 0; left &= left - 1) {
        enum soc_message_field field = (enum soc_message_field)__builtin_ctz(left);
        int slot = found->slots[field];
        if (found->twice >> field & 1) {
            soc_send_input_refuse_twice(field, context, &fault);
            raise(L, &fault);
        }
        if (field == SOC_MESSAGE_FIELD_PAYLOAD)
            continue;
        if (field == SOC_MESSAGE_FIELD_TO && lua_type(L, slot) == LUA_TTABLE) {
            read_list(L, slot, context, input);
            continue;
        }
        struct soc_value value = value_at(L, slot);
        if (soc_send_input_set(input, field, &value, &fault) < 0)
            raise(L, &fault);
    }
    if (soc_send_input_check(input, context, &fault) < 0)
        raise(L, &fault);
}

static int read_payload(lua_State *L, struct soc_frame *frame, struct soc_send_options *out)
{
    struct soc_script *script = frame->script;
    struct soc_send_input *input = &out->input;
    struct soc_payload payload = {.wants_copy =
                                      input->receivers == NULL && soc_message_has_room(script, 0)};
    input->fields |= 1u << SOC_MESSAGE_FIELD_PAYLOAD;
    int rc =
        soc_payload_encode(L, script, out->payload_index, &frame->payload, &payload, &frame->error);
    out->copy_index = payload.has_copy ? lua_gettop(L) : 0;
    input->send.is_bare = rc == SOC_OK && payload.is_bare;
    return rc;
}

/* Hashes fields that were added after the hash was defined. Without them the hash equals
 * that of older versions. */
static uint64_t hash_younger(lua_State *L, const struct found *found, uint64_t hash)
{
    static const uint32_t younger = 0
#define F(tag, name, kind, by, shown, hashed)                                                      \
    | (uint32_t)(SOC_HASHED_##hashed == SOC_HASHED_IF_SAID) << SOC_MESSAGE_FIELD_##tag
        SOC_MESSAGE_FIELD_MAP(F)
#undef F
        ;
    for (uint32_t left = found->fields & younger; left != 0; left &= left - 1) {
        int field = __builtin_ctz(left);
        const char *name = soc_message_fields_rule((enum soc_message_field)field)->name;
        struct soc_value value = value_at(L, found->slots[field]);
        hash = soc_hash(name, strlen(name), hash);
        hash = soc_hash(&value.kind, sizeof(value.kind), hash);
        hash = soc_hash(&value.number, sizeof(value.number), hash + value.flag);
        hash = soc_hash(value.text.data, value.text.length, hash);
    }
    return hash;
}

/* Hashes the options as given: a delay, not the resulting time. Most sends give only `to`
 * and `payload`. Recorded activations hold this hash, so what is hashed, and in which
 * order, must never change. `timeout_ms`: -1 as if it were not given. */
static uint64_t hash_options(lua_State *L, const struct found *found,
                             const struct soc_send_input *input, int64_t timeout_ms)
{
    static const uint8_t texts[] = {SOC_TEXT_TASK_ID, SOC_TEXT_CORRELATION_ID, SOC_TEXT_EXTERNAL_ID,
                                    SOC_TEXT_DEDUPE_KEY, SOC_TEXT_TRACEPARENT};
    const uint32_t plain = 1u << SOC_MESSAGE_FIELD_TO | 1u << SOC_MESSAGE_FIELD_PAYLOAD;
    const struct soc_send *send = &input->send;
    uint64_t hash = soc_hash(send->payload.data, send->payload.length, 0);
    hash = soc_hash(send->to.data, send->to.length, hash);
    const uint32_t waits = timeout_ms < 0 ? 1u << SOC_MESSAGE_FIELD_TIMEOUT_MS : 0;
    if (input->fields & ~plain & ~waits) {
        const int64_t numbers[] = {send->has_priority ? (int64_t)send->priority : -1,
                                   send->has_requires_ack ? 2 - send->requires_ack : 0,
                                   send->ttl_ms,
                                   send->deliver_at_ms,
                                   send->deadline_ms,
                                   input->delay_ms,
                                   timeout_ms};
        hash = soc_hash(numbers, sizeof(numbers), hash);
        hash = soc_hash(send->type.data, send->type.length, hash);
        for (unsigned i = 0; i < sizeof(texts); i++)
            hash = soc_hash(send->texts[texts[i]].data, send->texts[texts[i]].length, hash + i);
        hash = hash_younger(L, found, hash);
    }
    for (size_t i = 0; i < input->receivers_count; i++)
        hash = soc_hash(input->receivers[i].data, input->receivers[i].length, hash);
    return hash;
}

/* Names the type of a message whose payload was refused. */
static void name_type(struct soc_frame *frame, struct soc_slice type)
{
    struct soc_buf value = {0};
    struct soc_buf named = {0};
    if (type.data == NULL || soc_utf8_fault(type) >= 0)
        return;
    soc_json_put_string(
        &value,
        soc_slice(type.data, type.length > SOC_TYPE_BYTES_MAX ? SOC_TYPE_BYTES_MAX : type.length));
    soc_json_put_changed(&named, soc_buf_slice(&frame->error), "message_type",
                         soc_buf_slice(&value));
    frame->error.length = 0;
    soc_buf_put_slice(&frame->error, soc_buf_slice(&named));
    soc_buf_fini(&value);
    soc_buf_fini(&named);
}

void soc_send_options_say(lua_State *L, int index, unsigned context, struct soc_send_input *input)
{
    struct found found;
    luaL_checkstack(L, 3 * SOC_MESSAGE_FIELD_COUNT + 4, NULL);
    find_options(L, index, context, &found);
    read_options(L, &found, context, input);
}

int soc_send_options_read(lua_State *L, struct soc_frame *frame, int index, unsigned context,
                          struct soc_send_options *out)
{
    struct soc_script *script = frame->script;
    struct found found;
    int rc = SOC_ENOPAYLOAD;
    *out = (struct soc_send_options){0};
    luaL_checktype(L, index, LUA_TTABLE);
    luaL_checkstack(L, 3 * SOC_MESSAGE_FIELD_COUNT + 4, NULL);
    find_options(L, index, context, &found);
    read_options(L, &found, context, &out->input);
    if (found.fields >> SOC_MESSAGE_FIELD_PAYLOAD & 1) {
        out->payload_index = found.slots[SOC_MESSAGE_FIELD_PAYLOAD];
        rc = read_payload(L, frame, out);
    }
    if (rc == SOC_EBADMESSAGE)
        name_type(frame, out->input.send.type);
    if (rc == SOC_ENOPAYLOAD)
        soc_refuse(&frame->error, SOC_ENOPAYLOAD, NULL, NULL, (struct soc_slice){0});
    if (context & SOC_SEND_FROM_AGENT && !soc_send_input_has(&out->input, SOC_MESSAGE_FIELD_TO))
        return luaL_error(L, "'to' must be %s", soc_field_kind_expects(SOC_KIND_RECEIVER));
    if (context & SOC_SEND_FROM_BROADCAST)
        out->input.send.to = SOC_SLICE("All");
    assert(rc < 0 || frame->payload.length > 0);
    out->input.send.payload = soc_buf_slice(&frame->payload);
    out->hash.now = out->hash.older = hash_options(L, &found, &out->input, -1);
    if (soc_send_input_has(&out->input, SOC_MESSAGE_FIELD_TIMEOUT_MS))
        out->hash.older = hash_options(L, &found, &out->input, out->input.timeout_ms);
    soc_send_input_settle(&out->input, soc_host_clock(script->host));
    return rc;
}

#include "script/bindings/send_options.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/clock.h"
#include "kernel/refusal.h"
#include "lualib/lua_flat.h"
#include "lualib/lua_json.h"
#include "script/turns/message.h"

enum option {
    OPTION_TO,
    OPTION_PAYLOAD,
    OPTION_TYPE,
    OPTION_PRIORITY,
    OPTION_TTL,
    OPTION_ACK,
    OPTION_DELAY,
    OPTION_DELIVER_AT,
    OPTION_DEADLINE,
    OPTION_TASK_ID,
    OPTION_CORRELATION_ID,
    OPTION_DEDUPE_KEY,
    OPTION_TRACEPARENT,
    OPTION_TIMEOUT,
    OPTION_IGNORED,
};

static const struct {
    const char *name;
    enum option option;
} option_names[] = {
    {"to", OPTION_TO},
    {"payload", OPTION_PAYLOAD},
    {"type", OPTION_TYPE},
    {"priority", OPTION_PRIORITY},
    {"ttl_seconds", OPTION_TTL},
    {"requires_ack", OPTION_ACK},
    {"delay_ms", OPTION_DELAY},
    {"deliver_at", OPTION_DELIVER_AT},
    {"deadline", OPTION_DEADLINE},
    {"task_id", OPTION_TASK_ID},
    {"correlation_id", OPTION_CORRELATION_ID},
    {"dedupe_key", OPTION_DEDUPE_KEY},
    {"traceparent", OPTION_TRACEPARENT},
    {"timeout_ms", OPTION_TIMEOUT},
    {"content", OPTION_PAYLOAD},
    {"taskId", OPTION_TASK_ID},
    {"from", OPTION_IGNORED}, /* the host writes it; a caller's own counts for nothing */
};

#define TO_BYTES_MAX (2 * SOC_ID_BYTES_MAX + 1) /* agent@host */

#define OPTION_COUNT ((int)(sizeof(option_names) / sizeof(option_names[0])))

/* Returns the place in option_names of the option whose name is at `index`, -1 if
 * there is none: a name with a NUL in it is more than C sees of it. */
static int find_option(lua_State *L, int index)
{
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING)
        return -1;
    const char *name = lua_tolstring(L, index, &length);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(name, option_names[i].name) == 0)
            return strlen(name) == length ? i : -1;
    return -1;
}

static int wrong(lua_State *L, const char *name, const char *expected)
{
    return luaL_error(L, "option '%s': %s expected, got %s", name, expected, luaL_typename(L, -1));
}

static struct soc_slice read_text(lua_State *L, const char *name, size_t length_max)
{
    size_t length;
    if (lua_type(L, -1) != LUA_TSTRING)
        wrong(L, name, "a string");
    const char *text = lua_tolstring(L, -1, &length);
    if (length > length_max)
        luaL_error(L, "option '%s': at most %d bytes expected", name, (int)length_max);
    return soc_slice(text, length);
}

/* A text that is kept: it stands in envelopes, which are JSON. */
static struct soc_slice read_key(lua_State *L, const char *name)
{
    struct soc_slice key = read_text(L, name, SOC_KEY_BYTES_MAX);
    if (!soc_is_text(key))
        luaL_error(L, "option '%s': UTF-8 without NUL expected", name);
    return key;
}

static int64_t read_ms(lua_State *L, const char *name, double scale)
{
    double number = lua_tonumber(L, -1) * scale;
    if (lua_type(L, -1) != LUA_TNUMBER || !(number >= 0 && number <= 1e14))
        luaL_error(L, "option '%s': a number from 0 to 10^14 expected", name);
    return llround(number);
}

/* A time: RFC 3339, or ms since 1970. */
static int64_t read_time(lua_State *L, const char *name)
{
    int64_t time_ms;
    if (lua_type(L, -1) == LUA_TNUMBER)
        return read_ms(L, name, 1);
    if (!soc_time_parse(read_text(L, name, SOC_KEY_BYTES_MAX), &time_ms))
        luaL_error(L, "option '%s': an RFC 3339 time or ms since 1970 expected", name);
    return time_ms;
}

int soc_payload_encode(lua_State *L, struct soc_script *script, int index)
{
    struct soc_buf *out = &script->payload;
    struct soc_detail detail;
    out->length = 0;
    if (lua_type(L, index) == LUA_TSTRING) {
        size_t length;
        const char *text = lua_tolstring(L, index, &length);
        if (soc_utf8_fault(soc_slice(text, length)) >= 0)
            return soc_refuse(&script->error, SOC_EBADMESSAGE, "the payload is not UTF-8", NULL,
                              (struct soc_slice){0});
        soc_buf_put_byte(out, '{');
        soc_json_put_text_member(out, "text", soc_slice(text, length));
        soc_buf_put_byte(out, '}');
        return SOC_OK;
    }
    if (lua_isnoneornil(L, index) || soc_lua_is_null(L, index))
        return soc_refuse(&script->error, SOC_ENOPAYLOAD, NULL, NULL, (struct soc_slice){0});
    struct soc_flat flat = {0};
    if (soc_flat_encode(L, script->shapes, index, SOC_PAYLOAD_BYTES_MAX, out, &flat))
        return SOC_OK;
    int rc = soc_lua_json_encode(L, index, "payload", SOC_PAYLOAD_BYTES_MAX, out, &detail);
    if (rc < 0)
        return soc_refuse(&script->error, rc == SOC_ETOOLARGE ? rc : SOC_EBADMESSAGE, detail.text,
                          NULL, (struct soc_slice){0});
    return SOC_OK;
}

const char *const *soc_payload_envelope_names(void)
{
    static const char *const names[] = {"message_type", "messageType", "task_id",
                                        "priority",     "deadline",    NULL};
    return names;
}

/* Tells whether the payload at `index` holds nothing of the envelope, which is
 * quicker asked of the table than of its JSON. */
static bool is_bare(lua_State *L, int index)
{
    const char *const *names = soc_payload_envelope_names();
    if (lua_type(L, index) != LUA_TTABLE)
        return true;
    int top = lua_gettop(L);
    int i = 0;
    luaL_checkstack(L, 6, NULL);
    while (names[i] != NULL && soc_raw_field(L, index, names[i]) == LUA_TNIL)
        i++;
    lua_settop(L, top);
    return names[i] == NULL;
}

static void read_timing(lua_State *L, const char *name, enum option option,
                        struct soc_send_options *out)
{
    struct soc_send *send = &out->send;
    switch (option) {
    case OPTION_TTL:
        send->ttl_ms = read_ms(L, name, 1000);
        if (send->ttl_ms == 0)
            luaL_error(L, "option 'ttl_seconds': more than 0 expected");
        break;
    case OPTION_DELAY:
        out->delay_ms = read_ms(L, name, 1);
        out->has_delay = true;
        break;
    case OPTION_DELIVER_AT: /* stands behind delay_ms in option_names, so is read after it */
        if (out->has_delay)
            luaL_error(L, "give delay_ms or deliver_at, not both");
        send->deliver_at_ms = read_time(L, name);
        break;
    case OPTION_DEADLINE:
        send->deadline_ms = read_time(L, name);
        break;
    default:
        out->timeout_ms = read_ms(L, name, 1);
        break;
    }
}

/* A list of receivers stays on the stack; every element must be an id. */
static void read_list(lua_State *L, struct soc_send_options *out)
{
    out->to_index = lua_gettop(L);
    lua_Unsigned count = lua_rawlen(L, out->to_index);
    if (count == 0 || count > SOC_RECEIVERS_MAX)
        luaL_error(L, "option 'to': a list of 1 to %d ids expected", SOC_RECEIVERS_MAX);
    for (lua_Unsigned i = 1; i <= count; i++) {
        if (lua_rawgeti(L, out->to_index, (lua_Integer)i) != LUA_TSTRING)
            luaL_error(L, "option 'to': a list of ids expected");
        read_text(L, "to", TO_BYTES_MAX);
        lua_pop(L, 1);
    }
}

static void read_option(lua_State *L, const char *name, enum option option,
                        struct soc_send_options *out)
{
    struct soc_send *send = &out->send;
    switch (option) {
    case OPTION_TO:
        if (lua_type(L, -1) == LUA_TTABLE)
            read_list(L, out);
        else
            send->to = read_text(L, name, TO_BYTES_MAX);
        break;
    case OPTION_TYPE:
        send->type = read_text(L, name, SOC_KEY_BYTES_MAX);
        break;
    case OPTION_PRIORITY:
        if (!soc_priority_parse(read_text(L, name, SOC_KEY_BYTES_MAX), &send->priority))
            luaL_error(L, "option 'priority': urgent, high, normal, low or P0 to P3 expected");
        send->has_priority = true;
        break;
    case OPTION_ACK:
        if (!lua_isboolean(L, -1))
            wrong(L, name, "a boolean");
        send->requires_ack = lua_toboolean(L, -1);
        send->has_requires_ack = true;
        break;
    case OPTION_TASK_ID:
        if (send->texts[SOC_TEXT_TASK_ID].data != NULL)
            luaL_error(L, "give task_id or taskId, not both");
        send->texts[SOC_TEXT_TASK_ID] = read_text(L, name, SOC_ID_BYTES_MAX);
        break;
    case OPTION_CORRELATION_ID:
        send->texts[SOC_TEXT_CORRELATION_ID] = read_key(L, name);
        break;
    case OPTION_DEDUPE_KEY:
        send->texts[SOC_TEXT_DEDUPE_KEY] = read_key(L, name);
        break;
    case OPTION_TRACEPARENT:
        send->texts[SOC_TEXT_TRACEPARENT] = read_key(L, name);
        break;
    case OPTION_PAYLOAD:
    case OPTION_IGNORED:
        break;
    default:
        read_timing(L, name, option, out);
        break;
    }
}

/* Hash of all that was said, as it was said: a delay, not the time it means.
 * Most sends say only to whom and what. */
static uint64_t hash_options(lua_State *L, const struct soc_script *script,
                             const struct soc_send_options *options)
{
    const struct soc_send *send = &options->send;
    uint64_t hash = soc_hash(script->payload.data, script->payload.length, 0);
    hash = soc_hash(send->to.data, send->to.length, hash);
    if (options->has_more) {
        const int64_t numbers[] = {send->has_priority ? (int64_t)send->priority : -1,
                                   send->has_requires_ack ? 2 - send->requires_ack : 0,
                                   send->ttl_ms,
                                   send->deliver_at_ms,
                                   send->deadline_ms,
                                   options->delay_ms,
                                   options->timeout_ms};
        hash = soc_hash(numbers, sizeof(numbers), hash);
        hash = soc_hash(send->type.data, send->type.length, hash);
        for (int i = 0; i < SOC_TEXT_COUNT; i++)
            hash = soc_hash(send->texts[i].data, send->texts[i].length, hash + (uint64_t)i);
    }
    for (lua_Integer i = 1; options->to_index > 0; i++) {
        size_t length;
        lua_rawgeti(L, options->to_index, i);
        const char *to = lua_tolstring(L, -1, &length);
        lua_pop(L, 1);
        if (to == NULL)
            break;
        hash = soc_hash(to, length, hash);
    }
    return hash;
}

/* Puts the values of the options that the table holds on the stack and tells where,
 * by their places in option_names. Returns the bits of the places that are filled. */
static uint32_t find_options(lua_State *L, int index, int slots[OPTION_COUNT])
{
    static const char *const known[] = {
        "to",         "payload",    "type",     "priority", "ttl_seconds",    "requires_ack",
        "delay_ms",   "deliver_at", "deadline", "task_id",  "correlation_id", "dedupe_key",
        "timeout_ms", "content",    "taskId",   "from",     "traceparent",    NULL};
    uint32_t mask = 0;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        int place = find_option(L, -2);
        if (place < 0)
            soc_check_names(L, index, "send", known); /* raises */
        slots[place] = lua_gettop(L);
        mask |= 1u << place;
        lua_pushvalue(L, -2);
    }
    return mask;
}

static int read_payload(lua_State *L, struct soc_script *script, struct soc_send_options *out)
{
    if (out->payload_index != 0)
        return luaL_error(L, "give payload or content, not both");
    out->payload_index = lua_gettop(L);
    struct soc_flat flat = {.wants_copy = out->to_index == 0 && soc_message_has_room(script, 0)};
    script->payload.length = 0;
    if (soc_flat_encode(L, script->shapes, out->payload_index, SOC_PAYLOAD_BYTES_MAX,
                        &script->payload, &flat)) {
        out->copy_index = flat.wants_copy ? lua_gettop(L) : 0;
        out->send.is_bare = !flat.is_watched;
        return SOC_OK;
    }
    int rc = soc_payload_encode(L, script, out->payload_index);
    out->send.is_bare = rc == SOC_OK && is_bare(L, out->payload_index);
    return rc;
}

int soc_send_options_read(lua_State *L, struct soc_script *script, int index,
                          struct soc_send_options *out)
{
    *out = (struct soc_send_options){.timeout_ms = -1};
    luaL_checktype(L, index, LUA_TTABLE);
    int rc = SOC_ENOPAYLOAD;
    int slots[OPTION_COUNT];
    luaL_checkstack(L, 3 * OPTION_COUNT + 4, NULL);
    for (uint32_t mask = find_options(L, index, slots); mask != 0; mask &= mask - 1) {
        int i = __builtin_ctz(mask);
        lua_pushvalue(L, slots[i]);
        enum option option = option_names[i].option;
        if (option == OPTION_PAYLOAD) {
            rc = read_payload(L, script, out);
        } else {
            read_option(L, option_names[i].name, option, out);
            out->has_more |= option != OPTION_TO;
        }
    }
    if (rc == SOC_ENOPAYLOAD)
        soc_refuse(&script->error, SOC_ENOPAYLOAD, NULL, NULL, (struct soc_slice){0});
    if (out->to_index == 0 && out->send.to.data == NULL)
        return luaL_error(L, "option 'to': an agent's id or a list of ids expected");
    out->send.payload = soc_buf_slice(&script->payload);
    out->hash = hash_options(L, script, out);
    if (out->delay_ms > 0)
        out->send.deliver_at_ms = soc_clock_now(soc_host_clock(script->host)) + out->delay_ms;
    return rc;
}

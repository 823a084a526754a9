/* The scripted door: outside agents, played by a test. */
#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "check/check.h"
#include "kernel/mail/envelope.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "lualib/lua_json.h"
#include "parts/outside/outside.h"
#include "script/bindings/send_options.h"
#include "script/turns/effect.h"
#include "world/world_state.h"

/* One message handed to an outside agent. */
struct soc_world_handed {
    struct soc_world_handed *next;
    char *agent;
    struct soc_buf json; /* the envelope and how it was delivered; or an ack */
    bool is_ack;
};

static void put_flag(struct soc_buf *out, const char *name, bool is_set)
{
    if (!is_set)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_text(out, "true");
}

static bool deliver(void *user, const struct soc_handout *handout)
{
    struct soc_world *world = user;
    struct soc_world_handed *handed = soc_alloc_zero(sizeof(*handed));
    if (world->check != NULL)
        soc_check_outside(world->check, soc_agent_id(handout->agent), handout->message->key,
                          (struct soc_slice){0}, soc_clock_now(soc_host_clock(world->host)));
    handed->agent = soc_copy_text(handout->agent->id, handout->agent->id_length);
    soc_envelope_put_json(&handed->json, handout->message);
    handed->json.length--;
    soc_json_put_name(&handed->json, "at");
    soc_json_put_integer(&handed->json, soc_clock_date(soc_host_clock(world->host)));
    put_flag(&handed->json, "again", handout->is_again);
    put_flag(&handed->json, "warning", handout->is_warning);
    put_flag(&handed->json, "broadcast", handout->is_broadcast);
    soc_buf_put_byte(&handed->json, '}');
    *(world->handed_last == NULL ? &world->handed_first : &world->handed_last->next) = handed;
    world->handed_last = handed;
    return true;
}

static void tell(void *user, const struct soc_door_news *news)
{
    struct soc_world *world = user;
    if (news->event != SOC_DOOR_ACK)
        return;
    struct soc_world_handed *handed = soc_alloc_zero(sizeof(*handed));
    handed->agent = soc_copy_text(news->agent->id, news->agent->id_length);
    handed->is_ack = true;
    soc_buf_put_slice(&handed->json, news->ack);
    *(world->handed_last == NULL ? &world->handed_first : &world->handed_last->next) = handed;
    world->handed_last = handed;
}

void soc_world_open_door(struct soc_world *world)
{
    assert(world->host != NULL);
    struct soc_door door = {.user = world, .deliver = deliver, .tell = tell};
    soc_outside_open(world->host, &door);
}

void soc_world_free_door(struct soc_world *world)
{
    while (world->handed_first != NULL) {
        struct soc_world_handed *next = world->handed_first->next;
        free(world->handed_first->agent);
        soc_buf_fini(&world->handed_first->json);
        free(world->handed_first);
        world->handed_first = next;
    }
    world->handed_last = NULL;
}

/* Lends the outside agent whose id is at 2, or NULL with the error in the frame. */
static struct soc_agent *check_outsider(lua_State *L, struct soc_world *world,
                                        struct soc_frame *frame)
{
    size_t length;
    const char *id = luaL_checklstring(L, 2, &length);
    struct soc_agent *agent = soc_outside_find(world->host, soc_slice(id, length));
    if (agent == NULL)
        soc_refuse(&frame->error, SOC_ENOAGENT, "there is no outside agent with that id", "agentId",
                   soc_slice(id, length));
    return agent;
}

static int push_result(lua_State *L, struct soc_world *world, const struct soc_frame *frame, int rc)
{
    soc_batch_seal(world->host);
    if (rc < 0)
        return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
    lua_pushboolean(L, true);
    return 1;
}

/* Pushes what was handed to the agent at 2 so far, oldest first: messages or acks; nil if it
 * lives inside. */
static int push_handed(lua_State *L, bool is_ack)
{
    struct soc_world *world = soc_world_check_ready(L);
    size_t length;
    const char *id = luaL_checklstring(L, 2, &length);
    struct soc_detail detail;
    lua_Integer count = 0;
    const struct soc_agent *agent = soc_registry_find_any(world->host, soc_slice(id, length));
    if (agent == NULL || !agent->is_external) {
        lua_pushnil(L);
        return 1;
    }
    lua_newtable(L);
    for (const struct soc_world_handed *each = world->handed_first; each != NULL;
         each = each->next) {
        if (each->is_ack != is_ack ||
            !soc_slice_equal(soc_slice(id, length), soc_slice_text(each->agent)))
            continue;
        if (soc_lua_json_decode(L, soc_buf_slice(&each->json), &detail) < 0)
            return luaL_error(L, "%s", detail.text);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* s:outside(id) -> envelopes, with `at` (ms) and, if so, `again`, `warning`, `broadcast` */
static int world_outside(lua_State *L)
{
    return push_handed(L, false);
}

/* s:acks(id) -> the acks it was given: { id, timestamp, ack_for, from, status } */
static int world_acks(lua_State *L)
{
    return push_handed(L, true);
}

/* Removes the field `name`, a text, from the table at `index` and returns it. */
static struct soc_slice take_text(lua_State *L, int index, const char *name)
{
    size_t length = 0;
    int type = soc_option_field(L, index, name);
    if (type == LUA_TNIL)
        return (struct soc_slice){0};
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    if (text == NULL || length > SOC_KEY_BYTES_MAX || !soc_option_is_text(soc_slice(text, length)))
        luaL_error(L, "option '%s': a text of at most %d bytes expected", name, SOC_KEY_BYTES_MAX);
    lua_pushnil(L);
    lua_setfield(L, index, name);
    return soc_slice(text, length);
}

/* Removes the field `position` = { name, value } from the table at `index` and returns
 * it. */
static struct soc_position take_position(lua_State *L, int index)
{
    static const char *const known[] = {"name", "value", NULL};
    struct soc_position position = {0};
    int type = soc_option_field(L, index, "position");
    if (type == LUA_TNIL)
        return position;
    if (type != LUA_TTABLE)
        luaL_error(L, "option 'position': a table { name, value } expected");
    int table = lua_gettop(L);
    soc_option_check_names(L, table, "position", known);
    lua_newtable(L);
    int copy = lua_gettop(L);
    for (int i = 0; i < 2; i++) {
        soc_option_field(L, table, known[i]);
        lua_setfield(L, copy, known[i]);
    }
    position.name = take_text(L, copy, "name");
    position.value = take_text(L, copy, "value");
    if (position.name.data == NULL || position.value.data == NULL)
        luaL_error(L, "option 'position': both name and value are needed");
    lua_pushnil(L);
    lua_setfield(L, index, "position");
    return position;
}

/* Replaces the table at `index` with a copy whose fields can be removed. */
static void copy_table(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_replace(L, index);
}

/* s:outside_send(id, { payload, to?, type?, external_id?, reply_to?, position?, … }) ->
 * { messageId } | nil, err: what the agent sends */
static int world_outside_send(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_frame *frame = soc_frame_open(world->script);
    struct soc_outside_mail mail = {0};
    struct soc_send_options options;
    lua_settop(L, 3);
    copy_table(L, 3);
    luaL_checkstack(L, 20, NULL);
    struct soc_position position = take_position(L, 3);
    int rc = soc_send_options_read(L, frame, 3, SOC_SEND_FROM_FILE, &options);
    if (options.input.receivers != NULL)
        return luaL_error(L, "s:outside_send takes one receiver");
    mail.send = options.input.send;
    mail.answers = options.input.reply_to;
    struct soc_agent *agent = rc < 0 ? NULL : check_outsider(L, world, frame);
    if (agent != NULL)
        soc_outside_accept(world->host, agent, &mail, position, &frame->error);
    soc_batch_seal(world->host);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
}

/* Reads an ack given as a table, in one of its two forms, into `id`. */
static enum soc_ack read_ack(lua_State *L, struct soc_frame *frame, int index, struct soc_buf *id)
{
    struct soc_detail detail;
    const char *reason = NULL;
    enum soc_ack ack = SOC_ACK_NONE;
    if (soc_lua_json_encode(L, index, "ack", SOC_BRIEF_BYTES_MAX, &frame->payload, &detail) < 0)
        reason = detail.text;
    else
        ack = soc_ack_read(soc_buf_slice(&frame->payload), id, NULL, &reason);
    if (ack == SOC_ACK_NONE)
        soc_refuse_format(&frame->error, reason, SOC_SLICE("ack"));
    return ack;
}

/* s:ack(id, message_id, status = "received") or s:ack(id, { ack_for | msg_id, status, … })
 * -> true | nil, err */
static int world_ack(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_frame *frame = soc_frame_open(world->script);
    struct soc_buf *id = &frame->scratch;
    enum soc_ack ack;
    lua_settop(L, 4);
    luaL_checkstring(L, 2);
    if (lua_type(L, 3) == LUA_TTABLE) {
        luaL_argcheck(L, lua_isnil(L, 4), 4, "give the status in the table");
        ack = read_ack(L, frame, 3, id);
        if (ack == SOC_ACK_NONE)
            return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
    } else {
        size_t length;
        const char *text = luaL_checklstring(L, 3, &length);
        soc_buf_put(id, text, length);
        ack = soc_ack_parse(soc_slice_text(luaL_optstring(L, 4, "received")));
        luaL_argcheck(L, ack != SOC_ACK_NONE, 4, "received or processed expected");
    }
    struct soc_agent *agent = check_outsider(L, world, frame);
    int rc = agent == NULL ? SOC_ENOAGENT
                           : soc_outside_ack(world->host, agent, soc_buf_slice(id), ack,
                                             (struct soc_position){0}, &frame->error);
    return push_result(L, world, frame, rc);
}

/* s:heartbeat(id) -> true | nil, err */
static int world_heartbeat(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_frame *frame = soc_frame_open(world->script);
    struct soc_agent *agent = check_outsider(L, world, frame);
    if (agent != NULL)
        soc_outside_hear(world->host, agent);
    return push_result(L, world, frame, agent == NULL ? SOC_ENOAGENT : SOC_OK);
}

/* s:position(name) -> last position of a door | nil */
static int world_position(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    size_t length;
    const char *name = luaL_checklstring(L, 2, &length);
    struct soc_slice value = soc_outside_position(world->host, soc_slice(name, length));
    if (value.data == NULL)
        lua_pushnil(L);
    else
        lua_pushlstring(L, value.data, value.length);
    return 1;
}

static const luaL_Reg outside_functions[] = {
    {"acks", world_acks}, {"outside", world_outside},     {"outside_send", world_outside_send},
    {"ack", world_ack},   {"heartbeat", world_heartbeat}, {"position", world_position},
    {NULL, NULL},
};

void soc_world_add_outside(lua_State *L)
{
    luaL_setfuncs(L, outside_functions, 0);
}

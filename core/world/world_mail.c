/* s:send and s:dispatch: messages into a world, from outside its turns. */
#include "base/limits.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/receivers.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "parts/human/human.h"
#include "script/bindings/bind.h"
#include "script/bindings/send_options.h"
#include "script/turns/effect.h"
#include "script/turns/payload.h"
#include "world/fleet.h"
#include "world/world_state.h"

/* Sends to a list of receivers in one turn. */
static int send_list(lua_State *L, struct soc_world *world, struct soc_frame *frame,
                     struct soc_agent *from, const struct soc_send_options *options)
{
    soc_gate_begin_as(world->host, from);
    int rc = soc_receivers_send(world->host, from, &options->input, &frame->answer);
    soc_gate_end_as(world->host, rc == SOC_OK);
    soc_batch_seal(world->host);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

static void take_answer(void *user, struct soc_slice answer)
{
    struct soc_buf *out = user;
    soc_buf_put_slice(out, answer);
}

/* Runs the society until `answer` holds something, nothing more can happen, or the time is
 * `until_ms`. */
static void drive(struct soc_world *world, const struct soc_buf *answer, int64_t until_ms)
{
    if (world->fleet != NULL) {
        soc_batch_seal(world->host);
        soc_fleet_run(NULL, world->fleet, world, until_ms, answer);
        return;
    }
    while (answer->length == 0) {
        if (soc_host_step(world->host))
            continue;
        soc_batch_seal(world->host);
        int64_t due_ms = soc_host_next_due(world->host);
        if (answer->length > 0 || soc_host_is_failed(world->host) || due_ms == 0 ||
            due_ms > until_ms)
            return;
        soc_clock_move(soc_host_clock(world->host), due_ms);
    }
}

/* Pushes what came of it; the turns that ran have used the frame. */
static int push_driven(lua_State *L, struct soc_world *world, struct soc_buf *answer)
{
    struct soc_frame *frame = soc_frame_open(world->script);
    if (answer->length == 0)
        soc_refuse(&frame->answer, SOC_EIO, NULL, NULL, (struct soc_slice){0});
    soc_buf_put_slice(&frame->answer, soc_buf_slice(answer));
    soc_buf_fini(answer);
    soc_world_complain_of_calls(L, world);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

/* Sends and runs the society until the ack has come or the time is over. */
static int send_acked(lua_State *L, struct soc_world *world, struct soc_frame *frame,
                      struct soc_agent *from, struct soc_send_input *input)
{
    struct soc_host *host = world->host;
    struct soc_message *message;
    struct soc_buf answer = {0};
    const struct soc_agent *to = soc_registry_receiver(host, input->send.to);
    int64_t timeout_ms = soc_registry_reply_timeout(
        to, soc_send_input_has(input, SOC_MESSAGE_FIELD_TIMEOUT_MS) ? input->timeout_ms : -1);
    input->send.requires_ack = input->send.has_requires_ack = true;
    int rc = soc_acks_check(to, input->wait_ack, &frame->error);
    if (rc < 0)
        return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
    soc_gate_begin_as(host, from);
    rc = soc_router_send(host, from, &input->send, &message, &frame->error);
    if (rc != SOC_OK) {
        soc_gate_end_as(host, false);
        if (rc > 0)
            soc_gate_refuse_duplicate(&frame->error);
        return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
    }
    uint64_t key = message->key;
    int64_t until_ms = message->time_ms + timeout_ms;
    soc_acks_open(host, message, input->wait_ack, take_answer, &answer);
    soc_gate_end_as(host, true);
    drive(world, &answer, until_ms);
    if (answer.length == 0 && !soc_host_is_failed(host)) {
        if (soc_clock_now(soc_host_clock(host)) < until_ms)
            soc_clock_move(soc_host_clock(host), until_ms);
        soc_acks_time_out(host, key, timeout_ms);
    }
    soc_batch_seal(host);
    return push_driven(L, world, &answer);
}

/* s:send(from, { to, payload, … }) -> { messageId } | { messageIds, … } | { messageId, ack }
 * | nil, err: as that agent */
static int world_send(lua_State *L)
{
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_frame *frame = soc_frame_open(world->script);
    size_t length;
    const char *from = luaL_checklstring(L, 2, &length);
    struct soc_send_options options;
    int rc =
        soc_send_options_read(L, frame, 3, SOC_SEND_FROM_AGENT | SOC_SEND_FROM_ACKED, &options);
    struct soc_agent *agent = soc_registry_find(world->host, soc_slice(from, length));
    if (rc == SOC_OK && agent == NULL)
        rc = soc_refuse(&frame->error, SOC_ENOAGENT, "the sender does not exist", "agentId",
                        soc_slice(from, length));
    if (rc == SOC_OK && options.input.receivers != NULL)
        return send_list(L, world, frame, agent, &options);
    if (rc == SOC_OK && options.input.wait_ack != SOC_ACK_NONE)
        return send_acked(L, world, frame, agent, &options.input);
    if (rc == SOC_OK)
        rc = soc_gate_send_as(world->host, agent, &options.input.send, &frame->error);
    soc_batch_seal(world->host);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
}

/* s:dispatch(id, payload, { timeout_ms? }?) -> the reply, sent by user; without an
 * id the gatekeeper chooses the receiver */
static int world_dispatch(lua_State *L)
{
    if (luaL_testudata(L, 1, SOC_WORLD) == NULL)
        return luaL_error(L, "dispatch is a method: call it as s:dispatch(id, payload)");
    struct soc_world *world = soc_world_check_ready(L);
    struct soc_frame *frame = soc_frame_open(world->script);
    size_t length;
    const char *to = luaL_optlstring(L, 2, NULL, &length);
    int64_t timeout_ms = -1;
    if (!lua_isnoneornil(L, 4)) {
        static const char *const known[] = {"timeout_ms", NULL};
        luaL_checktype(L, 4, LUA_TTABLE);
        soc_option_check_names(L, 4, "dispatch", known);
        timeout_ms = soc_option_timeout(L, 4, "dispatch", timeout_ms);
    }
    int rc = soc_payload_encode(L, world->script, 3, &frame->payload, NULL, &frame->error);
    struct soc_send send = {.payload = soc_buf_slice(&frame->payload)};
    struct soc_buf answer = {0};
    if (to != NULL)
        send.to = soc_slice(to, length);
    else if (rc == SOC_OK)
        soc_human_address(world->host, &send);
    if (rc == SOC_OK)
        rc = soc_gate_request_as(world->host, soc_registry_user(world->host), &send, timeout_ms,
                                 take_answer, &answer, &frame->error);
    if (rc < 0)
        return soc_effect_push_answer(L, soc_buf_slice(&frame->error));
    drive(world, &answer, INT64_MAX);
    return push_driven(L, world, &answer);
}

static const luaL_Reg functions[] = {
    {"send", world_send},
    {"dispatch", world_dispatch},
    {NULL, NULL},
};

void soc_world_add_mail(lua_State *L)
{
    luaL_setfuncs(L, functions, 0);
}

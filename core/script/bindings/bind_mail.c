/* Mail: send_message, request, reply, receive. */
#include "script/bindings/bind_mail.h"

#include <assert.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "env/ids.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/receivers.h"
#include "kernel/mail/requests.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/main.h"
#include "lualib/lua_copy.h"
#include "lualib/lua_fill.h"
#include "lualib/lua_json.h"
#include "parts/duplicates/duplicates.h"
#include "parts/group/broadcasts.h"
#include "script/bindings/bind.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"
#include "script/turns/message.h"
#include "script/turns/payload.h"
#include "script/turns/receipt.h"

static struct soc_agent *self(struct soc_script *script)
{
    return soc_gate_activation(script->host)->agent;
}

static int finish_sent(lua_State *L, struct soc_script *script, const struct soc_message *message)
{
    soc_gate_answer_sent(script->host, message);
    soc_receipt_push(L, script, message);
    return 1;
}

/* Keeps a copy of the payload for the receiver, if there is room. */
static void keep_copy(lua_State *L, struct soc_script *script,
                      const struct soc_send_options *options, struct soc_message *message)
{
    if (message->is_changed || !soc_message_has_room(script, message->payload_length))
        return;
    if (options->copy_index != 0)
        lua_pushvalue(L, options->copy_index);
    else if (lua_type(L, options->payload_index) == LUA_TTABLE)
        soc_lua_copy(L, options->payload_index);
    else
        return;
    soc_message_keep_copy(L, script, message);
}

/* Tells whether `send` is the response to the message being handled. */
static bool is_response(struct soc_script *script, const struct soc_send *send)
{
    const struct soc_message *message = soc_gate_activation(script->host)->message;
    struct soc_slice type = send->type;
    if (message == NULL || message->from == NULL || send->payload.length == 0 ||
        !soc_slice_equal(send->to, soc_agent_id(message->from)))
        return false;
    static const char *const names[] = {"message_type", "messageType"};
    for (int i = 0; i < 2 && type.data == NULL && !send->is_bare && send->payload.data[0] == '{';
         i++)
        type = soc_json_plain_string(soc_json_member(send->payload, names[i]));
    return type.data != NULL && soc_slice_equal(type, SOC_SLICE("response")) &&
           soc_request_is_named(message, send->payload);
}

static int refuse_self_wait(struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    soc_refusal_begin(&frame->error, SOC_EDEADLOCK, "an agent cannot wait for itself");
    soc_json_put_name(&frame->error, "cycle");
    soc_buf_put_byte(&frame->error, '[');
    soc_json_put_string(&frame->error, soc_agent_id(self(script)));
    soc_buf_put_byte(&frame->error, ']');
    return soc_refusal_end(&frame->error, SOC_EDEADLOCK);
}

/* Sends what the sender waits for; what `main` sent before it failed, and `to` still has, is
 * not sent again. */
static int send_once(struct soc_frame *frame, const struct soc_agent *to,
                     const struct soc_send *send, const struct soc_message **out)
{
    struct soc_script *script = frame->script;
    struct soc_message *sent;
    *out = soc_main_asked(script->host, to);
    if (*out != NULL)
        return SOC_OK;
    int rc = soc_router_send(script->host, self(script), send, &sent, &frame->error);
    if (rc != SOC_OK)
        return rc < 0 ? rc : soc_gate_refuse_duplicate(&frame->error);
    assert(sent->to != NULL); /* a broadcast was refused */
    *out = sent;
    return SOC_OK;
}

/* Sends and begins to wait for the ack. SOC_OK: the effect waits. */
static int send_and_wait(struct soc_frame *frame, struct soc_send_input *input)
{
    struct soc_script *script = frame->script;
    struct soc_send *send = &input->send;
    const struct soc_agent *to = soc_registry_receiver(script->host, send->to);
    int64_t timeout_ms = soc_registry_reply_timeout(
        to, soc_send_input_has(input, SOC_MESSAGE_FIELD_TIMEOUT_MS) ? input->timeout_ms : -1);
    send->requires_ack = send->has_requires_ack = true;
    if (input->wait_ack == SOC_ACK_PROCESSED && to == self(script))
        return refuse_self_wait(frame);
    const struct soc_message *message;
    int rc = soc_acks_check(to, input->wait_ack, &frame->error);
    if (rc == SOC_OK)
        rc = send_once(frame, to, send, &message);
    if (rc < 0)
        return rc;
    int64_t now_ms = soc_clock_now(soc_host_clock(script->host));
    soc_gate_wait(script->host, &(struct soc_wait){
                                    .kind = SOC_WAIT_ACK,
                                    .request_key = message->key,
                                    .request_ms = message->time_ms,
                                    .on = message->to,
                                    .ack = (uint8_t)input->wait_ack,
                                    .timeout_ms = timeout_ms,
                                    .deadline_ms = now_ms + (timeout_ms > 0 ? timeout_ms : 1),
                                });
    return SOC_OK;
}

/* agent:send_message{ to, payload, … } -> { messageId } | { messageIds, … } |
 * { messageId, ack } */
static int agent_send_message(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_send_options options;
    lua_settop(L, 2);
    struct soc_send *send = &options.input.send;
    int rc =
        soc_send_options_read(L, frame, 2, SOC_SEND_FROM_AGENT | SOC_SEND_FROM_ACKED, &options);
    int count;
    struct soc_activation *activation = soc_gate_activation(script->host);
    bool is_list = options.input.receivers != NULL;
    bool waits = options.input.wait_ack != SOC_ACK_NONE;
    if (waits)
        soc_effect_check_wait(L);
    bool is_reply = rc == SOC_OK && !is_list && is_response(script, send);
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_SEND, options.hash, &count) ==
        SOC_GATE_RECORDED) {
        activation->has_replied |= is_reply && count == 1;
        return count;
    }
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    if (waits) {
        rc = send_and_wait(frame, &options.input);
        activation->has_replied |= is_reply && rc == SOC_OK;
        return rc < 0 ? soc_effect_finish(L, frame, rc) : soc_effect_yield(L);
    }
    if (is_list) {
        soc_receivers_send(script->host, self(script), &options.input, &frame->answer);
        return soc_effect_end(L, script, soc_buf_slice(&frame->answer));
    }
    struct soc_message *message;
    rc = soc_router_send(script->host, self(script), send, &message, &frame->error);
    if (rc > 0) { /* it was sent before */
        activation->has_replied |= is_reply;
        soc_buf_put_slice(&frame->answer, soc_buf_slice(&frame->error));
        return soc_effect_finish(L, frame, SOC_OK);
    }
    if (rc == SOC_OK && message->flags & SOC_MESSAGE_IS_BROADCAST)
        soc_gate_put_receipt(script->host, message, &frame->answer);
    if (rc < 0 || message->flags & SOC_MESSAGE_IS_BROADCAST)
        return soc_effect_finish(L, frame, rc);
    activation->has_replied |= is_reply;
    keep_copy(L, script, &options, message);
    return finish_sent(L, script, message);
}

int soc_bind_mail_request(struct soc_frame *frame, struct soc_send *send, int64_t timeout_ms)
{
    struct soc_script *script = frame->script;
    assert(send->payload.length > 0);
    send->wants_reply = true;
    struct soc_agent *to = soc_registry_receiver(script->host, send->to);
    timeout_ms = soc_registry_reply_timeout(to, timeout_ms);
    if (to == self(script))
        return refuse_self_wait(frame);
    const struct soc_message *message;
    int rc = send_once(frame, to, send, &message);
    if (rc < 0)
        return rc;
    struct soc_wait wait = {
        .kind = SOC_WAIT_REPLY,
        .request_key = message->key,
        .request_ms = message->time_ms,
        .on = message->to,
        .timeout_ms = timeout_ms,
        .deadline_ms =
            soc_clock_now(soc_host_clock(script->host)) + (timeout_ms > 0 ? timeout_ms : 1),
    };
    soc_text_set(&wait.correlation_id, soc_message_text(message, SOC_TEXT_CORRELATION_ID));
    soc_gate_wait(script->host, &wait);
    return SOC_OK;
}

/* agent:request{ to, payload, type?, timeout_ms? } -> the reply message */
static int agent_request(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    soc_effect_check_wait(L);
    struct soc_send_options options;
    lua_settop(L, 2);
    int rc = soc_send_options_read(L, frame, 2, SOC_SEND_FROM_AGENT | SOC_SEND_FROM_WAIT, &options);
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_REQUEST, options.hash, &count) ==
        SOC_GATE_RECORDED)
        return count;
    if (rc == SOC_OK)
        rc = soc_bind_mail_request(frame, &options.input.send,
                                   soc_send_input_has(&options.input, SOC_MESSAGE_FIELD_TIMEOUT_MS)
                                       ? options.input.timeout_ms
                                       : -1);
    return rc < 0 ? soc_effect_finish(L, frame, rc) : soc_effect_yield(L);
}

/* Returns the id of the message to answer, given as a message or as a correlation id. */
static struct soc_slice answered_id(lua_State *L, struct soc_script *script, int index,
                                    char id[SOC_MESSAGE_ID_BYTES])
{
    size_t length;
    uint64_t key;
    if (lua_type(L, index) == LUA_TTABLE && soc_message_key_of(L, index, &key)) {
        const struct soc_message *held = soc_gate_find_key(script->host, key);
        if (held != NULL) {
            soc_envelope_id(id, held);
            return soc_slice(id, SOC_MESSAGE_ID_BYTES);
        }
    }
    if (lua_type(L, index) == LUA_TTABLE) {
        soc_lua_fill(L, index);
        soc_option_field(L, index, "id");
        lua_replace(L, index);
    }
    if (lua_type(L, index) != LUA_TSTRING)
        luaL_argerror(L, index, "a message or a correlation id expected");
    const char *text = lua_tolstring(L, index, &length);
    return soc_slice(text, length);
}

/* Reads the options of a reply. */
static struct soc_send reply_options(lua_State *L, const struct soc_script *script, int index)
{
    struct soc_send_input input = {0};
    if (!lua_isnoneornil(L, index)) {
        luaL_checktype(L, index, LUA_TTABLE);
        soc_send_options_say(L, index, SOC_SEND_FROM_REPLY, &input);
        soc_send_input_settle(&input, soc_host_clock(script->host));
    }
    return input.send;
}

int soc_bind_mail_reply(lua_State *L, struct soc_frame *frame, enum soc_effect_kind kind, int index,
                        int rc, struct soc_send *send)
{
    struct soc_script *script = frame->script;
    char id_text[SOC_MESSAGE_ID_BYTES];
    assert(rc < 0 || send->payload.length > 0);
    struct soc_slice id = answered_id(L, script, index, id_text);
    uint64_t hash =
        soc_hash(id.data, id.length, soc_hash(send->payload.data, send->payload.length, 0));
    struct soc_activation *activation = soc_gate_activation(script->host);
    const struct soc_message *own = activation->message;
    bool is_own = own != NULL && soc_envelope_is_id(id, own);
    int count;
    if (soc_effect_begin(L, script, kind, hash, &count) == SOC_GATE_RECORDED) {
        activation->has_replied |= is_own && count == 1;
        return count;
    }
    struct soc_message *message;
    if (rc == SOC_OK)
        rc = soc_gate_address_reply(script->host, id, send, &frame->error);
    if (rc == SOC_OK)
        rc = soc_router_send(script->host, activation->agent, send, &message, &frame->error);
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    activation->has_replied |= is_own;
    return finish_sent(L, script, message);
}

/* agent:reply(message, payload, { type?, priority?, ttl_seconds?, delay_ms? }?)
 * -> { messageId } */
static int agent_reply(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    lua_settop(L, 4);
    struct soc_send send = reply_options(L, script, 4);
    int rc = soc_payload_encode(L, script, 3, &frame->payload, NULL, &frame->error);
    send.payload = soc_buf_slice(&frame->payload);
    return soc_bind_mail_reply(L, frame, SOC_EFFECT_REPLY, 2, rc, &send);
}

/* The checked arguments of receive{ from?, type?, timeout_ms? }. */
struct receive_options {
    struct soc_slice from;
    struct soc_slice type;
    int64_t timeout_ms; /* -1: for ever */
};

static struct soc_slice read_receive_text(lua_State *L, const char *name)
{
    size_t length;
    if (soc_option_field(L, 2, name) == LUA_TNIL)
        return (struct soc_slice){0};
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "receive: '%s' must be a string, got %s", name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    struct soc_slice agent;
    struct soc_slice host;
    bool is_address =
        strcmp(name, "from") == 0 && soc_id_divide(soc_slice(text, length), &agent, &host);
    if (!is_address && !soc_id_is_valid(soc_slice(text, length)))
        luaL_error(L, "receive: '%s' is not an id", name);
    return soc_slice(text, length);
}

static void read_receive(lua_State *L, struct receive_options *options)
{
    static const char *const known[] = {"from", "type", "timeout_ms", NULL};
    if (lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        lua_newtable(L);
    }
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    soc_option_check_names(L, 2, "receive", known);
    options->from = read_receive_text(L, "from");
    options->type = read_receive_text(L, "type");
    options->timeout_ms = soc_option_timeout(L, 2, "receive", -1);
}

/* Takes a queued message or begins to wait. Returns SOC_OK with the answer, 1 if it
 * waits, or an error. */
static int begin_receive(struct soc_frame *frame, const struct receive_options *options)
{
    struct soc_script *script = frame->script;
    struct soc_wait wait = {.kind = SOC_WAIT_RECEIVE};
    if (options->from.data != NULL) {
        wait.on = soc_registry_receiver(script->host, options->from);
        if (wait.on == NULL)
            return soc_refuse(&frame->error, SOC_ENOAGENT, NULL, "agentId", options->from);
    }
    if (options->type.data != NULL)
        wait.type = soc_gate_type(script->host, options->type);
    struct soc_message *message =
        soc_gate_take(script->host, (struct soc_mail_filter){wait.on, wait.type});
    if (message != NULL) {
        soc_buf_put_byte(&frame->answer, '[');
        soc_envelope_put_script_json(&frame->answer, message);
        soc_buf_put_byte(&frame->answer, ']');
        return SOC_OK;
    }
    if (wait.on == self(script) &&
        !soc_gate_is_coming(script->host, (struct soc_mail_filter){wait.on, wait.type}))
        return refuse_self_wait(frame);
    if (wait.on != NULL && wait.on->is_ended &&
        !soc_gate_is_coming(script->host, (struct soc_mail_filter){wait.on, wait.type}))
        return soc_refuse(&frame->error, SOC_ESTOPPED, NULL, "agentId", soc_agent_id(wait.on));
    if (options->timeout_ms >= 0) {
        wait.timeout_ms = options->timeout_ms;
        wait.deadline_ms = soc_clock_now(soc_host_clock(script->host)) +
                           (wait.timeout_ms > 0 ? wait.timeout_ms : 1);
    }
    soc_gate_wait(script->host, &wait);
    return 1;
}

/* agent:receive{ from?, type?, timeout_ms? } -> the next message that fits */
static int agent_receive(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct receive_options options;
    soc_effect_check_wait(L);
    read_receive(L, &options);
    struct soc_effect_hash hash;
    hash.now = soc_hash(options.from.data, options.from.length, 0);
    hash.now = soc_hash(options.type.data, options.type.length, hash.now);
    hash.older = soc_hash(&options.timeout_ms, sizeof(options.timeout_ms), hash.now);
    int count;
    if (soc_effect_begin_timed(L, script, SOC_EFFECT_RECEIVE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    int rc = begin_receive(frame, &options);
    return rc > 0 ? soc_effect_yield(L) : soc_effect_finish(L, frame, rc);
}

static const luaL_Reg mail_functions[] = {
    {"send_message", agent_send_message},
    {"request", agent_request},
    {"reply", agent_reply},
    {"receive", agent_receive},
    {NULL, NULL},
};

void soc_bind_mail(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, mail_functions);
}

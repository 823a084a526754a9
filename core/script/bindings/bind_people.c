/* People: roles, spawning and contacts. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "kernel/look.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/router.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/turn.h"
#include "lualib/lua_copy.h"
#include "lualib/lua_json.h"
#include "parts/contacts/book.h"
#include "parts/hosts/hosts.h"
#include "script/answers/answers.h"
#include "script/answers/context.h"
#include "script/bindings/bind.h"
#include "script/bindings/roles.h"
#include "script/bindings/send_options.h"
#include "script/calls/grants.h"
#include "script/policies/policy_set.h"
#include "script/turns/effect.h"
#include "script/turns/handle.h"
#include "script/turns/payload.h"

/* Logs the error object in frame->error. */
static int refuse_brief(struct soc_frame *frame)
{
    struct soc_script *script = frame->script;
    soc_log_event(soc_host_log(script->host), SOC_LOG_WARN,
                  soc_clock_now(soc_host_clock(script->host)), "invalid_task_brief",
                  soc_agent_id(soc_gate_activation(script->host)->agent),
                  soc_buf_slice(&frame->error));
    return SOC_EREFUSED;
}

/* The same for a fault that no policy has described. */
static int refuse_brief_for(struct soc_frame *frame, const char *reason)
{
    soc_refuse_named(&frame->error, "invalid_task_brief", reason);
    frame->error.length--;
    soc_buf_put_text(&frame->error, ",\"missing_fields\":[],\"details\":[");
    soc_json_put_string(&frame->error, soc_slice_text(reason));
    soc_buf_put_text(&frame->error, "]}");
    return refuse_brief(frame);
}

/* Refuses with the policy's second result, an error object or a sentence. */
static int refuse_by_policy(lua_State *L, struct soc_frame *frame)
{
    struct soc_detail detail;
    if (lua_type(L, -1) != LUA_TTABLE)
        return refuse_brief_for(frame, lua_isstring(L, -1) ? lua_tostring(L, -1)
                                                           : "the brief was refused");
    frame->error.length = 0;
    if (soc_lua_json_encode(L, -1, "error", SOC_BRIEF_BYTES_MAX, &frame->error, &detail) < 0)
        return refuse_brief_for(frame, detail.text);
    return refuse_brief(frame);
}

/* Turns empty objects into empty lists where a brief has lists: Lua cannot tell them
 * apart. */
static void list_lists(struct soc_frame *frame)
{
    static const char *const names[] = {"collaborators", "constraints", "references"};
    for (int i = 0; i < 3; i++)
        soc_lua_json_list(&frame->payload, names[i], &frame->scratch);
}

static int encode_brief(lua_State *L, struct soc_frame *frame, int index)
{
    struct soc_detail detail;
    frame->payload.length = 0;
    if (soc_lua_json_encode(L, index, "brief", SOC_BRIEF_BYTES_MAX, &frame->payload, &detail) < 0)
        return refuse_brief_for(frame, detail.text);
    list_lists(frame);
    return SOC_OK;
}

/* Checks the brief at `index` and encodes what the policy made of it. The policy gets a
 * copy, without metatables whose functions could act inside it. */
static int check_brief(lua_State *L, struct soc_frame *frame, int index)
{
    struct soc_script *script = frame->script;
    int top = lua_gettop(L);
    bool is_encoded = lua_type(L, index) == LUA_TTABLE;
    if (is_encoded) {
        if (encode_brief(L, frame, index) < 0)
            return SOC_EREFUSED;
        soc_lua_copy(L, index);
        lua_replace(L, index);
    }
    int rc = SOC_OK;
    lua_pushvalue(L, index);
    if (soc_policy_set_ask(L, script, SOC_ASK_CHECK_BRIEF, 1)) {
        if (!lua_toboolean(L, -2))
            rc = refuse_by_policy(L, frame);
        else if (lua_type(L, -2) == LUA_TTABLE) { /* the policy made it whole */
            lua_copy(L, -2, index);
            is_encoded = false;
        }
    } else if (lua_type(L, index) != LUA_TTABLE) {
        rc = refuse_brief_for(frame, "a brief is a table");
    }
    lua_settop(L, top);
    return rc < 0 || is_encoded ? rc : encode_brief(L, frame, index);
}

struct spawn_options {
    struct soc_slice id;
    bool has_message;
    bool is_external;      /* it lives outside */
    bool is_isolated;      /* it runs in a worker process */
    struct soc_slice host; /* where; absent: the policy says */
    bool is_waiting;       /* for the end of the task that the message opens */
    int message_index;     /* on the stack */
    int64_t timeout_ms;    /* of that wait, -1: none */
};

static void read_spawn_options(lua_State *L, int index, struct spawn_options *options)
{
    static const char *const known[] = {"id",        "message",  "wait", "timeout_ms",
                                        "behaviour", "isolated", "host", NULL};
    size_t length;
    *options = (struct spawn_options){.timeout_ms = -1};
    if (lua_isnoneornil(L, index))
        return;
    luaL_checktype(L, index, LUA_TTABLE);
    soc_option_check_names(L, index, "spawn_agent", known);
    int type = soc_option_field(L, index, "id");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "spawn_agent: 'id' must be a string, got %s", luaL_typename(L, -1));
    if (type == LUA_TSTRING) {
        const char *id = lua_tolstring(L, -1, &length);
        options->id = soc_slice(id, length);
    }
    type = soc_option_field(L, index, "host");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "spawn_agent: 'host' must be a string, got %s", luaL_typename(L, -1));
    if (type == LUA_TSTRING) {
        const char *name = lua_tolstring(L, -1, &length);
        options->host = soc_slice(name, length);
    }
    if (soc_option_field(L, index, "behaviour") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "external") != 0)
            luaL_error(
                L,
                "spawn_agent: 'behaviour' can only be \"external\"; any other comes from the role");
        options->is_external = true;
    }
    type = soc_option_field(L, index, "isolated");
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "spawn_agent: 'isolated' must be a boolean, got %s", luaL_typename(L, -1));
    options->is_isolated = lua_toboolean(L, -1);
    type = soc_option_field(L, index, "wait");
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "spawn_agent: 'wait' must be a boolean, got %s", luaL_typename(L, -1));
    options->is_waiting = lua_toboolean(L, -1);
    if (soc_option_field(L, index, "timeout_ms") != LUA_TNIL) {
        lua_Number ms = lua_tonumber(L, -1);
        if (lua_type(L, -1) != LUA_TNUMBER || !(ms >= 0 && ms <= 1e14) ||
            (!options->is_waiting && options->host.data == NULL))
            luaL_error(L, "spawn_agent: 'timeout_ms' needs 'wait' or 'host' and must be a number "
                          "from 0 to 10^14");
        options->timeout_ms = (int64_t)ms;
    }
    options->has_message = soc_option_field(L, index, "message") != LUA_TNIL;
    if (options->is_waiting && !options->has_message)
        luaL_error(L, "spawn_agent: 'wait' needs 'message', which gives the task to wait for");
    options->message_index = lua_gettop(L);
}

/* Adds the child's brief to the payload of its task_assignment, unless the payload has or
 * is a brief. */
static void add_brief(struct soc_buf *payload, struct soc_slice brief)
{
    static const char *const own[] = {"task_brief", "taskBrief", "objective"};
    struct soc_slice object = soc_buf_slice(payload);
    bool has_own = soc_json_kind(object) != SOC_JSON_OBJECT;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        has_own = has_own || soc_json_member(object, own[i]).data != NULL;
    if (has_own)
        return;
    payload->length--;
    soc_json_put_name(payload, "task_brief");
    soc_buf_put_slice(payload, brief);
    soc_buf_put_byte(payload, '}');
}

/* Sends the first task_assignment, atomically with the spawn. `order`: the id of the order for a
 * birth elsewhere, which it names; absent: none. */
static int send_first(lua_State *L, struct soc_frame *frame, const struct spawn_options *options,
                      struct soc_agent *child, struct soc_slice brief, struct soc_slice order)
{
    struct soc_script *script = frame->script;
    int rc =
        soc_payload_encode(L, script, options->message_index, &frame->payload, NULL, &frame->error);
    if (rc == SOC_OK)
        add_brief(&frame->payload, brief);
    struct soc_send send = {
        .to = soc_agent_id(child),
        .type = SOC_SLICE("task_assignment"),
        .payload = soc_buf_slice(&frame->payload),
        .is_report = child->is_remote, /* not a contact yet */
    };
    send.texts[SOC_TEXT_FOREIGN_REPLY] = order;
    struct soc_message *message;
    if (rc == SOC_OK)
        rc = soc_router_send(script->host, soc_gate_activation(script->host)->agent, &send,
                             &message, &frame->error);
    if (rc == SOC_OK && options->is_waiting) {
        struct soc_wait wait = {
            .kind = SOC_WAIT_TASK,
            .request_key = message->key,
            .request_ms = message->time_ms,
            .on = child,
            .timeout_ms = options->timeout_ms,
        };
        if (options->timeout_ms >= 0)
            wait.deadline_ms = message->time_ms + (wait.timeout_ms > 0 ? wait.timeout_ms : 1);
        soc_gate_wait(script->host, &wait);
    }
    if (rc < 0) {
        frame->scratch.length = 0;
        soc_buf_put_slice(&frame->scratch, soc_buf_slice(&frame->error));
        soc_refuse_named(&frame->error, "spawn_failed",
                         "the first message was refused, so no agent was spawned");
        frame->error.length--;
        soc_json_put_name(&frame->error, "cause");
        soc_buf_put_slice(&frame->error, soc_buf_slice(&frame->scratch));
        soc_buf_put_byte(&frame->error, '}');
    }
    return rc;
}

/* Waits until the other host has answered the order. */
static void wait_for_birth(struct soc_script *script, const struct soc_message *order,
                           int64_t timeout_ms)
{
    struct soc_wait wait = {
        .kind = SOC_WAIT_REPLY,
        .request_key = order->key,
        .request_ms = order->time_ms,
        .on = order->to,
        .timeout_ms = timeout_ms < 0 ? SOC_REQUEST_TIMEOUT_MS : timeout_ms,
    };
    wait.deadline_ms = order->time_ms + (wait.timeout_ms > 0 ? wait.timeout_ms : 1);
    soc_gate_wait(script->host, &wait);
}

/* Spawns on the host that `frame->scratch` names, with the first message if there is one; then the
 * activation waits. */
static int spawn_elsewhere(lua_State *L, struct soc_frame *frame, struct soc_slice role,
                           const struct spawn_options *options)
{
    struct soc_host *host = frame->script->host;
    struct soc_message *order;
    struct soc_agent *child;
    struct soc_buf brief = {0};
    soc_buf_put_slice(&brief, soc_buf_slice(&frame->payload));
    struct soc_hosts_birth birth = {
        .host = soc_buf_slice(&frame->scratch),
        .role = role,
        .id = options->id.data == NULL ? frame->script->given_id : options->id,
        .brief = soc_buf_slice(&brief),
        .is_external = options->is_external,
        .is_isolated = options->is_isolated,
        .denied = soc_grants_denied(frame->script, NULL),
    };
    struct soc_turn_mark mark = soc_turn_mark(host);
    int rc = soc_hosts_spawn(host, &birth, &order, &child, &frame->error);
    if (rc == SOC_OK && options->has_message) {
        char id[SOC_MESSAGE_ID_BYTES];
        soc_envelope_id(id, order);
        rc = send_first(L, frame, options, child, soc_buf_slice(&brief), soc_slice(id, sizeof(id)));
    }
    if (rc < 0)
        soc_turn_rollback_to(host, mark);
    else if (!options->is_waiting)
        wait_for_birth(frame->script, order, options->timeout_ms);
    soc_buf_fini(&brief);
    return rc;
}

static int spawn(lua_State *L, struct soc_frame *frame, struct soc_slice role,
                 const struct spawn_options *options, struct soc_agent **out)
{
    struct soc_script *script = frame->script;
    struct soc_agent *child;
    struct soc_spawn draft = {
        .role = role,
        .id = options->id.data == NULL ? script->given_id : options->id,
        .brief = soc_buf_slice(&frame->payload),
        .is_external = options->is_external,
        .is_isolated = options->is_isolated,
        .denied = soc_grants_denied(script, soc_registry_find_role(script->host, role)),
    };
    struct soc_turn_mark mark = soc_turn_mark(script->host);
    int rc = soc_agents_spawn(script->host, &draft, &child, &frame->error);
    if (rc == SOC_OK && options->has_message) {
        rc = send_first(L, frame, options, child, soc_slice(child->brief, child->brief_length),
                        (struct soc_slice){0});
        if (rc < 0)
            soc_turn_rollback_to(script->host, mark);
    }
    if (rc < 0)
        return rc;
    assert(child->parent == soc_gate_activation(script->host)->agent);
    soc_buf_put_text(&frame->answer, "[{");
    soc_json_put_text_member(&frame->answer, "id", soc_agent_id(child));
    soc_json_put_text_member(&frame->answer, "roleId", soc_slice_text(child->role->id));
    soc_json_put_text_member(&frame->answer, "roleName", soc_slice_text(child->role->name));
    soc_buf_put_text(&frame->answer, "}]");
    *out = child;
    return SOC_OK;
}

/* Answers with the child. The record says the same and is not read back. */
static int finish_spawn(lua_State *L, struct soc_frame *frame, const struct soc_agent *child)
{
    struct soc_script *script = frame->script;
    assert(frame->answer.length > 0);
    soc_gate_answer(script->host, soc_buf_slice(&frame->answer));
    lua_createtable(L, 0, 3);
    lua_pushlstring(L, child->id, child->id_length);
    lua_setfield(L, -2, "id");
    lua_pushstring(L, child->role->id);
    lua_setfield(L, -2, "roleId");
    lua_pushstring(L, child->role->name);
    lua_setfield(L, -2, "roleName");
    return 1;
}

/* Hashes the arguments that are JSON, for calls that must not raise for the others. */
static uint64_t hash_loosely(lua_State *L, struct soc_frame *frame, int first)
{
    struct soc_detail detail;
    uint64_t hash = 0;
    for (int i = first; i <= lua_gettop(L); i++) {
        frame->scratch.length = 0;
        if (soc_lua_json_encode(L, i, "argument", SOC_JSON_BYTES_MAX, &frame->scratch, &detail) ==
            SOC_OK)
            hash = soc_hash(frame->scratch.data, frame->scratch.length, hash + 1);
    }
    return hash;
}

/* Says on which other host the agent is to be born; false: on this one. */
static bool place(lua_State *L, struct soc_frame *frame, struct soc_slice role,
                  const struct spawn_options *options, struct soc_buf *where)
{
    const char *own = soc_hosts_name(frame->script->host);
    if (options->host.data != NULL)
        soc_buf_put_slice(where, options->host);
    else if (!soc_answer_place(L, frame->script, role, soc_buf_slice(&frame->payload), where))
        return false;
    return own == NULL || !soc_slice_equal(soc_buf_slice(where), soc_slice_text(own));
}

/* agent:spawn_agent(role_id, task_brief, { id?, message?, wait?, timeout_ms?, behaviour?,
 * isolated?, host? }?) */
static int agent_spawn_agent(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    size_t length;
    const char *role = luaL_checklstring(L, 2, &length);
    lua_settop(L, 4);
    uint64_t hash = hash_loosely(L, frame, 2);
    struct spawn_options options;
    read_spawn_options(L, 4, &options);
    if (options.is_waiting)
        soc_effect_check_wait(L);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_SPAWN, hash, &count) == SOC_GATE_RECORDED)
        return count;
    struct soc_agent *child = NULL;
    int rc = check_brief(L, frame, 3);
    frame->scratch.length = 0;
    if (rc == SOC_OK && place(L, frame, soc_slice(role, length), &options, &frame->scratch)) {
        soc_effect_check_wait(L);
        rc = spawn_elsewhere(L, frame, soc_slice(role, length), &options);
        return rc < 0 ? soc_effect_finish(L, frame, rc) : soc_effect_yield(L);
    }
    if (rc == SOC_OK)
        rc = spawn(L, frame, soc_slice(role, length), &options, &child);
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    return options.is_waiting ? soc_effect_yield(L) : finish_spawn(L, frame, child);
}

/* agent:create_role{ id?, name, prompt, behaviour, interface_spec? } */
static int agent_create_role(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    lua_settop(L, 2);
    struct soc_role_draft draft;
    uint64_t hash = hash_loosely(L, frame, 2);
    int behaviour;
    int rc = soc_role_read(L, frame, 2, &draft, true, &behaviour);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_CREATE_ROLE, hash, &count) == SOC_GATE_RECORDED)
        return count;
    struct soc_role *role;
    if (rc == SOC_OK)
        rc = soc_agents_create_role(script->host, &draft, behaviour != LUA_NOREF, &role,
                                    &frame->error);
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    role->script_mark = behaviour;
    soc_buf_put_text(&frame->answer, "[{");
    soc_json_put_text_member(&frame->answer, "id", draft.id);
    soc_json_put_text_member(&frame->answer, "name", draft.name);
    soc_buf_put_text(&frame->answer, "}]");
    return soc_effect_finish(L, frame, SOC_OK);
}

static struct soc_agent *self(struct soc_script *script)
{
    return soc_gate_activation(script->host)->agent;
}

/* agent:contacts() -> list */
static int agent_contacts(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_CONTACTS, 0, &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_put_byte(&frame->answer, '[');
    soc_look_contacts(script->host, self(script), &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:context() -> text; a replay returns the recorded text */
static int agent_context(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    uint64_t hash = soc_hash("context", strlen("context"), SOC_EFFECT_LOOK);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_put_byte(&frame->answer, '[');
    soc_context_put(L, frame, self(script), &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, SOC_OK);
}

/* Begins an effect about one id and finds the agent. Returns the number of recorded
 * results, -1 if it is live. */
static int begin_about(lua_State *L, struct soc_script *script, enum soc_effect_kind kind,
                       struct soc_slice *id, struct soc_agent **peer)
{
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    int count;
    *id = soc_slice(text, length);
    if (soc_effect_begin(L, script, kind, soc_hash(text, length, 0), &count) == SOC_GATE_RECORDED)
        return count;
    *peer = soc_registry_find_any(script->host, *id);
    return -1;
}

/* agent:contact(id) -> entry */
static int agent_contact(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_slice id;
    struct soc_agent *peer;
    int count = begin_about(L, script, SOC_EFFECT_CONTACT, &id, &peer);
    if (count >= 0)
        return count;
    const struct soc_contact *contact =
        peer == NULL ? NULL : soc_contacts_find(&self(script)->contacts, peer);
    if (contact == NULL)
        return soc_effect_finish(
            L, frame, soc_refuse(&frame->error, SOC_ENOCONTACT, "no such contact", "to", id));
    soc_buf_put_byte(&frame->answer, '[');
    soc_look_contact(script->host, contact, &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:knows(id) -> { inRegistry, error? } */
static int agent_knows(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_slice id;
    struct soc_agent *peer;
    int count = begin_about(L, script, SOC_EFFECT_KNOWS, &id, &peer);
    if (count >= 0)
        return count;
    bool is_known = peer != NULL && soc_contacts_find(&self(script)->contacts, peer) != NULL;
    return soc_effect_end(
        L, script,
        is_known ? SOC_SLICE("[{\"inRegistry\":true}]")
                 : SOC_SLICE("[{\"error\":\"unknown_contact\",\"inRegistry\":false}]"));
}

/* agent:can_send(id) -> { allowed, error? } */
static int agent_can_send(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_slice id;
    struct soc_agent *peer;
    int count = begin_about(L, script, SOC_EFFECT_CAN_SEND, &id, &peer);
    if (count >= 0)
        return count;
    if (soc_slice_equal(id, SOC_SLICE("orchestrator")))
        peer = soc_registry_receiver(script->host, id);
    int rc = peer == NULL ? SOC_ENOAGENT
                          : soc_router_may_send(script->host, self(script), peer, &frame->error);
    soc_buf_printf(&frame->answer, "[{\"allowed\":%s", rc < 0 ? "false" : "true");
    if (rc < 0)
        soc_json_put_text_member(&frame->answer, "error", soc_slice_text(soc_error_name(rc)));
    soc_buf_put_text(&frame->answer, "}]");
    return soc_effect_finish(L, frame, SOC_OK);
}

/* Checks the argument of add_contact. An entry returned by `contact` may be passed as it
 * is, so its other fields are accepted and ignored. */
static void check_contact(lua_State *L, int index)
{
    static const char *const known[] = {"id",  "role",    "interfaceSpec", "source", "introducedBy",
                                        "via", "addedAt", "reason",        NULL};
    soc_option_check_names(L, index, "add_contact", known);
    if (soc_option_field(L, index, "id") != LUA_TSTRING)
        luaL_error(L, "add_contact: 'id' must be a string, got %s", luaL_typename(L, -1));
    int type = soc_option_field(L, index, "role");
    size_t length;
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "add_contact: 'role' must be a string, got %s", luaL_typename(L, -1));
    const char *role = type == LUA_TNIL ? NULL : lua_tolstring(L, -1, &length);
    if (role != NULL && !soc_option_is_text(soc_slice(role, length)))
        luaL_error(L, "add_contact: 'role' must be UTF-8 without NUL");
    type = soc_option_field(L, index, "interfaceSpec");
    if (type != LUA_TNIL && (type != LUA_TTABLE || lua_rawlen(L, -1) > 0))
        luaL_error(L, "add_contact: 'interfaceSpec' must be an object, got %s",
                   type == LUA_TTABLE ? "a list" : luaL_typename(L, -1));
    lua_settop(L, index);
}

/* agent:add_contact{ id, role?, interfaceSpec? } -> entry */
static int agent_add_contact(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_detail detail;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    check_contact(L, 2);
    if (soc_lua_json_encode(L, 2, "contact", SOC_BRIEF_BYTES_MAX, &frame->payload, &detail) < 0)
        return luaL_argerror(L, 2, detail.text);
    uint64_t hash = soc_hash(frame->payload.data, frame->payload.length, 0);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_ADD_CONTACT, hash, &count) == SOC_GATE_RECORDED)
        return count;
    struct soc_agent *peer;
    int rc = soc_book_add(script->host, soc_buf_slice(&frame->payload), &peer, &frame->error);
    if (rc < 0)
        return soc_effect_finish(L, frame, rc);
    soc_buf_put_byte(&frame->answer, '[');
    const struct soc_contact *contact = soc_contacts_find(&self(script)->contacts, peer);
    assert(contact != NULL);
    soc_look_contact(script->host, contact, &frame->answer);
    soc_buf_put_byte(&frame->answer, ']');
    return soc_effect_finish(L, frame, SOC_OK);
}

/* agent:remove_contact(id) -> { removed = true } */
static int agent_remove_contact(lua_State *L)
{
    struct soc_script *script = soc_handle_script(L);
    struct soc_frame *frame = soc_frame_open(script);
    struct soc_slice id;
    struct soc_agent *peer;
    int count = begin_about(L, script, SOC_EFFECT_REMOVE_CONTACT, &id, &peer);
    if (count >= 0)
        return count;
    int rc = soc_book_remove(script->host, id, &frame->error);
    soc_buf_put_text(&frame->answer, "[{\"removed\":true}]");
    return soc_effect_finish(L, frame, rc);
}

static const luaL_Reg people_functions[] = {
    {"spawn_agent", agent_spawn_agent},
    {"create_role", agent_create_role},
    {"contacts", agent_contacts},
    {"context", agent_context},
    {"contact", agent_contact},
    {"knows", agent_knows},
    {"can_send", agent_can_send},
    {"add_contact", agent_add_contact},
    {"remove_contact", agent_remove_contact},
    {NULL, NULL},
};

void soc_bind_people(lua_State *L, struct soc_script *script)
{
    soc_bind_methods(L, script, people_functions);
}

/* Society: the module of require("society"), and the methods of society.new. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/version.h"
#include "kernel/look.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "lualib/lua_json.h"
#include "lualib/lua_plain.h"
#include "parts/subjects.h"
#include "parts/tasks/tasks.h"
#include "script/answers/context.h"
#include "script/bindings/bind.h"
#include "script/bindings/roles.h"
#include "script/bindings/settings.h"
#include "script/policies/policy_set.h"
#include "script/policies/swap.h"
#include "script/turns/behaviour.h"
#include "script/turns/effect.h"

static void check_table(lua_State *L, int index, const char *call, const char *what)
{
    if (lua_type(L, index) != LUA_TTABLE)
        luaL_error(L, "society.%s: %s expected, got %s", call, what, luaL_typename(L, index));
}

static struct soc_script *enter_to_change(lua_State *L, const char *name)
{
    struct soc_script *script = soc_bind_enter(L);
    if (soc_gate_activation(script->host) != NULL)
        luaL_error(L,
                   "society.%s changes the society: it works while the script loads, not "
                   "inside a turn",
                   name);
    return script;
}

static int raise_refusal(lua_State *L, struct soc_frame *frame)
{
    struct soc_slice object = soc_buf_slice(&frame->error);
    frame->scratch.length = 0;
    soc_json_string(soc_json_member(object, "error"), &frame->scratch);
    soc_buf_put_text(&frame->scratch, ": ");
    soc_json_string(soc_json_member(object, "message"), &frame->scratch);
    return luaL_error(L, "%s", soc_buf_text(&frame->scratch));
}

/* society.role{ id?, name, prompt, behaviour, interface_spec? } */
static int society_role(lua_State *L)
{
    struct soc_script *script = enter_to_change(L, "role");
    struct soc_frame *frame = soc_frame_open(script);
    check_table(L, 1, "role", "a table");
    struct soc_role_draft draft;
    int behaviour;
    int rc = soc_role_read(L, frame, 1, &draft, false, &behaviour);
    draft.behaviour = (struct soc_slice){0};
    if (rc == SOC_OK)
        rc = soc_agents_define_role(script->host, &draft, behaviour != LUA_NOREF, &frame->error);
    if (rc < 0)
        return raise_refusal(L, frame);
    soc_registry_find_role(script->host, draft.id)->script_mark = behaviour;
    return 0;
}

/* society.root(behaviour) */
static int society_root(lua_State *L)
{
    struct soc_script *script = enter_to_change(L, "root");
    int behaviour = soc_behaviour_keep(L, script, 1);
    struct soc_role *role = soc_registry_find_role(script->host, SOC_SLICE("root"));
    role->script_mark = behaviour;
    if (lua_type(L, 1) == LUA_TSTRING)
        role->reply_timeout_ms = soc_behaviour_reply_timeout(soc_slice_text(lua_tostring(L, 1)));
    soc_agents_set_runnable(script->host, role);
    return 0;
}

/* society.main(function) */
static int society_main(lua_State *L)
{
    struct soc_script *script = enter_to_change(L, "main");
    if (lua_type(L, 1) != LUA_TFUNCTION)
        return luaL_error(L, "society.main: a function expected, got %s", luaL_typename(L, 1));
    lua_settop(L, 1);
    soc_behaviour_set_main(L, script);
    if (script->is_started)
        soc_host_begin_main(script->host);
    return 0;
}

/* society.policy(kind, name | function | table, settings?) */
static int society_policy(lua_State *L)
{
    struct soc_script *script = enter_to_change(L, "policy");
    struct soc_slice kind = soc_bind_check_text(L, "policy", "a kind");
    struct soc_swap swap = {.kind = kind.data, .by = "call"};
    struct soc_detail detail = {{0}};
    if (!soc_option_is_text(kind))
        return luaL_error(L, "society.policy: a kind is UTF-8 without NUL");
    if (!lua_isnoneornil(L, 3)) {
        check_table(L, 3, "policy", "a table of settings");
        if (soc_lua_plain(L, 3, "settings", &detail) < 0)
            return luaL_error(L, "society.policy: %s", detail.text);
        lua_replace(L, 3);
        swap.settings_index = 3;
    }
    soc_swap_read(L, 2, &swap);
    int rc = soc_swap_do(L, script, &swap, &detail);
    if (script->is_started)
        soc_batch_seal(script->host);
    return rc < 0 ? luaL_error(L, "%s", detail.text) : 0;
}

/* society.config{ … } */
static int society_config(lua_State *L)
{
    struct soc_script *script = enter_to_change(L, "config");
    check_table(L, 1, "config", "a table of settings");
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        const char *name = soc_option_name(L, "society.config");
        struct soc_detail detail;
        if (soc_settings_set(L, script, name, lua_gettop(L), &detail) < 0)
            return luaL_error(L, "society.config: %s", detail.text);
        lua_pop(L, 1);
    }
    return 0;
}

/* Fills frame->answer for look(), which is an effect inside a turn. Replay tells looks
 * apart by name and arguments. */
typedef void look_fn(lua_State *L, struct soc_frame *frame, const char *name);

static uint64_t hash_look(lua_State *L, struct soc_frame *frame, const char *name)
{
    return soc_hash(name, strlen(name), soc_effect_hash_arguments(L, frame, 1));
}

static int look(lua_State *L, struct soc_frame *frame, const char *name, look_fn *fill)
{
    struct soc_script *script = frame->script;
    int count;
    bool in_turn = soc_gate_activation(script->host) != NULL;
    if (!script->is_started)
        return luaL_error(L, "society.%s works once the society runs, not while it loads", name);
    if (in_turn && soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash_look(L, frame, name),
                                    &count) == SOC_GATE_RECORDED)
        return count;
    soc_buf_put_byte(&frame->answer, '[');
    fill(L, frame, name);
    soc_buf_put_byte(&frame->answer, ']');
    if (in_turn)
        return soc_effect_finish(L, frame, SOC_OK);
    return soc_effect_push_answer(L, soc_buf_slice(&frame->answer));
}

/* Answers a subject from memory. */
static void fill_subject(lua_State *L, struct soc_frame *frame, const char *name)
{
    const struct soc_operation *subject = soc_subjects_find(soc_slice_text(name));
    (void)L;
    assert(subject != NULL && subject->view->look != NULL);
    subject->view->look(frame->script->host, NULL, &frame->answer);
}

static void fill_stats(lua_State *L, struct soc_frame *frame, const char *name)
{
    (void)L, (void)name;
    soc_look_stats(frame->script->host, &frame->answer);
}

static struct soc_agent *named_agent(lua_State *L, struct soc_script *script)
{
    size_t length;
    const char *id = luaL_checklstring(L, 1, &length);
    return soc_registry_find_known(script->host, soc_slice(id, length));
}

static void fill_agent(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_script *script = frame->script;
    (void)name;
    const struct soc_agent *agent = named_agent(L, script);
    if (agent == NULL)
        soc_buf_put_text(&frame->answer, "null");
    else
        soc_look_agent(script->host, agent, &frame->answer);
}

static void fill_contacts(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_script *script = frame->script;
    (void)name;
    const struct soc_agent *agent = named_agent(L, script);
    if (agent == NULL)
        soc_buf_put_text(&frame->answer, "null");
    else
        soc_look_contacts(script->host, agent, &frame->answer);
}

static void fill_context(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_script *script = frame->script;
    (void)name;
    const struct soc_agent *agent = named_agent(L, script);
    if (agent == NULL)
        soc_buf_put_text(&frame->answer, "null");
    else
        soc_context_put(L, frame, agent, &frame->answer);
}

/* Takes rows queried outside a turn. Only a simulated society allows that; its journal
 * has no thread, so the answer arrives before the query returns. */
static void take_rows(int rc, struct soc_slice rows, void *user)
{
    struct soc_frame *frame = user;
    if (rc == SOC_OK)
        soc_buf_put_slice(&frame->answer, rows);
    else
        soc_buf_put_text(&frame->answer, "null");
}

static struct soc_slice filter_text(lua_State *L, const char *name)
{
    size_t length;
    if (lua_isnoneornil(L, 1))
        return (struct soc_slice){0};
    int type = soc_option_field(L, 1, name);
    if (type == LUA_TNIL)
        return (struct soc_slice){0};
    if (type != LUA_TSTRING)
        luaL_error(L, "filter '%s': a string expected, got %s", name, luaL_typename(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    return soc_slice(text, length);
}

static int64_t filter_time(lua_State *L, const char *name)
{
    int64_t time_ms = 0;
    size_t length;
    if (lua_isnoneornil(L, 1))
        return 0;
    int type = soc_option_field(L, 1, name);
    if (type == LUA_TNIL)
        return 0;
    lua_Number ms = lua_tonumber(L, -1);
    if (type == LUA_TNUMBER && ms >= 0 && ms <= 1e14)
        return (int64_t)ms;
    const char *text = type == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
    if (text == NULL || !soc_time_parse(soc_slice(text, length), &time_ms))
        luaL_error(L, "filter '%s': an RFC 3339 time or ms expected", name);
    return time_ms;
}

static int64_t filter_count(lua_State *L, const char *name)
{
    if (lua_isnoneornil(L, 1))
        return 0;
    int64_t count = soc_option_integer(L, 1, "filter", name, INT64_MAX);
    if (count < 1)
        luaL_error(L, "filter '%s': 1 or more expected", name);
    return count == INT64_MAX ? 0 : count;
}

/* A script gets all rows or the latest. */
#define PAGE (unsigned)(SOC_FILTER_AFTER | SOC_FILTER_BEFORE)

/* Raises for filters that the subject does not have. */
static void check_filters(lua_State *L, const struct soc_operation *subject)
{
    const char *known[SOC_FILTER_COUNT + 2] = {0};
    int count = 0;
    for (int i = 0; i < SOC_FILTER_COUNT; i++)
        if ((subject->takes & ~PAGE & 1u << i) != 0)
            known[count++] = soc_view_filters[i].name;
    if (subject->view->as_type != NULL)
        known[count++] = subject->view->as_type;
    if (lua_isnoneornil(L, 1))
        return;
    check_table(L, 1, subject->name, "a table of filters");
    soc_option_check_names(L, 1, subject->name, known);
}

void soc_bind_society_query(lua_State *L, const char *what, struct soc_query *query)
{
    const struct soc_operation *subject = soc_subjects_find(soc_slice_text(what));
    assert(subject != NULL && subject->view->is_stored);
    check_filters(L, subject);
    luaL_checkstack(L, 16, NULL);
    *query = (struct soc_query){
        .what = subject->name,
        .agent = filter_text(L, "agent"),
        .task = filter_text(L, "task"),
        .type = filter_text(L, "type"),
        .correlation_id = filter_text(L, "correlation_id"),
        .from = filter_text(L, "from"),
        .to = filter_text(L, "to"),
        .reason = filter_text(L, "reason"),
        .since_ms = filter_time(L, "since"),
        .until_ms = filter_time(L, "until"),
        .limit = filter_count(L, "limit"),
    };
    struct soc_slice type = {0};
    if (subject->view->as_type != NULL)
        type = filter_text(L, subject->view->as_type);
    if (type.data != NULL)
        query->type = type;
}

static void fill_queue(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_script *script = frame->script;
    (void)name;
    const struct soc_agent *agent = named_agent(L, script);
    if (agent == NULL)
        soc_buf_put_text(&frame->answer, "null");
    else
        soc_tasks_put_queue(script->host, agent, &frame->answer);
}

static void fill_load(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_script *script = frame->script;
    (void)name;
    const struct soc_agent *agent = named_agent(L, script);
    if (agent == NULL)
        soc_buf_put_text(&frame->answer, "null");
    else
        soc_tasks_put_load(script->host, agent, &frame->answer);
}

static void fill_rows(lua_State *L, struct soc_frame *frame, const char *name)
{
    struct soc_query query;
    size_t length = frame->answer.length;
    soc_bind_society_query(L, name, &query);
    soc_look_query(frame->script->host, &query, take_rows, frame);
    assert(frame->answer.length > length);
}

/* society.messages{…}, activity{…}, dead_letters{…}, tasks{…}: a turn waits for the rows,
 * because its own changes must be committed before the query. */
static int society_rows(lua_State *L)
{
    struct soc_script *script = soc_bind_enter(L);
    struct soc_frame *frame = soc_frame_open(script);
    const char *what = lua_tostring(L, lua_upvalueindex(2));
    if (soc_gate_activation(script->host) == NULL)
        return look(L, frame, what, fill_rows);
    soc_effect_check_wait(L);
    lua_settop(L, lua_isnoneornil(L, 1) ? 0 : 1);
    uint64_t hash = hash_look(L, frame, what);
    struct soc_query query;
    soc_bind_society_query(L, what, &query);
    int count;
    if (soc_effect_begin(L, script, SOC_EFFECT_LOOK, hash, &count) == SOC_GATE_RECORDED)
        return count;
    soc_look_ask(script->host, &query);
    return soc_effect_yield(L);
}

/* society.agents(), waits(), policies(), inbox() */
static int society_subject(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    return look(L, frame, lua_tostring(L, lua_upvalueindex(2)), fill_subject);
}

static int society_agent(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    soc_bind_check_text(L, "agent", "an agent's id");
    return look(L, frame, "agent", fill_agent);
}

static int society_contacts(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    soc_bind_check_text(L, "contacts", "an agent's id");
    return look(L, frame, "contacts", fill_contacts);
}

static int society_context(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    soc_bind_check_text(L, "context", "an agent's id");
    return look(L, frame, "context", fill_context);
}

static int society_stats(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    return look(L, frame, "stats", fill_stats);
}

static int society_queue(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    luaL_checkstring(L, 1);
    return look(L, frame, "queue", fill_queue);
}

static int society_load(lua_State *L)
{
    struct soc_frame *frame = soc_frame_open(soc_bind_enter(L));
    luaL_checkstring(L, 1);
    return look(L, frame, "load", fill_load);
}

/* Subjects (parts/subjects.h) answered from memory, and those queried from the store with
 * filters. */
static const char *const looked_at[] = {"agents", "waits", "policies", "inbox", NULL};
static const char *const asked_for[] = {"messages", "activity", "dead_letters", "tasks", NULL};

static const luaL_Reg society_functions[] = {
    {"role", society_role},         {"root", society_root},       {"main", society_main},
    {"policy", society_policy},     {"config", society_config},   {"agent", society_agent},
    {"contacts", society_contacts}, {"context", society_context}, {"queue", society_queue},
    {"load", society_load},         {"stats", society_stats},     {NULL, NULL},
};

/* Adds a function for each subject to the module on top, with the box and its name as
 * upvalues. */
static void add_subjects(lua_State *L, const struct soc_script *script, lua_CFunction function,
                         const char *const *names)
{
    for (; *names != NULL; names++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
        lua_pushstring(L, *names);
        lua_pushcclosure(L, function, 2);
        lua_setfield(L, -2, *names);
    }
}

void soc_bind_society(lua_State *L, struct soc_script *script)
{
    soc_bind_functions(L, script, society_functions);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->module_ref);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->box_ref);
    luaL_setfuncs(L, society_functions, 1);
    add_subjects(L, script, society_subject, looked_at);
    add_subjects(L, script, society_rows, asked_for);
    lua_pushliteral(L, SOC_VERSION);
    lua_setfield(L, -2, "version");
    lua_pop(L, 1);
}

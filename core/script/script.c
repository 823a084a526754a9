#include "script/script.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "lualib/lua_json.h"
#include "sandbox/sandbox.h"
#include "script/answers/answers.h"
#include "script/answers/presentation.h"
#include "script/bindings/bind.h"
#include "script/bindings/bind_agent.h"
#include "script/bindings/settings.h"
#include "script/calls/chat.h"
#include "script/calls/chat_keys.h"
#include "script/calls/chat_settings.h"
#include "script/calls/errand.h"
#include "script/calls/exchange.h"
#include "script/calls/keys.h"
#include "script/calls/outward.h"
#include "script/calls/secrets.h"
#include "script/calls/visit.h"
#include "script/history/recorder.h"
#include "script/policies/messages.h"
#include "script/policies/policy_log.h"
#include "script/policies/policy_names.h"
#include "script/policies/policy_set.h"
#include "script/policies/swap.h"
#include "script/turns/behaviour.h"
#include "script/turns/budget.h"
#include "script/turns/cell.h"
#include "script/turns/environments.h"
#include "script/turns/frame.h"
#include "script/turns/handle.h"
#include "script/turns/handout.h"
#include "script/turns/message.h"
#include "script/turns/payload.h"
#include "script/turns/receipt.h"
#include "script/turns/run.h"
#include "script/turns/seat.h"
#include "script/turns/thread.h"
#include "worker/workers.h"

void soc_script_push_box(lua_State *L)
{
    soc_box_push(L);
}

static int new_table_ref(lua_State *L)
{
    lua_newtable(L);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static char *copy_or_null(const char *text)
{
    return text == NULL ? NULL : soc_copy_text(text, strlen(text));
}

/* Runs protected: what it makes may exceed the memory a script is given. */
static int build(lua_State *L)
{
    struct soc_script *script = lua_touserdata(L, 1);
    struct soc_detail *detail = lua_touserdata(L, 2);
    struct soc_sandbox_gate gate;
    lua_settop(L, 0);
    script->methods_ref = new_table_ref(L);
    script->module_ref = new_table_ref(L);
    lua_pushcfunction(L, soc_lua_json_open); /* the array mark must exist */
    lua_call(L, 0, 0);
    soc_handle_open(L, script);
    soc_message_open(L, script);
    soc_receipt_open(L, script);
    soc_bind_agent(L, script);
    soc_bind_mail(L, script);
    soc_bind_people(L, script);
    soc_bind_introductions(L, script);
    soc_bind_endings(L, script);
    soc_bind_human(L, script);
    soc_bind_http(L, script);
    soc_bind_run_lua(L, script);
    soc_bind_chat(L, script);
    soc_bind_choose(L, script);
    soc_bind_group(L, script);
    soc_bind_tasks(L, script);
    soc_bind_delivery(L, script);
    soc_bind_society(L, script);
    soc_bind_orders(L, script);
    soc_bind_agent_fill_gate(script, &gate);
    soc_environments_open(L, script, &gate);
    soc_chat_settings_open(L, script);
    int rc = soc_policy_set_open(L, script, detail);
    if (rc == SOC_OK)
        rc = soc_messages_open(L, script, detail);
    lua_pushinteger(L, rc);
    return 1;
}

int soc_script_new(struct soc_script **out, const struct soc_script_options *options, int box_index,
                   struct soc_detail *detail)
{
    lua_State *L = options->L;
    assert(L != NULL && options->host != NULL && options->home != NULL);
    struct soc_script *script = soc_alloc_zero(sizeof(*script));
    script->L = L;
    script->active = L;
    script->host = options->host;
    script->is_simulated = options->loop == NULL;
    script->leaves_isolated = !script->is_simulated || options->app_dir != NULL;
    script->home = copy_or_null(options->home);
    script->app_dir = copy_or_null(options->app_dir);
    script->hooks = (struct soc_box_hooks){
        .push_text = soc_presentation_push_text,
        .renew_budget = soc_budget_renew,
        .look_at_budget = soc_budget_look,
        .history_start = soc_recorder_start,
        .history_turn = soc_recorder_turn,
    };
    soc_budget_open(script);
    soc_frame_init(script);
    soc_payload_open(script);
    soc_behaviour_open(script);
    soc_policy_log_open(script);
    soc_recorder_open(script);
    soc_settings_open(script);
    script->keys = soc_keys_new();
    soc_secrets_open(script);
    soc_exchange_open(script, options->loop);
    soc_visit_open(script);
    if (options->loop != NULL && options->program != NULL)
        script->workers = soc_workers_new(options->loop, options->program);
    soc_seat_open(script);
    soc_cell_open(script);
    soc_errand_open(script);
    soc_chat_open(script);
    script->box = lua_touserdata(L, box_index);
    assert(script->box != NULL && *script->box == NULL);
    *script->box = script;
    lua_pushvalue(L, box_index);
    script->box_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    detail->text[0] = '\0';
    lua_pushcfunction(L, build);
    lua_pushlightuserdata(L, script);
    lua_pushlightuserdata(L, detail);
    int rc = SOC_ESCRIPT;
    if (lua_pcall(L, 2, 1, 0) == LUA_OK)
        rc = (int)lua_tointeger(L, -1);
    else
        soc_fail(detail, rc, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    if (rc < 0) {
        soc_script_free(script);
        return rc;
    }
    struct soc_hooks hooks = {
        .user = script,
        .run = soc_run_turn,
        .drop = soc_run_drop,
        .put_where = soc_run_put_where,
        .may_send = soc_answer_may_send,
        .may_broadcast = soc_answer_may_broadcast,
        .forget = soc_message_forget,
        .retry_after = soc_answer_retry_after,
        .introduce = soc_answer_introduce,
        .takes_unsolicited = soc_answer_takes_unsolicited,
        .is_failed = soc_answer_is_failed,
        .is_adopted = soc_answer_is_adopted,
        .check_message = soc_messages_check,
        .route = soc_answer_route,
        .accepts = soc_answer_accepts,
        .put_context = soc_answer_context,
        .task_retry_after = soc_answer_task_retry,
        .task_limit = soc_answer_task_limit,
        .rung = soc_answer_rung,
        .victim = soc_answer_victim,
        .call = soc_outward_call,
        .call_due = soc_outward_due,
        .call_end = soc_outward_end,
    };
    soc_host_set_hooks(options->host, &hooks);
    *out = script;
    return SOC_OK;
}

void soc_script_free(struct soc_script *script)
{
    if (script == NULL)
        return;
    lua_State *L = script->L;
    assert(script->active == L && *script->box == script);
    soc_thread_free_all(script);
    soc_budget_close(script);
    soc_chat_fini(script);
    soc_errand_fini(script);
    soc_seat_fini(script);
    soc_cell_fini(script);
    soc_workers_free(script->workers);
    soc_visit_fini(script);
    soc_exchange_fini(script);
    soc_secrets_fini(script);
    soc_keys_free(script->keys);
    soc_chat_settings_fini(script);
    *script->box = NULL;
    const int refs[] = {script->env_ref,          script->module_ref,      script->methods_ref,
                        script->message_meta_ref, script->handle_meta_ref, script->receipt_meta_ref,
                        script->payload_name_ref, script->box_ref};
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
        if (refs[i] != 0)
            luaL_unref(L, LUA_REGISTRYINDEX, refs[i]);
    soc_environments_fini(L, script);
    soc_messages_fini(L, script);
    soc_policy_set_fini(L, script);
    soc_settings_fini(script);
    soc_recorder_fini(script);
    soc_policy_log_fini(script);
    soc_behaviour_fini(script);
    soc_payload_fini(script);
    soc_frame_fini(script);
    free(script->home);
    free(script->app_dir);
    soc_buf_fini(&script->arguments);
    soc_buf_fini(&script->handed);
    soc_buf_fini(&script->traceback);
    soc_buf_fini(&script->app);
    soc_buf_fini(&script->fatal);
    soc_buf_fini(&script->state);
    free(script);
}

bool soc_script_may_load(const struct soc_script *script)
{
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, script->env_ref);
    bool may = soc_sandbox_may_load(script->L, -1);
    lua_pop(script->L, 1);
    return may;
}

void soc_script_push_module(lua_State *L, int index)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, soc_box_script(L, index)->module_ref);
}

/* The texts a script gets as `...` are also its global `arg`. */
static void set_arg(lua_State *L, struct soc_script *script, const char *path, int argc,
                    char **argv)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    lua_createtable(L, argc, 1);
    lua_pushstring(L, path);
    lua_rawseti(L, -2, 0);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "arg");
    lua_pop(L, 1);
}

/* Converts an error value to a text. A message handler for lua_pcall. */
static int as_text(lua_State *L)
{
    if (soc_sandbox_fatal_value(L, 1)) {
        lua_pushliteral(L, "the script exceeded its budget of steps or memory while it loaded");
        return 1;
    }
    if (lua_tostring(L, 1) != NULL)
        return 1;
    if (luaL_callmeta(L, 1, "__tostring")) {
        if (lua_tostring(L, -1) != NULL)
            return 1;
        lua_pop(L, 1); /* no text after all */
    }
    if (lua_isnil(L, 1)) {
        lua_pushliteral(L, "the script raised nil");
        return 1;
    }
    struct soc_buf json = {0};
    struct soc_detail detail;
    if (soc_lua_json_encode(L, 1, "error", SOC_STATE_BYTES_MAX, &json, &detail) == SOC_OK)
        lua_pushfstring(L, "the script raised %s", soc_buf_text(&json));
    else
        lua_pushfstring(L, "the script raised a %s instead of a text", luaL_typename(L, 1));
    soc_buf_fini(&json);
    return 1;
}

static int run_freeze(lua_State *L)
{
    soc_environments_freeze(L, lua_touserdata(L, 1));
    return 0;
}

/* From now on no script can change a library for others. */
static int freeze(struct soc_script *script, struct soc_detail *detail)
{
    lua_State *L = script->L;
    lua_pushcfunction(L, run_freeze);
    lua_pushlightuserdata(L, script);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return SOC_OK;
    int rc = soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    return rc;
}

static int call_app(struct soc_script *script, int arguments, struct soc_detail *detail)
{
    lua_State *L = script->L;
    int handler = lua_gettop(L) - arguments;
    lua_pushcfunction(L, as_text);
    lua_insert(L, handler);
    int status = soc_run_limited(script, L, arguments, handler);
    int rc = SOC_OK;
    if (status != LUA_OK) {
        rc = soc_fail(detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (rc == SOC_OK)
        rc = freeze(script, detail);
    return rc;
}

int soc_script_run_file(struct soc_script *script, const char *path, int argc, char **argv,
                        struct soc_detail *detail)
{
    lua_State *L = script->L;
    set_arg(L, script, path, argc, argv);
    soc_recorder_set_app(script, path, argc, argv);
    soc_handout_set_app(script, path, argc, argv);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    int rc = soc_sandbox_load(L, lua_gettop(L), path, path, detail);
    if (rc < 0) {
        lua_pop(L, 1);
        return rc;
    }
    lua_remove(L, -2);
    if (!lua_checkstack(L, argc + 8)) {
        lua_pop(L, 1);
        return soc_fail(detail, SOC_EINVAL, "too many arguments");
    }
    for (int i = 0; i < argc; i++)
        lua_pushstring(L, argv[i]);
    return call_app(script, argc, detail);
}

int soc_script_run_function(struct soc_script *script, struct soc_detail *detail)
{
    lua_State *L = script->L;
    assert(lua_isfunction(L, -1));
    lua_insert(L, -2);
    return call_app(script, 1, detail);
}

/* An operation on policies, to run protected. */
struct policy_call {
    void (*run)(lua_State *L, struct policy_call *call);
    struct soc_script *script;
    struct soc_swap swap;
    struct soc_slice settings; /* of the swap, JSON; absent: none */
    struct soc_detail *detail;
    int rc;
};

static int run_policy_call(lua_State *L)
{
    struct policy_call *call = lua_touserdata(L, 1);
    lua_settop(L, 0);
    call->run(L, call);
    return 0;
}

/* Policies are foreign code: they may raise or exhaust the memory. */
static int call_protected(struct policy_call *call)
{
    lua_State *L = call->script->L;
    assert(soc_gate_activation(call->script->host) == NULL);
    lua_pushcfunction(L, run_policy_call);
    lua_pushlightuserdata(L, call);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        call->rc = soc_fail(call->detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    call->script->tries_policies = false;
    return call->rc;
}

static void run_swap(lua_State *L, struct policy_call *call)
{
    if (call->settings.data != NULL) {
        call->rc = soc_lua_json_decode(L, call->settings, call->detail);
        if (call->rc < 0)
            return;
        call->swap.settings_index = lua_gettop(L);
    }
    call->rc = soc_swap_do(L, call->script, &call->swap, call->detail);
}

static void run_settle(lua_State *L, struct policy_call *call)
{
    soc_chat_keys_settle(L, call->script);
}

static void run_restore(lua_State *L, struct policy_call *call)
{
    soc_swap_restore(L, call->script);
}

static void run_start(lua_State *L, struct policy_call *call)
{
    soc_swap_start(L, call->script);
    if (call->script->keeps_history)
        soc_recorder_start(L, call->script);
}

static void run_reload(lua_State *L, struct policy_call *call)
{
    soc_swap_reload(L, call->script);
}

void soc_script_started(struct soc_script *script)
{
    struct soc_detail detail = {{0}};
    struct policy_call settle = {.run = run_settle, .script = script, .detail = &detail};
    struct policy_call restore = {.run = run_restore, .script = script, .detail = &detail};
    struct policy_call call = {.run = run_start, .script = script, .detail = &detail};
    assert(!script->is_started);
    script->is_started = true;
    call_protected(&settle);
    call_protected(&restore);
    call_protected(&call);
    soc_behaviour_find_all(script);
    if (soc_script_has_main(script))
        soc_host_begin_main(script->host);
}

int soc_script_use_policy(struct soc_script *script, const char *kind, const char *name,
                          struct soc_slice settings, bool is_trial, struct soc_detail *detail)
{
    const char *by = script->is_started ? "command" : "option";
    struct policy_call call = {
        .run = run_swap,
        .script = script,
        .swap = {.kind = kind, .name = name, .by = by, .is_trial = is_trial},
        .settings = settings,
        .detail = detail,
    };
    return call_protected(&call);
}

void soc_script_reload_policies(struct soc_script *script)
{
    struct soc_detail detail = {{0}};
    struct policy_call call = {.run = run_reload, .script = script, .detail = &detail};
    call_protected(&call);
}

void soc_script_each_policy_file(struct soc_script *script,
                                 void (*each)(void *user, const char *path), void *user)
{
    soc_swap_each_file(script, each, user);
}

void soc_script_put_policy_names(const struct soc_script *script, const char *kind,
                                 struct soc_buf *out)
{
    soc_policy_names_put(script->app_dir, script->home, kind, out);
}

bool soc_script_has_main(const struct soc_script *script)
{
    return soc_behaviour_has_main(script);
}

uint32_t soc_script_callers(const struct soc_script *script)
{
    return soc_settings_callers(script);
}

const char *soc_script_app_name(const struct soc_script *script)
{
    return soc_settings_app_name(script);
}

const struct soc_files_settings *soc_script_files(const struct soc_script *script)
{
    return soc_settings_files(script);
}

const struct soc_redis_settings *soc_script_redis(const struct soc_script *script)
{
    return soc_settings_redis(script);
}

const struct soc_web_settings *soc_script_web(const struct soc_script *script)
{
    return soc_settings_web(script);
}

const struct soc_hosts_settings *soc_script_hosts(const struct soc_script *script)
{
    return soc_settings_hosts(script);
}

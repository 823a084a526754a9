#include <assert.h>
#include <string.h>

#include <lauxlib.h>

#include "base/json.h"
#include "bridge/control/client.h"
#include "embed/home.h"
#include "kernel/operations/catalogue.h"
#include "main/command.h"
#include "main/program.h"
#include "main/stopped.h"
#include "parts/subjects.h"
#include "parts/table.h"
#include "script/bindings/settings.h"
#include "script/policies/kinds.h"
#include "script/policies/policy_names.h"
#include "sim/faults.h"
#include "store/directory.h"

/* Pushes the result of a request: a list, or nil, error name and sentence. */
static int push_outcome(lua_State *L, int rc, bool is_error, struct soc_slice answer,
                        const struct soc_detail *detail)
{
    if (rc == SOC_OK && !is_error) {
        lua_pushlstring(L, answer.data, answer.length);
        return 1;
    }
    luaL_pushfail(L);
    lua_pushstring(L, rc == SOC_OK ? "refused" : soc_error_name(rc));
    if (rc == SOC_OK)
        lua_pushlstring(L, answer.data, answer.length);
    else
        lua_pushstring(L, detail->text);
    return 3;
}

static struct soc_slice check_request(lua_State *L)
{
    struct soc_slice request;
    request.data = luaL_checklstring(L, 2, &request.length);
    bool is_object =
        soc_json_check(request, NULL) == SOC_OK && soc_json_kind(request) == SOC_JSON_OBJECT;
    luaL_argcheck(L, is_object, 2, "a JSON object expected");
    return request;
}

/* Pushes a member of the answer that is a number; 0 if there is none. */
static void push_number(lua_State *L, struct soc_slice answer, const char *name)
{
    int64_t number = 0;
    soc_json_integer(soc_json_member(answer, name), &number);
    lua_pushinteger(L, number);
}

/* A request that meets a full disk is kept until there is space; people are told why they wait.
 * `user` is the state directory. */
static void explain_wait(void *user)
{
    const char *state = user;
    struct soc_control_client *client;
    struct soc_detail detail;
    struct soc_buf answer = {0};
    if (soc_control_client_open(&client, state, &detail) < 0)
        return;
    struct soc_slice stats = SOC_SLICE("{\"id\":1,\"op\":\"stats\"}");
    if (soc_control_client_ask(client, stats, &answer, &detail) == SOC_OK) {
        struct soc_slice name =
            soc_json_plain_string(soc_json_member(soc_buf_slice(&answer), "error"));
        if (soc_slice_equal(name, soc_slice_text(soc_error_name(SOC_EDISKFULL))))
            soc_complain(0, "the disk is full; the request is kept and done when there is space, "
                            "even if you stop waiting");
    }
    soc_control_client_close(client);
    soc_buf_fini(&answer);
}

/* Asks; if it `is_page`, `next` and `as_of` follow the list. */
static int ask_running(lua_State *L, bool is_page)
{
    const char *state = luaL_checkstring(L, 1);
    struct soc_slice request = check_request(L);
    struct soc_control_client *client;
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    int rc = soc_control_client_open(&client, state, &detail);
    if (rc == SOC_OK) {
        soc_control_client_on_slow(client, explain_wait, (void *)state);
        rc = soc_control_client_ask(client, request, &answer, &detail);
        soc_control_client_close(client);
    }
    struct soc_slice list = {0};
    if (rc == SOC_OK)
        list = soc_json_member(soc_buf_slice(&answer), "ok");
    bool is_error = list.data == NULL;
    int count = push_outcome(L, rc, is_error, is_error ? soc_buf_slice(&answer) : list, &detail);
    if (is_page && count == 1) {
        push_number(L, soc_buf_slice(&answer), "next");
        push_number(L, soc_buf_slice(&answer), "as_of");
        count = 3;
    }
    soc_buf_fini(&answer);
    return count;
}

static int ask(lua_State *L)
{
    return ask_running(L, false);
}

static int ask_page(lua_State *L)
{
    return ask_running(L, true);
}

/* Calls the function at stack index 3 with a list; what it raises stays on the stack. */
static bool take_rows(void *user, struct soc_slice list)
{
    lua_State *L = user;
    lua_pushvalue(L, 3);
    lua_pushlstring(L, list.data, list.length);
    return lua_pcall(L, 1, 0, 0) == LUA_OK;
}

/* ask_stopped(state, request) returns the answer; ask_stopped(state, request, take, is_plain)
 * returns true and gives the rows of a list to `take`, as lists of some of them (stopped.h). */
static int ask_stopped(lua_State *L)
{
    const char *state = luaL_checkstring(L, 1);
    struct soc_slice request = check_request(L);
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    bool is_error = false;
    bool is_walk = !lua_isnoneornil(L, 3);
    bool is_plain = lua_toboolean(L, 4);
    lua_settop(L, 3);
    int rc = is_walk ? soc_stopped_walk(state, request, is_plain, take_rows, L, &answer, &is_error,
                                        &detail)
                     : soc_stopped_ask(state, request, &answer, &is_error, &detail);
    if (lua_gettop(L) > 3) {
        soc_buf_fini(&answer);
        return lua_error(L);
    }
    int count = push_outcome(L, rc, is_error, soc_buf_slice(&answer), &detail);
    if (is_walk && count == 1)
        lua_pushboolean(L, true);
    soc_buf_fini(&answer);
    return count;
}

static int is_held(lua_State *L)
{
    lua_pushboolean(L, soc_directory_is_held(luaL_checkstring(L, 1)));
    return 1;
}

static void push_columns(lua_State *L, const struct soc_column *columns)
{
    lua_newtable(L);
    for (int i = 0; columns[i].title != NULL; i++) {
        lua_createtable(L, 0, 3);
        lua_pushstring(L, columns[i].title);
        lua_setfield(L, -2, "title");
        lua_pushstring(L, columns[i].member);
        lua_setfield(L, -2, "member");
        lua_pushinteger(L, columns[i].width_max);
        lua_setfield(L, -2, "width_max");
        lua_rawseti(L, -2, i + 1);
    }
}

/* { name, summary, filters = { agent = true, … }, columns? } */
static void push_subject(lua_State *L, const struct soc_operation *subject)
{
    lua_createtable(L, 0, 4);
    lua_pushstring(L, subject->name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, subject->summary);
    lua_setfield(L, -2, "summary");
    lua_newtable(L);
    for (int i = 0; i < SOC_FILTER_COUNT; i++) {
        lua_pushboolean(L, (subject->takes & 1u << i) != 0);
        lua_setfield(L, -2, soc_view_filters[i].name);
    }
    lua_setfield(L, -2, "filters");
    if (subject->view->columns != NULL) {
        push_columns(L, subject->view->columns);
        lua_setfield(L, -2, "columns");
    }
}

static void push_subjects(lua_State *L)
{
    const struct soc_operation *subject;
    lua_newtable(L);
    for (size_t i = 0; (subject = soc_subjects_at(i)) != NULL; i++) {
        if (subject->view->is_hidden)
            continue;
        push_subject(L, subject);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag)
{
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

/* { name, kind, needed, summary, least?, most?, alias?, choices? } */
static void push_param(lua_State *L, const struct soc_param *param)
{
    lua_createtable(L, 0, 8);
    set_text(L, "name", param->name);
    set_text(L, "kind", soc_param_kind_name(param->kind));
    set_flag(L, "needed", param->is_needed);
    set_text(L, "summary", param->summary);
    if (param->alias != NULL)
        set_text(L, "alias", param->alias);
    if (param->least != 0 || param->most != 0) {
        lua_pushinteger(L, param->least);
        lua_setfield(L, -2, "least");
        lua_pushinteger(L, param->most);
        lua_setfield(L, -2, "most");
    }
    if (param->choices == NULL)
        return;
    lua_newtable(L);
    for (int i = 0; param->choices[i] != NULL; i++) {
        lua_pushstring(L, param->choices[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "choices");
}

static void push_params(lua_State *L, const struct soc_operation *operation,
                        const struct soc_param *(*at)(const struct soc_operation *, size_t))
{
    const struct soc_param *param;
    lua_newtable(L);
    for (size_t i = 0; (param = at(operation, i)) != NULL; i++) {
        push_param(L, param);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_operations(lua_State *L)
{
    const struct soc_operation *operation;
    lua_newtable(L);
    for (size_t i = 0; (operation = soc_catalogue_at(soc_part_table, i)) != NULL; i++) {
        lua_createtable(L, 0, 8);
        set_text(L, "name", operation->name);
        set_text(L, "summary", operation->summary);
        set_text(L, "scope", soc_scope_name(operation->scope));
        set_flag(L, "changes", operation->changes);
        set_flag(L, "needs_running", operation->needs_running);
        set_flag(L, "for_agents", operation->is_for_agents);
        push_params(L, operation, soc_operation_param);
        lua_setfield(L, -2, "params");
        push_params(L, operation, soc_operation_member);
        lua_setfield(L, -2, "answer");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_names(lua_State *L, const char *const *names, int count)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Pushes the names of the settings of society.config. */
static void push_settings(lua_State *L)
{
    lua_newtable(L);
    int count = 0;
    for (const char *at = soc_settings_names(); *at != '\0';) {
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
        if (length > 0 && !soc_slice_equal(soc_slice(at, length), SOC_SLICE("and"))) {
            lua_pushlstring(L, at, length);
            lua_rawseti(L, -2, ++count);
        }
        at += length > 0 ? length : 1;
    }
}

/* policy_names(kind): a JSON list of the shipped policies of that kind. */
static int policy_names(lua_State *L)
{
    struct soc_buf home = {0};
    struct soc_buf names = {0};
    bool is_found = soc_home_find(&home);
    soc_policy_names_put(NULL, is_found ? home.data : NULL, luaL_checkstring(L, 1), &names);
    lua_pushlstring(L, names.data, names.length);
    soc_buf_fini(&names);
    soc_buf_fini(&home);
    return 1;
}

static const luaL_Reg functions[] = {
    {"ask", ask},         {"ask_page", ask_page},         {"ask_stopped", ask_stopped},
    {"is_held", is_held}, {"policy_names", policy_names}, {NULL, NULL},
};

void soc_program_add_asking(lua_State *L)
{
    static const char *const faults[] = {
#define F(tag, name, text) name,
        SOC_FAULT_MAP(F)
#undef F
    };
    assert(lua_type(L, -1) == LUA_TTABLE);
    luaL_setfuncs(L, functions, 0);
    push_subjects(L);
    lua_setfield(L, -2, "subjects");
    push_operations(L);
    lua_setfield(L, -2, "operations");
    push_names(L, faults, SOC_FAULT_COUNT);
    lua_setfield(L, -2, "faults");
    lua_newtable(L);
    for (int i = 0; soc_kind_name(i) != NULL; i++) {
        lua_pushstring(L, soc_kind_name(i));
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "kinds");
    push_settings(L);
    lua_setfield(L, -2, "settings");
}

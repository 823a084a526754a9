#include "script/history/rerun.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "lualib/lua_json.h"
#include "parts/history/replay.h"
#include "script/history/recorder.h"
#include "script/policies/messages.h"
#include "script/policies/policy_load.h"
#include "script/policies/policy_log.h"
#include "script/policies/policy_set.h"
#include "script/policies/swap.h"
#include "script/turns/behaviour.h"

void soc_rerun_begin(struct soc_script *script, uint32_t steps_max)
{
    soc_recorder_set_days(script, SOC_HISTORY_DAYS_MAX);
    soc_recorder_keep(script, true);
    script->is_started = true;
    if (steps_max > 0)
        script->steps_max = steps_max;
    soc_behaviour_find_all(script);
}

/* Arguments of a protected call: policies are foreign code. */
struct call {
    void (*run)(lua_State *L, struct call *call);
    struct soc_script *script;
    struct soc_slice row;
    struct soc_buf *answer;
    struct soc_detail *detail;
    int rc;
};

static int run_call(lua_State *L)
{
    struct call *call = lua_touserdata(L, 1);
    lua_settop(L, 0);
    call->run(L, call);
    return 0;
}

static int protect(struct call *call)
{
    lua_State *L = call->script->L;
    lua_pushcfunction(L, run_call);
    lua_pushlightuserdata(L, call);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
        call->rc = soc_fail(call->detail, SOC_ESCRIPT, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return call->rc;
}

/* Lends a member as a Lua string; NULL if there is none. */
static const char *push_text(lua_State *L, struct soc_slice object, const char *name)
{
    struct soc_buf text = {0};
    if (!soc_json_string(soc_json_member(object, name), &text)) {
        lua_pushnil(L);
        return NULL;
    }
    const char *kept = lua_pushlstring(L, text.data, text.length);
    soc_buf_fini(&text);
    return kept;
}

/* Appends the path of an entry's file; false if it has none. */
static bool put_file(const struct soc_script *script, struct soc_slice entry, struct soc_buf *out)
{
    struct soc_buf name = {0};
    bool has_file = soc_json_string(soc_json_member(entry, "path"), &name);
    if (has_file)
        soc_policy_put_path(script, soc_buf_text(&name), out);
    soc_buf_fini(&name);
    return has_file;
}

/* Lends that path as a Lua string; NULL if there is none. */
static const char *push_file(lua_State *L, const struct soc_script *script, struct soc_slice entry)
{
    struct soc_buf path = {0};
    if (!put_file(script, entry, &path)) {
        lua_pushnil(L);
        return NULL;
    }
    const char *kept = lua_pushlstring(L, path.data, path.length);
    soc_buf_fini(&path);
    return kept;
}

/* Activates one entry of the list, with the settings it had. */
static int put_policy(lua_State *L, struct call *call, struct soc_slice entry)
{
    int top = lua_gettop(L);
    int settings = 0;
    struct soc_policy_source source = {
        .kind = push_text(L, entry, "kind"),
        .name = push_text(L, entry, "name"),
        .path = push_file(L, call->script, entry),
    };
    struct soc_slice given = soc_json_member(entry, "settings");
    if (given.data != NULL && soc_lua_json_decode(L, given, call->detail) >= 0)
        settings = lua_gettop(L);
    int rc = SOC_OK;
    if (source.kind != NULL && source.name != NULL && source.path != NULL)
        rc = soc_swap_use_file(L, call->script, &source, settings, call->detail);
    lua_settop(L, top);
    return rc;
}

static bool is_in(struct soc_slice list, struct soc_slice entry)
{
    static const char *const members[] = {"kind", "name", "hash", "settings"};
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        bool is_same = true;
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            is_same &= soc_slice_equal(soc_json_member(walk.value, members[i]),
                                       soc_json_member(entry, members[i]));
        if (is_same)
            return true;
    }
    return false;
}

/* Appends the paths of the vocabularies in the list, each followed by a comma: the
 * whole set. Empty if one of them has no file. */
static void put_vocabularies(const struct soc_script *script, struct soc_slice list,
                             struct soc_buf *out)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_slice kind = soc_json_plain_string(soc_json_member(walk.value, "kind"));
        if (!soc_slice_equal(kind, SOC_SLICE(SOC_MESSAGES)))
            continue;
        if (!put_file(script, walk.value, out)) {
            out->length = 0;
            return;
        }
        soc_buf_put_byte(out, ',');
    }
}

static int use_vocabularies(lua_State *L, struct call *call)
{
    struct soc_buf names = {0};
    int rc = SOC_OK;
    put_vocabularies(call->script, call->row, &names);
    if (names.length > 0)
        rc = soc_messages_use(L, call->script, soc_buf_text(&names), 0, call->detail);
    soc_buf_fini(&names);
    return rc;
}

static bool has_other_vocabularies(struct soc_slice one, struct soc_slice other)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, one);
    while (soc_json_next(&walk)) {
        struct soc_slice kind = soc_json_plain_string(soc_json_member(walk.value, "kind"));
        if (soc_slice_equal(kind, SOC_SLICE(SOC_MESSAGES)) && !is_in(other, walk.value))
            return true;
    }
    return false;
}

static void put_policies(lua_State *L, struct call *call)
{
    struct soc_buf now = {0};
    struct soc_json_walk walk;
    soc_swap_put_list(L, call->script, &now);
    struct soc_slice list = soc_buf_slice(&now);
    if (has_other_vocabularies(call->row, list) || has_other_vocabularies(list, call->row))
        call->rc = use_vocabularies(L, call);
    soc_json_walk(&walk, call->row);
    while (call->rc == SOC_OK && soc_json_next(&walk))
        if (!is_in(list, walk.value))
            call->rc = put_policy(L, call, walk.value);
    soc_buf_fini(&now);
}

int soc_rerun_put_policies(struct soc_script *script, struct soc_slice list,
                           struct soc_detail *detail)
{
    struct call call = {.run = put_policies, .script = script, .row = list, .detail = detail};
    return protect(&call);
}

/* Pushes the recorded arguments and returns their number. */
static int push_arguments(lua_State *L, struct soc_slice list)
{
    struct soc_json_walk walk;
    struct soc_detail detail;
    int count = 0;
    soc_json_walk(&walk, list);
    for (; soc_json_next(&walk); count++) {
        luaL_checkstack(L, 8, NULL);
        if (soc_json_kind(walk.value) == SOC_JSON_NULL)
            lua_pushnil(L);
        else if (soc_lua_json_decode(L, walk.value, &detail) < 0)
            luaL_error(L, "%s", detail.text);
    }
    return count;
}

static void check_again(lua_State *L, struct call *call)
{
    struct soc_json_walk walk;
    struct soc_buf error = {0};
    bool requires_ack = false;
    soc_json_walk(&walk, soc_json_member(call->row, "arguments"));
    if (!soc_json_next(&walk)) {
        call->rc = soc_fail(call->detail, SOC_EINVAL, "the row has no message");
        return;
    }
    struct soc_slice from = soc_json_plain_string(soc_json_member(walk.value, "from"));
    const char *task_id = push_text(L, walk.value, "task_id");
    struct soc_candidate candidate = {
        .from = from.data == NULL ? NULL : soc_replay_agent(call->script->host, from),
        .type = soc_slice_text(push_text(L, walk.value, "type")),
        .payload = soc_json_member(walk.value, "payload"),
        .task_id = soc_slice_text(task_id),
    };
    int rc = soc_messages_check(call->script, &candidate, &requires_ack, &error);
    soc_policy_log_put_verdict(requires_ack, rc, soc_buf_slice(&error), call->answer);
    soc_buf_fini(&error);
}

static void ask_policy(lua_State *L, struct call *call)
{
    enum soc_policy_question question;
    const char *kind = push_text(L, call->row, "kind");
    const char *name = push_text(L, call->row, "question");
    if (kind != NULL && strcmp(kind, SOC_MESSAGES) == 0) {
        check_again(L, call);
        return;
    }
    if (kind == NULL || name == NULL || !soc_kind_find_question(kind, name, &question)) {
        call->rc = soc_fail(call->detail, SOC_EINVAL, "no policy is asked %s.%s any more",
                            kind == NULL ? "?" : kind, name == NULL ? "?" : name);
        return;
    }
    int count = push_arguments(L, soc_json_member(call->row, "arguments"));
    if (soc_policy_set_ask(L, call->script, question, count))
        soc_policy_log_put_answer(L, call->answer);
    else
        soc_buf_put_text(call->answer, "null");
}

/* A policy that fails gives the default answer, which may equal the recorded one. The
 * failure is the difference, unless it was recorded as well. */
static void ask_again(lua_State *L, struct call *call)
{
    soc_policy_log_clear(call->script);
    ask_policy(L, call);
    const char *failure = soc_policy_log_failure(call->script);
    if (call->rc == SOC_OK && failure[0] != '\0' &&
        soc_json_member(call->row, "failed").data == NULL)
        call->rc = soc_fail(call->detail, SOC_ESCRIPT, "the policy fails: %s", failure);
}

int soc_rerun_ask(struct soc_script *script, struct soc_slice row, struct soc_buf *answer,
                  struct soc_detail *detail)
{
    assert(row.data != NULL && answer != NULL);
    struct call call = {
        .run = ask_again, .script = script, .row = row, .answer = answer, .detail = detail};
    int rc = protect(&call);
    soc_replay_settle(script->host);
    return rc;
}

/* Task answers: asks the policy `tasks` about retries and time limits. */
#include <assert.h>

#include "base/json.h"
#include "lualib/lua_json.h"
#include "script/answers/answers.h"
#include "script/policies/policy_set.h"

static void set_text(lua_State *L, const char *name, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    lua_pushlstring(L, text.data, text.length);
    lua_setfield(L, -2, name);
}

/* Pushes the table of a question about a task, with the fields that both questions share. */
static void push_request(lua_State *L, struct soc_agent *owner, struct soc_agent *assigner,
                         struct soc_slice id, int priority)
{
    char text[2] = {'P', (char)('0' + priority)};
    assert(owner != NULL && priority >= 0 && priority < SOC_PRIORITY_COUNT);
    lua_createtable(L, 0, 8);
    soc_answer_push_person(L, owner);
    lua_setfield(L, -2, "agent");
    if (assigner != NULL) {
        soc_answer_push_person(L, assigner);
        lua_setfield(L, -2, "assigner");
    }
    set_text(L, "task_id", id);
    set_text(L, "priority", soc_slice(text, sizeof(text)));
}

/* Asks the question whose table is on top and pops it. Returns ms, -1 for nil, or
 * `otherwise` if no policy answers. */
static int64_t ask(lua_State *L, struct soc_script *script, enum soc_policy_question question,
                   int64_t otherwise)
{
    int top = lua_gettop(L) - 1;
    int64_t ms = otherwise;
    if (soc_policy_set_ask(L, script, question, 1))
        ms = lua_isnil(L, top + 1) ? -1 : (int64_t)lua_tonumber(L, top + 1);
    lua_settop(L, top);
    return ms;
}

int64_t soc_answer_task_retry(void *user, const struct soc_task *task, struct soc_slice error)
{
    struct soc_script *script = user;
    lua_State *L = script->active;
    struct soc_detail detail;
    luaL_checkstack(L, 12, NULL);
    push_request(L, task->owner, task->assigner, soc_slice_text(task->id), task->priority);
    set_text(L, "type", soc_slice_text(soc_task_style_name(task->style)));
    lua_pushinteger(L, task->tries);
    lua_setfield(L, -2, "tries");
    if (error.data != NULL && soc_lua_json_decode(L, error, &detail) == SOC_OK)
        lua_setfield(L, -2, "error");
    return ask(L, script, SOC_ASK_RETRY_TASK, -1);
}

int64_t soc_answer_task_limit(void *user, const struct soc_message *message, int64_t limit_ms)
{
    struct soc_script *script = user;
    lua_State *L = script->active;
    luaL_checkstack(L, 12, NULL);
    push_request(L, message->to, message->from, soc_message_text(message, SOC_TEXT_TASK_ID),
                 message->priority);
    set_text(L, "type", soc_slice(message->type->text, message->type->length));
    lua_pushinteger(L, limit_ms);
    lua_setfield(L, -2, "limit_ms");
    int64_t ms = ask(L, script, SOC_ASK_TASK_LIMIT, limit_ms);
    return ms < 0 ? 0 : ms;
}

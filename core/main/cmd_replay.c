#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "embed/replay.h"
#include "main/command.h"
#include "main/options.h"

/* Calls the option functions `found` and `progress`. */
struct listener {
    lua_State *L;
    bool has_failed; /* one of them raised; the error is on the stack */
};

static void set_text(lua_State *L, const char *name, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    lua_pushlstring(L, text.data, text.length);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, int64_t number)
{
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
}

/* Calls the function below `count` arguments. An error does not jump out of the replay:
 * the first one is kept and the functions are not called again. */
static void call(struct listener *listener, int count)
{
    listener->has_failed = lua_pcall(listener->L, count, 0, 0) != LUA_OK;
}

static void tell_finding(void *user, const struct soc_replay_finding *finding)
{
    struct listener *listener = user;
    lua_State *L = listener->L;
    if (listener->has_failed)
        return;
    lua_getfield(L, 1, "found");
    lua_newtable(L);
    set_text(L, "difference", soc_slice_text(finding->what));
    set_text(L, "agent", finding->agent);
    set_text(L, "message", finding->message);
    set_text(L, "asked", finding->asked);
    set_text(L, "recorded", finding->recorded);
    set_text(L, "now", finding->now);
    set_number(L, "row", finding->number);
    set_number(L, "time_ms", finding->time_ms);
    if (finding->effect >= 0)
        set_number(L, "effect", finding->effect + 1);
    call(listener, 1);
}

static void tell_progress(void *user, const struct soc_replay_totals *totals)
{
    struct listener *listener = user;
    lua_State *L = listener->L;
    if (listener->has_failed)
        return;
    lua_getfield(L, 1, "progress");
    lua_pushinteger(L, totals->rows_done);
    lua_pushinteger(L, totals->rows);
    lua_pushinteger(L, totals->differences);
    call(listener, 3);
}

static void push_totals(lua_State *L, const struct soc_replay_totals *totals)
{
    lua_newtable(L);
    set_number(L, "differences", totals->differences);
    set_number(L, "effects", totals->effects);
    set_number(L, "questions", totals->questions);
    set_number(L, "runs", totals->runs);
    set_number(L, "starts", totals->starts);
    set_number(L, "waiting", totals->waiting);
}

int soc_cmd_replay(lua_State *L)
{
    struct soc_replay_totals totals;
    struct soc_detail detail = {0};
    struct listener listener = {.L = L};
    struct soc_text_list policies = soc_options_list(L, "policy");
    lua_getfield(L, 1, "progress");
    bool has_progress = !lua_isnil(L, -1);
    lua_pop(L, 1);
    struct soc_replay_options options = {
        .state_dir = soc_options_text(L, "state"),
        .app_file = soc_options_text(L, "app"),
        .policies = policies.items,
        .found = tell_finding,
        .progress = has_progress ? tell_progress : NULL,
        .user = &listener,
    };
    assert(options.state_dir != NULL);
    int rc = soc_replay_history(&options, &totals, &detail);
    soc_text_list_fini(&policies);
    if (listener.has_failed)
        return lua_error(L);
    if (rc < 0) {
        lua_pushnil(L);
        lua_pushstring(L, soc_error_name(rc));
        lua_pushstring(L, detail.text);
        return 3;
    }
    push_totals(L, &totals);
    return 1;
}

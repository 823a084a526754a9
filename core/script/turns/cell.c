#include "script/turns/cell.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "script/turns/behaviour.h"
#include "script/turns/cell_world.h"
#include "script/turns/isolated.h"
#include "script/turns/message.h"
#include "script/turns/thread.h"

struct soc_cell {
    struct soc_script *script;
    uint64_t agent;                    /* its number */
    struct soc_activation *activation; /* NULL: kept for the agent's next one */
    int env_ref;                       /* LUA_NOREF: not made yet */
    int behaviour_ref;
    struct soc_cell *older; /* by last use */
};

struct soc_cells {
    struct soc_cell *newest;
    uint32_t count;
};

void soc_cell_open(struct soc_script *script)
{
    assert(script->cells == NULL);
    script->cells = soc_alloc_zero(sizeof(*script->cells));
}

static void unlink_cell(struct soc_cells *cells, const struct soc_cell *cell)
{
    struct soc_cell **place = &cells->newest;
    while (*place != cell)
        place = &(*place)->older;
    *place = cell->older;
    cells->count--;
}

static void link_newest(struct soc_cells *cells, struct soc_cell *cell)
{
    cell->older = cells->newest;
    cells->newest = cell;
    cells->count++;
}

void soc_cell_drop(struct soc_cell *cell)
{
    lua_State *L = cell->script->L;
    unlink_cell(cell->script->cells, cell);
    luaL_unref(L, LUA_REGISTRYINDEX, cell->env_ref);
    luaL_unref(L, LUA_REGISTRYINDEX, cell->behaviour_ref);
    free(cell);
}

void soc_cell_finish(struct soc_cell *cell)
{
    const struct soc_agent *agent = cell->activation->agent;
    cell->activation = NULL;
    if (agent->is_ended || agent->is_ending)
        soc_cell_drop(cell);
}

void soc_cell_fini(struct soc_script *script)
{
    while (script->cells->newest != NULL)
        soc_cell_drop(script->cells->newest);
    free(script->cells);
    script->cells = NULL;
}

/* Lends the cell that is kept for the agent, or NULL. */
static struct soc_cell *find_kept(const struct soc_script *script, uint64_t agent)
{
    struct soc_cell *cell = script->cells->newest;
    while (cell != NULL && (cell->agent != agent || cell->activation != NULL))
        cell = cell->older;
    return cell;
}

/* Lends the cell that was not used for longest: one that is kept, else one that waits. */
static struct soc_cell *find_oldest(const struct soc_script *script, bool is_kept)
{
    struct soc_cell *oldest = NULL;
    for (struct soc_cell *cell = script->cells->newest; cell != NULL; cell = cell->older)
        if (is_kept ? cell->activation == NULL
                    : cell->activation != NULL && cell->activation->state == SOC_ACTIVATION_WAITING)
            oldest = cell;
    return oldest;
}

struct soc_activation *soc_cell_make_room(struct soc_script *script,
                                          const struct soc_activation *activation)
{
    struct soc_cell *cell;
    if (!script->is_simulated || !soc_isolated_wants(script, activation) ||
        find_kept(script, activation->agent->number) != NULL)
        return NULL;
    while (script->cells->count >= script->workers_max &&
           (cell = find_oldest(script, true)) != NULL)
        soc_cell_drop(cell);
    cell = script->cells->count < script->workers_max ? NULL : find_oldest(script, false);
    return cell == NULL ? NULL : cell->activation;
}

static struct soc_cell *take(struct soc_script *script, struct soc_activation *activation)
{
    struct soc_cell *cell = find_kept(script, activation->agent->number);
    if (cell == NULL) {
        cell = soc_alloc_zero(sizeof(*cell));
        cell->script = script;
        cell->agent = activation->agent->number;
        cell->env_ref = cell->behaviour_ref = LUA_NOREF;
    } else {
        unlink_cell(script->cells, cell);
    }
    link_newest(script->cells, cell);
    cell->activation = activation;
    return cell;
}

/* Makes the world of the cell at 1. Runs protected. */
static int build(lua_State *L)
{
    struct soc_cell *cell = lua_touserdata(L, 1);
    soc_cell_world_push(L, cell->script, cell->activation->agent);
    cell->behaviour_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    cell->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int end(lua_State *co, int status, lua_KContext context)
{
    (void)co, (void)status, (void)context;
    return 1;
}

int soc_cell_run(lua_State *co)
{
    struct soc_script *script = *(struct soc_script **)lua_getextraspace(co);
    struct soc_activation *activation = soc_gate_activation(script->host);
    struct soc_thread *thread = activation->script;
    if (thread->cell == NULL)
        thread->cell = take(script, activation);
    if (thread->cell->env_ref == LUA_NOREF) {
        lua_pushcfunction(co, build);
        lua_pushlightuserdata(co, thread->cell);
        script->is_loading = script->is_building = true;
        int status = lua_pcall(co, 1, 0, 0);
        script->is_loading = script->is_building = false;
        if (status != LUA_OK)
            return lua_error(co);
    }
    lua_rawgeti(co, LUA_REGISTRYINDEX, thread->cell->behaviour_ref);
    if (!soc_behaviour_choose(co, script, activation)) {
        soc_behaviour_skip(script, activation);
        lua_pushnil(co);
        return 1;
    }
    lua_pushvalue(co, 1);
    soc_message_push(co, script, activation->message);
    lua_callk(co, 2, 1, 0, end);
    return 1;
}

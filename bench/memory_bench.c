/* Memory bench: messages handled in memory on one core, and how that depends on
 * the number of agents and on history.
 *
 *     memory_bench [--full]
 *
 * Workers in a circle pass on a payload of six fields. The yardstick is a loop in
 * C that calls a Lua handler with a fresh copy of the same payload in a fresh
 * message table: nothing is sent, kept or journaled. Both are CPU time.
 * Layer: bench. Thread: one. */
#include <stdlib.h>

#include <lauxlib.h>
#include <lualib.h>

#include "lualib/lua_heap.h"
#include "measure.h"
#include "stage.h"

#define LUA_BYTES_MAX   (1u << 30)
#define CIRCLE          1000  /* workers */
#define ROUND           4000  /* messages under way at a time */
#define WINDOW          20000 /* messages measured at once; the best one counts */
#define WINDOWS_QUICK   10
#define WINDOWS_FULL    50
#define WINDOWS_HISTORY 5
#define HISTORY         1000000
#define REPEATS         2
#define HANDLED_TARGET  500000
#define AGENTS_RATIO    1.5
#define HISTORY_RATIO   1.1

static void copy_table(lua_State *L, int from)
{
    lua_createtable(L, 0, 6);
    lua_pushnil(L);
    while (lua_next(L, from) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

static void set_text(lua_State *L, const char *name, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

/* Calls the handler at index 1 with the agent at 2 and a message with a copy of
 * the payload at 3. */
static void call_handler(lua_State *L)
{
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_createtable(L, 0, 5);
    set_text(L, "id", "msg_20260101_000000_000000000000001");
    set_text(L, "from", "w1");
    set_text(L, "to", "w2");
    set_text(L, "type", "general");
    copy_table(L, 3);
    lua_setfield(L, -2, "payload");
    measure_require(lua_pcall(L, 2, 0, 0) == LUA_OK, "the bare handler raised");
}

static double measure_bare(int windows)
{
    static const char setup[] =
        "local sent\n"
        "return function(agent, message) sent = { to = agent.id, payload = message.payload } end,\n"
        "  { id = 'w1' },\n"
        "  { amount = 1250, order = 48151623, customer = 'sales_agent_17',\n"
        "    subject = 'order approved', state = 'waiting', content =\n"
        "    'the order is ready and waits for approval by the owner of the account, please now.' "
        "}\n";
    lua_State *L = soc_lua_heap_open(LUA_BYTES_MAX);
    luaL_openlibs(L);
    measure_require(luaL_dostring(L, setup) == LUA_OK, "the bare handler does not load");
    double best = 0;
    for (int i = 0; i < windows; i++) {
        int64_t begin_us = measure_cpu_us();
        for (int k = 0; k < WINDOW; k++)
            call_handler(L);
        double rate = WINDOW * 1e6 / (double)(measure_cpu_us() - begin_us);
        best = rate > best ? rate : best;
    }
    soc_lua_heap_close(L);
    return best;
}

/* What one society showed, as messages per second of CPU time. */
struct rates {
    int64_t agents;
    int windows;
    int64_t history; /* messages before `after` is measured; 0: it is not */
    double first;
    double after;
};

/* The best of some windows: the others were disturbed. */
static double run_windows(struct stage *stage, int windows)
{
    double best = 0;
    for (int i = 0; i < windows; i++) {
        int64_t before = stage_count(stage, "processed");
        int64_t begin_us = measure_cpu_us();
        stage_run_until(stage, "processed", before + WINDOW);
        int64_t handled = stage_count(stage, "processed") - before;
        double rate = (double)handled * 1e6 / (double)(measure_cpu_us() - begin_us);
        best = rate > best ? rate : best;
    }
    return best;
}

static void measure_circle(void *shared)
{
    struct rates *rates = shared;
    struct stage stage = {0};
    stage_open(&stage, "ring", NULL, rates->agents, ROUND);
    stage_run_until(&stage, "processed", 2 * ROUND);
    rates->first = run_windows(&stage, rates->windows);
    if (rates->history == 0)
        return;
    stage_run_until(&stage, "processed", rates->history);
    rates->after = run_windows(&stage, rates->windows);
}

static double best_circle(int64_t agents, int windows)
{
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct rates rates = {.agents = agents, .windows = windows};
        measure_in_child(measure_circle, &rates, sizeof(rates));
        best = rates.first > best ? rates.first : best;
    }
    return best;
}

static void print_cost(const char *name, double rate, double rate_compared, const char *compared,
                       double target)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "us",
        .value = 1e6 / rate,
        .yardstick_name = compared,
        .yardstick = 1e6 / rate_compared,
        .goal = MEASURE_AT_MOST,
        .target = target,
        .is_ratio_meant = true,
    });
}

int main(int argc, char **argv)
{
    int windows = measure_begin(argc, argv) ? WINDOWS_FULL : WINDOWS_QUICK;
    double bare = measure_bare(windows);
    double usual = best_circle(CIRCLE, windows);
    measure_print(&(struct measure_figure){
        .name = "handled in memory, 1,000 agents",
        .unit = "/s",
        .value = usual,
        .yardstick_name = "bare handler loop",
        .yardstick = bare,
        .goal = MEASURE_AT_LEAST,
        .target = HANDLED_TARGET,
    });
    double few = best_circle(10, windows);
    double many = best_circle(100000, windows);
    print_cost("cost of a message, 1,000 agents", usual, few, "with 10", AGENTS_RATIO);
    print_cost("cost of a message, 100,000 agents", many, few, "with 10", AGENTS_RATIO);
    struct rates old = {.agents = CIRCLE, .windows = WINDOWS_HISTORY, .history = HISTORY};
    measure_in_child(measure_circle, &old, sizeof(old));
    print_cost("cost of a message, after 1,000,000", old.after, old.first, "the first 100,000",
               HISTORY_RATIO);
    return EXIT_SUCCESS;
}

#include "script/turns/budget.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/cpu_timer.h"
#include "kernel/refusal.h"
#include "kernel/turns/halt.h"
#include "lualib/lua_heap.h"
#include "sandbox/sandbox.h"
#include "script/turns/behaviour.h"
#include "script/turns/effect.h"

/* VM instructions between two checks of a simulated turn. */
#define STEPS_PER_LOOK 100000

/* Ticks of the timer in the time of one budget. A turn begins between two of them, so it is
 * seen up to one late, and signals come late: it is ended MARGIN ticks early, so that who waits
 * for it waits no longer than its budget. */
#define TICKS  16
#define MARGIN 2

struct soc_budget {
    size_t bytes_begun; /* of the heap when the turn began, or less: garbage is not counted */
    size_t bytes_max;   /* by which it may grow */
    int64_t steps_max;
    bool is_spent;     /* the turn is being ended */
    bool is_off;       /* turns are not bounded: a measurement */
    bool counts_steps; /* instead of CPU time: simulated, or a script that loads */

    lua_Hook hook;
    struct soc_script **running; /* running_script() of its state, which never moves */

    struct soc_cpu_timer *timer; /* made at the first turn of a thread; NULL: none */
    uint32_t timer_ms;           /* the budget it ticks for */
    int64_t margin_ns;
    volatile uint32_t cpu_ms_max; /* of the open turn */

    /* Shared with the signal, which interrupts the loop: it sees every write in its order. */
    lua_State *volatile current; /* the thread that gets the hook; NULL: no turn is open */
    volatile uint32_t turn;      /* changes when a budget begins */
    volatile sig_atomic_t is_timed_out;
    volatile sig_atomic_t is_grown;

    /* The signal's own. */
    uint32_t turn_seen;
    int64_t seen_ns;
    uint32_t late_ticks; /* since the turn is over its time */
};

/* Lends the place in the main thread's extra space that holds the running script. A
 * thread's own space would not do: Lua copies the main thread's into coroutines of a
 * spec, which may outlive the script. */
static struct soc_script **running_script(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State *main = lua_tothread(L, -1);
    lua_pop(L, 1);
    return lua_getextraspace(main);
}

/* Sets the hook that a thread has while its turn is within its budget. */
static void set_usual_hook(const struct soc_budget *budget, lua_State *L)
{
    if (budget->counts_steps)
        lua_sethook(L, budget->hook, LUA_MASKCOUNT, STEPS_PER_LOOK);
    else if (lua_gethook(L) != NULL)
        lua_sethook(L, NULL, 0, 0);
}

/* Has the hook called at the next instruction of the thread, and at each one after that. */
static void set_urgent_hook(const struct soc_budget *budget, lua_State *L)
{
    lua_sethook(L, budget->hook, LUA_MASKCOUNT, 1);
}

static int end_turn(lua_State *L, struct soc_script *script, const char *which, uint64_t limit)
{
    script->budget->is_spent = true;
    set_urgent_hook(script->budget, L);
    return soc_effect_break_budget(L, script, which, limit, 0);
}

/* Tells whether the hook must be called at the next instruction. */
static bool is_urgent(const struct soc_budget *budget)
{
    return budget->is_timed_out || budget->is_grown || budget->is_spent;
}

static void grow(void *user)
{
    struct soc_budget *budget = user;
    budget->is_grown = 1;
    if (budget->current != NULL)
        set_urgent_hook(budget, budget->current);
}

/* Watches the heap for the growth that is left; a fourth of it at least. */
static void watch_heap(struct soc_script *script)
{
    struct soc_budget *budget = script->budget;
    size_t limit = budget->bytes_max;
    size_t used = soc_lua_heap_bytes(script->L);
    size_t grown = used > budget->bytes_begun ? used - budget->bytes_begun : 0;
    size_t left = grown < limit ? limit - grown : 0;
    budget->is_grown = 0;
    soc_lua_heap_watch(script->L, left > limit / 4 ? left : limit / 4, grow, budget);
}

/* Collects all garbage, or, against the clock, what there is time for. */
static void collect(lua_State *L, const struct soc_budget *budget)
{
    if (budget->counts_steps) {
        lua_gc(L, LUA_GCCOLLECT);
        return;
    }
    /* The rest of a cycle that has begun, then a whole one. */
    for (int cycles = 0; cycles < 2 && !budget->is_timed_out;)
        cycles += lua_gc(L, LUA_GCSTEP, 0);
}

/* The heap has grown by the budget, garbage included. Ends the turn if it has grown without.
 * What is left bounds what there was before the turn: the garbage of former turns, which may be
 * several times the budget, is not to be used up by this one. */
static void check_memory(lua_State *L, struct soc_script *script)
{
    struct soc_budget *budget = script->budget;
    collect(L, budget);
    if (budget->is_timed_out)
        end_turn(L, script, "cpu_ms", budget->cpu_ms_max);
    size_t used = soc_lua_heap_bytes(L);
    if (used > budget->bytes_begun + budget->bytes_max)
        end_turn(L, script, "memory", budget->bytes_max);
    if (used < budget->bytes_begun)
        budget->bytes_begun = used;
    watch_heap(script);
}

/* One operation inside Lua asks for more than a turn may ever have. It cannot be refused, since
 * Lua would not survive that, nor granted: the process ends. What it is about to do is lost with
 * it, what was committed is not, and the next start parks the activation. */
static void halt(void *user)
{
    const struct soc_script *script = user;
    struct soc_buf error = {0};
    soc_refusal_begin(&error, SOC_EBUDGET,
                      "one operation asked for more memory than a turn may ever have, which ends "
                      "the program; make large texts and tables in smaller steps");
    soc_json_put_text_member(&error, "which", SOC_SLICE("memory"));
    soc_buf_printf(&error, ",\"limit\":%zu", script->budget->bytes_max);
    soc_refusal_end(&error, SOC_EBUDGET);
    soc_halt(script->host, soc_buf_slice(&error));
    fputs("society: one operation of a script asked for too much memory, which ends the program; "
          "nothing that was committed is lost, and the next start parks what asked for it\n",
          stderr);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

/* Bounds the heap: to what the open turn may have, or to all there is. */
static void bound_heap(struct soc_script *script, bool is_open)
{
    size_t bytes = is_open ? script->budget->bytes_max + SOC_SCRIPT_JUMP_BYTES_MAX : SIZE_MAX;
    soc_lua_heap_set_end(script->L, bytes, halt, script);
}

static void charge(lua_State *L, struct soc_script *script, uint64_t steps)
{
    const struct soc_budget *budget = script->budget;
    if (budget->counts_steps)
        script->steps_left -= (int64_t)steps;
    if (budget->is_spent || (budget->counts_steps && script->steps_left <= 0))
        end_turn(L, script, "steps", (uint64_t)budget->steps_max);
    if (budget->is_timed_out)
        end_turn(L, script, "cpu_ms", budget->cpu_ms_max);
}

/* The hook. Coroutines made by scripts count for themselves, in smaller portions. */
static void check_turn(lua_State *L, lua_Debug *debug)
{
    (void)debug;
    struct soc_script *script = *running_script(L);
    if (script == NULL || script->budget->current == NULL) {
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    int count = lua_gethookcount(L);
    charge(L, script, (uint64_t)count);
    if (script->budget->is_grown)
        check_memory(L, script);
    if (count == 1)
        set_usual_hook(script->budget, L);
}

/* The callbacks of the sandbox: steps, texts, and which coroutine runs. */
static void charge_running(lua_State *L, uint64_t steps)
{
    struct soc_script *script = *running_script(L);
    if (script == NULL || script->budget->current == NULL)
        return;
    charge(L, script, steps);
    if (script->budget->is_grown)
        check_memory(L, script);
}

static void refuse_text(lua_State *L, uint64_t limit)
{
    struct soc_script *script = *running_script(L);
    if (script != NULL && script->budget->current != NULL)
        end_turn(L, script, "text_bytes", limit);
    luaL_error(L, "a text can have at most %I bytes", (lua_Integer)limit);
}

static void enter(lua_State *L)
{
    struct soc_script *script = *running_script(L);
    if (script == NULL || script->budget->current == NULL)
        return;
    struct soc_budget *budget = script->budget;
    budget->current = L;
    if (is_urgent(budget))
        set_urgent_hook(budget, L);
    else if (lua_gethook(L) == budget->hook && !budget->counts_steps)
        lua_sethook(L, NULL, 0, 0);
}

/* A tick of the timer: interrupts the thread that runs the turn. Setting a hook walks all of
 * the thread's calls, which for a deep recursion may take longer than a tick: done at every
 * tick, it would leave no time to the turn itself, which would never end. Done once, it
 * could be lost to a hook that the interrupted code was about to set. So it is repeated,
 * each time after twice as many ticks. */
static void tick(void *user, int64_t used_ns)
{
    struct soc_budget *budget = user;
    if (budget->current == NULL)
        return;
    if (budget->turn_seen != budget->turn) {
        budget->turn_seen = budget->turn;
        budget->seen_ns = used_ns;
        budget->late_ticks = 0;
    } else if (used_ns - budget->seen_ns >=
               (int64_t)budget->cpu_ms_max * 1000000 - budget->margin_ns) {
        budget->is_timed_out = 1;
        uint32_t late = ++budget->late_ticks;
        if ((late & (late - 1)) == 0)
            set_urgent_hook(budget, budget->current); /* a signal may, as lua.c shows */
    }
}

/* Makes the timer for this thread. Without one, which a system may refuse, VM steps bound a
 * turn as they do in a simulation. */
static void make_timer(struct soc_budget *budget, uint32_t limit_ms)
{
    soc_cpu_timer_free(budget->timer);
    budget->timer_ms = limit_ms;
    budget->turn_seen = budget->turn - 1;
    budget->margin_ns = (int64_t)limit_ms * 1000000 / TICKS * MARGIN;
    budget->timer = soc_cpu_timer_new((int64_t)limit_ms * 1000 / TICKS, tick, budget);
}

void soc_budget_open(struct soc_script *script)
{
    assert(script->budget == NULL);
    script->budget = soc_alloc_zero(sizeof(*script->budget));
    script->budget->hook = check_turn;
    script->budget->running = running_script(script->L);
    script->steps_max = SOC_SCRIPT_STEPS_MAX;
    script->cpu_ms_max = SOC_SCRIPT_CPU_MS_MAX;
    script->memory_bytes_max = SOC_SCRIPT_GROWTH_BYTES_MAX;
    script->workers_max = SOC_WORKERS_MAX;
    soc_sandbox_set_budget(script->L, &(struct soc_sandbox_budget){
                                          .charge = charge_running,
                                          .refuse_text = refuse_text,
                                          .enter = enter,
                                          .text_bytes_max = SOC_SCRIPT_TEXT_BYTES_MAX,
                                      });
    bound_heap(script, false);
}

void soc_budget_close(struct soc_script *script)
{
    if (script->budget == NULL)
        return;
    assert(script->budget->current == NULL);
    soc_lua_heap_set_end(script->L, 0, NULL, NULL);
    soc_cpu_timer_free(script->budget->timer);
    free(script->budget);
    script->budget = NULL;
}

/* How much more an agent that thinks may use: conversations of models are long. */
#define THINKING 10

void soc_budget_renew(struct soc_script *script)
{
    struct soc_budget *budget = script->budget;
    uint32_t times = soc_behaviour_is_thinking(script) ? THINKING : 1;
    budget->cpu_ms_max = script->cpu_ms_max * times;
    budget->bytes_max = (size_t)script->memory_bytes_max * times;
    budget->steps_max = (int64_t)script->steps_max * times;
    budget->turn++;
    script->steps_left = budget->steps_max;
    budget->bytes_begun = soc_lua_heap_bytes(script->L);
    bound_heap(script, true);
    watch_heap(script);
}

/* Begins, with all of the budget unless a turn of the same script is open. */
static struct soc_budget_scope begin(struct soc_script *script, lua_State *co, bool counts_steps)
{
    struct soc_budget *budget = script->budget;
    struct soc_budget_scope scope = {*budget->running, budget->current, budget->counts_steps};
    if (scope.outer == NULL) {
        budget->is_timed_out = 0;
        budget->is_spent = false;
        soc_budget_renew(script);
    }
    budget->counts_steps = counts_steps;
    set_usual_hook(budget, co);
    assert(counts_steps || lua_gethook(co) == NULL); /* it would cost more than the turn does */
    *budget->running = script;
    budget->current = co;
    return scope;
}

void soc_budget_set_off(struct soc_script *script, bool is_off)
{
    assert(script->budget->current == NULL);
    script->budget->is_off = is_off;
    script->budget->timer_ms = 0;
    soc_cpu_timer_free(script->budget->timer);
    script->budget->timer = NULL;
}

struct soc_budget_scope soc_budget_begin(struct soc_script *script, lua_State *co)
{
    struct soc_budget *budget = script->budget;
    if (budget->is_off)
        return (struct soc_budget_scope){0};
    if (script->is_simulated)
        return begin(script, co, true);
    if (budget->timer_ms != script->cpu_ms_max ||
        (budget->timer != NULL && !soc_cpu_timer_is_mine(budget->timer)))
        make_timer(budget, script->cpu_ms_max);
    return begin(script, co, budget->timer == NULL);
}

struct soc_budget_scope soc_budget_begin_load(struct soc_script *script, lua_State *L)
{
    return begin(script, L, true);
}

void soc_budget_end(struct soc_script *script, lua_State *co, struct soc_budget_scope scope)
{
    struct soc_budget *budget = script->budget;
    if (budget->is_off)
        return;
    budget->current = scope.outer;
    budget->counts_steps = scope.outer_counts_steps;
    if (lua_gethook(co) == budget->hook)
        lua_sethook(co, NULL, 0, 0);
    *budget->running = scope.former;
    if (scope.outer == NULL) {
        soc_lua_heap_watch(script->L, 0, NULL, NULL);
        bound_heap(script, false);
    } else if (is_urgent(budget)) {
        set_urgent_hook(budget, scope.outer);
    }
}

void soc_budget_charge(lua_State *L, struct soc_script *script, uint64_t steps)
{
    charge(L, script, steps);
}

/* Of what a script asks of the host. */
#define STEPS_OF_EFFECT 100

void soc_budget_look(lua_State *L, struct soc_script *script)
{
    if (script->budget->current != NULL)
        charge(L, script, STEPS_OF_EFFECT);
}

bool soc_budget_is_spent(const struct soc_script *script)
{
    return script->budget->is_spent;
}

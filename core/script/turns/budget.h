/* Budget: what one turn may use, and how it is ended when it has used that up.
 *
 * A turn has a budget of CPU time, of memory it may add, and of the length of one text. In
 * a simulation VM steps stand for CPU time, so that a seed gives the same run everywhere.
 *
 * CPU time costs nothing until it is spent: a timer of the thread ticks a few times in each
 * budget, and a turn that is still the same one after enough ticks gets a hook, which ends
 * it at its next instruction. So a turn is ended up to two ticks before its budget is over,
 * never after it. Library functions that run long ask while they work. Memory is counted by the
 * heap; beyond its budget the hook collects garbage for as long as there is time, then decides.
 *
 * A turn over its budget ends with `budget_exceeded`, whatever it tries: the sandbox passes
 * the error through every pcall, and the hook ends each `<close>` handler at its first
 * instruction. Effects answered from the record renew the budget, because several turns are
 * then run as one.
 * Layer: script. Thread: loop; the timer's signal goes to it. */
#ifndef SOC_SCRIPT_TURNS_BUDGET_H
#define SOC_SCRIPT_TURNS_BUDGET_H

#include "script/turns/box.h"

/* Makes the budget; `script->is_simulated` must be set. Release with soc_budget_close(). */
void soc_budget_open(struct soc_script *script);
void soc_budget_close(struct soc_script *script);

/* Switches budgets off, or on again, between turns: to measure what they cost. */
void soc_budget_set_off(struct soc_script *script, bool is_off);

/* What was open when something began. */
struct soc_budget_scope {
    struct soc_script *former; /* whose turn; NULL: none */
    lua_State *outer;          /* the thread of this script's own turn; NULL: none */
    bool outer_counts_steps;
};

/* A turn begins in the coroutine `co`, or goes on there, with all of its budget. Inside an
 * open turn of the same script it uses that one's. End it with soc_budget_end(). */
struct soc_budget_scope soc_budget_begin(struct soc_script *script, lua_State *co);

/* The same for a script that loads: bounded by VM steps. */
struct soc_budget_scope soc_budget_begin_load(struct soc_script *script, lua_State *L);

/* Ends what began with that result. */
void soc_budget_end(struct soc_script *script, lua_State *co, struct soc_budget_scope scope);

/* The open turn has all of its budget again. */
void soc_budget_renew(struct soc_script *script);

/* Charges steps that the host makes for the open turn; ends it if its budget is spent. */
void soc_budget_charge(lua_State *L, struct soc_script *script, uint64_t steps);

/* Charges what a script asks of the host, if a turn is open. */
void soc_budget_look(lua_State *L, struct soc_script *script);

/* Tells whether the open turn, or the last one, was over its budget. */
bool soc_budget_is_spent(const struct soc_script *script);

#endif

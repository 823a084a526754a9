/* Sandbox: the deterministic environment in which scripts run.
 *
 * Each society has one environment table:
 *
 * - `pairs` and `next` iterate over numbers, then strings, sorted; other keys raise.
 * - `table.sort` is stable.
 * - `tostring` and `string.format` show no addresses; `%p` raises.
 * - `load` accepts text only, and once the environment is frozen nothing unless that is
 *   allowed (soc_sandbox_allow_load).
 * - The variable `_ENV` of a file is a constant, because all its functions share it.
 * - `pcall`, `xpcall` and coroutine.* do not catch errors that end a turn.
 * - `setmetatable` refuses `__gc` and `__mode`, and `__concat` where Lua is broken.
 * - Patterns, sorting and texts are counted against the budget and can be ended.
 * - `require` finds the society's own modules, then files next to the app, which run in
 *   the same environment.
 * - What is frozen (soc_sandbox_freeze) cannot be changed, not by `rawset` either. `pairs`
 *   and `next` show it as any other table.
 * - There is no io, debug, collectgarbage, dofile, loadfile, package, os.execute and
 *   the like, and no C module.
 * - `print`, `os.time`, `os.date`, `os.clock` and `math.random` go through the effect
 *   gate.
 *
 * Running out of memory ends the turn as a fatal error does, because the moment it
 * happens is not deterministic. A fatal error still runs the script's `<close>`
 * variables, so the gate must refuse effects from then on.
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_H
#define SOC_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "base/slice.h"
#include "sandbox/sandbox_gate.h"

/* Returns the address that, as a light userdata, is the value a gate function yields to
 * wait for the host. Scripts never get hold of it. */
void *soc_sandbox_host_yield_key(void);

/* Pushes a new environment. From then on methods of strings (`("x"):rep(3)`) come from
 * a copy of the string library without `dump` and addresses, everywhere in this Lua
 * state. */
void soc_sandbox_push(lua_State *L, const struct soc_sandbox_gate *gate);

/* Pushes the sandbox's `next`, even if a script has replaced its own. */
void soc_sandbox_push_next(lua_State *L);

/* Tells whether `setmetatable` refuses `__concat`, because this Lua corrupts memory with it. */
bool soc_sandbox_refuses_concat(void);

/* Makes require(name) in the environment at `index` return the value on top of the
 * stack, which is popped. For the society's own modules. */
void soc_sandbox_preload(lua_State *L, int index, const char *name);

/* Adds a directory in which require of the environment at `index` looks for `name.lua`
 * and `name/init.lua` (dots become slashes). Directories are searched in the order they
 * were added. */
void soc_sandbox_add_path(lua_State *L, int index, const char *directory);

/* Adds the directory of the program's own modules. Scripts see it as SOC_SANDBOX_OWN,
 * wherever the program is installed. */
#define SOC_SANDBOX_OWN "[society]/lua"
void soc_sandbox_add_own_path(lua_State *L, int index, const char *directory);

/* Makes require of the environment at `index` ask the function on top of the stack, which is
 * popped, instead of searching directories: finder(name) -> name of the file, its text. It
 * raises if there is no such module. */
void soc_sandbox_set_finder(lua_State *L, int index);

/* Freezes the libraries of the environment at `index`, the names it came with and the
 * program's modules (`society` and what begins with `society.`), now and as they are
 * loaded: whoever changes one of them gets an error. What the app has changed by then
 * stays. Calling it again does nothing. */
void soc_sandbox_freeze(lua_State *L, int index);

/* Sets whether `load` works in the environment at `index` when it is frozen; it does not
 * (default). */
void soc_sandbox_allow_load(lua_State *L, int index, bool is_allowed);

/* Tells whether it works now. */
bool soc_sandbox_may_load(lua_State *L, int index);

/* Pushes a frozen table that shows what the table at `index` has at any time; errors call
 * it `name`. */
void soc_sandbox_push_view(lua_State *L, int index, const char *name);

/* Loads the file as text with the environment at `index` and pushes its chunk.
 * SOC_ENOFILE, SOC_EACCESS, SOC_ESCRIPT: nothing is pushed and `detail` is set, for a
 * syntax error with file and line. `chunk_name` is the name of the file in error
 * messages. A byte order mark and a shebang line are skipped. */
int soc_sandbox_load(lua_State *L, int index, const char *path, const char *chunk_name,
                     struct soc_detail *detail);

/* The same for text that is already in memory. */
int soc_sandbox_load_text(lua_State *L, int index, struct soc_slice text, const char *chunk_name,
                          struct soc_detail *detail);

/* Sets who counts the work of library functions; returns the former one. */
struct soc_sandbox_budget soc_sandbox_set_budget(lua_State *L,
                                                 const struct soc_sandbox_budget *budget);

/* Raises an error that no script can catch: it ends the turn (budget, cancellation, a
 * failed replay). The host reads the value on top of the stack. */
int soc_sandbox_raise_fatal(lua_State *L);

/* Lends the number of such errors so far, valid as long as the Lua state. */
const uint64_t *soc_sandbox_fatal_count(lua_State *L);

/* If the value at `index` is such an error, pushes what it carries and returns 1; else
 * returns 0 and pushes nothing. Call it once, with the thread that failed: it also
 * finds a fatal error of that thread that a `<close>` variable of the script replaced. */
int soc_sandbox_fatal_value(lua_State *L, int index);

#endif

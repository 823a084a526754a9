/* Sandbox: the environment scripts run in, where nothing is left to chance.
 *
 * Each society has one environment table. In it `pairs` and `next` give numbers,
 * then strings, sorted (other keys raise), `table.sort` is stable and ours,
 * `tostring` and `string.format` show no addresses (`%p` raises), `load` takes
 * text only, `pcall`, `xpcall` and coroutine.* let through the errors that end a
 * turn, `setmetatable` refuses `__gc` and `__mode`, `require` finds the society's
 * own modules, then files beside the app, run in the same environment. There is
 * no io, debug, collectgarbage, dofile, loadfile, package, os.execute and the
 * like, and no C module. `print`, `os.time`, `os.date`, `os.clock` and
 * `math.random` go through the effect gate by the functions given here.
 *
 * Running out of memory ends the turn as a fatal error does: when it happens is
 * chance. A fatal error still runs the `<close>` variables of the script on its
 * way out, so the gate has to refuse effects from then on.
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_H
#define SOC_SANDBOX_SANDBOX_H

#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "base/slice.h"
#include "sandbox/sandbox_gate.h"

/* Returns the address that, as a light userdata, is the one value a gate function
 * yields to wait for the host. Scripts never get hold of it. */
void *soc_sandbox_host_yield_key(void);

/* Pushes a new environment. From then on methods of strings (`("x"):rep(3)`) come
 * from a copy of the string library without `dump` and addresses, everywhere in
 * this Lua state. */
void soc_sandbox_push(lua_State *L, const struct soc_sandbox_gate *gate);

/* Pushes `next` as scripts get it, whatever one of them has put in its place. */
void soc_sandbox_push_next(lua_State *L);

/* Makes require(name) in the environment at `index` return the value on top of
 * the stack, which is popped. For the society's own modules. */
void soc_sandbox_preload(lua_State *L, int index, const char *name);

/* Adds a directory where require in the environment at `index` looks for
 * `name.lua` and `name/init.lua` (dots in the name become slashes). Directories
 * are searched in the order they were added. */
void soc_sandbox_add_path(lua_State *L, int index, const char *directory);

/* Adds the directory of the program's own modules, which scripts see by the name
 * SOC_SANDBOX_OWN: the same wherever the program was installed. */
#define SOC_SANDBOX_OWN "[society]/lua"
void soc_sandbox_add_own_path(lua_State *L, int index, const char *directory);

/* Loads the file as text with the environment at `index` and pushes its chunk.
 * SOC_OK; SOC_ENOFILE, SOC_EACCESS, SOC_ESCRIPT with `detail` (the syntax error
 * with file and line) and nothing pushed. `chunk_name` is how the file is called
 * in error messages; a byte order mark and a first line that begins with # are skipped. */
int soc_sandbox_load(lua_State *L, int index, const char *path, const char *chunk_name,
                     struct soc_detail *detail);

/* The same for text that was read already. */
int soc_sandbox_load_text(lua_State *L, int index, struct soc_slice text, const char *chunk_name,
                          struct soc_detail *detail);

/* Raises an error no script can catch: it ends the turn (budget, cancel, a
 * failed replay). The value on top of the stack is what the host reads. */
int soc_sandbox_raise_fatal(lua_State *L);

/* Lends the number of such errors in this Lua state so far, which lives as long as it. */
const uint64_t *soc_sandbox_fatal_count(lua_State *L);

/* If the value at `index` is such an error, pushes what it carries and returns
 * 1; else returns 0 and pushes nothing. Call it once, with the thread that
 * failed: it also knows a fatal error of that thread in whose place the script's
 * `<close>` variables raised another one. */
int soc_sandbox_fatal_value(lua_State *L, int index);

#endif

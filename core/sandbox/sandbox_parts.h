/* Sandbox parts: what the files of the sandbox share, private to them.
 *
 * An open function expects the environment on top of the stack, or the library's
 * table where it says so, and sets its functions there; it leaves the stack as
 * it was. Some take the place of a native function found there, which they call
 * in their own frame after checking its arguments.
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_PARTS_H
#define SOC_SANDBOX_SANDBOX_PARTS_H

#include <stdint.h>

#include <lua.h>

#include "sandbox/sandbox_gate.h"

/* Loops of the table library that no hook interrupts end here. */
#define SOC_SANDBOX_ELEMENTS_MAX 100000000
/* Coroutines resumed inside one another; Lua's own limit on nested C calls is
 * not far above. */
#define SOC_SANDBOX_RESUME_DEPTH_MAX 50

/* One for each Lua state: a userdata with the user values below. */
struct soc_sandbox_state {
    uint64_t fatal_count; /* fatal errors so far; each has its number */
    int resume_depth;     /* coroutines of scripts now inside one another */
};

/* Its user values, by number. */
enum soc_sandbox_state_value {
    SOC_SANDBOX_DOOMED = 1, /* weak: thread -> its last fatal error */
    SOC_SANDBOX_MADE,       /* weak: threads made by scripts -> true */
    SOC_SANDBOX_MODULES,    /* weak: environment -> its modules (sandbox_require.c) */
    SOC_SANDBOX_CHUNKS,     /* name of a chunk -> what it was compiled to (sandbox_load.c) */
    SOC_SANDBOX_NATIVES,    /* a userdata: native functions found once (sandbox.c) */
};

/* Pushes the state's userdata, made at first use, and lends it. */
struct soc_sandbox_state *soc_sandbox_push_state(lua_State *L);

/* Pushes one of the state's tables. */
void soc_sandbox_push_state_value(lua_State *L, enum soc_sandbox_state_value which);

/* Looks at the error on top of the stack, which the thread at index `thread` (0:
 * this one) raised with `status`, and raises it on if it may not be caught: out
 * of memory, or a fatal error that came after `fatal_count` was read. Else
 * leaves the stack as it was. */
void soc_sandbox_pass_fatal(lua_State *L, int thread, int status, uint64_t fatal_count);

/* Tells whether the value at `index` is a fatal error, however old. */
int soc_sandbox_is_fatal(lua_State *L, int index);

/* Pushes the text of any value, as tostring does but without addresses: `__tostring`,
 * else `__name`, else the name of its type. */
void soc_sandbox_push_text(lua_State *L, int index);

/* Wraps the function `name` of the table on top of the stack: the new one has the
 * old one as upvalue 1. */
void soc_sandbox_wrap(lua_State *L, const char *name, lua_CFunction wrapper);

/* Calls the wrapped function in the frame of its wrapper. */
int soc_sandbox_call_wrapped(lua_State *L);

/* pcall, xpcall and load (native load in its place) of the environment. */
void soc_sandbox_open_calls(lua_State *L);

/* pairs and next of the environment. */
void soc_sandbox_open_pairs(lua_State *L);

/* tostring and print of the environment. */
void soc_sandbox_open_text(lua_State *L, const struct soc_sandbox_gate *gate);

/* getmetatable and setmetatable of the environment. */
void soc_sandbox_open_metatables(lua_State *L);

/* require of the environment, with its modules. */
void soc_sandbox_open_require(lua_State *L);

/* format and rep of a string library's table. */
void soc_sandbox_open_string(lua_State *L);

/* sort, insert, remove, move and concat of a table library's table. */
void soc_sandbox_open_table(lua_State *L);

/* The functions of a coroutine library's table. */
void soc_sandbox_open_coroutine(lua_State *L);

/* time, date and clock of an os library's table. */
void soc_sandbox_open_os(lua_State *L, const struct soc_sandbox_gate *gate);

#endif

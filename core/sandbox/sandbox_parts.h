/* Sandbox parts: what the files of the sandbox share, private to them.
 *
 * An open function expects the environment on top of the stack, or the library's table
 * where it says so, sets its functions there and leaves the stack as it was. Some
 * replace a native function found there, which they call in their own frame after
 * checking its arguments.
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_PARTS_H
#define SOC_SANDBOX_SANDBOX_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "sandbox/sandbox_gate.h"

/* Bound for loops of the table library, which no hook interrupts. */
#define SOC_SANDBOX_ELEMENTS_MAX 100000000
/* Nesting of coroutines that are resumed or closed; Lua's own limit on nested C calls is
 * not far above. */
#define SOC_SANDBOX_RESUME_DEPTH_MAX 50

/* One per Lua state: a userdata with the user values below. */
struct soc_sandbox_state {
    uint64_t fatal_count; /* fatal errors so far, which numbers them */
    int resume_depth;     /* current nesting of scripts' coroutines */
    struct soc_sandbox_budget budget;
};

/* Its user values, by number. */
enum soc_sandbox_state_value {
    SOC_SANDBOX_DOOMED = 1, /* weak: thread -> its last fatal error */
    SOC_SANDBOX_MADE,       /* weak: threads created by scripts -> true */
    SOC_SANDBOX_MODULES,    /* weak: environment -> its modules (sandbox_require.c) */
    SOC_SANDBOX_CHUNKS,     /* chunk name -> its text and bytecode (sandbox_load.c) */
    SOC_SANDBOX_NATIVES,    /* a userdata: native functions, looked up once (sandbox.c) */
};

/* Pushes the state's userdata, created at first use, and lends it. */
struct soc_sandbox_state *soc_sandbox_push_state(lua_State *L);

/* Pushes one of the state's tables. */
void soc_sandbox_push_state_value(lua_State *L, enum soc_sandbox_state_value which);

/* Rethrows the error on top of the stack if it must not be caught: out of memory, or a
 * fatal error raised after `fatal_count` was read. The thread at index `thread` (0:
 * this one) raised it with `status`. Otherwise leaves the stack as it was. */
void soc_sandbox_pass_fatal(lua_State *L, int thread, int status, uint64_t fatal_count);

/* Returns true if the value at `index` is a fatal error, even an old one. */
int soc_sandbox_is_fatal(lua_State *L, int index);

/* Returns true if the thread at `index` has met a fatal error. */
bool soc_sandbox_is_doomed(lua_State *L, int index);

/* Pushes any value as text, like tostring but without addresses: `__tostring`, else
 * `__name`, else the name of its type. */
void soc_sandbox_push_text(lua_State *L, int index);

/* Replaces the function `name` of the table on top of the stack by `wrapper`, with the
 * old one as upvalue 1. */
void soc_sandbox_wrap(lua_State *L, const char *name, lua_CFunction wrapper);

/* Calls the wrapped function in the frame of its wrapper. */
int soc_sandbox_call_wrapped(lua_State *L);

/* If the table at `index` is frozen, pushes the hidden table that has its content and
 * returns true; else pushes nothing. */
bool soc_sandbox_push_hidden(lua_State *L, int index);

/* Replaces a frozen table at `index` (> 0) by a copy of what it shows. */
void soc_sandbox_thaw(lua_State *L, int index);

/* Raises if the table at 1 is frozen, or its key at 2. */
void soc_sandbox_check_rawset(lua_State *L);

/* Freezes the table at `index`, which errors call `name`. */
void soc_sandbox_freeze_table(lua_State *L, int index, const char *name);

/* Freezes those fields of the table at `index` that are keys of the one at `names`. */
void soc_sandbox_freeze_names(lua_State *L, int index, int names);

/* Charges steps that a function of a library has made. Raises a fatal error if the budget is
 * spent. */
void soc_sandbox_charge(lua_State *L, uint64_t steps);

/* Charges the making of a text of so many bytes, or a walk over it; ends the turn if it is
 * too long. Nearly free for short ones. */
void soc_sandbox_check_bytes(lua_State *L, size_t bytes);

/* Checks the length of a growing text each time it has doubled. */
void soc_sandbox_check_growth(lua_State *L, size_t bytes, size_t *bytes_checked);

/* pcall, xpcall and load of the environment. */
void soc_sandbox_open_calls(lua_State *L);

/* pairs and next of the environment. */
void soc_sandbox_open_pairs(lua_State *L);

/* tostring and print of the environment. */
void soc_sandbox_open_text(lua_State *L, const struct soc_sandbox_gate *gate);

/* getmetatable and setmetatable of the environment. */
void soc_sandbox_open_metatables(lua_State *L);

/* require of the environment, with its modules. */
void soc_sandbox_open_require(lua_State *L);

/* Notes the names that the environment on top comes with: soc_sandbox_freeze() freezes
 * them. */
void soc_sandbox_note_names(lua_State *L);

/* find, match, gmatch and gsub of a string library's table. */
void soc_sandbox_open_pattern(lua_State *L);

/* format, rep and others of a string library's table. */
void soc_sandbox_open_string(lua_State *L);

/* sort, insert, remove, move, concat and unpack of a table library's table. */
void soc_sandbox_open_table(lua_State *L);

/* The functions of a coroutine library's table. */
void soc_sandbox_open_coroutine(lua_State *L);

/* time, date and clock of an os library's table. */
void soc_sandbox_open_os(lua_State *L, const struct soc_sandbox_gate *gate);

#endif

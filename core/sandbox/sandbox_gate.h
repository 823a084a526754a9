/* Sandbox gate: the functions through which a sandbox reaches the outside.
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_GATE_H
#define SOC_SANDBOX_SANDBOX_GATE_H

#include <stdint.h>

#include <lua.h>

/* The gate's functions that the environment needs. Each is a Lua C function with the
 * arguments of the one it replaces and has `upvalue` (a light userdata) as upvalue 1.
 *
 * A gate function waits by yielding soc_sandbox_host_yield_key(), even inside
 * coroutines of scripts: they pass the wait outward to the host, and its resume inward
 * again, without values. While such a coroutine runs it has the extra space
 * (lua_getextraspace) and the hook of the thread that resumed it: a count hook with a
 * count of at most SOC_SANDBOX_HOOK_STEPS. A budget hook charges lua_gethookcount(L)
 * steps each time. */
struct soc_sandbox_gate {
    lua_CFunction print;  /* all arguments are strings */
    lua_CFunction time;   /* os.time() without arguments; with a table it is pure */
    lua_CFunction clock;  /* os.clock */
    lua_CFunction random; /* math.random */
    void *upvalue;
};

/* Who counts what the functions of libraries do, where no hook sees them. One for each Lua
 * state; NULL: nobody. */
struct soc_sandbox_budget {
    /* So many steps were made. Raises a fatal error if the turn has spent its budget. */
    void (*charge)(lua_State *L, uint64_t steps);
    /* A text would be longer than `limit` bytes. Raises a fatal error. */
    void (*refuse_text)(lua_State *L, uint64_t limit);
    /* From now on the thread `L` runs: a script has resumed or left a coroutine. */
    void (*enter)(lua_State *L);
    uint64_t text_bytes_max; /* 0: not bounded */
};

/* Largest count of a count hook in a script's coroutine, in VM instructions. */
#define SOC_SANDBOX_HOOK_STEPS 100

#endif

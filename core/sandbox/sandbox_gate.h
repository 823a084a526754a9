/* Sandbox gate: the functions through which a sandbox reaches the world.
 *
 * Layer: sandbox. Thread: loop. */
#ifndef SOC_SANDBOX_SANDBOX_GATE_H
#define SOC_SANDBOX_SANDBOX_GATE_H

#include <lua.h>

/* Functions of the gate that the environment needs, each a Lua C function taking
 * the same arguments as the one it stands for. `upvalue` (a light userdata) is
 * upvalue 1 of each.
 *
 * A gate function waits by yielding soc_sandbox_host_yield_key(), also inside
 * coroutines made by scripts: those hand the wait outward to the host, and its
 * resume inward again with no values. While such a coroutine runs it has the
 * extra space (lua_getextraspace) and the hook of the thread that resumed it, a
 * count hook with a count of at most SOC_SANDBOX_HOOK_STEPS: a budget hook
 * charges lua_gethookcount(L) steps each time. */
struct soc_sandbox_gate {
    lua_CFunction print;  /* all arguments are strings */
    lua_CFunction time;   /* os.time() without arguments; with a table it is pure */
    lua_CFunction clock;  /* os.clock */
    lua_CFunction random; /* math.random */
    void *upvalue;
};

/* How many VM instructions a count hook of a script's coroutine skips at most. */
#define SOC_SANDBOX_HOOK_STEPS 100

#endif

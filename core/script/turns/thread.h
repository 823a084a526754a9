/* Thread: the pool of coroutines that activations run in.
 *
 * A coroutine belongs to one activation from its first turn to its last. Then it goes
 * back to the pool, because making one costs more than most turns do.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_THREAD_H
#define SOC_SCRIPT_TURNS_THREAD_H

#include "script/turns/box.h"

/* A pooled coroutine: `activation->script` of the activation it runs. */
struct soc_thread {
    lua_State *co;           /* its extra space points to the script */
    int ref;                 /* keeps `co` alive */
    const void *handle;      /* the userdata of the agent, at index 1 of its stack */
    struct soc_seat *seat;   /* of an isolated agent; NULL: none */
    struct soc_cell *cell;   /* the same in a simulation */
    bool is_spent;           /* its last turn was over its budget */
    uint64_t fatal_count;    /* of the Lua state when it was taken */
    struct soc_thread *next; /* in the pool */
};

/* Takes a coroutine with an empty stack from the pool, or makes one. Return it with
 * soc_thread_give(). */
struct soc_thread *soc_thread_take(struct soc_script *script);

/* Returns it. Its stack must be empty and nothing may be running in it. */
void soc_thread_give(struct soc_script *script, struct soc_thread *thread);

/* Gives up a coroutine whatever is left on its stack: the collector takes it. */
void soc_thread_discard(struct soc_script *script, struct soc_thread *thread);

/* Frees the pool. */
void soc_thread_free_all(struct soc_script *script);

#endif

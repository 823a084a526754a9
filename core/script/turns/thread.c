#include "script/turns/thread.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct soc_thread *soc_thread_take(struct soc_script *script)
{
    struct soc_thread *thread = script->free_threads;
    if (thread != NULL) {
        script->free_threads = thread->next;
    } else {
        thread = soc_alloc_zero(sizeof(*thread));
        thread->co = lua_newthread(script->L);
        *(struct soc_script **)lua_getextraspace(thread->co) = script;
        thread->ref = luaL_ref(script->L, LUA_REGISTRYINDEX);
    }
    assert(lua_gettop(thread->co) == 0);
    thread->fatal_count = *script->fatal_count;
    return thread;
}

void soc_thread_discard(struct soc_script *script, struct soc_thread *thread)
{
    luaL_unref(script->L, LUA_REGISTRYINDEX, thread->ref);
    free(thread);
}

/* The sandbox remembers fatal errors by thread. A thread that may have met one is not
 * reused, because its next error would look fatal. */
void soc_thread_give(struct soc_script *script, struct soc_thread *thread)
{
    assert(lua_gettop(thread->co) == 0);
    if (thread->fatal_count != *script->fatal_count) {
        soc_thread_discard(script, thread);
        return;
    }
    thread->next = script->free_threads;
    script->free_threads = thread;
}

void soc_thread_free_all(struct soc_script *script)
{
    while (script->free_threads != NULL) {
        struct soc_thread *thread = script->free_threads;
        script->free_threads = thread->next;
        soc_thread_discard(script, thread);
    }
}

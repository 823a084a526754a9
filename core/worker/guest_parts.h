/* Guest parts: what the files of a guest share, private to them.
 *
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_GUEST_PARTS_H
#define SOC_WORKER_GUEST_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/buf.h"

/* One per process; the extra space of its Lua state points to it. */
struct soc_guest {
    int fd;
    lua_State *L;
    struct soc_buf in;  /* the last frame of the host */
    struct soc_buf out; /* the frame to be written */
    bool is_running;    /* a message is handled: the agent and `society` can be asked */
    const void *handle; /* the agent of that message */

    /* References to what Lua keeps. */
    int env_ref;
    int fields_ref;       /* the agent's fields that never change */
    int methods_ref;      /* the agent's methods, by name */
    int message_meta_ref; /* the metatable of messages */
    int roles_ref;        /* the behaviours that the app declares, by role */
    int loaded_ref;       /* the modules that came from the host, by name */
    int behaviour_ref;

    /* The budget of memory. */
    uint64_t memory_bytes;
    size_t bytes_begun;
    lua_State *current; /* the thread that runs */
    bool is_grown;
    lua_Hook hook;
};

/* Lends the guest of a Lua state. */
struct soc_guest *soc_guest_of(lua_State *L);

/* Begins a frame: a list with `what`. */
void soc_guest_begin(struct soc_guest *guest, const char *what);

/* Adds a text, or the value at `index`, as JSON. The latter raises if it is no JSON; `what` names
 * it in the error. */
void soc_guest_put_text(struct soc_guest *guest, struct soc_slice text);
void soc_guest_put_value(lua_State *L, struct soc_guest *guest, int index, const char *what);

/* Adds the values from `first` to the top as a list. */
void soc_guest_put_arguments(lua_State *L, struct soc_guest *guest, int first);

/* Sends the frame and pushes the results that the host answers with; returns their number.
 * Raises what the host raises. */
int soc_guest_ask(lua_State *L, struct soc_guest *guest);

/* Sends the frame. */
void soc_guest_say(struct soc_guest *guest);

/* The budget `which` is spent: says so and ends the process. */
void soc_guest_end_over(struct soc_guest *guest, const char *which, uint64_t limit);

/* Makes the environment: the sandbox, `society`, the agent's methods by the names in `open`. */
void soc_guest_make_world(lua_State *L, struct soc_guest *guest, struct soc_slice open);

/* Pushes a new handle of the agent, which from now on is the one that works. `state` (JSON)
 * is its state, absent: none. */
void soc_guest_push_agent(lua_State *L, struct soc_guest *guest, struct soc_slice state);

/* Adds the state of the handle at `index` to the frame; null: the script has not touched it. */
void soc_guest_put_state(lua_State *L, struct soc_guest *guest, int index);

/* Pushes a message from its JSON. */
void soc_guest_push_message(lua_State *L, const struct soc_guest *guest, struct soc_slice json);

#endif

/* Behaviour: what a role does with its messages.
 *
 * A behaviour is a function, a table of handlers by message type (`default` takes the
 * rest), a table of stages { sense, think, act }, or the name of a role or module that
 * has one. Each is kept as a function or a table of handlers; `role->script_mark` is the
 * reference.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_BEHAVIOUR_H
#define SOC_SCRIPT_TURNS_BEHAVIOUR_H

#include "script/turns/box.h"

/* Prepares the script for behaviours, and releases all that were kept. */
void soc_behaviour_open(struct soc_script *script);
void soc_behaviour_fini(struct soc_script *script);

/* Keeps the behaviour at `index` until the script ends and returns its reference. Raises
 * if it is not a behaviour, or what its module raises. */
int soc_behaviour_keep(lua_State *L, struct soc_script *script, int index);

/* Keeps the name of a module at `index`, which is not loaded here: the role is isolated. A
 * role's name, or `llm`, is kept as by soc_behaviour_keep(). */
int soc_behaviour_keep_name(lua_State *L, struct soc_script *script, int index);

/* Lends the name by which the role's behaviour was given; NULL: it is a function or a table. */
const char *soc_behaviour_name(const struct soc_script *script, const struct soc_role *role);

/* Finds the behaviours of roles that name theirs and have none yet: those made inside a
 * turn, after a restart. */
void soc_behaviour_find_all(struct soc_script *script);

/* Pushes the function that handles the message of `activation`; false, with nothing pushed,
 * if its agent has none. What the host itself sends goes to the handler of its type, else to
 * the handler `system`, and to agents that think. */
bool soc_behaviour_push(lua_State *L, const struct soc_script *script,
                        const struct soc_activation *activation);

/* The same for the behaviour on top, which is popped. */
bool soc_behaviour_choose(lua_State *L, const struct soc_script *script,
                          const struct soc_activation *activation);

/* Logs that the agent has no handler for its message; returns 0. */
int soc_behaviour_skip(struct soc_script *script, const struct soc_activation *activation);

/* Tells whether the role's behaviour has a handler for exactly this type. */
bool soc_behaviour_handles(lua_State *L, const struct soc_role *role, const char *type);

/* Pops the function on top and keeps it as `main`, replacing any earlier one. */
void soc_behaviour_set_main(lua_State *L, struct soc_script *script);

/* How long requests wait by default for agents with the behaviour of that name; 0: as for
 * others. */
int64_t soc_behaviour_reply_timeout(struct soc_slice name);

/* Tells whether there is a `main`. */
bool soc_behaviour_has_main(const struct soc_script *script);

/* Pushes `main`; false, with nothing pushed, if there is none. */
bool soc_behaviour_push_main(lua_State *L, const struct soc_script *script);

/* Tells whether agents in that role have the behaviour `llm`. */
bool soc_behaviour_thinks(const struct soc_script *script, const struct soc_role *role);

/* Tells whether the open turn, if there is one, is of the behaviour `llm`. */
bool soc_behaviour_is_thinking(const struct soc_script *script);

#endif

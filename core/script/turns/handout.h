/* Handout: what an isolated agent's worker is given to run, and who it is.
 *
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_HANDOUT_H
#define SOC_SCRIPT_TURNS_HANDOUT_H

#include "script/turns/box.h"

/* Keeps the app's file and its arguments for isolated agents whose behaviour is in it. */
void soc_handout_set_app(struct soc_script *script, const char *path, int argc, char **argv);

/* Appends the parts of an activation's first frame, worker/guest.h. */
void soc_handout_put_open(struct soc_script *script, const struct soc_activation *activation,
                          struct soc_buf *out);
void soc_handout_put_run(const struct soc_activation *activation, struct soc_buf *out);

/* Tells whether the app's file must run to find the role's behaviour. */
bool soc_handout_needs_app(const struct soc_script *script, const struct soc_role *role);

/* As a lua_CFunction: (name) -> path, text of the module of that name, the app's or the
 * program's. Raises if there is none. */
int soc_handout_find(lua_State *L, const struct soc_script *script);

#endif

/* Lint: finds calls of functions that do not exist, without running the app.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_LINT_H
#define SOC_MAIN_LINT_H

#include <stdbool.h>

#include <lua.h>

/* Reports on stderr, with file and line, each `society.NAME` outside comments and strings
 * that the module does not have. `box`: stack index of the script's box. Returns their
 * number. */
int soc_lint_calls(lua_State *L, int box, const char *path);

/* Warns on stderr of what the sandbox would refuse: names that scripts do not have, `load`
 * unless `may_load`, fields of metatables, functions that change a library. It follows
 * `_G.NAME` and `local o = os`, but no further. Names that the file uses for locals of its own are
 * left alone. A warning is no fault. */
void soc_lint_refused(const char *path, bool may_load);

#endif

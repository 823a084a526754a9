/* Lint: finds calls of functions that do not exist, without running the app.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_LINT_H
#define SOC_MAIN_LINT_H

#include <lua.h>

/* Reports on stderr, with file and line, each `society.NAME` outside comments and strings
 * that the module does not have. `box`: stack index of the script's box. Returns their
 * number. */
int soc_lint_calls(lua_State *L, int box, const char *path);

#endif

/* Lint: calls of an app that nothing will answer, found without running them.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_LINT_H
#define SOC_MAIN_LINT_H

#include <lua.h>

/* Reads the file and reports on stderr, with file and line, each `society.NAME`
 * outside comments and texts that the module does not have. `box`: stack index of
 * the script's box. Returns how many there were. */
int soc_lint_calls(lua_State *L, int box, const char *path);

#endif

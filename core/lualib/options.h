/* Options: reads option tables of functions that scripts call.
 *
 * Fields are read raw. Errors are raised with the name of the call and of the option.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_OPTIONS_H
#define SOC_LUALIB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/slice.h"

/* Raises unless every key of the table at `index` is in `known` (NULL-terminated). The
 * error names the smallest unknown key, independent of Lua's order. */
void soc_option_check_names(lua_State *L, int index, const char *what, const char *const *known);

/* Raises if the field `name` of the table at `index` is present but not of type `type`. */
void soc_option_check(lua_State *L, int index, const char *call, const char *name, int type);

/* During a walk with lua_next: lends the key below the value on top. Raises, with
 * `what` as the name of the table, if it is not a string without NUL. */
const char *soc_option_name(lua_State *L, const char *what);

/* Reads `timeout_ms` of the table at `index`; `otherwise` if absent. */
int64_t soc_option_timeout(lua_State *L, int index, const char *call, int64_t otherwise);

/* The same for an integer option of any value. */
int64_t soc_option_integer(lua_State *L, int index, const char *call, const char *name,
                           int64_t otherwise);

/* Returns true if it is UTF-8 without NUL, as the host requires of texts. */
bool soc_option_is_text(struct soc_slice text);

/* Pushes the field without calling metamethods and returns its type. */
int soc_option_field(lua_State *L, int index, const char *name);

#endif

/* Options: reads the tables that functions for scripts are given.
 *
 * Fields are read without asking a metatable, and what is wrong raises with the name of
 * the call and of the option.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_OPTIONS_H
#define SOC_LUALIB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

#include "base/slice.h"

/* Raises unless every key of the table at `index` is one of `known`
 * (NULL ends it); the smallest unknown one is named, whatever order Lua keeps. */
void soc_option_check_names(lua_State *L, int index, const char *what, const char *const *known);

/* Raises if the table at `index` has a field `name` of another type than `type`. */
void soc_option_check(lua_State *L, int index, const char *call, const char *name, int type);

/* While a table is walked with lua_next: lends the key below the value on top, a name;
 * raises, with `what` the table is, if it is none. */
const char *soc_option_name(lua_State *L, const char *what);

/* Reads `timeout_ms` of the table at `index`; `otherwise` if it is not there. */
int64_t soc_option_timeout(lua_State *L, int index, const char *call, int64_t otherwise);

/* The same for an integer of any size. */
int64_t soc_option_integer(lua_State *L, int index, const char *call, const char *name,
                           int64_t otherwise);

/* Tells whether it is UTF-8 without a NUL: what the host keeps as a text. */
bool soc_option_is_text(struct soc_slice text);

/* Pushes the field without asking a metatable; returns its type. */
int soc_option_field(lua_State *L, int index, const char *name);

#endif

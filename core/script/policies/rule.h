/* Rule: reads a Lua description of a value into a shape.
 *
 * A rule is the name of a kind, or a table:
 *         kind      a name, or a list of names; "any" is every value
 *         values    the texts a string may be
 *         items     the rule of a list's elements
 *         fields    the rules of an object's members, by name
 *         required  the names of the required ones
 * Without `kind`, the other fields imply an object, a list or a string.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_POLICIES_RULE_H
#define SOC_SCRIPT_POLICIES_RULE_H

#include <lua.h>

#include "model/shape.h"

/* Returns a shape for any value, to be filled. */
struct soc_shape *soc_rule_new_shape(void);

/* Fills the shape from the rule at `index`. Raises an error that names `path` if it is
 * invalid; the caller frees the shape in either case. `depth` is 0. */
void soc_rule_read(lua_State *L, int index, const char *path, int depth, struct soc_shape *shape);

/* The same for members only: `fields` and `required` of the table at `index`, which may
 * hold more. `optional` (NULL: none) is never required. */
void soc_rule_read_fields(lua_State *L, int index, const char *path, int depth,
                          const char *optional, struct soc_shape *shape);

/* Lends the smallest key of the table at `index` after `name` (NULL: the first), or
 * NULL at the end, so that tables are read in a fixed order. Raises an error that names
 * `path` for a key that is not a string. */
const char *soc_rule_next_name(lua_State *L, int index, const char *path, const char *name);

/* Raises an error that names `path` for a key of the table at `index` that is not in
 * `known` (NULL-terminated). */
void soc_rule_check_names(lua_State *L, int index, const char *path, const char *const *known);

#endif

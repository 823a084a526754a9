/* Lua flat: tables of a few plain members, written and copied in one walk.
 *
 * Most payloads are such tables, and most have the names of one seen before: its
 * shape. A shape keeps its names sorted and written as JSON, so that only the
 * values are left to do. Names are told by the address Lua keeps them at; a shape
 * keeps its own alive. Whatever is not of this kind is left to lua_json.h, which
 * would write the same bytes and says what is wrong.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_FLAT_H
#define SOC_LUALIB_LUA_FLAT_H

#include <stdbool.h>

#include <lua.h>

#include "base/buf.h"

struct soc_flat_shapes;

/* Returns an empty set of shapes. `watched`, a list of names that NULL ends, is
 * lent for ever. Release with soc_flat_shapes_free(). */
struct soc_flat_shapes *soc_flat_shapes_new(const char *const *watched);

/* Frees it. NULL is allowed. */
void soc_flat_shapes_free(lua_State *L, struct soc_flat_shapes *shapes);

/* What there is to know of a table that was written. */
struct soc_flat {
    bool wants_copy; /* asked for: a copy of the table is pushed */
    bool is_watched; /* told: one of the watched names is in it */
};

/* Appends the value at `index` as JSON of at most `bytes_max` bytes. False, with
 * nothing appended or pushed, if it is no table of this kind or cannot be JSON.
 * Raises only Lua's memory errors, calls no metamethods. */
bool soc_flat_encode(lua_State *L, struct soc_flat_shapes *shapes, int index, size_t bytes_max,
                     struct soc_buf *out, struct soc_flat *flat);

#endif

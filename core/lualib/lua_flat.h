/* Lua flat: encodes and copies small tables of plain values in one pass.
 *
 * Most payloads are such tables, and most have the same member names as an earlier one:
 * its shape. A shape holds the names sorted and encoded as JSON, so only the values
 * remain to be written. Names are compared by address; a shape keeps its names alive.
 * Other values go to lua_json.h, which writes the same bytes and reports faults.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_FLAT_H
#define SOC_LUALIB_LUA_FLAT_H

#include <stdbool.h>

#include <lua.h>

#include "base/buf.h"

struct soc_flat_shapes;

/* Returns an empty set of shapes. `watched`, a NULL-terminated list of names, must
 * outlive it. Release with soc_flat_shapes_free(). */
struct soc_flat_shapes *soc_flat_shapes_new(const char *const *watched);

/* Frees it. NULL is allowed. */
void soc_flat_shapes_free(lua_State *L, struct soc_flat_shapes *shapes);

/* Options and result of an encoding. */
struct soc_flat {
    bool wants_copy; /* in: push a copy of the table */
    bool is_watched; /* out: the table has one of the watched names */
};

/* Appends the value at `index` as JSON of at most `bytes_max` bytes. Returns false,
 * with nothing appended or pushed, if it is not such a table or cannot be JSON. Raises
 * only on out of memory and calls no metamethods. */
bool soc_flat_encode(lua_State *L, struct soc_flat_shapes *shapes, int index, size_t bytes_max,
                     struct soc_buf *out, struct soc_flat *flat);

#endif

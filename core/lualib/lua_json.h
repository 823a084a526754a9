/* Lua JSON: straight between JSON bytes and Lua values, no tree between.
 *
 * To Lua: an object becomes a table, an array a table with the metatable
 * SOC_LUA_ARRAY (so that an empty one goes back as `[]`), null the light userdata
 * of soc_lua_push_null, an integer an integer, any other number a float.
 * From Lua: a table marked SOC_LUA_ARRAY or with the keys 1..n (n > 0) is an
 * array, one with only string keys an object with its members sorted by bytes,
 * an empty unmarked one `{}`. Everything else (holes, mixed keys, functions,
 * NaN, broken UTF-8, cycles by the depth limit) is a fault that names its path.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_LUA_JSON_H
#define SOC_LUALIB_LUA_JSON_H

#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/slice.h"

/* Registry name of the metatable that marks a list. */
#define SOC_LUA_ARRAY "society.array"

/* Makes the metatable and pushes the module table of require("society.json"):
 * encode(value) -> text | nil, err; decode(text) -> value | nil, err where err is
 * { error = "invalid_json", message, position } (position from 1);
 * array(t) -> t; null. */
int soc_lua_json_open(lua_State *L);

/* Appends the value at `index` as JSON. SOC_OK; SOC_EINVAL and `detail` with the
 * path ("payload.items[3]: a function cannot be JSON"; `name` is the path's
 * first part) with `out` as it was before; SOC_ETOOLARGE beyond `bytes_max`.
 * Never raises but for Lua's own memory errors, never calls metamethods. */
int soc_lua_json_encode(lua_State *L, int index, const char *name, size_t bytes_max,
                        struct soc_buf *out, struct soc_detail *detail);

/* Makes the member `name` of `object`, which came from Lua, `[]` if it is `{}`: where a
 * list is expected an empty table means one. */
void soc_lua_json_list(struct soc_buf *object, const char *name, struct soc_buf *scratch);

/* Pushes the value of `text`. SOC_OK, or an error with nothing pushed and
 * `detail` set. `text` may come from anywhere: it is checked while it is read. It
 * may be SOC_JSON_WRAP_MAX deeper than a value from outside: the host's answers
 * stand around such values. */
int soc_lua_json_decode(lua_State *L, struct soc_slice text, struct soc_detail *detail);

/* The same, with the place of the fault instead of a sentence. */
int soc_lua_json_decode_at(lua_State *L, struct soc_slice text, struct soc_json_fault *fault);

/* Pushes the metatable that marks a list. */
void soc_lua_push_array_mark(lua_State *L);

/* Pushes the value that stands for JSON null. */
void soc_lua_push_null(lua_State *L);

/* Tells whether the value at `index` stands for JSON null. */
int soc_lua_is_null(lua_State *L, int index);

#endif

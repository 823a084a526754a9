/* Lua JSON: converts between JSON text and Lua values without a tree in between.
 *
 * To Lua: an object becomes a table; an array a table with the metatable SOC_LUA_ARRAY,
 * so that an empty one is encoded as `[]` again; null the light userdata of
 * soc_lua_push_null; an integer an integer; any other number a float. From Lua: a table
 * marked SOC_LUA_ARRAY or with the keys 1..n (n > 0) is an array; one with only string
 * keys is an object with its members sorted by bytes; an empty unmarked one is `{}`.
 * Everything else (holes, mixed keys, functions, NaN, invalid UTF-8, cycles by the
 * depth limit) is an error that names its path.
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

/* Creates the metatable and pushes the module table of require("society.json"):
 *     encode(value) -> text | nil, err
 *     decode(text) -> value | nil, err
 *     array(t) -> t
 *     null
 * where err is { error = "invalid_json", message, position } (position from 1). */
int soc_lua_json_open(lua_State *L);

/* Appends the value at `index` as JSON. SOC_EINVAL: `detail` has the path
 * ("payload.items[3]: a function cannot be JSON", where `name` is its first part).
 * SOC_ETOOLARGE: more than `bytes_max`. On an error `out` is unchanged. Raises only on
 * out of memory and calls no metamethods. */
int soc_lua_json_encode(lua_State *L, int index, const char *name, size_t bytes_max,
                        struct soc_buf *out, struct soc_detail *detail);

/* The same for a script, of the value on top of the stack: its work is reported (lua_work.h),
 * which may raise, so `out` must belong to the collector. */
int soc_lua_json_encode_counted(lua_State *L, const char *name, size_t bytes_max,
                                struct soc_buf *out, struct soc_detail *detail);

/* Changes the member `name` of `object`, encoded from Lua, from `{}` to `[]`: where a
 * list is expected an empty table means an empty list. */
void soc_lua_json_list(struct soc_buf *object, const char *name, struct soc_buf *scratch);

/* Pushes the decoded value of `text`. On an error nothing is pushed and `detail` is
 * set. `text` is untrusted: it is validated while it is read. It may be
 * SOC_JSON_WRAP_MAX levels deeper than a value from outside, because the host's answers
 * wrap such values. */
int soc_lua_json_decode(lua_State *L, struct soc_slice text, struct soc_detail *detail);

/* The same for a script: its work is reported (lua_work.h), which may raise, the wrapping levels
 * are not allowed, and the offset of the error is returned instead of a sentence. */
int soc_lua_json_decode_at(lua_State *L, struct soc_slice text, struct soc_json_fault *fault);

/* Pushes the metatable that marks a list. */
void soc_lua_push_array_mark(lua_State *L);

/* Pushes the value that represents JSON null. */
void soc_lua_push_null(lua_State *L);

/* Returns true if the value at `index` represents JSON null. */
int soc_lua_is_null(lua_State *L, int index);

#endif

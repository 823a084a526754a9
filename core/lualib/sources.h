/* Sources: the files that scripts, modules, policies and their texts are read from.
 *
 * All of them are opened here. The Lua state remembers which were, so that history
 * can keep their texts; and a replay puts the texts that were kept in the place of
 * the files, under the paths they had.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_SOURCES_H
#define SOC_LUALIB_SOURCES_H

#include <stdbool.h>
#include <stdio.h>

#include <lua.h>

#include "base/slice.h"

/* Opens the file for reading and remembers it; NULL and errno if it cannot be. */
FILE *soc_sources_open(lua_State *L, const char *path);

/* Tells whether the file can be opened. Remembers it as soc_sources_open does. */
bool soc_sources_has(lua_State *L, const char *path);

/* From now on files count as unchanged: whether one is there is found out once, and what
 * was loaded of one stands for it. For simulations, all starts of which are to run the
 * same, and which start thousands of times. */
void soc_sources_freeze(lua_State *L);

/* Tells whether they do. */
bool soc_sources_are_frozen(lua_State *L);

/* Calls `each` with every path opened so far, in the order of the first time, behind
 * the first `after`. Returns how many there are. */
size_t soc_sources_each(lua_State *L, size_t after, void (*each)(void *user, const char *path),
                        void *user);

/* From now on `text` is what the file at `path` holds. */
void soc_sources_keep(lua_State *L, const char *path, struct soc_slice text);

/* Sets whether kept texts are used instead of files, and whether other files may be
 * opened at all. They are not used at first. */
void soc_sources_use(lua_State *L, bool has_kept, bool has_files);

#endif

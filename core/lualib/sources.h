/* Sources: opens the files of scripts, modules, policies and their texts.
 *
 * All of them are opened here. The Lua state records the paths, so that history can
 * keep the texts. A replay substitutes the kept texts for the files.
 * Layer: lualib. Thread: loop. */
#ifndef SOC_LUALIB_SOURCES_H
#define SOC_LUALIB_SOURCES_H

#include <stdbool.h>
#include <stdio.h>

#include <lua.h>

#include "base/slice.h"

/* Opens the file for reading and records it; NULL and errno if that fails. */
FILE *soc_sources_open(lua_State *L, const char *path);

/* Returns true if the file can be opened. Records it as soc_sources_open does. */
bool soc_sources_has(lua_State *L, const char *path);

/* Treats files as unchanged from now on: existence is checked once, and loaded chunks
 * are reused. For simulations, which start thousands of times and must start alike. */
void soc_sources_freeze(lua_State *L);

/* Returns true after soc_sources_freeze. */
bool soc_sources_are_frozen(lua_State *L);

/* Calls `each` with every path opened so far, in order of first use, after skipping
 * `after` of them. Returns their total. */
size_t soc_sources_each(lua_State *L, size_t after, void (*each)(void *user, const char *path),
                        void *user);

/* Keeps `text` as the contents of the file at `path`. */
void soc_sources_keep(lua_State *L, const char *path, struct soc_slice text);

/* Sets whether kept texts replace files (default: no), and whether other files may be
 * opened at all. */
void soc_sources_use(lua_State *L, bool has_kept, bool has_files);

#endif

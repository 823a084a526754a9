/* Options: what a command in Lua hands to its part in C, a table at stack index 1.
 *
 * Texts are lent by the table, which stays on the stack until the command returns.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_OPTIONS_H
#define SOC_MAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

/* Texts, then NULL. */
struct soc_text_list {
    const char **items; /* NULL: there are none */
    int count;
};

/* Returns the text of that name, NULL if there is none. */
const char *soc_options_text(lua_State *L, const char *name);

/* Tells whether the option is set. */
bool soc_options_flag(lua_State *L, const char *name);

/* Returns the number of that name, or `fallback`. */
int64_t soc_options_number(lua_State *L, const char *name, int64_t fallback);

/* Returns the list of that name. Release with soc_text_list_fini(). */
struct soc_text_list soc_options_list(lua_State *L, const char *name);

/* Frees the list, not its texts. */
void soc_text_list_fini(struct soc_text_list *list);

#endif

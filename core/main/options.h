/* Options: the table at stack index 1 that a command in Lua passes to its C function.
 *
 * Texts are lent by the table, which stays on the stack until the command returns.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_OPTIONS_H
#define SOC_MAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

/* A list of texts that ends with NULL. */
struct soc_text_list {
    const char **items; /* NULL if the list is empty */
    int count;
};

/* Lends the text of that name, or NULL. */
const char *soc_options_text(lua_State *L, const char *name);

/* Returns true if the option is set. */
bool soc_options_flag(lua_State *L, const char *name);

/* Returns the number of that name, or `fallback`. */
int64_t soc_options_number(lua_State *L, const char *name, int64_t fallback);

/* Returns the list of that name. Release with soc_text_list_fini(). */
struct soc_text_list soc_options_list(lua_State *L, const char *name);

/* Frees the list, not its texts. */
void soc_text_list_fini(struct soc_text_list *list);

#endif

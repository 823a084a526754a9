/* Intern: one copy of each short text that occurs again and again.
 *
 * Message types and the like can then be compared by pointer.
 * Layer: base. Thread: any, one at a time. */
#ifndef SOC_BASE_INTERN_H
#define SOC_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/slice.h"

/* An interned text: equal texts have the same address. */
struct soc_symbol {
    size_t length;
    bool is_marked; /* by soc_intern_mark() */
    char text[];    /* NUL-terminated */
};

/* An all-zero struct is an empty table. */
struct soc_intern {
    struct soc_map symbols;
};

/* Frees every symbol. */
void soc_intern_fini(struct soc_intern *intern);

/* Lends the symbol for `text`, creating it if it is new. It lives as long as the table. */
const struct soc_symbol *soc_intern(struct soc_intern *intern, struct soc_slice text);

/* The same, and marks it; the caller defines what the mark means. */
const struct soc_symbol *soc_intern_mark(struct soc_intern *intern, struct soc_slice text);

/* Lends the symbol for `text`, or NULL if it was never interned. */
const struct soc_symbol *soc_intern_find(const struct soc_intern *intern, struct soc_slice text);

/* Lends a symbol's text; absent for NULL. */
struct soc_slice soc_symbol_slice(const struct soc_symbol *symbol);

#endif

#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void soc_intern_fini(struct soc_intern *intern)
{
    size_t cursor = 0;
    struct soc_symbol *symbol;
    while ((symbol = soc_map_each(&intern->symbols, &cursor)) != NULL)
        free(symbol);
    soc_map_fini(&intern->symbols);
}

static struct soc_symbol *need(struct soc_intern *intern, struct soc_slice text)
{
    struct soc_symbol *symbol = soc_map_find(&intern->symbols, text);
    if (symbol != NULL)
        return symbol;
    assert(text.data != NULL);
    symbol = soc_alloc(sizeof(*symbol) + text.length + 1);
    symbol->length = text.length;
    symbol->is_marked = false;
    if (text.length > 0)
        memcpy(symbol->text, text.data, text.length);
    symbol->text[text.length] = '\0';
    soc_map_put(&intern->symbols, soc_slice(symbol->text, symbol->length), symbol);
    return symbol;
}

const struct soc_symbol *soc_intern(struct soc_intern *intern, struct soc_slice text)
{
    return need(intern, text);
}

const struct soc_symbol *soc_intern_mark(struct soc_intern *intern, struct soc_slice text)
{
    struct soc_symbol *symbol = need(intern, text);
    symbol->is_marked = true;
    return symbol;
}

const struct soc_symbol *soc_intern_find(const struct soc_intern *intern, struct soc_slice text)
{
    return soc_map_find(&intern->symbols, text);
}

struct soc_slice soc_symbol_slice(const struct soc_symbol *symbol)
{
    return symbol == NULL ? (struct soc_slice){0} : soc_slice(symbol->text, symbol->length);
}

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *require_memory(void *memory, size_t size)
{
    if (memory == NULL && size > 0) {
        fprintf(stderr, "society: out of memory (%zu bytes)\n", size);
        abort();
    }
    return memory;
}

void *soc_alloc(size_t size)
{
    return require_memory(malloc(size), size);
}

void *soc_alloc_zero(size_t size)
{
    return require_memory(calloc(1, size), size);
}

void *soc_realloc(void *old, size_t size)
{
    return require_memory(realloc(old, size), size);
}

char *soc_copy_text(const char *text, size_t length)
{
    char *copy = soc_alloc(length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

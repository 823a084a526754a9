/* Memory: allocation that cannot fail.
 *
 * Out of memory aborts with a line on stderr: a host that cannot allocate a few bytes
 * cannot promise anything, and its journal is safe. Scripts have an allocator of their
 * own with a limit (sandbox/), where it only ends the script.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_MEM_H
#define SOC_BASE_MEM_H

#include <stddef.h>

#define SOC_CACHE_LINE_BYTES 64 /* what is fetched at a time, on the usual machines */

/* Returns `size` bytes, not cleared. Release with free(). */
void *soc_alloc(size_t size);

/* Returns `size` bytes set to zero. Release with free(). */
void *soc_alloc_zero(size_t size);

/* Resizes as realloc() does. */
void *soc_realloc(void *old, size_t size);

/* Returns a NUL-terminated copy of `length` bytes. Release with free(). */
char *soc_copy_text(const char *text, size_t length);

#endif

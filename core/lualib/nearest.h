/* Nearest: the word somebody probably meant.
 *
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_NEAREST_H
#define SOC_LUALIB_NEAREST_H

#include "base/buf.h"

/* The list of words a misspelt one is compared with; NULL behind the last. */
typedef const char *soc_nearest_word(const void *user, int number);

/* Returns the word nearest to `word`, NULL if none is near. */
const char *soc_nearest(const char *word, soc_nearest_word *words, const void *user);

/* Appends "; did you mean 'X'?" if there is a near word. */
void soc_nearest_put(struct soc_buf *out, const char *word, soc_nearest_word *words,
                     const void *user);

#endif

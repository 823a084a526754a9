/* Nearest: suggests a word for a misspelt one.
 * Layer: lualib. Thread: any. */
#ifndef SOC_LUALIB_NEAREST_H
#define SOC_LUALIB_NEAREST_H

#include "base/buf.h"

/* Lends word number `number`, from 0, of the known words; NULL after the last. */
typedef const char *soc_nearest_word(const void *user, int number);

/* Lends the known word closest to `word`, or NULL if none is close. */
const char *soc_nearest(const char *word, soc_nearest_word *words, const void *user);

/* Appends "; did you mean 'X'?" if a known word is close. */
void soc_nearest_put(struct soc_buf *out, const char *word, soc_nearest_word *words,
                     const void *user);

#endif

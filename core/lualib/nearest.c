#include "lualib/nearest.h"

#include <assert.h>
#include <string.h>

#define LENGTH_MAX  64
#define CHANGES_MAX 2

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the edit distance: letters added, removed, changed or swapped with a
 * neighbour. More than CHANGES_MAX for words that are too long to compare. */
static int count_changes(const char *a, const char *b)
{
    size_t columns = strlen(b);
    int rows[3][LENGTH_MAX + 1];
    if (strlen(a) > LENGTH_MAX || columns > LENGTH_MAX)
        return CHANGES_MAX + 1;
    for (size_t j = 0; j <= columns; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= strlen(a); i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i - 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            int same = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(above[j - 1] + same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][columns];
}

const char *soc_nearest(const char *word, soc_nearest_word *words, const void *user)
{
    assert(word != NULL);
    const char *best = NULL;
    const char *each;
    int best_changes = CHANGES_MAX + 1;
    for (int i = 0; (each = words(user, i)) != NULL; i++) {
        int changes = count_changes(word, each);
        if (changes < best_changes && (size_t)changes < strlen(each)) {
            best = each;
            best_changes = changes;
        }
    }
    return best;
}

void soc_nearest_put(struct soc_buf *out, const char *word, soc_nearest_word *words,
                     const void *user)
{
    const char *best = soc_nearest(word, words, user);
    if (best != NULL)
        soc_buf_printf(out, "; did you mean '%s'?", best);
}

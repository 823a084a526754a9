/* Website: the files of the page, served as they are.
 *
 * A path has segments of letters, digits, `_`, `-` and `.`, none of which begins with a dot,
 * and links are not followed: nothing outside the directory can be named. Each file is read
 * when it is asked for, so that people who change the page need no restart.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_WEBSITE_H
#define SOC_BRIDGE_HTTP_WEBSITE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"
#include "net/digest.h"

struct soc_website;

#define SOC_WEBSITE_TAG_BYTES (2 * SOC_DIGEST_BYTES + 3)

/* A file of the page. */
struct soc_website_file {
    struct soc_buf body;             /* owned by the caller */
    const char *type;                /* its Content-Type */
    char tag[SOC_WEBSITE_TAG_BYTES]; /* its ETag, with quotes */
};

/* Returns the files below `directory`; NULL: there are none, and `/` answers a few words.
 * Release with soc_website_free. */
struct soc_website *soc_website_new(const char *directory);

/* Frees them. NULL is allowed. */
void soc_website_free(struct soc_website *pages);

/* Finds the file of a path and fills `page`; false if there is none. */
bool soc_website_find(const struct soc_website *pages, struct soc_slice path,
                      struct soc_website_file *page);

#endif

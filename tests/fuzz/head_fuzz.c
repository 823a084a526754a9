/* Head fuzz: any lines as the head of a request.
 *
 * A head that is let through has one length that is a number, one host, and headers made of
 * the signs that belong there.
 * Layer: tests. Thread: one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "net/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "head_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* Takes the text before the next `end`, or all of it. */
static struct soc_slice cut(struct soc_slice *text, char end)
{
    const char *found = text->length == 0 ? NULL : memchr(text->data, end, text->length);
    struct soc_slice part = *text;
    if (found != NULL)
        part.length = (size_t)(found - text->data);
    size_t taken = part.length + (found != NULL);
    *text = soc_slice(text->data + taken, text->length - taken);
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size == 0 ? 1 : size);
    memcpy(bytes, data, size);
    struct soc_slice text = soc_slice(bytes, size);
    struct soc_slice target = cut(&text, '\n');
    struct soc_head head = {0};
    const char *sentence = NULL;
    while (text.length > 0) {
        struct soc_slice value = cut(&text, '\n');
        struct soc_slice name = cut(&value, ':');
        soc_head_add(&head, name, value);
    }
    for (int is_old = 0; is_old < 2; is_old++) {
        int status = soc_head_check(&head, target, is_old != 0, &sentence);
        MUST(status == 0 || status == 400 || status == 414 || status == 431);
        if (status != 0)
            continue;
        MUST(head.lengths + head.encodings <= 1 && !head.is_malformed && !head.is_strange);
        MUST(head.hosts == 1 || (is_old != 0 && head.hosts == 0));
        MUST(target.length > 0 && target.length <= SOC_SERVER_LINE_BYTES_MAX);
        MUST(head.fields <= SOC_SERVER_HEADERS_MAX && head.bytes <= SOC_SERVER_HEAD_BYTES_MAX);
        MUST((head.length > 0) <= (head.lengths + head.encodings == 1));
    }
    free(bytes);
    return 0;
}

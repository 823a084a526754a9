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

/* Takes the next line as libmicrohttpd does: a line feed alone ends it, a NUL cuts it, and
 * what ends it is overwritten. NULL: it is not complete. */
static char *next_line(char **at, const char *end)
{
    char *line = *at;
    char *feed = memchr(line, '\n', (size_t)(end - line));
    if (feed == NULL)
        return NULL;
    *at = feed + 1;
    *feed = '\0';
    if (feed > line && feed[-1] == '\r')
        feed[-1] = '\0';
    return line;
}

/* Cuts a line in two at the sign, and skips what follows it. NULL: it has none. */
static char *cut_line(char *line, char sign, const char *skipped)
{
    char *rest = strchr(line, sign);
    if (rest == NULL)
        return NULL;
    *rest++ = '\0';
    return rest + strspn(rest, skipped);
}

/* Reads a head where it was received; false if it is not complete. */
static bool receive(struct soc_head *head, char *text, size_t size, char **target, size_t *bytes)
{
    char *at = text;
    char *line = next_line(&at, text + size);
    char *version = NULL;
    if (line == NULL || (*target = cut_line(line, ' ', " ")) == NULL ||
        (version = cut_line(*target, ' ', " ")) == NULL)
        return false;
    soc_head_begin(head, soc_slice_text(text), soc_slice_text(*target), soc_slice_text(version));
    while ((line = next_line(&at, text + size)) != NULL && *line != '\0') {
        char *value = cut_line(line, ':', " \t");
        if (value == NULL)
            return false;
        soc_head_add(head, soc_slice_text(line), soc_slice_text(value));
    }
    *bytes = (size_t)(at - text);
    soc_head_end(head, text, *bytes);
    return line != NULL;
}

/* Every line of a head that is let through ends with CR LF, if there is no NUL; and NULs stand
 * only at the end of a line. */
static void try_received(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct soc_head head = {0};
    const char *sentence = NULL;
    char *target = NULL;
    size_t bytes = 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (receive(&head, text, size, &target, &bytes) &&
        soc_head_check(&head, soc_slice_text(target), false, &sentence) == 0)
        for (size_t i = 0; i < bytes; i++) {
            MUST(data[i] != '\n' || memchr(data, '\0', bytes) != NULL ||
                 (i > 0 && data[i - 1] == '\r'));
            MUST(data[i] != '\0' || i + 4 >= bytes || data[i + 1] == '\n');
        }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_received(data, size);
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

#include "net/head.h"

#include <strings.h>

#include "base/limits.h"
#include "net/http.h"

#define LENGTH_DIGITS_MAX 18

static bool is_same(struct soc_slice text, const char *word)
{
    size_t length = strlen(word);
    return text.length == length && strncasecmp(text.data, word, length) == 0;
}

static bool read_length(struct soc_slice text, uint64_t *length)
{
    *length = 0;
    if (text.length == 0 || text.length > LENGTH_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *length = *length * 10 + (uint64_t)(text.data[i] - '0');
    }
    return true;
}

static const char *end_of(struct soc_slice text)
{
    return text.data + text.length;
}

void soc_head_begin(struct soc_head *head, struct soc_slice method, struct soc_slice target,
                    struct soc_slice version)
{
    head->is_loose |= end_of(method) + 1 != target.data || end_of(target) + 1 != version.data;
    head->end = end_of(version);
}

void soc_head_end(struct soc_head *head, const char *first, size_t bytes)
{
    head->is_loose |= head->end + 4 != first + bytes;
}

void soc_head_add(struct soc_head *head, struct soc_slice name, struct soc_slice value)
{
    head->bytes += name.length + value.length + 4;
    head->fields++;
    if (head->end != NULL) {
        head->is_loose |= head->end + 2 != name.data;
        head->end = end_of(value);
    }
    head->is_malformed |= !soc_http_is_token(name) || !soc_http_is_line(value);
    if (is_same(name, "Content-Length")) {
        head->lengths++;
        head->is_strange |= !read_length(value, &head->length);
    } else if (is_same(name, "Transfer-Encoding")) {
        head->encodings++;
        head->is_strange |= !is_same(value, "chunked");
        head->length = 1;
    } else if (is_same(name, "Host")) {
        head->hosts++;
    }
}

static bool is_path(struct soc_slice target)
{
    if (soc_slice_equal(target, SOC_SLICE("*")))
        return true;
    for (size_t i = 0; i < target.length; i++)
        if ((unsigned char)target.data[i] <= ' ' || target.data[i] == 0x7f)
            return false;
    return target.length > 0 && target.data[0] == '/';
}

int soc_head_check(const struct soc_head *head, struct soc_slice target, bool is_old,
                   const char **sentence)
{
    bool is_ambiguous =
        head->lengths + head->encodings > 1 || head->is_strange || (is_old && head->encodings > 0);
    int status = 400;
    if (target.length > SOC_SERVER_LINE_BYTES_MAX) {
        *sentence = "the request line is too long";
        status = 414;
    } else if (head->fields > SOC_SERVER_HEADERS_MAX || head->bytes > SOC_SERVER_HEAD_BYTES_MAX) {
        *sentence = "the headers are too long or too many";
        status = 431;
    } else if (is_ambiguous) {
        *sentence = "the length of the body is ambiguous";
    } else if (head->is_malformed || head->is_loose) {
        *sentence = head->is_loose ? "lines must end with CR LF, and words must not have a NUL"
                                   : "a header is malformed";
    } else if (head->hosts > 1 || (head->hosts == 0 && !is_old)) {
        *sentence = "a request needs exactly one Host header";
    } else if (!is_path(target)) {
        *sentence = "the request target must be a path";
    } else {
        status = 0;
    }
    return status;
}

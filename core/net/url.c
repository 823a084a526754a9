#include "net/url.h"

#include <string.h>

#include "base/json.h"

static int digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte = (char)(byte | 32);
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool decode(struct soc_slice text, bool is_query, struct soc_buf *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.data[i];
        if (byte == '%') {
            if (text.length - i < 3)
                return false;
            int high = digit_of(text.data[i + 1]);
            int low = digit_of(text.data[i + 2]);
            if (high < 0 || low < 0)
                return false;
            byte = (char)(high << 4 | low);
            i += 2;
        } else if (byte == '+' && is_query) {
            byte = ' ';
        }
        if (byte == '\0')
            return false;
        soc_buf_put_byte(out, byte);
    }
    return true;
}

bool soc_url_decode(struct soc_slice text, bool is_query, struct soc_buf *out)
{
    size_t first = out->length;
    soc_buf_reserve(out, text.length + 1); /* so that an empty text is not absent */
    if (decode(text, is_query, out) &&
        soc_utf8_fault(soc_slice(out->data + first, out->length - first)) < 0)
        return true;
    out->length = first;
    return false;
}

void soc_url_walk(struct soc_url_walk *walk, struct soc_slice query)
{
    *walk = (struct soc_url_walk){.rest = query};
}

/* Cuts `*text` at the first `byte`, which is dropped, and lends what was before it. */
static struct soc_slice cut(struct soc_slice *text, char byte)
{
    const char *end = text->length == 0 ? NULL : memchr(text->data, byte, text->length);
    struct soc_slice head = *text;
    if (end == NULL) {
        *text = (struct soc_slice){0};
        return head;
    }
    head.length = (size_t)(end - head.data);
    *text = soc_slice(end + 1, text->length - head.length - 1);
    return head;
}

bool soc_url_next(struct soc_url_walk *walk)
{
    while (walk->rest.length > 0) {
        struct soc_slice each = cut(&walk->rest, '&');
        if (each.length == 0)
            continue;
        bool has_value = memchr(each.data, '=', each.length) != NULL;
        walk->name = cut(&each, '=');
        walk->value = has_value ? soc_slice(walk->name.data + walk->name.length + 1, each.length)
                                : (struct soc_slice){0};
        return true;
    }
    return false;
}

struct soc_slice soc_url_segment(struct soc_slice *path)
{
    if (path->length == 0 || path->data[0] != '/')
        return (struct soc_slice){0};
    const char *begin = path->data + 1;
    const char *end = memchr(begin, '/', path->length - 1);
    size_t length = end == NULL ? path->length - 1 : (size_t)(end - begin);
    *path = soc_slice(begin + length, path->length - 1 - length);
    return soc_slice(begin, length);
}

struct soc_slice soc_url_cookie(struct soc_slice header, struct soc_slice name)
{
    while (header.length > 0) {
        struct soc_slice each = cut(&header, ';');
        while (each.length > 0 && (each.data[0] == ' ' || each.data[0] == '\t'))
            each = soc_slice(each.data + 1, each.length - 1);
        if (each.length > name.length && each.data[name.length] == '=' &&
            memcmp(each.data, name.data, name.length) == 0)
            return soc_slice(each.data + name.length + 1, each.length - name.length - 1);
    }
    return (struct soc_slice){0};
}

struct soc_slice soc_url_origin(struct soc_slice origin)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);
        if (origin.length > length && memcmp(origin.data, schemes[i], length) == 0 &&
            memchr(origin.data + length, '/', origin.length - length) == NULL)
            return soc_slice(origin.data + length, origin.length - length);
    }
    return (struct soc_slice){0};
}

bool soc_url_authority(struct soc_slice authority, struct soc_slice *host, int *port)
{
    const char *colon = NULL;
    size_t from = 0;
    *port = 0;
    if (authority.length > 0 && authority.data[0] == '[') {
        const char *end = memchr(authority.data, ']', authority.length);
        if (end == NULL)
            return false;
        from = (size_t)(end - authority.data) + 1;
        if (from < authority.length && authority.data[from] != ':')
            return false;
    }
    if (from < authority.length)
        colon = memchr(authority.data + from, ':', authority.length - from);
    size_t length = colon == NULL ? authority.length : (size_t)(colon - authority.data);
    *host = soc_slice(authority.data, length);
    if (colon == NULL)
        return length > 0;
    size_t digits = authority.length - length - 1;
    for (size_t i = 0; i < digits; i++) {
        char digit = colon[1 + i];
        if (digit < '0' || digit > '9' || *port > 65535)
            return false;
        *port = *port * 10 + (digit - '0');
    }
    return length > 0 && digits > 0 && *port <= 65535;
}

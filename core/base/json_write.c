/* Writing: the second half of base/json.h. */
#include "base/json.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"

/* A string is escaped in pieces: space for the worst case (every byte becomes \u00xx) is
 * reserved for one piece only, and a piece of usual size needs one check of the capacity. */
#define PIECE_BYTES      512
#define ESCAPE_BYTES_MAX 6

/* Space for a piece: the escapes, the rest of a word stored whole, two quotes. */
#define PIECE_ROOM(length) ((length)*ESCAPE_BYTES_MAX + sizeof(uint64_t) + 2)

static char *make_room(struct soc_buf *out, size_t extra)
{
    if (out->capacity - out->length >= extra)
        return out->data + out->length;
    return soc_buf_reserve(out, extra);
}

/* Writes the escape of a quote, a backslash or a control character. */
static char *put_escape(char *to, unsigned char byte)
{
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    static const char hex[] = "0123456789abcdef";
    *to++ = '\\';
    if (byte >= 0x20) {
        *to++ = (char)byte;
    } else if (letters[byte] != '\0') {
        *to++ = letters[byte];
    } else {
        memcpy(to, "u00", 3);
        to[3] = hex[byte >> 4];
        to[4] = hex[byte & 15];
        to += 5;
    }
    return to;
}

static void store_word(char *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof(word));
}

/* Writes ordinary bytes up to the first other one, or to `stop`, and returns where they
 * end; `*text` moves along. Words are stored before they are checked, and anything else
 * in them is overwritten. The last word overlaps the one before it. Always inlined: most
 * strings are short, and a call for each is noticeable. */
static inline __attribute__((always_inline)) char *put_plain(char *to, const char **text,
                                                             const char *stop)
{
    const char *next = *text;
    const ptrdiff_t step = sizeof(uint64_t);
    uint64_t odd;
    if (stop - next >= step) {
        const char *last = stop - step;
        for (;;) {
            uint64_t word = soc_json_load(next);
            store_word(to, word);
            odd = soc_json_odd_bytes(word);
            if (odd != 0 || next == last)
                break;
            ptrdiff_t move = last - next < step ? last - next : step;
            next += move;
            to += move;
        }
    } else {
        size_t count = (size_t)(stop - next);
        uint64_t word = soc_json_load_tail(next, count);
        store_word(to, word);
        odd = soc_json_odd_bytes(word | 0x2020202020202020u << (8 * count));
        if (odd == 0) {
            *text = stop;
            return to + count;
        }
    }
    size_t plain = odd == 0 ? sizeof(odd) : (size_t)__builtin_ctzll(odd) >> 3;
    *text = next + plain;
    return to + plain;
}

/* Writes the characters that start before `stop`, escaped, and returns where they end;
 * `end` is the end of the text. `*text` moves to where it stopped: at or after `stop`, or
 * at a byte that is not UTF-8. */
static char *put_piece(char *to, const char **text, const char *stop, const char *end)
{
    const char *next = *text;
    while (next < stop) {
        to = put_plain(to, &next, stop);
        if (next < stop && (unsigned char)*next < 0x80)
            to = put_escape(to, (unsigned char)*next++);
        while (next < stop && (unsigned char)*next >= 0x80) {
            size_t length = soc_utf8_length(next, end);
            if (length == 0)
                goto done;
            memcpy(to, next, length);
            to += length;
            next += length;
        }
    }
done:
    *text = next;
    return to;
}

/* Appends text up to its first byte that is not UTF-8, which is returned, or to
 * its end. */
static const char *put_escaped(struct soc_buf *out, const char *text, const char *end)
{
    const char *stop;
    do {
        stop = end - text > PIECE_BYTES ? text + PIECE_BYTES : end;
        char *to = make_room(out, PIECE_ROOM((size_t)(stop - text)));
        to = put_piece(to, &text, stop, end);
        out->length = (size_t)(to - out->data);
    } while (text >= stop && text < end);
    return text;
}

static void put_byte(struct soc_buf *out, char byte)
{
    *make_room(out, 1) = byte;
    out->length++;
}

void soc_json_put_string(struct soc_buf *out, struct soc_slice text)
{
    const char *next = text.data == NULL ? "" : text.data;
    const char *end = next + text.length;
    put_byte(out, '"');
    while ((next = put_escaped(out, next, end)) < end) {
        soc_buf_put_text(out, "\xef\xbf\xbd");
        next++;
    }
    put_byte(out, '"');
}

/* Text of one piece, by far the most common, reserves space only once. */
ptrdiff_t soc_json_put_checked_string(struct soc_buf *out, struct soc_slice text)
{
    size_t length_before = out->length;
    const char *next = text.data == NULL ? "" : text.data;
    const char *begin = next;
    const char *end = next + text.length;
    if (text.length <= PIECE_BYTES) {
        char *to = make_room(out, PIECE_ROOM(text.length));
        *to++ = '"';
        to = put_plain(to, &next, end);
        if (next < end)
            to = put_piece(to, &next, end, end);
        *to++ = '"';
        out->length = (size_t)(to - out->data);
    } else {
        put_byte(out, '"');
        next = put_escaped(out, next, end);
        put_byte(out, '"');
    }
    if (next == end)
        return -1;
    out->length = length_before;
    return next - begin;
}

ptrdiff_t soc_utf8_fault(struct soc_slice text)
{
    const char *next = text.data == NULL ? "" : text.data;
    const char *end = next + text.length;
    while (next < end) {
        if (end - next >= 8 && (soc_json_load(next) & 0x8080808080808080u) == 0) {
            next += 8;
            continue;
        }
        size_t length = soc_utf8_length(next, end);
        if (length == 0)
            return next - text.data;
        next += length;
    }
    return -1;
}

#define NUMBER_BYTES_MAX 32

/* Writes `number` so that it ends before `end`, with at least `digits_min`
 * digits, and returns its first. */
static char *put_digits_before(char *end, uint64_t number, int digits_min)
{
    for (; number > 0 || digits_min > 0; number /= 10, digits_min--)
        *--end = (char)('0' + number % 10);
    return end;
}

void soc_json_put_integer(struct soc_buf *out, int64_t number)
{
    char text[NUMBER_BYTES_MAX];
    char *end = text + sizeof(text);
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *begin = put_digits_before(end, magnitude, 1);
    if (number < 0)
        *--begin = '-';
    size_t length = (size_t)(end - begin);
    memcpy(make_room(out, NUMBER_BYTES_MAX), begin, length);
    out->length += length;
}

/* Writes numbers with few decimal places without the C library: m / 10^k with m
 * and 10^k exact is one rounding, as reading it back is. The smallest k gives the
 * fewest digits. Returns the length, or 0 for numbers that are not of this kind. */
static size_t put_decimal(char *text, double number)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    double magnitude = fabs(number);
    if (magnitude < 1e-4)
        return 0;
    for (int places = 0; places < (int)(sizeof(powers) / sizeof(powers[0])); places++) {
        double power = powers[places];
        double scaled = magnitude * power + 0.5;
        if (scaled >= 1e15)
            return 0;
        uint64_t digits = (uint64_t)scaled;
        if ((double)digits / power != magnitude)
            continue;
        char room[NUMBER_BYTES_MAX];
        char *end = room + sizeof(room);
        uint64_t whole = digits / (uint64_t)power;
        uint64_t fraction = digits % (uint64_t)power;
        char *begin = put_digits_before(end, fraction, places == 0 ? 1 : places);
        *--begin = '.';
        begin = put_digits_before(begin, whole, 1);
        if (number < 0)
            *--begin = '-';
        memcpy(text, begin, (size_t)(end - begin));
        return (size_t)(end - begin);
    }
    return 0;
}

void soc_json_put_number(struct soc_buf *out, double number)
{
    assert(isfinite(number));
    char *text = make_room(out, NUMBER_BYTES_MAX);
    size_t length = put_decimal(text, number);
    if (length == 0) {
        /* Fifteen digits are always distinct, except for numbers next to zero. */
        for (int digits = fabs(number) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
            length = (size_t)snprintf(text, NUMBER_BYTES_MAX, "%.*g", digits, number);
            if (strtod(text, NULL) == number)
                break;
        }
        if (strpbrk(text, ".e") == NULL) {
            memcpy(text + length, ".0", 2);
            length += 2;
        }
    }
    out->length += length;
}

void soc_json_put_name(struct soc_buf *out, const char *name)
{
    if (out->length > 0 && out->data[out->length - 1] != '{')
        put_byte(out, ',');
    soc_json_put_string(out, soc_slice_text(name));
    put_byte(out, ':');
}

void soc_json_put_text_member(struct soc_buf *out, const char *name, struct soc_slice text)
{
    if (text.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_json_put_string(out, text);
}

static void put_raw_member(struct soc_buf *out, struct soc_slice name, struct soc_slice value)
{
    if (out->data[out->length - 1] != '{')
        put_byte(out, ',');
    put_byte(out, '"');
    soc_buf_put_slice(out, name);
    soc_buf_put_text(out, "\":");
    soc_buf_put_slice(out, value);
}

static bool goes_before(struct soc_slice a, struct soc_slice b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order != 0 ? order < 0 : a.length < b.length;
}

void soc_json_put_changed(struct soc_buf *out, struct soc_slice object, const char *name,
                          struct soc_slice value)
{
    struct soc_slice changed = soc_slice_text(name);
    bool is_put = value.data == NULL;
    struct soc_json_walk walk;
    put_byte(out, '{');
    soc_json_walk(&walk, object);
    while (soc_json_next(&walk)) {
        bool is_it = soc_slice_equal(walk.name, changed);
        if (!is_put && (is_it || goes_before(changed, walk.name))) {
            put_raw_member(out, changed, value);
            is_put = true;
        }
        if (!is_it)
            put_raw_member(out, walk.name, walk.value);
    }
    if (!is_put)
        put_raw_member(out, changed, value);
    put_byte(out, '}');
}

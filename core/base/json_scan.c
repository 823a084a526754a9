#include "base/json_scan.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* The exact path for numbers needs doubles that are not computed wider. */
_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");

static bool is_digit(const char *text, const char *end)
{
    return text < end && *text >= '0' && *text <= '9';
}

static bool is_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t soc_utf8_length(const char *text, const char *end)
{
    const unsigned char *b = (const unsigned char *)text;
    ptrdiff_t left = end - text;
    if (left <= 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    if (b[0] >= 0xe0 && b[0] < 0xf0) {
        if (left < 3 || !is_tail(b[1]) || !is_tail(b[2]))
            return 0;
        bool is_overlong = b[0] == 0xe0 && b[1] < 0xa0;
        bool is_surrogate = b[0] == 0xed && b[1] >= 0xa0;
        return is_overlong || is_surrogate ? 0 : 3;
    }
    if (b[0] >= 0xc2 && b[0] < 0xe0)
        return left >= 2 && is_tail(b[1]) ? 2 : 0;
    if (b[0] < 0xf0 || b[0] > 0xf4)
        return 0;
    if (left < 4 || !is_tail(b[1]) || !is_tail(b[2]) || !is_tail(b[3]))
        return 0;
    bool is_overlong = b[0] == 0xf0 && b[1] < 0x90;
    bool is_beyond = b[0] == 0xf4 && b[1] >= 0x90;
    return is_overlong || is_beyond ? 0 : 4;
}

bool soc_json_scan_begin(struct soc_json_scan *scan, struct soc_slice text)
{
    *scan = (struct soc_json_scan){text.data, text.data + text.length, NULL, SOC_OK,
                                   SOC_JSON_DEPTH_MAX};
    if (text.length <= SOC_JSON_BYTES_MAX)
        return true;
    scan->next = text.data + SOC_JSON_BYTES_MAX;
    scan->reason = "the text is too long";
    scan->code = SOC_ETOOLARGE;
    return false;
}

/* Returns the value of four hexadecimal digits, or -1. */
static int read_hex4(const char *text, const char *end)
{
    if (end - text < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if (c >= 'a' && c <= 'f')
            digit = c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            digit = c - 'A' + 10;
        else
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Reads an escape; the scan is at its backslash. */
static bool scan_escape(struct soc_json_scan *scan)
{
    const char *text = scan->next + 1;
    const char *end = scan->end;
    if (text == end) {
        scan->next = end;
        return soc_json_scan_fail(scan, "unterminated string");
    }
    if (*text != 'u') {
        if (*text == '\0' || strchr("\"\\/bfnrt", *text) == NULL)
            return soc_json_scan_fail(scan, "an escape is not one of \\\" \\\\ \\/ \\b \\f \\n "
                                            "\\r \\t \\u");
        scan->next = text + 1;
        return true;
    }
    int unit = read_hex4(text + 1, end);
    if (unit < 0)
        return soc_json_scan_fail(scan, "\\u needs four hexadecimal digits");
    text += 5;
    if (unit >= 0xd800 && unit <= 0xdfff) {
        int low = -1;
        if (unit < 0xdc00 && end - text >= 6 && text[0] == '\\' && text[1] == 'u')
            low = read_hex4(text + 2, end);
        if (low < 0xdc00 || low > 0xdfff)
            return soc_json_scan_fail(scan, "unpaired surrogate");
        text += 6;
    }
    scan->next = text;
    return true;
}

bool soc_json_scan_string(struct soc_json_scan *scan, struct soc_slice *inside, bool *has_escapes)
{
    const char *begin = scan->next;
    *has_escapes = false;
    for (;;) {
        const char *text = soc_json_skip_plain(scan->next, scan->end);
        scan->next = text;
        if (text == scan->end)
            return soc_json_scan_fail(scan, "unterminated string");
        if (*text == '"')
            break;
        if (*text == '\\') {
            *has_escapes = true;
            if (!scan_escape(scan))
                return false;
            continue;
        }
        if ((unsigned char)*text < 0x20)
            return soc_json_scan_fail(scan, "a control character must be escaped");
        do {
            size_t length = soc_utf8_length(text, scan->end);
            scan->next = text;
            if (length == 0)
                return soc_json_scan_fail(scan, "the text is not UTF-8");
            text += length;
        } while (text < scan->end && (unsigned char)*text >= 0x80);
        scan->next = text;
    }
    *inside = soc_slice(begin, (size_t)(scan->next - begin));
    scan->next++;
    return true;
}

/* Skips the digits of a number and returns where it ends, or NULL. */
static const char *skip_number(struct soc_json_scan *scan, const char *text)
{
    const char *end = scan->end;
    while (is_digit(text, end))
        text++;
    if (text < end && *text == '.') {
        scan->next = ++text;
        if (!is_digit(text, end))
            return NULL;
        while (is_digit(text, end))
            text++;
    }
    if (text < end && (*text == 'e' || *text == 'E')) {
        text++;
        if (text < end && (*text == '+' || *text == '-'))
            text++;
        scan->next = text;
        if (!is_digit(text, end))
            return NULL;
        while (is_digit(text, end))
            text++;
    }
    return text;
}

/* Reads any well-formed number with the C library, which rounds correctly. The locale is
 * "C": nothing in the host sets another. */
static double read_slowly(const char *begin, size_t length)
{
    char room[64];
    char *copy = length < sizeof(room) ? room : soc_alloc(length + 1);
    memcpy(copy, begin, length);
    copy[length] = '\0';
    double number = strtod(copy, NULL);
    if (copy != room)
        free(copy);
    return number;
}

/* Reads a well-formed number without its sign. A mantissa below 2^53 multiplied or
 * divided by a power of ten below 10^22 is two exact doubles and one rounding, so it is
 * correct; everything else takes the slow path. */
static double read_double(const char *begin, const char *end)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t mantissa = 0;
    int exponent = 0;
    const char *text = begin;
    if (end - begin > 24)
        return read_slowly(begin, (size_t)(end - begin));
    bool is_fraction = false;
    for (; text < end && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            is_fraction = true;
            continue;
        }
        mantissa = mantissa * 10 + (uint64_t)(*text - '0');
        exponent -= is_fraction;
        if (mantissa > 1ull << 53)
            return read_slowly(begin, (size_t)(end - begin));
    }
    if (text < end) {
        bool is_negative = text[1] == '-';
        int power = 0;
        for (text += 1 + (text[1] == '-' || text[1] == '+'); text < end && power < 1000; text++)
            power = power * 10 + (*text - '0');
        exponent += is_negative ? -power : power;
    }
    if (exponent >= 0 && exponent <= 22)
        return (double)mantissa * powers[exponent];
    if (exponent < 0 && exponent >= -22)
        return (double)mantissa / powers[-exponent];
    return read_slowly(begin, (size_t)(end - begin));
}

/* Finishes a number from `begin` to `end` that is not an integer of 64 bits: it has a `.`
 * or an exponent, is minus zero, or has too many digits. */
static bool finish_double(struct soc_json_scan *scan, const char *begin, const char *end,
                          struct soc_json_numeral *out)
{
    bool is_negative = *begin == '-';
    double number = read_double(begin + is_negative, end);
    if (isinf(number)) {
        scan->next = begin;
        return soc_json_scan_fail(scan, "number out of range");
    }
    out->is_integer = false;
    out->number = is_negative ? -number : number;
    scan->next = end;
    return true;
}

/* Nineteen digits always fit 64 bits unsigned; more never fit 64 bits signed. */
#define INTEGER_DIGITS_MAX 19

bool soc_json_scan_number(struct soc_json_scan *scan, struct soc_json_numeral *out)
{
    const char *begin = scan->next;
    const char *end = scan->end;
    bool is_negative = begin < end && *begin == '-';
    const char *digits = begin + is_negative;
    const char *text = digits;
    uint64_t magnitude = 0;
    for (; is_digit(text, end) && text - digits < INTEGER_DIGITS_MAX; text++)
        magnitude = magnitude * 10 + (uint64_t)(*text - '0');
    if (text == digits) {
        scan->next = text;
        return soc_json_scan_fail(scan,
                                  is_negative ? "a digit is expected" : "a value is expected");
    }
    if (*digits == '0' && text - digits > 1) {
        scan->next = digits;
        return soc_json_scan_fail(scan, "a number cannot begin with 0");
    }
    if (text < end && (*text == '.' || *text == 'e' || *text == 'E' || is_digit(text, end))) {
        const char *last = skip_number(scan, text);
        if (last == NULL)
            return soc_json_scan_fail(scan, "a digit is expected");
        return finish_double(scan, begin, last, out);
    }
    if (magnitude > (uint64_t)INT64_MAX + is_negative || (magnitude == 0 && is_negative))
        return finish_double(scan, begin, text, out);
    out->is_integer = true;
    out->integer = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    scan->next = text;
    return true;
}

bool soc_json_scan_word(struct soc_json_scan *scan, struct soc_slice word)
{
    if ((size_t)(scan->end - scan->next) < word.length ||
        memcmp(scan->next, word.data, word.length) != 0)
        return soc_json_scan_fail(scan, "a value is expected");
    scan->next += word.length;
    return true;
}

bool soc_json_scan_open(struct soc_json_scan *scan, size_t depth, bool *is_empty)
{
    if (depth >= scan->depth_max) {
        scan->reason = "lists and objects are nested too deeply";
        scan->code = SOC_ETOOLARGE;
        return false;
    }
    char close = *scan->next++ == '{' ? '}' : ']';
    *is_empty = soc_json_skip_space(scan) && *scan->next == close;
    scan->next += *is_empty;
    return true;
}

bool soc_json_scan_next(struct soc_json_scan *scan, bool is_object, bool *is_closed)
{
    if (soc_json_skip_space(scan)) {
        char c = *scan->next;
        *is_closed = c == (is_object ? '}' : ']');
        if (c == ',' || *is_closed) {
            scan->next++;
            return true;
        }
    }
    return soc_json_scan_fail(scan,
                              is_object ? "a comma or } is expected" : "a comma or ] is expected");
}

bool soc_json_scan_name(struct soc_json_scan *scan, struct soc_slice *inside, bool *has_escapes)
{
    if (!soc_json_skip_space(scan) || *scan->next != '"')
        return soc_json_scan_fail(scan, "a member name is expected");
    scan->next++;
    if (!soc_json_scan_string(scan, inside, has_escapes))
        return false;
    if (!soc_json_skip_space(scan) || *scan->next != ':')
        return soc_json_scan_fail(scan, "a colon is expected");
    scan->next++;
    return true;
}

bool soc_json_scan_repeated(struct soc_json_scan *scan, const char *inside)
{
    scan->next = inside - 1;
    return soc_json_scan_fail(scan, "a member name is repeated");
}

bool soc_json_scan_end(struct soc_json_scan *scan)
{
    if (soc_json_skip_space(scan))
        return soc_json_scan_fail(scan, "unexpected text after the value");
    return true;
}

static size_t put_code_point(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

size_t soc_json_unescape_one(const char **text, char *out)
{
    const char *at = *text;
    if (*at != '\\') {
        *out = *at;
        *text = at + 1;
        return 1;
    }
    if (at[1] == 'u') {
        uint32_t code = (uint32_t)read_hex4(at + 2, at + 6);
        *text = at + 6;
        if (code >= 0xd800 && code <= 0xdfff) {
            uint32_t low = (uint32_t)read_hex4(at + 8, at + 12);
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *text = at + 12;
        }
        return put_code_point(code, out);
    }
    static const char letters[] = "bfnrt";
    static const char controls[] = "\b\f\n\r\t";
    const char *letter = strchr(letters, at[1]);
    *out = letter == NULL ? at[1] : controls[letter - letters];
    *text = at + 2;
    return 1;
}

size_t soc_json_unescape(struct soc_slice inside, char *out)
{
    const char *text = inside.data;
    const char *end = text + inside.length;
    char *begin = out;
    while (text < end) {
        const char *slash = memchr(text, '\\', (size_t)(end - text));
        size_t plain = (size_t)((slash == NULL ? end : slash) - text);
        memcpy(out, text, plain);
        out += plain;
        text += plain;
        if (text < end)
            out += soc_json_unescape_one(&text, out);
    }
    return (size_t)(out - begin);
}

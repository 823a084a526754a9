/* JSON scan: the tokens of JSON text, read and checked one at a time.
 *
 * Both readers are built on it, the checker in base and the decoder for Lua, so they
 * accept the same texts and report the same errors. A scan never reads past `end`;
 * ordinary bytes are skipped eight at a time.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_JSON_SCAN_H
#define SOC_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/slice.h"

/* A position in a text. After an error `next` is where it is. */
struct soc_json_scan {
    const char *next;
    const char *end;
    const char *reason; /* static; set together with `code` when a function returns false */
    int code;           /* SOC_EJSON or SOC_ETOOLARGE */
    size_t depth_max;   /* of lists and objects; SOC_JSON_DEPTH_MAX by default */
};

/* A number: an integer, or a double if it is written as one. */
struct soc_json_numeral {
    bool is_integer;
    union {
        int64_t integer;
        double number;
    };
};

/* Reports an error at the current position and returns false. */
static inline bool soc_json_scan_fail(struct soc_json_scan *scan, const char *reason)
{
    scan->reason = reason;
    scan->code = SOC_EJSON;
    return false;
}

/* Reads eight bytes, the first one lowest. */
static inline uint64_t soc_json_load(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Reads `count` < 8 bytes, the first one lowest, with zeros above. */
static inline uint64_t soc_json_load_tail(const char *bytes, size_t count)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (count == 0)
        return 0;
    if (count < 4) {
        size_t middle = count / 2;
        return b[0] | (uint64_t)b[middle] << (8 * middle) |
               (uint64_t)b[count - 1] << (8 * (count - 1));
    }
    uint64_t low = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    b += count - 4;
    uint64_t high = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return low | high << (8 * (count - 4));
}

/* Sets the top bit of the first byte of `word` that is not ordinary: a quote, a
 * backslash, a control character or part of a longer UTF-8 sequence. Later bytes may be
 * marked wrongly; 0 means that all eight are ordinary. */
static inline uint64_t soc_json_odd_bytes(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t quote = word ^ (ones * '"');
    uint64_t slash = word ^ (ones * '\\');
    uint64_t odd = (word - ones * 0x20) | (quote - ones) | (slash - ones) | word;
    return odd & (ones * 0x80);
}

/* Returns the first byte of the text that is not ordinary, or `end`. */
static inline const char *soc_json_skip_plain(const char *text, const char *end)
{
    for (; end - text >= 8; text += 8) {
        uint64_t odd = soc_json_odd_bytes(soc_json_load(text));
        if (odd != 0)
            return text + (__builtin_ctzll(odd) >> 3);
    }
    size_t rest = (size_t)(end - text);
    uint64_t spaces = 0x2020202020202020u << (8 * rest);
    uint64_t odd = soc_json_odd_bytes(soc_json_load_tail(text, rest) | spaces);
    return odd == 0 ? end : text + (__builtin_ctzll(odd) >> 3);
}

/* Skips white space and tells whether anything follows. */
static inline bool soc_json_skip_space(struct soc_json_scan *scan)
{
    const char *text = scan->next;
    while (text < scan->end && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t'))
        text++;
    scan->next = text;
    return text < scan->end;
}

/* Returns the length of the UTF-8 sequence at `text`, or 0 if it is invalid: overlong, a
 * surrogate, beyond U+10FFFF, truncated. */
size_t soc_utf8_length(const char *text, const char *end);

/* Begins a scan of `text`, which is not absent; false if it is too long. */
bool soc_json_scan_begin(struct soc_json_scan *scan, struct soc_slice text);

/* Reads a string, from after its opening quote to after its closing one. */
bool soc_json_scan_string(struct soc_json_scan *scan, struct soc_slice *inside, bool *has_escapes);

/* Reads a number. One that is out of range is an error at its first byte; anything else
 * is the error "a value is expected". */
bool soc_json_scan_number(struct soc_json_scan *scan, struct soc_json_numeral *out);

/* Reads `word`, one of true, false, null. */
bool soc_json_scan_word(struct soc_json_scan *scan, struct soc_slice word);

/* Reads the opening bracket of a list inside `depth` others, and the closing one if it is
 * empty. */
bool soc_json_scan_open(struct soc_json_scan *scan, size_t depth, bool *is_empty);

/* Reads the comma after an element or the closing bracket, as `is_closed` tells. */
bool soc_json_scan_next(struct soc_json_scan *scan, bool is_object, bool *is_closed);

/* Reads the name of a member and its colon. */
bool soc_json_scan_name(struct soc_json_scan *scan, struct soc_slice *inside, bool *has_escapes);

/* Reports an error at a name, as soc_json_scan_name gave it, that occurred before. */
bool soc_json_scan_repeated(struct soc_json_scan *scan, const char *inside);

/* Checks that only white space is left. */
bool soc_json_scan_end(struct soc_json_scan *scan);

/* Converts one character of a string's inside, an escape or a byte, to at most 4 bytes at
 * `out`; returns their number and moves `*text`. */
size_t soc_json_unescape_one(const char **text, char *out);

/* Unescapes the inside of a string to `out`, which must have space for as many bytes as
 * `inside`, and returns the length. Both take checked text. */
size_t soc_json_unescape(struct soc_slice inside, char *out);

#endif

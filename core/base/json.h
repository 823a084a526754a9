/* JSON: strict text (RFC 8259) in C, without a tree.
 *
 * Reading works by cursor over bytes that soc_json_check has accepted: find a member,
 * walk a list, unescape a text; nothing is allocated. Writing appends to a buffer. The
 * output is byte-stable: no white space, members in the order the caller gives them
 * (sorted by bytes where they come from a table), numbers in the shortest form that
 * reads back the same.
 *
 * Exactly the RFC is accepted: one value, no NaN, no leading zeros, no trailing commas,
 * valid UTF-8 without lone surrogates, no raw control characters, no duplicate member
 * names, numbers within the range of a double, at most SOC_JSON_DEPTH_MAX deep. Integers
 * within 64 bits signed are exact; larger ones become the nearest double.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_JSON_H
#define SOC_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Kinds of JSON values. */
enum soc_json_kind {
    SOC_JSON_NULL,
    SOC_JSON_FALSE,
    SOC_JSON_TRUE,
    SOC_JSON_NUMBER,
    SOC_JSON_STRING,
    SOC_JSON_ARRAY,
    SOC_JSON_OBJECT,
};

/* Why and where a text is not JSON. */
struct soc_json_fault {
    size_t position;    /* byte offset, from 0 */
    const char *reason; /* static: "a comma or ] is expected" */
};

/* Checks that `text` is one JSON value. SOC_OK, or SOC_EJSON and `*fault` (NULL is
 * allowed), or SOC_ETOOLARGE if it is too deep or too long. */
int soc_json_check(struct soc_slice text, struct soc_json_fault *fault);

/* Returns how many values a text that may not be JSON has, those inside others and the names of
 * members as well: what decoding it costs at most. In one pass over the bytes. */
size_t soc_json_count(struct soc_slice text);

/* All other readers take text that soc_json_check accepted. */

/* Returns the kind of the value at the start of `text`. */
enum soc_json_kind soc_json_kind(struct soc_slice text);

/* Lends the value of member `name` of an object, without white space around it; absent if
 * there is none or `text` is not an object. */
struct soc_slice soc_json_member(struct soc_slice text, const char *name);

/* A walk over the elements of an array or the members of an object. */
struct soc_json_walk {
    struct soc_slice name;  /* of this member, still escaped and without quotes */
    struct soc_slice value; /* of this element or member */
    const char *next;       /* private */
    const char *end;        /* private */
};

/* Begins a walk. soc_json_next moves to the first and each further element and returns
 * false after the last. A value that is not a list has no elements. */
void soc_json_walk(struct soc_json_walk *walk, struct soc_slice text);
bool soc_json_next(struct soc_json_walk *walk);

/* Tells whether a name of a walk, or the inside of a string value, still escaped, equals
 * `name`. */
bool soc_json_name_is(struct soc_slice inside, struct soc_slice name);

/* Appends the unescaped bytes of a string value, given with its quotes, to `out`. False
 * if it is not a string. */
bool soc_json_string(struct soc_slice text, struct soc_buf *out);

/* As soc_json_string, and lends what was appended. Absent if it is not a string, is
 * longer than `bytes_max` or contains a NUL. */
struct soc_slice soc_json_text(struct soc_slice value, size_t bytes_max, struct soc_buf *out);

/* Lends the inside of a string value without escapes, otherwise absent: the fast path for
 * ids and names. */
struct soc_slice soc_json_plain_string(struct soc_slice text);

/* Reads an integer value; false if it is not an integer (1.0 is not). */
bool soc_json_integer(struct soc_slice text, int64_t *out);

/* Reads any number. */
bool soc_json_number(struct soc_slice text, double *out);

/* Appends a text as a JSON string with its quotes. Bytes that are not UTF-8
 * are replaced by U+FFFD; check with soc_utf8_fault where that would be wrong. */
void soc_json_put_string(struct soc_buf *out, struct soc_slice text);

/* The same for text that must be valid: returns -1, or the offset of the first byte that
 * is not UTF-8, with `out` unchanged. */
ptrdiff_t soc_json_put_checked_string(struct soc_buf *out, struct soc_slice text);

/* Returns the offset of the first byte that is not UTF-8, or -1. */
ptrdiff_t soc_utf8_fault(struct soc_slice text);

/* Appends an integer. */
void soc_json_put_integer(struct soc_buf *out, int64_t number);

/* Appends a finite double in its shortest form, always with `.` or `e`, so that
 * it reads back as a double: 1.0, 0.1, 1e+100. */
void soc_json_put_number(struct soc_buf *out, double number);

/* Appends `"name":` with a comma before it unless it follows `{`. */
void soc_json_put_name(struct soc_buf *out, const char *name);

/* Appends a member with a string value, as soc_json_put_name; nothing at all if
 * `text` is absent. */
void soc_json_put_text_member(struct soc_buf *out, const char *name, struct soc_slice text);

/* Appends `object` with its member `name` set to `value` (JSON), or removed if `value` is
 * absent. Members keep their order; a new one is inserted in sorted order. */
void soc_json_put_changed(struct soc_buf *out, struct soc_slice object, const char *name,
                          struct soc_slice value);

#endif

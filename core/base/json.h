/* JSON: strict text (RFC 8259) in C, without a tree.
 *
 * Reading is by cursor over bytes that soc_json_check has accepted: find a
 * member, walk a list, unescape a text; nothing is allocated. Writing appends to
 * a buffer. What is written is byte-stable: no white space, members in the order
 * the caller gives them (sorted by bytes wherever they come from a table),
 * numbers in their shortest form that reads back the same.
 *
 * Accepted is exactly the RFC: one value, no NaN, no leading zeros, no trailing
 * commas, valid UTF-8 without lone surrogates, no raw control characters, no
 * duplicate member names, integers inside 64 bits signed, other numbers inside
 * the range of a double, at most SOC_JSON_DEPTH_MAX deep.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_JSON_H
#define SOC_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* What a JSON value is. */
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
    const char *reason; /* a static sentence, "a comma or ] is expected" */
};

/* Tells whether `text` is one JSON value. SOC_OK, or SOC_EJSON and `*fault`
 * (NULL is allowed), or SOC_ETOOLARGE when it is too deep or too long. */
int soc_json_check(struct soc_slice text, struct soc_json_fault *fault);

/* The rest of the readers take text that soc_json_check accepted. */

/* Returns the kind of the value `text` begins with. */
enum soc_json_kind soc_json_kind(struct soc_slice text);

/* Lends the value of member `name` of an object, with no white space around;
 * absent if there is none or `text` is no object. */
struct soc_slice soc_json_member(struct soc_slice text, const char *name);

/* A walk over the elements of an array or the members of an object. */
struct soc_json_walk {
    struct soc_slice name;  /* of this member, still escaped, without quotes */
    struct soc_slice value; /* of this element or member */
    const char *next;       /* private */
    const char *end;        /* private */
};

/* Begins a walk; soc_json_next moves to the first and each later element and
 * returns false after the last. A value that is no list has no elements. */
void soc_json_walk(struct soc_json_walk *walk, struct soc_slice text);
bool soc_json_next(struct soc_json_walk *walk);

/* Tells whether a name of a walk, or the inside of a string value, still escaped,
 * means the bytes of `name`. */
bool soc_json_name_is(struct soc_slice inside, struct soc_slice name);

/* Appends the unescaped bytes of a string value to `out` (the value's own bytes
 * with quotes). False if it is no string. */
bool soc_json_string(struct soc_slice text, struct soc_buf *out);

/* As soc_json_string, and lends what was appended. Absent if it is no string, longer
 * than `bytes_max` or holds a NUL. */
struct soc_slice soc_json_text(struct soc_slice value, size_t bytes_max, struct soc_buf *out);

/* Lends the inside of a string value that holds no escapes, else absent: the
 * quick way for ids and names. */
struct soc_slice soc_json_plain_string(struct soc_slice text);

/* Reads an integer value; false if it is no integer (1.0 is none). */
bool soc_json_integer(struct soc_slice text, int64_t *out);

/* Reads any number. */
bool soc_json_number(struct soc_slice text, double *out);

/* Appends a text as a JSON string with its quotes. Bytes that are not UTF-8
 * are replaced by U+FFFD; check with soc_utf8_fault where that would be wrong. */
void soc_json_put_string(struct soc_buf *out, struct soc_slice text);

/* The same for text that must be right: returns -1, or the offset of the first
 * byte that is not UTF-8, with `out` as it was before. */
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

/* Appends `object` with its member `name` set to `value` (JSON), or taken out if
 * `value` is absent. Members stay in their order; a new one takes its place among
 * sorted ones. */
void soc_json_put_changed(struct soc_buf *out, struct soc_slice object, const char *name,
                          struct soc_slice value);

#endif

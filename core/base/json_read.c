/* Reading: the first half of base/json.h. */
#include "base/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/mem.h"

/* A member name of an object that is still open. A name with escapes is kept unescaped in
 * the checker's `unescaped`, others stay in the text. */
struct name {
    uint64_t hash;
    uint32_t position; /* of its inside in the text, for error reports */
    uint32_t offset;   /* of its bytes, in the text or in `unescaped` */
    uint32_t length;
    bool is_unescaped;
};

/* Up to this many names are compared pairwise, more are sorted. */
#define NAMES_FEW 16

/* Names kept without allocating. */
#define NAMES_IN_PLACE 64

struct level {
    bool is_object;
    uint32_t name_first; /* of this object's names in the checker's `names` */
    size_t unescaped_length;
};

struct checker {
    struct soc_json_scan scan;
    const char *text;
    struct name *names; /* of all open objects; `in_place` or owned */
    size_t name_count;
    size_t name_capacity;
    struct soc_buf unescaped;
    size_t depth;
    struct level levels[SOC_JSON_DEPTH_MAX];
    struct name in_place[NAMES_IN_PLACE];
};

static void add_name(struct checker *checker, struct soc_slice inside, bool has_escapes)
{
    if (checker->name_count == checker->name_capacity) {
        size_t capacity = checker->name_capacity * 2;
        bool is_owned = checker->names != checker->in_place;
        struct name *names =
            soc_realloc(is_owned ? checker->names : NULL, capacity * sizeof(*names));
        if (!is_owned)
            memcpy(names, checker->in_place, sizeof(checker->in_place));
        checker->names = names;
        checker->name_capacity = capacity;
    }
    struct name *name = &checker->names[checker->name_count++];
    name->position = (uint32_t)(inside.data - checker->text);
    name->is_unescaped = has_escapes;
    if (has_escapes) {
        struct soc_buf *unescaped = &checker->unescaped;
        char *out = soc_buf_reserve(unescaped, inside.length + 1);
        name->offset = (uint32_t)unescaped->length;
        name->length = (uint32_t)soc_json_unescape(inside, out);
        name->hash = soc_hash(out, name->length, 0);
        unescaped->length += name->length;
    } else {
        name->offset = (uint32_t)(inside.data - checker->text);
        name->length = (uint32_t)inside.length;
        name->hash = soc_hash(inside.data, inside.length, 0);
    }
}

static const char *name_bytes(const struct checker *checker, const struct name *name)
{
    return (name->is_unescaped ? checker->unescaped.data : checker->text) + name->offset;
}

static int compare_content(const struct checker *checker, const struct name *a,
                           const struct name *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(name_bytes(checker, a), name_bytes(checker, b), a->length);
}

/* Orders names by content, equal ones by position. */
static int compare_names(const void *left, const void *right, void *user)
{
    const struct name *a = left;
    const struct name *b = right;
    int order = compare_content(user, a, b);
    if (order != 0)
        return order;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Returns the inside of the first name that repeats an earlier one of the object, or
 * NULL. It sorts instead of only hashing, so that colliding names cost no more than
 * others. */
static const char *find_repeated(struct checker *checker, struct name *names, size_t count)
{
    const char *found = NULL;
    bool is_sorted = count > NAMES_FEW;
    if (is_sorted)
        qsort_r(names, count, sizeof(*names), compare_names, checker);
    for (size_t i = 1; i < count; i++) {
        for (size_t j = is_sorted ? i - 1 : 0; j < i; j++) {
            const char *inside = checker->text + names[i].position;
            if ((found == NULL || inside < found) &&
                compare_content(checker, &names[i], &names[j]) == 0)
                found = inside;
        }
    }
    return found;
}

static bool check_name(struct checker *checker)
{
    struct soc_slice inside;
    bool has_escapes;
    if (!soc_json_scan_name(&checker->scan, &inside, &has_escapes))
        return false;
    add_name(checker, inside, has_escapes);
    return true;
}

static bool close_level(struct checker *checker)
{
    struct level *level = &checker->levels[--checker->depth];
    if (!level->is_object)
        return true;
    struct name *names = checker->names + level->name_first;
    const char *repeated = find_repeated(checker, names, checker->name_count - level->name_first);
    checker->name_count = level->name_first;
    checker->unescaped.length = level->unescaped_length;
    return repeated == NULL || soc_json_scan_repeated(&checker->scan, repeated);
}

/* Continues after a value: closes what ends here and stops before the next value or, at
 * depth 0, at the end. */
static bool check_after_value(struct checker *checker)
{
    while (checker->depth > 0) {
        bool is_object = checker->levels[checker->depth - 1].is_object;
        bool is_closed;
        if (!soc_json_scan_next(&checker->scan, is_object, &is_closed))
            return false;
        if (!is_closed)
            return !is_object || check_name(checker);
        if (!close_level(checker))
            return false;
    }
    return true;
}

/* Opens the list at `next` and stops before its first value, or after it if it is empty. */
static bool open_level(struct checker *checker, bool *is_empty)
{
    bool is_object = *checker->scan.next == '{';
    if (!soc_json_scan_open(&checker->scan, checker->depth, is_empty))
        return false;
    if (*is_empty)
        return true;
    checker->levels[checker->depth++] = (struct level){
        .is_object = is_object,
        .name_first = (uint32_t)checker->name_count,
        .unescaped_length = checker->unescaped.length,
    };
    return !is_object || check_name(checker);
}

/* Reads a value, or only the start of a non-empty list: then `*is_whole` is false and the
 * first value of the list is next. */
static bool check_value(struct checker *checker, bool *is_whole)
{
    struct soc_json_scan *scan = &checker->scan;
    struct soc_slice inside;
    struct soc_json_numeral numeral;
    bool has_escapes;
    *is_whole = true;
    switch (soc_json_skip_space(scan) ? *scan->next : '\0') {
    case '"':
        scan->next++;
        return soc_json_scan_string(scan, &inside, &has_escapes);
    case '{':
    case '[':
        return open_level(checker, is_whole);
    case 't':
        return soc_json_scan_word(scan, SOC_SLICE("true"));
    case 'f':
        return soc_json_scan_word(scan, SOC_SLICE("false"));
    case 'n':
        return soc_json_scan_word(scan, SOC_SLICE("null"));
    default:
        return soc_json_scan_number(scan, &numeral);
    }
}

static bool check_text(struct checker *checker)
{
    do {
        bool is_whole;
        if (!check_value(checker, &is_whole))
            return false;
        if (is_whole && !check_after_value(checker))
            return false;
    } while (checker->depth > 0);
    return soc_json_scan_end(&checker->scan);
}

int soc_json_check(struct soc_slice text, struct soc_json_fault *fault)
{
    struct checker checker;
    checker.text = text.data = text.data == NULL ? "" : text.data;
    checker.names = checker.in_place;
    checker.name_count = 0;
    checker.name_capacity = NAMES_IN_PLACE;
    checker.unescaped = (struct soc_buf){0};
    checker.depth = 0;
    bool is_right = soc_json_scan_begin(&checker.scan, text) && check_text(&checker);
    if (checker.names != checker.in_place)
        free(checker.names);
    soc_buf_fini(&checker.unescaped);
    if (is_right)
        return SOC_OK;
    if (fault != NULL) {
        fault->position = (size_t)(checker.scan.next - text.data);
        fault->reason = checker.scan.reason;
    }
    return checker.scan.code;
}

/* Moves to the first byte of the value; false if there is none. */
static bool begin_value(struct soc_json_scan *scan, struct soc_slice text)
{
    if (text.data == NULL)
        text.data = "";
    *scan = (struct soc_json_scan){text.data, text.data + text.length, NULL, SOC_OK, 0};
    return soc_json_skip_space(scan);
}

enum soc_json_kind soc_json_kind(struct soc_slice text)
{
    struct soc_json_scan scan;
    switch (begin_value(&scan, text) ? *scan.next : 'n') {
    case 'n':
        return SOC_JSON_NULL;
    case 'f':
        return SOC_JSON_FALSE;
    case 't':
        return SOC_JSON_TRUE;
    case '"':
        return SOC_JSON_STRING;
    case '[':
        return SOC_JSON_ARRAY;
    case '{':
        return SOC_JSON_OBJECT;
    default:
        return SOC_JSON_NUMBER;
    }
}

struct soc_slice soc_json_member(struct soc_slice text, const char *name)
{
    struct soc_slice wanted = soc_slice_text(name);
    struct soc_json_walk walk;
    if (soc_json_kind(text) == SOC_JSON_OBJECT) {
        soc_json_walk(&walk, text);
        while (soc_json_next(&walk))
            if (soc_json_name_is(walk.name, wanted))
                return walk.value;
    }
    return soc_slice(NULL, 0);
}

void soc_json_walk(struct soc_json_walk *walk, struct soc_slice text)
{
    struct soc_json_scan scan;
    bool is_list = begin_value(&scan, text) && (*scan.next == '{' || *scan.next == '[');
    *walk = (struct soc_json_walk){.next = is_list ? scan.next + 1 : scan.end, .end = scan.end};
}

/* Returns the address after the string whose opening quote is at `text`. */
static const char *skip_string(const char *text, const char *end)
{
    for (text++;; text++) {
        text = soc_json_skip_plain(text, end);
        while ((unsigned char)*text >= 0x80)
            text++;
        if (*text == '"')
            return text + 1;
        text += *text == '\\';
    }
}

/* Returns the address after the value that starts at `text`. */
static const char *skip_value(const char *text, const char *end)
{
    if (*text == '"')
        return skip_string(text, end);
    if (*text != '{' && *text != '[') {
        while (text < end && (unsigned char)*text > ' ' && *text != ',' && *text != ']' &&
               *text != '}')
            text++;
        return text;
    }
    size_t depth = 0;
    do {
        if (*text == '"') {
            text = skip_string(text, end);
            continue;
        }
        depth += *text == '{' || *text == '[';
        depth -= *text == '}' || *text == ']';
        text++;
    } while (depth > 0);
    assert(text <= end); /* or the text was never checked */
    return text;
}

bool soc_json_next(struct soc_json_walk *walk)
{
    struct soc_json_scan scan = {walk->next, walk->end, NULL, SOC_OK, 0};
    if (!soc_json_skip_space(&scan))
        return false;
    if (*scan.next == ',') {
        scan.next++;
        soc_json_skip_space(&scan);
    }
    if (*scan.next == '}' || *scan.next == ']') {
        walk->next = walk->end;
        return false;
    }
    const char *text = scan.next;
    const char *behind = skip_value(text, scan.end);
    walk->name = soc_slice(NULL, 0);
    scan.next = behind;
    if (*text == '"' && soc_json_skip_space(&scan) && *scan.next == ':') {
        walk->name = soc_slice(text + 1, (size_t)(behind - text) - 2);
        scan.next++;
        soc_json_skip_space(&scan);
        text = scan.next;
        behind = skip_value(text, scan.end);
    }
    walk->value = soc_slice(text, (size_t)(behind - text));
    walk->next = behind;
    return true;
}

bool soc_json_name_is(struct soc_slice inside, struct soc_slice name)
{
    if (inside.length < name.length)
        return false;
    if (name.length > 0 && inside.data[0] != name.data[0] && inside.data[0] != '\\')
        return false;
    if (memchr(inside.data, '\\', inside.length) == NULL)
        return soc_slice_equal(inside, name);
    const char *text = inside.data;
    const char *end = text + inside.length;
    while (text < end) {
        char bytes[4];
        size_t count = soc_json_unescape_one(&text, bytes);
        if (count > name.length || memcmp(bytes, name.data, count) != 0)
            return false;
        name = soc_slice(name.data + count, name.length - count);
    }
    return name.length == 0;
}

/* As skip_string, in a text that was not checked. */
static const char *pass_string(const char *text, const char *end)
{
    for (text++; (text = soc_json_skip_plain(text, end)) < end; text++) {
        if (*text == '"')
            return text + 1;
        if (*text == '\\' && text + 1 < end)
            text++;
    }
    return end;
}

/* Returns what follows a number or a word. */
static const char *pass_word(const char *text, const char *end)
{
    while (text < end && memchr(" \n\r\t,:[]{}\"", *text, 11) == NULL)
        text++;
    return text;
}

size_t soc_json_count(struct soc_slice text)
{
    const char *at = text.data;
    const char *end = text.data + text.length;
    size_t count = 0;
    while (at < end) {
        bool is_between = memchr(" \n\r\t,:]}", *at, 8) != NULL;
        count += !is_between;
        if (*at == '"')
            at = pass_string(at, end);
        else if (is_between || *at == '[' || *at == '{')
            at++;
        else
            at = pass_word(at, end);
    }
    return count;
}

/* Reads the string value that `text` is. */
static bool read_string(struct soc_slice text, struct soc_slice *inside)
{
    struct soc_json_scan scan;
    if (!begin_value(&scan, text) || *scan.next != '"')
        return false;
    const char *behind = skip_string(scan.next, scan.end);
    *inside = soc_slice(scan.next + 1, (size_t)(behind - scan.next) - 2);
    return true;
}

bool soc_json_string(struct soc_slice text, struct soc_buf *out)
{
    struct soc_slice inside;
    if (!read_string(text, &inside))
        return false;
    out->length += soc_json_unescape(inside, soc_buf_reserve(out, inside.length + 1));
    return true;
}

struct soc_slice soc_json_text(struct soc_slice value, size_t bytes_max, struct soc_buf *out)
{
    size_t start = out->length;
    if (!soc_json_string(value, out) || out->length - start > bytes_max ||
        memchr(out->data + start, '\0', out->length - start) != NULL)
        return (struct soc_slice){0};
    return soc_slice(out->data + start, out->length - start);
}

struct soc_slice soc_json_plain_string(struct soc_slice text)
{
    struct soc_slice inside;
    if (!read_string(text, &inside) || memchr(inside.data, '\\', inside.length) != NULL)
        return soc_slice(NULL, 0);
    return inside;
}

static bool read_number(struct soc_slice text, struct soc_json_numeral *numeral)
{
    struct soc_json_scan scan;
    return begin_value(&scan, text) && soc_json_scan_number(&scan, numeral);
}

bool soc_json_integer(struct soc_slice text, int64_t *out)
{
    struct soc_json_numeral numeral;
    if (!read_number(text, &numeral) || !numeral.is_integer)
        return false;
    *out = numeral.integer;
    return true;
}

bool soc_json_number(struct soc_slice text, double *out)
{
    struct soc_json_numeral numeral;
    if (!read_number(text, &numeral))
        return false;
    *out = numeral.is_integer ? (double)numeral.integer : numeral.number;
    return true;
}

#include "net/scrub.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

#define INSTEAD       "[secret]"
#define DISGUISED_MAX 8  /* consecutive backslashes that escape each other */
#define RUN_MAX       64 /* consecutive backslashes that are held back */
#define MAYBE         SIZE_MAX

void soc_scrub_init(struct soc_scrub *scrub, struct soc_slice secret)
{
    *scrub = (struct soc_scrub){0};
    if (secret.length == 0)
        return;
    scrub->secret = soc_copy_text(secret.data, secret.length);
    scrub->length = secret.length;
}

void soc_scrub_fini(struct soc_scrub *scrub)
{
    if (scrub->secret != NULL)
        explicit_bzero(scrub->secret, scrub->length);
    free(scrub->secret);
    *scrub = (struct soc_scrub){0};
}

/* Finds the longest suffix of what was held and `byte` that starts the secret. The rest
 * is passed on. */
static void step(struct soc_scrub *scrub, char byte, struct soc_buf *out)
{
    const char *secret = scrub->secret;
    size_t total = scrub->held + 1; /* the held bytes are secret[0 .. held) */
    size_t keep = total;
    assert(scrub->held < scrub->length);
    for (; keep > 0; keep--) {
        size_t skipped = total - keep;
        if (secret[keep - 1] == byte && memcmp(secret, secret + skipped, keep - 1) == 0)
            break;
    }
    size_t passed = total - keep;
    soc_buf_put(out, secret, passed < scrub->held ? passed : scrub->held);
    if (passed == total)
        soc_buf_put_byte(out, byte);
    scrub->held = keep;
    if (keep == scrub->length) {
        soc_buf_put_text(out, INSTEAD);
        scrub->held = 0;
    }
}

void soc_scrub_put(struct soc_scrub *scrub, struct soc_slice bytes, struct soc_buf *out)
{
    if (scrub->secret == NULL) {
        soc_buf_put_slice(out, bytes);
        return;
    }
    size_t i = 0;
    while (i < bytes.length) {
        if (scrub->held == 0) {
            const char *start = bytes.data + i;
            const char *found = memchr(start, scrub->secret[0], bytes.length - i);
            size_t plain = found == NULL ? bytes.length - i : (size_t)(found - start);
            soc_buf_put(out, start, plain);
            i += plain;
            if (i == bytes.length)
                break;
        }
        step(scrub, bytes.data[i++], out);
    }
}

void soc_scrub_end(struct soc_scrub *scrub, struct soc_buf *out)
{
    if (scrub->held > 0)
        soc_buf_put(out, scrub->secret, scrub->held);
    scrub->held = 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Tells whether the `count` hexadecimal digits at `at` are `byte`. */
static bool is_hex(struct soc_slice text, size_t at, int count, unsigned char byte)
{
    int number = 0;
    if (text.length - at < (size_t)count)
        return false;
    for (int i = 0; i < count; i++) {
        int digit = hex_digit(text.data[at + (size_t)i]);
        if (digit < 0 || number > 0xFF)
            return false;
        number = number * 16 + digit;
    }
    return number == byte;
}

/* Returns where the backslashes that start at `at` end. Only a few are followed: a text
 * of nothing but backslashes must not be read once for each. */
static size_t skip_backslashes(struct soc_slice text, size_t at)
{
    size_t i = at;
    for (int rounds = 0;; rounds++) {
        while (i < text.length && text.data[i] == '\\')
            i += 1;
        if (rounds == DISGUISED_MAX)
            return i;
        if (i > at && i < text.length && text.data[i] == 'u' && is_hex(text, i + 1, 4, '\\'))
            i += 5;
        else if (i < text.length && text.data[i] == '%' && is_hex(text, i + 1, 2, '\\'))
            i += 3;
        else
            return i;
    }
}

/* Tells whether the text ends inside the `count` hexadecimal digits at `at`. */
static bool is_cut_hex(struct soc_slice text, size_t at, size_t count)
{
    size_t i = at;
    while (i < text.length && hex_digit(text.data[i]) >= 0)
        i++;
    return i == text.length && text.length - at < count;
}

/* Returns the number of bytes at `at` that encode `byte` in any form, 0 if they do not,
 * MAYBE if more input decides. All backslashes before it belong to it, so that none is
 * left without what it escapes. */
static size_t letter_at(struct soc_slice text, size_t at, char byte, bool is_open)
{
    size_t i = skip_backslashes(text, at);
    if (i == text.length)
        return is_open ? MAYBE : 0;
    if (is_open && ((i > at && text.data[i] == 'u' && is_cut_hex(text, i + 1, 4)) ||
                    (text.data[i] == '%' && is_cut_hex(text, i + 1, 2))))
        return MAYBE;
    if (i > at && text.data[i] == 'u' && is_hex(text, i + 1, 4, (unsigned char)byte))
        return i + 5 - at;
    if (text.data[i] == '%' && is_hex(text, i + 1, 2, (unsigned char)byte))
        return i + 3 - at;
    return text.data[i] == byte ? i + 1 - at : 0;
}

/* One form of a secret: without backslashes, or the part of its base64 that does not
 * depend on its surroundings. */
struct form {
    struct soc_buf letters;
    bool is_base64;
};

/* As it is, and base64 at each of the three offsets in a group. */
#define FORM_COUNT 4

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(struct soc_slice secret, size_t bits_before, struct soc_buf *out)
{
    for (size_t bit = bits_before; bit + 6 <= secret.length * 8; bit += 6) {
        unsigned word = (unsigned)(unsigned char)secret.data[bit / 8] << 8;
        if (bit / 8 + 1 < secret.length)
            word |= (unsigned char)secret.data[bit / 8 + 1];
        soc_buf_put_byte(out, digits[word >> (10 - bit % 8) & 63]);
    }
}

static void make_forms(struct soc_slice secret, struct form forms[FORM_COUNT])
{
    for (size_t i = 0; i < secret.length; i++)
        if (secret.data[i] != '\\')
            soc_buf_put_byte(&forms[0].letters, secret.data[i]);
    for (size_t i = 1; i < FORM_COUNT; i++) {
        /* After one byte of another text, a digit is its last two bits and our first
         * four. */
        put_base64(secret, (i - 1) * 2, &forms[i].letters);
        forms[i].is_base64 = true;
    }
}

static size_t form_at(const struct form *form, struct soc_slice text, size_t at, bool is_open)
{
    size_t i = at;
    for (size_t k = 0; k < form->letters.length; k++) {
        char letter = form->letters.data[k];
        size_t length = letter_at(text, i, letter, is_open);
        if (length == 0 && form->is_base64 && (letter == '+' || letter == '/'))
            length = letter_at(text, i, letter == '+' ? '-' : '_', is_open);
        if (length == 0 || length == MAYBE)
            return length;
        i += length;
    }
    return i - at;
}

static void mark_starts(const struct form forms[FORM_COUNT], bool starts[256])
{
    starts['\\'] = starts['%'] = true;
    for (int i = 0; i < FORM_COUNT; i++) {
        if (forms[i].letters.length == 0) /* the secret is all backslashes */
            continue;
        char first = forms[i].letters.data[0];
        starts[(unsigned char)first] = true;
        starts['-'] = starts['-'] || (forms[i].is_base64 && first == '+');
        starts['_'] = starts['_'] || (forms[i].is_base64 && first == '/');
    }
}

static size_t found_at(const struct form forms[FORM_COUNT], struct soc_slice text, size_t at,
                       bool is_open)
{
    size_t found = 0;
    for (int i = 0; i < FORM_COUNT && (found == 0 || found == MAYBE); i++) {
        size_t length = form_at(&forms[i], text, at, is_open);
        found = length == 0 ? found : length;
    }
    return found;
}

static void free_forms(struct form forms[FORM_COUNT])
{
    for (int i = 0; i < FORM_COUNT; i++) {
        if (forms[i].letters.length > 0)
            explicit_bzero(forms[i].letters.data, forms[i].letters.length);
        soc_buf_fini(&forms[i].letters);
    }
}

/* The result of scrub_forms. */
struct findings {
    bool is_found;
    size_t held; /* bytes at the end that were held back: they may start the secret */
};

/* A run of backslashes is searched once, at its start: what does not start there does not
 * start inside it. */
static struct findings scrub_forms(const struct form forms[FORM_COUNT], struct soc_slice text,
                                   bool is_open, struct soc_buf *out)
{
    struct findings findings = {0};
    bool starts[256] = {0};
    mark_starts(forms, starts);
    for (size_t i = 0, plain = 0; plain < text.length; i++) {
        bool is_inside_run = i > 0 && i < text.length && text.data[i - 1] == '\\';
        size_t length = 0;
        if (i < text.length && !is_inside_run && starts[(unsigned char)text.data[i]])
            length = found_at(forms, text, i, is_open);
        if (length == 0 && i < text.length)
            continue;
        soc_buf_put(out, text.data + plain, i - plain);
        if (length == MAYBE) {
            findings.held = text.length - i;
            break;
        }
        if (length > 0) {
            soc_buf_put_text(out, INSTEAD);
            findings.is_found = true;
        }
        plain = i + length;
        i = plain - 1;
    }
    return findings;
}

bool soc_scrub_text(struct soc_slice secret, struct soc_slice text, struct soc_buf *out)
{
    struct form forms[FORM_COUNT] = {0};
    if (secret.length < SOC_SECRET_BYTES_MIN) {
        soc_buf_put_slice(out, text);
        return false;
    }
    make_forms(secret, forms);
    struct findings findings = scrub_forms(forms, text, false, out);
    free_forms(forms);
    return findings.is_found;
}

/* Adds to what is held back. Of backslashes only as many as a character needs: otherwise
 * a text of nothing else would be searched from its start with each piece. */
static void hold(struct soc_buf *held, struct soc_slice text)
{
    size_t run = 0;
    while (run < held->length && held->data[held->length - 1 - run] == '\\')
        run++;
    for (size_t i = 0; i < text.length; i++) {
        run = text.data[i] == '\\' ? run + 1 : 0;
        if (run <= RUN_MAX)
            soc_buf_put_byte(held, text.data[i]);
    }
}

void soc_scrub_part(struct soc_slice secret, struct soc_buf *held, struct soc_slice text,
                    struct soc_buf *out)
{
    struct form forms[FORM_COUNT] = {0};
    if (secret.length < SOC_SECRET_BYTES_MIN) {
        soc_buf_put_slice(out, text);
        return;
    }
    make_forms(secret, forms);
    hold(held, text);
    struct findings findings = scrub_forms(forms, soc_buf_slice(held), true, out);
    assert(findings.held <= held->length);
    if (findings.held > 0)
        memmove(held->data, held->data + held->length - findings.held, findings.held);
    held->length = findings.held;
    free_forms(forms);
}

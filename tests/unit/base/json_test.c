/* Covers: core/base/json_scan.c, core/base/json_read.c, core/base/json_write.c */
#include "base/json.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "check.h"

static int check(const char *text)
{
    return soc_json_check(soc_slice_text(text), NULL);
}

static const char *reason_of(const char *text)
{
    struct soc_json_fault fault = {0, "none"};
    soc_json_check(soc_slice_text(text), &fault);
    return fault.reason;
}

static long long position_of(const char *text)
{
    struct soc_json_fault fault = {0, NULL};
    CHECK_INT(soc_json_check(soc_slice_text(text), &fault), SOC_EJSON);
    return (long long)fault.position;
}

/* Checks that each text up to NULL ends with `code`. */
static void expect_all(const char *const *texts, int code)
{
    for (; *texts != NULL; texts++)
        if (!CHECK_INT(check(*texts), code))
            printf("# %s: %s\n", *texts, reason_of(*texts));
}

static void every_kind_of_value_is_accepted(void)
{
    /* clang-format off */
    static const char *const texts[] = {
        "null", "true", "false", "0", "-1", "1.5", "-0", "-0.0", "0e0", "1E+2", "1e-400",
        "9223372036854775807", "-9223372036854775808", "1.7976931348623157e308", "\"\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\u0000\"", "\"\x7f\"",
        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
        "[]", "{}", " [ 1 , { \"a\" : [ ] } ]\r\n\t", "{\"\":0}", NULL
    };
    /* clang-format on */
    expect_all(texts, SOC_OK);
}

static size_t count(const char *text)
{
    return soc_json_count(soc_slice_text(text));
}

static void values_and_names_are_counted_in_any_bytes(void)
{
    CHECK_INT(count(""), 0);
    CHECK_INT(count("null"), 1);
    CHECK_INT(count("[]"), 1);
    CHECK_INT(count(" [ 1 , -2.5e3 ,true,{ } , [[]]] "), 7);
    CHECK_INT(count("{\"a\":{\"b\":\"c,[d:\"},\"e\":[\"\\\"[\",\"\\\\\",\"\xc3\xa9\"]}"), 10);
    CHECK_INT(soc_json_count(soc_slice("[\0,\0]", 5)), 3);
    CHECK_INT(count("\"not ended, [ \\"), 1);
    CHECK_INT(count("\"\\\"[[["), 1);
    CHECK_INT(count("]]}{{x\"y\"z"), 5);
}

static void numbers_and_keywords_are_parsed_strictly(void)
{
    /* clang-format off */
    static const char *const texts[] = {
        "", " ", "nul", "nulll", "True", "NaN", "Infinity", "-", "+1", "01", "-01", "00", ".5",
        "1.", "1.e1", "1e", "1e+", "0x10", "1 2", "1,", NULL
    };
    /* clang-format on */
    expect_all(texts, SOC_EJSON);
}

static void strings_are_parsed_strictly(void)
{
    /* clang-format off */
    static const char *const texts[] = {
        "'a'", "\"", "\"a", "\"\\\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"",
        "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\"", "\"\x1f\"", "\"\n\"",
        "\"\x80\"", "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xe0\x9f\xbf\"", "\"\xed\xa0\x80\"",
        "\"\xf0\x8f\xbf\xbf\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe4\xbd\"",
        "\"\xff\"", NULL
    };
    /* clang-format on */
    expect_all(texts, SOC_EJSON);
}

static void lists_and_objects_are_parsed_strictly(void)
{
    /* clang-format off */
    static const char *const texts[] = {
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", "{\"a\"", "{\"a\":",
        "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{1:1}", "{,}", "[]]", "{}{}",
        "\xef\xbb\xbf{}", "[1]//", "/**/1", "\f1", "\xc2\xa0 1", NULL
    };
    /* clang-format on */
    expect_all(texts, SOC_EJSON);
}

static void an_error_has_a_position_and_a_reason(void)
{
    CHECK_INT(position_of("[1 2]"), 3);
    CHECK_TEXT(reason_of("[1 2]"), "a comma or ] is expected");
    CHECK_INT(position_of("{\"a\":1 \"b\"}"), 7);
    CHECK_TEXT(reason_of("{\"a\":1 \"b\"}"), "a comma or } is expected");
    CHECK_INT(position_of("  1e400"), 2);
    CHECK_TEXT(reason_of("1e400"), "number out of range");
    CHECK_TEXT(reason_of("-1e400"), "number out of range");
    CHECK_INT(position_of("\"abc\x01\""), 4);
    CHECK_INT(position_of("\"abcdefghij\xff\""), 11);
    CHECK_TEXT(reason_of("\"\xff\""), "the text is not UTF-8");
    CHECK_INT(position_of("[true] x"), 7);
    CHECK_TEXT(reason_of("[true] x"), "unexpected text after the value");
}

static void a_nul_does_not_end_the_text(void)
{
    struct soc_json_fault fault;
    CHECK_INT(soc_json_check(SOC_SLICE("1\0"), &fault), SOC_EJSON);
    CHECK_INT(fault.position, 1);
    CHECK_INT(soc_json_check(SOC_SLICE("\"a\0b\""), &fault), SOC_EJSON);
    CHECK_INT(soc_json_check(SOC_SLICE("\"\\\0\""), &fault), SOC_EJSON);
    CHECK_INT(soc_json_check(soc_slice(NULL, 0), &fault), SOC_EJSON);
}

static void a_text_truncated_anywhere_is_refused(void)
{
    static const char text[] =
        "{\"a\":[1.5e+3,\"x\\u00e9\xe4\xbd\xa0\",true,null],\"b\":{\"c\":-0}}";
    for (size_t length = 0; length < sizeof(text) - 1; length++) {
        /* A copy of the exact size lets the sanitizer see a read past the end. */
        char *copy = malloc(length + 1);
        memcpy(copy, text, length);
        char *exact = realloc(copy, length > 0 ? length : 1);
        CHECK_INT(soc_json_check(soc_slice(exact, length), NULL), SOC_EJSON);
        free(exact);
    }
    CHECK_INT(check(text), SOC_OK);
}

static void repeated_names_are_refused_in_any_spelling(void)
{
    CHECK_INT(position_of("{\"a\":1,\"b\":2,\"a\":3}"), 13);
    CHECK_TEXT(reason_of("{\"a\":1,\"a\":3}"), "a member name is repeated");
    CHECK_INT(check("{\"a\":1,\"\\u0061\":3}"), SOC_EJSON);
    CHECK_INT(check("{\"\\u0061\":1,\"a\":3}"), SOC_EJSON);
    CHECK_INT(check("{\"\\n\":1,\"\\u000a\":3}"), SOC_EJSON);
    CHECK_INT(check("{\"\":1,\"\":3}"), SOC_EJSON);
    CHECK_INT(check("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}"), SOC_OK);
    CHECK_INT(check("{\"x\":{\"a\":1,\"b\":{},\"a\":1}}"), SOC_EJSON);
    CHECK_INT(check("{\"\\u00e9\":{\"\\u00e8\":1},\"\\u00ea\":2,\"\\u00e9\":3}"), SOC_EJSON);
    CHECK_INT(check("{\"\\u00e9\":{\"\\u00e8\":1},\"\\u00ea\":2,\"\\u00e8\":3}"), SOC_OK);
}

/* Appends {"k0":0,...} with the names from `first` to `last`. */
static void put_many_members(struct soc_buf *out, int first, int last)
{
    soc_buf_put_byte(out, '{');
    for (int i = first; i <= last; i++)
        soc_buf_printf(out, "%s\"k%d\":%d", i == first ? "" : ",", i, i);
}

static void repeated_names_are_found_in_a_large_object(void)
{
    struct soc_buf buf = {0};
    struct soc_json_fault fault;
    put_many_members(&buf, 0, 200000);
    size_t length = buf.length;
    soc_buf_put_text(&buf, "}");
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), NULL), SOC_OK);
    buf.length = length;
    soc_buf_put_text(&buf, ",\"k7\":0,\"new\":0,\"k7\":0,\"k6\":0}");
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), &fault), SOC_EJSON);
    CHECK_INT(fault.position, length + 1);
    soc_buf_fini(&buf);
}

static void depth_is_bounded(void)
{
    struct soc_buf buf = {0};
    struct soc_json_fault fault;
    for (int i = 0; i < SOC_JSON_DEPTH_MAX; i++)
        soc_buf_put_text(&buf, i % 2 == 0 ? "[" : "{\"a\":");
    soc_buf_put_text(&buf, "1");
    for (int i = SOC_JSON_DEPTH_MAX - 1; i >= 0; i--)
        soc_buf_put_text(&buf, i % 2 == 0 ? "]" : "}");
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), NULL), SOC_OK);
    buf.length = 0;
    for (int i = 0; i < 100000; i++)
        soc_buf_put_byte(&buf, '[');
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), &fault), SOC_ETOOLARGE);
    CHECK_INT(fault.position, SOC_JSON_DEPTH_MAX);
    soc_buf_fini(&buf);
}

static void length_is_bounded(void)
{
    size_t length = (size_t)SOC_JSON_BYTES_MAX + 1;
    char *text = malloc(length);
    memset(text, ' ', length);
    text[0] = '1';
    CHECK_INT(soc_json_check(soc_slice(text, length), NULL), SOC_ETOOLARGE);
    CHECK_INT(soc_json_check(soc_slice(text, length - 1), NULL), SOC_OK);
    free(text);
}

static void a_member_is_found_by_name(void)
{
    struct soc_slice text =
        SOC_SLICE(" { \"a\" : [1, {\"b\":2}] , \"c}\\\"\":\"x]\" , \"d\":null}");
    struct soc_slice value = soc_json_member(text, "a");
    CHECK(soc_slice_equal(value, SOC_SLICE("[1, {\"b\":2}]")));
    CHECK_INT(soc_json_kind(value), SOC_JSON_ARRAY);
    CHECK(soc_slice_equal(soc_json_member(text, "c}\""), SOC_SLICE("\"x]\"")));
    CHECK_INT(soc_json_kind(soc_json_member(text, "d")), SOC_JSON_NULL);
    CHECK(soc_json_member(text, "b").data == NULL);
    CHECK(soc_json_member(text, "").data == NULL);
    CHECK(soc_json_member(SOC_SLICE("[\"a\"]"), "a").data == NULL);
    CHECK(soc_json_member(SOC_SLICE("{}"), "a").data == NULL);
    CHECK(soc_json_member(soc_slice(NULL, 0), "a").data == NULL);
    CHECK(soc_slice_equal(soc_json_member(SOC_SLICE("{\"\\u0061\\u00e9\":1}"), "a\xc3\xa9"),
                          SOC_SLICE("1")));
    CHECK(soc_json_member(SOC_SLICE("{\"\\u0061\\u00e9\":1}"), "a").data == NULL);
}

static void a_walk_gives_each_element_once(void)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, SOC_SLICE(" [ 1 ,\"a,]\" ,{ \"x\":[] },true ] "));
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.value, SOC_SLICE("1")));
    CHECK(walk.name.data == NULL);
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.value, SOC_SLICE("\"a,]\"")));
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.value, SOC_SLICE("{ \"x\":[] }")));
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.value, SOC_SLICE("true")));
    CHECK(!soc_json_next(&walk));
    CHECK(!soc_json_next(&walk));

    soc_json_walk(&walk, SOC_SLICE("{\"a\\n\" : \"v\",\"b\":-1}"));
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.name, SOC_SLICE("a\\n")));
    CHECK(soc_slice_equal(walk.value, SOC_SLICE("\"v\"")));
    CHECK(soc_json_next(&walk) && soc_slice_equal(walk.name, SOC_SLICE("b")));
    CHECK(soc_slice_equal(walk.value, SOC_SLICE("-1")));
    CHECK(!soc_json_next(&walk));

    soc_json_walk(&walk, SOC_SLICE("{ }"));
    CHECK(!soc_json_next(&walk));
    soc_json_walk(&walk, SOC_SLICE("\"[1]\""));
    CHECK(!soc_json_next(&walk));
    soc_json_walk(&walk, soc_slice(NULL, 0));
    CHECK(!soc_json_next(&walk));
}

static void strings_are_unescaped(void)
{
    struct soc_buf buf = {0};
    CHECK(soc_json_string(SOC_SLICE("\"a\\n\\u00e9\\ud83d\\ude00\\/\\\"\\u0000z\""), &buf));
    CHECK(soc_slice_equal(soc_buf_slice(&buf), SOC_SLICE("a\n\xc3\xa9\xf0\x9f\x98\x80/\"\0z")));
    CHECK(!soc_json_string(SOC_SLICE("1"), &buf));
    CHECK(!soc_json_string(soc_slice(NULL, 0), &buf));
    soc_buf_fini(&buf);
    CHECK(soc_json_string(SOC_SLICE("\"\""), &buf));
    CHECK_INT(buf.length, 0);
    CHECK(soc_slice_equal(soc_json_plain_string(SOC_SLICE("\"id_1\"")), SOC_SLICE("id_1")));
    CHECK(soc_json_plain_string(SOC_SLICE("\"\"")).data != NULL);
    CHECK(soc_json_plain_string(SOC_SLICE("\"a\\n\"")).data == NULL);
    CHECK(soc_json_plain_string(SOC_SLICE("[]")).data == NULL);
    struct soc_buf texts = {0};
    CHECK(soc_slice_equal(soc_json_text(SOC_SLICE("\"a\\n\""), 2, &texts), SOC_SLICE("a\n")));
    CHECK(soc_json_text(SOC_SLICE("\"abc\""), 2, &texts).data == NULL);
    CHECK(soc_json_text(SOC_SLICE("\"\\u0000\""), 2, &texts).data == NULL);
    CHECK(soc_json_text(SOC_SLICE("1"), 2, &texts).data == NULL);
    soc_buf_fini(&texts);
    soc_buf_fini(&buf);
}

static void numbers_are_parsed_as_written(void)
{
    int64_t integer;
    double number;
    CHECK(soc_json_integer(SOC_SLICE("9223372036854775807"), &integer) && integer == INT64_MAX);
    CHECK(soc_json_integer(SOC_SLICE("-9223372036854775808"), &integer) && integer == INT64_MIN);
    CHECK(soc_json_integer(SOC_SLICE(" 12 "), &integer) && integer == 12);
    CHECK(!soc_json_integer(SOC_SLICE("9223372036854775808"), &integer));
    CHECK(!soc_json_integer(SOC_SLICE("-9223372036854775809"), &integer));
    CHECK(soc_json_number(SOC_SLICE("9223372036854775808"), &number) && number == 0x1p63);
    CHECK(soc_json_number(SOC_SLICE("-100000000000000000000000"), &number) && number == -1e23);
    CHECK(!soc_json_integer(SOC_SLICE("1.0"), &integer));
    CHECK(!soc_json_integer(SOC_SLICE("1e2"), &integer));
    CHECK(!soc_json_integer(SOC_SLICE("-0"), &integer));
    CHECK(!soc_json_integer(SOC_SLICE("\"1\""), &integer));
    CHECK(!soc_json_integer(SOC_SLICE("true"), &integer));
    CHECK(!soc_json_integer(soc_slice(NULL, 0), &integer));
    CHECK(soc_json_number(SOC_SLICE("12"), &number) && number == 12.0);
    CHECK(soc_json_number(SOC_SLICE("-0"), &number) && number == 0 && signbit(number));
    CHECK(soc_json_number(SOC_SLICE("1e-400"), &number) && number == 0);
    CHECK(soc_json_number(SOC_SLICE("5e-324"), &number) && number == 5e-324);
    CHECK(!soc_json_number(SOC_SLICE("null"), &number));
}

/* A small generator, so that every run checks the same values. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void numbers_are_parsed_as_by_the_c_library(void)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = next_random(&state);
        uint64_t mantissa = bits >> (bits % 60);
        int length;
        if (i % 2 == 0)
            length = snprintf(text, sizeof(text), "%llu.%llue%d", (unsigned long long)mantissa,
                              (unsigned long long)(next_random(&state) % 100000),
                              (int)(next_random(&state) % 60) - 30);
        else
            length = snprintf(text, sizeof(text), "0.%0*llu", (int)(bits % 30),
                              (unsigned long long)mantissa);
        double number;
        bool is_same = soc_json_number(soc_slice(text, (size_t)length), &number) &&
                       number == strtod(text, NULL);
        if (!CHECK(is_same))
            printf("# %s\n", text);
    }
}

static const char *number_text(struct soc_buf *buf, double number)
{
    buf->length = 0;
    soc_json_put_number(buf, number);
    return soc_buf_text(buf);
}

static void doubles_are_written_in_their_shortest_form(void)
{
    struct soc_buf buf = {0};
    CHECK_TEXT(number_text(&buf, 1.0), "1.0");
    CHECK_TEXT(number_text(&buf, -1.0), "-1.0");
    CHECK_TEXT(number_text(&buf, 0.0), "0.0");
    CHECK_TEXT(number_text(&buf, -0.0), "-0.0");
    CHECK_TEXT(number_text(&buf, 0.1), "0.1");
    CHECK_TEXT(number_text(&buf, 0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(number_text(&buf, -12.05), "-12.05");
    CHECK_TEXT(number_text(&buf, 0.001), "0.001");
    CHECK_TEXT(number_text(&buf, 0.00001), "1e-05");
    CHECK_TEXT(number_text(&buf, 999999999999999.0), "999999999999999.0");
    CHECK_TEXT(number_text(&buf, 1e15), "1e+15");
    CHECK_TEXT(number_text(&buf, 9007199254740993.0), "9007199254740992.0");
    CHECK_TEXT(number_text(&buf, 1e100), "1e+100");
    CHECK_TEXT(number_text(&buf, 5e-324), "5e-324");
    CHECK_TEXT(number_text(&buf, 1.7976931348623157e308), "1.7976931348623157e+308");
    CHECK_TEXT(number_text(&buf, 1.0 / 3), "0.3333333333333333");
    soc_buf_fini(&buf);
}

/* The reference that the fast path must agree with. */
static void print_slowly(char *text, size_t size, double number)
{
    for (int digits = fabs(number) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    if (strpbrk(text, ".e") == NULL)
        strcat(text, ".0");
}

static void short_decimals_are_written_as_by_the_c_library(void)
{
    struct soc_buf buf = {0};
    uint64_t state = 1234567;
    for (int i = 0; i < 200000; i++) {
        static const double powers[] = {1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8};
        uint64_t bits = next_random(&state);
        double number;
        if (i % 4 == 0) {
            memcpy(&number, &bits, sizeof(number));
            if (!isfinite(number))
                continue;
        } else {
            number = (double)(int64_t)(bits >> (bits % 64)) / powers[next_random(&state) % 9];
        }
        char text[64];
        print_slowly(text, sizeof(text), number);
        CHECK_TEXT(number_text(&buf, number), text);
        double back;
        CHECK(soc_json_number(soc_buf_slice(&buf), &back) && back == number);
    }
    soc_buf_fini(&buf);
}

static void integers_are_written_exactly(void)
{
    struct soc_buf buf = {0};
    static const int64_t numbers[] = {0, 1, -1, 9, 10, 99, 100, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)numbers[i]);
        buf.length = 0;
        soc_json_put_integer(&buf, numbers[i]);
        CHECK_TEXT(soc_buf_text(&buf), text);
    }
    soc_buf_fini(&buf);
}

static const char *string_text(struct soc_buf *buf, struct soc_slice text)
{
    buf->length = 0;
    soc_json_put_string(buf, text);
    return soc_buf_text(buf);
}

static void strings_are_escaped_no_more_than_needed(void)
{
    struct soc_buf buf = {0};
    CHECK_TEXT(string_text(&buf, SOC_SLICE("")), "\"\"");
    CHECK_TEXT(string_text(&buf, soc_slice(NULL, 0)), "\"\"");
    CHECK_TEXT(string_text(&buf, SOC_SLICE("a/\x7f\xe4\xbd\xa0")), "\"a/\x7f\xe4\xbd\xa0\"");
    CHECK_TEXT(string_text(&buf, SOC_SLICE("\"\\\b\f\n\r\t")), "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    CHECK_TEXT(string_text(&buf, SOC_SLICE("\0\x01\x1f")), "\"\\u0000\\u0001\\u001f\"");
    CHECK_TEXT(string_text(&buf, SOC_SLICE("a\xffz\xe4\xbd")),
               "\"a\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\"");
    soc_buf_fini(&buf);
}

static void a_string_of_any_length_survives_a_round_trip(void)
{
    static const char *const pieces[] = {
        "a",  "\n",   "\xc3\xa9",         "\xe4\xbd\xa0",
        "\"", "\x01", "\xf0\x9f\x98\x80", "plain text of some length"};
    uint64_t state = 99;
    for (int length = 0; length < 3000; length += 1 + length / 8) {
        struct soc_buf text = {0};
        struct soc_buf json = {0};
        struct soc_buf back = {0};
        for (int i = 0; i < length; i++)
            soc_buf_put_text(&text, pieces[next_random(&state) % 8]);
        CHECK_INT(soc_json_put_checked_string(&json, soc_buf_slice(&text)), -1);
        CHECK_INT(soc_json_check(soc_buf_slice(&json), NULL), SOC_OK);
        CHECK(soc_json_string(soc_buf_slice(&json), &back));
        CHECK(soc_slice_equal(soc_buf_slice(&back), soc_buf_slice(&text)));
        soc_buf_fini(&text);
        soc_buf_fini(&json);
        soc_buf_fini(&back);
    }
}

static void invalid_utf8_is_located(void)
{
    struct soc_buf buf = {0};
    char text[1100];
    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)0xff;
        CHECK_INT(soc_utf8_fault(soc_slice(text, sizeof(text))), i);
        buf.length = 0;
        soc_buf_put_text(&buf, "kept");
        CHECK_INT(soc_json_put_checked_string(&buf, soc_slice(text, sizeof(text))), i);
        CHECK_TEXT(soc_buf_text(&buf), "kept");
        text[i] = 'a';
    }
    CHECK_INT(soc_utf8_fault(SOC_SLICE("")), -1);
    CHECK_INT(soc_utf8_fault(SOC_SLICE("abcdefgh\xe4\xbd\xa0")), -1);
    CHECK_INT(soc_utf8_fault(SOC_SLICE("abcdefgh\xe4\xbd")), 8);
    soc_buf_fini(&buf);
}

static void members_are_separated_by_commas(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_byte(&buf, '{');
    soc_json_put_text_member(&buf, "none", soc_slice(NULL, 0));
    soc_json_put_text_member(&buf, "a", SOC_SLICE("x\n"));
    soc_json_put_text_member(&buf, "empty", SOC_SLICE(""));
    soc_json_put_name(&buf, "n");
    soc_json_put_integer(&buf, -5);
    soc_json_put_name(&buf, "o");
    soc_buf_put_text(&buf, "{");
    soc_json_put_name(&buf, "in\"side");
    soc_buf_put_text(&buf, "true}}");
    CHECK_TEXT(soc_buf_text(&buf),
               "{\"a\":\"x\\n\",\"empty\":\"\",\"n\":-5,\"o\":{\"in\\\"side\":true}}");
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), NULL), SOC_OK);
    soc_buf_fini(&buf);
}

static void a_number_with_very_many_digits_is_parsed(void)
{
    struct soc_buf buf = {0};
    soc_buf_put_text(&buf, "0.");
    for (int i = 0; i < 1000000; i++)
        soc_buf_put_byte(&buf, '3');
    double number;
    CHECK_INT(soc_json_check(soc_buf_slice(&buf), NULL), SOC_OK);
    CHECK(soc_json_number(soc_buf_slice(&buf), &number) && number == 1.0 / 3);
    soc_buf_fini(&buf);
}

static void check_changed(const char *object, const char *name, const char *value,
                          const char *expected)
{
    struct soc_buf out = {0};
    soc_json_put_changed(&out, soc_slice_text(object), name,
                         value == NULL ? (struct soc_slice){0} : soc_slice_text(value));
    CHECK_TEXT(soc_buf_text(&out), expected);
    soc_buf_fini(&out);
}

static void a_member_is_set_in_order_or_removed(void)
{
    check_changed("{}", "b", "1", "{\"b\":1}");
    check_changed("{\"a\":1,\"c\":3}", "b", "2", "{\"a\":1,\"b\":2,\"c\":3}");
    check_changed("{\"a\":1,\"c\":3}", "c", "[]", "{\"a\":1,\"c\":[]}");
    check_changed("{\"a\":1,\"c\":3}", "d", "4", "{\"a\":1,\"c\":3,\"d\":4}");
    check_changed("{\"a\":1,\"c\":3}", "a", NULL, "{\"c\":3}");
    check_changed("{\"a\":1}", "x", NULL, "{\"a\":1}");
    check_changed("{\"aa\":1}", "a", "0", "{\"a\":0,\"aa\":1}");
}

int main(void)
{
    RUN(every_kind_of_value_is_accepted);
    RUN(values_and_names_are_counted_in_any_bytes);
    RUN(numbers_and_keywords_are_parsed_strictly);
    RUN(strings_are_parsed_strictly);
    RUN(lists_and_objects_are_parsed_strictly);
    RUN(an_error_has_a_position_and_a_reason);
    RUN(a_nul_does_not_end_the_text);
    RUN(a_text_truncated_anywhere_is_refused);
    RUN(repeated_names_are_refused_in_any_spelling);
    RUN(repeated_names_are_found_in_a_large_object);
    RUN(depth_is_bounded);
    RUN(length_is_bounded);
    RUN(a_member_is_found_by_name);
    RUN(a_walk_gives_each_element_once);
    RUN(strings_are_unescaped);
    RUN(numbers_are_parsed_as_written);
    RUN(numbers_are_parsed_as_by_the_c_library);
    RUN(a_number_with_very_many_digits_is_parsed);
    RUN(doubles_are_written_in_their_shortest_form);
    RUN(short_decimals_are_written_as_by_the_c_library);
    RUN(integers_are_written_exactly);
    RUN(strings_are_escaped_no_more_than_needed);
    RUN(a_string_of_any_length_survives_a_round_trip);
    RUN(invalid_utf8_is_located);
    RUN(members_are_separated_by_commas);
    RUN(a_member_is_set_in_order_or_removed);
    return check_done();
}

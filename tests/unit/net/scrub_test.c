#include "net/scrub.h"

#include "base/json.h"
#include "check.h"

#define SECRET "sk-can\"ry/5?>~\\1"

static bool scrub(const char *text, struct soc_buf *out)
{
    out->length = 0;
    return soc_scrub_text(SOC_SLICE(SECRET), soc_slice_text(text), out);
}

static void a_text_without_the_secret_is_unchanged(void)
{
    static const char *const texts[] = {
        "",    "\\",           "\\\\u",           "%",         "100% %2",
        "sk-", "sk-can\"ry/5", "{\"a\":\"\\n\"}", "\\u0073k-", "c2stY2Fu",
    };
    struct soc_buf out = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        CHECK(!scrub(texts[i], &out));
        CHECK(strcmp(soc_buf_text(&out), texts[i]) == 0);
    }
    soc_buf_fini(&out);
}

/* Appends the secret with the characters of `mask` as \uXXXX or %XX, between two words. */
static void put_disguised(struct soc_buf *out, unsigned mask, bool is_json)
{
    static const char secret[] = SECRET;
    soc_buf_put_text(out, "a ");
    for (size_t i = 0; i < sizeof(secret) - 1; i++) {
        if ((mask >> (i % 8) & 1) != 0)
            soc_buf_printf(out, is_json ? "\\u%04x" : "%%%02X", (unsigned char)secret[i]);
        else
            soc_buf_put_byte(out, secret[i]);
    }
    soc_buf_put_text(out, " b");
}

static void characters_may_be_escaped_in_any_way(void)
{
    struct soc_buf text = {0};
    struct soc_buf out = {0};
    for (unsigned mask = 0; mask < 512; mask++) {
        text.length = 0;
        put_disguised(&text, mask & 255, mask > 255);
        CHECK(scrub(soc_buf_text(&text), &out));
        /* An escaped backslash may be left. */
        CHECK(strncmp(soc_buf_text(&out), "a [secret]", 10) == 0);
        CHECK(strstr(soc_buf_text(&out), "ry/5") == NULL);
    }
    soc_buf_fini(&text);
    soc_buf_fini(&out);
}

/* JSON in a string of JSON, and so on: the result is still JSON. */
static void json_stays_valid_to_any_depth(void)
{
    struct soc_buf text = {0};
    struct soc_buf out = {0};
    soc_buf_put_text(&text, "\\" SECRET "\\");
    for (int depth = 0; depth < 6; depth++) {
        struct soc_buf deeper = {0};
        struct soc_buf back = {0};
        soc_json_put_string(&deeper, soc_buf_slice(&text));
        soc_buf_fini(&text);
        text = deeper;
        CHECK(scrub(soc_buf_text(&text), &out));
        CHECK(strstr(soc_buf_text(&out), "[secret]") != NULL);
        CHECK(soc_json_string(soc_buf_slice(&out), &back));
        soc_buf_fini(&back);
    }
    soc_buf_fini(&text);
    soc_buf_fini(&out);
}

static void base64_of_the_secret_is_found_at_any_offset(void)
{
    static const char *const texts[] = {
        "c2stY2FuInJ5LzU/Pn5cMQ==", "eHNrLWNhbiJyeS81Pz5+XDE=", "eHhzay1jYW4icnkvNT8+flwx",
        "c2stY2FuInJ5LzU_Pn5cMQ",   "eHNrLWNhbiJyeS81Pz5-XDE",  "c2stY2FuInJ5LzU\\/Pn5cMQ==",
    };
    struct soc_buf out = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        CHECK(scrub(texts[i], &out));
        CHECK(out.length < 16);
    }
    soc_buf_fini(&out);
}

static void a_short_or_unusual_secret_is_harmless(void)
{
    struct soc_buf out = {0};
    CHECK(!soc_scrub_text(SOC_SLICE("abc"), SOC_SLICE("abc"), &out));
    CHECK(!soc_scrub_text(SOC_SLICE("\\\\\\\\\\\\\\\\"), SOC_SLICE("a\\b"), &out));
    CHECK(strcmp(soc_buf_text(&out), "abca\\b") == 0);
    out.length = 0;
    CHECK(soc_scrub_text(SOC_SLICE("aaaaaaaa"), SOC_SLICE("aaaaaaaaaaaaaaaaaaab"), &out));
    CHECK(strcmp(soc_buf_text(&out), "[secret][secret]aaab") == 0);
    soc_buf_fini(&out);
}

/* It would take minutes if each character were searched from each one before it. */
static void a_long_text_of_escapes_passes_unchanged(void)
{
    static const char *const pieces[] = {"\\", "%5C", "\\u005c", "\\\\s", "%73", "c2st"};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct soc_buf text = {0};
        struct soc_buf out = {0};
        while (text.length < 1000000)
            soc_buf_put_text(&text, pieces[i]);
        CHECK(!scrub(soc_buf_text(&text), &out));
        CHECK(out.length == text.length);
        soc_buf_fini(&text);
        soc_buf_fini(&out);
    }
}

/* Split anywhere, a secret never passes and nothing else is lost. */
static void a_secret_in_pieces_is_scrubbed(void)
{
    static const char text[] = "aab aaab aab aa";
    for (size_t first = 0; first < sizeof(text) - 1; first++) {
        for (size_t second = first; second < sizeof(text) - 1; second++) {
            struct soc_scrub scrub;
            struct soc_buf out = {0};
            soc_scrub_init(&scrub, SOC_SLICE("aab"));
            soc_scrub_put(&scrub, soc_slice(text, first), &out);
            soc_scrub_put(&scrub, soc_slice(text + first, second - first), &out);
            soc_scrub_put(&scrub, soc_slice(text + second, sizeof(text) - 1 - second), &out);
            soc_scrub_end(&scrub, &out);
            CHECK(strcmp(soc_buf_text(&out), "[secret] a[secret] [secret] aa") == 0);
            soc_buf_fini(&out);
            soc_scrub_fini(&scrub);
        }
    }
}

/* Feeds the text byte by byte: no byte of the secret is ever seen. */
static void check_never_shown(const char *text, const char *expected)
{
    struct soc_buf held = {0};
    struct soc_buf out = {0};
    for (const char *at = text; *at != '\0'; at++) {
        soc_scrub_part(SOC_SLICE(SECRET), &held, soc_slice(at, 1), &out);
        CHECK(strncmp(expected, soc_buf_text(&out), out.length) == 0);
    }
    CHECK(strcmp(soc_buf_text(&out), expected) == 0);
    soc_buf_fini(&held);
    soc_buf_fini(&out);
}

static void a_text_shown_as_it_arrives_never_shows_a_secret(void)
{
    struct soc_buf text = {0};
    for (unsigned mask = 0; mask < 512; mask++) {
        text.length = 0;
        /* Its last character but one is a backslash, which may be left if it is escaped. */
        put_disguised(&text, mask & 191, mask > 255);
        check_never_shown(soc_buf_text(&text), "a [secret] b");
    }
    check_never_shown("x c2stY2FuInJ5LzU/Pn5cMQ== y", "x [secret]Q== y");
    check_never_shown("sk-can sk-sk-can\"ry/5?>~\\1 \\u0073k %73k 100% .",
                      "sk-can sk-[secret] \\u0073k %73k 100% .");
    soc_buf_fini(&text);
}

static void a_text_in_pieces_of_any_size_is_passed_on_completely(void)
{
    static const char text[] = "sk-can\\\\ \\u007 %7x " SECRET " c2stY2Fu\\n sk";
    for (size_t first = 0; first < sizeof(text) - 1; first++) {
        struct soc_buf held = {0};
        struct soc_buf out = {0};
        soc_scrub_part(SOC_SLICE(SECRET), &held, soc_slice(text, first), &out);
        soc_scrub_part(SOC_SLICE(SECRET), &held, soc_slice(text + first, sizeof(text) - 1 - first),
                       &out);
        CHECK(strcmp(soc_buf_text(&out), "sk-can\\\\ \\u007 %7x [secret] c2stY2Fu\\n ") == 0);
        CHECK(strcmp(soc_buf_text(&held), "sk") == 0);
        soc_buf_fini(&held);
        soc_buf_fini(&out);
    }
}

static void a_run_of_backslashes_is_not_held_back_whole(void)
{
    struct soc_buf held = {0};
    struct soc_buf out = {0};
    for (int i = 0; i < 100000; i++)
        soc_scrub_part(SOC_SLICE(SECRET), &held, SOC_SLICE("\\\\"), &out);
    CHECK(held.length < 100);
    soc_scrub_part(SOC_SLICE(SECRET), &held, SOC_SLICE(SECRET), &out);
    CHECK(strcmp(soc_buf_text(&out), "[secret]") == 0);
    out.length = 0;
    soc_scrub_part(SOC_SLICE("short"), &held, SOC_SLICE("short"), &out);
    CHECK(strcmp(soc_buf_text(&out), "short") == 0);
    soc_buf_fini(&held);
    soc_buf_fini(&out);
}

int main(void)
{
    RUN(a_text_without_the_secret_is_unchanged);
    RUN(characters_may_be_escaped_in_any_way);
    RUN(json_stays_valid_to_any_depth);
    RUN(base64_of_the_secret_is_found_at_any_offset);
    RUN(a_short_or_unusual_secret_is_harmless);
    RUN(a_long_text_of_escapes_passes_unchanged);
    RUN(a_secret_in_pieces_is_scrubbed);
    RUN(a_text_shown_as_it_arrives_never_shows_a_secret);
    RUN(a_text_in_pieces_of_any_size_is_passed_on_completely);
    RUN(a_run_of_backslashes_is_not_held_back_whole);
    return check_done();
}

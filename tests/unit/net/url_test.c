#include "net/url.h"

#include "check.h"

#define CHECK_SLICE(slice, text) CHECK(soc_slice_equal((slice), SOC_SLICE(text)))

static void expect_decoded(const char *text, bool is_query, const char *wanted)
{
    struct soc_buf out = {0};
    bool is_good = soc_url_decode(soc_slice_text(text), is_query, &out);
    CHECK(is_good == (wanted != NULL));
    if (wanted != NULL)
        CHECK_TEXT(soc_buf_text(&out), wanted);
    else
        CHECK_INT(out.length, 0);
    soc_buf_fini(&out);
}

static void escapes_are_decoded(void)
{
    expect_decoded("plain", false, "plain");
    expect_decoded("", false, "");
    expect_decoded("a%20b%2fc%2Fd", false, "a b/c/d");
    expect_decoded("%E4%BD%A0", false, "\xe4\xbd\xa0");
    expect_decoded("a+b", false, "a+b");
    expect_decoded("a+b", true, "a b");
}

static void malformed_escapes_are_refused(void)
{
    expect_decoded("%", false, NULL);
    expect_decoded("%2", false, NULL);
    expect_decoded("a%2", false, NULL);
    expect_decoded("%zz", false, NULL);
    expect_decoded("%00", false, NULL);
    expect_decoded("%FF", false, NULL);
    expect_decoded("\xc3(", false, NULL);
}

static void expect_query(const char *query, const char *wanted)
{
    struct soc_url_walk walk;
    struct soc_buf out = {0};
    soc_url_walk(&walk, soc_slice_text(query));
    while (soc_url_next(&walk))
        soc_buf_printf(&out, "[%.*s|%.*s]", (int)walk.name.length, walk.name.data,
                       walk.value.data == NULL ? 4 : (int)walk.value.length,
                       walk.value.data == NULL ? "none" : walk.value.data);
    CHECK_TEXT(soc_buf_text(&out), wanted);
    soc_buf_fini(&out);
}

static void a_query_is_walked_in_order(void)
{
    expect_query("a=1&b=2", "[a|1][b|2]");
    expect_query("force", "[force|none]");
    expect_query("a=&&b==c&", "[a|][b|=c]");
    expect_query("", "");
    expect_query("&&&", "");
    expect_query("=x", "[|x]");
}

static void expect_segments(const char *path, const char *wanted)
{
    struct soc_slice rest = soc_slice_text(path);
    struct soc_slice segment;
    struct soc_buf out = {0};
    while ((segment = soc_url_segment(&rest)).data != NULL)
        soc_buf_printf(&out, "[%.*s]", (int)segment.length, segment.data);
    CHECK_TEXT(soc_buf_text(&out), wanted);
    soc_buf_fini(&out);
}

static void a_path_is_walked_by_segments(void)
{
    expect_segments("/a/b", "[a][b]");
    expect_segments("/", "[]");
    expect_segments("/a/", "[a][]");
    expect_segments("//", "[][]");
    expect_segments("", "");
    expect_segments("a", "");
}

static void a_cookie_is_found_by_its_whole_name(void)
{
    struct soc_slice header = SOC_SLICE("xa=0; a=1;b=2;  c=3=3; a=9");
    CHECK_SLICE(soc_url_cookie(header, SOC_SLICE("a")), "1");
    CHECK_SLICE(soc_url_cookie(header, SOC_SLICE("b")), "2");
    CHECK_SLICE(soc_url_cookie(header, SOC_SLICE("c")), "3=3");
    CHECK(soc_url_cookie(header, SOC_SLICE("d")).data == NULL);
    CHECK(soc_url_cookie((struct soc_slice){0}, SOC_SLICE("a")).data == NULL);
    CHECK(soc_url_cookie(SOC_SLICE("a"), SOC_SLICE("a")).data == NULL);
    CHECK(soc_url_cookie(SOC_SLICE(";;;"), SOC_SLICE("a")).data == NULL);
}

static void an_origin_has_a_scheme_and_an_authority(void)
{
    CHECK_SLICE(soc_url_origin(SOC_SLICE("http://a:1")), "a:1");
    CHECK_SLICE(soc_url_origin(SOC_SLICE("https://a")), "a");
    CHECK(soc_url_origin(SOC_SLICE("null")).data == NULL);
    CHECK(soc_url_origin(SOC_SLICE("http://")).data == NULL);
    CHECK(soc_url_origin(SOC_SLICE("ftp://a")).data == NULL);
    CHECK(soc_url_origin(SOC_SLICE("http://a/b")).data == NULL);
    CHECK(soc_url_origin((struct soc_slice){0}).data == NULL);
}

static void expect_authority(const char *text, const char *host, int port)
{
    struct soc_slice found = {0};
    int number = -1;
    bool is_good = soc_url_authority(soc_slice_text(text), &found, &number);
    CHECK(is_good == (host != NULL));
    if (host == NULL)
        return;
    CHECK(soc_slice_equal(found, soc_slice_text(host)));
    CHECK_INT(number, port);
}

static void an_authority_is_a_host_and_maybe_a_port(void)
{
    expect_authority("a", "a", 0);
    expect_authority("a:80", "a", 80);
    expect_authority("[::1]:80", "[::1]", 80);
    expect_authority("[::1]", "[::1]", 0);
    expect_authority("a:65535", "a", 65535);
    expect_authority("a:65536", NULL, 0);
    expect_authority("a:99999999999999999999", NULL, 0);
    expect_authority("a:", NULL, 0);
    expect_authority(":80", NULL, 0);
    expect_authority("", NULL, 0);
    expect_authority("a:8x", NULL, 0);
    expect_authority("[::1", NULL, 0);
    expect_authority("[::1]x", NULL, 0);
    expect_authority("a:80:81", NULL, 0);
}

int main(void)
{
    RUN(escapes_are_decoded);
    RUN(malformed_escapes_are_refused);
    RUN(a_query_is_walked_in_order);
    RUN(a_path_is_walked_by_segments);
    RUN(a_cookie_is_found_by_its_whole_name);
    RUN(an_origin_has_a_scheme_and_an_authority);
    RUN(an_authority_is_a_host_and_maybe_a_port);
    return check_done();
}

#include "net/head.h"

#include "base/limits.h"
#include "check.h"

#define GOOD                                                                                       \
    {                                                                                              \
        "Host", "a"                                                                                \
    }

struct field {
    const char *name;
    const char *value;
};

static int check_of(const char *target, bool is_old, const struct field *fields, uint64_t *length)
{
    struct soc_head head = {0};
    const char *sentence = NULL;
    for (; fields->name != NULL; fields++)
        soc_head_add(&head, soc_slice_text(fields->name), soc_slice_text(fields->value));
    *length = head.length;
    int status = soc_head_check(&head, soc_slice_text(target), is_old, &sentence);
    CHECK((status == 0) == (sentence == NULL));
    return status;
}

#define EXPECT(status, is_old, ...)                                                                \
    do {                                                                                           \
        const struct field fields[] = {__VA_ARGS__, {NULL, NULL}};                                 \
        uint64_t length;                                                                           \
        CHECK_INT(check_of("/", is_old, fields, &length), status);                                 \
    } while (0)

static void a_plain_head_is_good(void)
{
    EXPECT(0, false, GOOD);
    EXPECT(0, false, {"hOsT", "a"}, {"X", ""});
    EXPECT(0, true, {"X", "y"});
    EXPECT(0, false, GOOD, {"Content-Length", "12"});
    EXPECT(0, false, GOOD, {"Transfer-Encoding", "Chunked"});
}

static void a_body_has_one_length(void)
{
    EXPECT(400, false, GOOD, {"Content-Length", "1"}, {"content-length", "1"});
    EXPECT(400, false, GOOD, {"Content-Length", "1"}, {"Transfer-Encoding", "chunked"});
    EXPECT(400, false, GOOD, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"});
    EXPECT(400, true, GOOD, {"Transfer-Encoding", "chunked"});
    EXPECT(400, false, GOOD, {"Transfer-Encoding", "gzip, chunked"});
    EXPECT(400, false, GOOD, {"Transfer-Encoding", ""});
    EXPECT(400, false, GOOD, {"Content-Length", ""});
    EXPECT(400, false, GOOD, {"Content-Length", "+1"});
    EXPECT(400, false, GOOD, {"Content-Length", "1 1"});
    EXPECT(400, false, GOOD, {"Content-Length", "9999999999999999999"});
}

static void its_length_is_known_before_it_comes(void)
{
    uint64_t length;
    const struct field none[] = {GOOD, {NULL, NULL}};
    const struct field some[] = {GOOD, {"Content-Length", "0012"}, {NULL, NULL}};
    const struct field chunks[] = {GOOD, {"Transfer-Encoding", "chunked"}, {NULL, NULL}};
    CHECK_INT(check_of("/", false, none, &length), 0);
    CHECK_INT(length, 0);
    CHECK_INT(check_of("/", false, some, &length), 0);
    CHECK_INT(length, 12);
    CHECK_INT(check_of("/", false, chunks, &length), 0);
    CHECK_INT(length, 1);
}

static void headers_are_well_formed(void)
{
    EXPECT(400, false, GOOD, {"Transfer-Encoding ", "chunked"});
    EXPECT(400, false, GOOD, {"", "x"});
    EXPECT(400, false, GOOD, {"X", "a\rb"});
    EXPECT(400, false, GOOD, {"X", "a\nb"});
    EXPECT(400, false, {"X", "y"});
    EXPECT(400, false, GOOD, GOOD);
    EXPECT(400, true, GOOD, GOOD);
}

static void the_target_is_a_path(void)
{
    static const char *const bad[] = {"", "x", "http://a/", "/a b", "/a\x7f", "/a\tb", "a:80"};
    const struct field fields[] = {GOOD, {NULL, NULL}};
    uint64_t length;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(check_of(bad[i], false, fields, &length), 400);
    CHECK_INT(check_of("/a%20b?c", false, fields, &length), 0);
    CHECK_INT(check_of("*", false, fields, &length), 0);
}

static void a_head_is_bounded(void)
{
    struct soc_head head = {0};
    const char *sentence;
    char line[SOC_SERVER_LINE_BYTES_MAX + 2];
    soc_head_add(&head, SOC_SLICE("Host"), SOC_SLICE("a"));
    memset(line, '/', sizeof(line));
    CHECK_INT(soc_head_check(&head, soc_slice(line, sizeof(line) - 2), false, &sentence), 0);
    CHECK_INT(soc_head_check(&head, soc_slice(line, sizeof(line) - 1), false, &sentence), 414);
    for (int i = 1; i < SOC_SERVER_HEADERS_MAX; i++)
        soc_head_add(&head, SOC_SLICE("X"), SOC_SLICE("y"));
    CHECK_INT(soc_head_check(&head, SOC_SLICE("/"), false, &sentence), 0);
    soc_head_add(&head, SOC_SLICE("X"), SOC_SLICE("y"));
    CHECK_INT(soc_head_check(&head, SOC_SLICE("/"), false, &sentence), 431);
    head = (struct soc_head){.hosts = 1, .bytes = SOC_SERVER_HEAD_BYTES_MAX};
    CHECK_INT(soc_head_check(&head, SOC_SLICE("/"), false, &sentence), 0);
    soc_head_add(&head, SOC_SLICE("X"), SOC_SLICE("y"));
    CHECK_INT(soc_head_check(&head, SOC_SLICE("/"), false, &sentence), 431);
}

/* Takes the next line as libmicrohttpd does: a line feed alone ends it, a NUL cuts it, and
 * what ends it is overwritten. */
static char *next_line(char **at)
{
    char *line = *at;
    char *end = strchr(line, '\n') != NULL ? strchr(line, '\n') : line + strlen(line);
    if (*end == '\0') /* a NUL that was sent; the line feed is behind it */
        end += 1 + strcspn(end + 1, "\n");
    *at = end + 1;
    *end = '\0';
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

static int check_received(const char *sent, size_t bytes)
{
    char text[256] = "";
    struct soc_head head = {0};
    const char *sentence;
    char *at = text;
    CHECK(bytes < sizeof(text) - 1);
    memcpy(text, sent, bytes);
    char *method = next_line(&at);
    char *target = strchr(method, ' ');
    *target++ = '\0';
    target += strspn(target, " ");
    char *version = memchr(target, ' ', bytes);
    *version++ = '\0';
    soc_head_begin(&head, soc_slice_text(method), soc_slice_text(target), soc_slice_text(version));
    for (char *line; *(line = next_line(&at)) != '\0';) {
        char *value = strchr(line, ':');
        *value++ = '\0';
        value += strspn(value, " ");
        soc_head_add(&head, soc_slice_text(line), soc_slice_text(value));
    }
    soc_head_end(&head, text, (size_t)(at - text));
    return soc_head_check(&head, soc_slice_text(target), false, &sentence);
}

static void lines_end_with_two_bytes_and_words_have_no_nul(void)
{
#define RECEIVED(text) check_received(text, sizeof(text) - 1)
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\r\nX:   y\r\nY:\r\n\r\n"), 0);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\nHost: a\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nX: y\nHost: a\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\r\n\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\n\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\0b\r\nX: y\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\r\nX: y\0b\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a HTTP/1.1\r\nHost: a\r\n\0X: y\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    CHECK_INT(RECEIVED("GET  /a HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
#undef RECEIVED
}

int main(void)
{
    RUN(lines_end_with_two_bytes_and_words_have_no_nul);
    RUN(a_plain_head_is_good);
    RUN(a_body_has_one_length);
    RUN(its_length_is_known_before_it_comes);
    RUN(headers_are_well_formed);
    RUN(the_target_is_a_path);
    RUN(a_head_is_bounded);
    return check_done();
}

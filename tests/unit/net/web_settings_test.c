#include "net/web_settings.h"

#include "check.h"

static void expect_refused(const char *json, const char *part)
{
    struct soc_web_settings settings;
    struct soc_detail detail = {{0}};
    CHECK_INT(soc_web_settings_read(&settings, soc_slice_text(json), &detail), SOC_EINVAL);
    if (!CHECK(strstr(detail.text, part) != NULL))
        printf("# %s: %s\n", json, detail.text);
    soc_web_settings_fini(&settings);
}

static void every_setting_is_read(void)
{
    struct soc_web_settings settings;
    struct soc_detail detail = {{0}};
    CHECK_INT(soc_web_settings_read(
                  &settings,
                  SOC_SLICE("{\"listen\":\"127.0.0.1:80\",\"hosts\":[\"a.org\",\"b.org:8443\"],"
                            "\"tls\":{\"cert\":\"c.pem\",\"key\":\"k.pem\"},\"body_bytes\":10,"
                            "\"connections\":20,\"streams\":30,\"wrong_tokens\":40,"
                            "\"program\":\"/bin/x\"}"),
                  &detail),
              SOC_OK);
    CHECK_TEXT(settings.listen, "127.0.0.1:80");
    CHECK_TEXT(settings.hosts[0], "a.org");
    CHECK_TEXT(settings.hosts[1], "b.org:8443");
    CHECK(settings.hosts[2] == NULL);
    CHECK_TEXT(settings.tls_cert, "c.pem");
    CHECK_TEXT(settings.tls_key, "k.pem");
    CHECK_TEXT(settings.program, "/bin/x");
    CHECK_INT(settings.body_bytes, 10);
    CHECK_INT(settings.connections, 20);
    CHECK_INT(settings.streams, 30);
    CHECK_INT(settings.wrong_tokens, 40);
    soc_web_settings_fini(&settings);
    CHECK_INT(soc_web_settings_read(&settings, SOC_SLICE("{\"listen\":8080}"), &detail), SOC_OK);
    CHECK_TEXT(settings.listen, "8080");
    soc_web_settings_fini(&settings);
    CHECK_INT(soc_web_settings_read(&settings, SOC_SLICE("[]"), &detail), SOC_OK);
    soc_web_settings_fini(&settings);
}

static void bad_settings_are_named(void)
{
    expect_refused("{\"port\":1}", "unknown setting 'web.port'");
    expect_refused("{\"listen\":true}", "'web.listen'");
    expect_refused("{\"listen\":\"a b\"}", "'web.listen'");
    expect_refused("{\"listen\":65536}", "'web.listen'");
    expect_refused("{\"hosts\":\"a\"}", "'web.hosts'");
    expect_refused("{\"hosts\":[1]}", "'web.hosts'");
    expect_refused("{\"hosts\":[\"a:b\"]}", "'web.hosts'");
    expect_refused("{\"tls\":{\"cert\":\"c\"}}", "'web.tls'");
    expect_refused("{\"tls\":{\"cert\":\"c\",\"key\":\"k\",\"x\":\"y\"}}", "'web.tls'");
    expect_refused("{\"tls\":true}", "'web.tls'");
    expect_refused("{\"streams\":0}", "'web.streams'");
    expect_refused("{\"body_bytes\":\"1\"}", "'web.body_bytes'");
    expect_refused("{\"program\":\"\"}", "'web.program'");
    expect_refused("7", "'web'");
}

static void expect_address(const char *text, const char *address, int port)
{
    char found[SOC_WEB_ADDRESS_BYTES] = "";
    int number = -1;
    struct soc_detail detail = {{0}};
    int rc = soc_web_settings_address(text, found, &number, &detail);
    CHECK_INT(rc, address == NULL ? SOC_EINVAL : SOC_OK);
    if (address == NULL)
        return;
    CHECK_TEXT(found, address);
    CHECK_INT(number, port);
}

static void an_address_is_a_numeric_host_and_a_port(void)
{
    expect_address("0", "127.0.0.1", 0);
    expect_address("8080", "127.0.0.1", 8080);
    expect_address("localhost:1", "127.0.0.1", 1);
    expect_address("0.0.0.0:80", "0.0.0.0", 80);
    expect_address("[::1]:80", "::1", 80);
    expect_address("example.org:80", NULL, 0);
    expect_address("127.0.0.1", NULL, 0);
    expect_address("::1:80", NULL, 0);
    expect_address("", NULL, 0);
    expect_address("70000", NULL, 0);
    expect_address("-1", NULL, 0);
}

int main(void)
{
    RUN(every_setting_is_read);
    RUN(bad_settings_are_named);
    RUN(an_address_is_a_numeric_host_and_a_port);
    return check_done();
}

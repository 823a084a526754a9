#include "bridge/http/hosts.h"

#include "check.h"

static char *const more[] = {(char *)"society.example.org", (char *)"other.org:8443", NULL};

static void expect(const struct soc_hosts *hosts, const char *host, bool is_allowed)
{
    if (!CHECK(soc_hosts_has(hosts, soc_slice_text(host)) == is_allowed))
        printf("# %s\n", host == NULL ? "(absent)" : host);
}

static void loopback_is_allowed_with_our_port(void)
{
    struct soc_hosts hosts = {.port = 8080};
    expect(&hosts, "127.0.0.1:8080", true);
    expect(&hosts, "localhost:8080", true);
    expect(&hosts, "LocalHost:8080", true);
    expect(&hosts, "[::1]:8080", true);
    expect(&hosts, "127.0.0.1:8081", false);
    expect(&hosts, "127.0.0.1", false);
    expect(&hosts, "localhost.evil.org:8080", false);
    expect(&hosts, "evil.org:8080", false);
    expect(&hosts, "", false);
    expect(&hosts, NULL, false);
    expect(&hosts, "society.example.org", false);
}

static void a_name_without_a_port_has_that_of_its_scheme(void)
{
    struct soc_hosts hosts = {.port = 80};
    expect(&hosts, "localhost", true);
    hosts = (struct soc_hosts){.port = 443, .is_secure = true};
    expect(&hosts, "localhost", true);
    hosts = (struct soc_hosts){.port = 443};
    expect(&hosts, "localhost", false);
}

static void the_settings_allow_more(void)
{
    struct soc_hosts hosts = {.port = 8080, .more = more};
    expect(&hosts, "society.example.org", true);
    expect(&hosts, "society.example.org:443", true);
    expect(&hosts, "SOCIETY.example.org", true);
    expect(&hosts, "other.org:8443", true);
    expect(&hosts, "other.org", false);
    expect(&hosts, "other.org:8080", false);
    expect(&hosts, "a.society.example.org", false);
}

static void an_origin_is_one_of_these_hosts(void)
{
    struct soc_hosts hosts = {.port = 8080, .more = more};
    CHECK(soc_hosts_has_origin(&hosts, SOC_SLICE("http://localhost:8080")));
    CHECK(soc_hosts_has_origin(&hosts, SOC_SLICE("https://society.example.org")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("http://localhost:3000")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("http://evil.org")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("null")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("localhost:8080")));
    CHECK(!soc_hosts_has_origin(&hosts, (struct soc_slice){0}));
}

static void over_tls_an_origin_is_not_plain(void)
{
    struct soc_hosts hosts = {.port = 8080, .is_secure = true, .more = more};
    CHECK(soc_hosts_has_origin(&hosts, SOC_SLICE("https://localhost:8080")));
    CHECK(soc_hosts_has_origin(&hosts, SOC_SLICE("https://society.example.org")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("http://localhost:8080")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("HTTP://society.example.org")));
    CHECK(!soc_hosts_has_origin(&hosts, SOC_SLICE("http://")));
}

int main(void)
{
    RUN(loopback_is_allowed_with_our_port);
    RUN(a_name_without_a_port_has_that_of_its_scheme);
    RUN(the_settings_allow_more);
    RUN(an_origin_is_one_of_these_hosts);
    RUN(over_tls_an_origin_is_not_plain);
    return check_done();
}

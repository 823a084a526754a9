/* The settings of hosts: what is read, what replaces what, and what is wrong. */
#include "parts/hosts/hosts_settings.h"

#include "check.h"

static void later_members_replace_earlier_ones(void)
{
    struct soc_hosts_settings *settings = soc_hosts_settings_new();
    CHECK_INT(soc_hosts_settings_check(settings, NULL), SOC_EINVAL);
    CHECK_INT(soc_hosts_settings_read(settings,
                                      SOC_SLICE("{\"redis\":\"redis://a\",\"name\":\"alpha\","
                                                "\"peers\":[\"beta\",\"gamma\"],\"number\":7}"),
                                      NULL),
              SOC_OK);
    CHECK_INT(soc_hosts_settings_read(settings, SOC_SLICE("{\"peers\":[\"delta\"]}"), NULL),
              SOC_OK);
    CHECK_INT(soc_hosts_settings_check(settings, NULL), SOC_OK);
    CHECK_TEXT(settings->redis, "redis://a");
    CHECK_TEXT(settings->name, "alpha");
    CHECK_INT(settings->peer_count, 1);
    CHECK_TEXT(settings->peers[0], "delta");
    CHECK_INT(settings->number, 7);
    CHECK_INT(soc_hosts_settings_read(settings, SOC_SLICE("{\"name\":\"delta\"}"), NULL), SOC_OK);
    CHECK_INT(soc_hosts_settings_check(settings, NULL), SOC_EINVAL); /* it is its own peer */
    soc_hosts_settings_free(settings);
}

static void what_is_wrong_is_named(void)
{
    static const char *const wrong[][2] = {
        {"[]", "'hosts'"},
        {"{\"redis\":7}", "hosts.redis"},
        {"{\"name\":\"a b\"}", "hosts.name"},
        {"{\"name\":\"123456789012345678901234567890123\"}", "hosts.name"},
        {"{\"peers\":\"beta\"}", "hosts.peers"},
        {"{\"peers\":[\"beta\",\"beta\"]}", "hosts.peers"},
        {"{\"number\":100}", "hosts.number"},
        {"{\"secret_env\":\"\"}", "hosts.secret_env"},
        {"{\"server\":\"x\"}", "server"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct soc_hosts_settings *settings = soc_hosts_settings_new();
        struct soc_detail detail = {{0}};
        CHECK_INT(soc_hosts_settings_read(settings, soc_slice_text(wrong[i][0]), &detail),
                  SOC_EINVAL);
        CHECK(strstr(detail.text, wrong[i][1]) != NULL);
        soc_hosts_settings_free(settings);
    }
}

int main(void)
{
    RUN(later_members_replace_earlier_ones);
    RUN(what_is_wrong_is_named);
    return check_done();
}

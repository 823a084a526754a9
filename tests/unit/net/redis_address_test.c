/* Addresses of Redis servers as people write them. */
#include "check.h"
#include "net/redis_address.h"

static void a_plain_address_has_usual_values(void)
{
    struct soc_redis_address address;
    CHECK_INT(soc_redis_address_read(&address, SOC_SLICE("redis://localhost"), NULL), SOC_OK);
    CHECK_INT(address.node_count, 1);
    CHECK_TEXT(address.nodes[0].host, "localhost");
    CHECK_INT(address.nodes[0].port, 6379);
    CHECK_INT(address.database, 0);
    CHECK(address.user == NULL && address.password == NULL && !address.is_sentinel);
    soc_redis_address_fini(&address);
}

static void user_password_port_and_database_are_read(void)
{
    struct soc_redis_address address;
    CHECK_INT(
        soc_redis_address_read(&address, SOC_SLICE("redis://al:p%40ss:1@[::1]:7000/12"), NULL),
        SOC_OK);
    CHECK_TEXT(address.user, "al");
    CHECK_TEXT(address.password, "p@ss:1");
    CHECK_TEXT(address.nodes[0].host, "::1");
    CHECK_INT(address.nodes[0].port, 7000);
    CHECK_INT(address.database, 12);
    soc_redis_address_fini(&address);
    CHECK_INT(soc_redis_address_read(&address, SOC_SLICE("redis://:secret@h"), NULL), SOC_OK);
    CHECK(address.user == NULL);
    CHECK_TEXT(address.password, "secret");
    soc_redis_address_fini(&address);
}

static void sentinels_name_their_master(void)
{
    struct soc_redis_address address;
    CHECK_INT(soc_redis_address_read(&address, SOC_SLICE("sentinel://a,b:1,c/main/3"), NULL),
              SOC_OK);
    CHECK(address.is_sentinel);
    CHECK_INT(address.node_count, 3);
    CHECK_INT(address.nodes[0].port, 26379);
    CHECK_INT(address.nodes[1].port, 1);
    CHECK_TEXT(address.nodes[2].host, "c");
    CHECK_TEXT(address.master, "main");
    CHECK_INT(address.database, 3);
    soc_redis_address_fini(&address);
}

static void a_socket_has_a_path(void)
{
    struct soc_redis_address address;
    CHECK_INT(soc_redis_address_read(&address, SOC_SLICE("unix:///run/redis.sock"), NULL), SOC_OK);
    CHECK_TEXT(address.path, "/run/redis.sock");
    CHECK_INT(address.node_count, 0);
    soc_redis_address_fini(&address);
}

static void malformed_addresses_are_refused_and_show_no_password(void)
{
    static const char *const texts[] = {
        "",
        "redis://",
        "http://h",
        "localhost:6379",
        "redis://h:99999",
        "redis://h:x",
        "redis://a,b",
        "redis://h/x",
        "redis://h/99999999999999999999",
        "redis://user@h",
        "redis://u:canary%zz@h",
        "redis://u:canary@",
        "sentinel://a,b",
        "sentinel:///main",
        "sentinel://a,b,c,d,e,f,g,h,i/main",
        "unix://relative",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct soc_redis_address address;
        struct soc_detail detail = {{0}};
        int rc = soc_redis_address_read(&address, soc_slice_text(texts[i]), &detail);
        if (!CHECK_INT(rc, SOC_EINVAL))
            printf("# %s\n", texts[i]);
        CHECK(detail.text[0] != '\0' && strstr(detail.text, "canary") == NULL);
        CHECK(address.password == NULL && address.node_count == 0);
    }
}

int main(void)
{
    RUN(a_plain_address_has_usual_values);
    RUN(user_password_port_and_database_are_read);
    RUN(sentinels_name_their_master);
    RUN(a_socket_has_a_path);
    RUN(malformed_addresses_are_refused_and_show_no_password);
    return check_done();
}

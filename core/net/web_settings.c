#include "net/web_settings.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/url.h"

#define HOSTS_MAX 64

enum kind {
    KIND_INTEGER,
    KIND_TEXT,
    KIND_LISTEN,
    KIND_HOSTS,
    KIND_TLS,
};

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t max;
};

#define AT(field) offsetof(struct soc_web_settings, field)

static const struct member members[] = {
    {"listen", KIND_LISTEN, AT(listen), 65535},
    {"hosts", KIND_HOSTS, AT(hosts), 0},
    {"tls", KIND_TLS, 0, 0},
    {"program", KIND_TEXT, AT(program), 0},
    {"body_bytes", KIND_INTEGER, AT(body_bytes), SOC_PAYLOAD_BYTES_MAX},
    {"connections", KIND_INTEGER, AT(connections), 100000},
    {"streams", KIND_INTEGER, AT(streams), 100000},
    {"wrong_tokens", KIND_INTEGER, AT(wrong_tokens), 1000000},
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static int wrong(const char *name, const char *expected, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_EINVAL, "'web.%s': %s expected", name, expected);
}

static bool read_text(struct soc_slice value, char **place)
{
    struct soc_buf text = {0};
    struct soc_slice read = soc_json_text(value, SOC_PATH_BYTES_MAX - 1, &text);
    bool is_good = read.data != NULL && read.length > 0;
    if (is_good) {
        free(*place);
        *place = soc_copy_text(read.data, read.length);
    }
    soc_buf_fini(&text);
    return is_good;
}

/* A number is a port. */
static int read_listen(struct soc_slice value, char **place, struct soc_detail *detail)
{
    char address[SOC_WEB_ADDRESS_BYTES];
    char port_text[16];
    int64_t number;
    int port;
    if (soc_json_integer(value, &number) && number >= 0 && number <= 65535) {
        snprintf(port_text, sizeof(port_text), "%lld", (long long)number);
        free(*place);
        *place = soc_copy_text(port_text, strlen(port_text));
        return SOC_OK;
    }
    if (!read_text(value, place) || soc_web_settings_address(*place, address, &port, NULL) < 0)
        return wrong("listen", "[HOST:]PORT", detail);
    return SOC_OK;
}

static void free_hosts(char **hosts)
{
    for (size_t i = 0; hosts != NULL && hosts[i] != NULL; i++)
        free(hosts[i]);
    free(hosts);
}

static int read_hosts(struct soc_slice value, char ***place, struct soc_detail *detail)
{
    struct soc_json_walk walk;
    struct soc_slice host;
    size_t count = 0;
    int port;
    free_hosts(*place);
    *place = soc_alloc_zero((HOSTS_MAX + 1) * sizeof(**place));
    bool is_good = soc_json_kind(value) == SOC_JSON_ARRAY || value.length == 2;
    soc_json_walk(&walk, value);
    while (is_good && soc_json_next(&walk)) {
        is_good = count < HOSTS_MAX && read_text(walk.value, &(*place)[count]) &&
                  soc_url_authority(soc_slice_text((*place)[count]), &host, &port);
        count++;
    }
    return is_good ? SOC_OK : wrong("hosts", "a list of HOST or HOST:PORT", detail);
}

static int read_tls(struct soc_slice value, struct soc_web_settings *settings,
                    struct soc_detail *detail)
{
    struct soc_json_walk walk;
    bool is_good = soc_json_kind(value) == SOC_JSON_OBJECT;
    soc_json_walk(&walk, value);
    while (is_good && soc_json_next(&walk))
        is_good = soc_json_name_is(walk.name, SOC_SLICE("cert"))
                      ? read_text(walk.value, &settings->tls_cert)
                      : soc_json_name_is(walk.name, SOC_SLICE("key")) &&
                            read_text(walk.value, &settings->tls_key);
    is_good = is_good && settings->tls_cert != NULL && settings->tls_key != NULL;
    return is_good ? SOC_OK : wrong("tls", "{ cert, key }, paths of PEM files,", detail);
}

static int read_member(struct soc_web_settings *settings, const struct member *member,
                       struct soc_slice value, struct soc_detail *detail)
{
    void *place = (char *)settings + member->offset;
    char expected[80];
    int64_t number;
    switch (member->kind) {
    case KIND_TEXT:
        return read_text(value, place) ? SOC_OK : wrong(member->name, "a path", detail);
    case KIND_LISTEN:
        return read_listen(value, place, detail);
    case KIND_HOSTS:
        return read_hosts(value, place, detail);
    case KIND_TLS:
        return read_tls(value, settings, detail);
    case KIND_INTEGER:
        break;
    }
    snprintf(expected, sizeof(expected), "an integer from 1 to %lld", (long long)member->max);
    if (!soc_json_integer(value, &number) || number < 1 || number > member->max)
        return wrong(member->name, expected, detail);
    *(int64_t *)place = number;
    return SOC_OK;
}

static const struct member *find_member(struct soc_slice name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (soc_json_name_is(name, soc_slice_text(members[i].name)))
            return &members[i];
    return NULL;
}

int soc_web_settings_read(struct soc_web_settings *settings, struct soc_slice json,
                          struct soc_detail *detail)
{
    struct soc_json_walk walk;
    int rc = SOC_OK;
    *settings = (struct soc_web_settings){0};
    if (soc_json_kind(json) != SOC_JSON_OBJECT && json.length != 2)
        return soc_fail(detail, SOC_EINVAL, "'web': a table expected");
    soc_json_walk(&walk, json);
    while (rc == SOC_OK && soc_json_next(&walk)) {
        const struct member *member = find_member(walk.name);
        if (member != NULL) {
            rc = read_member(settings, member, walk.value, detail);
        } else {
            struct soc_buf name = {0};
            soc_buf_printf(&name, "web.%.*s", (int)walk.name.length, walk.name.data);
            rc = soc_fail_unknown(detail, "setting", soc_buf_text(&name),
                                  "listen, hosts, tls, program, body_bytes, connections, streams "
                                  "and wrong_tokens");
            soc_buf_fini(&name);
        }
    }
    return rc;
}

void soc_web_settings_fini(struct soc_web_settings *settings)
{
    free(settings->listen);
    free_hosts(settings->hosts);
    free(settings->tls_cert);
    free(settings->tls_key);
    free(settings->program);
    *settings = (struct soc_web_settings){0};
}

static bool is_numeric(const char *address)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, address, bytes) == 1 || inet_pton(AF_INET6, address, bytes) == 1;
}

int soc_web_settings_address(const char *text, char address[SOC_WEB_ADDRESS_BYTES], int *port,
                             struct soc_detail *detail)
{
    struct soc_slice host = SOC_SLICE("127.0.0.1");
    struct soc_buf authority = {0};
    bool is_bare = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    soc_buf_printf(&authority, "%s%s", is_bare ? "127.0.0.1:" : "", text);
    bool is_good = soc_url_authority(soc_buf_slice(&authority), &host, port) &&
                   host.length < SOC_WEB_ADDRESS_BYTES && host.length < authority.length;
    if (is_good && host.data[0] == '[')
        host = soc_slice(host.data + 1, host.length - 2);
    if (is_good && soc_slice_equal(host, SOC_SLICE("localhost")))
        host = SOC_SLICE("127.0.0.1");
    if (is_good)
        snprintf(address, SOC_WEB_ADDRESS_BYTES, "%.*s", (int)host.length, host.data);
    is_good = is_good && is_numeric(address);
    soc_buf_fini(&authority);
    return is_good ? SOC_OK
                   : soc_fail(detail, SOC_EINVAL,
                              "'%s' is not [HOST:]PORT with a numeric host, as in 8080 or "
                              "127.0.0.1:8080",
                              text);
}

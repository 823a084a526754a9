#include "parts/hosts/hosts_settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/ids.h"

static int wrong(const char *name, const char *expected, struct soc_detail *detail)
{
    return soc_fail(detail, SOC_EINVAL, "'hosts.%s': %s expected", name, expected);
}

static bool read_text(struct soc_slice value, size_t most, char **place)
{
    struct soc_buf text = {0};
    struct soc_slice read = soc_json_text(value, most, &text);
    bool is_good = read.data != NULL && read.length > 0;
    if (is_good) {
        free(*place);
        *place = soc_copy_text(read.data, read.length);
    }
    soc_buf_fini(&text);
    return is_good;
}

static bool read_host(struct soc_slice value, char **place)
{
    char *name = NULL;
    bool is_good =
        read_text(value, SOC_HOST_NAME_BYTES_MAX, &name) && soc_id_is_host(soc_slice_text(name));
    if (is_good) {
        free(*place);
        *place = name;
    } else {
        free(name);
    }
    return is_good;
}

static void free_peers(struct soc_hosts_settings *settings)
{
    for (int i = 0; i < settings->peer_count; i++)
        free(settings->peers[i]);
    free(settings->peers);
    settings->peers = NULL;
    settings->peer_count = 0;
}

static bool has_peer(const struct soc_hosts_settings *settings, const char *name)
{
    for (int i = 0; i < settings->peer_count; i++)
        if (strcmp(settings->peers[i], name) == 0)
            return true;
    return false;
}

static int read_peers(struct soc_hosts_settings *settings, struct soc_slice value,
                      struct soc_detail *detail)
{
    static const char expected[] = "a list of up to 99 names of other hosts, each once,";
    struct soc_json_walk walk;
    if (value.data[0] != '[')
        return wrong("peers", expected, detail);
    free_peers(settings);
    settings->peers = soc_alloc_zero(SOC_HOSTS_MAX * sizeof(char *));
    soc_json_walk(&walk, value);
    while (soc_json_next(&walk)) {
        char *name = NULL;
        if (settings->peer_count == SOC_HOSTS_MAX - 1 || !read_host(walk.value, &name) ||
            has_peer(settings, name)) {
            free(name);
            return wrong("peers", expected, detail);
        }
        settings->peers[settings->peer_count++] = name;
    }
    return SOC_OK;
}

static int read_number(struct soc_hosts_settings *settings, struct soc_slice value,
                       struct soc_detail *detail)
{
    int64_t number;
    if (!soc_json_integer(value, &number) || number < 0 || number >= SOC_HOSTS_MAX)
        return wrong("number", "an integer from 0 to 99", detail);
    settings->number = (int)number;
    return SOC_OK;
}

static int read_member(struct soc_hosts_settings *settings, const struct soc_json_walk *walk,
                       struct soc_detail *detail)
{
#define IS(text) soc_json_name_is(walk->name, SOC_SLICE(text))
    static const char host[] = "a name of up to 32 characters of A-Z a-z 0-9 _ . -";
    if (IS("redis"))
        return read_text(walk->value, SOC_PATH_BYTES_MAX, &settings->redis)
                   ? SOC_OK
                   : wrong("redis", "an address such as redis://127.0.0.1:6379", detail);
    if (IS("name"))
        return read_host(walk->value, &settings->name) ? SOC_OK : wrong("name", host, detail);
    if (IS("society"))
        return read_host(walk->value, &settings->society) ? SOC_OK : wrong("society", host, detail);
    if (IS("secret_env"))
        return read_text(walk->value, SOC_KEY_BYTES_MAX, &settings->secret_env)
                   ? SOC_OK
                   : wrong("secret_env", "the name of an environment variable", detail);
    if (IS("peers"))
        return read_peers(settings, walk->value, detail);
    if (IS("number"))
        return read_number(settings, walk->value, detail);
#undef IS
    char name[64];
    size_t length = walk->name.length < sizeof(name) - 1 ? walk->name.length : sizeof(name) - 1;
    memcpy(name, walk->name.data, length);
    name[length] = '\0';
    return soc_fail_unknown(detail, "setting of hosts", name,
                            "redis, name, peers, society, secret_env and number");
}

int soc_hosts_settings_read(struct soc_hosts_settings *settings, struct soc_slice json,
                            struct soc_detail *detail)
{
    struct soc_json_walk walk;
    int rc = SOC_OK;
    if (json.length == 0 || json.data[0] != '{')
        return soc_fail(detail, SOC_EINVAL, "'hosts': a table with names expected");
    soc_json_walk(&walk, json);
    while (rc == SOC_OK && soc_json_next(&walk))
        rc = read_member(settings, &walk, detail);
    return rc;
}

bool soc_hosts_settings_are_bare(const struct soc_hosts_settings *settings)
{
    return settings->name == NULL && settings->society == NULL && settings->secret_env == NULL &&
           settings->peer_count == 0 && settings->number < 0;
}

int soc_hosts_settings_check(const struct soc_hosts_settings *settings, struct soc_detail *detail)
{
    if (settings->redis == NULL)
        return soc_fail(detail, SOC_EINVAL,
                        "'hosts.redis' is missing: where the Redis server is, as in --redis "
                        "redis://127.0.0.1:6379");
    if (settings->name == NULL)
        return soc_fail(detail, SOC_EINVAL,
                        "'hosts.name' is missing: the name of this host, as in --host alpha");
    if (has_peer(settings, settings->name))
        return soc_fail(detail, SOC_EINVAL,
                        "'hosts.peers': the other hosts are named, not this one (%s)",
                        settings->name);
    return SOC_OK;
}

struct soc_hosts_settings *soc_hosts_settings_new(void)
{
    struct soc_hosts_settings *settings = soc_alloc_zero(sizeof(*settings));
    settings->number = -1;
    return settings;
}

void soc_hosts_settings_free(struct soc_hosts_settings *settings)
{
    if (settings == NULL)
        return;
    free_peers(settings);
    free(settings->redis);
    free(settings->name);
    free(settings->society);
    free(settings->secret_env);
    free(settings);
}

#include "embed/joined.h"

#include <stdlib.h>
#include <string.h>

#include "bridge/links/links.h"
#include "env/clock.h"
#include "kernel/host.h"
#include "net/redis_carrier.h"
#include "parts/hosts/hosts_settings.h"

#define KEY_BYTES_MIN 16

/* What the carrier needs beside the names of the hosts. */
struct place {
    struct soc_loop *loop;
    const char *url;
    const char *society;
};

static struct soc_carrier *carry(void *user, const char *host, const char *const *peers,
                                 int peer_count, const struct soc_carrier_events *events,
                                 struct soc_detail *detail)
{
    const struct place *place = user;
    struct soc_redis_carrier_options options = {
        .url = soc_slice_text(place->url),
        .society = place->society,
        .host = host,
        .peers = peers,
        .peer_count = peer_count,
    };
    return soc_redis_carrier_open(place->loop, &options, events, detail);
}

/* Reads the keys of a variable, with commas between them: the first one signs. */
static int read_keys(const char *variable, struct soc_links_options *options,
                     struct soc_detail *detail)
{
    const char *at = getenv(variable);
    if (at == NULL || *at == '\0')
        return soc_fail(detail, SOC_EINVAL,
                        "hosts.secret_env: the environment variable %s is not set", variable);
    while (*at != '\0') {
        size_t length = strcspn(at, ",");
        if (length < KEY_BYTES_MIN)
            return soc_fail(detail, SOC_EINVAL, "%s: a key needs at least %d characters", variable,
                            KEY_BYTES_MIN);
        if (options->key_count == SOC_FRAME_KEYS_MAX)
            return soc_fail(detail, SOC_EINVAL, "%s: at most %d keys", variable,
                            SOC_FRAME_KEYS_MAX);
        options->keys[options->key_count++] = soc_slice(at, length);
        at += length + (at[length] == ',');
    }
    return SOC_OK;
}

static void warn_of_no_key(struct soc_host *host)
{
    soc_log_printf(soc_host_log(host), SOC_LOG_WARN, soc_clock_now(soc_host_clock(host)), "hosts",
                   SOC_SLICE("system"),
                   "frames are not signed: whoever can write to Redis can speak for any host; set "
                   "hosts.secret_env");
}

int soc_joined_open(struct soc_links **out, const struct soc_assembly *parts,
                    struct soc_detail *detail)
{
    const struct soc_hosts_settings *settings = soc_script_hosts(parts->script);
    *out = NULL;
    if (settings == NULL || soc_hosts_settings_are_bare(settings))
        return SOC_OK;
    int rc = soc_hosts_settings_check(settings, detail);
    if (rc < 0)
        return rc;
    struct place place = {.loop = parts->loop,
                          .url = settings->redis,
                          .society =
                              settings->society != NULL ? settings->society : parts->app_name};
    struct soc_links_options options = {
        .host = parts->host,
        .loop = parts->loop,
        .society = place.society,
        .name = settings->name,
        .peers = (const char *const *)settings->peers,
        .peer_count = settings->peer_count,
        .number = settings->number,
        .carry = carry,
        .user = &place,
    };
    if (settings->secret_env != NULL)
        rc = read_keys(settings->secret_env, &options, detail);
    if (rc == SOC_OK)
        rc = soc_links_open(out, &options, detail);
    if (rc == SOC_OK && settings->secret_env == NULL)
        warn_of_no_key(parts->host);
    return rc;
}

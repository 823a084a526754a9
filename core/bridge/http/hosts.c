#include "bridge/http/hosts.h"

#include <strings.h>

#include "net/url.h"

static bool is_same(struct soc_slice host, const char *name, size_t length)
{
    return host.length == length && strncasecmp(host.data, name, length) == 0;
}

static bool is_loopback(struct soc_slice host)
{
    return is_same(host, "127.0.0.1", 9) || is_same(host, "localhost", 9) ||
           is_same(host, "[::1]", 5);
}

bool soc_hosts_has(const struct soc_hosts *hosts, struct soc_slice host)
{
    struct soc_slice name;
    struct soc_slice allowed;
    int port;
    int allowed_port;
    if (host.data == NULL || !soc_url_authority(host, &name, &port))
        return false;
    if (is_loopback(name) && (port == 0 ? (hosts->is_secure ? 443 : 80) : port) == hosts->port)
        return true;
    for (char *const *each = hosts->more; each != NULL && *each != NULL; each++)
        if (soc_url_authority(soc_slice_text(*each), &allowed, &allowed_port) &&
            is_same(name, allowed.data, allowed.length) &&
            (allowed_port == 0 || allowed_port == port))
            return true;
    return false;
}

bool soc_hosts_has_origin(const struct soc_hosts *hosts, struct soc_slice origin)
{
    static const char plain[] = "http://";
    bool is_plain = origin.length >= sizeof(plain) - 1 &&
                    strncasecmp(origin.data, plain, sizeof(plain) - 1) == 0;
    return origin.data != NULL && !(is_plain && hosts->is_secure) &&
           soc_hosts_has(hosts, soc_url_origin(origin));
}

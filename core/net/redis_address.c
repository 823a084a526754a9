#include "net/redis_address.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/url.h"

#define DATABASE_MAX 9999

/* Takes `prefix` from the start of `*text`. */
static bool take_prefix(struct soc_slice *text, struct soc_slice prefix)
{
    if (text->length < prefix.length || memcmp(text->data, prefix.data, prefix.length) != 0)
        return false;
    *text = soc_slice(text->data + prefix.length, text->length - prefix.length);
    return true;
}

/* Takes what is before the first `mark`, which goes as well; all of it if there is none. */
static struct soc_slice take_until(struct soc_slice *text, char mark)
{
    const char *end = text->length == 0 ? NULL : memchr(text->data, mark, text->length);
    size_t length = end == NULL ? text->length : (size_t)(end - text->data);
    struct soc_slice taken = soc_slice(text->data, length);
    size_t gone = end == NULL ? length : length + 1;
    *text = soc_slice(text->data + gone, text->length - gone);
    return taken;
}

/* Returns a decoded copy of a part of a URL; NULL: it is empty or malformed. */
static char *copy_decoded(struct soc_slice text)
{
    struct soc_buf out = {0};
    char *copy = NULL;
    if (text.length > 0 && soc_url_decode(text, false, &out))
        copy = soc_copy_text(out.data, out.length);
    if (out.data != NULL)
        explicit_bzero(out.data, out.length);
    soc_buf_fini(&out);
    return copy;
}

/* Takes `user:password@` if it is there. */
static bool take_credentials(struct soc_redis_address *address, struct soc_slice *text)
{
    const char *at = text->length == 0 ? NULL : memrchr(text->data, '@', text->length);
    if (at == NULL)
        return true;
    struct soc_slice pair = soc_slice(text->data, (size_t)(at - text->data));
    *text = soc_slice(at + 1, text->length - pair.length - 1);
    if (pair.length == 0 || memchr(pair.data, ':', pair.length) == NULL)
        return false;
    struct soc_slice user = take_until(&pair, ':');
    address->user = copy_decoded(user);
    address->password = copy_decoded(pair);
    return address->password != NULL && (user.length == 0 || address->user != NULL);
}

static bool add_node(struct soc_redis_address *address, struct soc_slice authority)
{
    struct soc_slice host;
    int port;
    if (address->node_count == SOC_REDIS_NODES_MAX || !soc_url_authority(authority, &host, &port))
        return false;
    if (host.length > 2 && host.data[0] == '[')
        host = soc_slice(host.data + 1, host.length - 2);
    if (host.length >= SOC_REDIS_HOST_BYTES)
        return false;
    struct soc_redis_node *node = &address->nodes[address->node_count++];
    snprintf(node->host, sizeof(node->host), "%.*s", (int)host.length, host.data);
    int port_usual = address->is_sentinel ? SOC_REDIS_SENTINEL_PORT : SOC_REDIS_PORT;
    node->port = port == 0 ? port_usual : port;
    return true;
}

/* Reads the number of a database; an empty text is 0. */
static bool read_database(struct soc_slice text, int *database)
{
    int number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || number > DATABASE_MAX / 10)
            return false;
        number = number * 10 + (text.data[i] - '0');
    }
    *database = number;
    return true;
}

static bool read_rest(struct soc_redis_address *address, struct soc_slice text)
{
    struct soc_slice authorities = take_until(&text, '/');
    while (authorities.length > 0)
        if (!add_node(address, take_until(&authorities, ',')))
            return false;
    if (address->node_count == 0 || (!address->is_sentinel && address->node_count > 1))
        return false;
    if (address->is_sentinel) {
        address->master = copy_decoded(take_until(&text, '/'));
        if (address->master == NULL)
            return false;
    }
    return read_database(text, &address->database);
}

int soc_redis_address_read(struct soc_redis_address *address, struct soc_slice text,
                           struct soc_detail *detail)
{
    *address = (struct soc_redis_address){0};
    bool is_unix = take_prefix(&text, SOC_SLICE("unix://"));
    address->is_sentinel = !is_unix && take_prefix(&text, SOC_SLICE("sentinel://"));
    bool is_good = is_unix || address->is_sentinel || take_prefix(&text, SOC_SLICE("redis://"));
    is_good = is_good && take_credentials(address, &text);
    if (is_good && is_unix) {
        address->path = text.length > 0 && text.data[0] == '/' ? copy_decoded(text) : NULL;
        is_good = address->path != NULL;
    } else if (is_good) {
        is_good = read_rest(address, text);
    }
    if (is_good)
        return SOC_OK;
    soc_redis_address_fini(address);
    return soc_fail(detail, SOC_EINVAL,
                    "this is no address of Redis; write redis://[user:password@]host[:port][/db], "
                    "sentinel://host[:port],.../name[/db] or unix:///path");
}

void soc_redis_address_fini(struct soc_redis_address *address)
{
    if (address->password != NULL)
        explicit_bzero(address->password, strlen(address->password));
    free(address->path);
    free(address->master);
    free(address->user);
    free(address->password);
    *address = (struct soc_redis_address){0};
}

/* Redis address: where a Redis server is, as people write it.
 *
 *     redis://[user:password@]host[:port][/database]
 *     sentinel://[user:password@]host[:port][,host[:port]...]/name[/database]
 *     unix://[user:password@]/path/of/the.sock
 *
 * User and password are for the server itself, %XX-encoded where needed; a password without
 * a user is written `:password@`. IPv6 addresses stand in brackets.
 * Layer: net. Thread: any. */
#ifndef SOC_NET_REDIS_ADDRESS_H
#define SOC_NET_REDIS_ADDRESS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"

#define SOC_REDIS_NODES_MAX     8
#define SOC_REDIS_HOST_BYTES    256
#define SOC_REDIS_PORT          6379
#define SOC_REDIS_SENTINEL_PORT 26379

/* A server's host and port. */
struct soc_redis_node {
    char host[SOC_REDIS_HOST_BYTES]; /* without brackets */
    int port;
};

/* An address. Texts are owned; NULL: not given. */
struct soc_redis_address {
    bool is_sentinel; /* the nodes are sentinels that know the server called `master` */
    int node_count;   /* 0: a socket at `path` */
    struct soc_redis_node nodes[SOC_REDIS_NODES_MAX];
    char *path;
    char *master;
    char *user;
    char *password;
    int database;
};

/* Reads an address. SOC_EINVAL: `detail` says what is wrong and never shows the password;
 * `address` is then empty. Release with soc_redis_address_fini. */
int soc_redis_address_read(struct soc_redis_address *address, struct soc_slice text,
                           struct soc_detail *detail);

/* Frees the texts; the password is overwritten first. */
void soc_redis_address_fini(struct soc_redis_address *address);

#endif

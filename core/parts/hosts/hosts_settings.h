/* Hosts settings: which hosts to join, from society.config{ hosts = {…} } and the command line.
 *
 *     hosts = { redis = "redis://10.0.0.5", name = "alpha", peers = { "beta" },
 *               society = "acme", secret_env = "ACME_KEY", number = 3 }
 *
 * The script layer reads them and the links use them; the two layers do not know each other.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_SETTINGS_H
#define SOC_PARTS_HOSTS_HOSTS_SETTINGS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/slice.h"

/* The settings. Texts are owned; NULL: not given. */
struct soc_hosts_settings {
    char *redis;      /* net/redis_address.h */
    char *name;       /* of this host */
    char *society;    /* the common name of the hosts; NULL: that of the app */
    char *secret_env; /* the environment variable with the keys; NULL: frames are not signed */
    char **peers;     /* the other hosts */
    int peer_count;
    int number; /* of this host; -1: not given */
};

/* Returns settings with nothing given. Release with soc_hosts_settings_free. */
struct soc_hosts_settings *soc_hosts_settings_new(void);

/* Reads a JSON object; its members replace those that were read before. SOC_EINVAL: `detail`
 * names the member. */
int soc_hosts_settings_read(struct soc_hosts_settings *settings, struct soc_slice json,
                            struct soc_detail *detail);

/* Tells whether nothing but an address is given, as by --redis alone: that is for plain Redis
 * clients, and no host is joined. */
bool soc_hosts_settings_are_bare(const struct soc_hosts_settings *settings);

/* Checks that they are complete: SOC_EINVAL, and `detail` says what is missing. */
int soc_hosts_settings_check(const struct soc_hosts_settings *settings, struct soc_detail *detail);

/* Frees them. NULL is allowed. */
void soc_hosts_settings_free(struct soc_hosts_settings *settings);

#endif

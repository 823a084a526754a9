/* Redis settings: configuration of the door for plain Redis clients, from
 * society.config{ redis = {…} }.
 *
 * The script layer reads them and the door uses them, as with files_settings.h.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_REDIS_SETTINGS_H
#define SOC_PARTS_OUTSIDE_REDIS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* The settings of one door. */
struct soc_redis_settings {
    char *url;             /* net/redis_address.h has its forms; NULL: only --redis gives it */
    char *password_env;    /* variable of the environment that holds the password; NULL: none */
    char *guest;           /* outside agent that speaks for clients without a name; NULL: nobody */
    char *roles;           /* JSON list: roles whose agents are behind the door; NULL: all */
    bool has_queue;        /* `queue`: helix:queue:ID is filled for outside agents */
    bool has_inbox;        /* `inbox`: agent:ID:inbox is */
    bool has_status;       /* `status`: helix:agent:status is kept */
    bool trims;            /* `trim`: entries that were taken are removed from streams */
    int64_t queue_max;     /* messages in a list that nobody reads */
    int64_t inbox_max;     /* entries that a stream keeps */
    int64_t reply_s;       /* `reply_seconds`: how long reply:ID lasts */
    int64_t poll_ms;       /* how often lists and streams are looked at */
    int64_t message_bytes; /* longer entries are skipped */
};

/* Reads settings, a JSON object, over the defaults. SOC_EINVAL for an unknown or invalid
 * member, which `detail` names. Free with soc_redis_settings_fini, even after an error. */
int soc_redis_settings_read(struct soc_redis_settings *settings, struct soc_slice json,
                            struct soc_detail *detail);

/* Tells whether agents of that role are behind the door. */
bool soc_redis_settings_carry(const struct soc_redis_settings *settings, struct soc_slice role);

/* Frees the texts. */
void soc_redis_settings_fini(struct soc_redis_settings *settings);

#endif

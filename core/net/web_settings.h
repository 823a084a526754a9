/* Web settings: configuration of the HTTP door, from society.config{ web = {…} }.
 *
 * The script layer reads the settings and the door uses them; the two layers do not know
 * each other, so the settings live here.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_WEB_SETTINGS_H
#define SOC_NET_WEB_SETTINGS_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

/* The settings of one door. 0 and NULL: the default. */
struct soc_web_settings {
    char *listen;   /* [HOST:]PORT; NULL: a free port of loopback */
    char **hosts;   /* allowed in `Host` besides loopback; ends with NULL; NULL: none */
    char *tls_cert; /* paths of PEM files */
    char *tls_key;
    char *program;      /* the program that runs replays */
    int64_t body_bytes; /* of a request */
    int64_t connections;
    int64_t streams;
    int64_t wrong_tokens; /* a minute and address */
};

/* Reads settings, a JSON object, over the defaults. SOC_EINVAL for an unknown or invalid
 * member, which `detail` names. Free with soc_web_settings_fini, even after an error. */
int soc_web_settings_read(struct soc_web_settings *settings, struct soc_slice json,
                          struct soc_detail *detail);

/* Frees the texts. */
void soc_web_settings_fini(struct soc_web_settings *settings);

/* Reads [HOST:]PORT: `address`, of SOC_WEB_ADDRESS_BYTES, becomes numeric; localhost and no
 * host are 127.0.0.1. SOC_EINVAL with `detail`. */
#define SOC_WEB_ADDRESS_BYTES 64
int soc_web_settings_address(const char *text, char address[SOC_WEB_ADDRESS_BYTES], int *port,
                             struct soc_detail *detail);

#endif

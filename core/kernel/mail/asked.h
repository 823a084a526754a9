/* Asked: requests of agents on other hosts, which wait there.
 *
 * Such a request is no soc_request here: only its message is. It may be answered when that has
 * ended, in a later activation or by an agent outside; the part that took it remembers how.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_MAIL_ASKED_H
#define SOC_KERNEL_MAIL_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_agent;
struct soc_host;
struct soc_send;

/* A request from another host. All is lent. */
struct soc_asked {
    uint64_t key; /* of its message on this host */
    int64_t time_ms;
    struct soc_slice id; /* on its own host */
    struct soc_slice chain;
    struct soc_agent *from;
};

/* Finds the request from another host that `to` may still answer and that `id` names: its own id,
 * or that of its chain. */
bool soc_asked_find(struct soc_host *host, const struct soc_agent *to, struct soc_slice id,
                    struct soc_asked *asked);

/* Makes a message its answer: who gets it, what it answers, and its chain unless it has one. */
void soc_asked_address(const struct soc_asked *asked, struct soc_send *send);

#endif

/* Hosts, notify: the form of an order to another host (hosts_orders.h).
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_NOTIFY_H
#define SOC_PARTS_HOSTS_HOSTS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "kernel/mail/send.h"

struct soc_host;

/* Appends the address of this host's end at the peer of that name, and lends it. */
struct soc_slice soc_hosts_system_at(struct soc_slice name, struct soc_buf *out);

/* Returns an order, or the answer to one; everything is lent. */
struct soc_send soc_hosts_order_of(struct soc_slice to, const char *type, struct soc_slice payload);

/* Gives an order on behalf of this host itself to the peer of that name, in the open turn or
 * one of its own. */
void soc_hosts_notify(struct soc_host *host, struct soc_slice name, const char *type,
                      struct soc_slice payload);

/* Tells whether an order that may be lost should be given to the peer of that name: it is joined
 * and shows signs of life, and at most `most` orders wait already. */
bool soc_hosts_can_notify(struct soc_host *host, struct soc_slice name, uint32_t most);

#endif

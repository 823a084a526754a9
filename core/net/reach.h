/* Reach: which addresses are private, so that only those inside a network can connect to them.
 *
 * Layer: net. Thread: any. */
#ifndef SOC_NET_REACH_H
#define SOC_NET_REACH_H

#include <stdbool.h>

/* Tells whether a numeric address of IPv4 or IPv6 is that of this machine, of a private network
 * or of no single machine, also where IPv6 carries one of IPv4. Any other text counts as
 * private. */
bool soc_reach_is_private(const char *address);

#endif

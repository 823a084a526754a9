/* Address: where the control socket of a state directory is.
 *
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_CONTROL_ADDRESS_H
#define SOC_BRIDGE_CONTROL_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/buf.h"

/* What the control socket is called in its directory. */
#define SOC_SOCKET_NAME "socket"

/* Where a control socket is. */
struct soc_address {
    struct sockaddr_un socket;
    int directory; /* kept open while the address is in use; -1: not needed */
};

/* Fills the address of DIRECTORY/NAME. One too long for a socket's name is
 * reached through the open directory. False, with errno, if that is not there. */
bool soc_address_init(struct soc_address *address, const char *directory, const char *name);

/* Lets the directory go. */
void soc_address_fini(struct soc_address *address);

/* Appends the path of DIRECTORY/NAME and a NUL behind it. */
void soc_address_path(struct soc_buf *out, const char *directory, const char *name);

#endif

/* Address: the address of the control socket in a state directory.
 *
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_CONTROL_ADDRESS_H
#define SOC_BRIDGE_CONTROL_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/buf.h"

/* File name of the control socket. */
#define SOC_SOCKET_NAME "socket"

/* The address of a socket. */
struct soc_address {
    struct sockaddr_un socket;
    int directory; /* kept open while the address is in use; -1: not needed */
};

/* Fills in the address of DIRECTORY/NAME. A path too long for a socket address goes
 * through /proc and an open directory. Returns false, with errno, if the directory cannot
 * be opened. */
bool soc_address_init(struct soc_address *address, const char *directory, const char *name);

/* Closes the directory. */
void soc_address_fini(struct soc_address *address);

/* Appends the path DIRECTORY/NAME and a NUL. */
void soc_address_path(struct soc_buf *out, const char *directory, const char *name);

/* Tells which user runs the other end of a connection; false if that is unknown. */
bool soc_address_peer(int number, uid_t *user);

#endif

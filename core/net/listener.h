/* Listener: a listening TCP socket on the loop.
 *
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_LISTENER_H
#define SOC_NET_LISTENER_H

#include <sys/socket.h>

#include "base/err.h"
#include "loop/loop.h"

struct soc_listener;

/* Events of a listener. */
struct soc_listener_events {
    /* Somebody has connected: the socket does not block and belongs to the user. */
    void (*accepted)(void *user, int socket, const struct sockaddr *address, socklen_t length);
    /* The process has no descriptor left. Nothing is accepted for a moment. */
    void (*shortage)(void *user);
    void *user;
};

/* Listens on a numeric address, IPv4 or IPv6; port 0: the system picks one. SOC_EINVAL,
 * SOC_EACCESS, SOC_EEXISTS (the port is taken) or SOC_EIO with `detail`. */
int soc_listener_open(struct soc_listener **out, struct soc_loop *loop, const char *address,
                      int port, const struct soc_listener_events *events,
                      struct soc_detail *detail);

/* The port it listens on. */
int soc_listener_port(const struct soc_listener *listener);

/* Stops listening. NULL is allowed. */
void soc_listener_close(struct soc_listener *listener);

#endif

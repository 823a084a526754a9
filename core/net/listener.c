#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/alarm.h"
#include "loop/descriptor.h"

#define ACCEPTS_PER_STEP_MAX 64
#define PAUSE_MS             100 /* when the process has no descriptor left */

struct soc_listener {
    struct soc_listener_events events;
    struct soc_descriptor *watch;
    struct soc_alarm *pause; /* until connections are accepted again */
    int socket;
    int port;
};

static void on_ready(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_listener *listener = user;
    (void)can_read, (void)can_write;
    for (int i = 0; i < ACCEPTS_PER_STEP_MAX; i++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof(address);
        struct sockaddr *plain = (struct sockaddr *)(void *)&address;
        int client = accept4(socket, plain, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client >= 0) {
            listener->events.accepted(listener->events.user, client, plain, length);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            soc_descriptor_set(listener->watch, false, false);
            soc_alarm_set(listener->pause, PAUSE_MS);
            listener->events.shortage(listener->events.user);
        }
        break;
    }
}

static void accept_again(void *user)
{
    struct soc_listener *listener = user;
    soc_descriptor_set(listener->watch, true, false);
}

/* Binds and listens; returns the socket, or an error. */
static int bind_socket(const char *text, int *port, struct soc_detail *detail)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    bool is_six = inet_pton(AF_INET6, text, &six.sin6_addr) == 1;
    if (!is_six && inet_pton(AF_INET, text, &four.sin_addr) != 1)
        return soc_fail(detail, SOC_EINVAL, "%s is not a numeric address", text);
    int listener =
        socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (listener < 0)
        return soc_fail(detail, SOC_EIO, "cannot make a socket: %s", strerror(errno));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    struct sockaddr *address =
        is_six ? (struct sockaddr *)(void *)&six : (struct sockaddr *)(void *)&four;
    socklen_t length = is_six ? sizeof(six) : sizeof(four);
    if (bind(listener, address, length) < 0 || listen(listener, SOMAXCONN) < 0 ||
        getsockname(listener, address, &length) < 0) {
        int code = errno == EADDRINUSE      ? SOC_EEXISTS
                   : errno == EACCES        ? SOC_EACCESS
                   : errno == EADDRNOTAVAIL ? SOC_EINVAL
                                            : SOC_EIO;
        soc_fail(detail, code, "cannot listen on %s port %d: %s", text, *port, strerror(errno));
        close(listener);
        return code;
    }
    *port = ntohs(is_six ? six.sin6_port : four.sin_port);
    return listener;
}

int soc_listener_open(struct soc_listener **out, struct soc_loop *loop, const char *address,
                      int port, const struct soc_listener_events *events, struct soc_detail *detail)
{
    int socket = bind_socket(address, &port, detail);
    if (socket < 0)
        return socket;
    struct soc_listener *listener = soc_alloc_zero(sizeof(*listener));
    listener->events = *events;
    listener->socket = socket;
    listener->port = port;
    listener->pause = soc_alarm_open(loop, "listener", accept_again, listener);
    listener->watch = soc_descriptor_open(loop, "listener", socket, on_ready, listener);
    soc_descriptor_set(listener->watch, true, false);
    *out = listener;
    return SOC_OK;
}

int soc_listener_port(const struct soc_listener *listener)
{
    return listener->port;
}

void soc_listener_close(struct soc_listener *listener)
{
    if (listener == NULL)
        return;
    soc_descriptor_close(listener->watch);
    soc_alarm_close(listener->pause);
    close(listener->socket);
    free(listener);
}

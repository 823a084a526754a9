/* Server client: bare sockets on loopback that talk to a server of the same loop.
 *
 * Layer: tests. Thread: loop. */
#ifndef SOC_TESTS_SERVER_CLIENT_H
#define SOC_TESTS_SERVER_CLIENT_H

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "loop/loop.h"
#include "net/server.h"

#define ROUNDS_MAX 4000 /* of the loop, at most 5 ms each, before a client gives up */

/* Returns a connected socket. */
static inline int connect_client(struct soc_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)soc_server_port(server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = connect(client, (struct sockaddr *)(void *)&address, sizeof(address));
    assert(client >= 0 && rc == 0);
    (void)rc;
    return client;
}

/* Sends a text. */
static inline void client_send(int client, const char *text)
{
    ssize_t sent = send(client, text, strlen(text), MSG_NOSIGNAL);
    (void)sent; /* a server may close before it has read everything */
}

/* Reads until `wanted` is in `in`, or if that is NULL until the server closes. Returns
 * whether that happened. */
static inline bool client_read(struct soc_loop *loop, int client, const char *wanted,
                               struct soc_buf *in)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        char bytes[4096];
        ssize_t got = recv(client, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got > 0)
            soc_buf_put(in, bytes, (size_t)got);
        if (wanted != NULL && strstr(soc_buf_text(in), wanted) != NULL)
            return true;
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return wanted == NULL;
        if (got < 0)
            soc_loop_poll(loop, 5);
    }
    return false;
}

#endif

#include "bridge/control/client.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/control/address.h"

#define READ_BYTES 65536
#define SLOW_MS    3000 /* an answer that takes longer is explained */

struct soc_control_client {
    int socket;
    void (*slow)(void *user); /* NULL: nobody asks */
    void *slow_user;
};

static int fail_connect(const char *directory, int error, struct soc_detail *detail)
{
    int code = SOC_EIO;
    if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR)
        return soc_fail(detail, SOC_ENOFILE, "no society is running in %s", directory);
    if (error == EACCES || error == EPERM)
        code = SOC_EACCESS;
    return soc_fail(detail, code, "%s/socket: %s", directory, strerror(error));
}

/* Tells whether the society behind the socket may be talked to: it runs as we do, as root,
 * or, if we are root, as the owner of the directory. Anybody who can write there could put
 * a socket of their own in its place. */
static bool is_trusted(int number, const char *directory)
{
    struct stat info;
    uid_t user;
    if (!soc_address_peer(number, &user))
        return false;
    return user == geteuid() || user == 0 ||
           (geteuid() == 0 && stat(directory, &info) == 0 && info.st_uid == user);
}

int soc_control_client_open(struct soc_control_client **out, const char *directory,
                            struct soc_detail *detail)
{
    struct soc_address address;
    if (!soc_address_init(&address, directory, SOC_SOCKET_NAME))
        return fail_connect(directory, errno, detail);
    int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = 0;
    if (number < 0 ||
        connect(number, (const struct sockaddr *)&address.socket, sizeof(address.socket)) < 0)
        error = errno;
    soc_address_fini(&address);
    if (error != 0) {
        if (number >= 0)
            close(number);
        return fail_connect(directory, error, detail);
    }
    if (!is_trusted(number, directory)) {
        close(number);
        return soc_fail(detail, SOC_EACCESS,
                        "%s/socket belongs to another user; nothing was sent to it", directory);
    }
    *out = soc_alloc_zero(sizeof(**out));
    (*out)->socket = number;
    return SOC_OK;
}

void soc_control_client_on_slow(struct soc_control_client *client, void (*cb)(void *user),
                                void *user)
{
    client->slow = cb;
    client->slow_user = user;
}

/* Waits until an answer begins or is late. */
static void wait_for_answer(struct soc_control_client *client)
{
    struct pollfd waited = {.fd = client->socket, .events = POLLIN};
    if (client->slow != NULL && poll(&waited, 1, SLOW_MS) == 0)
        client->slow(client->slow_user);
}

static bool write_all(int number, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t count = send(number, data, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        data += count;
        length -= (size_t)count;
    }
    return true;
}

/* Reads one line. Returns false if the connection ends first. */
static bool read_line(int number, struct soc_buf *line)
{
    while (line->length == 0 || line->data[line->length - 1] != '\n') {
        ssize_t count = recv(number, soc_buf_reserve(line, READ_BYTES), READ_BYTES, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        line->length += (size_t)count;
    }
    line->length--;
    return true;
}

int soc_control_client_ask(struct soc_control_client *client, struct soc_slice request,
                           struct soc_buf *answer, struct soc_detail *detail)
{
    assert(client->socket >= 0 && request.length > 0);
    answer->length = 0;
    /* Read even if writing failed: the society may have refused a line that is too long. */
    bool is_sent = write_all(client->socket, request.data, request.length) &&
                   write_all(client->socket, "\n", 1);
    if (is_sent)
        wait_for_answer(client);
    if (!read_line(client->socket, answer))
        return soc_fail(detail, SOC_ECLOSED, "the society stopped before it %s",
                        is_sent ? "answered" : "accepted the request");
    if (soc_json_check(soc_buf_slice(answer), NULL) < 0)
        return soc_fail(detail, SOC_EJSON, "the society's answer is not JSON");
    return SOC_OK;
}

void soc_control_client_close(struct soc_control_client *client)
{
    if (client == NULL)
        return;
    close(client->socket);
    free(client);
}

#include "bridge/control/address.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void soc_address_path(struct soc_buf *out, const char *directory, const char *name)
{
    soc_buf_printf(out, "%s/%s", directory, name);
    soc_buf_put_byte(out, '\0');
}

bool soc_address_init(struct soc_address *address, const char *directory, const char *name)
{
    assert(directory != NULL && name != NULL);
    size_t room = sizeof(address->socket.sun_path);
    *address = (struct soc_address){.socket = {.sun_family = AF_UNIX}, .directory = -1};
    int length = snprintf(address->socket.sun_path, room, "%s/%s", directory, name);
    if (length > 0 && (size_t)length < room)
        return true;
    address->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (address->directory < 0)
        return false;
    snprintf(address->socket.sun_path, room, "/proc/self/fd/%d/%s", address->directory, name);
    return true;
}

void soc_address_fini(struct soc_address *address)
{
    if (address->directory >= 0)
        close(address->directory);
    address->directory = -1;
}

bool soc_address_peer(int number, uid_t *user)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        return false;
    *user = peer.uid;
    return true;
}

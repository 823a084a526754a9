#include "worker/parcel.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

static void put_head(unsigned char *head, size_t length)
{
    for (int i = 0; i < SOC_PARCEL_HEAD_BYTES; i++)
        head[i] = (unsigned char)(length >> (8 * i));
}

static size_t read_head(const unsigned char *head)
{
    size_t length = 0;
    for (int i = 0; i < SOC_PARCEL_HEAD_BYTES; i++)
        length |= (size_t)head[i] << (8 * i);
    return length;
}

/* Of what the host may say, and a worker. */
static bool is_request(size_t length)
{
    return length > 0 && length <= SOC_WORKER_TOLD_BYTES_MAX;
}

static bool is_answer(size_t length)
{
    return length > 0 && length <= SOC_WORKER_FRAME_BYTES_MAX;
}

void soc_parcel_put(struct soc_buf *out, struct soc_slice content)
{
    unsigned char head[SOC_PARCEL_HEAD_BYTES];
    assert(is_request(content.length));
    put_head(head, content.length);
    soc_buf_put(out, head, sizeof(head));
    soc_buf_put_slice(out, content);
}

enum soc_parcel_state soc_parcel_look(const struct soc_buf *in, struct soc_slice *content)
{
    if (in->length < SOC_PARCEL_HEAD_BYTES)
        return SOC_PARCEL_PART;
    size_t length = read_head((const unsigned char *)in->data);
    size_t came = in->length - SOC_PARCEL_HEAD_BYTES;
    if (!is_answer(length) || came > length)
        return SOC_PARCEL_WRONG;
    if (came < length)
        return SOC_PARCEL_PART;
    *content = soc_slice(in->data + SOC_PARCEL_HEAD_BYTES, length);
    return SOC_PARCEL_WHOLE;
}

static bool write_all(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        length -= (size_t)written;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t length)
{
    char *at = data;
    while (length > 0) {
        ssize_t got = read(fd, at, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

bool soc_parcel_write(int fd, struct soc_slice content)
{
    unsigned char head[SOC_PARCEL_HEAD_BYTES];
    if (!is_answer(content.length))
        return false;
    put_head(head, content.length);
    return write_all(fd, head, sizeof(head)) && write_all(fd, content.data, content.length);
}

bool soc_parcel_read(int fd, struct soc_buf *content)
{
    unsigned char head[SOC_PARCEL_HEAD_BYTES];
    if (!read_all(fd, head, sizeof(head)))
        return false;
    size_t length = read_head(head);
    if (!is_request(length) || !read_all(fd, soc_buf_reserve(content, length), length))
        return false;
    content->length += length;
    return true;
}

#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void soc_buf_fini(struct soc_buf *buf)
{
    free(buf->data);
    *buf = (struct soc_buf){0};
}

char *soc_buf_reserve(struct soc_buf *buf, size_t extra)
{
    if (buf->capacity - buf->length < extra) {
        assert(buf->length <= buf->capacity && extra <= SIZE_MAX / 4);
        size_t wanted = buf->capacity == 0 ? 64 : buf->capacity;
        while (wanted - buf->length < extra)
            wanted *= 2;
        buf->data = soc_realloc(buf->data, wanted);
        buf->capacity = wanted;
    }
    return buf->data + buf->length;
}

void soc_buf_put(struct soc_buf *buf, const void *data, size_t length)
{
    if (length == 0)
        return;
    memcpy(soc_buf_reserve(buf, length), data, length);
    buf->length += length;
}

void soc_buf_put_slice(struct soc_buf *buf, struct soc_slice slice)
{
    soc_buf_put(buf, slice.data, slice.length);
}

void soc_buf_put_byte(struct soc_buf *buf, char byte)
{
    *soc_buf_reserve(buf, 1) = byte;
    buf->length++;
}

void soc_buf_put_text(struct soc_buf *buf, const char *text)
{
    soc_buf_put(buf, text, strlen(text));
}

void soc_buf_printf(struct soc_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(length >= 0);
    if (length > 0) {
        vsnprintf(soc_buf_reserve(buf, (size_t)length + 1), (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

struct soc_slice soc_buf_slice(const struct soc_buf *buf)
{
    return soc_slice(buf->data == NULL ? "" : buf->data, buf->length);
}

const char *soc_buf_text(struct soc_buf *buf)
{
    *soc_buf_reserve(buf, 1) = '\0';
    return buf->data;
}

/* Frame fuzz: any bytes as a frame between hosts.
 *
 * Unsigned, what is read is walked to its end and, written again, reads as the same. Signed,
 * nothing that was not written with the key is ever read.
 * Layer: tests. Thread: one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/links/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "frame_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

static const struct soc_frame_keys plain = {.society = "s", .sender = "a", .receiver = "b"};

/* Walks the items, and writes the frame again. */
static void read_twice(const struct soc_frame *frame)
{
    struct soc_slice items = frame->items;
    struct soc_slice item;
    struct soc_buf again = {0};
    struct soc_frame second;
    struct soc_detail detail = {{0}};
    uint32_t count = 0;
    size_t bytes = 0;
    while (soc_frame_next(&items, &item)) {
        count++;
        for (size_t i = 0; i < item.length; i++)
            bytes += (unsigned char)item.data[i] != 0;
    }
    MUST(count == frame->count && bytes <= frame->items.length);
    soc_frame_put(&again, frame, &plain);
    MUST(soc_frame_read(&second, soc_buf_slice(&again), &plain, &detail) == SOC_OK);
    MUST(second.count == frame->count && second.first == frame->first &&
         second.acked == frame->acked && second.taken == frame->taken &&
         second.wanted == frame->wanted && second.is_asking == frame->is_asking);
    MUST(soc_slice_equal(second.items, frame->items) && soc_slice_equal(second.busy, frame->busy));
    MUST(memcmp(second.from, frame->from, sizeof(second.from)) == 0 &&
         memcmp(second.to, frame->to, sizeof(second.to)) == 0);
    soc_buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct soc_frame_keys signed_keys = plain;
    struct soc_frame frame;
    struct soc_detail detail = {{0}};
    char *bytes = malloc(size == 0 ? 1 : size); /* of its own, so that a read beyond it shows */
    MUST(bytes != NULL);
    memcpy(bytes, data, size);
    signed_keys.keys[0] = SOC_SLICE("a key that nobody can guess");
    signed_keys.count = 1;
    if (soc_frame_read(&frame, soc_slice(bytes, size), &plain, &detail) == SOC_OK)
        read_twice(&frame);
    MUST(soc_frame_read(&frame, soc_slice(bytes, size), &signed_keys, &detail) != SOC_OK);
    free(bytes);
    return 0;
}

/* Frame: what one host sends to another at a time, signed.
 *
 * A frame has a head, up to SOC_FRAME_ITEMS_MAX items of any bytes, the id of a key and an
 * HMAC-SHA256 over everything before it and the context: the society and both hosts. A frame
 * that is moved to another stream is therefore refused like one that was changed.
 *
 * Keys are rotated without a pause: the first key signs, all are accepted. So every host gets
 * the new key as its second, then as its first, and the old one is removed at the end.
 * Layer: bridge. Thread: any. */
#ifndef SOC_BRIDGE_FRAME_H
#define SOC_BRIDGE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "net/carrier.h"

#define SOC_FRAME_ITEMS_MAX 256
#define SOC_FRAME_BYTES_MAX (16 * 1024 * 1024)
#define SOC_FRAME_ID_BYTES  16
#define SOC_FRAME_KEYS_MAX  4

/* The keys of a host, and for which stream they are used. Everything is lent. */
struct soc_frame_keys {
    struct soc_slice keys[SOC_FRAME_KEYS_MAX];
    int count;            /* 0: frames are not signed, and signed ones are refused */
    const char *society;  /* the context */
    const char *sender;   /* the name of the host that sends */
    const char *receiver; /* the name of the host that reads */
};

/* A frame. Items are numbered by link from 1. */
struct soc_frame {
    uint8_t from[SOC_FRAME_ID_BYTES]; /* the unique id of the host that sends */
    uint8_t to[SOC_FRAME_ID_BYTES];   /* of the one that reads; zeros: not known yet */
    bool is_asking;                   /* it wants an answer */
    uint64_t first;                   /* the number of the first item */
    uint64_t opened;                  /* the last item there was when the sender started */
    uint64_t acked;                   /* the last of its items that the sender knows durable */
    uint64_t taken;                   /* the last item of the reader that is durable here */
    uint64_t wanted;                  /* the item of the reader that is missing; 0: none is */
    struct soc_carrier_place heard;   /* the last frame of the reader that was read */
    struct soc_slice busy;            /* lent; which agents can take no mail, texts with a NUL
                                         each (parts/hosts/hosts.h); empty: as before */
    uint32_t count;                   /* of items */
    struct soc_slice items;           /* lent; soc_frame_add and soc_frame_next */
};

/* Appends an item to the items of a frame. */
void soc_frame_add(struct soc_buf *items, struct soc_slice item);

/* Lends the next item and moves `*items` past it; false: there is none. */
bool soc_frame_next(struct soc_slice *items, struct soc_slice *item);

/* Appends a frame, signed with the first key. */
void soc_frame_put(struct soc_buf *out, const struct soc_frame *frame,
                   const struct soc_frame_keys *keys);

/* Reads a frame; its items are lent from `bytes`. SOC_EFORBIDDEN: it is not signed with one of
 * the keys; SOC_EINVAL: it is malformed. `detail` says which, and shows no byte of a key. */
int soc_frame_read(struct soc_frame *frame, struct soc_slice bytes,
                   const struct soc_frame_keys *keys, struct soc_detail *detail);

#endif

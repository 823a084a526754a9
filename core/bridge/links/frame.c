#include "bridge/links/frame.h"

#include <assert.h>

#include "net/digest.h"

#define VERSION      3
#define KEY_ID_BYTES 4
#define NUMBERS      7 /* of 8 bytes in the head */
#define HEAD_BYTES   (2 + 2 * SOC_FRAME_ID_BYTES + NUMBERS * 8 + 4 + 4)
#define TAIL_BYTES   (KEY_ID_BYTES + SOC_DIGEST_BYTES)

/* ---- numbers, the lowest byte first ---- */

static void put_number(struct soc_buf *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        soc_buf_put_byte(out, (char)(number >> (8 * i) & 0xFF));
}

static uint64_t number_at(const char *at, int bytes)
{
    uint64_t number = 0;
    for (int i = bytes - 1; i >= 0; i--)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

/* Takes a number from the front. */
static uint64_t take_number(const char **at, int bytes)
{
    uint64_t number = number_at(*at, bytes);
    *at += bytes;
    return number;
}

/* ---- items ---- */

void soc_frame_add(struct soc_buf *items, struct soc_slice item)
{
    assert(item.length <= SOC_FRAME_BYTES_MAX);
    put_number(items, item.length, 4);
    soc_buf_put_slice(items, item);
}

bool soc_frame_next(struct soc_slice *items, struct soc_slice *item)
{
    if (items->length < 4)
        return false;
    uint64_t length = number_at(items->data, 4);
    if (length > items->length - 4)
        return false;
    *item = soc_slice(items->data + 4, length);
    *items = soc_slice(items->data + 4 + length, items->length - 4 - length);
    return true;
}

/* ---- signing ---- */

/* What names a key without showing it. */
static void key_id(uint8_t out[KEY_ID_BYTES], struct soc_slice key)
{
    uint8_t digest[SOC_DIGEST_BYTES];
    soc_digest_hmac(digest, key, SOC_SLICE("society key id"));
    memcpy(out, digest, KEY_ID_BYTES);
}

/* Signs `bytes`, which end with the key's id. */
static void sign(uint8_t out[SOC_DIGEST_BYTES], struct soc_slice bytes, struct soc_slice key,
                 const struct soc_frame_keys *keys)
{
    const char *context[] = {keys->society, keys->sender, keys->receiver};
    struct soc_buf text = {0};
    for (size_t i = 0; i < sizeof(context) / sizeof(context[0]); i++) {
        soc_buf_put_text(&text, context[i]);
        soc_buf_put_byte(&text, '\0');
    }
    soc_buf_put_slice(&text, bytes);
    soc_digest_hmac(out, key, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

/* Checks the key's id and the HMAC at the end of a frame. */
static int check_signature(struct soc_slice bytes, const struct soc_frame_keys *keys,
                           struct soc_detail *detail)
{
    static const uint8_t none[TAIL_BYTES];
    const char *tail = bytes.data + bytes.length - TAIL_BYTES;
    bool is_unsigned = memcmp(tail, none, TAIL_BYTES) == 0;
    if (keys->count == 0 && is_unsigned)
        return SOC_OK;
    if (keys->count == 0)
        return soc_fail(detail, SOC_EFORBIDDEN, "the frame is signed and this host has no key");
    if (is_unsigned)
        return soc_fail(detail, SOC_EFORBIDDEN, "the frame is not signed");
    struct soc_slice body = soc_slice(bytes.data, bytes.length - SOC_DIGEST_BYTES);
    for (int i = 0; i < keys->count; i++) {
        uint8_t id[KEY_ID_BYTES];
        uint8_t mac[SOC_DIGEST_BYTES];
        key_id(id, keys->keys[i]);
        if (memcmp(id, tail, KEY_ID_BYTES) != 0)
            continue;
        sign(mac, body, keys->keys[i], keys);
        if (soc_digest_equal(mac, tail + KEY_ID_BYTES, SOC_DIGEST_BYTES))
            return SOC_OK;
        return soc_fail(detail, SOC_EFORBIDDEN, "the signature of the frame is wrong");
    }
    return soc_fail(detail, SOC_EFORBIDDEN, "the frame is signed with a key this host lacks");
}

/* ---- frames ---- */

void soc_frame_put(struct soc_buf *out, const struct soc_frame *frame,
                   const struct soc_frame_keys *keys)
{
    assert(frame->count <= SOC_FRAME_ITEMS_MAX && keys->count <= SOC_FRAME_KEYS_MAX);
    size_t start = out->length;
    soc_buf_put_byte(out, VERSION);
    soc_buf_put_byte(out, frame->is_asking ? 1 : 0);
    soc_buf_put(out, frame->from, SOC_FRAME_ID_BYTES);
    soc_buf_put(out, frame->to, SOC_FRAME_ID_BYTES);
    const uint64_t numbers[NUMBERS] = {frame->first,      frame->opened, frame->acked,
                                       frame->taken,      frame->wanted, frame->heard.epoch,
                                       frame->heard.frame};
    for (int i = 0; i < NUMBERS; i++)
        put_number(out, numbers[i], 8);
    put_number(out, frame->count, 4);
    put_number(out, frame->busy.length, 4);
    soc_buf_put_slice(out, frame->busy);
    soc_buf_put_slice(out, frame->items);
    uint8_t id[KEY_ID_BYTES] = {0};
    uint8_t mac[SOC_DIGEST_BYTES] = {0};
    if (keys->count > 0)
        key_id(id, keys->keys[0]);
    soc_buf_put(out, id, KEY_ID_BYTES);
    if (keys->count > 0)
        sign(mac, soc_slice(out->data + start, out->length - start), keys->keys[0], keys);
    soc_buf_put(out, mac, SOC_DIGEST_BYTES);
}

/* Tells whether the items are exactly as many as the head says. */
static bool has_items(const struct soc_frame *frame)
{
    struct soc_slice rest = frame->items;
    struct soc_slice item;
    for (uint32_t i = 0; i < frame->count; i++)
        if (!soc_frame_next(&rest, &item))
            return false;
    return rest.length == 0;
}

int soc_frame_read(struct soc_frame *frame, struct soc_slice bytes,
                   const struct soc_frame_keys *keys, struct soc_detail *detail)
{
    *frame = (struct soc_frame){0};
    if (bytes.length < HEAD_BYTES + TAIL_BYTES)
        return soc_fail(detail, SOC_EINVAL, "the frame is too short: %zu bytes", bytes.length);
    int err = check_signature(bytes, keys, detail);
    if (err != SOC_OK)
        return err;
    const char *at = bytes.data;
    uint64_t version = take_number(&at, 1);
    uint64_t flags = take_number(&at, 1);
    if (version != VERSION || flags > 1)
        return soc_fail(detail, SOC_EINVAL, "the frame is of version %d; this host reads %d",
                        (int)version, VERSION);
    frame->is_asking = flags == 1;
    memcpy(frame->from, at, SOC_FRAME_ID_BYTES);
    memcpy(frame->to, at + SOC_FRAME_ID_BYTES, SOC_FRAME_ID_BYTES);
    at += (ptrdiff_t)2 * SOC_FRAME_ID_BYTES;
    uint64_t *numbers[NUMBERS] = {&frame->first,      &frame->opened, &frame->acked,
                                  &frame->taken,      &frame->wanted, &frame->heard.epoch,
                                  &frame->heard.frame};
    for (int i = 0; i < NUMBERS; i++)
        *numbers[i] = take_number(&at, 8);
    frame->count = (uint32_t)take_number(&at, 4);
    uint64_t busy = take_number(&at, 4);
    size_t rest = bytes.length - HEAD_BYTES - TAIL_BYTES;
    bool has_busy = busy <= rest && (busy == 0 || at[busy - 1] == '\0');
    if (has_busy) {
        frame->busy = soc_slice(at, busy);
        frame->items = soc_slice(at + busy, rest - busy);
    }
    if (!has_busy || frame->count > SOC_FRAME_ITEMS_MAX || !has_items(frame) ||
        frame->first > UINT64_MAX - SOC_FRAME_ITEMS_MAX) {
        *frame = (struct soc_frame){0};
        return soc_fail(detail, SOC_EINVAL, "the items of the frame do not fit its head");
    }
    return SOC_OK;
}

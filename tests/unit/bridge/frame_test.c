/* Frames between hosts: both ways, keys that change, and bytes that were changed. */
#include "bridge/links/frame.h"

#include "check.h"
#include "env/rng.h"

#define ROUNDS 20000 /* of changed frames */

static struct soc_frame_keys with_keys(struct soc_slice first, struct soc_slice second)
{
    return (struct soc_frame_keys){
        .keys = {first, second},
        .count = (first.length > 0) + (second.length > 0),
        .society = "acme",
        .sender = "alpha",
        .receiver = "beta",
    };
}

/* Writes a frame with two items. */
static void put_sample(struct soc_buf *out, const struct soc_frame_keys *keys)
{
    struct soc_buf items = {0};
    soc_frame_add(&items, SOC_SLICE("one"));
    soc_frame_add(&items, SOC_SLICE(""));
    struct soc_frame frame = {
        .from = {1, 2, 3},
        .to = {255},
        .is_asking = true,
        .first = 41,
        .opened = 40,
        .acked = 39,
        .taken = UINT64_MAX,
        .wanted = 7,
        .heard = {1700000000000, 12},
        .busy = soc_slice("ann\0bob", 8),
        .count = 2,
        .items = soc_buf_slice(&items),
    };
    soc_frame_put(out, &frame, keys);
    soc_buf_fini(&items);
}

static void a_frame_is_read_as_it_was_written(void)
{
    for (int is_signed = 0; is_signed <= 1; is_signed++) {
        struct soc_frame_keys keys =
            with_keys(is_signed ? SOC_SLICE("key") : SOC_SLICE(""), SOC_SLICE(""));
        struct soc_buf bytes = {0};
        put_sample(&bytes, &keys);
        struct soc_frame frame;
        CHECK_INT(soc_frame_read(&frame, soc_buf_slice(&bytes), &keys, NULL), SOC_OK);
        CHECK(frame.from[2] == 3 && frame.to[0] == 255 && frame.is_asking);
        CHECK(frame.first == 41 && frame.opened == 40 && frame.acked == 39);
        CHECK(frame.taken == UINT64_MAX && frame.wanted == 7);
        CHECK(frame.heard.epoch == 1700000000000 && frame.heard.frame == 12);
        CHECK(soc_slice_equal(frame.busy, soc_slice("ann\0bob", 8)));
        struct soc_slice item;
        CHECK_INT(frame.count, 2);
        CHECK(soc_frame_next(&frame.items, &item) && soc_slice_equal(item, SOC_SLICE("one")));
        CHECK(soc_frame_next(&frame.items, &item) && item.length == 0);
        CHECK(!soc_frame_next(&frame.items, &item));
        soc_buf_fini(&bytes);
    }
}

/* What a host with these keys says of a frame signed by `signer`. */
static int verdict(struct soc_frame_keys signer, struct soc_frame_keys reader)
{
    struct soc_buf bytes = {0};
    struct soc_frame frame;
    struct soc_detail detail = {{0}};
    put_sample(&bytes, &signer);
    int err = soc_frame_read(&frame, soc_buf_slice(&bytes), &reader, &detail);
    CHECK((err == SOC_OK) == (detail.text[0] == '\0'));
    CHECK(strstr(detail.text, "canary") == NULL);
    soc_buf_fini(&bytes);
    return err;
}

static void keys_are_rotated_without_a_refusal(void)
{
    struct soc_slice old = SOC_SLICE("canary-old");
    struct soc_slice new = SOC_SLICE("canary-new");
    struct soc_slice none = SOC_SLICE("");
    struct soc_frame_keys steps[] = {with_keys(old, none), with_keys(old, new), with_keys(new, old),
                                     with_keys(new, none)};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            CHECK_INT(verdict(steps[i], steps[k]),
                      (i <= 1 && k == 3) || (i >= 2 && k == 0) ? SOC_EFORBIDDEN : SOC_OK);
    CHECK_INT(verdict(with_keys(none, none), steps[0]), SOC_EFORBIDDEN);
    CHECK_INT(verdict(steps[0], with_keys(none, none)), SOC_EFORBIDDEN);
}

static void a_frame_counts_for_its_own_stream_only(void)
{
    struct soc_frame_keys alpha = with_keys(SOC_SLICE("key"), SOC_SLICE(""));
    for (int i = 0; i < 3; i++) {
        struct soc_frame_keys other = alpha;
        *(i == 0 ? &other.society : i == 1 ? &other.sender : &other.receiver) = "other";
        CHECK_INT(verdict(alpha, other), SOC_EFORBIDDEN);
    }
}

static void changed_frames_are_refused(void)
{
    struct soc_frame_keys keys = with_keys(SOC_SLICE("key"), SOC_SLICE(""));
    struct soc_frame_keys open = with_keys(SOC_SLICE(""), SOC_SLICE(""));
    struct soc_buf sealed = {0};
    struct soc_buf plain = {0};
    struct soc_frame frame;
    struct soc_rng rng;
    soc_rng_init(&rng, 16);
    put_sample(&sealed, &keys);
    put_sample(&plain, &open);
    for (size_t length = 0; length < sealed.length; length++) {
        CHECK(soc_frame_read(&frame, soc_slice(sealed.data, length), &keys, NULL) != SOC_OK);
        CHECK(soc_frame_read(&frame, soc_slice(plain.data, length), &open, NULL) != SOC_OK);
    }
    for (int i = 0; i < ROUNDS; i++) {
        size_t at = soc_rng_below(&rng, sealed.length);
        char change = (char)(1 + soc_rng_below(&rng, 255));
        sealed.data[at] ^= change;
        CHECK(soc_frame_read(&frame, soc_buf_slice(&sealed), &keys, NULL) != SOC_OK);
        sealed.data[at] ^= change;
        /* Without a key nothing is promised but that it can be read safely. */
        plain.data[at] ^= change;
        if (soc_frame_read(&frame, soc_buf_slice(&plain), &open, NULL) == SOC_OK)
            CHECK(frame.count <= SOC_FRAME_ITEMS_MAX);
        plain.data[at] ^= change;
    }
    CHECK_INT(soc_frame_read(&frame, soc_buf_slice(&sealed), &keys, NULL), SOC_OK);
    soc_buf_fini(&sealed);
    soc_buf_fini(&plain);
}

int main(void)
{
    RUN(a_frame_is_read_as_it_was_written);
    RUN(keys_are_rotated_without_a_refusal);
    RUN(a_frame_counts_for_its_own_stream_only);
    RUN(changed_frames_are_refused);
    return check_done();
}

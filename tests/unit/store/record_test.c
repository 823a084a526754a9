#include "check.h"

#include "base/err.h"
#include "env/rng.h"
#include "store/fields.h"
#include "store/record.h"

#define TYPE_MAX 20

/* Fills a record of `type` with fields by chance. */
static void fill(struct soc_record *record, unsigned type, struct soc_rng *rng)
{
    static const char bytes[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const struct soc_fields *fields = soc_fields_of(type);
    char *at = soc_fields_at(record);
    memset(record, 0, sizeof(*record));
    record->type = (enum soc_record_type)type;
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++) {
        if (fields->items[i].is_text) {
            struct soc_slice text = soc_slice(bytes, soc_rng_below(rng, sizeof(bytes)));
            if (soc_rng_below(rng, 3) > 0)
                memcpy(at, &text, sizeof(text));
        } else {
            uint64_t number = soc_rng_next(rng) >> soc_rng_below(rng, 64);
            if (soc_rng_below(rng, 3) > 0)
                memcpy(at, &number, sizeof(number));
        }
    }
}

static bool is_same(struct soc_record *a, struct soc_record *b)
{
    if (a->type != b->type)
        return false;
    const struct soc_fields *fields = soc_fields_of(a->type);
    char *at_a = soc_fields_at(a);
    char *at_b = soc_fields_at(b);
    for (size_t i = 0; i < fields->count; i++) {
        size_t size = soc_fields_size(&fields->items[i]);
        if (fields->items[i].is_text) {
            const struct soc_slice *text_a = (const void *)at_a;
            const struct soc_slice *text_b = (const void *)at_b;
            if ((text_a->data == NULL) != (text_b->data == NULL) ||
                !soc_slice_equal(*text_a, *text_b))
                return false;
        } else if (memcmp(at_a, at_b, size) != 0) {
            return false;
        }
        at_a += size;
        at_b += size;
    }
    return true;
}

static void every_record_reads_back_as_it_was_written(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 1);
    struct soc_buf batch = {0};
    struct soc_record records[200];
    for (int round = 0; round < 100; round++) {
        batch.length = 0;
        for (unsigned i = 0; i < 200; i++) {
            fill(&records[i], i % 19 == 18 ? SOC_RECORD_TASK : 1 + i % 19, &rng);
            soc_record_put(&batch, &records[i]);
        }
        struct soc_slice rest = soc_buf_slice(&batch);
        struct soc_record record;
        for (unsigned i = 0; i < 200; i++) {
            CHECK_INT(soc_record_next(&rest, &record), 1);
            CHECK(is_same(&record, &records[i]));
        }
        CHECK_INT(soc_record_next(&rest, &record), 0);
    }
    soc_buf_fini(&batch);
}

static void absent_and_empty_texts_differ(void)
{
    struct soc_buf batch = {0};
    struct soc_record record = {.type = SOC_RECORD_META, .meta.name = SOC_SLICE("")};
    soc_record_put(&batch, &record);
    struct soc_slice rest = soc_buf_slice(&batch);
    CHECK_INT(soc_record_next(&rest, &record), 1);
    CHECK(record.meta.name.data != NULL && record.meta.name.length == 0);
    CHECK(record.meta.value.data == NULL);
    soc_buf_fini(&batch);
}

static void what_is_absent_takes_no_room(void)
{
    struct soc_buf batch = {0};
    struct soc_record record = {.type = SOC_RECORD_MESSAGE, .message.key = 7};
    soc_record_put(&batch, &record);
    CHECK_INT(batch.length, 4); /* type, length, mask, key */
    soc_buf_fini(&batch);
}

static void a_batch_cut_anywhere_is_refused(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 2);
    for (unsigned type = 1; type <= TYPE_MAX; type++) {
        struct soc_buf batch = {0};
        struct soc_record record;
        fill(&record, type, &rng);
        soc_record_put(&batch, &record);
        for (size_t length = 1; length < batch.length; length++) {
            /* A copy of its own, so that a sanitizer sees a read behind it. */
            char *bytes = malloc(length);
            memcpy(bytes, batch.data, length);
            struct soc_slice rest = soc_slice(bytes, length);
            CHECK_INT(soc_record_next(&rest, &record), SOC_ECORRUPT);
            free(bytes);
        }
        soc_buf_fini(&batch);
    }
}

static void bytes_that_are_no_record_are_refused(void)
{
    struct soc_record record;
    struct soc_slice unknown_type = soc_slice("\xf0\x01\x00", 3);
    struct soc_slice unknown_field = soc_slice("\x10\x02\x02\x07", 4);
    struct soc_slice long_number =
        soc_slice("\x10\x0c\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 13);
    struct soc_slice bytes_left = soc_slice("\x10\x03\x01\x07\x07", 5);
    CHECK_INT(soc_record_next(&unknown_type, &record), SOC_ECORRUPT);
    CHECK_INT(soc_record_next(&unknown_field, &record), SOC_ECORRUPT);
    CHECK_INT(soc_record_next(&long_number, &record), SOC_ECORRUPT);
    CHECK_INT(soc_record_next(&bytes_left, &record), SOC_ECORRUPT);
}

static void bytes_by_chance_never_lead_outside(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 3);
    for (int round = 0; round < 20000; round++) {
        size_t length = 1 + soc_rng_below(&rng, 40);
        char *bytes = malloc(length);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)soc_rng_below(&rng, i == 0 ? 20 : 256);
        struct soc_slice rest = soc_slice(bytes, length);
        struct soc_record record;
        int rc;
        while ((rc = soc_record_next(&rest, &record)) > 0)
            CHECK(rest.data <= bytes + length);
        CHECK(rc == 0 || rc == SOC_ECORRUPT);
        free(bytes);
    }
}

static void a_record_can_be_shown_as_json(void)
{
    struct soc_buf out = {0};
    struct soc_record record = {.type = SOC_RECORD_MESSAGE_END,
                                .message_end = {.key = 5,
                                                .time_ms = 1767225600000,
                                                .outcome = SOC_OUTCOME_DEAD,
                                                .reason = SOC_SLICE("a \"reason\"")}};
    soc_fields_put_json(&out, &record);
    CHECK_TEXT(soc_buf_text(&out), "{\"record\":\"message_end\",\"key\":5,"
                                   "\"time_ms\":1767225600000,\"outcome\":3,"
                                   "\"reason\":\"a \\\"reason\\\"\"}");
    soc_buf_fini(&out);
}

int main(void)
{
    RUN(every_record_reads_back_as_it_was_written);
    RUN(absent_and_empty_texts_differ);
    RUN(what_is_absent_takes_no_room);
    RUN(a_batch_cut_anywhere_is_refused);
    RUN(bytes_that_are_no_record_are_refused);
    RUN(bytes_by_chance_never_lead_outside);
    RUN(a_record_can_be_shown_as_json);
    return check_done();
}

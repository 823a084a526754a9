/* Covers: core/store/fields.c */
#include "check.h"

#include "base/err.h"
#include "env/rng.h"
#include "store/fields.h"
#include "store/record.h"

/* Every type of record. */
static const unsigned types[] = {
#define R(tag, name, value) SOC_RECORD_##tag,
    SOC_RECORD_MAP(R)
#undef R
};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

/* Records as stored, which never changes: type, name and fields in order, numbers marked
 * by a `#`. A new type gets a line here, a new field comes last in its line. */
static const struct {
    unsigned type;
    const char *name;
    const char *fields;
} stored[] = {
    {1, "role", "time_ms# id name prompt behaviour interface_spec creator is_isolated#"},
    {2, "agent", "time_ms# id role parent brief is_adopted# since# is_external# is_isolated#"},
    {3, "agent_end", "time_ms# id reason parent"},
    {4, "state", "agent state"},
    {5, "contact",
     "time_ms# source# owner id role interface_spec introduced_by via reason usage_hint "
     "has_written#"},
    {6, "contact_end", "owner id time_ms#"},
    {7, "message",
     "key# time_ms# priority# flags# attempt# hops# reply_to# expires_ms# deliver_at_ms# "
     "deadline_ms# from to type payload task_id correlation_id external_id dedupe_key traceparent "
     "reply_to_ms# cause# foreign_id foreign_reply"},
    {8, "message_end", "key# time_ms# outcome# reason"},
    {9, "message_again", "key# time_ms# attempt# deliver_at_ms#"},
    {10, "take", "key# agent"},
    {11, "activation", "key# time_ms# retries# agent"},
    {12, "effect", "index# hash# agent kind answer wait arguments"},
    {13, "answer", "index# agent answer"},
    {14, "activation_end", "agent"},
    {15, "output", "key# time_ms# agent stream text"},
    {16, "output_end", "key#"},
    {17, "event", "time_ms# event agent task_id correlation_id detail key#"},
    {18, "meta", "name value"},
    {19, "introduction",
     "key# time_ms# for_key# flags# consent# question# deadline_ms# requester broker "
     "correlation_id reason asked found usage_hint via"},
    {20, "introduction_end", "key#"},
    {21, "agent_ending", "time_ms# id reason"},
    {22, "agent_parent", "time_ms# id parent"},
    {24, "item",
     "key# time_ms# priority# deadline_ms# agent title body options task_id correlation_id"},
    {25, "item_end", "key# time_ms# decision# changes comment choice"},
    {28, "task",
     "key# state# style# priority# alerts# tries# parent# opened_ms# started_ms# ended_ms# "
     "deadline_ms# limit_ms# id assigner owner correlation_id reason"},
    {32, "broadcast_end", "key# time_ms# outcome# agent"},
    {33, "barrier", "key# time_ms# deadline_ms# owner"},
    {34, "seat", "key# question# asked_ms# state# agent payload"},
    {35, "barrier_end", "key#"},
    {40, "standing", "time_ms# hold# guards# births# id"},
    {44, "sent_key", "since_ms# key# sent_ms# text"},
    {45, "sent_keys_end", "until_ms# is_of_queries#"},
    {46, "receipt", "key# time_ms# attempt# ack#"},
    {47, "position", "name value"},
    {48, "call_key", "number# time_ms# body# text answer"},
    {49, "call_keys_end", "number#"},
    {56, "source", "hash text"},
    {57, "history", "time_ms# key# checksum# what agent detail"},
    {58, "history_end", "time_ms#"},
    {60, "memory", "number# time_ms# agent entry"},
    {61, "usage", "calls# input_tokens# output_tokens# cost_micros# agent task_id model time_ms#"},
    {64, "link", "last# acked# taken# peer_epoch# epoch# peer own_id peer_id"},
    {65, "link_items", "first# count# peer keys"},
};

static void records_are_stored_as_they_always_were(void)
{
    struct soc_buf text = {0};
    CHECK_INT(TYPE_COUNT, sizeof(stored) / sizeof(stored[0]));
    for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++) {
        const struct soc_fields *fields = soc_fields_of(stored[i].type);
        if (!CHECK(fields != NULL))
            continue;
        text.length = 0;
        for (size_t k = 0; k < fields->count; k++)
            soc_buf_printf(&text, "%s%s%s", k == 0 ? "" : " ", fields->items[k].name,
                           fields->items[k].is_text ? "" : "#");
        CHECK_TEXT(fields->name, stored[i].name);
        CHECK_TEXT(soc_buf_text(&text), stored[i].fields);
    }
    soc_buf_fini(&text);
}

/* Fills a record of `type` with random fields. */
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
    struct soc_record records[5 * TYPE_COUNT];
    for (int round = 0; round < 100; round++) {
        batch.length = 0;
        for (size_t i = 0; i < 5 * TYPE_COUNT; i++) {
            fill(&records[i], types[i % TYPE_COUNT], &rng);
            soc_record_put(&batch, &records[i]);
        }
        struct soc_slice rest = soc_buf_slice(&batch);
        struct soc_record record;
        for (size_t i = 0; i < 5 * TYPE_COUNT; i++) {
            CHECK_INT(soc_record_next(&rest, &record), 1);
            CHECK(is_same(&record, &records[i]));
        }
        CHECK_INT(soc_record_next(&rest, &record), 0);
    }
    soc_buf_fini(&batch);
}

/* Every field by itself, so that none is written where another is read. */
static void every_field_alone_reads_back(void)
{
    struct soc_buf batch = {0};
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        const struct soc_fields *fields = soc_fields_of(types[i]);
        for (size_t k = 0; k < fields->count; k++) {
            struct soc_record record = {.type = (enum soc_record_type)types[i]};
            struct soc_record read;
            char *at = soc_fields_at(&record);
            struct soc_slice text = soc_slice_text(fields->items[k].name);
            uint64_t number = UINT64_MAX - k;
            for (size_t before = 0; before < k; before++)
                at += soc_fields_size(&fields->items[before]);
            memcpy(at, fields->items[k].is_text ? (void *)&text : (void *)&number,
                   soc_fields_size(&fields->items[k]));
            batch.length = 0;
            soc_record_put(&batch, &record);
            struct soc_slice rest = soc_buf_slice(&batch);
            CHECK_INT(soc_record_next(&rest, &read), 1);
            CHECK(is_same(&record, &read));
        }
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

static void absent_fields_take_no_space(void)
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
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        struct soc_buf batch = {0};
        struct soc_record record;
        fill(&record, types[i], &rng);
        soc_record_put(&batch, &record);
        for (size_t length = 1; length < batch.length; length++) {
            /* A copy, so that a sanitizer notices a read past its end. */
            char *bytes = malloc(length);
            memcpy(bytes, batch.data, length);
            struct soc_slice rest = soc_slice(bytes, length);
            CHECK_INT(soc_record_next(&rest, &record), SOC_ECORRUPT);
            free(bytes);
        }
        soc_buf_fini(&batch);
    }
}

static void bytes_that_are_not_a_record_are_refused(void)
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

static void random_bytes_are_never_read_past_their_end(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 3);
    for (int round = 0; round < 20000; round++) {
        size_t length = 1 + soc_rng_below(&rng, 40);
        char *bytes = malloc(length);
        for (size_t i = 0; i < length; i++)
            bytes[i] = i == 0 ? (char)types[soc_rng_below(&rng, TYPE_COUNT)]
                              : (char)soc_rng_below(&rng, 256);
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
    RUN(records_are_stored_as_they_always_were);
    RUN(every_record_reads_back_as_it_was_written);
    RUN(every_field_alone_reads_back);
    RUN(absent_and_empty_texts_differ);
    RUN(absent_fields_take_no_space);
    RUN(a_batch_cut_anywhere_is_refused);
    RUN(bytes_that_are_not_a_record_are_refused);
    RUN(random_bytes_are_never_read_past_their_end);
    RUN(a_record_can_be_shown_as_json);
    return check_done();
}

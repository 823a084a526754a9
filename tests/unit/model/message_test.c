#include "model/message.h"

#include "check.h"
#include "env/rng.h"

/* A message that differs from others by its key alone. */
static struct soc_message *mail(uint64_t key)
{
    struct soc_message_draft draft = {.key = key, .payload = SOC_SLICE("{}")};
    return soc_message_new(&draft);
}

static void a_message_is_a_copy_of_its_draft(void)
{
    char payload[] = "{\"text\":\"hello\"}";
    struct soc_intern types = {0};
    struct soc_message_draft draft = {
        .key = 7,
        .time_ms = 1000,
        .type = soc_intern(&types, SOC_SLICE("general")),
        .reply_to = 5,
        .reply_to_ms = 900,
        .expires_ms = 2000,
        .deliver_at_ms = 1500,
        .deadline_ms = 3000,
        .priority = SOC_PRIORITY_HIGH,
        .flags = 3,
        .attempt = 2,
        .hops = 4,
        .payload = soc_slice_text(payload),
    };
    struct soc_message *message = soc_message_new(&draft);
    memset(payload, 'x', sizeof(payload) - 1);
    struct soc_slice copy = soc_message_payload(message);
    CHECK_BYTES(copy.data, copy.length, "{\"text\":\"hello\"}");
    CHECK_INT(message->key, 7);
    CHECK_INT(message->time_ms, 1000);
    CHECK(message->type == draft.type);
    CHECK_INT(message->reply_to, 5);
    CHECK_INT(message->reply_to_ms, 900);
    CHECK_INT(message->expires_ms, 2000);
    CHECK_INT(message->deliver_at_ms, 1500);
    CHECK_INT(message->deadline_ms, 3000);
    CHECK_INT(message->priority, SOC_PRIORITY_HIGH);
    CHECK_INT(message->flags, 3);
    CHECK_INT(message->attempt, 2);
    CHECK_INT(message->hops, 4);
    CHECK(message->previous == NULL && message->next == NULL && !message->is_queued);
    CHECK(!soc_heap_has(&message->timer) && message->script_mark == 0);
    soc_message_free(message);
    soc_intern_fini(&types);
}

/* Every combination of texts that are there and texts that are not. */
static void each_text_is_found_whichever_others_exist(void)
{
    static const char *const texts[SOC_TEXT_COUNT] = {"task", "chain", "outside", "once", "00-ab"};
    for (int mask = 0; mask < 1 << SOC_TEXT_COUNT; mask++) {
        struct soc_message_draft draft = {.key = 1, .payload = SOC_SLICE("[1]")};
        for (int i = 0; i < SOC_TEXT_COUNT; i++)
            if (mask & 1 << i)
                draft.texts[i] = soc_slice_text(texts[i]);
        struct soc_message *message = soc_message_new(&draft);
        for (int i = 0; i < SOC_TEXT_COUNT; i++) {
            struct soc_slice text = soc_message_text(message, (enum soc_message_text)i);
            CHECK_BYTES(text.data, text.length, mask & 1 << i ? texts[i] : NULL);
        }
        struct soc_slice payload = soc_message_payload(message);
        CHECK_BYTES(payload.data, payload.length, "[1]");
        soc_message_free(message);
    }
}

static void null_can_be_freed(void)
{
    soc_message_free(NULL);
}

static void priorities_are_parsed_as_words_and_numbers(void)
{
    static const char *const names[] = {"urgent", "high", "normal", "low"};
    static const char *const codes[] = {"P0", "P1", "P2", "P3"};
    for (int i = 0; i < SOC_PRIORITY_COUNT; i++) {
        enum soc_priority priority = SOC_PRIORITY_COUNT;
        CHECK_TEXT(soc_priority_name((enum soc_priority)i), names[i]);
        CHECK(soc_priority_parse(soc_slice_text(names[i]), &priority));
        CHECK_INT(priority, i);
        priority = SOC_PRIORITY_COUNT;
        CHECK(soc_priority_parse(soc_slice_text(codes[i]), &priority));
        CHECK_INT(priority, i);
    }
}

static void an_invalid_priority_is_refused_and_changes_nothing(void)
{
    static const char *const wrong[] = {"",   "P",      "P4",      "P00",  "p0",
                                        "P/", "Urgent", "urgent ", "lo\n", "medium"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        enum soc_priority priority = SOC_PRIORITY_LOW;
        if (!CHECK(!soc_priority_parse(soc_slice_text(wrong[i]), &priority)))
            printf("# taken: %s\n", wrong[i]);
        CHECK_INT(priority, SOC_PRIORITY_LOW);
    }
    enum soc_priority priority;
    CHECK(!soc_priority_parse((struct soc_slice){0}, &priority));
}

static void a_list_returns_messages_in_order(void)
{
    struct soc_message_list list = {0};
    CHECK(soc_message_list_pop(&list) == NULL);
    struct soc_message *messages[3];
    for (uint64_t i = 0; i < 3; i++)
        messages[i] = mail(i);
    soc_message_list_push(&list, messages[1]);
    soc_message_list_push(&list, messages[2]);
    soc_message_list_push_first(&list, messages[0]);
    CHECK_INT(list.count, 3);
    for (int i = 0; i < 3; i++) {
        CHECK(soc_message_list_pop(&list) == messages[i]);
        CHECK(messages[i]->previous == NULL && messages[i]->next == NULL);
        soc_message_free(messages[i]);
    }
    CHECK(list.first == NULL && list.last == NULL && list.count == 0);
}

static void messages_can_be_removed_at_either_end_and_in_the_middle(void)
{
    for (int out = 0; out < 3; out++) {
        struct soc_message_list list = {0};
        struct soc_message *messages[3];
        for (uint64_t i = 0; i < 3; i++)
            soc_message_list_push(&list, messages[i] = mail(i));
        soc_message_list_remove(&list, messages[out]);
        CHECK_INT(list.count, 2);
        CHECK(list.first == messages[out == 0 ? 1 : 0]);
        CHECK(list.last == messages[out == 2 ? 1 : 2]);
        CHECK(list.first->next == list.last && list.last->previous == list.first);
        CHECK(list.first->previous == NULL && list.last->next == NULL);
        soc_message_list_push(&list, messages[out]);
        CHECK(list.last == messages[out]);
        for (struct soc_message *m; (m = soc_message_list_pop(&list)) != NULL;)
            soc_message_free(m);
    }
}

/* Compares a list with an array through many random changes. */
static void a_list_agrees_with_an_array(void)
{
    enum { COUNT = 40 };
    struct soc_message *all[COUNT], *order[COUNT];
    bool is_in[COUNT] = {0};
    size_t count = 0;
    struct soc_message_list list = {0};
    struct soc_rng rng;
    soc_rng_init(&rng, 11);
    for (uint64_t i = 0; i < COUNT; i++)
        all[i] = mail(i);
    for (int step = 0; step < 20000; step++) {
        size_t which = (size_t)soc_rng_below(&rng, COUNT);
        if (is_in[which]) {
            size_t at = 0;
            while (order[at] != all[which])
                at++;
            memmove(order + at, order + at + 1, (--count - at) * sizeof(*order));
            soc_message_list_remove(&list, all[which]);
        } else if (soc_rng_below(&rng, 2) == 0) {
            order[count++] = all[which];
            soc_message_list_push(&list, all[which]);
        } else {
            memmove(order + 1, order, count++ * sizeof(*order));
            order[0] = all[which];
            soc_message_list_push_first(&list, all[which]);
        }
        is_in[which] = !is_in[which];
        const struct soc_message *forward = list.first, *backward = list.last;
        for (size_t i = 0; i < count; i++) {
            CHECK(forward == order[i] && backward == order[count - 1 - i]);
            forward = forward->next;
            backward = backward->previous;
        }
        CHECK(forward == NULL && backward == NULL && list.count == count);
    }
    for (int i = 0; i < COUNT; i++)
        soc_message_free(all[i]);
}

int main(void)
{
    RUN(a_message_is_a_copy_of_its_draft);
    RUN(each_text_is_found_whichever_others_exist);
    RUN(null_can_be_freed);
    RUN(priorities_are_parsed_as_words_and_numbers);
    RUN(an_invalid_priority_is_refused_and_changes_nothing);
    RUN(a_list_returns_messages_in_order);
    RUN(messages_can_be_removed_at_either_end_and_in_the_middle);
    RUN(a_list_agrees_with_an_array);
    return check_done();
}

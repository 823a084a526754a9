#include "model/activation.h"

#include "check.h"

static const char *answer_text(const struct soc_activation *activation, uint32_t index)
{
    static char text[256];
    struct soc_slice answer = soc_activation_answer_of(activation, index);
    if (answer.data == NULL)
        return NULL;
    snprintf(text, sizeof(text), "%.*s", (int)answer.length, answer.data);
    return text;
}

static void effects_are_numbered_and_answered_in_any_order(void)
{
    struct soc_activation *activation = soc_activation_new();
    CHECK_INT(soc_activation_add(activation, SOC_EFFECT_SEND, 11), 0);
    CHECK_INT(soc_activation_add(activation, SOC_EFFECT_SLEEP, 22), 1);
    CHECK_INT(soc_activation_add(activation, SOC_EFFECT_NOW, 33), 2);
    CHECK(answer_text(activation, 0) == NULL);
    soc_activation_answer(activation, 2, SOC_SLICE("[3]"));
    soc_activation_answer(activation, 0, SOC_SLICE("[{\"a\":1}]"));
    CHECK_TEXT(answer_text(activation, 0), "[{\"a\":1}]");
    CHECK(answer_text(activation, 1) == NULL);
    CHECK_TEXT(answer_text(activation, 2), "[3]");
    soc_activation_answer(activation, 1, SOC_SLICE("[]"));
    CHECK_TEXT(answer_text(activation, 1), "[]");
    CHECK_INT(activation->effects[1].hash, 22);
    CHECK_INT(activation->effects[1].kind, SOC_EFFECT_SLEEP);
    soc_activation_free(activation);
    soc_activation_free(NULL);
}

static void many_effects_keep_their_answers(void)
{
    enum { COUNT = 3000 };
    struct soc_activation *activation = soc_activation_new();
    struct soc_buf text = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        text.length = 0;
        soc_buf_printf(&text, "[%u]", i * 7);
        CHECK_INT(soc_activation_add(activation, SOC_EFFECT_RANDOM, i), i);
        soc_activation_answer(activation, i, soc_buf_slice(&text));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        text.length = 0;
        soc_buf_printf(&text, "[%u]", i * 7);
        CHECK_TEXT(answer_text(activation, i), soc_buf_text(&text));
    }
    soc_buf_fini(&text);
    soc_activation_free(activation);
}

static void a_rolled_back_turn_forgets_only_its_own_effects(void)
{
    struct soc_activation *activation = soc_activation_new();
    soc_activation_add(activation, SOC_EFFECT_NOW, 1);
    soc_activation_answer(activation, 0, SOC_SLICE("[1]"));
    activation->cursor = 1;
    soc_activation_keep(activation);
    CHECK_INT(activation->effects_kept, 1);
    CHECK_INT(activation->answers_kept, 3);
    soc_activation_add(activation, SOC_EFFECT_SEND, 2);
    soc_activation_answer(activation, 1, SOC_SLICE("[22]"));
    soc_activation_add(activation, SOC_EFFECT_SLEEP, 3);
    activation->cursor = 3;
    activation->has_replied = true;
    soc_activation_rewind(activation);
    CHECK_INT(activation->effects_count, 1);
    CHECK_INT(activation->answers.length, 3);
    CHECK_INT(activation->cursor, 0);
    CHECK(!activation->has_replied);
    CHECK_TEXT(answer_text(activation, 0), "[1]");
    CHECK_INT(soc_activation_add(activation, SOC_EFFECT_PRINT, 4), 1);
    CHECK(answer_text(activation, 1) == NULL);
    soc_activation_answer(activation, 1, SOC_SLICE("[4]"));
    CHECK_TEXT(answer_text(activation, 1), "[4]");
    soc_activation_free(activation);
}

static void the_result_of_a_wait_is_kept_with_its_effect(void)
{
    struct soc_activation *activation = soc_activation_new();
    soc_activation_add(activation, SOC_EFFECT_SLEEP, 1);
    soc_activation_keep(activation);
    soc_activation_answer(activation, 0, SOC_SLICE("[]"));
    soc_activation_keep(activation);
    soc_activation_rewind(activation);
    CHECK_TEXT(answer_text(activation, 0), "[]");
    soc_activation_free(activation);
}

static void taken_messages_count_as_kept(void)
{
    struct soc_activation *activation = soc_activation_new();
    struct soc_message_draft draft = {.key = 1, .payload = SOC_SLICE("{}")};
    soc_message_list_push(&activation->taken, soc_message_new(&draft));
    soc_activation_keep(activation);
    CHECK_INT(activation->taken_kept, 1);
    soc_activation_rewind(activation);
    CHECK_INT(activation->taken.count, 1);
    soc_message_free(soc_message_list_pop(&activation->taken));
    soc_activation_free(activation);
}

static void a_reset_activation_is_new_but_keeps_its_memory(void)
{
    struct soc_activation *activation = soc_activation_new();
    for (uint32_t i = 0; i < 10; i++) {
        soc_activation_add(activation, SOC_EFFECT_NOW, i);
        soc_activation_answer(activation, i, SOC_SLICE("[1]"));
    }
    soc_activation_keep(activation);
    activation->retries = 2;
    activation->state = SOC_ACTIVATION_WAITING;
    activation->wait.kind = SOC_WAIT_SLEEP;
    activation->is_stored = activation->has_replied = true;
    uint32_t room = activation->effects_capacity;
    soc_activation_reset(activation);
    CHECK_INT(activation->effects_capacity, room);
    CHECK_INT(activation->effects_count + activation->effects_kept + activation->cursor, 0);
    CHECK_INT(activation->answers.length + activation->answers_kept, 0);
    CHECK_INT(activation->retries, 0);
    CHECK_INT(activation->state, SOC_ACTIVATION_READY);
    CHECK_INT(activation->wait.kind, SOC_WAIT_NONE);
    CHECK(!activation->is_stored && !activation->has_replied);
    CHECK_INT(soc_activation_add(activation, SOC_EFFECT_LOOK, 1), 0);
    CHECK(answer_text(activation, 0) == NULL);
    soc_activation_free(activation);
}

static void a_reset_frees_large_results(void)
{
    struct soc_activation *activation = soc_activation_new();
    static char large[1 << 20];
    memset(large, ' ', sizeof(large));
    soc_activation_add(activation, SOC_EFFECT_REQUEST, 1);
    soc_activation_answer(activation, 0, soc_slice(large, sizeof(large)));
    CHECK_INT(soc_activation_answer_of(activation, 0).length, sizeof(large));
    soc_activation_reset(activation);
    CHECK_INT(activation->answers.capacity, 0);
    soc_activation_free(activation);
}

/* They are stored: a name may be added and none may change. */
static void an_effect_fits_the_hash_of_this_version_and_of_older_ones(void)
{
    const struct soc_effect effect = {.kind = SOC_EFFECT_REQUEST, .hash = 7};
    CHECK(soc_effect_fits(&effect, SOC_EFFECT_REQUEST, (struct soc_effect_hash){7, 8}));
    CHECK(soc_effect_fits(&effect, SOC_EFFECT_REQUEST, (struct soc_effect_hash){8, 7}));
    CHECK(!soc_effect_fits(&effect, SOC_EFFECT_REQUEST, (struct soc_effect_hash){8, 9}));
    CHECK(!soc_effect_fits(&effect, SOC_EFFECT_RECEIVE, (struct soc_effect_hash){7, 7}));
}

static void effect_names_never_change(void)
{
    static const char *const names[] = {
        "send",           "reply",    "request", "receive", "sleep",    "spawn",
        "create_role",    "contacts", "contact", "knows",   "can_send", "add_contact",
        "remove_contact", "now",      "random",  "print",   "log",      "look"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        enum soc_effect_kind kind = SOC_EFFECT_COUNT;
        if (CHECK(soc_effect_parse(soc_slice_text(names[i]), &kind)))
            CHECK_TEXT(soc_effect_name(kind), names[i]);
    }
    for (int i = 0; i < SOC_EFFECT_COUNT; i++) {
        enum soc_effect_kind kind = SOC_EFFECT_COUNT;
        CHECK(soc_effect_parse(soc_slice_text(soc_effect_name((enum soc_effect_kind)i)), &kind));
        CHECK_INT(kind, i);
    }
    enum soc_effect_kind kind = SOC_EFFECT_COUNT;
    CHECK(!soc_effect_parse(SOC_SLICE("Send"), &kind));
    CHECK(!soc_effect_parse(SOC_SLICE(""), &kind));
    CHECK(!soc_effect_parse(SOC_SLICE("sends"), &kind));
    CHECK_INT(kind, SOC_EFFECT_COUNT);
}

static void a_message_can_be_the_result_before_it_is_encoded(void)
{
    struct soc_activation *activation = soc_activation_new();
    uint32_t index = soc_activation_add(activation, SOC_EFFECT_SEND, 7);
    CHECK(!soc_activation_is_answered(activation, index));
    soc_activation_answer_sent(activation, index, 12, 1000);
    CHECK(soc_activation_is_answered(activation, index));
    CHECK(soc_activation_answer_of(activation, index).data == NULL);
    soc_activation_answer(activation, index, SOC_SLICE("[1]"));
    CHECK(soc_activation_is_answered(activation, index));
    CHECK_INT(soc_activation_answer_of(activation, index).length, 3);
    soc_activation_free(activation);
}

/* Adds an effect with its answer, as an earlier run recorded it. */
static void record(struct soc_activation *activation, enum soc_effect_kind kind, uint64_t hash)
{
    soc_activation_answer(activation, soc_activation_add(activation, kind, hash), SOC_SLICE("[1]"));
}

static enum soc_aside pass(struct soc_activation *activation, enum soc_effect_kind kind,
                           uint64_t hash)
{
    struct soc_slice answer = {0};
    enum soc_aside aside = soc_activation_pass_aside(activation, kind, hash, &answer);
    CHECK((answer.data != NULL) == (aside == SOC_ASIDE_RECORDED));
    return aside;
}

static void lines_are_passed_by_number_and_happen_only_behind_the_record(void)
{
    struct soc_activation *activation = soc_activation_new();
    record(activation, SOC_EFFECT_PRINT, 1);
    record(activation, SOC_EFFECT_SEND, 2);
    record(activation, SOC_EFFECT_LOG, 3);
    CHECK_INT(soc_activation_next(activation), 1);
    CHECK_INT(pass(activation, SOC_EFFECT_LOG, 9), SOC_ASIDE_RECORDED);
    CHECK_INT(pass(activation, SOC_EFFECT_PRINT, 9), SOC_ASIDE_PASSED);
    CHECK_INT(soc_activation_next(activation), 1);
    activation->cursor = 2; /* the script has repeated the send */
    CHECK_INT(soc_activation_next(activation), 3);
    CHECK_INT(pass(activation, SOC_EFFECT_PRINT, 9), SOC_ASIDE_RECORDED);
    CHECK_INT(pass(activation, SOC_EFFECT_PRINT, 9), SOC_ASIDE_NEW);
    CHECK_INT(activation->cursor, 3);
    soc_activation_free(activation);
}

static void a_version_is_the_same_in_all_of_an_activation(void)
{
    struct soc_activation *activation = soc_activation_new();
    record(activation, SOC_EFFECT_VERSION, 7);
    record(activation, SOC_EFFECT_SEND, 2);
    activation->cursor = 2;
    CHECK_INT(pass(activation, SOC_EFFECT_VERSION, 7), SOC_ASIDE_RECORDED);
    CHECK_INT(pass(activation, SOC_EFFECT_VERSION, 8), SOC_ASIDE_NEW);
    soc_activation_restart(activation);
    CHECK_INT(pass(activation, SOC_EFFECT_VERSION, 8), SOC_ASIDE_PASSED);
    activation->cursor = 2;
    CHECK_INT(pass(activation, SOC_EFFECT_VERSION, 8), SOC_ASIDE_PASSED);
    soc_activation_restart(activation);
    activation->cursor = 2;
    CHECK_INT(pass(activation, SOC_EFFECT_VERSION, 8), SOC_ASIDE_NEW);
    soc_activation_free(activation);
}

int main(void)
{
    RUN(effects_are_numbered_and_answered_in_any_order);
    RUN(many_effects_keep_their_answers);
    RUN(a_rolled_back_turn_forgets_only_its_own_effects);
    RUN(the_result_of_a_wait_is_kept_with_its_effect);
    RUN(taken_messages_count_as_kept);
    RUN(a_reset_activation_is_new_but_keeps_its_memory);
    RUN(a_reset_frees_large_results);
    RUN(an_effect_fits_the_hash_of_this_version_and_of_older_ones);
    RUN(effect_names_never_change);
    RUN(a_message_can_be_the_result_before_it_is_encoded);
    RUN(lines_are_passed_by_number_and_happen_only_behind_the_record);
    RUN(a_version_is_the_same_in_all_of_an_activation);
    return check_done();
}

#include "model/mailbox.h"

#include "check.h"
#include "env/rng.h"
#include "model/agent.h"

static struct soc_message *mail(uint64_t key, enum soc_priority priority)
{
    struct soc_message_draft draft = {
        .key = key, .time_ms = 1000, .priority = (uint8_t)priority, .payload = SOC_SLICE("{}")};
    return soc_message_new(&draft);
}

/* Empties the box; lends the keys in order, as text, until the next call. */
static const char *drain(struct soc_mailbox *box)
{
    static char text[256];
    size_t length = 0;
    text[0] = '\0';
    for (struct soc_message *m; (m = soc_mailbox_pop(box)) != NULL; soc_message_free(m))
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
                                   length > 0 ? " " : "", (int)m->key);
    return text;
}

static void an_empty_mailbox_returns_nothing(void)
{
    struct soc_mailbox box = {0};
    CHECK(soc_mailbox_pop(&box) == NULL);
    CHECK(soc_mailbox_find(&box, (struct soc_mail_filter){0}) == NULL);
    CHECK_INT(soc_mailbox_count(&box), 0);
}

static void messages_leave_by_priority_then_in_order(void)
{
    struct soc_mailbox box = {0};
    soc_mailbox_push(&box, mail(1, SOC_PRIORITY_LOW));
    soc_mailbox_push(&box, mail(2, SOC_PRIORITY_NORMAL));
    soc_mailbox_push(&box, mail(3, SOC_PRIORITY_URGENT));
    soc_mailbox_push(&box, mail(4, SOC_PRIORITY_NORMAL));
    soc_mailbox_push(&box, mail(5, SOC_PRIORITY_HIGH));
    soc_mailbox_push(&box, mail(6, SOC_PRIORITY_URGENT));
    CHECK_INT(soc_mailbox_count(&box), 6);
    CHECK_TEXT(drain(&box), "3 6 5 2 4 1");
    CHECK_INT(soc_mailbox_count(&box), 0);
}

static void messages_are_ordered_by_due_time_not_by_key(void)
{
    struct soc_mailbox box = {0};
    soc_mailbox_push(&box, mail(9, SOC_PRIORITY_NORMAL));
    soc_mailbox_push(&box, mail(2, SOC_PRIORITY_NORMAL));
    CHECK_TEXT(drain(&box), "9 2");
}

static void a_returned_message_comes_first_in_its_priority(void)
{
    struct soc_mailbox box = {0};
    soc_mailbox_push(&box, mail(1, SOC_PRIORITY_NORMAL));
    soc_mailbox_push(&box, mail(2, SOC_PRIORITY_HIGH));
    soc_mailbox_push_first(&box, mail(3, SOC_PRIORITY_NORMAL));
    CHECK_TEXT(drain(&box), "2 3 1");
}

static void a_message_knows_whether_it_is_queued(void)
{
    struct soc_mailbox box = {0};
    struct soc_message *message = mail(1, SOC_PRIORITY_NORMAL);
    soc_mailbox_push(&box, message);
    CHECK(message->is_queued);
    CHECK(soc_mailbox_pop(&box) == message && !message->is_queued);
    soc_mailbox_push_first(&box, message);
    CHECK(message->is_queued);
    soc_mailbox_remove(&box, message);
    CHECK(!message->is_queued);
    soc_mailbox_put_back(&box, message);
    CHECK(message->is_queued);
    soc_mailbox_remove(&box, message);
    soc_message_free(message);
}

static void a_taken_message_goes_back_to_its_place(void)
{
    for (uint64_t out = 1; out <= 5; out++) {
        struct soc_mailbox box = {0};
        struct soc_message *taken = NULL;
        for (uint64_t key = 1; key <= 5; key++) {
            struct soc_message *message = mail(key, SOC_PRIORITY_NORMAL);
            soc_mailbox_push(&box, message);
            taken = key == out ? message : taken;
        }
        soc_mailbox_remove(&box, taken);
        CHECK_INT(soc_mailbox_count(&box), 4);
        soc_mailbox_put_back(&box, taken);
        CHECK_INT(soc_mailbox_count(&box), 5);
        CHECK_TEXT(drain(&box), "1 2 3 4 5");
    }
}

static void a_delayed_message_ages_from_its_delivery(void)
{
    struct soc_mailbox box = {0};
    struct soc_message *delayed = mail(1, SOC_PRIORITY_NORMAL);
    delayed->deliver_at_ms = 1500;
    soc_mailbox_push(&box, mail(2, SOC_PRIORITY_NORMAL));
    soc_mailbox_push(&box, delayed);
    soc_mailbox_remove(&box, delayed);
    soc_mailbox_put_back(&box, delayed);
    CHECK_TEXT(drain(&box), "2 1");
}

static void the_filter_matches_sender_and_type(void)
{
    struct soc_intern types = {0};
    const struct soc_symbol *type_a = soc_intern(&types, SOC_SLICE("a"));
    const struct soc_symbol *type_b = soc_intern(&types, SOC_SLICE("b"));
    struct soc_agent *ann = soc_agent_new(SOC_SLICE("ann"), NULL, NULL, 0);
    struct soc_agent *bob = soc_agent_new(SOC_SLICE("bob"), NULL, NULL, 0);
    struct soc_message *message = mail(1, SOC_PRIORITY_NORMAL);
    message->from = ann;
    message->type = type_a;
    CHECK(soc_mail_fits(message, (struct soc_mail_filter){0}));
    CHECK(soc_mail_fits(message, (struct soc_mail_filter){.from = ann}));
    CHECK(soc_mail_fits(message, (struct soc_mail_filter){.type = type_a}));
    CHECK(soc_mail_fits(message, (struct soc_mail_filter){ann, type_a}));
    CHECK(!soc_mail_fits(message, (struct soc_mail_filter){bob, type_a}));
    CHECK(!soc_mail_fits(message, (struct soc_mail_filter){ann, type_b}));
    message->from = NULL;
    CHECK(!soc_mail_fits(message, (struct soc_mail_filter){.from = ann}));
    CHECK(soc_mail_fits(message, (struct soc_mail_filter){.type = type_a}));
    soc_message_free(message);
    soc_agent_free(ann);
    soc_agent_free(bob);
    soc_intern_fini(&types);
}

/* The naive model: every message in the order it became due, searched whole. */
enum { MODEL_MAX = 64, SENDERS = 3, TYPES = 2 };

struct model {
    struct soc_mailbox box;
    struct soc_message *queued[MODEL_MAX]; /* in order of becoming due */
    size_t queued_count;
    struct soc_message *taken[MODEL_MAX]; /* out of the middle, may go back */
    size_t taken_count;
    struct soc_agent *senders[SENDERS];
    const struct soc_symbol *types[TYPES];
    uint64_t next_number; /* of becoming due */
    int64_t now_ms;
    struct soc_rng rng;
};

static struct soc_message *model_find(const struct model *model, struct soc_mail_filter filter)
{
    struct soc_message *best = NULL;
    for (size_t i = 0; i < model->queued_count; i++)
        if (soc_mail_fits(model->queued[i], filter) &&
            (best == NULL || model->queued[i]->priority < best->priority))
            best = model->queued[i];
    return best;
}

static void model_remove(struct model *model, const struct soc_message *message)
{
    size_t at = 0;
    while (model->queued[at] != message)
        at++;
    memmove(model->queued + at, model->queued + at + 1,
            (--model->queued_count - at) * sizeof(model->queued[0]));
}

/* Where it stood: before the first that became due later. */
static void model_put_back(struct model *model, struct soc_message *message)
{
    size_t at = 0;
    while (at < model->queued_count && model->queued[at]->script_mark < message->script_mark)
        at++;
    memmove(model->queued + at + 1, model->queued + at,
            (model->queued_count++ - at) * sizeof(model->queued[0]));
    model->queued[at] = message;
}

/* Messages become due in the order of their times; a delayed one, whose key is
 * older, comes before those sent in the same millisecond, as timers do.
 * `script_mark` serves as the number of becoming due. */
static void step_push(struct model *model)
{
    bool is_delayed = soc_rng_below(&model->rng, 4) == 0;
    uint64_t number = ++model->next_number;
    model->now_ms += is_delayed ? 1 : (int64_t)soc_rng_below(&model->rng, 2);
    struct soc_message *message =
        mail(is_delayed ? number * 2 - 21 : number * 2,
             (enum soc_priority)soc_rng_below(&model->rng, SOC_PRIORITY_COUNT));
    message->from = model->senders[soc_rng_below(&model->rng, SENDERS)];
    message->type = model->types[soc_rng_below(&model->rng, TYPES)];
    message->time_ms = is_delayed ? model->now_ms - 500 : model->now_ms;
    message->deliver_at_ms = is_delayed ? model->now_ms : 0;
    message->script_mark = (int)number;
    soc_mailbox_push(&model->box, message);
    model->queued[model->queued_count++] = message;
}

static void step_pop(struct model *model)
{
    struct soc_message *expected = model_find(model, (struct soc_mail_filter){0});
    struct soc_message *message = soc_mailbox_pop(&model->box);
    CHECK(message == expected);
    if (message == NULL)
        return;
    model_remove(model, message);
    soc_message_free(message);
}

static void step_take(struct model *model)
{
    struct soc_mail_filter filter = {0};
    if (soc_rng_below(&model->rng, 2) == 0)
        filter.from = model->senders[soc_rng_below(&model->rng, SENDERS)];
    if (soc_rng_below(&model->rng, 2) == 0)
        filter.type = model->types[soc_rng_below(&model->rng, TYPES)];
    struct soc_message *message = soc_mailbox_find(&model->box, filter);
    CHECK(message == model_find(model, filter));
    if (message == NULL)
        return;
    soc_mailbox_remove(&model->box, message);
    model_remove(model, message);
    model->taken[model->taken_count++] = message;
}

/* All that was taken goes back, as when a turn is rolled back, or none of it. */
static void step_settle(struct model *model)
{
    bool is_rollback = soc_rng_below(&model->rng, 4) > 0;
    while (model->taken_count > 0) {
        struct soc_message *message = model->taken[--model->taken_count];
        if (is_rollback) {
            soc_mailbox_put_back(&model->box, message);
            model_put_back(model, message);
        } else {
            soc_message_free(message);
        }
    }
}

static void a_mailbox_agrees_with_a_naive_model(void)
{
    struct soc_intern types = {0};
    struct model model = {.next_number = 100, .now_ms = 1000};
    soc_rng_init(&model.rng, 5);
    for (int i = 0; i < SENDERS; i++)
        model.senders[i] = soc_agent_new(SOC_SLICE("sender"), NULL, NULL, 0);
    model.types[0] = soc_intern(&types, SOC_SLICE("a"));
    model.types[1] = soc_intern(&types, SOC_SLICE("b"));
    for (int step = 0; step < 100000; step++) {
        uint64_t what = soc_rng_below(&model.rng, 10);
        if (what < 4 && model.queued_count + model.taken_count < MODEL_MAX)
            step_push(&model);
        else if (what < 6)
            step_pop(&model);
        else if (what < 9)
            step_take(&model);
        else
            step_settle(&model);
        CHECK_INT(soc_mailbox_count(&model.box), model.queued_count);
    }
    step_settle(&model);
    while (model.queued_count > 0)
        step_pop(&model);
    CHECK_INT(soc_mailbox_count(&model.box), 0);
    for (int i = 0; i < SENDERS; i++)
        soc_agent_free(model.senders[i]);
    soc_intern_fini(&types);
}

int main(void)
{
    RUN(an_empty_mailbox_returns_nothing);
    RUN(messages_leave_by_priority_then_in_order);
    RUN(messages_are_ordered_by_due_time_not_by_key);
    RUN(a_returned_message_comes_first_in_its_priority);
    RUN(a_message_knows_whether_it_is_queued);
    RUN(a_taken_message_goes_back_to_its_place);
    RUN(a_delayed_message_ages_from_its_delivery);
    RUN(the_filter_matches_sender_and_type);
    RUN(a_mailbox_agrees_with_a_naive_model);
    return check_done();
}

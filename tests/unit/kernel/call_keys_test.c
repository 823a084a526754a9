/* Idempotency keys: an order repeated under its key is not done again, also after a crash. */
#include "host_asking.h"
#include "kernel/operations/call_keys.h"
#include "parts/duplicates/duplicates.h"

#define KEY(text)                                                                                  \
    &(const struct soc_caller)                                                                     \
    {                                                                                              \
        .name = SOC_SLICE("c1"), .scopes = SOC_SCOPE_ALL, .key = SOC_SLICE(text)                   \
    }

static const char hello[] = "{\"to\":\"root\",\"payload\":\"hello\"}";

static void close_world(struct world *world, struct asked *asked)
{
    soc_buf_fini(&asked->answer);
    soc_call_fini(&asked->call);
    world_close(world);
}

static uint64_t count_sent(const struct world *world)
{
    return world->host->totals.sent;
}

static void a_repeated_order_gets_the_first_answer_and_does_nothing(void)
{
    struct world world;
    struct asked first = {0};
    struct asked again = {0};
    open_world(&world);
    uint64_t sent = count_sent(&world);
    soc_batch_seal(world.host);
    uint64_t sequence = world.host->next_sequence;
    ask_as(&world, KEY("k1"), "send", hello, &first);
    CHECK_INT(first.count, 1);
    CHECK(world.host->next_sequence > sequence);
    for (int i = 0; i < 3; i++) {
        ask_as(&world, KEY("k1"), "send", hello, &again);
        CHECK_INT(again.count, 1);
        CHECK(!again.is_error);
        CHECK_TEXT(soc_buf_text(&again.answer), soc_buf_text(&first.answer));
    }
    CHECK_INT(count_sent(&world), sent + 1);
    ask(&world, "activity", "{\"type\":\"order\"}", &again);
    struct soc_json_walk walk;
    int lines = 0;
    for (soc_json_walk(&walk, soc_buf_slice(&again.answer)); soc_json_next(&walk);)
        lines++;
    CHECK_INT(lines, 1);
    ask_as(&world, KEY("k2"), "send", hello, &again);
    CHECK_INT(count_sent(&world), sent + 2);
    soc_buf_fini(&again.answer);
    soc_call_fini(&again.call);
    close_world(&world, &first);
}

static void another_order_under_the_key_is_refused(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller other = {
        .name = SOC_SLICE("c2"), .scopes = SOC_SCOPE_ALL, .key = SOC_SLICE("k1")};
    open_world(&world);
    uint64_t sent = count_sent(&world);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    ask_as(&world, KEY("k1"), "send", "{\"to\":\"root\",\"payload\":\"bye\"}", &asked);
    CHECK(is_code(&asked, "key_reused"));
    ask_as(&world, KEY("k1"), "pause", "{\"agent\":\"root\"}", &asked);
    CHECK(is_code(&asked, "key_reused"));
    /* Members that are no parameters, such as the number of a line, do not count. */
    ask_as(&world, KEY("k1"), "send", "{\"id\":7,\"to\":\"root\",\"payload\":\"hello\"}", &asked);
    CHECK(!asked.is_error);
    CHECK_INT(count_sent(&world), sent + 1);
    ask_as(&world, &other, "send", "{\"to\":\"root\",\"payload\":\"bye\"}", &asked);
    CHECK(!asked.is_error);
    CHECK_INT(count_sent(&world), sent + 2);
    ask_as(&world, KEY("k1"), "agents", "{}", &asked); /* looks have no keys */
    CHECK(!asked.is_error);
    ask_as(&world, KEY("k3"), "request", hello, &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    close_world(&world, &asked);
}

static void a_key_survives_a_crash(bool is_folded)
{
    struct world world;
    struct asked first = {0};
    struct asked again = {0};
    open_world(&world);
    ask_as(&world, KEY("k1"), "send", hello, &first);
    uint64_t sent = count_sent(&world);
    for (int i = 0; i < 2; i++) {
        world_restart(&world, is_folded);
        soc_agents_set_runnable(world.host, world.host->registry.root->role);
        ask_as(&world, KEY("k1"), "send", hello, &again);
        CHECK_TEXT(soc_buf_text(&again.answer), soc_buf_text(&first.answer));
        ask_as(&world, KEY("k1"), "send", "{\"to\":\"root\",\"payload\":2}", &again);
        CHECK(is_code(&again, "key_reused"));
        CHECK_INT(count_sent(&world), sent);
    }
    soc_buf_fini(&again.answer);
    soc_call_fini(&again.call);
    close_world(&world, &first);
}

static void a_key_survives_a_crash_from_the_journal(void)
{
    a_key_survives_a_crash(false);
}

static void a_key_survives_a_crash_from_the_tables(void)
{
    a_key_survives_a_crash(true);
}

static void an_order_and_its_key_are_lost_together(void)
{
    struct world world;
    struct asked asked = {.call = {.answer = take}};
    open_world(&world);
    struct soc_operations society = {.host = world.host};
    uint64_t sent = count_sent(&world);
    soc_batch_seal(world.host);
    soc_host_hold(world.host, true);
    soc_operation_do(&society, find("send"), KEY("k1"), &asked.call, soc_slice_text(hello));
    soc_batch_seal(world.host);
    CHECK_INT(asked.count, 0); /* it is not durable */
    world_restart(&world, false);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    CHECK_INT(count_sent(&world), sent);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    CHECK_INT(asked.count, 1);
    CHECK_INT(count_sent(&world), sent + 1);
    close_world(&world, &asked);
}

static void a_failed_order_leaves_no_key(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    ask_as(&world, KEY("k1"), "pause", "{\"agent\":\"ann\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    CHECK_INT(world.host->call_keys.by_text.count, 0);
    spawn(&world, "ann");
    ask_as(&world, KEY("k1"), "pause", "{\"agent\":\"ann\"}", &asked);
    CHECK(!asked.is_error);
    ask_as(&world, KEY("k1"), "pause", "{\"agent\":\"ann\"}", &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"count\":1") != NULL); /* as the first said */
    close_world(&world, &asked);
}

static void a_key_is_forgotten_with_its_window(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    soc_duplicates_set_window(world.host, 1000);
    uint64_t sent = count_sent(&world);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    int64_t done_ms = soc_host_now(world.host);
    soc_clock_move(soc_host_clock(world.host), done_ms + 999);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    CHECK_INT(count_sent(&world), sent + 1);
    soc_clock_move(soc_host_clock(world.host), done_ms + 1000);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    CHECK_INT(count_sent(&world), sent + 2);
    CHECK_INT(world.host->call_keys.by_text.count, 1);
    world_restart(&world, true);
    CHECK_INT(world.host->call_keys.by_text.count, 1);
    CHECK_INT(world.host->call_keys.number, 2);
    close_world(&world, &asked);
}

static void the_oldest_keys_go_when_there_are_too_many(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    uint64_t sent = count_sent(&world);
    ask_as(&world, KEY("k1"), "send", hello, &asked);
    ask_as(&world, KEY("k2"), "send", hello, &asked);
    size_t one = world.host->call_keys.bytes / 2;
    world.host->call_keys.bytes += SOC_CALL_KEYS_BYTES_MAX - one; /* as if there were more */
    ask_as(&world, KEY("k2"), "send", hello, &asked);
    CHECK_INT(count_sent(&world), sent + 2);
    ask_as(&world, KEY("k1"), "send", hello, &asked); /* forgotten */
    CHECK_INT(count_sent(&world), sent + 3);
    close_world(&world, &asked);
}

static void an_intake_that_waits_is_kept_when_it_is_sent(void)
{
    struct world world;
    struct asked first = {0};
    struct asked again = {0};
    static const char params[] = "{\"text\":\"hello\",\"wait_ms\":50}";
    open_world(&world);
    ask(&world, "pause", "{\"agent\":\"root\"}", &again);
    uint64_t sent = count_sent(&world);
    ask_as(&world, KEY("k1"), "intake", params, &first);
    CHECK_INT(first.count, 0); /* it waits */
    ask_as(&world, KEY("k1"), "intake", params, &again);
    CHECK_INT(count_sent(&world), sent + 1);
    CHECK_INT(again.count, 0); /* and so does who asks again */
    int64_t now_ms = soc_host_now(world.host);
    soc_clock_move(soc_host_clock(world.host), now_ms + 50);
    world_settle(&world);
    soc_batch_seal(world.host);
    CHECK(is_code(&first, "timeout"));
    CHECK(is_code(&again, "timeout"));
    struct soc_slice id = soc_json_member(soc_buf_slice(&again.answer), "messageId");
    CHECK(id.length > 0 &&
          soc_slice_equal(id, soc_json_member(soc_buf_slice(&first.answer), "messageId")));
    soc_buf_fini(&again.answer);
    soc_call_fini(&again.call);
    close_world(&world, &first);
}

static enum soc_turn_end worker_that_replies(struct world *world, struct soc_activation *activation,
                                             struct soc_buf *error)
{
    (void)activation;
    PASS(step_reply(world, "{\"text\":\"done\"}", error));
    return SOC_TURN_DONE;
}

/* The gatekeeper of the test. */
static struct soc_agent *route(void *user, struct soc_slice payload, struct soc_buf *intent)
{
    struct world *world = user;
    (void)payload, (void)intent;
    return world->host->registry.root;
}

static void an_intake_asked_again_gets_the_reply(void)
{
    struct world world = {.worker = worker_that_replies, .route = route};
    struct asked asked = {0};
    static const char params[] = "{\"text\":\"hello\",\"wait_ms\":50}";
    world_open(&world, NULL);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    uint64_t sent = count_sent(&world);
    ask_as(&world, KEY("k1"), "intake", params, &asked);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"text\":\"done\"") != NULL);
    world_restart(&world, false);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    ask_as(&world, KEY("k1"), "intake", params, &asked);
    CHECK_INT(check_shape("intake", &asked), 1);
    CHECK(strstr(soc_buf_text(&asked.answer), "\"text\":\"done\"") != NULL);
    CHECK_INT(count_sent(&world), sent + 2); /* message and reply */
    close_world(&world, &asked);
}

/* Two letters to an agent that has ended. */
static void make_letters(struct world *world, struct asked *asked)
{
    struct soc_caller root = {
        .name = SOC_SLICE("root"), .scopes = SOC_SCOPE_WRITE, .agent = SOC_SLICE("root")};
    spawn(world, "ann");
    ask(world, "pause", "{\"agent\":\"ann\"}", asked);
    ask_as(world, &root, "send", "{\"to\":\"ann\",\"payload\":1}", asked);
    ask_as(world, &root, "send", "{\"to\":\"ann\",\"payload\":2}", asked);
    ask(world, "terminate", "{\"agent\":\"ann\",\"force\":true}", asked);
}

static const char drop_all[] = "{\"filter\":{\"to\":\"ann\"},\"expected\":2}";

static void an_order_that_is_done_later_has_its_key(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    make_letters(&world, &asked);
    ask_as(&world, KEY("k1"), "drop", "{\"filter\":{\"to\":\"ann\"},\"expected\":3}", &asked);
    CHECK(is_code(&asked, "count_differs"));
    for (int i = 0; i < 3; i++) {
        ask_as(&world, KEY("k1"), "drop", drop_all, &asked);
        CHECK_INT(check_shape("drop", &asked), 1);
        CHECK(strstr(soc_buf_text(&asked.answer), "\"count\":2") != NULL);
        world_restart(&world, i == 1);
    }
    close_world(&world, &asked);
}

/* Runs the loop until both calls are answered. */
static void wait_for(struct world *world, const struct asked *one, const struct asked *two)
{
    while (one->count == 0 || two->count == 0) {
        soc_batch_seal(world->host);
        soc_loop_poll(world->loop, 20);
    }
}

/* Asks without running anything. */
static void begin(struct world *world, const struct soc_caller *caller, const char *name,
                  const char *params, struct asked *asked)
{
    struct soc_operations society = {.host = world->host};
    soc_call_fini(&asked->call);
    asked->call = (struct soc_call){.answer = take};
    asked->count = 0;
    soc_operation_do(&society, find(name), caller, &asked->call, soc_slice_text(params));
}

static void orders_under_one_key_at_the_same_time_are_one(void)
{
    struct world world = {.main = main_that_waits, .worker = worker_that_does_nothing};
    struct asked one = {0};
    struct asked two = {0};
    struct soc_caller root = {
        .name = SOC_SLICE("root"), .scopes = SOC_SCOPE_WRITE, .agent = SOC_SLICE("root")};
    static const char order[] = "{\"filter\":{\"to\":\"ann\"},\"expected\":1}";
    world.loop = soc_loop_new();
    world_open(&world, NULL);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    spawn(&world, "ann");
    begin(&world, &soc_caller_owner, "pause", "{\"agent\":\"ann\"}", &one);
    begin(&world, &root, "send", "{\"to\":\"ann\",\"payload\":1}", &two);
    wait_for(&world, &one, &two);
    begin(&world, &soc_caller_owner, "terminate", "{\"agent\":\"ann\",\"force\":true}", &one);
    wait_for(&world, &one, &two);
    begin(&world, KEY("k1"), "drop", order, &one);
    begin(&world, KEY("k1"), "drop", order, &two);
    CHECK_INT(one.count + two.count, 0);
    wait_for(&world, &one, &two);
    CHECK(!one.is_error && !two.is_error);
    CHECK_TEXT(soc_buf_text(&one.answer), soc_buf_text(&two.answer));
    CHECK_INT(world.host->totals.outcome[SOC_OUTCOME_DROPPED], 1);
    /* One that fails takes the other with it, and leaves nothing. */
    begin(&world, KEY("k2"), "drop", order, &one);
    begin(&world, KEY("k2"), "drop", order, &two);
    wait_for(&world, &one, &two);
    CHECK(is_code(&one, "count_differs") && is_code(&two, "count_differs"));
    CHECK_INT(world.host->call_keys.by_text.count, 1);
    soc_buf_fini(&two.answer);
    soc_call_fini(&two.call);
    close_world(&world, &one);
}

int main(void)
{
    RUN(a_repeated_order_gets_the_first_answer_and_does_nothing);
    RUN(another_order_under_the_key_is_refused);
    RUN(a_key_survives_a_crash_from_the_journal);
    RUN(a_key_survives_a_crash_from_the_tables);
    RUN(an_order_and_its_key_are_lost_together);
    RUN(a_failed_order_leaves_no_key);
    RUN(a_key_is_forgotten_with_its_window);
    RUN(the_oldest_keys_go_when_there_are_too_many);
    RUN(an_intake_that_waits_is_kept_when_it_is_sent);
    RUN(an_intake_asked_again_gets_the_reply);
    RUN(an_order_that_is_done_later_has_its_key);
    RUN(orders_under_one_key_at_the_same_time_are_one);
    return check_done();
}

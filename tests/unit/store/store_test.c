/* What every store does, in memory and in a directory alike. */
#include "store_world.h"

/* Defines two tests, `name`_in_memory and `name`_on_disk, from one body. */
#define ON_BOTH(name)                                                                              \
    static void name##_on(struct world *world);                                                    \
    static void name##_in_memory(void)                                                             \
    {                                                                                              \
        struct world world;                                                                        \
        world_init(&world, true);                                                                  \
        name##_on(&world);                                                                         \
        world_fini(&world);                                                                        \
    }                                                                                              \
    static void name##_on_disk(void)                                                               \
    {                                                                                              \
        struct world world;                                                                        \
        world_init(&world, false);                                                                 \
        name##_on(&world);                                                                         \
        world_fini(&world);                                                                        \
    }                                                                                              \
    static void name##_on(struct world *world)
#define RUN_BOTH(name)                                                                             \
    RUN(name##_in_memory);                                                                         \
    RUN(name##_on_disk)

/* Loads as it stands, then reopened, then folded, then reopened again: each time
 * it must be `expected` once the folded records are told. */
static void check_load(struct world *world, const char *unfolded, const char *folded)
{
    CHECK_TEXT(world_load(world), unfolded);
    world_reopen(world);
    CHECK_TEXT(world_load(world), unfolded);
    CHECK_INT(world_fold(world), 0);
    CHECK_INT(soc_store_backlog(world->store), 0);
    CHECK_TEXT(world_load(world), folded);
    world_reopen(world);
    CHECK_TEXT(world_load(world), folded);
}

ON_BOTH(a_new_store_is_empty)
{
    CHECK_INT(soc_store_sequence(world->store), 0);
    CHECK_INT(soc_store_backlog(world->store), 0);
    CHECK_INT(soc_store_fold(world->store, 1, &world->detail), 0);
    check_load(world, "", "");
    CHECK_TEXT(world_ask(world, "dump"), "[]");
}

ON_BOTH(batches_are_numbered_and_counted)
{
    put_message(world, 1);
    size_t length = world->batch.length;
    CHECK_INT(world_append(world), SOC_OK);
    put_message(world, 2);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(soc_store_sequence(world->store), 2);
    CHECK_INT(soc_store_backlog(world->store), 2 * length);
    CHECK_INT(soc_store_fold(world->store, 1, &world->detail), 1);
    CHECK_INT(soc_store_backlog(world->store), length);
    world_reopen(world);
    CHECK_INT(soc_store_sequence(world->store), 2);
    CHECK_INT(soc_store_backlog(world->store), length);
    CHECK_INT(soc_store_fold(world->store, 1, &world->detail), 0);
    world_reopen(world);
    CHECK_INT(soc_store_sequence(world->store), 2);
    CHECK_INT(soc_store_backlog(world->store), 0);
}

ON_BOTH(agents_and_contacts_come_in_order_of_origin_then_states)
{
    PUT(world, META, meta, SOC_SLICE("app"), SOC_SLICE("hello"));
    PUT(world, AGENT, agent, 1, SOC_SLICE("zoe"), SOC_SLICE("boss"));
    PUT(world, CONTACT, contact, 2, 6, SOC_SLICE("zoe"), SOC_SLICE("yan"));
    PUT(world, AGENT, agent, 2, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("zoe"),
        SOC_SLICE("{}"));
    CHECK_INT(world_append(world), SOC_OK);
    PUT(world, STATE, state, SOC_SLICE("ann"), SOC_SLICE("{\"n\":1}"));
    PUT(world, AGENT, agent, 3, SOC_SLICE("bob"), SOC_SLICE("r"), SOC_SLICE("ann"));
    PUT(world, CONTACT, contact, 3, 6, SOC_SLICE("ann"), SOC_SLICE("yan"));
    PUT(world, STATE, state, SOC_SLICE("ann"), SOC_SLICE("{\"n\":2}"));
    PUT(world, ROLE, role, 3, SOC_SLICE("r"), SOC_SLICE("R"));
    CHECK_INT(world_append(world), SOC_OK);
    check_load(world,
               "{\"record\":\"meta\",\"name\":\"app\",\"value\":\"hello\"}\n"
               "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"zoe\",\"role\":\"boss\"}\n"
               "{\"record\":\"contact\",\"time_ms\":2,\"source\":6,\"owner\":\"zoe\",\"id\":"
               "\"yan\"}\n"
               "{\"record\":\"agent\",\"time_ms\":2,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"zoe\",\"brief\":\"{}\"}\n"
               "{\"record\":\"state\",\"agent\":\"ann\",\"state\":\"{\\\"n\\\":1}\"}\n"
               "{\"record\":\"agent\",\"time_ms\":3,\"id\":\"bob\",\"role\":\"r\",\"parent\":"
               "\"ann\"}\n"
               "{\"record\":\"contact\",\"time_ms\":3,\"source\":6,\"owner\":\"ann\",\"id\":"
               "\"yan\"}\n"
               "{\"record\":\"state\",\"agent\":\"ann\",\"state\":\"{\\\"n\\\":2}\"}\n"
               "{\"record\":\"role\",\"time_ms\":3,\"id\":\"r\",\"name\":\"R\"}\n",
               "{\"record\":\"meta\",\"name\":\"app\",\"value\":\"hello\"}\n"
               "{\"record\":\"role\",\"time_ms\":3,\"id\":\"r\",\"name\":\"R\"}\n"
               "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"zoe\",\"role\":\"boss\"}\n"
               "{\"record\":\"contact\",\"time_ms\":2,\"source\":6,\"owner\":\"zoe\",\"id\":"
               "\"yan\"}\n"
               "{\"record\":\"agent\",\"time_ms\":2,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"zoe\",\"brief\":\"{}\"}\n"
               "{\"record\":\"agent\",\"time_ms\":3,\"id\":\"bob\",\"role\":\"r\",\"parent\":"
               "\"ann\"}\n"
               "{\"record\":\"contact\",\"time_ms\":3,\"source\":6,\"owner\":\"ann\",\"id\":"
               "\"yan\"}\n"
               "{\"record\":\"standing\",\"births\":1,\"id\":\"zoe\"}\n"
               "{\"record\":\"standing\",\"births\":1,\"id\":\"ann\"}\n"
               "{\"record\":\"state\",\"agent\":\"ann\",\"state\":\"{\\\"n\\\":2}\"}\n");
}

#define ENDED                                                                                      \
    "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":\"root\"}\n"     \
    "{\"record\":\"agent_end\",\"time_ms\":5,\"id\":\"ann\",\"reason\":\"done\"}\n"

ON_BOTH(an_ended_agent_is_loaded_as_ended_and_its_id_may_be_born_again)
{
    PUT(world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("root"));
    PUT(world, CONTACT, contact, 1, 6, SOC_SLICE("ann"), SOC_SLICE("yan"));
    PUT(world, STATE, state, SOC_SLICE("ann"), SOC_SLICE("{\"last\":true}"));
    PUT(world, AGENT_END, agent_end, 5, SOC_SLICE("ann"), SOC_SLICE("done"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), ENDED);
    CHECK_TEXT(world_ask(world, "dump"),
               "[{\"table\":\"agents\",\"number\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"root\",\"created_ms\":1,\"ended_ms\":5,\"end_reason\":\"done\","
               "\"state\":{\"last\":true}},"
               "{\"table\":\"events\",\"number\":1,\"time_ms\":1,\"event\":\"spawned\","
               "\"agent\":\"ann\",\"detail\":\"r\",\"place\":1,\"other\":\"root\"},"
               "{\"table\":\"events\",\"number\":2,\"time_ms\":1,\"event\":\"contact_added\","
               "\"agent\":\"ann\",\"detail\":\"yan (manual)\",\"place\":2,\"other\":\"yan\"},"
               "{\"table\":\"events\",\"number\":3,\"time_ms\":5,\"event\":\"stopped\","
               "\"agent\":\"ann\",\"detail\":\"done\",\"place\":3,\"other\":\"root\"}]");
    PUT(world, AGENT, agent, 9, SOC_SLICE("ann"), SOC_SLICE("r2"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               ENDED "{\"record\":\"agent\",\"time_ms\":9,\"id\":\"ann\",\"role\":\"r2\"}\n");
    CHECK(strstr(world_ask(world, "agents"), "\"ended_at\":\"1970-01-01T00:00:00.005Z\"") != NULL);
}

ON_BOTH(an_agent_that_ends_and_one_that_was_adopted_are_loaded_as_such)
{
    PUT(world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("root"));
    PUT(world, AGENT, agent, 2, SOC_SLICE("bob"), SOC_SLICE("r"), SOC_SLICE("ann"));
    PUT(world, AGENT_PARENT, agent_parent, 3, SOC_SLICE("bob"), SOC_SLICE("root"));
    PUT(world, AGENT_ENDING, agent_ending, 4, SOC_SLICE("bob"), SOC_SLICE("tired"));
    PUT(world, AGENT_ENDING, agent_ending, 4, SOC_SLICE("ann"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"root\"}\n"
               "{\"record\":\"agent_ending\",\"time_ms\":4,\"id\":\"ann\"}\n"
               "{\"record\":\"agent\",\"time_ms\":2,\"id\":\"bob\",\"role\":\"r\",\"parent\":"
               "\"root\",\"is_adopted\":1}\n"
               "{\"record\":\"agent_ending\",\"time_ms\":4,\"id\":\"bob\",\"reason\":"
               "\"tired\"}\n"
               "{\"record\":\"standing\",\"births\":1,\"id\":\"ann\"}\n");
}

ON_BOTH(how_an_agent_stands_is_loaded_and_its_births_are_counted)
{
    PUT(world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"));
    PUT(world, AGENT, agent, 2, SOC_SLICE("bob"), SOC_SLICE("r"), SOC_SLICE("ann"));
    PUT(world, STANDING, standing, 3, 1, 4, 0, SOC_SLICE("ann"));
    PUT(world, STANDING, standing, 3, 2, 0, 0, SOC_SLICE("bob"));
    PUT(world, AGENT_END, agent_end, 4, SOC_SLICE("bob"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK(
        strstr(world_load(world),
               "{\"record\":\"standing\",\"hold\":1,\"guards\":4,\"births\":1,\"id\":\"ann\"}\n") !=
        NULL);
    CHECK(strstr(world_load(world), "\"hold\":2") == NULL);
    CHECK(strstr(world_ask(world, "agents"), "\"status\":\"paused\"") != NULL);
    PUT(world, AGENT, agent, 5, SOC_SLICE("cid"), SOC_SLICE("r"), SOC_SLICE("ann"));
    PUT(world, STANDING, standing, 6, 0, 0, 0, SOC_SLICE("ann"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK(strstr(world_load(world), "{\"record\":\"standing\",\"births\":2,\"id\":\"ann\"}\n") !=
          NULL);
}

ON_BOTH(a_forgotten_parent_stays_forgotten_and_a_forgotten_stranger_leaves_nothing)
{
    PUT(world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("zoe"));
    PUT(world, CONTACT, contact, 1, 6, SOC_SLICE("ann"), SOC_SLICE("yan"));
    PUT(world, CONTACT_END, contact_end, SOC_SLICE("ann"), SOC_SLICE("zoe"));
    PUT(world, CONTACT_END, contact_end, SOC_SLICE("ann"), SOC_SLICE("yan"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"zoe\"}\n"
               "{\"record\":\"contact_end\",\"owner\":\"ann\",\"id\":\"zoe\"}\n");
    PUT(world, CONTACT, contact, 7, 4, SOC_SLICE("ann"), SOC_SLICE("zoe"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"agent\",\"time_ms\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"zoe\"}\n"
               "{\"record\":\"contact\",\"time_ms\":7,\"source\":4,\"owner\":\"ann\",\"id\":"
               "\"zoe\"}\n");
}

ON_BOTH(pending_and_dead_messages_are_loaded_finished_ones_are_not)
{
    for (uint64_t key = 1; key <= 4; key++)
        PUT(world, MESSAGE, message, .key = key, .time_ms = 9);
    PUT(world, MESSAGE_END, message_end, .key = 1, .time_ms = 10, .outcome = 1);
    PUT(world, MESSAGE_END, message_end, 2, 11, SOC_OUTCOME_DEAD, SOC_SLICE("lost"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), "{\"record\":\"message\",\"key\":3,\"time_ms\":9}\n"
                                  "{\"record\":\"message\",\"key\":4,\"time_ms\":9}\n"
                                  "{\"record\":\"message\",\"key\":2,\"time_ms\":9}\n"
                                  "{\"record\":\"message_end\",\"key\":2,\"time_ms\":11,"
                                  "\"outcome\":3,\"reason\":\"lost\"}\n");
    PUT(world, MESSAGE_END, message_end, .key = 3, .time_ms = 12, .outcome = 4);
    PUT(world, MESSAGE_AGAIN, message_again, .key = 2, .time_ms = 13, .attempt = 2,
        .deliver_at_ms = 14);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"message\",\"key\":2,\"time_ms\":9,\"attempt\":2,"
               "\"deliver_at_ms\":14}\n{\"record\":\"message\",\"key\":4,\"time_ms\":9}\n");
}

ON_BOTH(every_field_of_a_message_survives_folding)
{
    PUT(world, MESSAGE, message, .key = 1, .time_ms = 2, .priority = 3, .flags = 4, .attempt = 5,
        .hops = 6, .reply_to = 7, .expires_ms = 8, .deliver_at_ms = 9, .deadline_ms = 10,
        .from = SOC_SLICE("a"), .to = SOC_SLICE("b"), .type = SOC_SLICE("c"),
        .payload = SOC_SLICE("{}"), .task_id = SOC_SLICE("e"), .correlation_id = SOC_SLICE("f"),
        .external_id = SOC_SLICE(""), .dedupe_key = SOC_SLICE("h"), .traceparent = SOC_SLICE("i"),
        .reply_to_ms = 11);
    CHECK_INT(world_append(world), SOC_OK);
    struct soc_buf before = {0};
    soc_buf_put_text(&before, world_load(world));
    check_load(world, soc_buf_text(&before), soc_buf_text(&before));
    soc_buf_fini(&before);
}

ON_BOTH(a_waiting_activation_keeps_its_effects_and_takes_until_it_ends)
{
    PUT(world, ACTIVATION, activation, .key = 5, .time_ms = 1, .agent = SOC_SLICE("zoe"));
    PUT(world, EFFECT, effect, 1, UINT64_MAX, SOC_SLICE("zoe"), SOC_SLICE("send"), SOC_SLICE("{}"));
    PUT(world, EFFECT, effect, .index = 2, .agent = SOC_SLICE("zoe"), .kind = SOC_SLICE("sleep"),
        .wait = SOC_SLICE("{\"until\":9}"));
    PUT(world, TAKE, take, 8, SOC_SLICE("zoe"));
    PUT(world, TAKE, take, 7, SOC_SLICE("zoe"));
    PUT(world, ACTIVATION, activation, .key = 6, .time_ms = 2, .agent = SOC_SLICE("ann"));
    CHECK_INT(world_append(world), SOC_OK);
    const char *both = "{\"record\":\"activation\",\"key\":5,\"time_ms\":1,\"agent\":\"zoe\"}\n"
                       "{\"record\":\"activation\",\"key\":6,\"time_ms\":2,\"agent\":\"ann\"}\n"
                       "{\"record\":\"effect\",\"index\":1,\"hash\":-1,\"agent\":\"zoe\","
                       "\"kind\":\"send\",\"answer\":\"{}\"}\n"
                       "{\"record\":\"effect\",\"index\":2,\"agent\":\"zoe\","
                       "\"kind\":\"sleep\",\"wait\":\"{\\\"until\\\":9}\"}\n"
                       "{\"record\":\"take\",\"key\":8,\"agent\":\"zoe\"}\n"
                       "{\"record\":\"take\",\"key\":7,\"agent\":\"zoe\"}\n";
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), both);
    PUT(world, ANSWER, answer, 2, SOC_SLICE("zoe"), SOC_SLICE("true"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK(strstr(world_load(world), "\"kind\":\"sleep\",\"answer\":\"true\"") != NULL);
    PUT(world, ACTIVATION_END, activation_end, SOC_SLICE("zoe"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"activation\",\"key\":6,\"time_ms\":2,\"agent\":\"ann\"}\n");
}

ON_BOTH(outputs_stay_until_they_were_shown)
{
    for (uint64_t key = 1; key <= 3; key++)
        PUT(world, OUTPUT, output, key, 5, SOC_SLICE("root"), SOC_SLICE("stdout"), SOC_SLICE("x"));
    PUT(world, OUTPUT_END, output_end, 1);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    PUT(world, OUTPUT_END, output_end, 2);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), "{\"record\":\"output\",\"key\":3,\"time_ms\":5,\"agent\":"
                                  "\"root\",\"stream\":\"stdout\",\"text\":\"x\"}\n");
}

static int stop_at_the_second(const struct soc_record *record, void *user)
{
    (void)record;
    return ++*(int *)user == 2 ? SOC_EREFUSED : 0;
}

ON_BOTH(a_load_ends_when_its_reader_says_so)
{
    for (uint64_t key = 1; key <= 4; key++)
        put_message(world, key);
    CHECK_INT(world_append(world), SOC_OK);
    int count = 0;
    CHECK_INT(soc_store_load(world->store, stop_at_the_second, &count, NULL), SOC_EREFUSED);
    CHECK_INT(world_fold(world), 0);
    count = 0;
    CHECK_INT(soc_store_load(world->store, stop_at_the_second, &count, NULL), SOC_EREFUSED);
    CHECK_INT(count, 2);
}

ON_BOTH(a_batch_of_many_megabytes_is_kept_whole)
{
    size_t length = 20u << 20;
    char *payload = malloc(length);
    memset(payload, 'x', length);
    payload[0] = payload[length - 1] = '"';
    PUT(world, MESSAGE, message, .key = 1, .payload = soc_slice(payload, length));
    CHECK_INT(world_append(world), SOC_OK);
    size_t loaded = strlen(world_load(world));
    CHECK(loaded > length);
    CHECK_INT(world_fold(world), 0);
    CHECK_INT(strlen(world_load(world)), loaded);
    free(payload);
}

int main(void)
{
    RUN_BOTH(a_new_store_is_empty);
    RUN_BOTH(batches_are_numbered_and_counted);
    RUN_BOTH(agents_and_contacts_come_in_order_of_origin_then_states);
    RUN_BOTH(an_ended_agent_is_loaded_as_ended_and_its_id_may_be_born_again);
    RUN_BOTH(an_agent_that_ends_and_one_that_was_adopted_are_loaded_as_such);
    RUN_BOTH(how_an_agent_stands_is_loaded_and_its_births_are_counted);
    RUN_BOTH(a_forgotten_parent_stays_forgotten_and_a_forgotten_stranger_leaves_nothing);
    RUN_BOTH(pending_and_dead_messages_are_loaded_finished_ones_are_not);
    RUN_BOTH(every_field_of_a_message_survives_folding);
    RUN_BOTH(a_waiting_activation_keeps_its_effects_and_takes_until_it_ends);
    RUN_BOTH(outputs_stay_until_they_were_shown);
    RUN_BOTH(a_load_ends_when_its_reader_says_so);
    RUN_BOTH(a_batch_of_many_megabytes_is_kept_whole);
    return check_done();
}

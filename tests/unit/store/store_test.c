/* Conformance: what every store does, whichever implementation it is.
 *
 * Covers: core/store/tables/kept.c, core/store/tables/window.c, core/store/sqlite/sqlite.c */
#include "store_world.h"

#include "store/tables/database.h"

#include "base/hash.h"

/* Defines a test for each implementation from one body. */
#define ON_ALL(name)                                                                               \
    static void name##_on(struct world *world);                                                    \
    static void name##_in(enum place place)                                                        \
    {                                                                                              \
        struct world world;                                                                        \
        world_init(&world, place);                                                                 \
        name##_on(&world);                                                                         \
        world_fini(&world);                                                                        \
    }                                                                                              \
    static void name##_in_memory(void)                                                             \
    {                                                                                              \
        name##_in(IN_MEMORY);                                                                      \
    }                                                                                              \
    static void name##_in_a_directory(void)                                                        \
    {                                                                                              \
        name##_in(IN_DIRECTORY);                                                                   \
    }                                                                                              \
    static void name##_on_a_disk(void)                                                             \
    {                                                                                              \
        name##_in(ON_DISK);                                                                        \
    }                                                                                              \
    static void name##_on(struct world *world)
#define RUN_ALL(name)                                                                              \
    RUN(name##_in_memory);                                                                         \
    RUN(name##_in_a_directory);                                                                    \
    RUN(name##_on_a_disk)

/* Loads as it is, then reopened, then folded, then reopened again. */
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

ON_ALL(a_new_store_is_empty)
{
    CHECK_INT(soc_store_sequence(world->store), 0);
    CHECK_INT(soc_store_backlog(world->store), 0);
    CHECK_INT(soc_store_fold(world->store, 1, &world->detail), 0);
    check_load(world, "", "");
    CHECK_TEXT(world_ask(world, "dump"), "[]");
}

ON_ALL(batches_are_numbered_and_counted)
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

ON_ALL(agents_and_contacts_come_in_order_of_origin_then_states)
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

ON_ALL(an_ended_agent_is_loaded_as_ended_and_its_id_may_be_born_again)
{
    PUT(world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("root"));
    PUT(world, CONTACT, contact, 1, 6, SOC_SLICE("ann"), SOC_SLICE("yan"));
    PUT(world, STATE, state, SOC_SLICE("ann"), SOC_SLICE("{\"last\":true}"));
    PUT(world, AGENT_END, agent_end, 5, SOC_SLICE("ann"), SOC_SLICE("done"), SOC_SLICE("root"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), ENDED);
    CHECK_TEXT(world_ask(world, "dump"),
               "[{\"table\":\"agents\",\"number\":1,\"id\":\"ann\",\"role\":\"r\",\"parent\":"
               "\"root\",\"created_ms\":1,\"ended_ms\":5,\"end_reason\":\"done\","
               "\"state\":{\"last\":true}},"
               "{\"table\":\"events\",\"number\":1,\"time_ms\":1,\"event\":\"spawned\","
               "\"agent\":\"ann\",\"detail\":\"r\",\"other\":\"root\"},"
               "{\"table\":\"events\",\"number\":2,\"time_ms\":1,\"event\":\"contact_added\","
               "\"agent\":\"ann\",\"detail\":\"yan (manual)\",\"other\":\"yan\"},"
               "{\"table\":\"events\",\"number\":3,\"time_ms\":5,\"event\":\"stopped\","
               "\"agent\":\"ann\",\"detail\":\"done\",\"other\":\"root\"}]");
    PUT(world, AGENT, agent, 9, SOC_SLICE("ann"), SOC_SLICE("r2"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               ENDED "{\"record\":\"agent\",\"time_ms\":9,\"id\":\"ann\",\"role\":\"r2\"}\n");
    CHECK(strstr(world_ask(world, "agents"), "\"ended_at\":\"1970-01-01T00:00:00.005Z\"") != NULL);
}

ON_ALL(ending_and_adopted_agents_are_loaded_as_such)
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

ON_ALL(the_standing_of_an_agent_is_loaded_and_its_births_are_counted)
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

ON_ALL(a_removed_parent_stays_removed_and_a_removed_stranger_leaves_no_trace)
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

/* A dead letter is left where it is, unless a reply to it is pending. */
ON_ALL(pending_messages_are_loaded_finished_ones_are_not)
{
    for (uint64_t key = 1; key <= 4; key++)
        PUT(world, MESSAGE, message, .key = key, .time_ms = 9);
    PUT(world, MESSAGE_END, message_end, .key = 1, .time_ms = 10, .outcome = 1);
    PUT(world, MESSAGE_END, message_end, 2, 11, SOC_OUTCOME_DEAD, SOC_SLICE("lost"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), "{\"record\":\"message\",\"key\":3,\"time_ms\":9}\n"
                                  "{\"record\":\"message\",\"key\":4,\"time_ms\":9}\n");
    PUT(world, MESSAGE, message, .key = 5, .time_ms = 9, .reply_to = 2);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world), "{\"record\":\"message\",\"key\":3,\"time_ms\":9}\n"
                                  "{\"record\":\"message\",\"key\":4,\"time_ms\":9}\n"
                                  "{\"record\":\"message\",\"key\":5,\"time_ms\":9,"
                                  "\"reply_to\":2}\n"
                                  "{\"record\":\"message\",\"key\":2,\"time_ms\":9}\n"
                                  "{\"record\":\"message_end\",\"key\":2,\"time_ms\":11,"
                                  "\"outcome\":3,\"reason\":\"lost\"}\n");
    PUT(world, MESSAGE_END, message_end, .key = 3, .time_ms = 12, .outcome = 4);
    PUT(world, MESSAGE_END, message_end, .key = 5, .time_ms = 12, .outcome = 1);
    PUT(world, MESSAGE_AGAIN, message_again, .key = 2, .time_ms = 13, .attempt = 2,
        .deliver_at_ms = 14);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    CHECK_TEXT(world_load(world),
               "{\"record\":\"message\",\"key\":2,\"time_ms\":9,\"attempt\":2,"
               "\"deliver_at_ms\":14}\n{\"record\":\"message\",\"key\":4,\"time_ms\":9}\n");
}

/* Records that are loaded as they were written, folded or not. */
static const unsigned plain_types[] = {
    SOC_RECORD_META,         SOC_RECORD_MESSAGE, SOC_RECORD_BROADCAST_END, SOC_RECORD_BARRIER,
    SOC_RECORD_SEAT,         SOC_RECORD_USAGE,   SOC_RECORD_ACTIVATION,    SOC_RECORD_EFFECT,
    SOC_RECORD_INTRODUCTION, SOC_RECORD_ITEM,    SOC_RECORD_TASK,          SOC_RECORD_POSITION,
    SOC_RECORD_SENT_KEY,     SOC_RECORD_TAKE,    SOC_RECORD_OUTPUT,
};

/* Gives each field of a record a value of its own. */
static void fill(struct soc_record *record, unsigned type)
{
    const struct soc_fields *fields = soc_fields_of(type);
    char *at = soc_fields_at(record);
    *record = (struct soc_record){.type = (enum soc_record_type)type};
    for (size_t i = 0; i < fields->count; at += soc_fields_size(&fields->items[i]), i++) {
        struct soc_slice text = soc_slice_text(fields->items[i].name);
        uint64_t number = i + 1;
        if (strcmp(fields->items[i].name, "state") == 0)
            number = 1; /* of a task: it is open */
        memcpy(at, fields->items[i].is_text ? (void *)&text : (void *)&number,
               soc_fields_size(&fields->items[i]));
    }
}

ON_ALL(every_field_of_every_plain_record_survives_folding)
{
    for (size_t i = 0; i < sizeof(plain_types) / sizeof(plain_types[0]); i++) {
        struct soc_record record;
        struct soc_buf before = {0};
        fill(&record, plain_types[i]);
        soc_record_put(&world->batch, &record);
        CHECK_INT(world_append(world), SOC_OK);
        soc_buf_put_text(&before, world_load(world));
        check_load(world, soc_buf_text(&before), soc_buf_text(&before));
        soc_buf_fini(&before);
        enum place place = world->place;
        world_fini(world);
        world_init(world, place);
    }
}

ON_ALL(an_empty_text_is_not_an_absent_one)
{
    PUT(world, MESSAGE, message, .key = 1, .time_ms = 2, .external_id = SOC_SLICE(""));
    CHECK_INT(world_append(world), SOC_OK);
    check_load(world, "{\"record\":\"message\",\"key\":1,\"time_ms\":2,\"external_id\":\"\"}\n",
               "{\"record\":\"message\",\"key\":1,\"time_ms\":2,\"external_id\":\"\"}\n");
}

ON_ALL(a_waiting_activation_keeps_its_effects_and_takes_until_it_ends)
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

ON_ALL(outputs_stay_until_they_are_shown)
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

ON_ALL(a_load_ends_when_its_callback_fails)
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

ON_ALL(a_batch_of_many_megabytes_is_kept)
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

/* Puts a small history that touches most tables: batch `number` of it. */
static void put_life(struct world *world, uint64_t number)
{
    PUT(world, AGENT, agent, number, SOC_SLICE("ann"), SOC_SLICE("r"), SOC_SLICE("root"));
    PUT(world, MESSAGE, message, .key = 2 * number, .time_ms = number, .from = SOC_SLICE("ann"),
        .to = SOC_SLICE("bob"), .type = SOC_SLICE("general"), .payload = SOC_SLICE("{}"));
    PUT(world, MESSAGE, message, .key = 2 * number + 1, .time_ms = number, .from = SOC_SLICE("bob"),
        .to = SOC_SLICE("ann"), .payload = SOC_SLICE("[]"));
    PUT(world, MESSAGE_END, message_end, .key = 2 * number, .time_ms = number, .outcome = 1);
    PUT(world, STATE, state, SOC_SLICE("ann"), SOC_SLICE("{\"n\":1}"));
    PUT(world, TASK, task, .key = 2 * number, .state = number % 4, .id = SOC_SLICE("t"),
        .owner = SOC_SLICE("ann"), .opened_ms = number);
    PUT(world, CONTACT, contact, number, 6, SOC_SLICE("ann"), SOC_SLICE("bob"));
    PUT(world, EVENT, event, .time_ms = number, .event = SOC_SLICE("note"));
    if (number % 3 == 0)
        PUT(world, AGENT_END, agent_end, number, SOC_SLICE("ann"), SOC_SLICE("done"));
}

static void commit_life(struct world *world, uint64_t count)
{
    for (uint64_t number = 1; number <= count; number++) {
        put_life(world, number);
        CHECK_INT(world_append(world), SOC_OK);
    }
}

ON_ALL(several_batches_are_committed_at_once_and_in_order)
{
    struct soc_buf bytes[3] = {{0}, {0}, {0}};
    struct soc_slice batches[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct soc_record record = {.type = SOC_RECORD_OUTPUT, .output = {.key = i + 1}};
        soc_record_put(&bytes[i], &record);
        batches[i] = soc_buf_slice(&bytes[i]);
    }
    CHECK_INT(soc_store_commit(world->store, 1, batches, 3, &world->detail), SOC_OK);
    CHECK_INT(soc_store_sequence(world->store), 3);
    check_load(world,
               "{\"record\":\"output\",\"key\":1}\n{\"record\":\"output\",\"key\":2}\n"
               "{\"record\":\"output\",\"key\":3}\n",
               "{\"record\":\"output\",\"key\":1}\n{\"record\":\"output\",\"key\":2}\n"
               "{\"record\":\"output\",\"key\":3}\n");
    CHECK_INT(soc_store_folded(world->store), 3);
    for (int i = 0; i < 3; i++)
        soc_buf_fini(&bytes[i]);
}

ON_ALL(a_torn_batch_is_refused_and_what_was_before_it_is_kept)
{
    put_message(world, 1);
    CHECK_INT(world_append(world), SOC_OK);
    put_message(world, 2);
    put_message(world, 3);
    world->batch.length -= 5;
    CHECK_INT(world_append(world), SOC_OK);
    world->text.length = 0;
    CHECK_INT(soc_store_load(world->store, show_record, &world->text, &world->detail),
              SOC_ECORRUPT);
    CHECK(strstr(world->detail.text, "batch 2") != NULL);
    CHECK(strstr(soc_buf_text(&world->text), "\"key\":2") != NULL);
    CHECK(strstr(soc_buf_text(&world->text), "\"key\":3") == NULL);
    CHECK_INT(soc_store_fold(world->store, 1, &world->detail), 1);
    CHECK_INT(soc_store_fold(world->store, 1000, &world->detail), SOC_ECORRUPT);
    CHECK_INT(soc_store_folded(world->store), 1);
    CHECK_INT(soc_store_sequence(world->store), 2);
}

ON_ALL(a_look_shows_the_tables_as_they_are_and_a_query_folds_first)
{
    struct soc_query query = {.what = "messages", .is_page = true};
    struct soc_page page;
    put_message(world, 1);
    CHECK_INT(world_append(world), SOC_OK);
    world->text.length = 0;
    CHECK_INT(soc_store_look(world->store, &query, &page, &world->text, &world->detail), SOC_OK);
    CHECK_TEXT(soc_buf_text(&world->text), "");
    CHECK_INT(page.as_of, 0);
    CHECK(strstr(world_ask(world, "messages"), "\"to\":\"user\"") != NULL);
    CHECK_INT(soc_store_folded(world->store), 1);
    CHECK_INT(soc_store_backlog(world->store), 0);
    world->text.length = 0;
    CHECK_INT(soc_store_look(world->store, &query, &page, &world->text, &world->detail), SOC_OK);
    CHECK_INT(page.as_of, 1);
    CHECK(strstr(soc_buf_text(&world->text), "\"to\":\"user\"") != NULL);
}

ON_ALL(an_unknown_query_is_refused_and_the_store_stays_usable)
{
    struct soc_query query = {.what = "nonsense"};
    put_message(world, 1);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(soc_lookup_run(world->store, &query, &world->text, &world->detail), SOC_EINVAL);
    CHECK(strstr(world->detail.text, "nonsense") != NULL);
    CHECK_INT(world->text.length, 0);
    put_message(world, 2);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK(strstr(world_ask(world, "messages"), "00000002") != NULL);
}

ON_ALL(a_limit_gives_the_latest_rows_in_ascending_order)
{
    for (uint64_t key = 1; key <= 5; key++)
        PUT(world, OUTPUT_END, output_end, key);
    for (uint64_t key = 1; key <= 5; key++)
        PUT(world, EVENT, event, .time_ms = key, .event = SOC_SLICE("note"),
            .detail = soc_slice(&"abcde"[key - 1], 1));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_TEXT(
        world_ask_for(world, &(struct soc_query){.what = "activity", .limit = 2}),
        "[{\"detail\":\"d\",\"event\":\"note\",\"line\":4,\"time\":\"1970-01-01T00:00:00.004Z\"},"
        "{\"detail\":\"e\",\"event\":\"note\",\"line\":5,\"time\":\"1970-01-01T00:00:00.005Z\"}]");
    CHECK_TEXT(
        world_ask_for(world, &(struct soc_query){.what = "activity", .until_ms = 2}),
        "[{\"detail\":\"a\",\"event\":\"note\",\"line\":1,\"time\":\"1970-01-01T00:00:00.001Z\"}]");
}

ON_ALL(maintenance_has_no_visible_effect)
{
    commit_life(world, 4);
    struct soc_buf before = {0};
    soc_buf_put_text(&before, world_load(world));
    CHECK_INT(soc_store_tidy(world->store, false, &world->detail), SOC_OK);
    CHECK_INT(soc_store_tidy(world->store, true, &world->detail), SOC_OK);
    CHECK_TEXT(world_load(world), soc_buf_text(&before));
    put_life(world, 5);
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(soc_store_sequence(world->store), 5);
    soc_buf_fini(&before);
}

static int show_row(void *user, const struct soc_history_row *row)
{
    soc_buf_printf(user, "%lld %lld %.*s %.*s%s\n", (long long)row->number, (long long)row->time_ms,
                   (int)row->what.length, row->what.data, (int)row->detail.length, row->detail.data,
                   row->is_damaged ? " damaged" : "");
    return row->number == 2 ? SOC_EREFUSED : SOC_OK;
}

static void show_memory(void *user, const struct soc_record_memory *entry)
{
    soc_buf_printf(user, "%.*s %llu %.*s\n", (int)entry->agent.length, entry->agent.data,
                   (unsigned long long)entry->number, (int)entry->entry.length, entry->entry.data);
}

ON_ALL(what_is_kept_for_replay_is_read_back)
{
    static const char text[] = "return 1";
    uint64_t hash = soc_hash(text, strlen(text), 0);
    char name[17];
    int64_t count = -1;
    snprintf(name, sizeof(name), "%016llx", (unsigned long long)hash);
    CHECK_INT(soc_store_history_count(world->store, &count, &world->detail), SOC_OK);
    CHECK_INT(count, 0);
    for (uint64_t i = 1; i <= 3; i++)
        PUT(world, HISTORY, history, .time_ms = 10 * i,
            .checksum = i == 2 ? 1 : soc_hash("{}", 2, 0) & INT64_MAX, .what = SOC_SLICE("run"),
            .detail = SOC_SLICE("{}"));
    PUT(world, SOURCE, source, .hash = soc_slice_text(name), .text = SOC_SLICE("return 1"));
    PUT(world, MEMORY, memory, .number = 2, .agent = SOC_SLICE("b"), .entry = SOC_SLICE("2"));
    PUT(world, MEMORY, memory, .number = 1, .agent = SOC_SLICE("b"), .entry = SOC_SLICE("1"));
    PUT(world, MEMORY, memory, .number = 1, .agent = SOC_SLICE("a"), .entry = SOC_SLICE("0"));
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    world_reopen(world);
    world->text.length = 0;
    CHECK_INT(soc_store_history_count(world->store, &count, &world->detail), SOC_OK);
    CHECK_INT(count, 3);
    CHECK_INT(soc_store_history(world->store, show_row, &world->text, &world->detail),
              SOC_EREFUSED);
    CHECK_INT(soc_store_memories(world->store, show_memory, &world->text, &world->detail), SOC_OK);
    CHECK_INT(soc_store_source(world->store, soc_slice_text(name), &world->text, &world->detail),
              SOC_OK);
    CHECK_TEXT(soc_buf_text(&world->text),
               "1 10 run {}\n2 20 run {} damaged\na 1 0\nb 1 1\nb 2 2\nreturn 1");
    CHECK_INT(soc_store_source(world->store, SOC_SLICE("0123"), &world->text, &world->detail),
              SOC_ENOFILE);
}

ON_ALL(however_it_is_folded_the_tables_are_the_same)
{
    struct world other;
    struct soc_buf at_once = {0};
    world_init(&other, IN_MEMORY);
    commit_life(&other, 12);
    soc_buf_put_text(&at_once, world_ask(&other, "dump"));
    commit_life(world, 6);
    while (soc_store_fold(world->store, 1, &world->detail) > 0)
        continue;
    world_reopen(world);
    for (uint64_t number = 7; number <= 12; number++) {
        put_life(world, number);
        CHECK_INT(world_append(world), SOC_OK);
        if (number % 2 == 0)
            CHECK(soc_store_fold(world->store, 100, &world->detail) >= 0);
    }
    CHECK_TEXT(world_ask(world, "dump"), soc_buf_text(&at_once));
    soc_buf_fini(&at_once);
    world_fini(&other);
}

static void a_store_in_memory_has_no_tables_before_it_is_queried(void)
{
    struct world world = {.place = IN_MEMORY};
    struct soc_buf blank = {0};
    world.store = soc_memory_open(&blank);
    commit_life(&world, 2);
    CHECK(strlen(world_load(&world)) > 0);
    CHECK_INT(blank.length, 0);
    CHECK(strlen(world_ask(&world, "dump")) > 100);
    CHECK(blank.length > 0);
    soc_store_close(world.store);
    world.store = soc_memory_open(&blank); /* takes its tables from there */
    CHECK_TEXT(world_ask(&world, "dump"), "[]");
    soc_store_close(world.store);
    soc_buf_fini(&world.batch);
    soc_buf_fini(&world.text);
    soc_buf_fini(&blank);
}

static void a_full_disk_refuses_a_commit_and_keeps_the_rest(void)
{
    struct world world;
    world_init(&world, ON_DISK);
    commit_life(&world, 3);
    soc_disk_arm(world.disk, SOC_DISK_FULL, 1);
    put_life(&world, 4);
    struct soc_buf batch = {0};
    soc_buf_put_slice(&batch, soc_buf_slice(&world.batch));
    CHECK_INT(world_append(&world), SOC_EDISKFULL);
    CHECK_INT(soc_store_sequence(world.store), 3);
    soc_disk_clear(world.disk);
    soc_buf_put_slice(&world.batch, soc_buf_slice(&batch));
    CHECK_INT(world_append(&world), SOC_OK);
    world_reopen(&world);
    CHECK_INT(soc_store_sequence(world.store), 4);
    soc_buf_fini(&batch);
    world_fini(&world);
}

static void a_database_locked_by_another_program_is_named_as_that(void)
{
    struct soc_database database = {0};
    struct soc_detail detail = {0};
    CHECK_INT(soc_database_fail(&database, SQLITE_BUSY_SNAPSHOT, &detail), SOC_EIO);
    CHECK(strstr(detail.text, "locked by another program") != NULL);
    CHECK(!database.has_failed);
}

static void a_lock_of_another_program_is_waited_for_and_loses_nothing(void)
{
    char path[] = "/tmp/society_lock_XXXXXX";
    struct soc_database database = {0};
    struct soc_detail detail = {0};
    sqlite3 *other = NULL;
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    CHECK_INT(soc_database_open(&database, path, SQLITE_OPEN_READWRITE, &detail), SOC_OK);
    CHECK_INT(soc_database_create(&database, &detail), SOC_OK);
    CHECK_INT(sqlite3_open(path, &other), SQLITE_OK);
    CHECK_INT(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(database.db, 20);
    CHECK_INT(soc_database_begin(&database, &detail), SOC_EIO);
    CHECK(strstr(detail.text, "locked by another program") != NULL);
    CHECK(!database.has_failed);
    CHECK_INT(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(soc_database_begin(&database, &detail), SOC_OK);
    CHECK_INT(soc_database_commit(&database, &detail), SOC_OK);
    sqlite3_close(other);
    soc_database_close(&database);
    unlink(path);
}

int main(void)
{
    RUN(a_database_locked_by_another_program_is_named_as_that);
    RUN(a_lock_of_another_program_is_waited_for_and_loses_nothing);
    RUN_ALL(a_new_store_is_empty);
    RUN_ALL(batches_are_numbered_and_counted);
    RUN_ALL(agents_and_contacts_come_in_order_of_origin_then_states);
    RUN_ALL(an_ended_agent_is_loaded_as_ended_and_its_id_may_be_born_again);
    RUN_ALL(ending_and_adopted_agents_are_loaded_as_such);
    RUN_ALL(the_standing_of_an_agent_is_loaded_and_its_births_are_counted);
    RUN_ALL(a_removed_parent_stays_removed_and_a_removed_stranger_leaves_no_trace);
    RUN_ALL(pending_messages_are_loaded_finished_ones_are_not);
    RUN_ALL(every_field_of_every_plain_record_survives_folding);
    RUN_ALL(an_empty_text_is_not_an_absent_one);
    RUN_ALL(a_waiting_activation_keeps_its_effects_and_takes_until_it_ends);
    RUN_ALL(outputs_stay_until_they_are_shown);
    RUN_ALL(a_load_ends_when_its_callback_fails);
    RUN_ALL(a_batch_of_many_megabytes_is_kept);
    RUN_ALL(several_batches_are_committed_at_once_and_in_order);
    RUN_ALL(a_torn_batch_is_refused_and_what_was_before_it_is_kept);
    RUN_ALL(a_look_shows_the_tables_as_they_are_and_a_query_folds_first);
    RUN_ALL(an_unknown_query_is_refused_and_the_store_stays_usable);
    RUN_ALL(a_limit_gives_the_latest_rows_in_ascending_order);
    RUN_ALL(maintenance_has_no_visible_effect);
    RUN_ALL(what_is_kept_for_replay_is_read_back);
    RUN_ALL(however_it_is_folded_the_tables_are_the_same);
    RUN(a_store_in_memory_has_no_tables_before_it_is_queried);
    RUN(a_full_disk_refuses_a_commit_and_keeps_the_rest);
    return check_done();
}

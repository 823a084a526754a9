/* What a store can be queried for, and its answers. */
#include "store_world.h"

#include "env/clock.h"
#include "env/ids.h"

/* A small society with some history. */
static void tell(struct world *world)
{
    world_init(world, IN_MEMORY);
    PUT(world, META, meta, SOC_SLICE("app"), SOC_SLICE("hello.lua"));
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("user"), SOC_SLICE("user"));
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    PUT(world, ROLE, role, NOW_MS + 1, SOC_SLICE("w"), SOC_SLICE("Writer"), SOC_SLICE("Write."),
        SOC_SLICE("llm"), SOC_SLICE("{\"services\":\"text\"}"), SOC_SLICE("root"));
    PUT(world, AGENT, agent, NOW_MS + 2, SOC_SLICE("ann"), SOC_SLICE("w"), SOC_SLICE("root"),
        SOC_SLICE("{\"objective\":\"write\"}"));
    CHECK_INT(world_append(world), SOC_OK);
    PUT(world, MESSAGE, message, .key = 1, .time_ms = NOW_MS + 3, .priority = 0, .flags = 1,
        .attempt = 1, .hops = 1, .expires_ms = NOW_MS + 5003, .deliver_at_ms = NOW_MS + 60000,
        .deadline_ms = NOW_MS + 70000, .from = SOC_SLICE("root"), .to = SOC_SLICE("ann"),
        .type = SOC_SLICE("task"), .payload = SOC_SLICE("{\"text\":\"go\"}"),
        .task_id = SOC_SLICE("t1"), .correlation_id = SOC_SLICE("c1"),
        .external_id = SOC_SLICE("x1"), .traceparent = SOC_SLICE("00-a-b-01"));
    PUT(world, MESSAGE, message, .key = 2, .time_ms = NOW_MS + 9, .priority = 2, .attempt = 1,
        .reply_to = 1, .expires_ms = NOW_MS + 1509, .from = SOC_SLICE("ann"),
        .to = SOC_SLICE("root"), .type = SOC_SLICE("result"), .payload = SOC_SLICE("[1]"),
        .task_id = SOC_SLICE("t1"));
    PUT(world, MESSAGE_END, message_end, 1, NOW_MS + 8, SOC_OUTCOME_PROCESSED);
    PUT(world, MESSAGE_END, message_end, 2, NOW_MS + 20, SOC_OUTCOME_DEAD, SOC_SLICE("no room"));
    PUT(world, EVENT, event, NOW_MS + 21, SOC_SLICE("status"), SOC_SLICE("ann"), SOC_SLICE("t1"),
        SOC_SLICE("c1"), SOC_SLICE("blocked_user"));
    CHECK_INT(world_append(world), SOC_OK);
}

#define FIRST                                                                                      \
    "{\"attempt\":1,\"correlation_id\":\"c1\",\"deadline\":\"2026-01-01T00:01:10.000Z\","          \
    "\"deliver_at\":\"2026-01-01T00:01:00.000Z\",\"external_id\":\"x1\","                          \
    "\"finished_at\":\"2026-01-01T00:00:00.008Z\",\"from\":\"root\",\"hops\":1,"                   \
    "\"id\":\"msg_20260101_000000_003000000000001\",\"payload\":{\"text\":\"go\"},"                \
    "\"priority\":\"urgent\",\"requires_ack\":true,\"status\":\"processed\",\"task_id\":\"t1\","   \
    "\"timestamp\":\"2026-01-01T00:00:00.003Z\",\"to\":\"ann\",\"traceparent\":\"00-a-b-01\","     \
    "\"ttl_seconds\":5,\"type\":\"task\"}"
#define SECOND                                                                                     \
    "{\"attempt\":1,\"finished_at\":\"2026-01-01T00:00:00.020Z\",\"from\":\"ann\",\"hops\":0,"     \
    "\"id\":\"msg_20260101_000000_009000000000002\",\"payload\":[1],\"priority\":\"normal\","      \
    "\"reason\":\"no room\",\"reply_to\":\"msg_20260101_000000_003000000000001\","                 \
    "\"requires_ack\":false,\"status\":\"dead\",\"task_id\":\"t1\","                               \
    "\"timestamp\":\"2026-01-01T00:00:00.009Z\",\"to\":\"root\",\"ttl_seconds\":1.5,"              \
    "\"type\":\"result\"}"

static void message_rows_have_the_form_of_the_envelope(void)
{
    struct world world;
    tell(&world);
    CHECK_TEXT(world_ask(&world, "messages"), "[" FIRST "," SECOND "]");
    CHECK_TEXT(world_ask(&world, "dead_letters"), "[" SECOND "]");
    world_fini(&world);
}

static void messages_can_be_filtered_by_agent_task_type_correlation_and_time(void)
{
    struct world world;
    tell(&world);
    put_message(&world, 30);
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "messages", .agent = SOC_SLICE("ann")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "," SECOND "]");
    query = (struct soc_query){.what = "messages", .type = SOC_SLICE("task")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){.what = "messages", .correlation_id = SOC_SLICE("c1")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){.what = "messages", .task = SOC_SLICE("t1"), .limit = 1};
    CHECK_TEXT(world_ask_for(&world, &query), "[" SECOND "]");
    query = (struct soc_query){.what = "messages", .until_ms = NOW_MS + 9};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){
        .what = "messages", .since_ms = NOW_MS + 4, .until_ms = NOW_MS + 10, .limit = 9};
    CHECK_TEXT(world_ask_for(&world, &query), "[" SECOND "]");
    query = (struct soc_query){.what = "messages", .task = SOC_SLICE("t1"), .limit = 2};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "," SECOND "]");
    query = (struct soc_query){.what = "messages", .since_ms = NOW_MS + 1000};
    CHECK_TEXT(world_ask_for(&world, &query), "[]");
    world_fini(&world);
}

static void agents_roles_and_meta_can_be_queried(void)
{
    struct world world;
    tell(&world);
    PUT(&world, AGENT_END, agent_end, NOW_MS + 30, SOC_SLICE("ann"), SOC_SLICE("done"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_TEXT(world_ask(&world, "agents"),
               "[{\"created_at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"user\","
               "\"role\":{\"id\":\"user\",\"name\":\"user\"}},"
               "{\"created_at\":\"2026-01-01T00:00:00.000Z\",\"id\":\"root\","
               "\"role\":{\"id\":\"root\",\"name\":\"root\"}},"
               "{\"brief\":{\"objective\":\"write\"},\"created_at\":\"2026-01-01T00:00:00.002Z\","
               "\"end_reason\":\"done\",\"ended_at\":\"2026-01-01T00:00:00.030Z\",\"id\":\"ann\","
               "\"parent\":\"root\",\"role\":{\"id\":\"w\",\"name\":\"Writer\"},"
               "\"status\":\"stopped\"}]");
    CHECK_TEXT(world_ask(&world, "roles"),
               "[{\"behaviour\":\"llm\",\"created_at\":\"2026-01-01T00:00:00.001Z\","
               "\"creator\":\"root\",\"id\":\"w\",\"interface_spec\":{\"services\":\"text\"},"
               "\"name\":\"Writer\",\"prompt\":\"Write.\"}]");
    CHECK_TEXT(world_ask(&world, "meta"), "[{\"name\":\"app\",\"value\":\"hello.lua\"}]");
    world_fini(&world);
}

static void contacts_include_those_by_birth_unless_an_entry_says_otherwise(void)
{
    struct world world;
    tell(&world);
    CHECK_TEXT(world_ask(&world, "contacts"),
               "[{\"addedAt\":\"2026-01-01T00:00:00.000Z\",\"id\":\"user\",\"owner\":\"root\","
               "\"role\":\"user\",\"source\":\"system\"},"
               "{\"addedAt\":\"2026-01-01T00:00:00.000Z\",\"id\":\"root\",\"owner\":\"user\","
               "\"role\":\"root\",\"source\":\"system\"},"
               "{\"addedAt\":\"2026-01-01T00:00:00.002Z\",\"id\":\"root\",\"owner\":\"ann\","
               "\"role\":\"root\",\"source\":\"parent\"},"
               "{\"addedAt\":\"2026-01-01T00:00:00.002Z\",\"id\":\"ann\","
               "\"interfaceSpec\":{\"services\":\"text\"},\"owner\":\"root\","
               "\"role\":\"Writer\",\"source\":\"child\"}]");
    PUT(&world, CONTACT, contact, NOW_MS + 40, 4, SOC_SLICE("ann"), SOC_SLICE("user"),
        SOC_SLICE("the user"), SOC_SLICE("{}"), SOC_SLICE("root"), SOC_SLICE("[\"root\"]"));
    PUT(&world, CONTACT_END, contact_end, SOC_SLICE("ann"), SOC_SLICE("root"));
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "contacts", .agent = SOC_SLICE("ann")};
    CHECK_TEXT(world_ask_for(&world, &query),
               "[{\"addedAt\":\"2026-01-01T00:00:00.040Z\",\"id\":\"user\",\"interfaceSpec\":{},"
               "\"introducedBy\":\"root\",\"owner\":\"ann\",\"role\":\"the user\","
               "\"source\":\"introduction\",\"via\":[\"root\"]}]");
    world_fini(&world);
}

static void activity_is_in_order_of_time(void)
{
    struct world world;
    tell(&world);
    struct soc_query query = {.what = "activity", .agent = SOC_SLICE("ann")};
    CHECK_TEXT(world_ask_for(&world, &query),
               "[{\"agent\":\"ann\",\"detail\":\"w\",\"event\":\"spawned\","
               "\"time\":\"2026-01-01T00:00:00.002Z\"},"
               "{\"agent\":\"root\",\"correlation_id\":\"c1\",\"detail\":\"to ann\","
               "\"event\":\"sent\",\"message_id\":\"msg_20260101_000000_003000000000001\","
               "\"task_id\":\"t1\",\"time\":\"2026-01-01T00:00:00.003Z\",\"type\":\"task\"},"
               "{\"agent\":\"ann\",\"correlation_id\":\"c1\",\"event\":\"processed\","
               "\"message_id\":\"msg_20260101_000000_003000000000001\",\"task_id\":\"t1\","
               "\"time\":\"2026-01-01T00:00:00.008Z\",\"type\":\"task\"},"
               "{\"agent\":\"ann\",\"correlation_id\":\"msg_20260101_000000_009000000000002\","
               "\"detail\":\"to root\",\"event\":\"sent\","
               "\"message_id\":\"msg_20260101_000000_009000000000002\",\"task_id\":\"t1\","
               "\"time\":\"2026-01-01T00:00:00.009Z\",\"type\":\"result\"},"
               "{\"agent\":\"root\",\"correlation_id\":\"msg_20260101_000000_009000000000002\","
               "\"detail\":\"no room\",\"event\":\"dead\","
               "\"message_id\":\"msg_20260101_000000_009000000000002\",\"task_id\":\"t1\","
               "\"time\":\"2026-01-01T00:00:00.020Z\",\"type\":\"result\"},"
               "{\"agent\":\"ann\",\"correlation_id\":\"c1\",\"detail\":\"blocked_user\","
               "\"event\":\"status\",\"task_id\":\"t1\","
               "\"time\":\"2026-01-01T00:00:00.021Z\"}]");
    query = (struct soc_query){
        .what = "activity", .correlation_id = SOC_SLICE("c1"), .since_ms = NOW_MS + 4, .limit = 1};
    CHECK(strstr(world_ask_for(&world, &query), "[{\"agent\":\"ann\",\"correlation_id\":\"c1\","
                                                "\"detail\":\"blocked_user\"") != NULL);
    world_fini(&world);
}

static void an_unknown_query_is_refused(void)
{
    struct world world;
    tell(&world);
    struct soc_query query = {.what = "secrets"};
    CHECK_INT(soc_store_query(world.store, &query, &world.text, &world.detail), SOC_EINVAL);
    CHECK_INT(world.text.length, 0);
    world_fini(&world);
}

static void a_range_of_time_is_found_among_many_messages(void)
{
    struct world world;
    world_init(&world, IN_MEMORY);
    for (uint64_t key = 1; key <= 5000; key++)
        PUT(&world, MESSAGE, message, .key = key * 1000 + 7, .time_ms = NOW_MS + key / 3);
    CHECK_INT(world_append(&world), SOC_OK);
    for (int64_t at = NOW_MS; at < NOW_MS + 1700; at += 97) {
        struct soc_query query = {.what = "messages", .since_ms = at, .until_ms = at + 1};
        int count = 0;
        const char *rows = world_ask_for(&world, &query);
        while ((rows = strstr(rows, "\"id\":")) != NULL) {
            rows++;
            count++;
        }
        CHECK_INT(count, at == NOW_MS ? 2 : at - NOW_MS < 1666 ? 3 : at - NOW_MS == 1666 ? 3 : 0);
    }
    world_fini(&world);
}

int main(void)
{
    RUN(message_rows_have_the_form_of_the_envelope);
    RUN(messages_can_be_filtered_by_agent_task_type_correlation_and_time);
    RUN(agents_roles_and_meta_can_be_queried);
    RUN(contacts_include_those_by_birth_unless_an_entry_says_otherwise);
    RUN(activity_is_in_order_of_time);
    RUN(an_unknown_query_is_refused);
    RUN(a_range_of_time_is_found_among_many_messages);
    return check_done();
}

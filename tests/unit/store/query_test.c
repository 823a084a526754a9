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
    "\"type\":\"result\""

static void message_rows_have_the_form_of_the_envelope(void)
{
    struct world world;
    tell(&world);
    CHECK_TEXT(world_ask(&world, "messages"), "[" FIRST "," SECOND "}]");
    CHECK_TEXT(world_ask(&world, "dead_letters"), "[" SECOND ",\"tries\":1}]");
    world_fini(&world);
}

static void messages_can_be_filtered_by_agent_task_type_correlation_and_time(void)
{
    struct world world;
    tell(&world);
    put_message(&world, 30);
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "messages", .agent = SOC_SLICE("ann")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "," SECOND "}]");
    query = (struct soc_query){.what = "messages", .type = SOC_SLICE("task")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){.what = "messages", .correlation_id = SOC_SLICE("c1")};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){.what = "messages", .task = SOC_SLICE("t1"), .limit = 1};
    CHECK_TEXT(world_ask_for(&world, &query), "[" SECOND "}]");
    query = (struct soc_query){.what = "messages", .until_ms = NOW_MS + 9};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "]");
    query = (struct soc_query){
        .what = "messages", .since_ms = NOW_MS + 4, .until_ms = NOW_MS + 10, .limit = 9};
    CHECK_TEXT(world_ask_for(&world, &query), "[" SECOND "}]");
    query = (struct soc_query){.what = "messages", .task = SOC_SLICE("t1"), .limit = 2};
    CHECK_TEXT(world_ask_for(&world, &query), "[" FIRST "," SECOND "}]");
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

static void a_contact_that_has_ended_still_has_a_role(void)
{
    struct world world;
    world_init(&world, IN_MEMORY);
    PUT(&world, AGENT, agent, 1, SOC_SLICE("ann"), SOC_SLICE("r"));
    PUT(&world, AGENT, agent, 1, SOC_SLICE("bob"), SOC_SLICE("tester"));
    PUT(&world, CONTACT, contact, 2, 6, SOC_SLICE("ann"), SOC_SLICE("bob"));
    PUT(&world, AGENT_END, agent_end, 3, SOC_SLICE("bob"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(world_fold(&world), 0);
    CHECK(strstr(world_ask(&world, "contacts"), "\"role\":\"tester\"") != NULL);
    world_fini(&world);
}

static void activity_is_in_order_of_lines(void)
{
    struct world world;
    tell(&world);
    struct soc_query query = {.what = "activity", .agent = SOC_SLICE("ann")};
    CHECK_TEXT(
        world_ask_for(&world, &query),
        "[{\"agent\":\"ann\",\"detail\":\"w\",\"event\":\"spawned\",\"line\":4,\"other\":\"root\","
        "\"time\":\"2026-01-01T00:00:00.002Z\"},"
        "{\"agent\":\"root\",\"correlation_id\":\"c1\",\"detail\":\"to ann\","
        "\"event\":\"sent\",\"line\":5,\"message_id\":\"msg_20260101_000000_003000000000001\","
        "\"other\":\"ann\",\"task_id\":\"t1\",\"time\":\"2026-01-01T00:00:00.003Z\",\"type\":"
        "\"task\"},"
        "{\"agent\":\"ann\",\"correlation_id\":\"msg_20260101_000000_009000000000002\","
        "\"detail\":\"to root\",\"event\":\"sent\",\"line\":6,"
        "\"message_id\":\"msg_20260101_000000_009000000000002\",\"other\":\"root\",\"task_id\":"
        "\"t1\","
        "\"time\":\"2026-01-01T00:00:00.009Z\",\"type\":\"result\"},"
        "{\"agent\":\"ann\",\"correlation_id\":\"c1\",\"event\":\"processed\",\"line\":7,"
        "\"message_id\":\"msg_20260101_000000_003000000000001\",\"other\":\"root\",\"task_id\":"
        "\"t1\","
        "\"time\":\"2026-01-01T00:00:00.008Z\",\"type\":\"task\"},"
        "{\"agent\":\"root\",\"correlation_id\":\"msg_20260101_000000_009000000000002\","
        "\"detail\":\"no room\",\"event\":\"dead\",\"line\":8,"
        "\"message_id\":\"msg_20260101_000000_009000000000002\",\"other\":\"ann\",\"task_id\":"
        "\"t1\","
        "\"time\":\"2026-01-01T00:00:00.020Z\",\"type\":\"result\"},"
        "{\"agent\":\"ann\",\"correlation_id\":\"c1\",\"detail\":\"blocked_user\","
        "\"event\":\"status\",\"line\":9,\"task_id\":\"t1\","
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
    CHECK_INT(soc_lookup_run(world.store, &query, &world.text, &world.detail), SOC_EINVAL);
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

/* Reads a page of letters; lends its records. */
static struct soc_letters_page read_page(struct world *world, const struct soc_query *query,
                                         struct soc_buf *bytes)
{
    struct soc_letters_page page;
    bytes->length = 0;
    CHECK_INT(soc_lookup_run(world->store, query, bytes, NULL), SOC_OK);
    CHECK(bytes->length >= sizeof(page));
    memcpy(&page, bytes->data, sizeof(page));
    return page;
}

#define DEAD_COUNT 1500

static void a_page_of_dead_letters_is_bounded(void)
{
    struct world world;
    struct soc_buf bytes = {0};
    world_init(&world, IN_MEMORY);
    for (uint64_t key = 1; key <= DEAD_COUNT; key++) {
        put_message(&world, key);
        PUT(&world, MESSAGE_END, message_end, key, NOW_MS, SOC_OUTCOME_DEAD);
    }
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "letters", .span = {.is_count = true}};
    struct soc_letters_page page = read_page(&world, &query, &bytes);
    CHECK_INT(page.count, 1000);
    CHECK_INT(page.next, 1000);
    CHECK_INT(page.line, 2 * DEAD_COUNT);
    CHECK_INT(bytes.length, sizeof(page));
    query.span.after = page.next;
    page = read_page(&world, &query, &bytes);
    CHECK_INT(page.count, DEAD_COUNT - 1000);
    CHECK_INT(page.next, 0);
    query.span = (struct soc_letters_span){.key = 7};
    page = read_page(&world, &query, &bytes);
    CHECK_INT(page.count, 1);
    CHECK_INT(page.next, 0);
    soc_buf_fini(&bytes);
    world_fini(&world);
}

static void a_page_of_large_dead_letters_has_few_of_them(void)
{
    struct world world;
    struct soc_buf bytes = {0};
    struct soc_buf payload = {0};
    world_init(&world, IN_MEMORY);
    soc_buf_put_byte(&payload, '"');
    for (int i = 0; i < 100000; i++)
        soc_buf_put_byte(&payload, 'x');
    soc_buf_put_byte(&payload, '"');
    for (uint64_t key = 1; key <= 10; key++) {
        PUT(&world, MESSAGE, message, .key = key, .payload = soc_buf_slice(&payload));
        PUT(&world, MESSAGE_END, message_end, key, NOW_MS, SOC_OUTCOME_DEAD);
    }
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "letters"};
    for (uint64_t next = 3; next <= 9; next += 3) {
        struct soc_letters_page page = read_page(&world, &query, &bytes);
        CHECK_INT(page.count, 3);
        CHECK_INT(page.next, next);
        CHECK(bytes.length < 400000);
        query.span.after = page.next;
    }
    CHECK_INT(read_page(&world, &query, &bytes).next, 0);
    soc_buf_fini(&payload);
    soc_buf_fini(&bytes);
    world_fini(&world);
}

/* A letter that died behind that line is none of those there were. */
static void letters_can_be_asked_as_of_a_line_with_their_tasks(void)
{
    struct world world;
    struct soc_buf bytes = {0};
    struct soc_record record;
    world_init(&world, IN_MEMORY);
    put_message(&world, 1);
    put_message(&world, 2);
    PUT(&world, TASK, task, .key = 1, .state = 2, .owner = SOC_SLICE("root"));
    PUT(&world, TASK, task, .key = 2, .state = 3, .parent = 1, .owner = SOC_SLICE("root"));
    PUT(&world, MESSAGE_END, message_end, 2, NOW_MS, SOC_OUTCOME_EXPIRED);
    CHECK_INT(world_append(&world), SOC_OK);
    struct soc_query query = {.what = "letters"};
    struct soc_letters_page page = read_page(&world, &query, &bytes);
    CHECK_INT(page.count, 1);
    static const enum soc_record_type types[] = {SOC_RECORD_MESSAGE, SOC_RECORD_MESSAGE_END,
                                                 SOC_RECORD_TASK, SOC_RECORD_TASK};
    struct soc_slice rest = soc_slice(bytes.data + sizeof(page), bytes.length - sizeof(page));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        CHECK(soc_record_next(&rest, &record) > 0 && record.type == types[i]);
    CHECK_INT(record.task.key, 1); /* the nearest first */
    CHECK_INT(rest.length, 0);
    query.span.line = page.line;
    PUT(&world, MESSAGE_END, message_end, 1, NOW_MS, SOC_OUTCOME_DEAD);
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(read_page(&world, &query, &bytes).count, 1);
    query.span.line = 0;
    CHECK_INT(read_page(&world, &query, &bytes).count, 2);
    soc_buf_fini(&bytes);
    world_fini(&world);
}

int main(void)
{
    RUN(message_rows_have_the_form_of_the_envelope);
    RUN(messages_can_be_filtered_by_agent_task_type_correlation_and_time);
    RUN(agents_roles_and_meta_can_be_queried);
    RUN(contacts_include_those_by_birth_unless_an_entry_says_otherwise);
    RUN(a_contact_that_has_ended_still_has_a_role);
    RUN(activity_is_in_order_of_lines);
    RUN(an_unknown_query_is_refused);
    RUN(a_page_of_dead_letters_is_bounded);
    RUN(a_page_of_large_dead_letters_has_few_of_them);
    RUN(letters_can_be_asked_as_of_a_line_with_their_tasks);
    RUN(a_range_of_time_is_found_among_many_messages);
    return check_done();
}

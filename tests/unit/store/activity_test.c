/* The activity log: its lines and their order, however the journal is folded.
 *
 * Covers: core/store/tables/statements.c, core/store/tables/columns.c */
#include "store_world.h"

/* Ends the batch, and folds it if `is_folded`. */
static void end_batch(struct world *world, bool is_folded)
{
    CHECK_INT(world_append(world), SOC_OK);
    if (is_folded)
        CHECK_INT(world_fold(world), 0);
}

/* Everything that a later record changes or removes, in one millisecond. */
static void tell(struct world *world, bool is_folded)
{
    world_init(world, IN_MEMORY);
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    PUT(world, ROLE, role, NOW_MS, .id = SOC_SLICE("w"), .creator = SOC_SLICE("root"));
    end_batch(world, is_folded);
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("ann"), SOC_SLICE("w"), SOC_SLICE("root"));
    PUT(world, CONTACT, contact, NOW_MS, 6, SOC_SLICE("ann"), SOC_SLICE("bob"));
    PUT(world, MESSAGE, message, .key = 1, .time_ms = NOW_MS, .from = SOC_SLICE("root"),
        .to = SOC_SLICE("ann"), .type = SOC_SLICE("task"), .task_id = SOC_SLICE("t1"));
    end_batch(world, is_folded);
    PUT(world, EVENT, event, NOW_MS, SOC_SLICE("blocked"), SOC_SLICE("ann"));
    PUT(world, MESSAGE_END, message_end, 1, NOW_MS, SOC_OUTCOME_DEAD, SOC_SLICE("lost"));
    end_batch(world, is_folded);
    PUT(world, MESSAGE_AGAIN, message_again, 1, NOW_MS, 2);
    PUT(world, CONTACT_END, contact_end, SOC_SLICE("ann"), SOC_SLICE("bob"));
    PUT(world, ROLE, role, NOW_MS, .id = SOC_SLICE("w"));
    end_batch(world, is_folded);
    PUT(world, MESSAGE_END, message_end, 1, NOW_MS, SOC_OUTCOME_EXPIRED);
    end_batch(world, is_folded);
    PUT(world, EVENT, event, NOW_MS, SOC_SLICE("unblocked"), SOC_SLICE("ann"));
    PUT(world, MESSAGE_END, message_end, 1, NOW_MS, SOC_OUTCOME_DROPPED);
    PUT(world, AGENT_PARENT, agent_parent, NOW_MS, SOC_SLICE("ann"), SOC_SLICE("zoe"));
    PUT(world, AGENT_END, agent_end, NOW_MS, SOC_SLICE("ann"), SOC_SLICE("done"));
    end_batch(world, is_folded);
}

/* Appends the events of the answer, each with its agent. */
static const char *events(struct world *world, const struct soc_query *query)
{
    static char text[1024];
    size_t length = 0;
    text[0] = '\0';
    for (const char *at = world_ask_for(world, query);
         (at = strstr(at, "{\"agent\":\"")) != NULL;) {
        at += strlen("{\"agent\":\"");
        const char *event = strstr(at, "\"event\":\"") + strlen("\"event\":\"");
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%.*s %.*s",
                                   length == 0 ? "" : ", ", (int)strcspn(at, "\""), at,
                                   (int)strcspn(event, "\""), event);
        at = event;
    }
    return text;
}

#define STORY                                                                                      \
    "root spawned, root role_created, ann spawned, ann contact_added, root sent, ann blocked,"     \
    " ann dead, ann sent_again, ann expired, ann unblocked, ann dropped, ann stopped"

static void lines_keep_the_order_of_events(void)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        struct world world;
        tell(&world, is_folded == 1);
        struct soc_query query = {.what = "activity"};
        CHECK_TEXT(events(&world, &query), STORY);
        query.limit = 3;
        CHECK_TEXT(events(&world, &query), "ann unblocked, ann dropped, ann stopped");
        query = (struct soc_query){.what = "activity", .task = SOC_SLICE("t1")};
        CHECK_TEXT(events(&world, &query),
                   "root sent, ann dead, ann sent_again, ann expired, ann dropped");
        /* The line keeps the parent as well. */
        query = (struct soc_query){
            .what = "activity", .agent = SOC_SLICE("root"), .type = SOC_SLICE("spawned")};
        CHECK_TEXT(events(&world, &query), "root spawned, ann spawned");
        world_fini(&world);
    }
}

static void the_tables_are_the_same_whether_folded_at_once_or_late(void)
{
    struct world at_once;
    struct world late;
    tell(&at_once, true);
    tell(&late, false);
    struct soc_buf expected = {0};
    soc_buf_put_text(&expected, world_ask(&at_once, "dump"));
    CHECK_TEXT(world_ask(&late, "dump"), soc_buf_text(&expected));
    soc_buf_fini(&expected);
    world_fini(&at_once);
    world_fini(&late);
}

static void places_continue_after_a_restart(void)
{
    struct world world;
    world_init(&world, IN_DIRECTORY);
    for (uint64_t key = 1; key <= 6; key++) {
        PUT(&world, EVENT, event, NOW_MS, SOC_SLICE("noted"), SOC_SLICE("root"));
        PUT(&world, MESSAGE, message, .key = key, .time_ms = NOW_MS, .from = SOC_SLICE("root"),
            .to = SOC_SLICE("ann"));
        PUT(&world, MESSAGE_END, message_end, key, NOW_MS, SOC_OUTCOME_PROCESSED);
        end_batch(&world, key % 3 == 0);
        world_reopen(&world);
    }
    struct soc_query query = {.what = "activity"};
#define TURN "root noted, root sent, ann processed"
    CHECK_TEXT(events(&world, &query), TURN ", " TURN ", " TURN ", " TURN ", " TURN ", " TURN);
    world_fini(&world);
}

/* A broadcast that `ann` has read and `bob` has not, which `cyd` does not read and before
 * which `dan` was not born. */
static void tell_all(struct world *world, bool is_folded)
{
    world_init(world, IN_MEMORY);
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("root"), SOC_SLICE("root"));
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("ann"), SOC_SLICE("w"), .since = 1);
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("bob"), SOC_SLICE("w"), .since = 7);
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("cyd"), SOC_SLICE("w"), .since = 7);
    PUT(world, MESSAGE, message, .key = 7, .time_ms = NOW_MS, .flags = SOC_MESSAGE_IS_BROADCAST,
        .from = SOC_SLICE("root"), .to = SOC_SLICE("All"), .type = SOC_SLICE("broadcast"));
    PUT(world, BROADCAST_END, broadcast_end, 7, NOW_MS, SOC_OUTCOME_PENDING, SOC_SLICE("cyd"));
    PUT(world, AGENT, agent, NOW_MS, SOC_SLICE("dan"), SOC_SLICE("w"), .since = 8);
    end_batch(world, is_folded);
    PUT(world, BROADCAST_END, broadcast_end, 7, NOW_MS, SOC_OUTCOME_PROCESSED, SOC_SLICE("ann"));
    end_batch(world, is_folded);
}

static bool has_message(struct world *world, const char *agent)
{
    struct soc_query query = {.what = "messages", .agent = soc_slice_text(agent)};
    return strstr(world_ask_for(world, &query), "\"to\":\"All\"") != NULL;
}

static void readers_find_their_broadcasts(void)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        struct world world;
        tell_all(&world, is_folded == 1);
        struct soc_query query = {.what = "activity", .type = SOC_SLICE("broadcast")};
        CHECK_TEXT(events(&world, &query), "root sent, ann processed");
        CHECK(has_message(&world, "root"));
        CHECK(has_message(&world, "ann"));
        CHECK(has_message(&world, "bob"));
        CHECK(!has_message(&world, "cyd"));
        CHECK(!has_message(&world, "dan"));
        PUT(&world, BROADCAST_END, broadcast_end, 7, NOW_MS, SOC_OUTCOME_DEAD, SOC_SLICE("bob"));
        PUT(&world, BROADCAST_END, broadcast_end, 7, NOW_MS);
        PUT(&world, MESSAGE_END, message_end, 7, NOW_MS, SOC_OUTCOME_PROCESSED);
        end_batch(&world, is_folded == 1);
        /* The dead letter that bob's copy becomes has lines of its own. */
        CHECK_TEXT(events(&world, &query), "root sent, ann processed, All processed");
        CHECK(has_message(&world, "ann"));
        CHECK(!has_message(&world, "bob"));
        CHECK(!has_message(&world, "cyd"));
        world_fini(&world);
    }
}

int main(void)
{
    RUN(lines_keep_the_order_of_events);
    RUN(the_tables_are_the_same_whether_folded_at_once_or_late);
    RUN(places_continue_after_a_restart);
    RUN(readers_find_their_broadcasts);
    return check_done();
}

/* Looks at one thing: an agent and those below it, why it waits, a message, an inbox item.
 *
 * Covers: core/kernel/operations/agent_looks.c, core/kernel/operations/tree.c
 * Covers: core/kernel/operations/why.c, core/kernel/operations/message_looks.c
 * Covers: core/kernel/operations/awaiting.c */
#include <stdio.h>

#include "host_asking.h"
#include "kernel/operations/awaiting.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/human/human.h"

static void close_world(struct world *world, struct asked *asked)
{
    soc_buf_fini(&asked->answer);
    soc_call_fini(&asked->call);
    world_close(world);
}

static void has(const struct asked *asked, const char *text)
{
    if (strstr(soc_buf_text((struct soc_buf *)&asked->answer), text) == NULL)
        CHECK_TEXT(soc_buf_text((struct soc_buf *)&asked->answer), text);
}

static void has_not(const struct asked *asked, const char *text)
{
    if (strstr(soc_buf_text((struct soc_buf *)&asked->answer), text) != NULL)
        CHECK_TEXT(soc_buf_text((struct soc_buf *)&asked->answer), text);
}

/* Sends as root, who knows its children. */
static void tell(struct world *world, const char *params, struct asked *asked)
{
    struct soc_caller root = {
        .name = SOC_SLICE("root"), .scopes = SOC_SCOPE_WRITE, .agent = SOC_SLICE("root")};
    ask_as(world, &root, "send", params, asked);
    CHECK_INT(asked->count, 1);
    CHECK(!asked->is_error);
}

static void an_agent_is_shown_also_when_it_has_ended(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller ann = {
        .name = SOC_SLICE("x"), .scopes = SOC_SCOPE_ALL, .agent = SOC_SLICE("ann")};
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "agent", "{\"agent\":\"ann\"}", &asked);
    CHECK_INT(check_shape("agent", &asked), 1);
    has(&asked, "\"parent\":\"root\"");
    ask_as(&world, &ann, "agent", "{\"agent\":\"root\"}", &asked);
    CHECK(is_code(&asked, "forbidden"));
    ask(&world, "terminate", "{\"agent\":\"ann\",\"force\":true,\"reason\":\"done\"}", &asked);
    ask(&world, "agent", "{\"agent\":\"ann\"}", &asked);
    CHECK_INT(check_shape("agent", &asked), 1);
    has(&asked, "\"end_reason\":\"done\"");
    ask(&world, "agent", "{\"agent\":\"nobody\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    close_world(&world, &asked);
}

static void a_tree_has_parents_before_children_down_to_its_depth(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    spawn(&world, "ann");
    spawn(&world, "bob");
    spawn_below(&world, "ann", "cid");
    ask(&world, "tree", "{}", &asked);
    CHECK_INT(check_shape("tree", &asked), 5);
    static const char *const order[] = {"\"user\"", "\"root\"", "\"ann\"", "\"cid\"", "\"bob\""};
    const char *at = soc_buf_text(&asked.answer);
    for (int i = 0; i < 5; i++) {
        char id[32];
        snprintf(id, sizeof(id), "\"id\":%s", order[i]);
        at = at == NULL ? NULL : strstr(at, id);
        CHECK(at != NULL);
    }
    ask(&world, "tree", "{\"root\":\"root\",\"depth\":1}", &asked);
    CHECK_INT(check_shape("tree", &asked), 3);
    has_not(&asked, "\"id\":\"cid\"");
    has(&asked, "{\"children\":1,\"below\":[{\"count\":1,\"status\":\"idle\"}],");
    ask(&world, "tree", "{\"root\":\"ann\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 2);
    has(&asked, "\"depth\":1");
    ask(&world, "tree", "{\"root\":\"nobody\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    close_world(&world, &asked);
}

static void a_tree_has_children_of_agents_on_other_hosts(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    spawn(&world, "ann");
    spawn_below(&world, "ann", "cid");
    struct soc_agent *elsewhere = soc_registry_need(world.host, SOC_SLICE("root@beta"));
    soc_registry_set_parent(soc_registry_find(world.host, SOC_SLICE("ann")), elsewhere);
    ask(&world, "tree", "{}", &asked);
    CHECK_INT(check_shape("tree", &asked), 5);
    has(&asked, "\"id\":\"root@beta\"");
    has(&asked, "\"depth\":1,\"id\":\"ann\",\"parent\":\"root@beta\"");
    has(&asked, "\"depth\":2,\"id\":\"cid\"");
    ask(&world, "tree", "{\"root\":\"root@beta\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 3);
    ask(&world, "tree", "{\"root\":\"root\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 1);
    close_world(&world, &asked);
}

static void a_large_family_is_counted_by_role_and_status(void)
{
    struct world world;
    struct asked asked = {0};
    char id[16];
    open_world(&world);
    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof(id), "w%d", i);
        spawn(&world, id);
    }
    ask(&world, "tree", "{\"root\":\"root\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 51);
    spawn(&world, "one_more");
    ask(&world, "pause", "{\"agent\":\"w7\"}", &asked);
    ask(&world, "tree", "{\"root\":\"root\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 1);
    has(&asked, "{\"count\":50,\"role\":\"worker\",\"status\":\"idle\"}");
    has(&asked, "{\"count\":1,\"role\":\"worker\",\"status\":\"paused\"}");
    has_not(&asked, "\"below\"");
    close_world(&world, &asked);
}

static void agents_below_a_large_family_are_counted_by_status(void)
{
    struct world world;
    struct asked asked = {0};
    char id[16];
    open_world(&world);
    for (int i = 0; i < 51; i++) {
        snprintf(id, sizeof(id), "w%d", i);
        spawn(&world, id);
    }
    spawn_below(&world, "w1", "child");
    spawn_below(&world, "child", "grandchild");
    spawn_below(&world, "w2", "other");
    ask(&world, "pause", "{\"agent\":\"grandchild\"}", &asked);
    ask(&world, "tree", "{\"root\":\"root\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 1);
    has(&asked, "\"below\":[{\"count\":2,\"status\":\"idle\"},"
                "{\"count\":1,\"status\":\"paused\"}]");
    ask(&world, "tree", "{\"root\":\"w1\"}", &asked);
    CHECK_INT(check_shape("tree", &asked), 3);
    has_not(&asked, "\"below\"");
    close_world(&world, &asked);
}

static bool is_agent(const struct soc_activation *activation, const char *id)
{
    return soc_slice_equal(soc_agent_id(activation->agent), soc_slice_text(id));
}

/* root asks ann, ann asks bob, and bob sleeps. */
static enum soc_turn_end worker_that_asks_on(struct world *world, struct soc_activation *activation,
                                             struct soc_buf *error)
{
    struct soc_slice reply;
    if (is_agent(activation, "root"))
        PASS(step_request(world, "ann", 60000, &reply, error));
    else if (is_agent(activation, "ann"))
        PASS(step_request(world, "bob", 60000, &reply, error));
    else
        PASS(step_sleep(world, 1000, error));
    return SOC_TURN_DONE;
}

static void why_follows_the_waits_to_their_end(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    world.worker = worker_that_asks_on;
    spawn(&world, "ann");
    spawn_below(&world, "ann", "bob");
    ask(&world, "why", "{\"agent\":\"root\"}", &asked);
    CHECK_INT(check_shape("why", &asked), 1);
    has(&asked, "\"end\":\"idle\"");
    ask(&world, "send", "{\"to\":\"root\",\"payload\":1,\"type\":\"task\",\"task_id\":\"t1\"}",
        &asked);
    ask(&world, "why", "{\"agent\":\"root\"}", &asked);
    CHECK_INT(check_shape("why", &asked), 3);
    has(&asked, "\"agent\":\"bob\",\"kind\":\"sleep\"");
    has(&asked, "\"end\":\"sleep\"");
    has(&asked, "{\"op\":\"cancel\",\"task\":\"t1\"}");
    ask(&world, "pause", "{\"agent\":\"bob\"}", &asked);
    ask(&world, "why", "{\"agent\":\"root\"}", &asked);
    has(&asked, "\"end\":\"paused\"");
    has(&asked, "{\"op\":\"resume\",\"agent\":\"bob\"}");
    ask(&world, "resume", "{\"agent\":\"bob\"}", &asked);
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    ask(&world, "why", "{\"agent\":\"root\"}", &asked);
    CHECK_INT(check_shape("why", &asked), 2); /* what ann waits for does not matter now */
    has(&asked, "{\"op\":\"resume\",\"agent\":\"ann\"}");
    ask(&world, "why", "{\"agent\":\"nobody\"}", &asked);
    CHECK(is_code(&asked, "agent_not_found"));
    close_world(&world, &asked);
}

static enum soc_turn_end worker_that_replies(struct world *world, struct soc_activation *activation,
                                             struct soc_buf *error)
{
    if (!is_agent(activation, "root"))
        PASS(step_reply(world, "{\"text\":\"hello\"}", error));
    return SOC_TURN_DONE;
}

/* Copies the first id in the answer. */
static void copy_id(struct asked *asked, char id[SOC_MESSAGE_ID_BYTES + 1])
{
    const char *at = strstr(soc_buf_text(&asked->answer), "\"msg_");
    if (at == NULL)
        CHECK_TEXT(soc_buf_text(&asked->answer), "an id");
    if (at == NULL)
        return;
    memcpy(id, at + 1, SOC_MESSAGE_ID_BYTES);
    id[SOC_MESSAGE_ID_BYTES] = '\0';
}

static const char *about(const char *id, const char *more)
{
    static char params[160];
    snprintf(params, sizeof(params), "{\"message_id\":\"%s\"%s}", id, more);
    return params;
}

static void a_message_is_shown_with_its_reply_and_its_life(void)
{
    struct world world;
    struct asked asked = {0};
    char id[SOC_MESSAGE_ID_BYTES + 1];
    char reply[SOC_MESSAGE_ID_BYTES + 1];
    struct soc_caller ann = {
        .name = SOC_SLICE("x"), .scopes = SOC_SCOPE_ALL, .agent = SOC_SLICE("ann")};
    open_world(&world);
    world.worker = worker_that_replies;
    spawn(&world, "ann");
    spawn(&world, "bob");
    tell(&world, "{\"to\":\"bob\",\"payload\":\"hi\"}", &asked);
    copy_id(&asked, id);
    ask(&world, "message", about(id, ""), &asked);
    CHECK_INT(check_shape("message", &asked), 1);
    has(&asked, "\"reply\":{");
    has(&asked, "\"event\":\"processed\"");
    has_not(&asked, "\"cause\"");
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_buf_slice(&asked.answer));
    CHECK(soc_json_next(&walk));
    struct soc_slice found =
        soc_json_plain_string(soc_json_member(soc_json_member(walk.value, "reply"), "id"));
    CHECK_INT(found.length, SOC_MESSAGE_ID_BYTES);
    memcpy(reply, found.data, found.length);
    reply[SOC_MESSAGE_ID_BYTES] = '\0';
    ask(&world, "message", about(reply, ""), &asked);
    CHECK_INT(check_shape("message", &asked), 1);
    has(&asked, "\"cause\":{");
    ask_as(&world, &ann, "message", about(id, ""), &asked);
    CHECK(is_code(&asked, "message_not_found")); /* between others */
    ask(&world, "message", about("msg_20260101_000000_000000000000009", ",\"wait_ms\":50"), &asked);
    CHECK(is_code(&asked, "message_not_found"));
    close_world(&world, &asked);
}

static void a_message_is_waited_for_until_it_is_answered(void)
{
    struct world world;
    struct asked asked = {0};
    struct asked other = {0};
    char id[SOC_MESSAGE_ID_BYTES + 1];
    open_world(&world);
    world.worker = worker_that_replies;
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world, "{\"to\":\"ann\",\"payload\":\"hi\"}", &asked);
    copy_id(&asked, id);
    ask(&world, "message", about(id, ""), &asked);
    has_not(&asked, "\"reply\":{");
    ask_as(&world, &soc_caller_owner, "message", about(id, ",\"wait_ms\":500"), &asked);
    CHECK_INT(asked.count, 0);
    int64_t begun_ms = soc_host_now(world.host);
    soc_clock_move(soc_host_clock(world.host), begun_ms + 499);
    world_settle(&world);
    CHECK_INT(asked.count, 0);
    soc_clock_move(soc_host_clock(world.host), begun_ms + 500);
    world_settle(&world);
    soc_batch_seal(world.host);
    CHECK_INT(asked.count, 1); /* its time is over: it is told as it is */
    CHECK_INT(check_shape("message", &asked), 1);
    has_not(&asked, "\"reply\":{");
    ask_as(&world, &soc_caller_owner, "message", about(id, ",\"wait_ms\":500"), &asked);
    ask_as(&world, &soc_caller_owner, "message", about(id, ",\"wait_ms\":60000"), &other);
    CHECK_INT(asked.count + other.count, 0);
    struct asked order = {0};
    ask(&world, "resume", "{\"agent\":\"ann\"}", &order);
    CHECK_INT(asked.count, 1);
    CHECK_INT(other.count, 1);
    has(&asked, "\"reply\":{");
    has(&other, "\"reply\":{");
    CHECK(world.host->awaiting.first == NULL);
    soc_buf_fini(&order.answer);
    soc_call_fini(&order.call);
    soc_buf_fini(&other.answer);
    soc_call_fini(&other.call);
    close_world(&world, &asked);
}

static void a_host_may_end_while_calls_wait(void)
{
    struct world world;
    struct asked asked = {0};
    char id[SOC_MESSAGE_ID_BYTES + 1];
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world, "{\"to\":\"ann\",\"payload\":\"hi\"}", &asked);
    copy_id(&asked, id);
    ask_as(&world, &soc_caller_owner, "message", about(id, ",\"wait_ms\":500"), &asked);
    world_close(&world);
    CHECK_INT(asked.count, 0);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
}

/* Puts an item of the agent into the inbox, about the message in its mailbox. */
static void escalate(struct world *world, const char *id, const char *title)
{
    struct soc_agent *agent = soc_registry_find(world->host, soc_slice_text(id));
    struct soc_escalation escalation = {.title = soc_slice_text(title), .timeout_ms = -1};
    soc_turn_begin(world->host, agent, NULL);
    world->host->turn.cause = soc_mailbox_find(&agent->mailbox, (struct soc_mail_filter){0});
    soc_human_escalate(world->host, &escalation);
    soc_commit_turn(world->host);
}

static void copy_item(struct asked *asked, char params[128], const char *name, const char *more)
{
    const char *at = strstr(soc_buf_text(&asked->answer), "\"item_2");
    CHECK(at != NULL);
    snprintf(params, 128, "{\"%s\":%.*s%s}", name, SOC_ITEM_ID_BYTES + 2, at, more);
}

static void a_refusal_names_the_first_hundred_items_of_a_feature(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_buf first = {0};
    struct soc_json_walk walk;
    int count = 0;
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world, "{\"to\":\"ann\",\"payload\":1,\"task_id\":\"t1\"}", &asked);
    for (int i = 0; i < 103; i++)
        escalate(&world, "ann", "Which?");
    ask(&world, "inbox", "{}", &asked);
    soc_json_walk(&walk, soc_buf_slice(&asked.answer));
    while (count++ < 100 && soc_json_next(&walk)) {
        soc_buf_put_text(&first, count == 1 ? "[" : ",");
        soc_buf_put_slice(&first, soc_json_member(walk.value, "id"));
    }
    soc_buf_put_byte(&first, ']');
    ask(&world, "decide_feature", "{\"feature\":\"t1\",\"decision\":\"reject\"}", &asked);
    CHECK(is_code(&asked, "ambiguous"));
    CHECK(soc_slice_equal(soc_json_member(soc_buf_slice(&asked.answer), "items"),
                          soc_buf_slice(&first)));
    soc_buf_fini(&first);
    close_world(&world, &asked);
}

static void an_item_is_shown_with_the_messages_it_came_by(void)
{
    struct world world;
    struct asked asked = {0};
    char params[128];
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world,
         "{\"to\":\"ann\",\"payload\":\"do it\",\"task_id\":\"t1\",\"correlation_id\":\"c1\"}",
         &asked);
    escalate(&world, "ann", "May I?");
    ask(&world, "inbox", "{}", &asked);
    CHECK_INT(check_shape("inbox", &asked), 1);
    copy_item(&asked, params, "item_id", "");
    ask(&world, "item", params, &asked);
    CHECK_INT(check_shape("item", &asked), 1);
    has(&asked, "\"text\":\"do it\"");
    ask(&world, "inbox", "{\"state\":\"decided\"}", &asked);
    CHECK_TEXT(soc_buf_text(&asked.answer), "[]");
    ask(&world, "decide_feature",
        "{\"feature\":\"t1\",\"action\":\"approve\",\"feedback\":\"go on\"}", &asked);
    CHECK_INT(check_shape("decide_feature", &asked), 1);
    has(&asked, "\"decision\":\"approve\"");
    ask(&world, "item", params, &asked);
    CHECK_INT(check_shape("item", &asked), 1);
    has(&asked, "\"comment\":\"go on\"");
    has(&asked, "\"decision\":\"approve\"");
    has(&asked, "\"text\":\"do it\"");
    static const char *const states[] = {"open", "decided", "withdrawn", "all"};
    for (int i = 0; i < 4; i++) {
        char filter[64];
        snprintf(filter, sizeof(filter), "{\"state\":\"%s\"}", states[i]);
        ask(&world, "inbox", filter, &asked);
        CHECK_INT(check_shape("inbox", &asked), i == 1 || i == 3);
    }
    params[strlen(params) - 5]++; /* another id */
    ask(&world, "item", params, &asked);
    CHECK(is_code(&asked, "item_not_found"));
    ask(&world, "item", "{\"item_id\":\"x\"}", &asked);
    CHECK(is_code(&asked, "item_not_found"));
    close_world(&world, &asked);
}

static void what_an_agent_asked_meanwhile_is_no_part_of_the_way_of_its_item(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller ann = {
        .name = SOC_SLICE("ann"), .scopes = SOC_SCOPE_WRITE, .agent = SOC_SLICE("ann")};
    char id[SOC_MESSAGE_ID_BYTES + 1];
    char params[160];
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world, "{\"to\":\"ann\",\"payload\":\"do it\",\"correlation_id\":\"c1\"}", &asked);
    ask_as(&world, &ann, "send",
           "{\"to\":\"root\",\"type\":\"query\",\"payload\":{\"query\":\"how?\"},"
           "\"correlation_id\":\"c1\"}",
           &asked);
    copy_id(&asked, id);
    snprintf(params, sizeof(params),
             "{\"to\":\"ann\",\"type\":\"response\",\"correlation_id\":\"c1\","
             "\"payload\":{\"query_id\":\"%s\",\"answer\":\"so\"}}",
             id);
    tell(&world, params, &asked);
    escalate(&world, "ann", "May I?");
    ask(&world, "inbox", "{}", &asked);
    copy_item(&asked, params, "item_id", "");
    ask(&world, "item", params, &asked);
    has(&asked, "\"text\":\"do it\"");
    has_not(&asked, "how?");
    has_not(&asked, "query_id");
    close_world(&world, &asked);
}

static void a_feature_with_several_open_items_is_ambiguous(void)
{
    struct world world;
    struct asked asked = {0};
    char params[128];
    open_world(&world);
    spawn(&world, "ann");
    ask(&world, "pause", "{\"agent\":\"ann\"}", &asked);
    tell(&world, "{\"to\":\"ann\",\"payload\":1,\"task_id\":\"t1\",\"correlation_id\":\"c1\"}",
         &asked);
    escalate(&world, "ann", "First?");
    escalate(&world, "ann", "Second?");
    ask(&world, "decide_feature", "{\"feature\":\"c1\",\"decision\":\"reject\"}", &asked);
    CHECK(is_code(&asked, "ambiguous"));
    has(&asked, "\"items\":[\"item_");
    copy_item(&asked, params, "feature", ",\"decision\":\"reject\"");
    ask(&world, "decide_feature", params, &asked); /* by the item's own id */
    CHECK_INT(check_shape("decide_feature", &asked), 1);
    ask(&world, "decide_feature", params, &asked);
    CHECK(is_code(&asked, "already_decided"));
    ask(&world, "decide_feature", "{\"feature\":\"c1\",\"decision\":\"reject\"}", &asked);
    CHECK_INT(check_shape("decide_feature", &asked), 1);
    ask(&world, "decide_feature", "{\"feature\":\"c1\",\"decision\":\"reject\"}", &asked);
    CHECK(is_code(&asked, "item_not_found"));
    ask(&world, "decide", "{\"item_id\":\"x\",\"decision\":\"reject\",\"action\":\"approve\"}",
        &asked);
    CHECK(is_code(&asked, "invalid_argument")); /* said twice */
    close_world(&world, &asked);
}

static void a_task_is_shown_for_each_owner(void)
{
    struct world world;
    struct asked asked = {0};
    struct soc_caller ann = {
        .name = SOC_SLICE("x"), .scopes = SOC_SCOPE_ALL, .agent = SOC_SLICE("ann")};
    open_world(&world);
    spawn(&world, "ann");
    spawn(&world, "bob");
    tell(&world, "{\"to\":[\"ann\",\"bob\"],\"payload\":{},\"type\":\"task\",\"task_id\":\"t1\"}",
         &asked);
    ask(&world, "task", "{\"task\":\"t1\"}", &asked);
    CHECK_INT(check_shape("task", &asked), 2);
    ask_as(&world, &ann, "task", "{\"task\":\"t1\"}", &asked);
    CHECK_INT(check_shape("task", &asked), 1);
    ask(&world, "task", "{\"task\":\"t2\"}", &asked);
    CHECK(is_code(&asked, "task_not_found"));
    close_world(&world, &asked);
}

int main(void)
{
    RUN(an_agent_is_shown_also_when_it_has_ended);
    RUN(a_tree_has_parents_before_children_down_to_its_depth);
    RUN(a_tree_has_children_of_agents_on_other_hosts);
    RUN(a_large_family_is_counted_by_role_and_status);
    RUN(agents_below_a_large_family_are_counted_by_status);
    RUN(why_follows_the_waits_to_their_end);
    RUN(a_message_is_shown_with_its_reply_and_its_life);
    RUN(a_message_is_waited_for_until_it_is_answered);
    RUN(a_host_may_end_while_calls_wait);
    RUN(an_item_is_shown_with_the_messages_it_came_by);
    RUN(what_an_agent_asked_meanwhile_is_no_part_of_the_way_of_its_item);
    RUN(a_feature_with_several_open_items_is_ambiguous);
    RUN(a_refusal_names_the_first_hundred_items_of_a_feature);
    RUN(a_task_is_shown_for_each_owner);
    return check_done();
}

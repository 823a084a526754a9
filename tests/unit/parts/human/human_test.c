/* The person's end of a host without scripts: agents that are gone when the decision
 * comes, filters, and input for a gatekeeper who is not there. */
#include "env/ids.h"
#include "host_parts.h"
#include "parts/human/human.h"

/* Bears ann and sends her an order. */
static enum soc_turn_end main_with_ann(struct world *world, struct soc_activation *activation,
                                       struct soc_buf *error)
{
    struct soc_slice answer;
    (void)activation;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_SPAWN, 6, &answer, error);
    if (rc == SOC_GATE_LIVE) {
        struct soc_spawn spawn = {.role = SOC_SLICE("worker"), .id = SOC_SLICE("ann")};
        struct soc_agent *child;
        CHECK_INT(soc_agents_spawn(world->host, &spawn, &child, error), SOC_OK);
        soc_gate_answer(world->host, SOC_SLICE("[]"));
    }
    PASS(step_send(world, "ann", "1", error));
    return SOC_TURN_DONE;
}

/* Asks the person, waiting or not as `is_waiting` says. */
static int step_escalate(struct world *world, bool is_waiting, struct soc_buf *error)
{
    struct soc_slice answer;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_ESCALATE, 7, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : 1;
    struct soc_escalation escalation = {
        .title = SOC_SLICE("may I?"), .priority = SOC_PRIORITY_HIGH, .timeout_ms = 1000};
    const struct soc_item *item = soc_human_escalate(world->host, &escalation);
    if (!is_waiting)
        return end_live(world, SOC_OK);
    struct soc_wait wait = soc_human_wait(world->host, item, escalation.timeout_ms);
    soc_gate_wait(world->host, &wait);
    return 0;
}

static enum soc_turn_end worker_who_goes_on(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    (void)activation;
    PASS(step_escalate(world, false, error));
    return SOC_TURN_DONE;
}

static enum soc_turn_end worker_who_waits(struct world *world, struct soc_activation *activation,
                                          struct soc_buf *error)
{
    (void)activation;
    PASS(step_escalate(world, true, error));
    PASS(step_print(world, "answered", error));
    return SOC_TURN_DONE;
}

/* The inbox as text, lent until the next call. */
static const char *inbox(struct world *world, const struct soc_query *query)
{
    world->texts[0].length = 0;
    soc_human_look(world->host, query, &world->texts[0]);
    return soc_buf_text(&world->texts[0]);
}

/* The first item's id, lent by texts[0]. */
static struct soc_slice first_id(struct world *world)
{
    inbox(world, NULL);
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_buf_slice(&world->texts[0]));
    CHECK(soc_json_next(&walk));
    return soc_json_plain_string(soc_json_member(walk.value, "id"));
}

/* Decides about the first item; the answer goes to texts[1]. */
static int decide(struct world *world, const char *decision)
{
    struct soc_verdict verdict = {.item_id = first_id(world), .decision = soc_slice_text(decision)};
    return soc_human_decide_now(world->host, &verdict, &world->texts[1]);
}

static void a_decision_for_a_terminated_agent_is_reported_to_the_person(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_goes_on};
    world_open(&world, NULL);
    world_finish(&world);
    CHECK_INT(soc_human_count(world.host), 1);
    soc_registry_find(world.host, SOC_SLICE("ann"))->is_ended = true;
    CHECK_INT(decide(&world, "approve"), SOC_OK);
    CHECK(strstr(soc_buf_text(&world.texts[1]), "\"delivered\":false") != NULL);
    CHECK(strstr(soc_buf_text(&world.texts[1]), "\"note\":\"the asking agent has terminated") !=
          NULL);
    CHECK_INT(soc_human_count(world.host), 0);
    soc_batch_seal(world.host);
    world_restart(&world, true);
    CHECK_INT(soc_human_count(world.host), 0);
    world_close(&world);
}

static void a_terminating_agent_gets_the_decision_only_if_it_waits(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_waits};
    world_open(&world, NULL);
    world_settle(&world);
    soc_registry_find(world.host, SOC_SLICE("ann"))->is_ending = true;
    CHECK_INT(decide(&world, "reject"), SOC_OK);
    CHECK(strstr(soc_buf_text(&world.texts[1]), "\"delivered\":true") != NULL);
    world_settle(&world);
    CHECK(strstr(soc_buf_text(&world.shown), "ann: answered") != NULL);
    world_close(&world);
}

static void a_decision_in_a_lost_batch_was_never_made(void)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        struct world world = {.main = main_with_ann, .worker = worker_who_waits};
        world_open(&world, NULL);
        world_settle(&world);
        CHECK_INT(decide(&world, "approve"), SOC_OK);
        world_restart(&world, is_folded); /* nothing was flushed since */
        CHECK_INT(soc_human_count(world.host), 1);
        CHECK_INT(decide(&world, "reject"), SOC_OK);
        soc_batch_seal(world.host);
        world_restart(&world, is_folded);
        CHECK_INT(soc_human_count(world.host), 0);
        world_settle(&world);
        CHECK(strstr(soc_buf_text(&world.shown), "ann: answered") != NULL);
        world_close(&world);
    }
}

static void items_are_filtered_like_rows(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_goes_on};
    world_open(&world, NULL);
    world_finish(&world);
    soc_clock_move(soc_host_clock(world.host), soc_clock_now(soc_host_clock(world.host)) + 5000);
    CHECK(strstr(inbox(&world, NULL), "\"overdue\":true") != NULL);
    CHECK(strstr(inbox(&world, &(struct soc_query){.agent = SOC_SLICE("ann")}), "may I?") != NULL);
    CHECK_TEXT(inbox(&world, &(struct soc_query){.agent = SOC_SLICE("bob")}), "[]");
    CHECK_TEXT(inbox(&world, &(struct soc_query){.task = SOC_SLICE("t")}), "[]");
    CHECK_TEXT(inbox(&world, &(struct soc_query){.until_ms = 1}), "[]");
    CHECK(strstr(inbox(&world, &(struct soc_query){.limit = 1}), "may I?") != NULL);
    world_close(&world);
}

static struct soc_agent *route_to_ann(void *user, struct soc_slice payload, struct soc_buf *intent)
{
    struct world *world = user;
    (void)payload;
    soc_buf_put_text(intent, "work");
    return soc_registry_find(world->host, SOC_SLICE("ann"));
}

static void say(struct world *world, const char *payload)
{
    struct soc_send send = {.payload = soc_slice_text(payload)};
    soc_human_address(world->host, &send);
    CHECK_INT(
        soc_gate_send_as(world->host, soc_registry_user(world->host), &send, &world->texts[1]),
        SOC_OK);
    soc_batch_seal(world->host);
}

static enum soc_turn_end worker_who_repeats(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    struct soc_buf text = {0};
    soc_buf_put_slice(&text, soc_message_payload(activation->message));
    int passed = step_print(world, soc_buf_text(&text), error);
    soc_buf_fini(&text);
    return passed > 0 ? SOC_TURN_DONE : SOC_TURN_BROKEN;
}

static void input_waits_for_a_gatekeeper_across_restarts(void)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        struct world world = {.main = main_with_ann, .worker = worker_who_repeats};
        world_open(&world, NULL);
        world_settle(&world);
        world.shown.length = 0;
        say(&world, "\"first\"");
        say(&world, "\"second\"");
        world_restart(&world, is_folded);
        world_finish(&world);
        CHECK_TEXT(soc_buf_text(&world.shown), "");
        world.route = route_to_ann;
        world_restart(&world, is_folded);
        world_finish(&world);
        CHECK_TEXT(soc_buf_text(&world.shown), "ann: \"first\"\nann: \"second\"\n");
        world_restart(&world, is_folded);
        world_finish(&world);
        CHECK_TEXT(soc_buf_text(&world.shown), "ann: \"first\"\nann: \"second\"\n");
        world_close(&world);
    }
}

int main(void)
{
    RUN(a_decision_for_a_terminated_agent_is_reported_to_the_person);
    RUN(a_terminating_agent_gets_the_decision_only_if_it_waits);
    RUN(a_decision_in_a_lost_batch_was_never_made);
    RUN(items_are_filtered_like_rows);
    RUN(input_waits_for_a_gatekeeper_across_restarts);
    return check_done();
}

/* Waiting at the level of the host: doors that are answered by their own ids, rings
 * that a door's message closes, answers lost on their way, and a society that is only
 * looked at.
 *
 * Covers: core/kernel/turns/commit.c */
#include "host_parts.h"
#include "kernel/ending.h"
#include "parts/table.h"

static enum soc_turn_end main_who_bears_ann(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    (void)activation;
    struct soc_slice answer;
    static const char *const ids[] = {"ann", "bob"};
    static const char *const briefs[] = {
        NULL, "{\"collaborators\":[{\"agentId\":\"ann\",\"role\":\"friend\"}]}"};
    for (int i = 0; i < 2; i++) {
        int rc = soc_gate_begin(world->host, SOC_EFFECT_SPAWN, 6, &answer, error);
        if (rc == SOC_GATE_RECORDED)
            continue;
        struct soc_spawn spawn = {.role = SOC_SLICE("worker"),
                                  .id = soc_slice_text(ids[i]),
                                  .brief = soc_slice_text(briefs[i])};
        struct soc_agent *child;
        rc = rc < 0 ? rc : soc_agents_spawn(world->host, &spawn, &child, error);
        PASS(end_live(world, rc));
    }
    return SOC_TURN_DONE;
}

/* Keeps what a door is told. */
static void take_answer(void *user, struct soc_slice answer)
{
    soc_buf_put_slice(user, answer);
}

static int ask_ann(struct world *world, const char *external_id, struct soc_buf *answer)
{
    struct soc_send send = {.to = SOC_SLICE("ann"), .payload = SOC_SLICE("\"?\"")};
    struct soc_buf error = {0};
    send.texts[SOC_TEXT_EXTERNAL_ID] = soc_slice_text(external_id);
    int rc = soc_gate_request_as(world->host, soc_registry_user(world->host), &send, 1000,
                                 take_answer, answer, &error);
    soc_buf_fini(&error);
    return rc;
}

static int respond(struct world *world, const char *from, const char *query_id)
{
    struct soc_buf payload = {0};
    struct soc_buf answer = {0};
    soc_buf_printf(&payload, "{\"answer\":\"for %s\",\"query_id\":\"%s\"}", query_id, query_id);
    struct soc_send send = {
        .to = SOC_SLICE("user"),
        .type = SOC_SLICE("response"),
        .payload = soc_buf_slice(&payload),
        .is_formal = true,
    };
    int rc = soc_gate_send_as(world->host, soc_registry_find(world->host, soc_slice_text(from)),
                              &send, &answer);
    soc_buf_fini(&payload);
    soc_buf_fini(&answer);
    return rc;
}

static enum soc_turn_end
worker_who_is_silent(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

static const char *answer_in(struct soc_buf *told)
{
    static char text[64];
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_buf_slice(told));
    if (told->length == 0 || !soc_json_next(&walk))
        return "(nothing)";
    struct soc_slice payload = soc_json_member(walk.value, "payload");
    struct soc_slice answer = soc_json_plain_string(soc_json_member(payload, "answer"));
    snprintf(text, sizeof(text), "%.*s", (int)answer.length, answer.data);
    return text;
}

static void a_response_may_name_the_external_id_of_a_request(void)
{
    struct world world = {.main = main_who_bears_ann, .worker = worker_who_is_silent};
    struct soc_buf told[2] = {{0}, {0}};
    world_open(&world, NULL);
    world_finish(&world);
    CHECK_INT(ask_ann(&world, "q-1", &told[0]), SOC_OK);
    CHECK_INT(ask_ann(&world, "q-2", &told[1]), SOC_OK);
    world_settle(&world);
    CHECK_INT(respond(&world, "bob", "q-2"), SOC_ENOQUERY); /* was not asked */
    CHECK_INT(respond(&world, "ann", "q-3"), SOC_ENOQUERY); /* names nothing */
    world_settle(&world);
    CHECK_INT(told[0].length + told[1].length, 0);
    CHECK_INT(respond(&world, "ann", "q-2"), SOC_OK);
    world_settle(&world);
    CHECK_INT(told[0].length, 0);
    CHECK_TEXT(answer_in(&told[1]), "for q-2");
    CHECK_INT(respond(&world, "ann", "q-1"), SOC_OK);
    world_settle(&world);
    CHECK_TEXT(answer_in(&told[0]), "for q-1");
    soc_buf_fini(&told[0]);
    soc_buf_fini(&told[1]);
    world_close(&world);
}

/* ann and bob each ask the other when they are told to. */
static enum soc_turn_end worker_who_asks(struct world *world, struct soc_activation *activation,
                                         struct soc_buf *error)
{
    struct soc_slice reply = {0};
    bool is_ann = soc_slice_equal(soc_agent_id(activation->agent), SOC_SLICE("ann"));
    if (activation->message->from != soc_registry_user(world->host))
        return SOC_TURN_DONE;
    PASS(step_request(world, is_ann ? "bob" : "ann", 60000, &reply, error));
    soc_gate_print(world->host, reply);
    return SOC_TURN_DONE;
}

static void tell(struct world *world, const char *to)
{
    struct soc_send send = {.to = soc_slice_text(to), .payload = SOC_SLICE("\"go\"")};
    struct soc_buf answer = {0};
    CHECK_INT(soc_gate_send_as(world->host, soc_registry_user(world->host), &send, &answer),
              SOC_OK);
    soc_buf_fini(&answer);
    world_settle(world);
}

/* bob was born knowing ann, who knows him by his first message. */
static void open_with_askers(struct world *world)
{
    struct soc_buf answer = {0};
    world_open(world, NULL);
    world_finish(world);
    struct soc_send send = {.to = SOC_SLICE("ann"), .payload = SOC_SLICE("1")};
    CHECK_INT(soc_gate_send_as(world->host, soc_registry_find(world->host, SOC_SLICE("bob")), &send,
                               &answer),
              SOC_OK);
    soc_buf_fini(&answer);
    world_finish(world);
}

static void the_agent_the_hook_picks_gets_the_cycle(void)
{
    struct world world = {.main = main_who_bears_ann, .worker = worker_who_asks};
    open_with_askers(&world);
    tell(&world, "ann");
    CHECK_INT(world.shown.length, 0);
    tell(&world, "bob"); /* closes it and, by this hook, goes on */
    CHECK(strstr(soc_buf_text(&world.shown), "bob: {\"error\":\"deadlock\"") != NULL);
    CHECK(strstr(soc_buf_text(&world.shown), "\"cycle\":[\"bob\",\"ann\"]") != NULL);
    CHECK(strstr(soc_buf_text(&world.shown), "ann: ") == NULL);
    world_close(&world);
}

static void a_stopped_society_shows_the_same_waits(void)
{
    struct world world = {.main = main_who_bears_ann, .worker = worker_who_asks};
    struct soc_detail detail;
    open_with_askers(&world);
    tell(&world, "ann");
    soc_look_waits(world.host, &world.texts[0]);
    soc_host_crash(world.host);
    uint64_t sequence = soc_store_sequence(world.store);
    struct soc_host_options options = {
        .store = world.store, .log = {.level = SOC_LOG_NONE}, .parts = soc_part_table};
    struct soc_host *host = soc_host_new(&options);
    CHECK_INT(soc_host_load(host, &detail), SOC_OK);
    soc_look_waits(host, &world.texts[1]);
    CHECK_TEXT(soc_buf_text(&world.texts[1]), soc_buf_text(&world.texts[0]));
    CHECK(strstr(soc_buf_text(&world.texts[0]), "\"waits_for\":[\"bob\"]") != NULL);
    soc_host_crash(host);
    CHECK_INT(soc_store_sequence(world.store), sequence);
    world_start(&world);
    world_close(&world);
}

/* ann asks bob when she is told to; he answers, a second later and for two, and stops. */
static enum soc_turn_end worker_who_answers_and_stops(struct world *world,
                                                      struct soc_activation *activation,
                                                      struct soc_buf *error)
{
    struct soc_slice reply = {0};
    struct soc_message *message;
    if (soc_slice_equal(soc_agent_id(activation->agent), SOC_SLICE("ann"))) {
        if (activation->message->from != soc_registry_user(world->host))
            return SOC_TURN_DONE;
        PASS(step_request(world, "bob", 90000, &reply, error));
        soc_gate_print(world->host, reply);
        return SOC_TURN_DONE;
    }
    CHECK_INT(soc_gate_begin(world->host, SOC_EFFECT_REPLY, 5, &reply, error), SOC_GATE_LIVE);
    struct soc_send send = {
        .to = SOC_SLICE("ann"),
        .payload = SOC_SLICE("\"yes\""),
        .answers = activation->message,
        .deliver_at_ms = soc_clock_now(soc_host_clock(world->host)) + 1000,
        .ttl_ms = 2000,
    };
    PASS(end_live(world, send_live(world, &send, &message, error)));
    CHECK_INT(soc_ending_stop(world->host, (struct soc_slice){0}, error), SOC_OK);
    return SOC_TURN_DONE;
}

/* Nobody looked while it was due: the process was not there, or the machine slept. */
static void a_wait_fails_when_the_reply_of_a_terminated_agent_is_lost(void)
{
    for (int is_restarted = 0; is_restarted < 2; is_restarted++) {
        struct world world = {.main = main_who_bears_ann, .worker = worker_who_answers_and_stops};
        open_with_askers(&world);
        tell(&world, "ann");
        CHECK(soc_registry_find(world.host, SOC_SLICE("bob")) == NULL);
        CHECK_INT(world.shown.length, 0);
        int64_t later_ms = soc_clock_now(soc_host_clock(world.host)) + 10000;
        soc_batch_seal(world.host);
        world.now_ms = later_ms;
        if (is_restarted)
            world_restart(&world, false);
        else
            soc_clock_move(soc_host_clock(world.host), later_ms);
        world_settle(&world);
        CHECK(strstr(soc_buf_text(&world.shown), "ann: {\"error\":\"receiver_failed\"") != NULL);
        CHECK(strstr(soc_buf_text(&world.shown), "\"to\":\"bob\"") != NULL);
        world_close(&world);
    }
}

int main(void)
{
    RUN(a_response_may_name_the_external_id_of_a_request);
    RUN(the_agent_the_hook_picks_gets_the_cycle);
    RUN(a_stopped_society_shows_the_same_waits);
    RUN(a_wait_fails_when_the_reply_of_a_terminated_agent_is_lost);
    return check_done();
}

/* Output: what is shown, what cannot be, and what is recorded about it. */
#include "host_parts.h"

static enum soc_turn_end main_that_prints(struct world *world, struct soc_activation *activation,
                                          struct soc_buf *error)
{
    (void)activation;
    PASS(step_print(world, "first", error));
    PASS(step_print(world, "second", error));
    PASS(step_sleep(world, 100, error));
    PASS(step_print(world, "third", error));
    return SOC_TURN_DONE;
}

static void note_durable(void *user)
{
    *(bool *)user = true;
}

/* Stops being deaf and lets out what may leave. */
static void hear(struct world *world)
{
    bool is_durable = false;
    world->is_deaf = false;
    soc_gate_when_durable(world->host, note_durable, &is_durable);
    soc_batch_seal(world->host);
    CHECK(is_durable);
}

static void a_line_that_cannot_be_shown_is_shown_by_the_next_run(void)
{
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        struct world world = {.main = main_that_prints, .is_deaf = true};
        world_open(&world, NULL);
        world_finish(&world);
        CHECK(!soc_host_is_quiet(world.host));
        soc_batch_seal(world.host);
        CHECK_INT(world.shown.length, 0);
        world_restart(&world, is_folded); /* as deaf as before */
        CHECK_INT(world.shown.length, 0);
        world.is_deaf = false;
        world_restart(&world, is_folded);
        CHECK_TEXT(soc_buf_text(&world.shown), "user: first\nuser: second\nuser: third\n");
        soc_batch_seal(world.host); /* that they were shown is known from here on */
        world_restart(&world, is_folded);
        CHECK_TEXT(soc_buf_text(&world.shown), "user: first\nuser: second\nuser: third\n");
        world_close(&world);
    }
}

static void lines_keep_their_order_behind_one_that_cannot_be_shown(void)
{
    struct world world = {.main = main_that_prints};
    world_open(&world, NULL);
    world_settle(&world);
    CHECK_TEXT(soc_buf_text(&world.shown), "user: first\nuser: second\n");
    world.is_deaf = true;
    world_finish(&world);
    CHECK_TEXT(soc_buf_text(&world.shown), "user: first\nuser: second\n");
    hear(&world);
    CHECK_TEXT(soc_buf_text(&world.shown), "user: first\nuser: second\nuser: third\n");
    soc_batch_seal(world.host);
    CHECK(soc_host_is_quiet(world.host));
    world_close(&world);
}

static void durability_is_reported_behind_a_line_that_cannot_be_shown(void)
{
    struct world world = {.main = main_that_prints, .is_deaf = true};
    bool is_durable = false;
    world_open(&world, NULL);
    world_settle(&world);
    soc_gate_when_durable(world.host, note_durable, &is_durable);
    soc_batch_seal(world.host);
    CHECK(is_durable);
    CHECK_INT(world.shown.length, 0);
    world_close(&world);
}

static enum soc_turn_end main_that_prints_a_zero_byte(struct world *world,
                                                      struct soc_activation *activation,
                                                      struct soc_buf *error)
{
    struct soc_slice answer;
    (void)activation;
    int rc = soc_gate_begin_aside(world->host, SOC_EFFECT_PRINT, 2, &answer, error);
    if (rc == SOC_GATE_LIVE) {
        soc_gate_print(world->host, soc_slice("a\0b", 3));
        soc_gate_answer(world->host, SOC_SLICE("[]"));
    }
    return rc < 0 ? SOC_TURN_BROKEN : SOC_TURN_DONE;
}

static void a_line_with_a_zero_byte_is_shown_completely(void)
{
    static const char line[] = "user: a\0b\n";
    for (int is_restarted = 0; is_restarted < 3; is_restarted++) {
        struct world world = {.main = main_that_prints_a_zero_byte, .is_deaf = is_restarted > 0};
        world_open(&world, NULL);
        world_finish(&world);
        world.is_deaf = false;
        if (is_restarted > 0)
            world_restart(&world, is_restarted > 1);
        CHECK_INT(world.shown.length, sizeof(line) - 1);
        CHECK(soc_slice_equal(soc_buf_slice(&world.shown), soc_slice(line, sizeof(line) - 1)));
        world_close(&world);
    }
}

int main(void)
{
    RUN(a_line_that_cannot_be_shown_is_shown_by_the_next_run);
    RUN(lines_keep_their_order_behind_one_that_cannot_be_shown);
    RUN(durability_is_reported_behind_a_line_that_cannot_be_shown);
    RUN(a_line_with_a_zero_byte_is_shown_completely);
    return check_done();
}

/* When spans leave, and what a crash does to those that did not. */
#include "parts/telemetry/telemetry.h"

#include "base/mem.h"
#include "host_parts.h"
#include "kernel/state.h"

/* Who listens: the spans so far, and how much was durable when the last one came. */
struct listener {
    struct world world;
    uint64_t sequence;
    int count;
};

static void take(void *user, struct soc_slice span)
{
    struct listener *listener = user;
    CHECK_INT(soc_json_check(span, NULL), SOC_OK);
    listener->sequence = soc_store_sequence(listener->world.store);
    listener->count++;
}

static enum soc_turn_end main_that_sends(struct world *world, struct soc_activation *activation,
                                         struct soc_buf *error)
{
    (void)activation;
    PASS(step_send(world, "root", "{}", error));
    return SOC_TURN_DONE;
}

static enum soc_turn_end worker_that_does_nothing(struct world *world,
                                                  struct soc_activation *activation,
                                                  struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

static void listen(struct listener *listener)
{
    struct soc_host *host = listener->world.host;
    soc_telemetry_listen(host, &(struct soc_trace_sampler){0}, take, listener);
    soc_agents_set_runnable(host, host->registry.root->role);
}

static void a_span_leaves_when_what_ends_it_is_durable(void)
{
    struct listener listener = {.world = {.main = main_that_sends,
                                          .worker = worker_that_does_nothing,
                                          .parts = soc_part_table_observed}};
    world_open(&listener.world, NULL);
    listen(&listener);
    soc_batch_seal(listener.world.host);
    for (int i = 0; i < 2; i++) { /* `main`, then root */
        uint64_t before = soc_store_sequence(listener.world.store);
        int count = listener.count;
        while (listener.count == count)
            CHECK(soc_host_step(listener.world.host));
        CHECK_INT(listener.count, count + 1);
        CHECK(listener.sequence > before);
    }
    world_close(&listener.world);
}

static void without_the_part_everything_here_does_nothing(void)
{
    struct listener listener = {
        .world = {.main = main_that_sends, .worker = worker_that_does_nothing}};
    world_open(&listener.world, NULL);
    listen(&listener);
    soc_telemetry_set_content(listener.world.host, true);
    soc_telemetry_begin_tool(listener.world.host, SOC_SLICE("t"), SOC_SLICE("1"), SOC_SLICE("{}"));
    soc_telemetry_end_tool(listener.world.host, SOC_SLICE("r"), false);
    soc_telemetry_note_model(listener.world.host, listener.world.host->registry.user->activation,
                             SOC_SLICE("p"), SOC_SLICE("m"));
    world_finish(&listener.world);
    CHECK_INT(listener.count, 0);
    world_close(&listener.world);
}

static void a_society_with_spans_opens_without_the_part(void)
{
    struct listener listener = {.world = {.main = main_that_sends,
                                          .worker = worker_that_does_nothing,
                                          .parts = soc_part_table_observed}};
    world_open(&listener.world, NULL);
    listen(&listener);
    world_settle(&listener.world);
    listener.world.parts = NULL;
    world_restart(&listener.world, true);
    world_finish(&listener.world);
    world_close(&listener.world);
    CHECK_INT(listener.count, 2);
}

int main(void)
{
    RUN(a_span_leaves_when_what_ends_it_is_durable);
    RUN(without_the_part_everything_here_does_nothing);
    RUN(a_society_with_spans_opens_without_the_part);
    return check_done();
}

/* A part of twenty lines, as docs/architecture.md shows it, and what the kernel does for it.
 *
 * Covers: core/kernel/parts.c */
#include "base/mem.h"
#include "host_parts.h"
#include "kernel/state.h"

/* docs: begin */
struct counter {
    uint64_t processed;
};

static void *open_counter(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct counter));
}

static bool finish(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                   struct soc_slice reason)
{
    struct counter *counter = soc_part_state(host, SOC_PART_COUNT);
    (void)message, (void)reason;
    counter->processed += outcome == SOC_OUTCOME_PROCESSED;
    return false; /* it does not keep the message */
}

static void free_counter(struct soc_host *host)
{
    free(soc_part_state(host, SOC_PART_COUNT));
}

static const struct soc_part counter_part = {
    .name = "counter",
    .number = SOC_PART_COUNT,
    .open = open_counter,
    .finish = finish,
    .free = free_counter,
};
/* docs: end */

static enum soc_turn_end main_that_sends(struct world *world, struct soc_activation *activation,
                                         struct soc_buf *error)
{
    (void)activation;
    for (int i = 0; i < 3; i++)
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

/* All parts of a society and the one above. */
static void list_parts(const struct soc_part *parts[SOC_PART_COUNT + 2])
{
    size_t count = 0;
    while (soc_part_table[count] != NULL) {
        parts[count] = soc_part_table[count];
        count++;
    }
    parts[count++] = &counter_part;
    parts[count] = NULL;
}

static void a_part_hears_of_each_message_that_ends(void)
{
    const struct soc_part *parts[SOC_PART_COUNT + 2];
    list_parts(parts);
    struct world world = {
        .main = main_that_sends, .worker = worker_that_does_nothing, .parts = parts};
    world_open(&world, NULL);
    const struct counter *counter = soc_part_state(world.host, SOC_PART_COUNT);
    CHECK_INT(counter->processed, 0);
    soc_agents_set_runnable(world.host, world.host->registry.root->role);
    world_finish(&world);
    CHECK_INT(counter->processed, 3);
    CHECK_INT(world.host->totals.outcome[SOC_OUTCOME_PROCESSED], 3);
    world_close(&world);
}

static void every_part_of_the_table_has_a_number_and_a_name_of_its_own(void)
{
    for (size_t i = 0; soc_part_table[i] != NULL; i++) {
        CHECK_INT(soc_part_table[i]->number, i);
        CHECK(soc_part_table[i]->name != NULL);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(soc_part_table[i]->name, soc_part_table[k]->name) != 0);
    }
}

int main(void)
{
    RUN(a_part_hears_of_each_message_that_ends);
    RUN(every_part_of_the_table_has_a_number_and_a_name_of_its_own);
    return check_done();
}

/* History rows: what is deleted, and what damage is noticed. */
#include "store_world.h"

#include "base/hash.h"

static void put_row(struct world *world, uint64_t time_ms, const char *what, const char *detail)
{
    uint64_t checksum = soc_hash(detail, strlen(detail), 0) & INT64_MAX;
    PUT(world, HISTORY, history, .time_ms = time_ms, .checksum = checksum,
        .what = soc_slice_text(what), .detail = soc_slice_text(detail));
}

static int show_row(void *user, const struct soc_history_row *row)
{
    soc_buf_printf(user, "%lld %.*s%s\n", (long long)row->number, (int)row->what.length,
                   row->what.data, row->is_damaged ? " damaged" : "");
    return SOC_OK;
}

static const char *rows_of(struct world *world)
{
    CHECK_INT(world_append(world), SOC_OK);
    CHECK_INT(world_fold(world), 0);
    world->text.length = 0;
    CHECK_INT(soc_store_history(world->store, show_row, &world->text, &world->detail), SOC_OK);
    return soc_buf_text(&world->text);
}

static void old_runs_and_questions_are_deleted_and_what_was_in_force_stays(void)
{
    struct world world;
    world_init(&world, IN_MEMORY);
    put_row(&world, 10, "start", "{}");
    put_row(&world, 20, "run", "{}");
    put_row(&world, 30, "question", "{}");
    put_row(&world, 40, "run", "{}");
    CHECK_TEXT(rows_of(&world), "1 start\n2 run\n3 question\n4 run\n");
    PUT(&world, HISTORY_END, history_end, .time_ms = 40);
    CHECK_TEXT(rows_of(&world), "1 start\n4 run\n");
    world_fini(&world);
}

static void a_damaged_row_or_source_is_reported(void)
{
    struct world world;
    struct soc_buf text = {0};
    world_init(&world, IN_MEMORY);
    put_row(&world, 10, "run", "{}");
    PUT(&world, HISTORY, history, .time_ms = 20, .checksum = 7, .what = SOC_SLICE("run"),
        .detail = SOC_SLICE("{}"));
    PUT(&world, SOURCE, source, .hash = SOC_SLICE("0123456789abcdef"), .text = SOC_SLICE("x"));
    CHECK_TEXT(rows_of(&world), "1 run\n2 run damaged\n");
    CHECK_INT(soc_store_source(world.store, SOC_SLICE("0123456789abcdef"), &text, &world.detail),
              SOC_ECORRUPT);
    CHECK_INT(soc_store_source(world.store, SOC_SLICE("fedcba9876543210"), &text, &world.detail),
              SOC_ENOFILE);
    soc_buf_fini(&text);
    world_fini(&world);
}

int main(void)
{
    RUN(old_runs_and_questions_are_deleted_and_what_was_in_force_stays);
    RUN(a_damaged_row_or_source_is_reported);
    return check_done();
}

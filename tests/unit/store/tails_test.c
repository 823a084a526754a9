/* Tails: batches that are not folded, read once and kept for the next looks. */
#include "store/tables/tails.h"

#include "store/sqlite/pages.h"
#include "store_world.h"

#define BATCHES 9

/* A second connection to the directory of a world whose batches are not folded. */
struct beside {
    struct world world;
    struct soc_pages *pages;
    struct soc_database database;
    struct soc_tails *tails;
};

/* Batch n has messages 10n + 1 to 10n + 3. */
static void open_beside(struct beside *beside)
{
    *beside = (struct beside){0};
    world_init(&beside->world, IN_DIRECTORY);
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        for (uint64_t i = 1; i <= 3; i++)
            put_message(&beside->world, 10 * batch + i);
        CHECK_INT(world_append(&beside->world), SOC_OK);
    }
    beside->pages = soc_pages_new(NULL);
    beside->database.vfs = soc_pages_vfs(beside->pages);
    CHECK_INT(soc_database_open(&beside->database, world_path(&beside->world, "society.db"),
                                SQLITE_OPEN_READONLY, &beside->world.detail),
              SOC_OK);
    beside->tails = soc_tails_new();
}

static void close_beside(struct beside *beside)
{
    soc_tails_free(beside->tails);
    soc_database_close(&beside->database);
    soc_pages_free(beside->pages);
    world_fini(&beside->world);
}

static const struct soc_tail *read_tail(struct beside *beside, uint64_t sequence,
                                        const struct soc_tail *kept)
{
    const struct soc_tail *tail = NULL;
    CHECK_INT(soc_tails_read(beside->tails, &beside->database, sequence, kept, &tail,
                             &beside->world.detail),
              SOC_OK);
    CHECK_INT(tail->sequence, sequence);
    return tail;
}

static void a_batch_knows_its_lines_and_messages(void)
{
    struct beside beside;
    struct soc_record record;
    open_beside(&beside);
    for (uint64_t batch = BATCHES; batch >= 1; batch--) {
        const struct soc_tail *tail = read_tail(&beside, batch, NULL);
        CHECK_INT(tail->lines, 3 * (batch - 1));
        CHECK_INT(tail->starts.length / sizeof(size_t), 3);
        for (uint64_t i = 0; i <= 4; i++) {
            bool is_there = soc_tail_find(tail, 10 * batch + i, &record);
            CHECK_INT(is_there, i >= 1 && i <= 3);
            if (is_there)
                CHECK_INT(record.message.key, 10 * batch + i);
        }
    }
    close_beside(&beside);
}

static void a_batch_stays_while_it_is_kept(void)
{
    struct beside beside;
    struct soc_record record;
    open_beside(&beside);
    const struct soc_tail *kept = read_tail(&beside, 1, NULL);
    for (uint64_t batch = 2; batch <= BATCHES; batch++)
        CHECK(read_tail(&beside, batch, kept) != kept);
    CHECK_INT(kept->sequence, 1);
    CHECK(soc_tail_find(kept, 12, &record));
    /* And while it is used: those that were not used for longest make way. */
    kept = read_tail(&beside, 2, NULL);
    CHECK(read_tail(&beside, 3, NULL) != kept);
    CHECK(read_tail(&beside, 2, NULL) == kept);
    close_beside(&beside);
}

static void a_batch_that_is_not_there_is_an_error_and_not_kept(void)
{
    struct beside beside;
    const struct soc_tail *tail = NULL;
    open_beside(&beside);
    read_tail(&beside, 1, NULL);
    CHECK(soc_tails_read(beside.tails, &beside.database, BATCHES + 1, NULL, &tail,
                         &beside.world.detail) < 0);
    CHECK(soc_tails_read(beside.tails, &beside.database, BATCHES + 1, NULL, &tail,
                         &beside.world.detail) < 0);
    soc_tails_trim(beside.tails);
    CHECK_INT(read_tail(&beside, 1, NULL)->lines, 0);
    close_beside(&beside);
}

int main(void)
{
    RUN(a_batch_knows_its_lines_and_messages);
    RUN(a_batch_stays_while_it_is_kept);
    RUN(a_batch_that_is_not_there_is_an_error_and_not_kept);
    return check_done();
}

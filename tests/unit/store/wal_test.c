/* How long the write-ahead log of a store becomes. */
#include "store_sql.h"
#include "store_world.h"

#include <sys/stat.h>

#define LOG_BYTES (4096ll * (8192 + 24)) /* what is kept of a log that is not in use */

static int64_t log_bytes(const struct world *world)
{
    struct stat status;
    CHECK_INT(stat(world_path(world, "society.db-wal"), &status), 0);
    return (int64_t)status.st_size;
}

/* Commits a batch of some pages until the log has so many bytes; false if it never does. */
static bool write_until(struct world *world, int64_t least, int64_t most)
{
    static char text[512 << 10];
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 1000; i++) {
        PUT(world, META, meta, SOC_SLICE("text"), soc_slice(text, sizeof(text)));
        CHECK_INT(world_append(world), SOC_OK);
        if (log_bytes(world) >= least && log_bytes(world) <= most)
            return true;
    }
    return false;
}

/* Its transaction keeps what was written since from being copied back. */
static void the_log_is_short_again_after_a_long_reader(void)
{
    struct world world;
    sqlite3 *reader;
    world_init(&world, IN_DIRECTORY);
    PUT(&world, META, meta, SOC_SLICE("a"), SOC_SLICE("b"));
    CHECK_INT(world_append(&world), SOC_OK);
    CHECK_INT(
        sqlite3_open_v2(world_path(&world, "society.db"), &reader, SQLITE_OPEN_READONLY, NULL),
        SQLITE_OK);
    CHECK_INT(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM journal", NULL, NULL, NULL),
              SQLITE_OK);
    CHECK(write_until(&world, 2 * LOG_BYTES, INT64_MAX));
    CHECK_INT(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    CHECK(write_until(&world, 0, LOG_BYTES));
    sqlite3_close(reader);
    world_reopen(&world);
    CHECK(soc_store_sequence(world.store) > 0);
    world_fini(&world);
}

int main(void)
{
    RUN(the_log_is_short_again_after_a_long_reader);
    return check_done();
}

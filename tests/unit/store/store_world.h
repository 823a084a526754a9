/* Store world: what the tests of stores and of the journal share.
 *
 * Each test has a store and a directory of its own, and short ways to commit and query.
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_STORE_WORLD_H
#define SOC_TESTS_STORE_WORLD_H

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "store/disk/disk.h"
#include "store/fields.h"
#include "store/lookup.h"
#include "store/memory.h"
#include "store/sqlite/sqlite.h"

#define NOW_MS 1767225600000 /* 2026-01-01T00:00:00.000Z */

/* Which implementation of a store is tested. */
enum place {
    IN_MEMORY,
    IN_DIRECTORY,
    ON_DISK, /* a simulated one */
};

/* A store and where it is. */
struct world {
    char directory[256];
    enum place place;
    struct soc_disk *disk;
    struct soc_store *store;
    struct soc_buf batch; /* records put so far */
    struct soc_buf text;  /* of the last answer */
    struct soc_detail detail;
};

/* A path inside the world's directory, lent until the next call. */
static inline const char *world_path(const struct world *world, const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", world->directory, name);
    return path;
}

/* Opens the store (again). Returns what soc_sqlite_open does. */
static inline int world_open(struct world *world)
{
    struct soc_sqlite_options options = {0};
    if (world->place == IN_MEMORY) {
        world->store = soc_memory_open(NULL);
        return SOC_OK;
    }
    options.disk = world->disk;
    options.directory = world->disk == NULL ? world->directory : NULL;
    return soc_sqlite_open(&world->store, &options, &world->detail);
}

/* Makes a new directory, and opens a store there or elsewhere. */
static inline void world_init(struct world *world, enum place place)
{
    const char *parent = getenv("TMPDIR");
    *world = (struct world){.place = place};
    snprintf(world->directory, sizeof(world->directory), "%s/society_test.XXXXXX",
             parent == NULL ? "/tmp" : parent);
    CHECK(mkdtemp(world->directory) != NULL);
    if (place == ON_DISK)
        world->disk = soc_disk_new(1);
    CHECK_INT(world_open(world), SOC_OK);
}

/* Closes the store and opens it again. A store in memory would not survive that, so it
 * stays open. */
static inline void world_reopen(struct world *world)
{
    if (world->place == IN_MEMORY)
        return;
    soc_store_close(world->store);
    world->store = NULL;
    CHECK_INT(world_open(world), SOC_OK);
}

/* Closes the store and removes its directory. */
static inline void world_fini(struct world *world)
{
    soc_store_close(world->store);
    soc_disk_free(world->disk);
    soc_buf_fini(&world->batch);
    soc_buf_fini(&world->text);
    DIR *listing = opendir(world->directory);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        unlink(world_path(world, entry->d_name));
    closedir(listing);
    rmdir(world->directory);
}

/* Adds one record to the batch. Fields left out are absent. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define PUT(world, tag, name, ...)                                                                 \
    soc_record_put(&(world)->batch,                                                                \
                   &(struct soc_record){.type = SOC_RECORD_##tag, .name = {__VA_ARGS__}})

/* Commits the batch as the next one. */
static inline int world_append(struct world *world)
{
    struct soc_slice batch = soc_buf_slice(&world->batch);
    int rc = soc_store_commit(world->store, soc_store_sequence(world->store) + 1, &batch, 1,
                              &world->detail);
    world->batch.length = 0;
    return rc;
}

/* Folds everything. */
static inline int world_fold(struct world *world)
{
    int rc;
    do
        rc = soc_store_fold(world->store, 1u << 20, &world->detail);
    while (rc > 0);
    return rc;
}

/* Appends a record as a line of JSON to the buffer `user`. */
static inline int show_record(const struct soc_record *record, void *user)
{
    soc_fields_put_json(user, record);
    soc_buf_put_byte(user, '\n');
    return 0;
}

/* Loads everything as one JSON object a line. */
static inline const char *world_load(struct world *world)
{
    world->text.length = 0;
    CHECK_INT(soc_store_load(world->store, show_record, &world->text, &world->detail), SOC_OK);
    return soc_buf_text(&world->text);
}

/* Queries and returns the rows. */
static inline const char *world_ask_for(struct world *world, const struct soc_query *query)
{
    world->text.length = 0;
    int rc = soc_lookup_run(world->store, query, &world->text, &world->detail);
    if (!CHECK_INT(rc, SOC_OK))
        printf("# %s\n", world->detail.text);
    return soc_buf_text(&world->text);
}

/* Queries without filters. */
static inline const char *world_ask(struct world *world, const char *what)
{
    return world_ask_for(world, &(struct soc_query){.what = what});
}

/* Adds a message with a payload, from root to user. */
static inline void put_message(struct world *world, uint64_t key)
{
    PUT(world, MESSAGE, message, .key = key, .time_ms = NOW_MS + key, .priority = 2, .attempt = 1,
        .from = SOC_SLICE("root"), .to = SOC_SLICE("user"), .type = SOC_SLICE("general"),
        .payload = SOC_SLICE("{\"text\":\"hello\"}"));
}

#endif

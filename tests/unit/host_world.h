/* Host world: a host with hooks of the tests, on virtual time unless it has a loop.
 *
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_HOST_WORLD_H
#define SOC_TESTS_HOST_WORLD_H

#include "host_hooks.h"
#include "kernel/look.h"
#include "kernel/mail/dead.h"
#include "store/memory.h"
#include "store/sqlite/sqlite.h"

/* Defines a role that can be run. */
static inline void world_define(struct world *world, const char *id)
{
    struct soc_role_draft draft = {.id = soc_slice_text(id), .name = soc_slice_text(id)};
    struct soc_buf error = {0};
    CHECK_INT(soc_agents_define_role(world->host, &draft, true, &error), SOC_OK);
    soc_buf_fini(&error);
}

/* Starts a host on the store, new or as it was left. Returns soc_host_start's. */
static inline int world_start_as(struct world *world, const char *app)
{
    struct soc_host_options options = {
        .parts = world->parts == NULL ? soc_part_table : world->parts,
        .store = world->store,
        .loop = world->loop,
        .seed = world->seed == 0 ? 1 : world->seed,
        .log = {.level = SOC_LOG_NONE},
        .show = world_show,
        .failed = world_failed,
        .user = world,
        .effects_max = world->effects_max,
        .shows_early = world->shows_early,
        .keys_apart = world->keys_apart,
    };
    struct soc_hooks hooks = {
        .user = world,
        .run = world_run,
        .drop = world_drop,
        .may_send = world_may_send,
        .forget = world_forget,
        .retry_after = world_retry_after,
        .introduce = world_introduce,
        .takes_unsolicited = world_takes_unsolicited,
        .is_adopted = world_is_adopted,
        .check_message = world_check_message,
        .route = world->route,
        .victim = world_victim,
    };
    struct soc_detail detail;
    world->host = soc_host_new(&options);
    soc_host_set_hooks(world->host, &hooks);
    if (world->now_ms != 0)
        soc_clock_set(soc_host_clock(world->host), world->now_ms);
    world_define(world, "worker");
    int rc = soc_host_start(world->host, soc_slice_text(app), &detail);
    if (rc == SOC_OK && world->main != NULL)
        soc_host_begin_main(world->host);
    return rc;
}

/* Starts as the app of the tests. */
static inline void world_start(struct world *world)
{
    CHECK_INT(world_start_as(world, "test"), SOC_OK);
}

/* Makes a store, in `directory` or (NULL) in memory, and starts a host on it. */
static inline void world_open(struct world *world, const char *directory)
{
    struct soc_sqlite_options options = {.directory = directory};
    if (directory == NULL)
        world->store = soc_memory_open(NULL);
    else
        CHECK_INT(soc_sqlite_open(&world->store, &options, NULL), SOC_OK);
    world_start(world);
}

/* Closes host and store and frees what was recorded. */
static inline void world_close(struct world *world)
{
    soc_host_close(world->host, 0);
    soc_store_close(world->store);
    soc_loop_free(world->loop);
    soc_buf_fini(&world->shown);
    soc_buf_fini(&world->texts[0]);
    soc_buf_fini(&world->texts[1]);
}

/* Runs everything that is ready now. */
static inline void world_settle(struct world *world)
{
    while (soc_host_step(world->host))
        continue;
}

/* Runs until nothing is ready and no timer is left. */
static inline void world_finish(struct world *world)
{
    world_settle(world);
    while (soc_host_next_due(world->host) != 0) {
        soc_clock_move(soc_host_clock(world->host), soc_host_next_due(world->host));
        world_settle(world);
    }
}

/* Ends the host as kill -9 would and starts another on the same store, whose
 * batches are folded before if `is_folded`. */
static inline void world_restart(struct world *world, bool is_folded)
{
    soc_host_crash(world->host);
    while (is_folded && soc_store_fold(world->store, 1u << 20, NULL) > 0)
        continue;
    world_start(world);
}

/* Takes what came of an order. */
static inline void world_take_rc(void *user, int rc, struct soc_slice answer)
{
    (void)answer;
    *(int *)user = rc;
}

/* Redelivers or drops a dead letter and returns what came of it. Without a loop. */
static inline int world_change_dead(struct world *world, struct soc_slice id, bool is_drop)
{
    int rc = 1;
    struct soc_dead_order order = {.is_drop = is_drop, .id = id, .expected = -1};
    soc_dead_do(world->host, &order, world_take_rc, &rc);
    return rc;
}

/* Takes the rows of a query. */
static inline void world_take_rows(int rc, struct soc_slice rows, void *user)
{
    CHECK_INT(rc, SOC_OK);
    soc_buf_put_slice(user, rows);
}

/* Appends the dead letters, as JSON. Without a loop. */
static inline void world_dead_letters(struct world *world, struct soc_buf *out)
{
    soc_look_query(world->host, &(struct soc_query){.what = "dead_letters"}, world_take_rows, out);
}

#endif

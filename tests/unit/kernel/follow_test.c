/* Looks at the activity log that wait for the next line.
 *
 * Covers: core/kernel/operations/follow.c */
#include "kernel/operations/follow.h"

#include <stdio.h>

#include "host_asking.h"
#include "kernel/look.h"
#include "kernel/operations/awaiting.h"
#include "kernel/tap.h"
#include "kernel/trace.h"

/* Asks for lines after `after`, for a second at most. */
static void follow(struct world *world, uint64_t after, const char *more, struct asked *asked)
{
    char params[200];
    snprintf(params, sizeof(params), "{\"after\":%llu,\"wait_ms\":1000%s}",
             (unsigned long long)after, more);
    ask_as(world, &soc_caller_owner, "activity", params, asked);
}

static void tell_line(struct world *world, const char *event)
{
    soc_trace_keep(world->host, event, SOC_SLICE("{}"));
    soc_batch_seal(world->host);
    world_settle(world);
}

static void fini(struct asked *asked)
{
    soc_buf_fini(&asked->answer);
    soc_call_fini(&asked->call);
}

static int rows_of(const struct asked *asked)
{
    CHECK_INT(asked->count, 1);
    return check_shape("activity", asked);
}

static void lines_that_are_there_are_answered_at_once(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    tell_line(&world, "log");
    uint64_t last = soc_look_last_line(world.host);
    follow(&world, last - 1, "", &asked);
    CHECK_INT(rows_of(&asked), 1);
    CHECK(world.host->awaiting.first == NULL);
    ask(&world, "activity", "{\"wait_ms\":1000}", &asked); /* without `after` it does not wait */
    CHECK(rows_of(&asked) > 0);
    fini(&asked);
    world_close(&world);
}

static void the_next_line_ends_the_wait(void)
{
    struct world world;
    struct asked one = {0};
    struct asked other = {0};
    open_world(&world);
    uint64_t last = soc_look_last_line(world.host);
    follow(&world, last, "", &one);
    follow(&world, last, ",\"type\":\"order\"", &other);
    CHECK_INT(one.count + other.count, 0);
    tell_line(&world, "log");
    CHECK_INT(rows_of(&one), 1);
    CHECK_INT(other.count, 0); /* not its type */
    tell_line(&world, "log");
    CHECK_INT(other.count, 0);
    tell_line(&world, "order");
    CHECK_INT(rows_of(&other), 1);
    CHECK(strstr(soc_buf_text(&other.answer), "\"event\":\"order\"") != NULL);
    CHECK(world.host->awaiting.first == NULL);
    fini(&one);
    fini(&other);
    world_close(&world);
}

static void the_wait_ends_with_its_time(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    uint64_t last = soc_look_last_line(world.host);
    follow(&world, last, ",\"agent\":\"nobody\"", &asked);
    tell_line(&world, "log"); /* of nobody */
    int64_t now_ms = soc_host_now(world.host);
    soc_clock_move(soc_host_clock(world.host), now_ms + 999);
    world_settle(&world);
    CHECK_INT(asked.count, 0);
    soc_clock_move(soc_host_clock(world.host), now_ms + 1000);
    world_settle(&world);
    CHECK_INT(rows_of(&asked), 0);
    CHECK_INT(asked.call.next, 0);
    CHECK_INT(asked.call.as_of, last + 1); /* where to go on */
    CHECK(world.host->awaiting.first == NULL);
    fini(&asked);
    world_close(&world);
}

static void one_who_has_gone_is_let_go_with_the_next_line(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    follow(&world, soc_look_last_line(world.host), "", &asked);
    soc_call_drop(&asked.call);
    tell_line(&world, "log");
    CHECK_INT(asked.count, 1);
    CHECK_INT(asked.answer.length, 0);
    fini(&asked);
    world_close(&world);
}

static void a_host_may_end_while_looks_wait(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    follow(&world, soc_look_last_line(world.host), "", &asked);
    world_close(&world);
    CHECK_INT(asked.count, 0);
    fini(&asked);
}

static void bad_times_to_wait_are_refused(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    ask(&world, "activity", "{\"after\":0,\"wait_ms\":60001}", &asked);
    CHECK(is_code(&asked, "invalid_argument"));
    ask(&world, "messages", "{\"after\":0,\"wait_ms\":1}", &asked); /* it cannot wait */
    CHECK(is_code(&asked, "invalid_argument"));
    fini(&asked);
    world_close(&world);
}

int main(void)
{
    RUN(lines_that_are_there_are_answered_at_once);
    RUN(the_next_line_ends_the_wait);
    RUN(the_wait_ends_with_its_time);
    RUN(one_who_has_gone_is_let_go_with_the_next_line);
    RUN(a_host_may_end_while_looks_wait);
    RUN(bad_times_to_wait_are_refused);
    return check_done();
}

/* Tap: a stream is exactly the lines of the activity log, from any cursor, for listeners
 * that come late, are slow, leave and come back. */
#include "kernel/tap.h"

#include "base/json.h"
#include "env/rng.h"
#include "host_world.h"
#include "kernel/state.h"
#include "kernel/trace.h"
#include "kernel/turns/batch.h"

/* A listener and what it got, as rows without brackets. */
struct ear {
    struct soc_listener *listener;
    struct soc_buf rows;
    struct soc_buf names;
    uint64_t last;
    uint64_t gone;
    size_t room; /* calls until it is full */
    size_t calls;
};

static bool hear(void *user, const struct soc_tap_line *lines, size_t count)
{
    struct ear *ear = user;
    CHECK(count > 0);
    ear->calls++;
    for (size_t i = 0; i < count; i++) {
        CHECK(lines[i].line > ear->last);
        ear->last = lines[i].line;
        if (ear->rows.length > 0)
            soc_buf_put_byte(&ear->rows, ',');
        soc_buf_put_slice(&ear->rows, lines[i].data);
        soc_buf_put_text(&ear->names, lines[i].name);
        soc_buf_put_byte(&ear->names, ' ');
    }
    return ear->room == 0 || --ear->room > 0;
}

static void hear_gone(void *user, uint64_t first)
{
    struct ear *ear = user;
    ear->gone = first;
}

static void listen(struct world *world, struct ear *ear, struct soc_tap_options options)
{
    options.take = hear;
    options.gone = hear_gone;
    options.user = ear;
    ear->last = options.after;
    ear->listener = soc_tap_listen(world->host, &options);
}

static void leave(struct ear *ear)
{
    soc_tap_leave(ear->listener);
    soc_buf_fini(&ear->rows);
    soc_buf_fini(&ear->names);
    *ear = (struct ear){0};
}

/* Makes `count` lines and has them committed. */
static void tell(struct world *world, const char *event, int count)
{
    for (int i = 0; i < count; i++)
        soc_trace_keep(world->host, event, SOC_SLICE("{}"));
    soc_batch_seal(world->host);
}

/* The rows of the log after a line, without brackets. */
static void read_log(struct world *world, uint64_t after, struct soc_buf *out)
{
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    out->length = 0;
    soc_look_query(world->host, &(struct soc_query){.what = "activity"}, world_take_rows, &list);
    soc_json_walk(&walk, soc_buf_slice(&list));
    while (soc_json_next(&walk)) {
        int64_t line = 0;
        soc_json_integer(soc_json_member(walk.value, "line"), &line);
        if ((uint64_t)line <= after)
            continue;
        if (out->length > 0)
            soc_buf_put_byte(out, ',');
        soc_buf_put_slice(out, walk.value);
    }
    soc_buf_fini(&list);
}

static void check_log(struct world *world, struct ear *ear, uint64_t after)
{
    struct soc_buf all = {0};
    read_log(world, after, &all);
    CHECK_TEXT(soc_buf_text(&ear->rows), soc_buf_text(&all));
    soc_buf_fini(&all);
}

static void a_listener_gets_what_was_and_what_comes(void)
{
    struct world world = {0};
    struct ear ear = {0};
    world_open(&world, NULL);
    tell(&world, "log", 1200); /* more than one page */
    listen(&world, &ear, (struct soc_tap_options){.after = 3});
    check_log(&world, &ear, 3);
    tell(&world, "order", 2);
    tell(&world, "log", 1);
    check_log(&world, &ear, 3);
    leave(&ear);
    world_close(&world);
}

static void one_from_now_gets_only_what_comes(void)
{
    struct world world = {0};
    struct ear ear = {0};
    world_open(&world, NULL);
    tell(&world, "log", 10);
    uint64_t now = soc_look_last_line(world.host);
    listen(&world, &ear, (struct soc_tap_options){.is_from_now = true});
    CHECK_INT(ear.calls, 0);
    tell(&world, "log", 2);
    check_log(&world, &ear, now);
    CHECK_INT(soc_tap_cursor(ear.listener), now + 2);
    leave(&ear);
    world_close(&world);
}

static void a_slow_one_is_left_alone_and_misses_nothing(void)
{
    struct world world = {0};
    struct ear slow = {.room = 1};
    struct ear quick = {0};
    world_open(&world, NULL);
    listen(&world, &slow, (struct soc_tap_options){0});
    listen(&world, &quick, (struct soc_tap_options){0});
    for (int i = 0; i < 5; i++)
        tell(&world, "log", 700);
    CHECK_INT(slow.calls, 1);
    check_log(&world, &quick, 0);
    slow.room = 2;
    soc_tap_more(slow.listener);
    CHECK_INT(slow.calls, 3);
    slow.room = 0;
    soc_tap_more(slow.listener);
    check_log(&world, &slow, 0);
    tell(&world, "log", 1); /* both are up to date again */
    check_log(&world, &slow, 0);
    check_log(&world, &quick, 0);
    leave(&slow);
    leave(&quick);
    world_close(&world);
}

/* Random listeners with random cursors and room, across crashes of the host. */
static void a_stream_is_exactly_the_lines(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world world = {0};
        struct ear ears[3] = {{0}};
        uint64_t begin[3] = {0};
        struct soc_rng rng;
        soc_rng_init(&rng, seed);
        world_open(&world, NULL);
        for (int step = 0; step < 60; step++) {
            size_t which = soc_rng_below(&rng, 3);
            struct ear *ear = &ears[which];
            switch (soc_rng_below(&rng, 6)) {
            case 0:
            case 1:
                tell(&world, "log", (int)soc_rng_below(&rng, 300) + 1);
                break;
            case 2:
                if (ear->listener == NULL) {
                    begin[which] = soc_rng_below(&rng, soc_look_last_line(world.host) + 1);
                    ear->room = soc_rng_below(&rng, 4);
                    listen(&world, ear, (struct soc_tap_options){.after = begin[which]});
                }
                break;
            case 3:
                if (ear->listener != NULL)
                    leave(ear);
                break;
            case 4:
                if (ear->listener != NULL) {
                    ear->room = soc_rng_below(&rng, 4);
                    soc_tap_more(ear->listener);
                }
                break;
            default:
                for (int i = 0; i < 3; i++)
                    if (ears[i].listener != NULL)
                        leave(&ears[i]);
                world_restart(&world, soc_rng_below(&rng, 2) == 0);
            }
        }
        for (int i = 0; i < 3; i++) {
            if (ears[i].listener == NULL)
                continue;
            ears[i].room = 0;
            soc_tap_more(ears[i].listener);
            check_log(&world, &ears[i], begin[i]);
            leave(&ears[i]);
        }
        world_close(&world);
    }
}

/* One who hears lines, and one who comes while those are handed out. */
struct pair {
    struct world *world;
    struct ear first;
    struct ear second;
};

static bool hear_and_bring(void *user, const struct soc_tap_line *lines, size_t count)
{
    struct pair *pair = user;
    if (pair->second.listener == NULL)
        listen(pair->world, &pair->second,
               (struct soc_tap_options){.after = lines[count - 1].line + 50});
    return hear(&pair->first, lines, count);
}

static void one_that_comes_ahead_of_the_others_gets_nothing_twice(void)
{
    struct world world = {0};
    struct pair pair = {.world = &world};
    world_open(&world, NULL);
    const struct soc_tap_options options = {
        .is_from_now = true, .take = hear_and_bring, .user = &pair};
    pair.first.listener = soc_tap_listen(world.host, &options);
    uint64_t now = soc_look_last_line(world.host);
    tell(&world, "log", 600); /* a page, and a part of the next, which the second has read */
    tell(&world, "log", 1);
    check_log(&world, &pair.first, now);
    check_log(&world, &pair.second, now + 550);
    leave(&pair.first);
    leave(&pair.second);
    world_close(&world);
}

static void filters_choose_lines(void)
{
    struct world world = {0};
    struct ear orders = {0};
    struct ear users = {0};
    world_open(&world, NULL);
    soc_batch_seal(world.host);
    uint64_t now = soc_look_last_line(world.host);
    listen(&world, &orders, (struct soc_tap_options){.after = now, .events = SOC_SLICE("x,ord*")});
    listen(&world, &users, (struct soc_tap_options){.after = now, .agent = SOC_SLICE("user")});
    tell(&world, "log", 3);
    tell(&world, "order", 2);
    soc_trace_event(world.host, SOC_LOG_INFO, "milestone", soc_registry_user(world.host),
                    SOC_SLICE("{}"));
    soc_batch_seal(world.host);
    CHECK_TEXT(soc_buf_text(&orders.names), "order order ");
    CHECK_TEXT(soc_buf_text(&users.names), "log ");
    leave(&orders);
    leave(&users);
    world_close(&world);
}

static void every_name_of_the_contract_has_an_event(void)
{
    static const char *const pairs[][2] = {
        {"escalation", "inbox.new_item"},
        {"decision", "inbox.decided"},
        {"withdrawn", "inbox.withdrawn"},
        {"spawned", "agent.born"},
        {"stopped", "agent.ended"},
        {"paused", "agent.status_changed"},
        {"task_opened", "task.stage_changed"},
        {"task_start", "task.stage_changed"},
        {"task_end", "task.stage_changed"},
        {"task_started", "task.stage_changed"},
        {"sent", "message.sent"},
        {"processed", "message.processed"},
        {"dead", "message.dead"},
        {"expired", "message.expired"},
        {"dropped", "message.dropped"},
        {"cancelled", "message.cancelled"},
        {"contact_added", "contact.added"},
        {"contact_removed", "contact.removed"},
        {"role_created", "role.created"},
        {"blocked", "wait.began"},
        {"unblocked", "wait.ended"},
        {"deadlock", "wait.deadlock"},
        {"usage_changed", "usage.changed"},
        {"policy_swapped", "policy.swapped"},
        {"order", "order"},
        {"log", "log"},
        {"anything else", "log"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        CHECK_TEXT(soc_tap_name(soc_slice_text(pairs[i][0])), pairs[i][1]);
}

static void patterns_have_stars(void)
{
    CHECK(soc_tap_fits((struct soc_slice){0}, "log"));
    CHECK(soc_tap_fits(SOC_SLICE("inbox.*"), "inbox.decided"));
    CHECK(soc_tap_fits(SOC_SLICE("agent.born,*.sent"), "message.sent"));
    CHECK(soc_tap_fits(SOC_SLICE("*"), "order"));
    CHECK(!soc_tap_fits(SOC_SLICE("inbox.*"), "message.sent"));
    CHECK(!soc_tap_fits(SOC_SLICE("inbox"), "inbox.decided"));
    CHECK(!soc_tap_fits(SOC_SLICE(","), "log"));
}

static void a_summary_counts_messages_by_the_second(void)
{
    struct world world = {0};
    struct ear ear = {0};
    world_open(&world, NULL);
    soc_batch_seal(world.host);
    uint64_t now = soc_look_last_line(world.host);
    listen(&world, &ear, (struct soc_tap_options){.after = now, .is_summary = true});
    tell(&world, "sent", 3);
    tell(&world, "processed", 2);
    CHECK_INT(ear.calls, 0);
    soc_clock_move(soc_host_clock(world.host), soc_host_now(world.host) + 1000);
    tell(&world, "sent", 1);
    CHECK_TEXT(soc_buf_text(&ear.names), "summary ");
    CHECK(strstr(soc_buf_text(&ear.rows), "\"sent\":3,\"processed\":2,") != NULL);
    soc_clock_move(soc_host_clock(world.host), soc_host_now(world.host) + 1000);
    soc_tap_more(ear.listener);
    CHECK_TEXT(soc_buf_text(&ear.names), "summary summary ");
    leave(&ear);
    world_close(&world);
}

/* Reads the number at `name` of an object. */
static int64_t read_count(struct soc_slice object, const char *name)
{
    int64_t count = 0;
    soc_json_integer(soc_json_member(object, name), &count);
    return count;
}

/* Listeners with a summary that end anywhere and begin again after the last line they heard. */
static void a_summary_that_is_cut_anywhere_counts_each_message_once(void)
{
    struct world world = {0};
    struct ear ear = {0};
    struct soc_rng rng;
    int64_t sent = 0, counted = 0;
    int logs = 0, heard = 0;
    world_open(&world, NULL);
    soc_batch_seal(world.host);
    uint64_t after = soc_look_last_line(world.host);
    soc_rng_init(&rng, 7);
    for (int step = 0; step < 400; step++) {
        if (ear.listener == NULL)
            listen(&world, &ear, (struct soc_tap_options){.after = after, .is_summary = true});
        int count = (int)soc_rng_below(&rng, 4);
        bool is_sent = soc_rng_below(&rng, 3) > 0;
        tell(&world, is_sent ? "sent" : "log", count);
        sent += is_sent ? count : 0;
        logs += is_sent ? 0 : count;
        soc_clock_move(soc_host_clock(world.host),
                       soc_host_now(world.host) + (int64_t)soc_rng_below(&rng, 600));
        if (step < 399 && soc_rng_below(&rng, 4) > 0)
            continue;
        if (step == 399) /* so that the last second is over */
            soc_clock_move(soc_host_clock(world.host), soc_host_now(world.host) + 1000);
        soc_tap_more(ear.listener);
        struct soc_buf list = {0};
        struct soc_json_walk walk;
        soc_buf_printf(&list, "[%s]", soc_buf_text(&ear.rows));
        soc_json_walk(&walk, soc_buf_slice(&list));
        while (soc_json_next(&walk)) {
            counted += read_count(walk.value, "sent");
            heard += soc_json_member(walk.value, "line").data != NULL;
        }
        soc_buf_fini(&list);
        after = ear.last;
        leave(&ear);
    }
    CHECK(sent > 300 && logs > 100);
    CHECK_INT(counted, sent);
    CHECK_INT(heard, logs);
    world_close(&world);
}

/* A listener that has every line removed that can be, as retention does, while it is told of
 * the first. */
struct remover {
    struct ear ear; /* first: hear_gone takes it */
    struct world *world;
};

static bool hear_and_remove(void *user, const struct soc_tap_line *lines, size_t count)
{
    struct remover *remover = user;
    struct soc_store *store = remover->world->store;
    if (count > 1 && store->retention.bytes == 0) {
        store->retention.bytes = 1;
        while (soc_store_fold(store, 1u << 20, NULL) > 0)
            continue;
        CHECK_INT(soc_store_check(store, NULL), SOC_OK);
        while (store->is_untidy)
            CHECK_INT(soc_store_tidy(store, false, NULL), SOC_OK);
    }
    return hear(&remover->ear, lines, count);
}

static void lines_removed_before_they_were_heard_are_told(void)
{
    char directory[] = "/tmp/society_tap.XXXXXX", command[64];
    struct world world = {0};
    struct remover remover = {.world = &world};
    struct ear late = {0};
    CHECK(mkdtemp(directory) != NULL);
    world_open(&world, directory);
    soc_batch_seal(world.host);
    const struct soc_tap_options options = {
        .is_from_now = true, .take = hear_and_remove, .gone = hear_gone, .user = &remover};
    remover.ear.listener = soc_tap_listen(world.host, &options);
    tell(&world, "log", 3000); /* pages, of which only the first is still there */
    CHECK(remover.ear.gone > remover.ear.last + 1);
    CHECK_INT(remover.ear.calls, 1);
    listen(&world, &late, (struct soc_tap_options){.after = remover.ear.gone - 1});
    tell(&world, "log", 1);
    CHECK_INT(late.last, soc_look_last_line(world.host));
    CHECK_INT(late.gone, 0);
    CHECK_INT(remover.ear.calls, 1); /* it is left alone */
    struct ear early = {0};
    listen(&world, &early, (struct soc_tap_options){.after = 1});
    CHECK(early.gone >= remover.ear.gone); /* more was removed since */
    leave(&early);
    leave(&late);
    soc_tap_leave(remover.ear.listener);
    soc_buf_fini(&remover.ear.rows);
    soc_buf_fini(&remover.ear.names);
    world_close(&world);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    CHECK_INT(system(command), 0);
}

int main(void)
{
    RUN(a_listener_gets_what_was_and_what_comes);
    RUN(one_from_now_gets_only_what_comes);
    RUN(a_slow_one_is_left_alone_and_misses_nothing);
    RUN(a_stream_is_exactly_the_lines);
    RUN(one_that_comes_ahead_of_the_others_gets_nothing_twice);
    RUN(filters_choose_lines);
    RUN(every_name_of_the_contract_has_an_event);
    RUN(patterns_have_stars);
    RUN(a_summary_counts_messages_by_the_second);
    RUN(a_summary_that_is_cut_anywhere_counts_each_message_once);
    RUN(lines_removed_before_they_were_heard_are_told);
    return check_done();
}

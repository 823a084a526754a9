/* Pages of lists from memory: a walk shows what stays once, whatever comes and goes meanwhile.
 *
 * Covers: core/kernel/operations/agent_pages.c, core/parts/human/human_look.c */
#include "kernel/operations/agent_pages.h"

#include <stdio.h>

#include "env/rng.h"
#include "host_asking.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "model/agent.h"
#include "parts/human/human.h"

#define AGENTS    40
#define PAGES_MAX 1000 /* of one walk, which might not end */

/* Rows of one list by a member, each in brackets, in the order they came. */
struct seen {
    struct soc_buf ids;
    uint64_t next;
    uint64_t previous;
    int rows;
};

/* Asks for a page: with `after` or `before`, or with neither if both are 0 and `is_up` is not. */
static void turn_page(struct world *world, const char *op, const char *more, bool is_up,
                      uint64_t cursor, int limit, struct seen *seen)
{
    static struct asked asked;
    char params[200];
    struct soc_json_walk walk;
    struct soc_buf page = {0};
    snprintf(params, sizeof(params), "{\"limit\":%d,\"%s\":%llu%s}", limit,
             is_up ? "after" : "before",
             (unsigned long long)(is_up || cursor != 0 ? cursor : INT64_MAX), more);
    ask(world, op, params, &asked);
    CHECK(!asked.is_error);
    seen->rows = 0;
    soc_json_walk(&walk, soc_buf_slice(&asked.answer));
    for (; soc_json_next(&walk); seen->rows++) {
        static const char *const names[] = {"owner", "agent", "id"};
        soc_buf_put_byte(&page, '[');
        for (int i = 0; i < 3; i++) {
            struct soc_slice text = soc_json_plain_string(soc_json_member(walk.value, names[i]));
            soc_buf_put_slice(&page, text);
            soc_buf_put_byte(&page, ' ');
        }
        soc_buf_put_byte(&page, ']');
    }
    CHECK(seen->rows <= limit);
    if (!is_up) { /* a page before those seen so far */
        soc_buf_put_slice(&page, soc_buf_slice(&seen->ids));
        seen->ids.length = 0;
    }
    soc_buf_put_slice(&seen->ids, soc_buf_slice(&page));
    soc_buf_fini(&page);
    seen->next = asked.call.next;
    seen->previous = asked.call.previous;
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    asked = (struct asked){0};
}

/* Walks a list by pages of `limit`. */
static void walk_pages(struct world *world, const char *op, const char *more, bool is_up, int limit,
                       struct seen *seen)
{
    uint64_t cursor = 0;
    int pages = 0;
    *seen = (struct seen){0};
    do {
        turn_page(world, op, more, is_up, cursor, limit, seen);
        cursor = is_up ? seen->next : seen->previous;
    } while (cursor != 0 && ++pages < PAGES_MAX);
    CHECK(pages < PAGES_MAX);
}

static void check_walks(struct world *world, const char *op, const char *more, int rows)
{
    struct seen whole = {0};
    turn_page(world, op, more, true, 0, 1000, &whole);
    CHECK_INT(whole.rows, rows);
    CHECK_INT(whole.next, 0);
    for (int limit = 1; limit < 12; limit += 2) {
        for (int is_up = 0; is_up < 2; is_up++) {
            struct seen seen;
            walk_pages(world, op, more, is_up == 1, limit, &seen);
            CHECK_TEXT(soc_buf_text(&seen.ids), soc_buf_text(&whole.ids));
            soc_buf_fini(&seen.ids);
        }
    }
    soc_buf_fini(&whole.ids);
}

static void spawn_some(struct world *world, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        char id[16];
        snprintf(id, sizeof(id), "w%d", i);
        spawn(world, id);
    }
}

static void terminate(struct world *world, int number)
{
    static struct asked asked;
    char params[64];
    snprintf(params, sizeof(params), "{\"agent\":\"w%d\",\"force\":true}", number);
    ask(world, "terminate", params, &asked);
    CHECK(!asked.is_error);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    asked = (struct asked){0};
}

static void walks_give_the_whole_list_in_both_directions(void)
{
    struct world world;
    open_world(&world);
    spawn_some(&world, 0, AGENTS);
    terminate(&world, 0);
    terminate(&world, 17);
    terminate(&world, AGENTS - 1);
    int living = AGENTS + 2 - 3;
    check_walks(&world, "agents", "", living);
    check_walks(&world, "agents", ",\"agent\":\"w5\"", 1);
    check_walks(&world, "load", "", living - 1); /* the person has none */
    check_walks(&world, "queue", "", living - 1);
    check_walks(&world, "waits", "", 1); /* main */
    /* user and root, and root with each of its children. */
    check_walks(&world, "contacts", "", 2 + 2 * (living - 2));
    check_walks(&world, "contacts", ",\"agent\":\"root\"", living - 1);
    check_walks(&world, "agents", ",\"until\":1", 0);
    check_walks(&world, "contacts", ",\"until\":1", 0);
    world_close(&world);
}

/* Agents on other hosts, and those that ended before the last start, have no birth to go by. */
static void contacts_known_by_name_only_are_shown_once(void)
{
    static const char *const names[] = {"a@beta", "gone1", "b@beta", "gone2", "c@beta", "gone3"};
    struct world world;
    open_world(&world);
    spawn_some(&world, 0, 3);
    struct soc_agent *owner = soc_registry_find(world.host, SOC_SLICE("w1"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        soc_contacts_put(&owner->contacts, soc_registry_need(world.host, soc_slice_text(names[i])),
                         SOC_SOURCE_MANUAL, 0, NULL);
    check_walks(&world, "contacts", "", 2 + 2 * 3 + 6);
    check_walks(&world, "contacts", ",\"agent\":\"w1\"", 1 + 6);
    world_close(&world);
}

/* Those that are short and stored are cut out of the whole list. */
static void roles_are_walked_by_position(void)
{
    struct world world;
    struct soc_buf error = {0};
    open_world(&world);
    for (int i = 0; i < 30; i++) {
        char id[16];
        snprintf(id, sizeof(id), "r%d", i);
        struct soc_role_draft draft = {
            .id = soc_slice_text(id), .name = soc_slice_text(id), .prompt = SOC_SLICE("p")};
        CHECK_INT(soc_agents_define_role(world.host, &draft, true, &error), SOC_OK);
    }
    soc_batch_seal(world.host);
    check_walks(&world, "roles", "", 1 + 30);
    world_close(&world);
}

/* Counts how often a row was seen. */
static int count(const struct seen *seen, int number)
{
    char row[16];
    int times = 0;
    snprintf(row, sizeof(row), " w%d ]", number);
    for (const char *at = soc_buf_text((struct soc_buf *)&seen->ids);
         (at = strstr(at, row)) != NULL; at++)
        times++;
    return times;
}

static void what_stays_is_shown_once_whatever_comes_and_goes(void)
{
    struct soc_rng rng;
    soc_rng_init(&rng, 7);
    for (int is_up = 0; is_up < 2; is_up++) {
        struct world world;
        struct seen seen = {0};
        bool has_ended[AGENTS] = {false};
        uint64_t cursor = 0;
        int born = AGENTS;
        open_world(&world);
        spawn_some(&world, 0, AGENTS);
        do {
            turn_page(&world, "agents", "", is_up == 1, cursor, 3, &seen);
            cursor = is_up == 1 ? seen.next : seen.previous;
            int number = (int)soc_rng_below(&rng, AGENTS);
            if (!has_ended[number])
                terminate(&world, number);
            has_ended[number] = true;
            spawn_some(&world, born++, is_up == 0);
        } while (cursor != 0);
        for (int i = 0; i < AGENTS; i++)
            CHECK(count(&seen, i) == 1 || (has_ended[i] && count(&seen, i) == 0));
        soc_buf_fini(&seen.ids);
        world_close(&world);
    }
}

static void a_birth_that_is_taken_back_leaves_no_gap(void)
{
    struct world world;
    open_world(&world);
    spawn(&world, "w1");
    uint64_t number = soc_registry_find(world.host, SOC_SLICE("w1"))->number;
    struct soc_buf error = {0};
    struct soc_agent *child;
    struct soc_spawn draft = {
        .role = SOC_SLICE("worker"), .id = SOC_SLICE("w2"), .brief = SOC_SLICE("{}")};
    soc_gate_begin_as(world.host, soc_registry_root(world.host));
    CHECK_INT(soc_agents_spawn(world.host, &draft, &child, &error), SOC_OK);
    soc_gate_end_as(world.host, false);
    soc_buf_fini(&error);
    spawn(&world, "w3");
    CHECK_INT(soc_registry_find(world.host, SOC_SLICE("w3"))->number, number + 1);
    check_walks(&world, "agents", "", 4);
    world_close(&world);
}

static void escalate(struct world *world, enum soc_priority priority, int64_t timeout_ms)
{
    struct soc_host *host = world->host;
    struct soc_escalation escalation = {
        .title = SOC_SLICE("may I?"), .priority = priority, .timeout_ms = timeout_ms};
    soc_gate_begin_as(host, soc_registry_root(host));
    soc_human_escalate(host, &escalation);
    soc_gate_end_as(host, true);
    world_settle(world);
}

static void open_items_are_shown_once_while_others_are_decided(void)
{
    struct world world;
    struct seen seen = {0};
    struct asked asked = {0};
    open_world(&world);
    for (int i = 0; i < 20; i++)
        escalate(&world, (enum soc_priority)(i % 4), -1);
    check_walks(&world, "inbox", "", 20);
    turn_page(&world, "inbox", "", true, 0, 5, &seen);
    CHECK_INT(seen.rows, 5);
    const char *first = strstr(soc_buf_text(&seen.ids), "item_");
    char params[128];
    snprintf(params, sizeof(params), "{\"item_id\":\"%.*s\",\"decision\":\"approve\"}",
             SOC_ITEM_ID_BYTES, first);
    ask(&world, "decide", params, &asked);
    CHECK(!asked.is_error);
    escalate(&world, SOC_PRIORITY_URGENT, -1);
    int rows = seen.rows;
    while (seen.next != 0) {
        turn_page(&world, "inbox", "", true, seen.next, 5, &seen);
        rows += seen.rows;
    }
    CHECK_INT(rows, 20 + 1); /* it comes after the urgent ones that were shown */
    soc_buf_fini(&seen.ids);
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

/* The key of an item has the number of its host above its counter. */
static void urgent_items_come_first_on_a_host_with_a_number(void)
{
    struct world world;
    struct soc_page page = {0};
    struct soc_buf whole = {0};
    struct soc_buf rows = {0};
    const struct soc_query query = {.has_after = true, .limit = 8};
    open_world(&world);
    world.host->next_key = soc_message_id_key_of(world.host->next_key, SOC_HOSTS_MAX - 1);
    for (int i = 0; i < 8; i++)
        escalate(&world, (enum soc_priority)(3 - i % 4), -1);
    soc_human_look(world.host, NULL, &whole);
    soc_human_page(world.host, &query, &page, &rows);
    CHECK_TEXT(soc_buf_text(&rows), soc_buf_text(&whole));
    check_walks(&world, "inbox", "", 8);
    soc_buf_fini(&whole);
    soc_buf_fini(&rows);
    world_close(&world);
}

/* Those that are stored are judged by the clock of the society, which may be a virtual one. */
static void a_stored_item_is_overdue_when_the_society_thinks_so(void)
{
    struct world world;
    struct asked asked = {0};
    open_world(&world);
    escalate(&world, SOC_PRIORITY_NORMAL, 1000);
    int64_t begun_ms = soc_host_now(world.host);
    for (int late = 0; late < 2; late++) {
        static const char *const states[] = {"open", "all"};
        soc_clock_move(soc_host_clock(world.host), begun_ms + 999 + late);
        world_settle(&world);
        for (int i = 0; i < 2; i++) {
            char params[32];
            snprintf(params, sizeof(params), "{\"state\":\"%s\"}", states[i]);
            bool is_overdue = strstr(ask(&world, "inbox", params, &asked), "\"overdue\":true");
            CHECK_INT(check_shape("inbox", &asked), 1);
            CHECK_INT(is_overdue, late == 1);
        }
    }
    soc_buf_fini(&asked.answer);
    soc_call_fini(&asked.call);
    world_close(&world);
}

int main(void)
{
    RUN(walks_give_the_whole_list_in_both_directions);
    RUN(contacts_known_by_name_only_are_shown_once);
    RUN(roles_are_walked_by_position);
    RUN(what_stays_is_shown_once_whatever_comes_and_goes);
    RUN(a_birth_that_is_taken_back_leaves_no_gap);
    RUN(open_items_are_shown_once_while_others_are_decided);
    RUN(urgent_items_come_first_on_a_host_with_a_number);
    RUN(a_stored_item_is_overdue_when_the_society_thinks_so);
    return check_done();
}

/* Covers: core/kernel/mail/mail.c, core/kernel/turns/ready.c */
#include <unistd.h>

#include "env/ids.h"
#include "host_parts.h"
#include "kernel/mail/dead.h"
#include "kernel/state.h"
#include "parts/contacts/book.h"

/* Writes down all that can be seen of a society but the time and the counts of
 * this process alone. */
static void look(struct world *world, struct soc_buf *out)
{
    out->length = 0;
    soc_look_stats(world->host, out);
    const char *own = strstr(soc_buf_text(out), ",\"turns\"");
    CHECK(own != NULL);
    out->length = (size_t)(own - out->data);
    soc_buf_put_byte(out, '\n');
    soc_look_agents(world->host, NULL, out);
    soc_buf_put_byte(out, '\n');
    static const char *const ids[] = {"user", "root", "ann", "bob", "cid", "dan"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct soc_agent *agent = soc_registry_find(world->host, soc_slice_text(ids[i]));
        if (agent != NULL)
            soc_look_contacts(world->host, agent, out);
    }
    soc_buf_put_byte(out, '\n');
    soc_look_waits(world->host, out);
    size_t cursor = 0;
    for (const struct soc_role *r; (r = soc_registry_each_role(world->host, &cursor)) != NULL;)
        soc_buf_printf(out, "\n%s %s %s", r->id, r->name, r->prompt);
}

/* A look taken now equals the one kept before. */
static void check_same_look(struct world *world)
{
    look(world, &world->texts[1]);
    const char *now = soc_buf_text(&world->texts[1]), *before = soc_buf_text(&world->texts[0]);
    size_t at = 0;
    while (now[at] != '\0' && now[at] == before[at])
        at++;
    size_t shown_from = at > 100 ? at - 100 : 0;
    if (!CHECK(now[at] == before[at]))
        printf("#   now:    %.200s\n#   before: %.200s\n", now + shown_from, before + shown_from);
}

static int64_t stat_of(struct world *world, const char *name)
{
    struct soc_buf stats = {0};
    int64_t number = -1;
    soc_look_stats(world->host, &stats);
    CHECK(soc_json_integer(soc_json_member(soc_buf_slice(&stats), name), &number));
    soc_buf_fini(&stats);
    return number;
}

static void check_law(struct world *world)
{
    CHECK_INT(stat_of(world, "sent"), stat_of(world, "processed") + stat_of(world, "pending") +
                                          stat_of(world, "expired") + stat_of(world, "dead") +
                                          stat_of(world, "dropped") + stat_of(world, "cancelled"));
}

/* Sends from a door; returns what soc_gate_send_as does. */
static int send_as(struct world *world, const char *from, const struct soc_send *send)
{
    struct soc_buf answer = {0};
    int rc = soc_gate_send_as(world->host, soc_registry_find(world->host, soc_slice_text(from)),
                              send, &answer);
    soc_buf_fini(&answer);
    return rc;
}

static int tell(struct world *world, const char *from, const char *to, const char *payload)
{
    return send_as(
        world, from,
        &(struct soc_send){.to = soc_slice_text(to), .payload = soc_slice_text(payload)});
}

static const char *shown(struct world *world)
{
    return soc_buf_text(&world->shown);
}

/* Bears a worker; `brief` may be NULL. */
static int step_spawn(struct world *world, const char *id, const char *brief, struct soc_buf *error)
{
    struct soc_slice answer;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_SPAWN, 6, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? rc : 1;
    struct soc_spawn spawn = {
        .role = SOC_SLICE("worker"), .id = soc_slice_text(id), .brief = soc_slice_text(brief)};
    struct soc_agent *child;
    world->live++;
    rc = soc_agents_spawn(world->host, &spawn, &child, error);
    return end_live(world, rc);
}

/* ---- the gate ---- */

static enum soc_turn_end main_of_chances(struct world *world, struct soc_activation *activation,
                                         struct soc_buf *error)
{
    char live[24], first[64], second[64];
    (void)activation;
    snprintf(live, sizeof(live), "[%d]", world->runs); /* another in each run */
    PASS(step_effect(world, SOC_EFFECT_RANDOM, live, first, error));
    PASS(step_sleep(world, 50, error));
    PASS(step_effect(world, SOC_EFFECT_NOW, live, second, error));
    PASS(step_sleep(world, 70, error));
    CHECK_TEXT(first, "[1]");
    CHECK_TEXT(second, "[2]");
    return SOC_TURN_DONE;
}

static void a_recorded_effect_is_answered_from_the_record(void)
{
    struct world world = {.main = main_of_chances};
    world_open(&world, NULL);
    world_finish(&world);
    CHECK(soc_host_main_is_done(world.host));
    CHECK_INT(world.runs, 3);
    CHECK_INT(world.live, 4);
    world_close(&world);
}

static void the_record_survives_the_process(void)
{
    for (int folded = 0; folded < 2; folded++) {
        struct world world = {.main = main_of_chances};
        world_open(&world, NULL);
        world_settle(&world);
        world_restart(&world, folded);
        world_settle(&world);
        CHECK_INT(world.runs, 1); /* it sleeps still */
        world_finish(&world);
        CHECK_INT(world.runs, 3);
        CHECK_INT(world.live, 4);
        world_restart(&world, folded);
        CHECK(soc_host_main_was_done(world.host));
        world_finish(&world);
        CHECK_INT(world.runs, 3);
        world_close(&world);
    }
}

/* Changes its mind about its first effect: in its arguments, then in its kind. */
static enum soc_turn_end worker_without_character(struct world *world,
                                                  struct soc_activation *activation,
                                                  struct soc_buf *error)
{
    (void)activation;
    struct soc_slice answer;
    enum soc_effect_kind kind = world->live < 0 ? SOC_EFFECT_NOW : SOC_EFFECT_RANDOM;
    uint64_t hash = (uint64_t)(kind == SOC_EFFECT_NOW ? world->runs - 1 : world->runs);
    int rc = soc_gate_begin(world->host, kind, hash, &answer, error);
    if (rc == SOC_GATE_LIVE) {
        soc_gate_answer(world->host, SOC_SLICE("[]"));
        PASS(step_sleep(world, 10, error));
    }
    CHECK_INT(rc, SOC_ENONDET);
    soc_buf_put_slice(&world->texts[0], soc_buf_slice(error));
    return SOC_TURN_BROKEN;
}

static enum soc_turn_end main_with_ann(struct world *world, struct soc_activation *activation,
                                       struct soc_buf *error)
{
    (void)activation;
    PASS(step_spawn(world, "ann", NULL, error));
    PASS(step_send(world, "ann", "1", error));
    return SOC_TURN_DONE;
}

static void a_script_that_does_not_repeat_itself_is_stopped(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_without_character};
    world_open(&world, NULL);
    world_finish(&world);
    CHECK(strstr(soc_buf_text(&world.texts[0]), "\"error\":\"nondeterministic\"") != NULL);
    CHECK(strstr(soc_buf_text(&world.texts[0]), "\"index\":0") != NULL);
    CHECK_INT(stat_of(&world, "dead"), 1);
    CHECK_INT(tell(&world, "user", "ann", "2"), SOC_OK);
    world_settle(&world);
    world.live = -1;
    world.texts[0].length = 0;
    world_finish(&world);
    const char *error = soc_buf_text(&world.texts[0]);
    CHECK(strstr(error, "\"recorded\":\"random\",\"now\":\"now\"") != NULL);
    CHECK_INT(stat_of(&world, "dead"), 2);
    CHECK_INT(stat_of(&world, "waiting"), 0);
    check_law(&world);
    world_close(&world);
}

static enum soc_turn_end worker_without_end(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    (void)activation;
    for (char answer[64];;) {
        int rc = step_effect(world, SOC_EFFECT_NOW, "[]", answer, error);
        if (rc < 0) {
            CHECK_INT(rc, SOC_ETOOLONG);
            CHECK(strstr(soc_buf_text(error), "activation_too_long") != NULL);
        }
        PASS(rc);
    }
}

static void an_activation_has_a_limit_of_effects(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_without_end, .effects_max = 5};
    world_open(&world, NULL);
    world.live = 0;
    world_finish(&world);
    CHECK_INT(world.live, 2 + 5);
    CHECK_INT(stat_of(&world, "dead"), 1);
    world.live = 0;
    soc_gate_set_effects_max(world.host, 9);
    CHECK_INT(tell(&world, "user", "ann", "2"), SOC_OK);
    world_finish(&world);
    CHECK_INT(world.live, 9);
    world_close(&world);
}

/* ---- a turn is one step or nothing ---- */

/* Takes from the middle of its mailbox; what it gets is `payload`. */
static void take_from(struct world *world, const char *from, const char *payload)
{
    struct soc_mail_filter filter = {soc_registry_find(world->host, soc_slice_text(from)), NULL};
    struct soc_message *message = soc_gate_take(world->host, filter);
    if (!CHECK(message != NULL))
        return;
    struct soc_slice text = soc_message_payload(message);
    CHECK_BYTES(text.data, text.length, payload);
}

static void change_all(struct world *world, struct soc_buf *error)
{
    char answer[64];
    struct soc_agent *agent;
    struct soc_role *role;
    struct soc_role_draft draft = {
        .id = SOC_SLICE("poet"), .name = SOC_SLICE("Poet"), .prompt = SOC_SLICE("Sings.")};
    CHECK_INT(soc_agents_create_role(world->host, &draft, true, &role, error), SOC_OK);
    struct soc_spawn spawn = {
        .role = SOC_SLICE("poet"),
        .id = SOC_SLICE("dan"),
        .brief = SOC_SLICE("{\"collaborators\":[{\"agentId\":\"bob\",\"role\":\"friend\"}]}"),
    };
    CHECK_INT(soc_agents_spawn(world->host, &spawn, &agent, error), SOC_OK);
    spawn.id = (struct soc_slice){0};
    CHECK_INT(soc_agents_spawn(world->host, &spawn, &agent, error), SOC_OK);
    CHECK_INT(soc_book_remove(world->host, SOC_SLICE("bob"), error), SOC_OK);
    CHECK_INT(
        soc_book_add(world->host, SOC_SLICE("{\"id\":\"cid\",\"role\":\"foe\"}"), &agent, error),
        SOC_OK);
    take_from(world, "cid", "\"from cid\"");
    take_from(world, "bob", "\"from bob\"");
    soc_gate_print(world->host, SOC_SLICE("never seen"));
    CHECK(step_send(world, "dan", "\"never sent\"", error) > 0);
    CHECK(step_send(world, "user", "\"never sent\"", error) > 0);
    CHECK(step_effect(world, SOC_EFFECT_RANDOM, "[1]", answer, error) > 0);
}

static enum soc_turn_end
worker_who_fails_once(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    if (!soc_slice_equal(soc_agent_id(activation->agent), SOC_SLICE("ann")))
        return SOC_TURN_DONE;
    if (soc_slice_equal(soc_message_payload(activation->message), SOC_SLICE("\"change\"")) &&
        world->retries_max == 1) {
        look(world, &world->texts[0]);
        change_all(world, error);
        world->retries_max = 2;
        error->length = 0;
        soc_buf_put_text(error, "{\"error\":\"script_error\"}");
        return SOC_TURN_RAISED;
    }
    if (world->retries_max == 2) {
        check_same_look(world);
        CHECK_INT(activation->effects_count + activation->cursor, 0);
        CHECK_INT(activation->taken.count, 0);
        world->retries_max = 3;
    }
    struct soc_slice text = soc_message_payload(activation->message);
    soc_gate_print(world->host, text);
    return SOC_TURN_DONE;
}

static enum soc_turn_end main_with_three(struct world *world, struct soc_activation *activation,
                                         struct soc_buf *error)
{
    (void)activation;
    static const char brief[] = "{\"collaborators\":[{\"agentId\":\"ann\",\"role\":\"friend\"}]}";
    PASS(step_spawn(world, "ann", NULL, error));
    PASS(step_spawn(world, "bob", brief, error));
    PASS(step_spawn(world, "cid", brief, error));
    return SOC_TURN_DONE;
}

/* Three workers; ann knows bob, then cid, by their first messages. */
static void open_with_three(struct world *world)
{
    world_open(world, NULL);
    world_finish(world);
    CHECK_INT(tell(world, "bob", "ann", "\"hello\""), SOC_OK);
    CHECK_INT(tell(world, "cid", "ann", "\"hello\""), SOC_OK);
    world_finish(world);
    world->shown.length = 0;
}

static void a_failed_turn_leaves_nothing_behind(void)
{
    struct world world = {.main = main_with_three, .worker = worker_who_fails_once};
    open_with_three(&world);
    world.retries_max = 1;
    uint64_t stored = soc_store_sequence(world.store);
    CHECK_INT(tell(&world, "user", "ann", "\"change\""), SOC_OK);
    CHECK_INT(tell(&world, "bob", "ann", "\"from bob\""), SOC_OK);
    CHECK_INT(tell(&world, "cid", "ann", "\"from cid\""), SOC_OK);
    CHECK_INT(tell(&world, "user", "ann", "\"last\""), SOC_OK);
    world_finish(&world);
    CHECK_TEXT(shown(&world),
               "ann: \"change\"\nann: \"from bob\"\nann: \"from cid\"\nann: \"last\"\n");
    CHECK_INT(world.retries_max, 3);
    CHECK(soc_store_sequence(world.store) > stored);
    look(&world, &world.texts[0]);
    for (int folded = 0; folded < 2; folded++) {
        world_restart(&world, folded);
        check_same_look(&world); /* the journal knows nothing of it either */
    }
    check_law(&world);
    world_close(&world);
}

/* ---- a tick ends in time ---- */

static enum soc_turn_end
worker_who_takes_long(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    struct soc_clock *clock = soc_host_clock(world->host);
    (void)activation;
    PASS(step_print(world, "slow", error));
    soc_clock_move(clock, soc_clock_now(clock) + SOC_TICK_MS_MAX);
    return SOC_TURN_DONE;
}

static void a_tick_runs_one_slow_turn_and_leaves_the_others_to_the_next(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_takes_long};
    world_open(&world, NULL);
    world_settle(&world);
    soc_batch_seal(world.host);
    world.shown.length = 0;
    CHECK_INT(tell(&world, "user", "ann", "1"), SOC_OK);
    CHECK_INT(tell(&world, "user", "ann", "2"), SOC_OK);
    CHECK_INT(soc_host_tick(world.host), SOC_TICK_NOW);
    soc_batch_seal(world.host);
    CHECK_TEXT(shown(&world), "ann: slow\n");
    CHECK(soc_host_tick(world.host) != SOC_TICK_NOW);
    world_finish(&world);
    CHECK_TEXT(shown(&world), "ann: slow\nann: slow\n");
    world_close(&world);
}

/* ---- nothing leaves before it is durable ---- */

static enum soc_turn_end worker_who_prints(struct world *world, struct soc_activation *activation,
                                           struct soc_buf *error)
{
    (void)activation;
    PASS(step_print(world, "first", error));
    PASS(step_print(world, "second", error));
    CHECK_INT(world->shown.length, 0);
    return SOC_TURN_DONE;
}

static void note_durable(void *user)
{
    soc_buf_put_text(&((struct world *)user)->shown, "durable\n");
}

static void a_line_is_shown_after_its_batch_is_in_the_store(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_prints};
    world_open(&world, NULL);
    uint64_t before = soc_store_sequence(world.store);
    soc_host_tick(world.host);
    CHECK_TEXT(shown(&world), "ann: first\nann: second\n");
    CHECK(world.shown_sequence > before);
    soc_batch_seal(world.host); /* that it was shown is known from here on */
    world_restart(&world, false);
    world_finish(&world);
    CHECK_TEXT(shown(&world), "ann: first\nann: second\n");
    world_close(&world);
}

static void what_a_crash_loses_was_never_shown(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_prints};
    world_open(&world, NULL);
    world_settle(&world);
    soc_batch_seal(world.host);
    world.shown.length = 0;
    CHECK_INT(tell(&world, "user", "ann", "1"), SOC_OK);
    CHECK_INT(tell(&world, "user", "ann", "2"), SOC_OK);
    soc_gate_when_durable(world.host, note_durable, &world);
    CHECK_TEXT(shown(&world), "");
    uint64_t before = soc_store_sequence(world.store);
    world_restart(&world, false);
    CHECK_INT(soc_store_sequence(world.store), before);
    world_finish(&world);
    CHECK_TEXT(shown(&world), "");
    CHECK_INT(stat_of(&world, "sent"), 1);
    soc_gate_when_durable(world.host, note_durable, &world);
    CHECK_TEXT(shown(&world), "durable\n"); /* nothing to wait for */
    world_close(&world);
}

/* Polls the writer until all is durable and shown. */
static void wait_for_writer(struct world *world)
{
    for (int i = 0; i < 1000 && !soc_host_is_quiet(world->host); i++) {
        soc_loop_poll(world->loop, 10);
        soc_host_tick(world->host);
    }
}

/* One life on a store in a directory, with a writer thread. The loop hears of
 * durability only when it is polled, so a tick alone shows nothing. */
static void live_with_writer(const char *directory, bool is_last, struct soc_buf *all)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_prints};
    world.loop = soc_loop_new();
    world_open(&world, directory);
    size_t length = world.shown.length; /* lines in doubt are shown at the start */
    soc_host_tick(world.host);
    CHECK_INT(world.shown.length, length);
    if (is_last)
        wait_for_writer(&world);
    else
        soc_host_crash(world.host);
    soc_buf_put_slice(all, soc_buf_slice(&world.shown));
    CHECK_INT(world.failures, 0);
    if (is_last)
        soc_host_close(world.host, 1000);
    soc_store_close(world.store);
    soc_loop_free(world.loop);
    soc_buf_fini(&world.shown);
}

static void with_a_writer_every_line_is_shown_in_order_at_least_once(void)
{
    static const char lines[] = "ann: first\nann: second\n";
    char directory[] = "/tmp/society_host.XXXXXX", command[64];
    struct soc_buf all = {0};
    CHECK(mkdtemp(directory) != NULL);
    for (int life = 0; life < 4; life++)
        live_with_writer(directory, life == 3, &all);
    CHECK(all.length > 0 && all.length % strlen(lines) == 0);
    for (size_t at = 0; at < all.length; at += strlen(lines))
        CHECK(memcmp(all.data + at, lines, strlen(lines)) == 0);
    soc_buf_fini(&all);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    CHECK_INT(system(command), 0);
}

/* ---- a restart ---- */

static enum soc_turn_end
worker_of_many_kinds(struct world *world, struct soc_activation *activation, struct soc_buf *error)
{
    struct soc_slice text = soc_message_payload(activation->message), reply;
    char what = text.length > 1 ? text.data[1] : '\0';
    if (what == 's')
        PASS(step_sleep(world, 60000, error));
    if (what == 'c')
        PASS(step_spawn(world, "dan", NULL, error));
    if (what == 'b') {
        PASS(step_sleep(world, 10, error));
        soc_buf_put_text(error, "{\"error\":\"script_error\"}");
        return SOC_TURN_BROKEN;
    }
    if (what == 'a') {
        PASS(step_request(world, "bob", 90000, &reply, error));
        soc_gate_print(world->host,
                       soc_json_member(soc_slice(reply.data + 1, reply.length - 2), "payload"));
    }
    if (activation->message->flags & SOC_MESSAGE_WANTS_REPLY)
        PASS(step_reply(world, "\"yes\"", error));
    soc_gate_set_state(world->host, text);
    return SOC_TURN_DONE;
}

/* Sleepers, waiters, queues, delays, dead letters, first acquaintances. */
static void fill(struct world *world)
{
    world_open(world, NULL);
    world_finish(world);
    CHECK_INT(tell(world, "user", "ann", "\"child\""), SOC_OK);
    world_settle(world);
    CHECK_INT(tell(world, "bob", "ann", "\"hello\""), SOC_OK);
    CHECK_INT(tell(world, "cid", "ann", "\"hello\""), SOC_OK);
    world_settle(world);
    int64_t now_ms = soc_clock_now(soc_host_clock(world->host));
    struct soc_send urgent = {.to = SOC_SLICE("bob"),
                              .payload = SOC_SLICE("\"urgent\""),
                              .has_priority = true,
                              .priority = SOC_PRIORITY_URGENT};
    struct soc_send late = {
        .to = SOC_SLICE("cid"), .payload = SOC_SLICE("\"late\""), .deliver_at_ms = now_ms + 30000};
    struct soc_send dying = {.to = SOC_SLICE("bob"), .payload = SOC_SLICE("\"x\""), .ttl_ms = 20};
    CHECK_INT(tell(world, "user", "cid", "\"break\""), SOC_OK);
    world_finish(world);
    CHECK_INT(tell(world, "user", "bob", "\"sleep\""), SOC_OK);
    world_settle(world);
    CHECK_INT(tell(world, "user", "bob", "\"one\""), SOC_OK);
    CHECK_INT(send_as(world, "user", &urgent), SOC_OK);
    CHECK_INT(send_as(world, "user", &dying), SOC_OK);
    CHECK_INT(send_as(world, "user", &late), SOC_OK);
    CHECK_INT(tell(world, "user", "ann", "\"ask\""), SOC_OK);
    soc_clock_move(soc_host_clock(world->host), now_ms + 1000);
    world_settle(world);
    soc_batch_seal(world->host);
}

static void a_restart_shows_the_same(void)
{
    for (int folded = 0; folded < 2; folded++) {
        struct world world = {.main = main_with_three, .worker = worker_of_many_kinds};
        fill(&world);
        CHECK_INT(stat_of(&world, "pending"), 6);
        CHECK_INT(stat_of(&world, "dead"), 1);
        CHECK_INT(stat_of(&world, "expired"), 1);
        CHECK_INT(stat_of(&world, "waiting"), 2);
        check_law(&world);
        look(&world, &world.texts[0]);
        for (int i = 0; i < 3; i++) {
            world_restart(&world, folded);
            check_same_look(&world);
            world_settle(&world);
            check_same_look(&world);
        }
        world.shown.length = 0;
        world_finish(&world);
        CHECK_TEXT(shown(&world), "ann: \"yes\"\n");
        CHECK_INT(stat_of(&world, "pending"), 0);
        CHECK_INT(stat_of(&world, "dead") + stat_of(&world, "expired"), 2);
        check_law(&world);
        world_close(&world);
    }
}

/* A dead letter that waits again must not be taken for what its receiver does. */
static void a_redelivered_message_waits_its_turn_across_a_restart(void)
{
    for (int folded = 0; folded < 2; folded++) {
        struct world world = {.main = main_with_ann, .worker = worker_of_many_kinds};
        world_open(&world, NULL);
        world_finish(&world);
        CHECK_INT(tell(&world, "user", "ann", "\"break\""), SOC_OK);
        world_finish(&world);
        CHECK_INT(stat_of(&world, "dead"), 1);
        CHECK_INT(tell(&world, "user", "ann", "\"sleep\""), SOC_OK);
        world_settle(&world);
        struct soc_buf letters = {0};
        world_dead_letters(&world, &letters);
        struct soc_slice letter = soc_slice(letters.data + 1, letters.length - 2);
        struct soc_slice id = soc_json_plain_string(soc_json_member(letter, "id"));
        CHECK_INT(world_change_dead(&world, id, false), SOC_OK);
        soc_buf_fini(&letters);
        world_settle(&world);
        soc_batch_seal(world.host);
        look(&world, &world.texts[0]);
        world_restart(&world, folded);
        check_same_look(&world);
        const struct soc_agent *ann = soc_registry_find(world.host, SOC_SLICE("ann"));
        CHECK_INT(ann->activation->message->key, 3);
        CHECK_INT(soc_mailbox_count(&ann->mailbox), 1);
        world_finish(&world);
        CHECK_INT(stat_of(&world, "dead"), 1);
        CHECK_INT(stat_of(&world, "processed"), 2);
        check_law(&world);
        world_close(&world);
    }
}

static void a_state_belongs_to_one_app(void)
{
    struct world world = {.main = main_with_ann, .worker = worker_who_prints};
    world_open(&world, NULL);
    world_finish(&world);
    soc_host_close(world.host, 0);
    CHECK_INT(world_start_as(&world, "another"), SOC_EOTHERAPP);
    soc_host_crash(world.host);
    CHECK_INT(world_start_as(&world, "test"), SOC_OK);
    world_close(&world);
}

int main(void)
{
    RUN(a_recorded_effect_is_answered_from_the_record);
    RUN(the_record_survives_the_process);
    RUN(a_script_that_does_not_repeat_itself_is_stopped);
    RUN(an_activation_has_a_limit_of_effects);
    RUN(a_failed_turn_leaves_nothing_behind);
    RUN(a_line_is_shown_after_its_batch_is_in_the_store);
    RUN(a_tick_runs_one_slow_turn_and_leaves_the_others_to_the_next);
    RUN(what_a_crash_loses_was_never_shown);
    RUN(with_a_writer_every_line_is_shown_in_order_at_least_once);
    RUN(a_restart_shows_the_same);
    RUN(a_redelivered_message_waits_its_turn_across_a_restart);
    RUN(a_state_belongs_to_one_app);
    return check_done();
}

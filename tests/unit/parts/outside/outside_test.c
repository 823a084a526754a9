/* Doors: what they are handed, when, in which order, and what they are told.
 *
 * Covers: core/parts/outside/outside_mail.c */
#include "env/ids.h"
#include "host_world.h"
#include "kernel/ending.h"
#include "kernel/state.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"
#include "parts/outside/outside_state.h"

#define KEYS_MAX 256

/* The batch that holds the message of a key. */
static uint64_t batches[KEYS_MAX];
static int64_t times[KEYS_MAX]; /* and when it was sent */

/* A door that writes down what happens to it. */
struct porch {
    struct world *world;
    const char *only;   /* the one agent it leads to; NULL: to all */
    bool is_shut;       /* it can hand out nothing */
    struct soc_buf log; /* "deliver out 1" or "born out" and so on, a line each */
    bool was_early;     /* something came before it was durable */
};

static bool carries(void *user, const struct soc_agent *agent)
{
    const struct porch *porch = user;
    return porch->only == NULL || strcmp(porch->only, agent->id) == 0;
}

static bool deliver(void *user, const struct soc_handout *handout)
{
    struct porch *porch = user;
    if (porch->is_shut)
        return false;
    if (soc_store_sequence(porch->world->store) < batches[handout->message->key % KEYS_MAX])
        porch->was_early = true;
    soc_buf_printf(&porch->log, "deliver %s %.*s%s\n", handout->agent->id,
                   (int)handout->message->type->length, handout->message->type->text,
                   handout->is_again ? " again" : "");
    return true;
}

static void tell(void *user, const struct soc_door_news *news)
{
    static const char *const events[] = {"born", "ended", "unresponsive", "responsive", "done"};
    struct porch *porch = user;
    soc_buf_printf(&porch->log, "%s %s%s\n", events[news->event], news->agent->id,
                   news->message_id.data == NULL ? "" : " message");
}

static void open_door(struct porch *porch)
{
    struct soc_door door = {.user = porch, .carries = carries, .deliver = deliver, .tell = tell};
    CHECK_INT(soc_outside_open(porch->world->host, &door), SOC_OK);
}

/* Checks what the door has seen since the last time. */
static void saw(struct porch *porch, const char *expected)
{
    CHECK_TEXT(soc_buf_text(&porch->log), expected);
    porch->log.length = 0;
}

static enum soc_turn_end handle(struct world *world, struct soc_activation *activation,
                                struct soc_buf *error)
{
    (void)world, (void)activation, (void)error;
    return SOC_TURN_DONE;
}

static void spawn(struct world *world, const char *id)
{
    struct soc_buf error = {0};
    struct soc_agent *child;
    struct soc_spawn spawn = {
        .role = SOC_SLICE("worker"), .id = soc_slice_text(id), .is_external = true};
    soc_turn_begin(world->host, world->host->registry.root, NULL);
    CHECK_INT(soc_agents_spawn(world->host, &spawn, &child, &error), SOC_OK);
    soc_commit_turn(world->host);
    soc_buf_fini(&error);
}

/* Sends from root; returns the message's key. */
static uint64_t send(struct world *world, const char *to, const char *type)
{
    struct soc_buf answer = {0};
    struct soc_send send = {
        .to = soc_slice_text(to), .type = soc_slice_text(type), .payload = SOC_SLICE("{}")};
    CHECK_INT(soc_gate_send_as(world->host, world->host->registry.root, &send, &answer), SOC_OK);
    soc_buf_fini(&answer);
    uint64_t key = world->host->next_key - 1;
    batches[key % KEYS_MAX] = world->host->next_sequence;
    times[key % KEYS_MAX] = soc_clock_now(soc_host_clock(world->host));
    return key;
}

static void ack(struct world *world, const char *id, uint64_t key, enum soc_ack status)
{
    char text[SOC_MESSAGE_ID_BYTES];
    struct soc_buf error = {0};
    struct soc_agent *agent = soc_outside_find(world->host, soc_slice_text(id));
    soc_message_id_format(text, times[key % KEYS_MAX], key);
    CHECK_INT(soc_outside_ack(world->host, agent, soc_slice(text, sizeof(text)), status,
                              (struct soc_position){SOC_SLICE("acks"), SOC_SLICE("7")}, &error),
              SOC_OK);
    soc_buf_fini(&error);
}

static void flush(struct world *world)
{
    while (world->host->batch.length > 0)
        soc_batch_seal(world->host);
}

static void begin(struct world *world, struct porch *porch)
{
    *world = (struct world){.worker = handle};
    *porch = (struct porch){.world = world};
    world_open(world, NULL);
}

static void end(struct world *world, struct porch *porch)
{
    world_close(world);
    soc_buf_fini(&porch->log);
}

static void nothing_leaves_before_it_is_durable(void)
{
    struct world world;
    struct porch porch;
    begin(&world, &porch);
    open_door(&porch);
    spawn(&world, "out");
    send(&world, "out", "note");
    saw(&porch, "");
    flush(&world);
    saw(&porch, "born out\ndeliver out note\ndone out message\n");
    send(&world, "out", "lost");
    world_restart(&world, false);
    open_door(&porch);
    flush(&world);
    saw(&porch, "born out\n");
    CHECK(!porch.was_early);
    end(&world, &porch);
}

static void nothing_leaves_before_it_is_durable_on_a_real_loop(void)
{
    struct world world = {.worker = handle, .loop = soc_loop_new()};
    struct porch porch = {.world = &world};
    world_open(&world, NULL);
    open_door(&porch);
    spawn(&world, "out");
    for (int i = 0; i < 50; i++) {
        send(&world, "out", "note");
        soc_batch_seal(world.host);
        send(&world, "out", "note");
        soc_loop_poll(world.loop, 1);
    }
    for (int i = 0; i < 1000 && world.host->registry.alive > 0 && !soc_host_is_quiet(world.host);
         i++) {
        soc_batch_seal(world.host);
        soc_loop_poll(world.loop, 1);
    }
    size_t count = 0;
    for (const char *at = soc_buf_text(&porch.log); (at = strstr(at, "deliver")) != NULL; at++)
        count++;
    CHECK_INT(count, 100);
    CHECK(!porch.was_early);
    end(&world, &porch);
}

static void a_door_gets_what_it_could_not_take_later_in_order(void)
{
    struct world world;
    struct porch porch;
    begin(&world, &porch);
    porch.is_shut = true;
    open_door(&porch);
    spawn(&world, "out");
    send(&world, "out", "acked");
    send(&world, "out", "note");
    flush(&world);
    saw(&porch, "born out\n");
    CHECK_INT(soc_host_next_due(world.host) - soc_clock_now(soc_host_clock(world.host)),
              SOC_HEARTBEAT_MS + 1); /* no ladder begins with what is not out */
    porch.is_shut = false;
    soc_outside_resume(world.host);
    flush(&world);
    saw(&porch, "deliver out acked\ndeliver out note\ndone out message\n");
    end(&world, &porch);
}

static void messages_wait_for_a_door_to_their_receiver(void)
{
    struct world world;
    struct porch first;
    struct porch second = {.world = &world};
    begin(&world, &first);
    spawn(&world, "a");
    spawn(&world, "b");
    send(&world, "a", "note");
    send(&world, "b", "note");
    flush(&world);
    first.only = "a";
    open_door(&first);
    flush(&world);
    saw(&first, "born a\ndeliver a note\ndone a message\n");
    open_door(&second); /* the rest; a keeps its door */
    flush(&world);
    saw(&second, "born b\ndeliver b note\ndone b message\n");
    saw(&first, "");
    CHECK_INT(soc_outside_open(world.host, &(struct soc_door){.deliver = deliver}), SOC_OK);
    CHECK_INT(soc_outside_open(world.host, &(struct soc_door){.deliver = deliver}), SOC_OK);
    CHECK_INT(soc_outside_open(world.host, &(struct soc_door){.deliver = deliver}), SOC_ETOOLARGE);
    soc_buf_fini(&second.log);
    end(&world, &first);
}

static void a_door_is_notified_about_its_agents_and_their_messages(void)
{
    struct world world;
    struct porch porch;
    begin(&world, &porch);
    open_door(&porch);
    spawn(&world, "out");
    uint64_t key = send(&world, "out", "acked");
    flush(&world);
    saw(&porch, "born out\ndeliver out acked\n");
    ack(&world, "out", key, SOC_ACK_RECEIVED);
    flush(&world);
    saw(&porch, "");
    soc_clock_move(soc_host_clock(world.host),
                   soc_clock_now(soc_host_clock(world.host)) + SOC_HEARTBEAT_MS + 1);
    world_settle(&world);
    flush(&world);
    saw(&porch, "unresponsive out\n");
    ack(&world, "out", key, SOC_ACK_PROCESSED);
    flush(&world);
    saw(&porch, "responsive out\ndone out message\n");
    end(&world, &porch);
}

/* Letters that the next hand-out looks at. */
static int count_waiting(struct world *world)
{
    struct soc_agent *agent = soc_outside_find(world->host, SOC_SLICE("out"));
    const struct soc_outsider *outsider = soc_outside_need(world->host, agent);
    int count = 0;
    for (int p = 0; p < SOC_PRIORITY_COUNT; p++)
        for (const struct soc_letter *letter = outsider->waiting[p].first; letter != NULL;
             letter = letter->next)
            count++;
    return count;
}

static void a_send_does_not_visit_messages_handed_out_before(void)
{
    struct world world;
    struct porch porch;
    begin(&world, &porch);
    open_door(&porch);
    spawn(&world, "out");
    for (int i = 0; i < 5000; i++)
        send(&world, "out", "acked");
    CHECK_INT(count_waiting(&world), 5000);
    flush(&world);
    CHECK_INT(count_waiting(&world), 0);
    porch.log.length = 0;
    send(&world, "out", "acked");
    CHECK_INT(count_waiting(&world), 1);
    flush(&world);
    CHECK_INT(count_waiting(&world), 0);
    saw(&porch, "deliver out acked\n");
    end(&world, &porch);
}

static void the_state_of_an_agent_is_freed_after_its_end(void)
{
    struct world world;
    struct porch porch;
    struct soc_buf error = {0};
    bool is_forced = true;
    begin(&world, &porch);
    open_door(&porch);
    spawn(&world, "out");
    send(&world, "out", "acked");
    flush(&world);
    CHECK_INT(soc_outside_of_host(world.host)->outsiders.count, 1);
    soc_turn_begin(world.host, world.host->registry.root, NULL);
    CHECK_INT(soc_ending_terminate(world.host, SOC_SLICE("out"), &is_forced, (struct soc_slice){0},
                                   &error),
              SOC_OK);
    soc_commit_turn(world.host);
    CHECK_INT(soc_outside_of_host(world.host)->outsiders.count, 1); /* its door is not told yet */
    flush(&world);
    CHECK_INT(soc_outside_of_host(world.host)->outsiders.count, 0);
    saw(&porch, "born out\ndeliver out acked\ndone out message\nended out\n");
    soc_buf_fini(&error);
    end(&world, &porch);
}

static void a_read_position_is_stored_with_what_was_read(void)
{
    struct world world;
    struct porch porch;
    begin(&world, &porch);
    open_door(&porch);
    spawn(&world, "out");
    uint64_t key = send(&world, "out", "acked");
    flush(&world);
    ack(&world, "out", key, SOC_ACK_PROCESSED);
    CHECK(soc_slice_equal(soc_outside_position(world.host, SOC_SLICE("acks")), SOC_SLICE("7")));
    world_restart(&world, false); /* neither was durable */
    CHECK(soc_outside_position(world.host, SOC_SLICE("acks")).data == NULL);
    open_door(&porch);
    flush(&world);
    saw(&porch, "born out\ndeliver out acked\nborn out\ndeliver out acked again\n");
    ack(&world, "out", key, SOC_ACK_PROCESSED);
    flush(&world);
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        world_restart(&world, is_folded);
        CHECK(soc_slice_equal(soc_outside_position(world.host, SOC_SLICE("acks")), SOC_SLICE("7")));
    }
    porch.log.length = 0;
    open_door(&porch);
    flush(&world);
    saw(&porch, "born out\n");
    end(&world, &porch);
}

int main(void)
{
    RUN(nothing_leaves_before_it_is_durable);
    RUN(nothing_leaves_before_it_is_durable_on_a_real_loop);
    RUN(a_door_gets_what_it_could_not_take_later_in_order);
    RUN(messages_wait_for_a_door_to_their_receiver);
    RUN(a_door_is_notified_about_its_agents_and_their_messages);
    RUN(a_read_position_is_stored_with_what_was_read);
    RUN(a_send_does_not_visit_messages_handed_out_before);
    RUN(the_state_of_an_agent_is_freed_after_its_end);
    return check_done();
}

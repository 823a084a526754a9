/* Orders about deadlocks, as another host gives them: what makes no sense changes nothing, and
 * orders that a host does not know are passed over.
 *
 * Covers: core/parts/hosts/hosts_probe.c, core/parts/hosts/hosts_ring.c */
#include "env/rng.h"
#include "host_parts.h"
#include "parts/hosts/hosts_orders.h"

#define ROUNDS 20000

static void do_nothing(void *user)
{
    (void)user;
}

static bool is_idle(void *user)
{
    (void)user;
    return false;
}

/* Whoever gets mail waits for an agent of beta. */
static enum soc_turn_end worker_who_listens(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    struct soc_slice answer;
    (void)activation;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_RECEIVE, 4, &answer, error);
    if (rc != SOC_GATE_LIVE)
        return rc < 0 ? SOC_TURN_BROKEN : SOC_TURN_DONE;
    struct soc_wait wait = {
        .kind = SOC_WAIT_RECEIVE,
        .on = soc_registry_need_remote(world->host, SOC_SLICE("root@beta")),
    };
    soc_gate_wait(world->host, &wait);
    return SOC_TURN_WAITS;
}

static enum soc_turn_end main_who_bears_ann(struct world *world, struct soc_activation *activation,
                                            struct soc_buf *error)
{
    struct soc_slice answer;
    struct soc_agent *child;
    struct soc_spawn spawn = {.role = SOC_SLICE("worker"), .id = SOC_SLICE("ann")};
    (void)activation;
    int rc = soc_gate_begin(world->host, SOC_EFFECT_SPAWN, 6, &answer, error);
    if (rc == SOC_GATE_LIVE) {
        rc = soc_agents_spawn(world->host, &spawn, &child, error);
        PASS(end_live(world, rc));
    }
    PASS(step_send(world, "ann", "{}", error));
    return SOC_TURN_DONE;
}

static const struct soc_activation *wait_of(struct world *world)
{
    return soc_registry_find(world->host, SOC_SLICE("ann"))->activation;
}

/* alpha, whose agent ann waits for root@beta. */
static struct soc_hosts_peer *open_alpha(struct world *world)
{
    struct soc_hosts_driver driver = {.settle = do_nothing, .is_busy = is_idle};
    *world = (struct world){.main = main_who_bears_ann, .worker = worker_who_listens};
    world_open(world, NULL);
    CHECK_INT(soc_hosts_join(world->host, SOC_SLICE("alpha"), NULL), SOC_OK);
    soc_hosts_set_driver(world->host, &driver);
    struct soc_hosts_peer *peer = soc_hosts_need_peer(world->host, SOC_SLICE("beta"));
    world_settle(world);
    CHECK(wait_of(world)->state == SOC_ACTIVATION_WAITING);
    return peer;
}

static void give(struct world *world, struct soc_hosts_peer *peer, const char *type,
                 struct soc_slice payload)
{
    struct soc_record_message r = {
        .from = SOC_SLICE("system"),
        .to = SOC_SLICE("system"),
        .type = soc_slice_text(type),
        .flags = SOC_MESSAGE_IS_FORMAL,
        .payload = payload,
        .foreign_id = SOC_SLICE("msg_20260101_000000_000020000000001"),
    };
    CHECK_INT(soc_json_check(payload, NULL), SOC_OK);
    CHECK(soc_hosts_obey(world->host, peer, NULL, &r));
}

/* Appends one of the values, or something else. */
static void put_any(struct soc_rng *rng, struct soc_buf *out, const char *name,
                    const char *const values[4])
{
    static const char *const odd[] = {"null",
                                      "0",
                                      "-1",
                                      "1e99",
                                      "\"\"",
                                      "[]",
                                      "{}",
                                      "\"@\"",
                                      "[[]]",
                                      "[1]",
                                      "[{}]",
                                      "\"a\\u0000b@beta\"",
                                      "9223372036854775807",
                                      "\"root@nowhere\"",
                                      "true"};
    uint64_t choice = soc_rng_below(rng, 40);
    if (choice == 0)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_text(out, choice < 6 ? odd[soc_rng_below(rng, sizeof(odd) / sizeof(odd[0]))]
                                     : values[soc_rng_below(rng, 4)]);
}

/* Appends a wait; the number is never that of ann's wait. */
static void put_wait(struct soc_rng *rng, struct soc_buf *out, uint64_t number)
{
    static const char *const ids[] = {"\"ann@alpha\"", "\"root@beta\"", "\"x@beta\"",
                                      "\"user@alpha\""};
    static const char *const kinds[] = {"\"reply\"", "\"receive\"", "\"ack\"", "\"checkpoint\""};
    static const char *const times[] = {"0", "1", "2", "3"};
    soc_buf_put_byte(out, '{');
    put_any(rng, out, "id", ids);
    put_any(rng, out, "for", ids);
    put_any(rng, out, "kind", kinds);
    put_any(rng, out, "since", times);
    put_any(rng, out, "question", times);
    soc_json_put_name(out, "number");
    soc_json_put_integer(out, (int64_t)(number + 1 + soc_rng_below(rng, 3)));
    soc_buf_put_byte(out, '}');
}

static void put_order(struct soc_rng *rng, struct soc_buf *out, uint64_t number)
{
    static const char *const ids[] = {"\"ann\"", "\"user\"", "\"orchestrator\"", "\"x\""};
    static const char *const times[] = {"1", "2", "3", "4"};
    static const uint64_t counts[] = {0, 1, 2, 2, 3, 63, 64, 70};
    out->length = 0;
    soc_buf_put_byte(out, '{');
    put_any(rng, out, "id", ids);
    put_any(rng, out, "time", times);
    for (int i = 0; i < 2; i++) {
        soc_json_put_name(out, i == 0 ? "path" : "cycle");
        soc_buf_put_byte(out, '[');
        uint64_t count = counts[soc_rng_below(rng, 8)];
        for (uint64_t n = 0; n < count; n++) {
            if (n > 0)
                soc_buf_put_byte(out, ',');
            put_wait(rng, out, number);
        }
        soc_buf_put_byte(out, ']');
    }
    soc_buf_put_byte(out, '}');
}

static void orders_that_make_no_sense_end_no_wait(void)
{
    static const char *const types[] = {"host_probe", "host_probe_back", "host_deadlock"};
    struct world world;
    struct soc_rng rng;
    struct soc_buf order = {0};
    struct soc_hosts_peer *peer = open_alpha(&world);
    const struct soc_activation *ann = wait_of(&world);
    uint64_t number = ann->wait.number;
    soc_rng_init(&rng, 1);
    for (int i = 0; i < ROUNDS; i++) {
        put_order(&rng, &order, number);
        give(&world, peer, types[i % 3], soc_buf_slice(&order));
        CHECK(ann->state == SOC_ACTIVATION_WAITING && ann->wait.number == number);
    }
    order.length = 0;
    soc_buf_printf(&order,
                   "{\"id\":\"ann\",\"cycle\":[{\"id\":\"root@beta\",\"for\":\"ann@alpha\","
                   "\"kind\":\"reply\",\"number\":1,\"since\":1},{\"id\":\"ann@alpha\","
                   "\"for\":\"root@beta\",\"kind\":\"reply\",\"number\":%d,\"since\":2}]}",
                   (int)number);
    give(&world, peer, "host_deadlock", soc_buf_slice(&order));
    CHECK(ann->state == SOC_ACTIVATION_READY); /* that one made sense */
    soc_buf_fini(&order);
    world_close(&world);
}

static void an_order_of_a_later_version_is_passed_over(void)
{
    struct world world;
    struct soc_hosts_peer *peer = open_alpha(&world);
    uint64_t next = world.host->next_key;
    give(&world, peer, "host_of_tomorrow", SOC_SLICE("{\"id\":\"ann\",\"cycle\":[]}"));
    give(&world, peer, "host_probe", SOC_SLICE("{}"));
    CHECK(world.host->next_key == next); /* nothing was answered */
    CHECK(wait_of(&world)->state == SOC_ACTIVATION_WAITING);
    world_close(&world);
}

int main(void)
{
    RUN(orders_that_make_no_sense_end_no_wait);
    RUN(an_order_of_a_later_version_is_passed_over);
    return check_done();
}

/* Links: the numbers of hosts, silence, held mail, and the alert that each of these raises.
 *
 * Covers: core/bridge/links/numbers.c, core/bridge/links/looks.c, core/parts/hosts/hosts_busy.c */
#include "bridge/links/links.h"

#include "base/hash.h"
#include "base/limits.h"
#include "host_fleet.h"
#include "kernel/registry.h"
#include "parts/hosts/hosts_state.h"

#define ROUND_MS 2000 /* between cards */

/* Returns how many alerts of that type about that host ("": its own) were raised. */
static int alerts(struct member *member, const char *type, const char *host)
{
    struct soc_buf rows = {0};
    struct soc_json_walk walk;
    int count = 0;
    soc_look_query(member->world.host, &(struct soc_query){.what = "dump"}, world_take_rows, &rows);
    soc_json_walk(&walk, soc_buf_slice(&rows));
    while (soc_json_next(&walk)) {
        struct soc_slice payload = soc_json_member(walk.value, "payload");
        struct soc_slice about = soc_json_plain_string(soc_json_member(payload, "host"));
        count += soc_slice_equal(soc_json_plain_string(soc_json_member(payload, "alert_type")),
                                 soc_slice_text(type)) &&
                 soc_slice_equal(about, soc_slice_text(host));
    }
    soc_buf_fini(&rows);
    return count;
}

/* Returns whether `society inspect links` shows this of the link to a host, as JSON. */
static bool shows(struct member *member, const char *host, const char *name, const char *value)
{
    const struct soc_hosts *hosts = soc_hosts_state(member->world.host);
    struct soc_buf rows = {0};
    struct soc_json_walk walk;
    bool is_shown = false;
    soc_buf_put_byte(&rows, '[');
    hosts->driver.put_links(hosts->driver.user, &rows);
    soc_buf_put_byte(&rows, ']');
    soc_json_walk(&walk, soc_buf_slice(&rows));
    while (soc_json_next(&walk))
        if (soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "host")),
                            soc_slice_text(host)))
            is_shown = soc_slice_equal(soc_json_member(walk.value, name), soc_slice_text(value));
    if (!is_shown)
        printf("# %s: %s\n", member->name, soc_buf_text(&rows));
    soc_buf_fini(&rows);
    return is_shown;
}

static void reset(struct member *member, const char *host)
{
    const struct soc_hosts *hosts = soc_hosts_state(member->world.host);
    CHECK_INT(hosts->driver.reset(hosts->driver.user, soc_slice_text(host), false), SOC_OK);
}

static int number_of(const struct member *member)
{
    return soc_hosts_number_of(member->world.host);
}

static uint64_t taken_by(struct member *member, const char *from)
{
    struct soc_hosts_peer *peer = soc_hosts_need_peer(member->world.host, soc_slice_text(from));
    return soc_hosts_end(peer)->taken;
}

/* ---- numbers ---- */

static void two_hosts_with_one_number_refuse_each_other_until_it_is_free(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", 5);
    struct member *beta = fleet_add(&fleet, "beta", 5);
    fleet_begin(alpha);
    fleet_run(&fleet, 100);
    fleet_begin(beta);
    fleet_run(&fleet, 3 * ROUND_MS);
    CHECK_INT(number_of(alpha), 5);
    CHECK_INT(number_of(beta), -1);
    CHECK_INT(alerts(beta, "number_taken", ""), 1);
    CHECK_INT(alerts(alpha, "number_taken", ""), 0);
    CHECK(shows(beta, "alpha", "state", "\"number_taken\""));
    CHECK_INT(fleet_send(beta, "user@alpha", "{}"), SOC_OK);
    fleet_run(&fleet, 3 * ROUND_MS);
    CHECK_INT(taken_by(alpha, "beta"), 0);

    fleet_kill(alpha);
    soc_network_flush(fleet.network);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(number_of(beta), 5);
    CHECK_INT(alerts(beta, "number_free", ""), 1);

    fleet_begin(alpha); /* with its journal, which says 5 */
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(alpha, "number_taken", ""), 1);
    CHECK_INT(taken_by(alpha, "beta"), 0);
    fleet_close(&fleet);
}

static void a_number_that_is_its_own_again_carries_on(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", 5);
    struct member *beta = fleet_add(&fleet, "beta", 6);
    fleet_begin(alpha);
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(taken_by(beta, "alpha"), 1);

    struct member *thief = fleet_add(&fleet, "thief", 5);
    fleet_kill(alpha);
    soc_network_flush(fleet.network);
    fleet_begin(thief);
    fleet_run(&fleet, ROUND_MS);
    fleet_begin(alpha);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(alerts(alpha, "number_taken", ""), 1);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_kill(thief);
    soc_network_flush(fleet.network);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(alpha, "number_free", ""), 1);
    CHECK_INT(taken_by(beta, "alpha"), 2);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    fleet_close(&fleet);
}

static void a_running_host_whose_number_is_taken_goes_on_when_it_is_free(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", 5);
    struct member *beta = fleet_add(&fleet, "beta", 6);
    fleet_begin(alpha);
    fleet_begin(beta);
    fleet_run(&fleet, 2 * ROUND_MS + ROUND_MS / 2);
    struct member *thief = fleet_add(&fleet, "thief", 5);
    soc_network_flush(fleet.network);
    fleet_begin(thief); /* which was told to take it, and does not wait */
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(alpha, "number_taken", ""), 1);
    CHECK(shows(alpha, "beta", "state", "\"number_taken\""));
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    CHECK_INT(fleet_send(beta, "user@alpha", "{}"), SOC_OK);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(taken_by(beta, "alpha"), 0);
    CHECK_INT(taken_by(alpha, "beta"), 0);

    fleet_kill(thief);
    soc_network_flush(fleet.network);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(alpha, "number_free", ""), 1);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    CHECK_INT(taken_by(beta, "alpha"), 1);
    CHECK_INT(taken_by(alpha, "beta"), 1);
    fleet_close(&fleet);
}

/* Finds another name whose search for a number begins where that of `name` does. */
static void find_namesake(const char *name, char out[16])
{
    uint64_t numbers = SOC_HOSTS_MAX - 1;
    uint64_t first = soc_hash(name, strlen(name), 0) % numbers;
    for (int i = 0;; i++) {
        snprintf(out, 16, "host%d", i);
        if (soc_hash(out, strlen(out), 0) % numbers == first)
            return;
    }
}

static void hosts_without_a_number_find_different_ones_and_keep_them(void)
{
    struct fleet fleet;
    char namesake[16];
    find_namesake("alpha", namesake);
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", -1);
    struct member *beta = fleet_add(&fleet, namesake, -1);
    fleet_begin(alpha);
    fleet_begin(beta);
    fleet_run(&fleet, 2 * ROUND_MS);
    int first = number_of(alpha), second = number_of(beta);
    CHECK(first > 0 && second > 0 && first != second);

    soc_network_flush(fleet.network);
    fleet_run(&fleet, 2 * ROUND_MS);
    fleet_kill(beta);
    fleet_begin(beta);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(number_of(alpha), first);
    CHECK_INT(number_of(beta), second);
    CHECK_INT(alerts(alpha, "number_taken", "") + alerts(beta, "number_taken", ""), 0);
    CHECK(shows(alpha, namesake, "state", "\"up\""));
    fleet_close(&fleet);
}

static void a_host_that_comes_after_a_flush_takes_nobodys_number(void)
{
    struct fleet fleet;
    char namesake[16];
    find_namesake("alpha", namesake);
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", -1);
    struct member *beta = fleet_add(&fleet, namesake, -1);
    fleet_begin(alpha);
    fleet_run(&fleet, 3 * ROUND_MS + ROUND_MS / 2);
    int first = number_of(alpha);
    CHECK(first > 0);
    soc_network_flush(fleet.network);
    fleet_begin(beta); /* before alpha claims its number again */
    fleet_run(&fleet, 4 * ROUND_MS);
    CHECK_INT(number_of(alpha), first);
    CHECK(number_of(beta) > 0 && number_of(beta) != first);
    CHECK_INT(alerts(alpha, "number_taken", "") + alerts(beta, "number_taken", ""), 0);
    CHECK(shows(beta, "alpha", "state", "\"up\""));
    fleet_close(&fleet);
}

static void a_host_that_sees_all_others_has_its_number_at_once(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", -1);
    struct member *beta = fleet_add(&fleet, "beta", -1);
    fleet_begin(alpha);
    fleet_run(&fleet, 2 * ROUND_MS);
    fleet_begin(beta);
    fleet_run(&fleet, 50);
    CHECK(number_of(beta) > 0);
    CHECK(shows(beta, "alpha", "state", "\"up\""));
    fleet_close(&fleet);
}

/* ---- why links stop, and what is said ---- */

/* Starts alpha and beta, which are kept on disks, and has each send the other a message. */
static void begin_pair(struct fleet *fleet)
{
    fleet_open(fleet, 1);
    for (int i = 0; i < 2; i++)
        fleet_add(fleet, i == 0 ? "alpha" : "beta", i + 1)->disk = soc_disk_new((uint64_t)i + 1);
    fleet_begin(&fleet->members[0]);
    fleet_begin(&fleet->members[1]);
    fleet_run(fleet, ROUND_MS);
    CHECK_INT(fleet_send(&fleet->members[0], "user@beta", "{}"), SOC_OK);
    CHECK_INT(fleet_send(&fleet->members[1], "user@alpha", "{}"), SOC_OK);
    fleet_run(fleet, ROUND_MS);
    CHECK_INT(taken_by(&fleet->members[0], "beta"), 1);
    CHECK_INT(taken_by(&fleet->members[1], "alpha"), 1);
}

/* Resets both ends: the link carries messages of both again. */
static void check_reset(struct member *alpha, struct member *beta)
{
    reset(alpha, "beta");
    reset(beta, "alpha");
    fleet_run(alpha->fleet, 2 * ROUND_MS);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    CHECK(shows(beta, "alpha", "state", "\"up\""));
    CHECK(taken_by(alpha, "beta") > 0);
    CHECK(taken_by(beta, "alpha") > 0);
    CHECK(shows(alpha, "beta", "waiting", "0"));
    CHECK(shows(beta, "alpha", "waiting", "0"));
}

/* Beta forgets what it has taken since, or what it has sent: both ends say so once, and nothing
 * is taken in either direction until both are reset. */
static void check_older_copy(bool is_sender)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    fleet_kill(beta);
    struct soc_disk *older = soc_disk_copy(beta->disk, 7);
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(is_sender ? fleet_send(beta, "user@alpha", "{}")
                        : fleet_send(alpha, "user@beta", "{}"),
              SOC_OK);
    fleet_run(&fleet, ROUND_MS);
    fleet_kill(beta);
    fleet_put_back(beta, older);
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    uint64_t taken[] = {taken_by(alpha, "beta"), taken_by(beta, "alpha")};
    CHECK_INT(taken[is_sender ? 0 : 1], is_sender ? 2 : 1);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    CHECK_INT(fleet_send(beta, "user@alpha", "{}"), SOC_OK);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK_INT(alerts(alpha, "peer_rolled_back", "beta"), 1);
    CHECK_INT(alerts(beta, "state_rolled_back", "alpha"), 1);
    CHECK(shows(alpha, "beta", "state", "\"peer_rolled_back\""));
    CHECK(shows(beta, "alpha", "state", "\"state_rolled_back\""));
    CHECK_INT(taken_by(alpha, "beta"), taken[0]);
    CHECK_INT(taken_by(beta, "alpha"), taken[1]);
    check_reset(alpha, beta);
    fleet_close(&fleet);
}

static void an_older_copy_of_the_receiver_is_named_and_takes_nothing(void)
{
    check_older_copy(false);
}

static void an_older_copy_of_the_sender_is_named_and_gives_nothing(void)
{
    check_older_copy(true);
}

static void another_directory_under_a_known_name_is_named(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    fleet_kill(beta);
    fleet_put_back(beta, NULL);
    fleet_begin(beta);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(fleet_send(beta, "user@alpha", "{}"), SOC_OK);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK_INT(alerts(alpha, "peer_replaced", "beta"), 1);
    CHECK_INT(alerts(beta, "not_recognized", "alpha"), 1);
    CHECK(shows(alpha, "beta", "state", "\"peer_replaced\""));
    CHECK(shows(beta, "alpha", "state", "\"not_recognized\""));
    CHECK_INT(taken_by(alpha, "beta"), 1);
    CHECK_INT(taken_by(beta, "alpha"), 0);

    reset(alpha, "beta"); /* is enough: the new one has nothing to forget */
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(beta, "link_resumed", "alpha"), 1);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    CHECK(shows(beta, "alpha", "state", "\"up\""));
    CHECK_INT(taken_by(alpha, "beta"), 1); /* of the new numbers */
    CHECK_INT(taken_by(beta, "alpha"), 1);
    fleet_close(&fleet);
}

static void a_host_is_fenced_within_five_seconds_of_the_start_of_its_copy(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    fleet_kill(alpha);
    struct member *copy = fleet_add(&fleet, "alpha", 1);
    copy->disk = soc_disk_copy(alpha->disk, 7);
    fleet_begin(alpha);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    fleet_begin(copy);
    fleet_run(&fleet, 5000);
    CHECK_INT(alerts(alpha, "fenced", "beta"), 1);
    CHECK(shows(alpha, "beta", "state", "\"fenced\""));
    CHECK_INT(alerts(copy, "fenced", "beta"), 0);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK_INT(taken_by(beta, "alpha"), 1);
    CHECK_INT(alerts(alpha, "fenced", "beta"), 1);
    CHECK_INT(fleet_send(copy, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(taken_by(beta, "alpha"), 2);
    fleet_close(&fleet);
}

static void a_host_is_fenced_though_its_peer_is_down(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    fleet_kill(alpha);
    struct member *copy = fleet_add(&fleet, "alpha", 1);
    copy->disk = soc_disk_copy(alpha->disk, 7);
    fleet_begin(alpha);
    fleet_run(&fleet, ROUND_MS);
    fleet_kill(beta);
    fleet_begin(copy);
    fleet_run(&fleet, 5000); /* it can append no more */
    CHECK_INT(alerts(alpha, "fenced", "beta"), 1);
    CHECK_INT(alerts(copy, "fenced", "beta"), 0);
    fleet_close(&fleet);
}

static bool is_unresponsive(struct member *member, const char *address)
{
    const struct soc_agent *proxy = soc_registry_find(member->world.host, soc_slice_text(address));
    return CHECK(proxy != NULL) &&
           strcmp(soc_look_status(member->world.host, proxy), "unresponsive") == 0;
}

static void a_silent_host_is_named_and_its_agents_show_it_until_it_is_heard(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK(!is_unresponsive(alpha, "user@beta"));
    fleet_cut(beta, true);
    fleet_run(&fleet, 9000);
    CHECK_INT(alerts(alpha, "host_unreachable", "beta"), 0);
    fleet_run(&fleet, 5000);
    CHECK_INT(alerts(alpha, "host_unreachable", "beta"), 1);
    CHECK(shows(alpha, "beta", "state", "\"unreachable\""));
    CHECK(is_unresponsive(alpha, "user@beta"));
    CHECK(is_unresponsive(alpha, "named-since@beta"));
    CHECK_INT(alerts(beta, "carrier_lost", ""), 1); /* and beta suspects nobody */
    CHECK_INT(alerts(beta, "host_unreachable", "alpha"), 0);
    CHECK(shows(beta, "alpha", "state", "\"carrier_lost\""));
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, 60000);
    CHECK_INT(alerts(alpha, "host_unreachable", "beta"), 1);
    CHECK(shows(alpha, "beta", "waiting", "1"));

    fleet_cut(beta, false);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(alerts(alpha, "host_reachable", "beta"), 1);
    CHECK(!is_unresponsive(alpha, "user@beta"));
    CHECK(!is_unresponsive(alpha, "named-since@beta"));
    CHECK(!is_unresponsive(alpha, "named-later@beta"));
    CHECK_INT(taken_by(beta, "alpha"), 2);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    fleet_close(&fleet);
}

static void a_host_that_never_came_is_missed_after_ten_seconds(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", -1);
    fleet_add(&fleet, "beta", 2);
    fleet_begin(alpha);
    fleet_run(&fleet, 9000); /* it looks for a number of its own first */
    CHECK(number_of(alpha) > 0);
    CHECK_INT(alerts(alpha, "host_unreachable", "beta"), 0);
    fleet_run(&fleet, 2 * ROUND_MS + 5000);
    CHECK_INT(alerts(alpha, "host_unreachable", "beta"), 1);
    fleet_close(&fleet);
}

static void a_frame_with_a_wrong_signature_is_named_once(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", 1);
    struct member *beta = fleet_add(&fleet, "beta", 2);
    beta->key = "a key of another fleet";
    fleet_begin(alpha);
    fleet_begin(beta);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK_INT(alerts(alpha, "frame_refused", "beta"), 1);
    CHECK_INT(alerts(beta, "frame_refused", "alpha"), 1);
    CHECK(shows(alpha, "beta", "state", "\"refused\""));
    CHECK(shows(alpha, "beta", "message", "\"the frame is signed with a key this host lacks\""));
    fleet_close(&fleet);
}

static void every_new_reason_for_refusing_frames_is_named_until_they_are_accepted(void)
{
    struct fleet fleet;
    fleet_open(&fleet, 1);
    struct member *alpha = fleet_add(&fleet, "alpha", 1);
    struct member *beta = fleet_add(&fleet, "beta", 2);
    beta->key = "";
    fleet_begin(alpha);
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(alerts(alpha, "frame_refused", "beta"), 1);
    CHECK(shows(alpha, "beta", "message", "\"the frame is not signed\""));
    fleet_kill(beta);
    beta->key = "a key of another fleet";
    fleet_begin(beta);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK_INT(alerts(alpha, "frame_refused", "beta"), 2);
    CHECK(shows(alpha, "beta", "state", "\"refused\""));
    CHECK(shows(alpha, "beta", "message", "\"the frame is signed with a key this host lacks\""));
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, 10 * ROUND_MS);
    CHECK(!soc_links_is_busy(alpha->links)); /* nobody waits for a key */
    fleet_kill(beta);
    beta->key = NULL;
    fleet_begin(beta);
    fleet_run(&fleet, 4 * ROUND_MS);
    CHECK(shows(alpha, "beta", "state", "\"up\""));
    CHECK_INT(alerts(alpha, "frame_refused", "beta"), 2);
    CHECK_INT(taken_by(beta, "alpha"), 1);
    fleet_close(&fleet);
}

static void clocks_that_differ_are_named_once(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0];
    CHECK_INT(alerts(alpha, "clock_skew", ""), 0);
    soc_network_skew(fleet.network, 900);
    fleet_run(&fleet, 2 * ROUND_MS);
    CHECK_INT(alerts(alpha, "clock_skew", ""), 0);
    soc_network_skew(fleet.network, -3600000);
    fleet_run(&fleet, 4 * ROUND_MS);
    CHECK_INT(alerts(alpha, "clock_skew", ""), 1);
    fleet_close(&fleet);
}

static void an_answer_that_was_long_on_its_way_says_nothing_of_clocks(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0];
    soc_network_delay(fleet.network, 120000);
    fleet_run(&fleet, ROUND_MS);
    soc_network_skew(fleet.network, 3600000);
    fleet_run(&fleet, 120 * ROUND_MS);
    CHECK_INT(alerts(alpha, "clock_skew", ""), 0);
    soc_network_delay(fleet.network, 0);
    fleet_run(&fleet, 120 * ROUND_MS);
    CHECK_INT(alerts(alpha, "clock_skew", ""), 1);
    fleet_close(&fleet);
}

static void mail_is_waited_for_as_long_as_it_may_arrive(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    CHECK(!soc_links_is_busy(alpha->links));
    fleet_cut(alpha, true);
    CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    fleet_run(&fleet, 7000);
    CHECK(soc_links_is_busy(alpha->links)); /* a short failure is waited out */
    fleet_run(&fleet, 5000);
    CHECK(!soc_links_is_busy(alpha->links));
    fleet_kill(beta);
    fleet_cut(alpha, false);
    fleet_run(&fleet, 7000);
    CHECK(soc_links_is_busy(alpha->links));
    fleet_run(&fleet, 6000);
    CHECK(!soc_links_is_busy(alpha->links)); /* the host is silent */
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(taken_by(beta, "alpha"), 2);
    fleet_close(&fleet);
}

/* ---- figures ---- */

/* Returns a number that `society inspect links` shows of the link from alpha to beta. */
static int64_t figure(struct fleet *fleet, const char *name)
{
    const struct soc_hosts *hosts = soc_hosts_state(fleet->members[0].world.host);
    struct soc_buf row = {0};
    int64_t number = -1;
    hosts->driver.put_links(hosts->driver.user, &row);
    struct soc_slice value = soc_json_member(soc_buf_slice(&row), name);
    soc_json_integer(value, &number);
    soc_buf_fini(&row);
    return number;
}

static void the_figures_of_a_link_are_those_of_its_messages(void)
{
    struct fleet fleet;
    begin_pair(&fleet);
    struct member *alpha = &fleet.members[0], *beta = &fleet.members[1];
    const struct soc_hosts_end *end =
        soc_hosts_end(soc_hosts_need_peer(beta->world.host, SOC_SLICE("alpha")));
    CHECK_INT(figure(&fleet, "window"), 32768);
    CHECK_INT(figure(&fleet, "sent"), 1);
    CHECK_INT(figure(&fleet, "acked"), 1);
    CHECK_INT(figure(&fleet, "peer_epoch"), (int64_t)end->epoch);
    CHECK_INT(figure(&fleet, "epoch"), (int64_t)end->peer_epoch);

    fleet_set_slow(beta, true); /* what it takes is not durable yet */
    for (int i = 0; i < 3; i++)
        CHECK_INT(fleet_send(alpha, "user@beta", "{}"), SOC_OK);
    for (int i = 0; i < 5; i++) { /* at this moment */
        fleet_run_member(alpha);
        soc_network_step(fleet.network, fleet.now_ms);
    }
    CHECK_INT(figure(&fleet, "window"), 32768 - 3);
    CHECK_INT(figure(&fleet, "sent"), 4);
    CHECK_INT(figure(&fleet, "acked"), 1);
    CHECK_INT(figure(&fleet, "waiting"), 3);
    fleet_set_slow(beta, false);
    fleet_run(&fleet, ROUND_MS);
    CHECK_INT(figure(&fleet, "window"), 32768);
    CHECK_INT(figure(&fleet, "acked"), 4);

    int64_t epoch = figure(&fleet, "peer_epoch");
    fleet_kill(beta);
    fleet_begin(beta);
    fleet_run(&fleet, ROUND_MS);
    CHECK(figure(&fleet, "peer_epoch") > epoch);
    fleet_close(&fleet);
}

int main(void)
{
    RUN(two_hosts_with_one_number_refuse_each_other_until_it_is_free);
    RUN(a_number_that_is_its_own_again_carries_on);
    RUN(a_running_host_whose_number_is_taken_goes_on_when_it_is_free);
    RUN(hosts_without_a_number_find_different_ones_and_keep_them);
    RUN(a_host_that_comes_after_a_flush_takes_nobodys_number);
    RUN(a_host_that_sees_all_others_has_its_number_at_once);
    RUN(an_older_copy_of_the_receiver_is_named_and_takes_nothing);
    RUN(an_older_copy_of_the_sender_is_named_and_gives_nothing);
    RUN(another_directory_under_a_known_name_is_named);
    RUN(a_host_is_fenced_within_five_seconds_of_the_start_of_its_copy);
    RUN(a_host_is_fenced_though_its_peer_is_down);
    RUN(a_silent_host_is_named_and_its_agents_show_it_until_it_is_heard);
    RUN(a_host_that_never_came_is_missed_after_ten_seconds);
    RUN(a_frame_with_a_wrong_signature_is_named_once);
    RUN(every_new_reason_for_refusing_frames_is_named_until_they_are_accepted);
    RUN(clocks_that_differ_are_named_once);
    RUN(an_answer_that_was_long_on_its_way_says_nothing_of_clocks);
    RUN(mail_is_waited_for_as_long_as_it_may_arrive);
    RUN(the_figures_of_a_link_are_those_of_its_messages);
    return check_done();
}

/* The ladder of an unacked message, acks, and the pulse of an agent.
 *
 * Covers: core/model/delivery/ack.c */
#include "base/limits.h"
#include "check.h"
#include "model/delivery/ack.h"
#include "model/delivery/ladder.h"
#include "model/delivery/pulse.h"

/* Climbs the default ladder from `start_ms` on, tick by tick, and writes what happens. */
static void climb(struct soc_ladder *ladder, int64_t start_ms, struct soc_buf *out)
{
    soc_ladder_start(ladder, start_ms);
    int64_t due_ms = soc_ladder_set(ladder, soc_ladder_default(ladder->step));
    while (due_ms != 0) {
        CHECK_INT(soc_ladder_climb(ladder, due_ms - 1), SOC_RUNG_END);
        enum soc_rung_action action = soc_ladder_climb(ladder, due_ms);
        soc_buf_printf(out, "%s@%lld ", soc_rung_name(action), (long long)(due_ms - start_ms));
        due_ms = soc_ladder_set(ladder, soc_ladder_default(ladder->step));
    }
}

static void the_default_ladder_has_its_times(void)
{
    struct soc_ladder ladder = {0};
    struct soc_buf out = {0};
    climb(&ladder, 1000, &out);
    CHECK_TEXT(soc_buf_text(&out),
               "timeout@5000 resend@7000 timeout@12000 warn@14000 unresponsive@19000 ");
    CHECK(!soc_ladder_is_climbed(&ladder));
    soc_buf_fini(&out);
}

static void a_stopped_ladder_does_nothing_until_it_is_restarted(void)
{
    struct soc_ladder ladder = {0};
    struct soc_buf out = {0};
    CHECK(!soc_ladder_is_climbed(&ladder));
    soc_ladder_start(&ladder, 0);
    CHECK_INT(soc_ladder_set(&ladder, soc_ladder_default(1)), 5000);
    CHECK(soc_ladder_is_climbed(&ladder));
    soc_ladder_stop(&ladder);
    CHECK_INT(soc_ladder_climb(&ladder, 1000000), SOC_RUNG_END);
    climb(&ladder, 7, &out);
    CHECK(out.length > 0);
    soc_buf_fini(&out);
}

static void rungs_only_go_up_and_are_bounded(void)
{
    struct soc_ladder ladder = {0};
    soc_ladder_start(&ladder, 0);
    CHECK_INT(soc_ladder_set(&ladder, (struct soc_rung){100, SOC_RUNG_RESEND}), 100);
    CHECK_INT(soc_ladder_climb(&ladder, 100), SOC_RUNG_RESEND);
    CHECK_INT(soc_ladder_set(&ladder, (struct soc_rung){50, SOC_RUNG_RESEND}), 100);
    int count = 1;
    while (soc_ladder_climb(&ladder, 100) != SOC_RUNG_END) {
        soc_ladder_set(&ladder, (struct soc_rung){100, SOC_RUNG_RESEND});
        count++;
    }
    CHECK_INT(count, SOC_LADDER_STEPS_MAX);
}

static void actions_have_names(void)
{
    for (int i = SOC_RUNG_TIMEOUT; i <= SOC_RUNG_UNRESPONSIVE; i++) {
        enum soc_rung_action action = (enum soc_rung_action)i;
        CHECK_INT(soc_rung_parse(soc_slice_text(soc_rung_name(action))), action);
    }
    CHECK_INT(soc_rung_parse(SOC_SLICE("end")), SOC_RUNG_END);
    CHECK_INT(soc_rung_parse((struct soc_slice){0}), SOC_RUNG_END);
}

/* Reads an ack and writes it as "status id from". */
static void read(const char *json, const char *expected)
{
    struct soc_buf id = {0};
    struct soc_buf from = {0};
    struct soc_buf out = {0};
    const char *reason = NULL;
    enum soc_ack ack = soc_ack_read(soc_slice_text(json), &id, &from, &reason);
    if (ack == SOC_ACK_NONE)
        soc_buf_put_text(&out, reason);
    else
        soc_buf_printf(&out, "%s %s %s", soc_ack_name(ack), soc_buf_text(&id), soc_buf_text(&from));
    CHECK_TEXT(soc_buf_text(&out), expected);
    soc_buf_fini(&id);
    soc_buf_fini(&from);
    soc_buf_fini(&out);
}

static void acks_are_read_in_both_forms(void)
{
    read("{\"id\":\"ack_20250125_143025_def456\",\"timestamp\":\"2025-01-25T14:30:25.123Z\","
         "\"ack_for\":\"msg_20250125_143022_abc123\",\"from\":\"agent_architecture\","
         "\"status\":\"received\"}",
         "received msg_20250125_143022_abc123 agent_architecture");
    read("{\"msg_id\":\"msg_003\",\"status\":\"processed\",\"at\":\"2025-01-25T14:31:22.789Z\"}",
         "processed msg_003 ");
    read("{\"msg_id\":\"a\\u0062\",\"status\":\"received\"}", "received ab ");
}

static void an_invalid_ack_has_a_reason(void)
{
    static const char no_status[] = "the status of an ack is received or processed";
    static const char no_name[] = "an ack names a message, as ack_for or msg_id";
    read("[]", "an ack is an object");
    read("{}", no_name);
    read("{\"msg_id\":7,\"status\":\"received\"}", no_name);
    read("{\"msg_id\":\"a\"}", no_status);
    read("{\"msg_id\":\"a\",\"status\":\"seen\"}", no_status);
    read("{\"msg_id\":\"\",\"status\":\"received\"}", no_status);
}

static void silence_is_reported_once_until_the_agent_is_heard(void)
{
    struct soc_pulse pulse;
    soc_pulse_begin(&pulse, 1000);
    CHECK_INT(pulse.heard_ms, 0);
    CHECK_INT(soc_pulse_due(&pulse, 30000), 31001);
    CHECK_INT(soc_pulse_due(&pulse, 0), 0);
    CHECK(!soc_pulse_hear(&pulse, 5000));
    CHECK_INT(soc_pulse_due(&pulse, 30000), 35001);
    CHECK(soc_pulse_lose(&pulse));
    CHECK(!soc_pulse_lose(&pulse));
    CHECK_INT(soc_pulse_due(&pulse, 30000), 0);
    soc_pulse_retry(&pulse, 40000);
    CHECK(pulse.is_lost);
    CHECK_INT(soc_pulse_due(&pulse, 30000), 70001);
    CHECK(soc_pulse_lose(&pulse));
    CHECK(soc_pulse_hear(&pulse, 80000));
    CHECK(!pulse.is_lost);
    CHECK(!soc_pulse_hear(&pulse, 80001));
}

int main(void)
{
    RUN(the_default_ladder_has_its_times);
    RUN(a_stopped_ladder_does_nothing_until_it_is_restarted);
    RUN(rungs_only_go_up_and_are_bounded);
    RUN(actions_have_names);
    RUN(acks_are_read_in_both_forms);
    RUN(an_invalid_ack_has_a_reason);
    RUN(silence_is_reported_once_until_the_agent_is_heard);
    return check_done();
}

/* Covers: core/check/doors.c */
#include "check_history.h"

/* A history in which far lives outside, and all that it does is reported. */
static struct history begin_outside(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){.type = SOC_RECORD_AGENT,
                                 .agent = {.id = SOC_SLICE("far"),
                                           .role = SOC_SLICE("far"),
                                           .parent = SOC_SLICE("root"),
                                           .is_external = 1}});
    commit(&h);
    soc_check_watched(h.check);
    return h;
}

/* Sends a letter that must be acked. */
static uint64_t write_letter(struct history *h, uint64_t priority)
{
    uint64_t key = send(h, (struct mail){.from = "root",
                                         .to = "far",
                                         .priority = priority,
                                         .flags = SOC_MESSAGE_REQUIRES_ACK});
    commit(h);
    return key;
}

static void hand(struct history *h, uint64_t key, const char *id)
{
    soc_check_outside(h->check, SOC_SLICE("far"), key, soc_slice_text(id), h->now_ms);
}

static void put_event(struct history *h, const char *event, const char *detail)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_EVENT,
                                .event = {.time_ms = (uint64_t)h->now_ms,
                                          .event = soc_slice_text(event),
                                          .agent = SOC_SLICE("far"),
                                          .detail = soc_slice_text(detail)}});
}

static void resend(struct history *h, uint64_t key, uint64_t attempt)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_RECEIPT,
                                .receipt = {.key = key, .attempt = attempt}});
    commit(h);
}

static void urgent_letters_leave_first(void)
{
    struct history h = begin_outside();
    uint64_t normal = write_letter(&h, 2);
    uint64_t urgent = write_letter(&h, 0);
    hand(&h, urgent, "u");
    hand(&h, normal, "n");
    CHECK(soc_check_fault(h.check) == NULL);
    normal = write_letter(&h, 2);
    urgent = write_letter(&h, 0);
    hand(&h, normal, "m");
    hand(&h, urgent, "v");
    CHECK(ends_with(&h, "which is more urgent"));
}

static void an_urgent_letter_that_has_ended_is_passed_by(void)
{
    struct history h = begin_outside();
    uint64_t normal = write_letter(&h, 2);
    uint64_t urgent = write_letter(&h, 0);
    hand(&h, normal, "n"); /* as the host knows already, the other one is cancelled */
    end(&h, urgent, SOC_OUTCOME_CANCELLED);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    normal = write_letter(&h, 2);
    urgent = write_letter(&h, 0);
    hand(&h, normal, "m");
    soc_check_restart(h.check, h.sequence); /* before the end of the other one was durable */
    hand(&h, urgent, "u");
    CHECK(ends_with(&h, NULL));
}

static void a_letter_ends_when_it_is_processed(void)
{
    struct history h = begin_outside();
    uint64_t first = write_letter(&h, 2);
    uint64_t second = write_letter(&h, 2);
    hand(&h, first, "1");
    hand(&h, second, "2");
    soc_check_acked(h.check, SOC_SLICE("far"), first, true, h.now_ms);
    end(&h, first, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_acked(h.check, SOC_SLICE("far"), second, false, h.now_ms);
    end(&h, second, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "has ended, but far has not processed it"));
}

/* A reply of the agent outside that the society accepts. */
static void reply_to(struct history *h, uint64_t key)
{
    h->totals[0]++;
    put(h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                .message = {.key = h->next_key++,
                                            .flags = SOC_MESSAGE_IS_REPLY,
                                            .reply_to = key,
                                            .from = SOC_SLICE("far"),
                                            .to = SOC_SLICE("root"),
                                            .type = SOC_SLICE("response"),
                                            .payload = SOC_SLICE("{}")}});
}

static void an_answer_ends_its_letter(void)
{
    struct history h = begin_outside();
    uint64_t key = write_letter(&h, 2);
    hand(&h, key, "1");
    reply_to(&h, key);
    commit(&h);
    hand(&h, key, "1");
    CHECK(ends_with(&h, "which it has answered"));
    h = begin_outside();
    key = write_letter(&h, 2);
    reply_to(&h, key);
    end(&h, h.next_key - 1, SOC_OUTCOME_PROCESSED);
    commit(&h);
    soc_check_end(h.check, h.now_ms);
    CHECK(ends_with(&h, "is pending, but far has answered it"));
}

static void what_was_given_up_is_not_sent_again_until_somebody_decides(void)
{
    struct history h = begin_outside();
    uint64_t key = write_letter(&h, 2);
    hand(&h, key, "1");
    resend(&h, key, 2);
    CHECK(soc_check_fault(h.check) == NULL);
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"message_id\":\"1\"}");
    commit(&h);
    put_event(&h, "resolved", "{\"action\":\"restart\"}");
    resend(&h, key, 3);
    CHECK(soc_check_fault(h.check) == NULL);
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"message_id\":\"1\"}");
    commit(&h);
    h.now_ms += 1000;
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, h.now_ms);
    resend(&h, key, 4);
    CHECK(ends_with(&h, "again after it was given up"));
}

static void an_agent_that_owes_an_ack_is_sent_nothing_again(void)
{
    struct history h = begin_outside();
    uint64_t first = write_letter(&h, 2);
    uint64_t second = write_letter(&h, 2);
    hand(&h, first, "1");
    hand(&h, second, "2");
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"message_id\":\"1\"}");
    commit(&h);
    h.now_ms += 1000;
    soc_check_said(h.check, SOC_SLICE("far"), (struct soc_slice){0}, (struct soc_slice){0},
                   h.now_ms);
    resend(&h, second, 2);
    CHECK(ends_with(&h, "again, which owes an ack"));
}

static void a_restart_gives_nobody_up(void)
{
    struct history h = begin_outside();
    uint64_t key = write_letter(&h, 2);
    hand(&h, key, "1");
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"message_id\":\"1\"}");
    commit(&h);
    soc_check_restart(h.check, h.sequence);
    resend(&h, key, 2);
    CHECK(ends_with(&h, NULL));
}

static void only_a_silence_beyond_the_limit_is_an_alarm(void)
{
    struct history h = begin_outside();
    soc_check_silence(h.check, 500);
    h.now_ms = 2000;
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, h.now_ms);
    h.now_ms = 2501;
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"reason\":\"heartbeat\"}");
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, h.now_ms);
    h.now_ms = 3001;
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"reason\":\"heartbeat\"}");
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, h.now_ms + 1); /* before the record */
    commit(&h);
    CHECK(ends_with(&h, "far is unresponsive after a silence of 500 ms"));
}

static void a_silence_counts_from_a_restart_that_sets_time_back(void)
{
    struct history h = begin_outside();
    soc_check_silence(h.check, 500);
    h.now_ms = 1000;
    write_letter(&h, 2);
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, 1400); /* and no batch was durable */
    soc_check_restart(h.check, h.sequence);
    h.now_ms = 1501;
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"reason\":\"heartbeat\"}");
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_acked(h.check, SOC_SLICE("far"), 99, false, 1900);
    soc_check_restart(h.check, h.sequence);
    h.now_ms = 2001;
    put_event(&h, "unresponsive", "{\"agent\":\"far\",\"reason\":\"heartbeat\"}");
    commit(&h);
    CHECK(ends_with(&h, "far is unresponsive after a silence of 500 ms"));
}

static void a_message_goes_to_whom_its_sender_outside_means(void)
{
    struct history h = begin_outside();
    struct soc_record record = {.type = SOC_RECORD_MESSAGE,
                                .message = {.key = h.next_key++,
                                            .from = SOC_SLICE("far"),
                                            .to = SOC_SLICE("root"),
                                            .type = SOC_SLICE("general"),
                                            .external_id = SOC_SLICE("x1"),
                                            .payload = SOC_SLICE("{}")}};
    soc_check_said(h.check, SOC_SLICE("far"), SOC_SLICE("x1"), SOC_SLICE("b"), h.now_ms);
    h.totals[0]++;
    put(&h, &record);
    commit(&h);
    CHECK(ends_with(&h, "far wrote to root, not to b as it wanted"));
}

static void nobody_outlives_its_parent(void)
{
    struct history h = begin();
    birth(&h, "child", "a", NULL);
    put(&h,
        &(struct soc_record){.type = SOC_RECORD_AGENT_END, .agent_end = {.id = SOC_SLICE("a")}});
    commit(&h);
    static const char *const living[] = {"user", "root", "b", "child"};
    static const char *const parents[] = {"", "", "root", "a"};
    soc_check_census_begin(h.check, 0, 0);
    for (int i = 0; i < 4; i++)
        soc_check_census_agent(h.check, soc_slice_text(living[i]), soc_slice_text(parents[i]));
    soc_check_census_contact(h.check, SOC_SLICE("user"), SOC_SLICE("root"));
    soc_check_census_contact(h.check, SOC_SLICE("root"), SOC_SLICE("user"));
    soc_check_census_contact(h.check, SOC_SLICE("root"), SOC_SLICE("b"));
    soc_check_census_contact(h.check, SOC_SLICE("b"), SOC_SLICE("root"));
    soc_check_census_end(h.check);
    CHECK(ends_with(&h, "child outlives its parent a"));
}

static void an_agent_is_ending_if_the_history_says_so(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){.type = SOC_RECORD_AGENT_ENDING,
                                 .agent_ending = {.id = SOC_SLICE("a")}});
    commit(&h);
    soc_check_census_standing(h.check, SOC_SLICE("a"), 0, false, true);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_census_standing(h.check, SOC_SLICE("a"), 0, false, false);
    CHECK(ends_with(&h, "a is not ending, which the history does not say"));
}

int main(void)
{
    RUN(urgent_letters_leave_first);
    RUN(an_urgent_letter_that_has_ended_is_passed_by);
    RUN(a_letter_ends_when_it_is_processed);
    RUN(an_answer_ends_its_letter);
    RUN(what_was_given_up_is_not_sent_again_until_somebody_decides);
    RUN(an_agent_that_owes_an_ack_is_sent_nothing_again);
    RUN(a_restart_gives_nobody_up);
    RUN(only_a_silence_beyond_the_limit_is_an_alarm);
    RUN(a_silence_counts_from_a_restart_that_sets_time_back);
    RUN(a_message_goes_to_whom_its_sender_outside_means);
    RUN(nobody_outlives_its_parent);
    RUN(an_agent_is_ending_if_the_history_says_so);
    return check_done();
}

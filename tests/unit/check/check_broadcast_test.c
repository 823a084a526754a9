/* The checker on broadcasts: who must read them, and who has. */
#include "check_history.h"

/* Sends a broadcast; `readers` is how many the society reports. */
static uint64_t broadcast(struct history *history, uint64_t readers)
{
    history->totals[0] += readers - 1;
    return send(history, (struct mail){"root", NULL, 1, SOC_MESSAGE_IS_BROADCAST, NULL});
}

static void read(struct history *history, uint64_t key, const char *agent, enum soc_outcome outcome)
{
    history->totals[outcome] += outcome != SOC_OUTCOME_PENDING;
    put(history,
        &(struct soc_record){
            .type = SOC_RECORD_BROADCAST_END,
            .broadcast_end = {.key = key, .outcome = outcome, .agent = soc_slice_text(agent)}});
}

static void a_broadcast_reaches_everyone_alive(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){.type = SOC_RECORD_AGENT_ENDING,
                                 .agent_ending = {.id = SOC_SLICE("b")}});
    uint64_t key = broadcast(&h, 2);
    read(&h, key, "b", SOC_OUTCOME_PENDING);
    birth(&h, "late", "root", NULL);
    read(&h, key, "user", SOC_OUTCOME_PROCESSED);
    commit(&h);
    put(&h, &(struct soc_record){.type = SOC_RECORD_STANDING,
                                 .standing = {.hold = 1, .id = SOC_SLICE("a")}});
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, NULL));
}

static void a_reader_that_a_broadcast_misses_is_reported(void)
{
    struct history h = begin();
    uint64_t key = broadcast(&h, 3);
    read(&h, key, "user", SOC_OUTCOME_PROCESSED);
    read(&h, key, "a", SOC_OUTCOME_PROCESSED);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "at the end broadcast 1 has not reached b"));
}

static void a_broadcast_is_not_over_before_all_have_read_it(void)
{
    struct history h = begin();
    uint64_t key = broadcast(&h, 3);
    read(&h, key, "user", SOC_OUTCOME_PROCESSED);
    put(&h, &(struct soc_record){.type = SOC_RECORD_MESSAGE_END,
                                 .message_end = {.key = key, .outcome = SOC_OUTCOME_PROCESSED}});
    commit(&h);
    CHECK(ends_with(&h, "broadcast 1 is over, but has not reached"));
}

static void a_broadcast_may_not_skip_an_agent_that_is_not_ending(void)
{
    struct history h = begin();
    read(&h, broadcast(&h, 2), "b", SOC_OUTCOME_PENDING);
    commit(&h);
    CHECK(ends_with(&h, "skipped b"));
}

/* Two wait for `a`: one is delayed, one went to all. It handles a third. */
static struct history begin_full(uint32_t mailbox_max)
{
    struct history h = begin();
    soc_check_bound(h.check, mailbox_max);
    uint64_t handled = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    put(&h, &(struct soc_record){.type = SOC_RECORD_ACTIVATION,
                                 .activation = {.key = handled, .agent = SOC_SLICE("a")}});
    h.totals[0]++;
    put(&h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                 .message = {.key = h.next_key++,
                                             .deliver_at_ms = 5000,
                                             .from = SOC_SLICE("root"),
                                             .to = SOC_SLICE("a"),
                                             .type = SOC_SLICE("general"),
                                             .payload = SOC_SLICE("{}")}});
    broadcast(&h, 3);
    return h;
}

static void a_broadcast_may_skip_an_agent_without_space(void)
{
    struct history h = begin_full(2);
    read(&h, broadcast(&h, 2), "a", SOC_OUTCOME_PENDING);
    commit(&h);
    CHECK(ends_with(&h, NULL));
}

static void a_broadcast_may_not_skip_an_agent_with_space(void)
{
    struct history h = begin_full(3);
    read(&h, broadcast(&h, 2), "a", SOC_OUTCOME_PENDING);
    commit(&h);
    CHECK(ends_with(&h, "broadcast 4 skipped a"));
    h = begin_full(2);
    read(&h, broadcast(&h, 2), "b", SOC_OUTCOME_PENDING); /* the mail of others does not count */
    commit(&h);
    CHECK(ends_with(&h, "broadcast 4 skipped b"));
    h = begin_full(2);
    read(&h, 3, "a", SOC_OUTCOME_PROCESSED); /* so there is space again */
    read(&h, broadcast(&h, 2), "a", SOC_OUTCOME_PENDING);
    commit(&h);
    CHECK(ends_with(&h, "broadcast 4 skipped a"));
}

static void an_agent_born_later_is_not_a_reader(void)
{
    struct history h = begin();
    uint64_t key = broadcast(&h, 3);
    birth(&h, "late", "root", NULL);
    read(&h, key, "late", SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "which was not for it"));
}

static void a_broadcast_with_too_few_readers_is_reported(void)
{
    struct history h = begin();
    broadcast(&h, 2);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "3 messages were sent, but 2 are counted"));
}

int main(void)
{
    RUN(a_broadcast_reaches_everyone_alive);
    RUN(a_reader_that_a_broadcast_misses_is_reported);
    RUN(a_broadcast_is_not_over_before_all_have_read_it);
    RUN(a_broadcast_may_not_skip_an_agent_that_is_not_ending);
    RUN(a_broadcast_may_skip_an_agent_without_space);
    RUN(a_broadcast_may_not_skip_an_agent_with_space);
    RUN(an_agent_born_later_is_not_a_reader);
    RUN(a_broadcast_with_too_few_readers_is_reported);
    return check_done();
}

#include "check.h"

#include "check/check.h"
#include "store/record.h"

/* A history under construction: a checker, and the batch being written. */
struct history {
    struct soc_check *check;
    struct soc_buf batch;
    uint64_t sequence;
    int64_t now_ms;
    uint64_t next_key;
    uint64_t totals[6]; /* sent, then by outcome */
};

static void put(struct history *history, const struct soc_record *record)
{
    soc_record_put(&history->batch, record);
}

static void put_meta(struct history *history, const char *name, const char *value)
{
    put(history, &(struct soc_record){
                     .type = SOC_RECORD_META,
                     .meta = {.name = soc_slice_text(name), .value = soc_slice_text(value)}});
}

static void seal(struct history *history)
{
    char cursor[200];
    const uint64_t *t = history->totals;
    snprintf(cursor, sizeof(cursor), "[%llu,%lld,1,%llu,%llu,%llu,%llu,%llu,%llu]",
             (unsigned long long)history->next_key, (long long)history->now_ms,
             (unsigned long long)t[0], (unsigned long long)t[1], (unsigned long long)t[2],
             (unsigned long long)t[3], (unsigned long long)t[4], (unsigned long long)t[5]);
    put_meta(history, "cursor", cursor);
    soc_check_sealed(history->check, ++history->sequence, soc_buf_slice(&history->batch));
    history->batch.length = 0;
}

static void commit(struct history *history)
{
    seal(history);
    soc_check_durable(history->check, history->sequence);
}

static void birth(struct history *history, const char *id, const char *parent, const char *brief)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_AGENT,
                                      .agent = {.id = soc_slice_text(id),
                                                .role = soc_slice_text(id),
                                                .parent = soc_slice_text(parent),
                                                .brief = soc_slice_text(brief)}});
}

static struct history begin(void)
{
    struct history history = {.check = soc_check_new(), .now_ms = 1000, .next_key = 1};
    put_meta(&history, "policies", "[{\"kind\":\"contacts\",\"name\":\"strict\"}]");
    birth(&history, "user", NULL, NULL);
    birth(&history, "root", NULL, NULL);
    birth(&history, "a", "root", NULL);
    birth(&history, "b", "root", "{\"collaborators\":[{\"agentId\":\"a\"}]}");
    commit(&history);
    return history;
}

/* Tells whether the checker complains of something with `words` in it, NULL: of
 * nothing; and ends the history. */
static bool ends_with(struct history *history, const char *words)
{
    const char *fault = soc_check_fault(history->check);
    bool is_right = words == NULL ? fault == NULL : fault != NULL && strstr(fault, words) != NULL;
    if (!is_right)
        printf("# the checker says: %s\n", fault == NULL ? "nothing" : fault);
    soc_check_free(history->check);
    soc_buf_fini(&history->batch);
    return is_right;
}

struct mail {
    const char *from;
    const char *to;
    uint64_t priority;
    uint64_t flags;
    const char *payload;
};

static uint64_t send(struct history *history, struct mail mail)
{
    uint64_t key = history->next_key++;
    history->totals[0]++;
    put(history,
        &(struct soc_record){
            .type = SOC_RECORD_MESSAGE,
            .message = {.key = key,
                        .priority = mail.priority,
                        .flags = mail.flags,
                        .from = soc_slice_text(mail.from),
                        .to = soc_slice_text(mail.to),
                        .type = SOC_SLICE("general"),
                        .payload = soc_slice_text(mail.payload == NULL ? "{}" : mail.payload)}});
    return key;
}

static void end(struct history *history, uint64_t key, enum soc_outcome outcome)
{
    history->totals[outcome]++;
    put(history, &(struct soc_record){.type = SOC_RECORD_MESSAGE_END,
                                      .message_end = {.key = key, .outcome = outcome}});
}

static void activate(struct history *history, const char *agent, uint64_t key)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_ACTIVATION,
                                      .activation = {.key = key, .agent = soc_slice_text(agent)}});
}

static void effect(struct history *history, const char *agent, uint64_t index, const char *wait)
{
    struct soc_record record = {
        .type = SOC_RECORD_EFFECT,
        .effect = {.index = index, .agent = soc_slice_text(agent), .kind = SOC_SLICE("request")}};
    if (wait == NULL)
        record.effect.answer = SOC_SLICE("[1]");
    else
        record.effect.wait = soc_slice_text(wait);
    put(history, &record);
}

static void answer(struct history *history, const char *agent, uint64_t index, const char *text)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_ANSWER,
                                      .answer = {.index = index,
                                                 .agent = soc_slice_text(agent),
                                                 .answer = soc_slice_text(text)}});
}

static void contact(struct history *history, const char *owner, const char *id, uint64_t source)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_CONTACT,
                                      .contact = {.source = source,
                                                  .owner = soc_slice_text(owner),
                                                  .id = soc_slice_text(id)}});
}

static void print(struct history *history, uint64_t key, const char *text)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_OUTPUT,
                                      .output = {.key = key,
                                                 .agent = SOC_SLICE("user"),
                                                 .stream = SOC_SLICE("stdout"),
                                                 .text = soc_slice_text(text)}});
}

static void show(struct history *history, const char *text)
{
    soc_check_shown(history->check, SOC_SLICE("stdout"), SOC_SLICE("user"), soc_slice_text(text));
}

static void a_history_without_faults_has_none(void)
{
    struct history h = begin();
    uint64_t first = send(&h, (struct mail){"root", "a", 1, 0, "{\"once\":\"x\"}"});
    uint64_t second = send(&h, (struct mail){"root", "a", 1, 0, "{\"once\":\"y\"}"});
    contact(&h, "b", "a", 3);
    commit(&h);
    end(&h, first, SOC_OUTCOME_PROCESSED);
    activate(&h, "a", second);
    effect(&h, "a", 0, NULL);
    effect(&h, "a", 1, "{\"for\":\"sleep\",\"deadline_ms\":2000}");
    commit(&h);
    h.now_ms = 2000;
    answer(&h, "a", 1, "[]");
    end(&h, second, SOC_OUTCOME_PROCESSED);
    put(&h, &(struct soc_record){.type = SOC_RECORD_ACTIVATION_END,
                                 .activation_end = {.agent = SOC_SLICE("a")}});
    print(&h, 1, "done");
    commit(&h);
    show(&h, "done");
    soc_check_end(h.check, 2000);
    CHECK_INT(soc_check_messages(h.check), 2);
    CHECK_INT(soc_check_agents(h.check), 4);
    CHECK(ends_with(&h, NULL));
}

static void a_message_ends_once(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    end(&h, key, SOC_OUTCOME_PROCESSED);
    end(&h, key, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "ended twice"));
}

static void a_message_that_is_left_is_missed(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "still pending"));
}

static void hold(struct history *history, const char *id, uint64_t how)
{
    put(history, &(struct soc_record){.type = SOC_RECORD_STANDING,
                                      .standing = {.hold = how, .id = soc_slice_text(id)}});
}

static void what_is_left_for_an_agent_that_is_held_is_kept(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    activate(&h, "a", key);
    effect(&h, "a", 0, "{\"for\":\"sleep\",\"deadline_ms\":1000}");
    answer(&h, "a", 0, "[]");
    hold(&h, "a", 2);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, NULL));
}

static void what_is_left_for_an_agent_that_was_resumed_is_missed(void)
{
    struct history h = begin();
    hold(&h, "a", 1);
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    hold(&h, "a", 0);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "still pending"));
}

static void what_is_left_for_an_agent_outside_is_kept(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){.type = SOC_RECORD_AGENT,
                                 .agent = {.id = SOC_SLICE("x"),
                                           .role = SOC_SLICE("x"),
                                           .parent = SOC_SLICE("root"),
                                           .is_external = 1}});
    send(&h, (struct mail){"root", "x", 1, 0, NULL});
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, NULL));
}

/* Sends to all; `readers` is how many the society says they are. */
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

static void a_broadcast_reaches_everybody_who_was_there(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){.type = SOC_RECORD_AGENT_ENDING,
                                 .agent_ending = {.id = SOC_SLICE("b")}});
    uint64_t key = broadcast(&h, 2);
    read(&h, key, "b", SOC_OUTCOME_PENDING);
    birth(&h, "late", "root", NULL);
    read(&h, key, "user", SOC_OUTCOME_PROCESSED);
    commit(&h);
    hold(&h, "a", 1);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, NULL));
}

static void a_reader_that_a_broadcast_does_not_reach_is_missed(void)
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
    CHECK(ends_with(&h, "is over, and broadcast 1 has not reached"));
}

static void who_is_not_about_to_end_is_not_left_out_of_a_broadcast(void)
{
    struct history h = begin();
    read(&h, broadcast(&h, 2), "b", SOC_OUTCOME_PENDING);
    commit(&h);
    CHECK(ends_with(&h, "leaves out b"));
}

static void who_is_born_later_does_not_read_a_broadcast(void)
{
    struct history h = begin();
    uint64_t key = broadcast(&h, 3);
    birth(&h, "late", "root", NULL);
    read(&h, key, "late", SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "which was not for it"));
}

static void a_broadcast_with_too_few_readers_is_noticed(void)
{
    struct history h = begin();
    broadcast(&h, 2);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "3 messages came in, and 2 are counted"));
}

static void totals_that_do_not_add_up_are_noticed(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    h.totals[0]++;
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "are counted"));
}

static void a_number_is_never_given_twice(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    h.next_key--;
    commit(&h);
    CHECK(ends_with(&h, "the number of an older one"));
}

static void mail_of_one_sender_keeps_its_order(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    uint64_t second = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    end(&h, second, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "of the same sender"));
}

static void urgent_mail_that_was_there_goes_first(void)
{
    struct history h = begin();
    uint64_t before = send(&h, (struct mail){"root", "a", 2, 0, NULL});
    uint64_t plain = send(&h, (struct mail){"root", "a", 2, 0, NULL});
    send(&h, (struct mail){"root", "a", 0, 0, NULL});
    end(&h, before, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    end(&h, plain, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "more urgent"));
}

static void strangers_do_not_write(void)
{
    struct history h = begin();
    send(&h, (struct mail){"a", "b", 1, 0, NULL});
    commit(&h);
    CHECK(ends_with(&h, "whom it does not know"));
}

static void what_is_sent_once_is_sent_once(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, "{\"once\":\"x\"}"});
    send(&h, (struct mail){"root", "b", 1, 0, "{\"once\":\"x\"}"});
    commit(&h);
    CHECK(ends_with(&h, "sent twice"));
}

static void contacts_have_a_reason(void)
{
    static const uint64_t sources[] = {0, 1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct history h = begin();
        contact(&h, "a", "b", sources[i]);
        commit(&h);
        CHECK(ends_with(&h, "without a reason"));
    }
}

static void a_state_that_counts_otherwise_is_noticed(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    put(&h, &(struct soc_record){
                .type = SOC_RECORD_STATE,
                .state = {.agent = SOC_SLICE("a"), .state = SOC_SLICE("{\"handled\":2}")}});
    end(&h, key, SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "its state says 2"));
}

static void an_effect_is_recorded_once_and_answered_once(void)
{
    struct history h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, NULL);
    effect(&h, "a", 0, NULL);
    commit(&h);
    CHECK(ends_with(&h, "has effect 0 where effect 1 is due"));
    h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"reply\",\"deadline_ms\":0}");
    answer(&h, "a", 0, "[1]");
    answer(&h, "a", 0, "[1]");
    commit(&h);
    CHECK(ends_with(&h, "which it does not wait for"));
}

static void nobody_is_told_of_a_timeout_before_its_time(void)
{
    struct history h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"reply\",\"deadline_ms\":2000}");
    h.now_ms = 1999;
    answer(&h, "a", 0, "{\"error\":\"timeout\"}");
    commit(&h);
    CHECK(ends_with(&h, "1 ms before its time"));
}

static void a_wait_that_never_ends_is_noticed(void)
{
    struct history h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"reply\",\"deadline_ms\":2000}");
    commit(&h);
    soc_check_end(h.check, 2000);
    CHECK(ends_with(&h, "still waits"));
}

static void time_does_not_go_back(void)
{
    struct history h = begin();
    h.now_ms--;
    commit(&h);
    CHECK(ends_with(&h, "time went back"));
}

static void nothing_is_shown_before_it_is_durable(void)
{
    struct history h = begin();
    print(&h, 1, "early");
    seal(&h);
    show(&h, "early");
    CHECK(ends_with(&h, "before it was durable"));
}

static void a_line_in_doubt_may_be_shown_again(void)
{
    struct history h = begin();
    print(&h, 1, "one");
    print(&h, 2, "two");
    commit(&h);
    show(&h, "one");
    show(&h, "two");
    soc_check_restart(h.check, h.sequence);
    show(&h, "one");
    show(&h, "two");
    put(&h, &(struct soc_record){.type = SOC_RECORD_OUTPUT_END, .output_end = {.key = 2}});
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_restart(h.check, h.sequence);
    show(&h, "two");
    CHECK(ends_with(&h, "before it was durable"));
}

static void a_durable_batch_that_a_crash_takes_is_missed(void)
{
    struct history h = begin();
    put_meta(&h, "x", "1");
    commit(&h);
    soc_check_restart(h.check, h.sequence - 1);
    CHECK(ends_with(&h, "and is lost"));
}

static void what_was_not_durable_may_be_lost_or_kept(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    seal(&h);
    soc_check_restart(h.check, h.sequence);
    end(&h, key, SOC_OUTCOME_PROCESSED);
    seal(&h);
    soc_check_restart(h.check, --h.sequence);
    end(&h, key, SOC_OUTCOME_PROCESSED);
    h.totals[SOC_OUTCOME_PROCESSED] = 1;
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, NULL));
}

static void a_checker_that_is_reset_knows_nothing(void)
{
    struct history h = begin();
    h.now_ms--;
    commit(&h);
    soc_check_reset(h.check);
    CHECK(soc_check_fault(h.check) == NULL);
    CHECK_INT(soc_check_agents(h.check), 0);
    CHECK(ends_with(&h, NULL));
}

int main(void)
{
    RUN(a_history_without_faults_has_none);
    RUN(a_message_ends_once);
    RUN(a_message_that_is_left_is_missed);
    RUN(what_is_left_for_an_agent_that_is_held_is_kept);
    RUN(what_is_left_for_an_agent_that_was_resumed_is_missed);
    RUN(what_is_left_for_an_agent_outside_is_kept);
    RUN(a_broadcast_reaches_everybody_who_was_there);
    RUN(a_reader_that_a_broadcast_does_not_reach_is_missed);
    RUN(a_broadcast_is_not_over_before_all_have_read_it);
    RUN(who_is_not_about_to_end_is_not_left_out_of_a_broadcast);
    RUN(who_is_born_later_does_not_read_a_broadcast);
    RUN(a_broadcast_with_too_few_readers_is_noticed);
    RUN(totals_that_do_not_add_up_are_noticed);
    RUN(a_number_is_never_given_twice);
    RUN(mail_of_one_sender_keeps_its_order);
    RUN(urgent_mail_that_was_there_goes_first);
    RUN(strangers_do_not_write);
    RUN(what_is_sent_once_is_sent_once);
    RUN(contacts_have_a_reason);
    RUN(a_state_that_counts_otherwise_is_noticed);
    RUN(an_effect_is_recorded_once_and_answered_once);
    RUN(nobody_is_told_of_a_timeout_before_its_time);
    RUN(a_wait_that_never_ends_is_noticed);
    RUN(time_does_not_go_back);
    RUN(nothing_is_shown_before_it_is_durable);
    RUN(a_line_in_doubt_may_be_shown_again);
    RUN(a_durable_batch_that_a_crash_takes_is_missed);
    RUN(what_was_not_durable_may_be_lost_or_kept);
    RUN(a_checker_that_is_reset_knows_nothing);
    return check_done();
}

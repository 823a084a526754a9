/* Covers: core/check/census.c, core/check/promises.c, core/check/times.c */
#include "check_history.h"

/* A message with times, as far as a test specifies them. */
static uint64_t send_timed(struct history *h, int64_t from_ms, int64_t until_ms,
                           const char *payload)
{
    uint64_t key = h->next_key++;
    h->totals[0]++;
    put(h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                .message = {.key = key,
                                            .deliver_at_ms = (uint64_t)from_ms,
                                            .expires_ms = (uint64_t)until_ms,
                                            .from = SOC_SLICE("root"),
                                            .to = SOC_SLICE("a"),
                                            .type = SOC_SLICE("general"),
                                            .payload = soc_slice_text(payload)}});
    return key;
}

static void end_at(struct history *h, uint64_t key, enum soc_outcome outcome, int64_t time_ms)
{
    h->totals[outcome]++;
    h->now_ms = time_ms > h->now_ms ? time_ms : h->now_ms;
    put(h, &(struct soc_record){
               .type = SOC_RECORD_MESSAGE_END,
               .message_end = {.key = key, .outcome = outcome, .time_ms = (uint64_t)time_ms}});
}

static void activate(struct history *h, const char *agent, uint64_t key)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_ACTIVATION,
                                .activation = {.key = key,
                                               .agent = soc_slice_text(agent),
                                               .time_ms = (uint64_t)h->now_ms}});
}

static void wait_for(struct history *h, const char *agent, const char *wait)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_EFFECT,
                                .effect = {.agent = soc_slice_text(agent),
                                           .kind = SOC_SLICE("request"),
                                           .wait = soc_slice_text(wait)}});
}

static void a_message_is_not_handled_before_its_time(void)
{
    struct history h = begin();
    end_at(&h, send_timed(&h, 5000, 0, "{}"), SOC_OUTCOME_PROCESSED, 5000);
    commit(&h);
    end_at(&h, send_timed(&h, 9000, 0, "{}"), SOC_OUTCOME_PROCESSED, 8999);
    commit(&h);
    CHECK(ends_with(&h, "handled 1 ms before its time"));
}

static void a_payload_may_say_when_it_is_handled(void)
{
    struct history h = begin();
    end_at(&h, send_timed(&h, 0, 0, "{\"not_before\":5000}"), SOC_OUTCOME_PROCESSED, 4999);
    commit(&h);
    CHECK(ends_with(&h, "handled 1 ms before its time"));
}

static void a_message_is_not_handled_when_its_time_to_live_is_over(void)
{
    struct history h = begin();
    end_at(&h, send_timed(&h, 0, 5000, "{}"), SOC_OUTCOME_PROCESSED, 4999);
    commit(&h);
    end_at(&h, send_timed(&h, 0, 9000, "{}"), SOC_OUTCOME_PROCESSED, 9000);
    commit(&h);
    CHECK(ends_with(&h, "handled 0 ms after its time to live"));
}

static void the_time_at_which_a_message_is_begun_counts(void)
{
    struct history h = begin();
    h.now_ms = 4000;
    uint64_t key = send_timed(&h, 0, 5000, "{}");
    activate(&h, "a", key);
    wait_for(&h, "a", "{\"for\":\"sleep\",\"deadline_ms\":6000}");
    commit(&h);
    h.now_ms = 7000;
    put(&h, &(struct soc_record){.type = SOC_RECORD_ANSWER,
                                 .answer = {.agent = SOC_SLICE("a"), .answer = SOC_SLICE("[]")}});
    put(&h, &(struct soc_record){.type = SOC_RECORD_ACTIVATION_END,
                                 .activation_end = {.agent = SOC_SLICE("a")}});
    end_at(&h, key, SOC_OUTCOME_PROCESSED, 7000);
    commit(&h);
    CHECK(ends_with(&h, NULL));
}

static void a_turn_that_raised_has_begun_its_message(void)
{
    struct history h = begin();
    uint64_t key = send_timed(&h, 0, 5000, "{}");
    put(&h, &(struct soc_record){.type = SOC_RECORD_EVENT,
                                 .event = {.time_ms = 4000,
                                           .agent = SOC_SLICE("a"),
                                           .event = SOC_SLICE("turn_failed")}});
    commit(&h);
    end_at(&h, key, SOC_OUTCOME_PROCESSED, 9000);
    commit(&h);
    CHECK(ends_with(&h, NULL));
}

static void a_message_does_not_expire_early(void)
{
    struct history h = begin();
    end_at(&h, send_timed(&h, 0, 5000, "{}"), SOC_OUTCOME_EXPIRED, 5000);
    commit(&h);
    end_at(&h, send_timed(&h, 0, 9000, "{}"), SOC_OUTCOME_EXPIRED, 8999);
    commit(&h);
    CHECK(ends_with(&h, "expired 1 ms before its time to live was over"));
}

static void a_message_is_taken_and_handed_out_in_time(void)
{
    struct history h = begin();
    uint64_t key = send_timed(&h, 5000, 0, "{}");
    commit(&h);
    put(&h, &(struct soc_record){.type = SOC_RECORD_TAKE,
                                 .take = {.key = key, .agent = SOC_SLICE("a")}});
    h.now_ms = 4000;
    commit(&h);
    CHECK(ends_with(&h, "taken 1000 ms before its time"));
    h = begin();
    key = send_timed(&h, 5000, 0, "{}");
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), 4000);
    CHECK(ends_with(&h, "handled 1000 ms before its time"));
}

/* A request of `from`, and a reply to it. */
static uint64_t ask(struct history *h, const char *from, const char *to)
{
    return send(h, (struct mail){from, to, 1, SOC_MESSAGE_WANTS_REPLY, NULL});
}

static uint64_t reply(struct history *h, uint64_t question, const char *from, const char *to)
{
    uint64_t key = h->next_key++;
    h->totals[0]++;
    put(h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                .message = {.key = key,
                                            .flags = SOC_MESSAGE_IS_REPLY,
                                            .reply_to = question,
                                            .from = soc_slice_text(from),
                                            .to = soc_slice_text(to),
                                            .type = SOC_SLICE("general"),
                                            .payload = SOC_SLICE("{}")}});
    return key;
}

static void only_the_agent_that_was_asked_answers(void)
{
    struct history h = begin();
    uint64_t question = ask(&h, "root", "a");
    end(&h, reply(&h, question, "b", "root"), SOC_OUTCOME_DROPPED);
    end(&h, reply(&h, question, "a", "root"), SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    end(&h, reply(&h, ask(&h, "root", "a"), "b", "root"), SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "b answered message 4, which went to a"));
}

static void a_request_is_answered_once(void)
{
    struct history h = begin();
    uint64_t question = ask(&h, "root", "a");
    end(&h, reply(&h, question, "a", "root"), SOC_OUTCOME_PROCESSED);
    end(&h, reply(&h, question, "a", "root"), SOC_OUTCOME_PROCESSED);
    commit(&h);
    CHECK(ends_with(&h, "answered twice"));
}

/* Two requests that a and b handle, so that both may wait. */
static void give_work(struct history *h)
{
    activate(h, "a", send(h, (struct mail){"root", "a", 1, 0, NULL}));
    activate(h, "b", send(h, (struct mail){"root", "b", 1, 0, NULL}));
}

static void wait_for_reply(struct history *h, const char *agent, const char *to)
{
    char wait[80];
    snprintf(wait, sizeof(wait), "{\"for\":\"reply\",\"from\":\"%s\",\"request\":%llu}", to,
             (unsigned long long)ask(h, agent, to));
    wait_for(h, agent, wait);
}

static void a_ring_of_requests_is_found(void)
{
    struct history h = begin();
    put_meta(&h, "policies", "[]");
    give_work(&h);
    wait_for_reply(&h, "a", "b");
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    wait_for_reply(&h, "b", "a");
    commit(&h);
    CHECK(ends_with(&h, "wait for each other, and nobody ended it: b, a"));
}

static void an_answer_on_its_way_opens_a_ring(void)
{
    struct history h = begin();
    put_meta(&h, "policies", "[]");
    give_work(&h);
    wait_for_reply(&h, "a", "b");
    wait_for_reply(&h, "b", "a");
    reply(&h, 4, "a", "b"); /* to the request of b */
    commit(&h);
    CHECK(ends_with(&h, NULL));
}

static void receivers_and_tasks_close_a_ring(void)
{
    struct history h = begin();
    give_work(&h);
    wait_for(&h, "a", "{\"for\":\"receive\",\"from\":\"b\",\"request\":0}");
    wait_for(&h, "b", "{\"for\":\"task\",\"from\":\"a\",\"request\":1}");
    commit(&h);
    CHECK(ends_with(&h, "wait for each other"));
}

static void mail_for_a_receiver_opens_a_ring(void)
{
    struct history h = begin();
    put_meta(&h, "policies", "[]");
    give_work(&h);
    send(&h, (struct mail){"b", "a", 1, 0, NULL});
    wait_for(&h, "a", "{\"for\":\"receive\",\"from\":\"b\",\"request\":0}");
    wait_for(&h, "b", "{\"for\":\"task\",\"from\":\"a\",\"request\":1}");
    commit(&h);
    CHECK(ends_with(&h, NULL));
}

static void put_seat(struct history *h, uint64_t question, uint64_t state)
{
    put(h, &(struct soc_record){
               .type = SOC_RECORD_SEAT,
               .seat = {.key = 9, .question = question, .state = state, .agent = SOC_SLICE("b")}});
}

static void a_checkpoint_closes_a_ring_until_it_is_answered(void)
{
    for (uint64_t state = 0; state < 2; state++) {
        struct history h = begin();
        put_meta(&h, "policies", "[]");
        give_work(&h);
        uint64_t question = ask(&h, "a", "b");
        put_seat(&h, question, 0);
        if (state == 1)
            put_seat(&h, question, 1);
        wait_for(&h, "a", "{\"for\":\"checkpoint\",\"request\":9}");
        wait_for_reply(&h, "b", "a");
        commit(&h);
        CHECK(ends_with(&h, state == 0 ? "wait for each other" : NULL));
    }
}

static void put_item(struct history *h, uint64_t key)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_ITEM,
                                .item = {.key = key, .agent = SOC_SLICE("a")}});
}

static void decide(struct history *h, uint64_t key)
{
    put(h,
        &(struct soc_record){.type = SOC_RECORD_ITEM_END, .item_end = {.key = key, .decision = 1}});
}

static void an_item_is_decided_once(void)
{
    struct history h = begin();
    put_item(&h, 7);
    decide(&h, 7);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_restart(h.check, h.sequence);
    decide(&h, 7);
    commit(&h);
    CHECK(ends_with(&h, "item 7 was decided twice"));
}

static void only_what_was_asked_is_decided(void)
{
    struct history h = begin();
    decide(&h, 7);
    commit(&h);
    CHECK(ends_with(&h, "item 7 was decided but never opened"));
}

static void nobody_has_a_decision_before_it_is_made(void)
{
    struct history h = begin();
    give_work(&h);
    put_item(&h, 7);
    wait_for(&h, "a", "{\"for\":\"human\",\"request\":7}");
    put(&h, &(struct soc_record){.type = SOC_RECORD_ANSWER,
                                 .answer = {.agent = SOC_SLICE("a"), .answer = SOC_SLICE("[{}]")}});
    commit(&h);
    CHECK(ends_with(&h, "item 7, which is not decided"));
}

static void send_keyed(struct history *h, int64_t since_ms, bool is_remembered)
{
    uint64_t key = h->next_key++;
    h->totals[0]++;
    put(h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                .message = {.key = key,
                                            .from = SOC_SLICE("root"),
                                            .to = SOC_SLICE("a"),
                                            .type = SOC_SLICE("general"),
                                            .payload = SOC_SLICE("{}"),
                                            .dedupe_key = SOC_SLICE("k")}});
    if (is_remembered)
        put(h, &(struct soc_record){.type = SOC_RECORD_SENT_KEY,
                                    .sent_key = {.key = key,
                                                 .since_ms = (uint64_t)since_ms,
                                                 .text = SOC_SLICE("kroot\nk")}});
}

static void a_key_makes_one_message_for_the_whole_window(void)
{
    struct history h = begin();
    soc_check_window(h.check, 1000);
    send_keyed(&h, 5000, true);
    commit(&h);
    send_keyed(&h, 6000, true);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    send_keyed(&h, 6999, true);
    commit(&h);
    CHECK(ends_with(&h, "has a key that was used 999 ms before"));
}

/* An order of a caller under its key that sent the message with that key. */
static void order_keyed(struct history *h, uint64_t sent, int64_t time_ms)
{
    char answer[80];
    snprintf(answer, sizeof(answer), "[{\"messageId\":\"msg_20260101_000000_00000%010llx\"}]",
             (unsigned long long)sent);
    put(h, &(struct soc_record){.type = SOC_RECORD_EVENT,
                                .event = {.event = SOC_SLICE("order"),
                                          .detail = SOC_SLICE("{\"by\":\"c\",\"op\":\"send\"}")}});
    put(h, &(struct soc_record){.type = SOC_RECORD_CALL_KEY,
                                .call_key = {.number = sent,
                                             .time_ms = (uint64_t)time_ms,
                                             .text = SOC_SLICE("c\nk"),
                                             .answer = soc_slice_text(answer)}});
}

static void a_key_of_a_caller_stands_for_one_order(void)
{
    struct history h = begin();
    soc_check_window(h.check, 1000);
    order_keyed(&h, send_timed(&h, 0, 0, "{}"), 5000);
    commit(&h);
    order_keyed(&h, send_timed(&h, 0, 0, "{}"), 6000);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    order_keyed(&h, send_timed(&h, 0, 0, "{}"), 6999);
    commit(&h);
    CHECK(ends_with(&h, "under one key of a caller, 999 ms apart"));
}

static void an_order_commits_with_its_key(void)
{
    struct history h = begin();
    uint64_t key = send_timed(&h, 0, 0, "{}");
    commit(&h);
    order_keyed(&h, key, 5000);
    commit(&h);
    CHECK(ends_with(&h, "the key of its caller are not in the same batch"));
}

static void a_message_commits_with_its_key(void)
{
    struct history h = begin();
    send_keyed(&h, 5000, false);
    commit(&h);
    CHECK(ends_with(&h, "not in the same batch"));
}

static void put_position(struct history *h, const char *value)
{
    put(h, &(struct soc_record){
               .type = SOC_RECORD_POSITION,
               .position = {.name = SOC_SLICE("sim:a"), .value = soc_slice_text(value)}});
}

static void a_door_reads_every_line_once(void)
{
    const char *const next[] = {"3", "2", "4"};
    for (int i = 0; i < 3; i++) {
        struct history h = begin();
        put_position(&h, "1");
        put_position(&h, "2");
        commit(&h);
        put_position(&h, next[i]);
        commit(&h);
        CHECK(ends_with(&h, i == 0 ? NULL : "of sim:a after line 2"));
    }
}

static void a_line_is_refused_once(void)
{
    struct history h = begin();
    for (int i = 0; i < 2; i++)
        put(&h, &(struct soc_record){.type = SOC_RECORD_EVENT,
                                     .event = {.event = SOC_SLICE("outside_refused"),
                                               .agent = SOC_SLICE("a"),
                                               .detail = SOC_SLICE("{\"agentId\":\"nobody-1\"}")}});
    commit(&h);
    CHECK(ends_with(&h, "a line of a was refused twice"));
}

/* The society of begin(), counted without `missing`, and with `extra` as a child of root. */
static void count(struct history *h, const char *missing, const char *extra)
{
    static const char *const parents[][2] = {
        {"user", ""}, {"root", ""}, {"a", "root"}, {"b", "root"}};
    static const char *const known[][2] = {{"user", "root"}, {"root", "user"}, {"root", "a"},
                                           {"a", "root"},    {"root", "b"},    {"b", "root"},
                                           {"b", "a"}};
    soc_check_census_begin(h->check, 0, 0);
    for (int i = 0; i < 4; i++)
        if (strcmp(parents[i][0], missing) != 0)
            soc_check_census_agent(h->check, soc_slice_text(parents[i][0]),
                                   soc_slice_text(parents[i][1]));
    if (extra != NULL)
        soc_check_census_agent(h->check, soc_slice_text(extra), SOC_SLICE("root"));
    for (int i = 0; i < (strcmp(missing, "contact") == 0 ? 6 : 7); i++)
        soc_check_census_contact(h->check, soc_slice_text(known[i][0]),
                                 soc_slice_text(known[i][1]));
}

static struct history begin_known(void)
{
    struct history h = begin();
    put(&h, &(struct soc_record){
                .type = SOC_RECORD_CONTACT,
                .contact = {.source = 3, .owner = SOC_SLICE("b"), .id = SOC_SLICE("a")}});
    commit(&h);
    return h;
}

static void the_live_society_is_what_its_history_says(void)
{
    struct history h = begin_known();
    count(&h, "", NULL);
    soc_check_census_end(h.check);
    CHECK(ends_with(&h, NULL));
}

static void a_society_has_no_agent_more_or_less(void)
{
    struct history h = begin_known();
    count(&h, "", "ghost");
    CHECK(ends_with(&h, "ghost is there, but was never born"));
    h = begin_known();
    count(&h, "a", NULL);
    soc_check_census_end(h.check);
    CHECK(ends_with(&h, "a was born, but is not there"));
}

static void agents_have_no_contact_more_or_less(void)
{
    struct history h = begin_known();
    count(&h, "", NULL);
    soc_check_census_contact(h.check, SOC_SLICE("a"), SOC_SLICE("b"));
    CHECK(ends_with(&h, "a has b as a contact, which the history does not say"));
    h = begin_known();
    count(&h, "contact", NULL);
    soc_check_census_end(h.check);
    CHECK(ends_with(&h, "b has 1 contacts, but 2 according to the history"));
}

static void what_is_acked_is_not_handed_out_again(void)
{
    struct history h = begin_known();
    uint64_t key = send_timed(&h, 0, 0, "{}");
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), 1000);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), 2000);
    CHECK(soc_check_fault(h.check) == NULL);
    put(&h, &(struct soc_record){.type = SOC_RECORD_RECEIPT, .receipt = {.key = key, .ack = 1}});
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), 3000);
    CHECK(ends_with(&h, "which it has acked"));
}

static void a_society_has_no_role_or_checkpoint_more_or_less(void)
{
    struct history h = begin_known();
    put(&h, &(struct soc_record){.type = SOC_RECORD_ROLE,
                                 .role = {.id = SOC_SLICE("made"), .behaviour = SOC_SLICE("x")}});
    put(&h, &(struct soc_record){.type = SOC_RECORD_ROLE, .role = {.id = SOC_SLICE("script's")}});
    put(&h, &(struct soc_record){.type = SOC_RECORD_SEAT,
                                 .seat = {.key = 40, .agent = SOC_SLICE("a")}});
    commit(&h);
    soc_check_census_begin(h.check, 1, 1);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_census_begin(h.check, 2, 1);
    CHECK(ends_with(&h, "there are 2 roles, but 1 according to the history"));
    h = begin_known();
    soc_check_census_begin(h.check, 0, 1);
    CHECK(ends_with(&h, "there are 1 open checkpoints, but 0 according to the history"));
}

static void agents_have_spawned_as_many_as_the_history_says(void)
{
    struct history h = begin_known();
    soc_check_census_standing(h.check, SOC_SLICE("root"), 2, false, false);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_census_standing(h.check, SOC_SLICE("root"), 3, false, false);
    CHECK(ends_with(&h, "root has spawned 3 agents, but 2 according to the history"));
}

static void agents_are_held_if_the_history_says_so(void)
{
    struct history h = begin_known();
    put(&h, &(struct soc_record){.type = SOC_RECORD_STANDING,
                                 .standing = {.id = SOC_SLICE("a"), .hold = 1}});
    commit(&h);
    soc_check_census_standing(h.check, SOC_SLICE("a"), 0, true, false);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_census_standing(h.check, SOC_SLICE("a"), 0, false, false);
    CHECK(ends_with(&h, "a is not held, which the history does not say"));
    h = begin_known();
    soc_check_census_standing(h.check, SOC_SLICE("a"), 0, true, false);
    CHECK(ends_with(&h, "a is held, which the history does not say"));
}

static void a_mailbox_holds_only_what_is_pending_and_due(void)
{
    struct history h = begin_known();
    uint64_t key = send_timed(&h, 5000, 0, "{}");
    commit(&h);
    soc_check_census_mail(h.check, SOC_SLICE("a"), key, 5000);
    CHECK(soc_check_fault(h.check) == NULL);
    soc_check_census_mail(h.check, SOC_SLICE("a"), key, 4000);
    CHECK(ends_with(&h, "is in the mailbox of a 1000 ms before its time"));
    h = begin_known();
    soc_check_census_mail(h.check, SOC_SLICE("a"), 50, 0);
    CHECK(ends_with(&h, "is in the mailbox of a, but was never sent"));
}

int main(void)
{
    RUN(a_message_is_not_handled_before_its_time);
    RUN(a_payload_may_say_when_it_is_handled);
    RUN(a_message_is_not_handled_when_its_time_to_live_is_over);
    RUN(the_time_at_which_a_message_is_begun_counts);
    RUN(a_turn_that_raised_has_begun_its_message);
    RUN(a_message_does_not_expire_early);
    RUN(a_message_is_taken_and_handed_out_in_time);
    RUN(only_the_agent_that_was_asked_answers);
    RUN(a_request_is_answered_once);
    RUN(a_ring_of_requests_is_found);
    RUN(an_answer_on_its_way_opens_a_ring);
    RUN(receivers_and_tasks_close_a_ring);
    RUN(mail_for_a_receiver_opens_a_ring);
    RUN(a_checkpoint_closes_a_ring_until_it_is_answered);
    RUN(an_item_is_decided_once);
    RUN(only_what_was_asked_is_decided);
    RUN(nobody_has_a_decision_before_it_is_made);
    RUN(a_key_makes_one_message_for_the_whole_window);
    RUN(a_key_of_a_caller_stands_for_one_order);
    RUN(an_order_commits_with_its_key);
    RUN(a_message_commits_with_its_key);
    RUN(a_door_reads_every_line_once);
    RUN(a_line_is_refused_once);
    RUN(the_live_society_is_what_its_history_says);
    RUN(a_society_has_no_agent_more_or_less);
    RUN(agents_have_no_contact_more_or_less);
    RUN(what_is_acked_is_not_handed_out_again);
    RUN(a_society_has_no_role_or_checkpoint_more_or_less);
    RUN(agents_have_spawned_as_many_as_the_history_says);
    RUN(agents_are_held_if_the_history_says_so);
    RUN(a_mailbox_holds_only_what_is_pending_and_due);
    return check_done();
}

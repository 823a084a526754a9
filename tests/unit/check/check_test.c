/* Covers: core/check/books.c, core/check/mail.c, core/check/turns.c, core/check/people.c */
#include "check_history.h"

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

static void a_correct_history_has_no_violation(void)
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
    put(&h, &(struct soc_record){.type = SOC_RECORD_OUTPUT_END, .output_end = {.key = 1}});
    commit(&h);
    soc_check_end(h.check, 2000);
    CHECK_INT(soc_check_messages(h.check), 2);
    CHECK_INT(soc_check_agents(h.check), 4);
    CHECK(ends_with(&h, NULL));
}

static void a_line_that_was_shown_is_recorded_as_shown(void)
{
    struct history h = begin();
    print(&h, 1, "done");
    commit(&h);
    show(&h, "done");
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "output 1 was shown, but not recorded as shown"));
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

static void a_message_left_pending_is_reported(void)
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

static void a_held_agent_may_keep_its_mail(void)
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

static void a_resumed_agent_may_not_keep_its_mail(void)
{
    struct history h = begin();
    hold(&h, "a", 1);
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    hold(&h, "a", 0);
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "still pending"));
}

static void an_outside_agent_may_keep_its_mail(void)
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

static void wrong_totals_are_reported(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    h.totals[0]++;
    commit(&h);
    soc_check_end(h.check, 1000);
    CHECK(ends_with(&h, "are counted"));
}

static void a_key_is_never_reused(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, NULL});
    h.next_key--;
    commit(&h);
    CHECK(ends_with(&h, "the key of an older one"));
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

static void urgent_mail_goes_first(void)
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
    CHECK(ends_with(&h, "which it does not know"));
}

static void a_once_only_text_is_sent_once(void)
{
    struct history h = begin();
    send(&h, (struct mail){"root", "a", 1, 0, "{\"once\":\"x\"}"});
    send(&h, (struct mail){"root", "b", 1, 0, "{\"once\":\"x\"}"});
    commit(&h);
    CHECK(ends_with(&h, "sent twice"));
}

/* It decides who may write to whom, and may have the name of a shipped one. */
static void strangers_may_write_under_a_custom_policy(void)
{
    static const char *const lists[] = {
        "[{\"kind\":\"contacts\",\"name\":\"strict\"}]",
        "[{\"kind\":\"contacts\",\"name\":\"strict\",\"path\":\"./policies/contacts/strict.lua\"}]",
        ("[{\"kind\":\"contacts\",\"name\":\"open\","
         "\"path\":\"[society]/policies/contacts/open.lua\"}]"),
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct history h = begin();
        put_meta(&h, "policies", lists[i]);
        end(&h, send(&h, (struct mail){"a", "b", 1, 0, NULL}), SOC_OUTCOME_PROCESSED);
        commit(&h);
        CHECK(ends_with(&h, NULL));
    }
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

/* `a` asks root for an introduction; returns the key of the request. */
static uint64_t ask(struct history *h)
{
    h->totals[0]++;
    put(h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                .message = {.key = h->next_key,
                                            .from = SOC_SLICE("a"),
                                            .to = SOC_SLICE("root"),
                                            .type = SOC_SLICE("introduction_request"),
                                            .payload = SOC_SLICE("{}")}});
    return h->next_key++;
}

/* Root names `b` to it. */
static void introduce(struct history *h, uint64_t reply_to)
{
    h->totals[0]++;
    put(h, &(struct soc_record){
               .type = SOC_RECORD_MESSAGE,
               .message = {.key = h->next_key++,
                           .reply_to = reply_to,
                           .from = SOC_SLICE("root"),
                           .to = SOC_SLICE("a"),
                           .type = SOC_SLICE("introduction_response"),
                           .payload = SOC_SLICE("{\"target_agent\":{\"id\":\"b\"}}")}});
}

static void forget(struct history *h)
{
    put(h, &(struct soc_record){.type = SOC_RECORD_CONTACT_END,
                                .contact_end = {.owner = SOC_SLICE("a"), .id = SOC_SLICE("b")}});
}

static void an_introduction_needs_a_request(void)
{
    struct history h = begin();
    introduce(&h, ask(&h));
    contact(&h, "a", "b", 4);
    commit(&h);
    CHECK(ends_with(&h, NULL));
    h = begin();
    ask(&h);
    introduce(&h, 0);
    contact(&h, "a", "b", 4);
    commit(&h);
    CHECK(ends_with(&h, "a got to know b without a reason"));
}

static void an_introduction_request_is_answered_once(void)
{
    struct history h = begin();
    uint64_t key = ask(&h);
    introduce(&h, key);
    contact(&h, "a", "b", 4);
    forget(&h);
    commit(&h);
    CHECK(soc_check_fault(h.check) == NULL);
    introduce(&h, key);
    contact(&h, "a", "b", 4);
    commit(&h);
    CHECK(ends_with(&h, "a got to know b without a reason"));
}

/* Root is asked on its own behalf, answers, and the answer ends before the question. */
static struct history answer_oneself(bool is_hosts)
{
    struct history h = begin();
    uint64_t question = send(&h, (struct mail){"root", "root", 1, 0, NULL});
    if (is_hosts)
        put(&h, &(struct soc_record){.type = SOC_RECORD_INTRODUCTION,
                                     .introduction = {.key = question, .for_key = ask(&h)}});
    uint64_t said = h.next_key++;
    h.totals[0]++;
    put(&h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                 .message = {.key = said,
                                             .priority = 1,
                                             .reply_to = question,
                                             .from = SOC_SLICE("root"),
                                             .to = SOC_SLICE("root"),
                                             .type = SOC_SLICE("general"),
                                             .payload = SOC_SLICE("{}")}});
    end(&h, said, SOC_OUTCOME_PROCESSED);
    end(&h, question, SOC_OUTCOME_PROCESSED);
    commit(&h);
    return h;
}

static void consent_to_an_introduction_is_an_answer_to_the_host(void)
{
    struct history h = answer_oneself(true);
    CHECK(ends_with(&h, NULL));
    h = answer_oneself(false);
    CHECK(ends_with(&h, "of the same sender"));
}

static void a_custom_policy_may_accept_introductions_without_a_request(void)
{
    static const char *const lists[] = {
        "[{\"kind\":\"introductions\",\"name\":\"mine\"}]",
        "[{\"kind\":\"introductions\",\"name\":\"agent\",\"path\":\"agent.lua\"}]",
        "[{\"kind\":\"introductions\",\"name\":\"agent\",\"path\":\"/elsewhere/agent.lua\"}]",
        ("[{\"kind\":\"introductions\",\"name\":\"agent\","
         "\"path\":\"/elsewhere/policies/introductions/agent.lua\"}]"),
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct history h = begin();
        put_meta(&h, "policies", lists[i]);
        introduce(&h, 0);
        contact(&h, "a", "b", 4);
        commit(&h);
        CHECK(ends_with(&h, NULL));
    }
}

static void a_state_with_a_wrong_count_is_reported(void)
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
    CHECK(ends_with(&h, "has effect 0 where effect 1 is expected"));
    h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"reply\",\"deadline_ms\":0}");
    answer(&h, "a", 0, "[1]");
    answer(&h, "a", 0, "[1]");
    commit(&h);
    CHECK(ends_with(&h, "which it does not wait for"));
}

/* b, which has written to root before, ends the task that root waits for, or did. */
static struct history tell(bool is_waiting)
{
    struct history h = begin();
    activate(&h, "root", send(&h, (struct mail){"user", "root", 1, 0, NULL}));
    effect(&h, "root", 0, "{\"for\":\"task\",\"deadline_ms\":0}");
    send(&h, (struct mail){"b", "root", 1, 0, NULL});
    uint64_t result = h.next_key++;
    h.totals[0]++;
    put(&h, &(struct soc_record){.type = SOC_RECORD_MESSAGE,
                                 .message = {.key = result,
                                             .priority = 1,
                                             .from = SOC_SLICE("b"),
                                             .to = SOC_SLICE("root"),
                                             .type = SOC_SLICE("result"),
                                             .payload = SOC_SLICE("{}")}});
    answer(&h, "root", 0, "[1]");
    if (!is_waiting)
        effect(&h, "root", 1, NULL);
    end(&h, result, SOC_OUTCOME_PROCESSED);
    put(&h, &(struct soc_record){
                .type = SOC_RECORD_STATE,
                .state = {.agent = SOC_SLICE("root"), .state = SOC_SLICE("{\"handled\":0}")}});
    commit(&h);
    return h;
}

static void fail_main(struct history *h, const char *mark)
{
    put(h, &(struct soc_record){
               .type = SOC_RECORD_META,
               .meta = {.name = SOC_SLICE("main_failed"), .value = soc_slice_text(mark)}});
}

static void the_last_effect_of_a_main_that_raised_may_come_once_more(void)
{
    for (int again = 1; again <= 2; again++) {
        struct history h = begin();
        activate(&h, "user", 0);
        effect(&h, "user", 0, NULL);
        fail_main(&h, "{\"effect\":0,\"asked\":0}");
        for (int i = 0; i < again; i++)
            effect(&h, "user", 0, NULL);
        fail_main(&h, "");
        put(&h, &(struct soc_record){.type = SOC_RECORD_ACTIVATION_END,
                                     .activation_end = {.agent = SOC_SLICE("user")}});
        commit(&h);
        CHECK(ends_with(&h, again == 1 ? NULL : "has effect 0 where effect 1 is expected"));
    }
    struct history h = begin();
    activate(&h, "user", 0);
    effect(&h, "user", 0, NULL);
    effect(&h, "user", 1, NULL);
    fail_main(&h, "{\"effect\":0,\"asked\":0}");
    commit(&h);
    CHECK(ends_with(&h, "main failed at an effect that is not its last"));
}

static void an_awaited_result_bypasses_the_mailbox(void)
{
    struct history h = tell(true);
    CHECK(ends_with(&h, NULL));
    h = tell(false);
    CHECK(ends_with(&h, "of the same sender"));
}

static void no_wait_times_out_early(void)
{
    struct history h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"reply\",\"deadline_ms\":2000}");
    h.now_ms = 1999;
    answer(&h, "a", 0, "{\"error\":\"timeout\"}");
    commit(&h);
    CHECK(ends_with(&h, "1 ms early"));
}

static void a_wait_that_never_ends_is_reported(void)
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

static void nothing_is_handed_out_before_it_is_durable(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), h.now_ms);
    CHECK(soc_check_fault(h.check) == NULL);
    key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    seal(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), h.now_ms);
    CHECK(ends_with(&h, "a was handed message 2 before that was durable"));
}

static void mail_is_handed_only_to_its_receiver_and_only_while_pending(void)
{
    struct history h = begin();
    uint64_t key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("b"), key, SOC_SLICE("m"), h.now_ms);
    CHECK(ends_with(&h, "which is not for it"));
    h = begin();
    key = send(&h, (struct mail){"root", "a", 1, 0, NULL});
    end(&h, key, SOC_OUTCOME_PROCESSED);
    commit(&h);
    soc_check_outside(h.check, SOC_SLICE("a"), key, SOC_SLICE("m"), h.now_ms);
    CHECK(ends_with(&h, "which has ended"));
}

/* Makes `a` wait for the external call c1. */
static struct history begin_call(void)
{
    struct history h = begin();
    activate(&h, "a", send(&h, (struct mail){"root", "a", 1, 0, NULL}));
    effect(&h, "a", 0, "{\"for\":\"call\",\"deadline_ms\":9000,\"call\":{\"id\":\"c1\"}}");
    seal(&h);
    return h;
}

static void no_external_call_is_made_before_it_is_durable(void)
{
    struct history h = begin_call();
    soc_check_called(h.check, SOC_SLICE("a"), SOC_SLICE("c1"));
    CHECK(ends_with(&h, "c1 was made for a before it was durable"));
    h = begin_call();
    soc_check_durable(h.check, h.sequence);
    soc_check_called(h.check, SOC_SLICE("a"), SOC_SLICE("c1"));
    soc_check_called(h.check, SOC_SLICE("a"), SOC_SLICE("c1")); /* again, after a crash */
    CHECK(soc_check_fault(h.check) == NULL);
    answer(&h, "a", 0, "[1]");
    commit(&h);
    soc_check_called(h.check, SOC_SLICE("a"), SOC_SLICE("c1"));
    CHECK(ends_with(&h, "c1 was made for a before it was durable"));
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

static void a_durable_batch_lost_in_a_crash_is_reported(void)
{
    struct history h = begin();
    put_meta(&h, "x", "1");
    commit(&h);
    soc_check_restart(h.check, h.sequence - 1);
    CHECK(ends_with(&h, "but is lost"));
}

static void a_batch_that_was_not_durable_may_be_lost(void)
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

static void a_reset_checker_knows_nothing(void)
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
    RUN(a_correct_history_has_no_violation);
    RUN(a_line_that_was_shown_is_recorded_as_shown);
    RUN(a_message_ends_once);
    RUN(a_message_left_pending_is_reported);
    RUN(a_held_agent_may_keep_its_mail);
    RUN(a_resumed_agent_may_not_keep_its_mail);
    RUN(an_outside_agent_may_keep_its_mail);
    RUN(wrong_totals_are_reported);
    RUN(a_key_is_never_reused);
    RUN(mail_of_one_sender_keeps_its_order);
    RUN(urgent_mail_goes_first);
    RUN(strangers_do_not_write);
    RUN(a_once_only_text_is_sent_once);
    RUN(strangers_may_write_under_a_custom_policy);
    RUN(contacts_have_a_reason);
    RUN(an_introduction_needs_a_request);
    RUN(an_introduction_request_is_answered_once);
    RUN(consent_to_an_introduction_is_an_answer_to_the_host);
    RUN(a_custom_policy_may_accept_introductions_without_a_request);
    RUN(a_state_with_a_wrong_count_is_reported);
    RUN(an_effect_is_recorded_once_and_answered_once);
    RUN(the_last_effect_of_a_main_that_raised_may_come_once_more);
    RUN(an_awaited_result_bypasses_the_mailbox);
    RUN(no_wait_times_out_early);
    RUN(a_wait_that_never_ends_is_reported);
    RUN(time_does_not_go_back);
    RUN(nothing_is_shown_before_it_is_durable);
    RUN(nothing_is_handed_out_before_it_is_durable);
    RUN(mail_is_handed_only_to_its_receiver_and_only_while_pending);
    RUN(no_external_call_is_made_before_it_is_durable);
    RUN(a_line_in_doubt_may_be_shown_again);
    RUN(a_durable_batch_lost_in_a_crash_is_reported);
    RUN(a_batch_that_was_not_durable_may_be_lost);
    RUN(a_reset_checker_knows_nothing);
    return check_done();
}

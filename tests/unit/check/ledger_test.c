/* Covers: core/check/ledger_lines.c */
#include "check/ledger.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check/check.h"
#include "store/memory.h"

/* Returns the difference of two histories, "" if there is none. Lent until the next call. */
static const char *differ(const struct soc_record *history, const struct soc_record *loaded)
{
    static char text[512];
    struct soc_ledger *ledgers[2] = {soc_ledger_new(NULL), soc_ledger_new(NULL)};
    struct soc_buf out = {0};
    for (; history->type != 0; history++)
        soc_ledger_read(ledgers[0], history);
    for (; loaded->type != 0; loaded++)
        soc_ledger_read(ledgers[1], loaded);
    bool agrees = soc_ledger_agrees(ledgers[0], ledgers[1], &out);
    CHECK(agrees == (out.length == 0));
    snprintf(text, sizeof(text), "%s", soc_buf_text(&out));
    soc_buf_fini(&out);
    soc_ledger_free(ledgers[0]);
    soc_ledger_free(ledgers[1]);
    return text;
}

static bool says(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static struct soc_record agent(const char *id, const char *parent)
{
    return (struct soc_record){.type = SOC_RECORD_AGENT,
                               .agent = {.time_ms = 1,
                                         .id = soc_slice_text(id),
                                         .role = SOC_SLICE("r"),
                                         .parent = soc_slice_text(parent)}};
}

static struct soc_record message(uint64_t key)
{
    return (struct soc_record){.type = SOC_RECORD_MESSAGE,
                               .message = {.key = key,
                                           .expires_ms = 9,
                                           .from = SOC_SLICE("a"),
                                           .to = SOC_SLICE("b"),
                                           .payload = SOC_SLICE("{}")}};
}

static struct soc_record message_end(uint64_t key)
{
    return (struct soc_record){
        .type = SOC_RECORD_MESSAGE_END,
        .message_end = {.key = key, .outcome = SOC_OUTCOME_PROCESSED, .time_ms = 5}};
}

static struct soc_record sent_key(uint64_t since_ms, const char *text)
{
    return (struct soc_record){.type = SOC_RECORD_SENT_KEY,
                               .sent_key = {.since_ms = since_ms, .text = soc_slice_text(text)}};
}

static void what_has_ended_may_be_forgotten(void)
{
    struct soc_record history[] = {agent("a", ""), message(1), message(2), message_end(1), {0}};
    struct soc_record loaded[] = {agent("a", ""), message(2), {0}};
    CHECK_TEXT(differ(history, loaded), "");
}

static void what_is_pending_is_loaded_as_it_was_written(void)
{
    struct soc_record history[] = {message(1), {0}};
    struct soc_record nothing[] = {{0}};
    struct soc_record other[] = {message(1), {0}};
    CHECK_TEXT(differ(history, nothing), "message 1 is not loaded");
    other[0].message.expires_ms = 0;
    CHECK(says(differ(history, other), "message 1 is not loaded as it was written: "));
}

static void what_is_over_is_not_loaded(void)
{
    struct soc_record history[] = {message(1), message_end(1), {0}};
    struct soc_record loaded[] = {message(1), {0}};
    CHECK(says(differ(history, loaded), "message 1 is loaded, but is over"));
}

static void an_agent_has_one_parent_and_one_end(void)
{
    struct soc_record adopted = {.type = SOC_RECORD_AGENT_PARENT,
                                 .agent_parent = {.id = SOC_SLICE("c"), .parent = SOC_SLICE("b")}};
    struct soc_record ending = {.type = SOC_RECORD_AGENT_ENDING,
                                .agent_ending = {.time_ms = 3, .id = SOC_SLICE("c")}};
    struct soc_record end = {.type = SOC_RECORD_AGENT_END,
                             .agent_end = {.time_ms = 4, .id = SOC_SLICE("c")}};
    struct soc_record born[] = {agent("c", "a"), {0}};
    struct soc_record with_parent[] = {agent("c", "a"), adopted, {0}};
    struct soc_record with_ending[] = {agent("c", "a"), ending, {0}};
    struct soc_record with_end[] = {agent("c", "a"), ending, end, {0}};
    struct soc_record straight[] = {agent("c", "a"), end, {0}};
    CHECK(says(differ(with_parent, born), "the parent of c is not loaded as it was written"));
    CHECK_TEXT(differ(with_ending, born), "the coming end of c is not loaded");
    CHECK_TEXT(differ(with_end, straight), "");
    CHECK(says(differ(with_end, with_ending), "the end of c is not loaded"));
}

static void a_contact_by_birth_that_was_removed_stays_removed(void)
{
    struct soc_record gone = {.type = SOC_RECORD_CONTACT_END,
                              .contact_end = {.owner = SOC_SLICE("a"), .id = SOC_SLICE("c")}};
    struct soc_record history[] = {agent("a", ""), agent("c", "a"), gone, {0}};
    struct soc_record loaded[] = {agent("a", ""), agent("c", "a"), {0}};
    struct soc_record strangers[] = {agent("a", ""), agent("c", "b"), gone, {0}};
    struct soc_record plain[] = {agent("a", ""), agent("c", "b"), {0}};
    CHECK_TEXT(differ(history, loaded), "contact a c is not loaded");
    CHECK_TEXT(differ(strangers, plain), "");
}

static void keys_count_until_they_are_too_old(void)
{
    struct soc_record old = {.type = SOC_RECORD_SENT_KEYS_END, .sent_keys_end = {.until_ms = 5}};
    struct soc_record history[] = {
        sent_key(5, "kx"), sent_key(6, "ky"), sent_key(5, "qz"), old, {0}};
    struct soc_record loaded[] = {sent_key(6, "ky"), sent_key(5, "qz"), {0}};
    CHECK_TEXT(differ(history, loaded), "");
    CHECK_TEXT(differ(history, loaded + 1), "key ky is not loaded");
    CHECK_TEXT(differ(loaded, history), "");
}

static struct soc_record call_key(uint64_t number, const char *text)
{
    return (struct soc_record){
        .type = SOC_RECORD_CALL_KEY,
        .call_key = {.number = number, .text = soc_slice_text(text), .answer = SOC_SLICE("[]")}};
}

static void keys_of_callers_count_until_their_number_is_forgotten(void)
{
    struct soc_record old = {.type = SOC_RECORD_CALL_KEYS_END, .call_keys_end = {.number = 1}};
    struct soc_record history[] = {call_key(1, "c1\nx"), call_key(2, "c1\ny"), old, {0}};
    struct soc_record loaded[] = {call_key(2, "c1\ny"), {0}};
    CHECK_TEXT(differ(history, loaded), "");
    CHECK(differ(history, loaded + 1)[0] != '\0');
}

static void an_activation_ends_with_its_effects(void)
{
    struct soc_record begun = {.type = SOC_RECORD_ACTIVATION,
                               .activation = {.key = 1, .agent = SOC_SLICE("a")}};
    struct soc_record effect = {.type = SOC_RECORD_EFFECT,
                                .effect = {.agent = SOC_SLICE("a"), .wait = SOC_SLICE("{}")}};
    struct soc_record answer = {.type = SOC_RECORD_ANSWER,
                                .answer = {.agent = SOC_SLICE("a"), .answer = SOC_SLICE("[1]")}};
    struct soc_record over = {.type = SOC_RECORD_ACTIVATION_END,
                              .activation_end = {.agent = SOC_SLICE("a")}};
    struct soc_record history[] = {begun, effect, answer, {0}};
    struct soc_record early[] = {begun, effect, {0}};
    struct soc_record ended[] = {begun, effect, answer, over, {0}};
    struct soc_record nothing[] = {{0}};
    CHECK(says(differ(history, early), "effect a is not loaded as it was written"));
    CHECK_TEXT(differ(ended, nothing), "");
    CHECK(says(differ(ended, history), "is loaded, but is over"));
}

static int read_one(const struct soc_record *record, void *user)
{
    soc_ledger_read(user, record);
    return SOC_OK;
}

/* Commits the records as one batch, folds it, commits the tail, and
 * compares what the store hands out. */
static bool is_kept(const struct soc_record *records, const struct soc_record *tail)
{
    struct soc_store *store = soc_memory_open(NULL);
    struct soc_ledger *history = soc_ledger_new(NULL);
    struct soc_ledger *loaded = soc_ledger_new(store);
    struct soc_buf batches[2] = {{0}, {0}};
    struct soc_detail detail;
    struct soc_buf out = {0};
    for (; records->type != 0; records++) {
        soc_ledger_read(history, records);
        soc_record_put(&batches[0], records);
    }
    for (; tail->type != 0; tail++) {
        soc_ledger_read(history, tail);
        soc_record_put(&batches[1], tail);
    }
    struct soc_slice slices[2] = {soc_buf_slice(&batches[0]), soc_buf_slice(&batches[1])};
    CHECK(soc_store_commit(store, 1, slices, 1, &detail) == SOC_OK);
    CHECK(soc_store_fold(store, 1u << 20, &detail) == SOC_OK);
    CHECK(soc_store_commit(store, 2, slices + 1, 1, &detail) == SOC_OK);
    CHECK(soc_store_load(store, read_one, loaded, &detail) == SOC_OK);
    bool agrees = soc_ledger_agrees(history, loaded, &out);
    soc_buf_fini(&out);
    soc_buf_fini(&batches[0]);
    soc_buf_fini(&batches[1]);
    soc_ledger_free(history);
    soc_ledger_free(loaded);
    soc_store_close(store);
    return agrees;
}

static void a_letter_sent_again_after_folding_is_found_in_the_store(void)
{
    struct soc_record letter[] = {message(1), message_end(1), {0}};
    struct soc_record again[] = {
        {.type = SOC_RECORD_MESSAGE_AGAIN, .message_again = {.key = 1, .attempt = 2}}, {0}};
    letter[1].message_end.outcome = SOC_OUTCOME_DEAD;
    CHECK(is_kept(letter, again));
}

static void a_store_hands_out_what_it_was_given(void)
{
    struct soc_record records[] = {
        agent("user", ""),
        agent("root", "user"),
        agent("c", "root"),
        {.type = SOC_RECORD_CONTACT_END,
         .contact_end = {.owner = SOC_SLICE("root"), .id = SOC_SLICE("c")}},
        {.type = SOC_RECORD_STATE, .state = {.agent = SOC_SLICE("c"), .state = SOC_SLICE("{}")}},
        {.type = SOC_RECORD_STANDING, .standing = {.hold = 1, .id = SOC_SLICE("c")}},
        message(1),
        {.type = SOC_RECORD_RECEIPT, .receipt = {.key = 1, .attempt = 3, .ack = 1}},
        sent_key(6, "ky"),
        {.type = SOC_RECORD_POSITION,
         .position = {.name = SOC_SLICE("door"), .value = SOC_SLICE("7")}},
        {0},
    };
    struct soc_record tail[] = {
        {.type = SOC_RECORD_AGENT_ENDING, .agent_ending = {.time_ms = 2, .id = SOC_SLICE("c")}},
        {0}};
    CHECK(is_kept(records, tail));
}

static void a_checker_compares_what_a_store_has_folded(void)
{
    struct soc_check *check = soc_check_new();
    struct soc_store *store = soc_memory_open(NULL);
    struct soc_buf written = {0};
    struct soc_buf stored = {0};
    struct soc_detail detail;
    struct soc_record other = agent("root", "");
    other.agent.role = SOC_SLICE("other");
    soc_record_put(&stored, &other);
    struct soc_record born = agent("root", "");
    soc_record_put(&written, &born);
    struct soc_slice batch = soc_buf_slice(&stored);
    soc_check_sealed(check, 1, soc_buf_slice(&written));
    soc_check_durable(check, 1);
    CHECK(soc_store_commit(store, 1, &batch, 1, &detail) == SOC_OK);
    soc_check_stored(check, store);
    CHECK(soc_check_fault(check) == NULL); /* nothing is folded yet */
    CHECK(soc_store_fold(store, 1u << 20, &detail) == SOC_OK);
    soc_check_stored(check, store);
    CHECK(says(soc_check_fault(check), "a start does not load what was written: agent root"));
    soc_buf_fini(&written);
    soc_buf_fini(&stored);
    soc_store_close(store);
    soc_check_free(check);
}

int main(void)
{
    RUN(what_has_ended_may_be_forgotten);
    RUN(what_is_pending_is_loaded_as_it_was_written);
    RUN(what_is_over_is_not_loaded);
    RUN(an_agent_has_one_parent_and_one_end);
    RUN(a_contact_by_birth_that_was_removed_stays_removed);
    RUN(keys_count_until_they_are_too_old);
    RUN(keys_of_callers_count_until_their_number_is_forgotten);
    RUN(an_activation_ends_with_its_effects);
    RUN(a_letter_sent_again_after_folding_is_found_in_the_store);
    RUN(a_store_hands_out_what_it_was_given);
    RUN(a_checker_compares_what_a_store_has_folded);
    return check_done();
}

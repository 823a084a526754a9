/* A past: what lines of the activity log tell of a society.
 *
 * Covers: core/store/tables/past.c */
#include "store/tables/past.h"

#include <stdio.h>

#include "base/limits.h"
#include "check.h"

#define TEXT(text) soc_slice_text(text)

static void feed(struct soc_past *past, const char *event, const char *agent, const char *other,
                 const char *detail, uint64_t key)
{
    struct soc_line line = {
        .number = past->last + 1,
        .time_ms = (int64_t)past->last + 1000,
        .key = key,
        .name = TEXT(event),
        .agent = TEXT(agent),
        .other = other == NULL ? (struct soc_slice){0} : TEXT(other),
        .detail = detail == NULL ? (struct soc_slice){0} : TEXT(detail),
    };
    soc_past_feed(past, &line);
}

static const struct soc_past_agent *agent_of(const struct soc_past *past, const char *id)
{
    return soc_map_find(&past->agents, TEXT(id));
}

static struct soc_past *new_family(void)
{
    struct soc_past *past = soc_past_new();
    feed(past, "spawned", "user", NULL, "user", 0);
    feed(past, "spawned", "root", NULL, "root", 0);
    feed(past, "spawned", "ann", "root", "worker", 0);
    return past;
}

static void an_agent_is_known_to_its_parent_until_it_ends(void)
{
    struct soc_past *past = new_family();
    CHECK(soc_map_find(&agent_of(past, "root")->ties, TEXT("ann")) != NULL);
    CHECK(soc_map_find(&agent_of(past, "ann")->ties, TEXT("root")) != NULL);
    CHECK(soc_map_find(&agent_of(past, "root")->ties, TEXT("user")) != NULL);
    feed(past, "contact_added", "user", "ann", "ann (manual)", 0);
    const struct soc_past_tie *tie = soc_map_find(&agent_of(past, "user")->ties, TEXT("ann"));
    CHECK_TEXT(tie->source, "manual");
    CHECK_TEXT(tie->role, "worker");
    feed(past, "stopped", "ann", "root", "done", 0);
    CHECK(agent_of(past, "ann") == NULL);
    CHECK(soc_map_find(&agent_of(past, "root")->ties, TEXT("ann")) == NULL);
    soc_past_free(past);
}

static void messages_are_pending_until_they_end_and_letters_again(void)
{
    struct soc_past *past = new_family();
    feed(past, "sent", "user", "ann", "to ann", 1);
    CHECK_INT(agent_of(past, "ann")->pending, 1);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "working");
    feed(past, "dead", "ann", "user", "because", 1);
    CHECK_INT(agent_of(past, "ann")->pending, 0);
    CHECK_INT(past->totals[SOC_OUTCOME_DEAD], 1);
    feed(past, "sent_again", "ann", "user", "attempt 2", 1);
    CHECK_INT(agent_of(past, "ann")->pending, 1);
    CHECK_INT(past->totals[SOC_OUTCOME_DEAD], 0);
    feed(past, "sent_again", "ann", "user", "attempt 3", 1); /* a retry */
    CHECK_INT(agent_of(past, "ann")->pending, 1);
    feed(past, "processed", "ann", "user", NULL, 1);
    CHECK_INT(agent_of(past, "ann")->pending, 0);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "idle");
    CHECK_INT(past->totals[SOC_OUTCOME_PROCESSED], 1);
    CHECK_INT(past->totals[SOC_OUTCOME_PENDING], 1);
    soc_past_free(past);
}

static void a_broadcast_counts_for_each_reader(void)
{
    struct soc_past *past = new_family();
    feed(past, "sent", "root", "All", "to All", 1);
    CHECK_INT(past->totals[SOC_OUTCOME_PENDING], 2);
    feed(past, "processed", "user", "root", NULL, 1);
    feed(past, "processed", "ann", "root", NULL, 1);
    feed(past, "processed", "All", "root", NULL, 1); /* it is over */
    CHECK_INT(past->totals[SOC_OUTCOME_PROCESSED], 2);
    CHECK_INT(agent_of(past, "root")->pending, 0);
    soc_past_free(past);
}

/* Those that end get no broadcasts, though the line of their end may come after its line. */
static void a_broadcast_does_not_count_for_those_that_end(void)
{
    struct soc_past *past = new_family();
    feed(past, "spawned", "bob", "root", "worker", 0);
    feed(past, "terminate", "ann", NULL, "{}", 0);
    feed(past, "sent", "root", "All", "to All", 1);
    CHECK_INT(past->totals[SOC_OUTCOME_PENDING], 2); /* user and bob */
    CHECK_INT(agent_of(past, "ann")->pending, 0);
    feed(past, "processed", "user", "root", NULL, 1);
    feed(past, "terminate", "bob", NULL, "{}", 0);
    feed(past, "stopped", "bob", "root", "done", 0);
    CHECK_INT(past->totals[SOC_OUTCOME_PENDING], 1);
    CHECK_INT(past->totals[SOC_OUTCOME_PROCESSED], 1);
    soc_past_free(past);
}

static void what_comes_from_another_host_is_taken(void)
{
    struct soc_past *past = new_family();
    struct soc_line line = {
        .number = past->last + 1,
        .key = 1,
        .name = TEXT("sent"),
        .agent = TEXT("bob@beta"),
        .other = TEXT("ann"),
        .foreign_id = SOC_SLICE("msg_20260101_000000_000010000000001"),
    };
    soc_past_feed(past, &line);
    CHECK_INT(past->taken, 1);
    CHECK_INT(past->totals[SOC_OUTCOME_PENDING], 0);
    CHECK_INT(agent_of(past, "ann")->pending, 1);
    soc_past_free(past);
}

static void what_holds_an_agent_is_its_status(void)
{
    struct soc_past *past = new_family();
    feed(past, "blocked", "ann", NULL, "{\"kind\":\"human\",\"to\":\"blocked_user\"}", 0);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "blocked_user");
    feed(past, "paused", "ann", NULL, "{}", 0);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "paused");
    feed(past, "resumed", "ann", NULL, "{}", 0);
    feed(past, "unblocked", "ann", NULL, "{}", 0);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "idle");
    feed(past, "terminate", "ann", NULL, "{}", 0);
    CHECK_TEXT(soc_past_status(agent_of(past, "ann")), "ending");
    soc_past_free(past);
}

static void feed_task(struct soc_past *past, const char *event, const char *id, const char *detail)
{
    struct soc_line line = {
        .number = past->last + 1,
        .time_ms = (int64_t)past->last + 1000,
        .name = TEXT(event),
        .agent = TEXT("ann"),
        .task_id = TEXT(id),
        .detail = TEXT(detail),
    };
    soc_past_feed(past, &line);
}

static void tasks_that_are_over_are_bounded_and_open_ones_stay(void)
{
    struct soc_past *past = new_family();
    feed_task(past, "task_opened", "open", "{\"assigner\":\"root\"}");
    for (int i = 0; i < SOC_PAST_OVER_MAX + 5; i++) {
        char id[32];
        snprintf(id, sizeof(id), "t%d", i);
        feed_task(past, "task_opened", id, "{\"assigner\":\"root\"}");
        feed_task(past, "task_start", id, "{}");
        feed_task(past, "task_end", id, "{\"state\":\"failed\"}");
    }
    CHECK_INT(past->tasks.count, SOC_PAST_OVER_MAX + 1);
    const struct soc_past_task *open = soc_map_find(&past->tasks, TEXT("ann\nopen"));
    CHECK_TEXT(open->state, "pending");
    CHECK(soc_map_find(&past->tasks, TEXT("ann\nt4")) == NULL);
    const struct soc_past_task *failed = soc_map_find(&past->tasks, TEXT("ann\nt5"));
    CHECK_TEXT(failed->state, "failed");
    CHECK_TEXT(failed->assigner, "root");
    soc_past_free(past);
}

static void a_task_keeps_its_first_start_over_retries_until_it_is_opened_again(void)
{
    struct soc_past *past = new_family();
    feed_task(past, "task_opened", "t", "{\"assigner\":\"root\"}");
    feed_task(past, "task_start", "t", "{}");
    const struct soc_past_task *task = soc_map_find(&past->tasks, TEXT("ann\nt"));
    int64_t first_ms = task->started_ms;
    CHECK(first_ms > task->opened_ms);
    feed_task(past, "task_retried", "t", "{}");
    feed_task(past, "task_start", "t", "{}");
    CHECK_INT(task->started_ms, first_ms);
    CHECK_INT(task->tries, 2);
    feed_task(past, "task_end", "t", "{\"state\":\"failed\"}");
    feed_task(past, "task_opened", "t", "{\"assigner\":\"root\"}");
    CHECK_INT(task->started_ms, 0);
    feed_task(past, "task_start", "t", "{}");
    CHECK(task->started_ms > first_ms);
    CHECK_INT(task->tries, 1);
    soc_past_free(past);
}

int main(void)
{
    RUN(an_agent_is_known_to_its_parent_until_it_ends);
    RUN(messages_are_pending_until_they_end_and_letters_again);
    RUN(a_broadcast_counts_for_each_reader);
    RUN(a_broadcast_does_not_count_for_those_that_end);
    RUN(what_comes_from_another_host_is_taken);
    RUN(what_holds_an_agent_is_its_status);
    RUN(tasks_that_are_over_are_bounded_and_open_ones_stay);
    RUN(a_task_keeps_its_first_start_over_retries_until_it_is_opened_again);
    return check_done();
}

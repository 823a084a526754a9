#include "kernel/operations/follow.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/look.h"
#include "kernel/operations/awaiting.h"
#include "kernel/operations/given.h"
#include "kernel/tap.h"

/* A look that waits. It asks the store, hears whether something comes, and asks again. */
struct follow {
    struct soc_call *call;
    struct soc_awaiting *awaiting; /* NULL: its time is over */
    struct soc_listener *listener; /* NULL: it asks */
    void (*ask)(struct follow *follow);
    struct soc_query query; /* with texts of its own */
    char *texts[4];
    bool has_come; /* a line, while it began to listen */
};

static void free_follow(void *work)
{
    struct follow *follow = work;
    if (follow == NULL)
        return;
    assert(follow->listener == NULL);
    for (int i = 0; i < 4; i++)
        free(follow->texts[i]);
    free(follow);
}

static void stop_listening(struct follow *follow)
{
    struct soc_listener *listener = follow->listener;
    follow->listener = NULL;
    if (listener != NULL)
        soc_tap_leave(listener);
}

/* Lines have come that may fit. */
static void resume(struct follow *follow)
{
    if (follow->listener == NULL) {
        follow->has_come = true;
        return;
    }
    stop_listening(follow);
    follow->ask(follow);
}

static bool take_lines(void *user, const struct soc_tap_line *lines, size_t count)
{
    (void)lines, (void)count;
    resume(user);
    return false;
}

static void take_gone(void *user, uint64_t first)
{
    (void)first; /* the store says so as well */
    resume(user);
}

/* Waits for lines after those that were looked at. */
static void listen(struct follow *follow)
{
    const struct soc_tap_options options = {
        .after = follow->query.after,
        .agent = follow->query.agent,
        .task = follow->query.task,
        .correlation_id = follow->query.correlation_id,
        .take = take_lines,
        .gone = take_gone,
        .user = follow,
    };
    follow->has_come = false;
    follow->listener = soc_tap_listen(follow->call->host, &options);
    if (follow->has_come)
        resume(follow);
}

static void take_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_call *call = user;
    struct follow *follow = call->work;
    bool is_empty = rc == SOC_OK && soc_slice_equal(rows, SOC_SLICE("[]"));
    if (is_empty && page->next == 0 && follow->awaiting != NULL) {
        if (page->as_of > follow->query.after)
            follow->query.after = page->as_of;
        listen(follow);
        return;
    }
    soc_awaiting_end(call->host, follow->awaiting);
    follow->awaiting = NULL;
    soc_given_answer_page(rc, rows, page, call);
}

static void ask(struct follow *follow)
{
    soc_look_page(follow->call->host, &follow->query, take_page, follow->call);
}

/* The time is over: answers as things are. */
static void wake(void *user, enum soc_awaited why)
{
    struct follow *follow = user;
    bool was_listening = follow->listener != NULL;
    follow->awaiting = NULL;
    stop_listening(follow);
    if (why == SOC_AWAITED_LATE && was_listening)
        ask(follow);
}

static struct soc_slice keep_text(char **place, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    *place = soc_copy_text(text.data, text.length);
    return soc_slice(*place, text.length);
}

void soc_follow_look(struct soc_given *given)
{
    struct soc_call *call = given->call;
    struct soc_query query;
    int64_t wait_ms = soc_given_integer(given, "wait_ms", 0);
    if (wait_ms == 0 || soc_given_json(given, "after").data == NULL) {
        soc_given_look(given);
        return;
    }
    if (!soc_given_query(given, &query))
        return;
    struct follow *follow = soc_alloc_zero(sizeof(*follow));
    assert(call->work == NULL);
    call->work = follow;
    call->free_work = free_follow;
    follow->call = call;
    follow->ask = ask;
    follow->query = query;
    follow->query.agent = keep_text(&follow->texts[0], query.agent);
    follow->query.task = keep_text(&follow->texts[1], query.task);
    follow->query.type = keep_text(&follow->texts[2], query.type);
    follow->query.correlation_id = keep_text(&follow->texts[3], query.correlation_id);
    follow->awaiting = soc_awaiting_time(call->host, wait_ms, wake, follow);
    ask(follow);
}

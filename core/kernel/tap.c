#include "kernel/tap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "kernel/state.h"
#include "store/journal.h"

#define LINES_MAX 500 /* of a page */

/* Events of the activity log by the names that listeners know. */
static const char *const names[][2] = {
    {"sent", "message.sent"},
    {"sent_again", "message.sent"},
    {"processed", "message.processed"},
    {"dead", "message.dead"},
    {"expired", "message.expired"},
    {"dropped", "message.dropped"},
    {"cancelled", "message.cancelled"},
    {"handed_over", "message.handed_over"},
    {"spawned", "agent.born"},
    {"stopped", "agent.ended"},
    {"stop", "agent.status_changed"},
    {"terminate", "agent.status_changed"},
    {"adopted", "agent.status_changed"},
    {"paused", "agent.status_changed"},
    {"resumed", "agent.status_changed"},
    {"failed", "agent.status_changed"},
    {"unresponsive", "agent.status_changed"},
    {"responsive", "agent.status_changed"},
    {"moved_outside", "agent.status_changed"},
    {"task_opened", "task.stage_changed"},
    {"task_start", "task.stage_changed"},
    {"task_retried", "task.stage_changed"},
    {"task_end", "task.stage_changed"},
    /* in older state directories */
    {"task_started", "task.stage_changed"},
    {"task_completed", "task.stage_changed"},
    {"task_failed", "task.stage_changed"},
    {"task_cancelled", "task.stage_changed"},
    {"contact_added", "contact.added"},
    {"contact_removed", "contact.removed"},
    {"role_created", "role.created"},
    {"blocked", "wait.began"},
    {"unblocked", "wait.ended"},
    {"deadlock", "wait.deadlock"},
    {"escalation", "inbox.new_item"},
    {"decision", "inbox.decided"},
    {"withdrawn", "inbox.withdrawn"},
    {"usage_changed", "usage.changed"},
    {"policy_swapped", "policy.swapped"},
    {"order", "order"},
};

/* What a summary counts. */
static const char *const counted[] = {"message.sent",    "message.processed", "message.dead",
                                      "message.expired", "message.dropped",   "message.cancelled"};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

/* The messages of one second. */
struct second {
    int64_t number; /* since 1970; 0: none */
    uint64_t last;  /* line of the last one counted */
    uint64_t counts[COUNTED];
};

struct soc_listener {
    struct soc_host *host;
    struct soc_listener *next;
    struct soc_tap_options options; /* texts are owned */
    char *texts[4];
    uint64_t cursor; /* the last line it was offered */
    struct second second;
    bool is_prompt;  /* up to date: it takes part in the shared pages */
    bool is_full;    /* it has no room */
    bool is_reading; /* a page of its own is on its way */
    bool is_gone;    /* it has left; freed when nothing refers to it */
    bool is_called;  /* inside `take` */
};

/* All listeners of a host. */
struct soc_tap {
    struct soc_listener *listeners;
    uint64_t cursor; /* the last line that all live listeners were offered */
    bool is_reading; /* a shared page is on its way */
    bool is_noting;  /* inside soc_tap_note, which must not recurse */
    bool has_more;   /* it is to look again */
    bool is_closed;
};

/* Lines on their way to one listener. */
struct parcel {
    struct soc_listener *listener;
    struct soc_tap_line *lines;
    size_t count;
    struct soc_buf texts;  /* of summaries */
    struct soc_buf starts; /* of theirs; their data are set at the end */
};

const char *soc_tap_name(struct soc_slice event)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (soc_slice_equal(event, soc_slice_text(names[i][0])))
            return names[i][1];
    return "log";
}

/* Matches a pattern with at most a few stars. */
static bool is_match(struct soc_slice pattern, const char *name)
{
    size_t at = 0;
    size_t star = SIZE_MAX;
    const char *mark = name;
    while (*name != '\0') {
        if (at < pattern.length && pattern.data[at] == '*') {
            star = at++;
            mark = name;
        } else if (at < pattern.length && pattern.data[at] == *name) {
            at++;
            name++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            name = ++mark;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.data[at] == '*')
        at++;
    return at == pattern.length;
}

bool soc_tap_fits(struct soc_slice patterns, const char *name)
{
    if (patterns.data == NULL || patterns.length == 0)
        return true;
    for (size_t begin = 0; begin <= patterns.length;) {
        const char *comma = memchr(patterns.data + begin, ',', patterns.length - begin);
        size_t end = comma == NULL ? patterns.length : (size_t)(comma - patterns.data);
        if (end > begin && is_match(soc_slice(patterns.data + begin, end - begin), name))
            return true;
        begin = end + 1;
    }
    return false;
}

static bool is_text(struct soc_slice row, const char *name, struct soc_slice asked)
{
    struct soc_buf text = {0};
    bool is_same = soc_json_string(soc_json_member(row, name), &text) &&
                   soc_slice_equal(soc_buf_slice(&text), asked);
    soc_buf_fini(&text);
    return is_same;
}

/* Tells whether a row fits what the store does not look at for a shared page. */
static bool is_wanted(const struct soc_tap_options *options, struct soc_slice row)
{
    return (options->agent.data == NULL || is_text(row, "agent", options->agent) ||
            is_text(row, "other", options->agent)) &&
           (options->task.data == NULL || is_text(row, "task_id", options->task)) &&
           (options->correlation_id.data == NULL ||
            is_text(row, "correlation_id", options->correlation_id));
}

/* ---- summaries ---- */

static void put_second(struct parcel *parcel)
{
    struct second *second = &parcel->listener->second;
    struct soc_buf *out = &parcel->texts;
    if (second->number == 0)
        return;
    size_t start = out->length;
    soc_buf_put(&parcel->starts, &start, sizeof(start));
    soc_buf_put_byte(out, '{');
    soc_json_put_name(out, "time");
    soc_time_put_json(out, second->number * 1000);
    for (size_t i = 0; i < COUNTED; i++) {
        soc_json_put_name(out, counted[i] + sizeof("message.") - 1);
        soc_json_put_integer(out, (int64_t)second->counts[i]);
    }
    soc_buf_put_byte(out, '}');
    parcel->lines[parcel->count++] = (struct soc_tap_line){.line = second->last, .name = "summary"};
    *second = (struct second){0};
}

/* Counts a message; what came in an earlier second is put into the parcel first. */
static void count_message(struct parcel *parcel, const struct soc_tap_line *line)
{
    struct second *second = &parcel->listener->second;
    struct soc_buf text = {0};
    int64_t time_ms = 0;
    soc_json_string(soc_json_member(line->data, "time"), &text);
    soc_time_parse(soc_buf_slice(&text), &time_ms);
    soc_buf_fini(&text);
    if (second->number != 0 && time_ms / 1000 > second->number)
        put_second(parcel);
    if (second->number == 0)
        second->number = time_ms / 1000;
    for (size_t i = 0; i < COUNTED; i++)
        second->counts[i] += strcmp(line->name, counted[i]) == 0;
    second->last = line->line;
}

/* ---- handing out ---- */

static void free_listener(struct soc_listener *listener)
{
    for (int i = 0; i < 4; i++)
        free(listener->texts[i]);
    free(listener);
}

/* Frees listeners that have left, unless something still refers to them. */
static void sweep(struct soc_tap *tap)
{
    struct soc_listener **at = &tap->listeners;
    while (*at != NULL) {
        struct soc_listener *listener = *at;
        if (listener->is_gone && !listener->is_reading && !listener->is_called) {
            *at = listener->next;
            free_listener(listener);
        } else {
            at = &listener->next;
        }
    }
}

/* The lines of a page. Reading them costs more than handing them out, so it is done once for
 * all listeners. */
struct page {
    struct soc_tap_line *lines; /* in order */
    size_t count;
    uint64_t last; /* the last line that was looked at */
};

static void read_page(struct page *page, struct soc_slice rows, uint64_t last)
{
    struct soc_json_walk walk;
    struct soc_buf event = {0};
    page->lines = soc_alloc(LINES_MAX * sizeof(*page->lines));
    page->count = 0;
    page->last = last;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk)) {
        int64_t number = 0;
        event.length = 0;
        soc_json_integer(soc_json_member(walk.value, "line"), &number);
        soc_json_string(soc_json_member(walk.value, "event"), &event);
        assert(page->count < LINES_MAX);
        page->lines[page->count++] = (struct soc_tap_line){
            (uint64_t)number, soc_tap_name(soc_buf_slice(&event)), walk.value};
    }
    soc_buf_fini(&event);
}

static void free_page(struct page *page)
{
    free(page->lines);
}

static bool wants_all(const struct soc_tap_options *options)
{
    return options->events.data == NULL && options->agent.data == NULL &&
           options->task.data == NULL && options->correlation_id.data == NULL &&
           !options->is_summary;
}

static void take_line(struct parcel *parcel, const struct soc_tap_line *line, bool is_filtered)
{
    const struct soc_tap_options *options = &parcel->listener->options;
    if (!soc_tap_fits(options->events, line->name) ||
        (!is_filtered && !is_wanted(options, line->data)))
        return;
    if (options->is_summary && strncmp(line->name, "message.", 8) == 0) {
        count_message(parcel, line);
        return;
    }
    /* What was counted leaves first, as a part of its second: whoever begins again after this
     * line has been told of all before it. */
    if (options->is_summary)
        put_second(parcel);
    parcel->lines[parcel->count++] = *line;
}

static void call_listener(struct soc_listener *listener, const struct soc_tap_line *lines,
                          size_t count)
{
    if (count == 0 || listener->is_gone)
        return;
    listener->is_called = true;
    if (!listener->options.take(listener->options.user, lines, count))
        listener->is_full = true;
    listener->is_called = false;
}

/* Hands a parcel over and frees it. */
static void hand_over(struct parcel *parcel)
{
    struct soc_listener *listener = parcel->listener;
    size_t summary = 0;
    for (size_t i = 0; i < parcel->count; i++) {
        if (parcel->lines[i].data.data != NULL)
            continue;
        size_t start;
        size_t end = parcel->texts.length;
        memcpy(&start, parcel->starts.data + summary * sizeof(start), sizeof(start));
        if (++summary * sizeof(end) < parcel->starts.length)
            memcpy(&end, parcel->starts.data + summary * sizeof(end), sizeof(end));
        parcel->lines[i].data = soc_slice(parcel->texts.data + start, end - start);
    }
    call_listener(listener, parcel->lines, parcel->count);
    soc_buf_fini(&parcel->texts);
    soc_buf_fini(&parcel->starts);
    free(parcel->lines);
}

/* Offers the lines of a page to one listener. */
static void offer(struct soc_listener *listener, const struct page *page, bool is_filtered)
{
    size_t first = 0;
    while (first < page->count && page->lines[first].line <= listener->cursor)
        first++;
    if (page->last > listener->cursor)
        listener->cursor = page->last;
    if (wants_all(&listener->options)) {
        call_listener(listener, page->lines + first, page->count - first);
        return;
    }
    /* Each row is at most one line and the end of one second. */
    struct parcel parcel = {
        .listener = listener,
        .lines = soc_alloc((2 * page->count + 1) * sizeof(struct soc_tap_line)),
    };
    for (size_t i = first; i < page->count; i++)
        take_line(&parcel, &page->lines[i], is_filtered);
    hand_over(&parcel);
}

static void ask(struct soc_host *host, const struct soc_query *filters, uint64_t after,
                soc_page_cb *cb, void *user)
{
    struct soc_query query = *filters;
    query.what = "activity";
    query.is_page = query.has_after = query.is_of_durable = query.is_prompt = true;
    query.after = after;
    query.limit = LINES_MAX;
    query.bytes_max = SOC_TAP_BYTES_MAX;
    soc_journal_ask(host->journal, &query, cb, user);
}

static bool is_waiting(const struct soc_listener *listener)
{
    return !listener->is_gone && !listener->is_full && !listener->is_reading;
}

/* A listener that has read all there is takes part in the shared pages, unless they are
 * ahead of it. */
static void go_live(struct soc_tap *tap, struct soc_listener *listener)
{
    bool is_alone = true;
    for (struct soc_listener *each = tap->listeners; each != NULL; each = each->next)
        is_alone = is_alone && !(each->is_prompt && !each->is_gone);
    if (is_alone && !tap->is_reading)
        tap->cursor = listener->cursor;
    listener->is_prompt = tap->cursor <= listener->cursor;
}

static void take_own_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_listener *listener = user;
    struct soc_tap *tap = listener->host->tap;
    listener->is_reading = false;
    if (rc == SOC_OK) {
        struct page lines;
        read_page(&lines, rows, page->next != 0 ? page->next : page->as_of);
        offer(listener, &lines, true);
        free_page(&lines);
        if (page->next == 0 && !listener->is_full && !listener->is_gone)
            go_live(tap, listener);
    } else if (rc == SOC_EGONE && !listener->is_gone) {
        listener->is_full = true; /* until it leaves */
        if (listener->options.gone != NULL)
            listener->options.gone(listener->options.user, page->first);
    }
    if (rc == SOC_OK)
        soc_tap_note(listener->host);
    else if (!tap->is_noting)
        sweep(tap);
}

/* The lines after the shared cursor were removed before anybody was offered them: everyone
 * asks from its own cursor, and is told, or is ahead and goes on. */
static void part_listeners(struct soc_tap *tap)
{
    for (struct soc_listener *each = tap->listeners; each != NULL; each = each->next)
        each->is_prompt = false;
}

static void take_shared_page(int rc, struct soc_slice rows, const struct soc_page *page, void *user)
{
    struct soc_host *host = user;
    struct soc_tap *tap = host->tap;
    tap->is_reading = false;
    if (rc == SOC_EGONE) {
        part_listeners(tap);
        soc_tap_note(host);
    }
    if (rc != SOC_OK)
        return; /* the next batch tries again */
    uint64_t last = page->next != 0 ? page->next : page->as_of;
    struct page lines;
    if (last > tap->cursor)
        tap->cursor = last;
    read_page(&lines, rows, last);
    for (struct soc_listener *each = tap->listeners; each != NULL; each = each->next) {
        if (!each->is_prompt || each->is_gone)
            continue;
        offer(each, &lines, false);
        each->is_prompt = !each->is_full;
    }
    free_page(&lines);
    soc_tap_note(host);
}

/* Reads on for a listener that is behind. */
static void read_own(struct soc_listener *listener)
{
    struct soc_query filters = {.agent = listener->options.agent,
                                .task = listener->options.task,
                                .correlation_id = listener->options.correlation_id};
    listener->is_reading = true;
    ask(listener->host, &filters, listener->cursor, take_own_page, listener);
}

/* Asks for the pages that are wanted. Without a thread they are there at once. */
static void read_pages(struct soc_host *host)
{
    struct soc_tap *tap = host->tap;
    bool has_live = false;
    sweep(tap);
    for (struct soc_listener *each = tap->listeners; each != NULL; each = each->next)
        if (!each->is_prompt && is_waiting(each))
            read_own(each);
    for (struct soc_listener *each = tap->listeners; each != NULL; each = each->next)
        has_live = has_live || (each->is_prompt && !each->is_gone);
    if (has_live && !tap->is_reading && tap->cursor < soc_journal_durable_line(host->journal)) {
        tap->is_reading = true;
        ask(host, &(struct soc_query){0}, tap->cursor, take_shared_page, host);
    }
}

void soc_tap_note(struct soc_host *host)
{
    struct soc_tap *tap = host->tap;
    if (tap == NULL || tap->is_closed || host->journal == NULL)
        return;
    tap->has_more = true;
    if (tap->is_noting)
        return;
    tap->is_noting = true;
    while (tap->has_more && !tap->is_closed) {
        tap->has_more = false;
        read_pages(host);
    }
    tap->is_noting = false;
}

static struct soc_slice keep_text(char **place, struct soc_slice text)
{
    if (text.data == NULL)
        return text;
    *place = soc_copy_text(text.data, text.length);
    return soc_slice(*place, text.length);
}

struct soc_listener *soc_tap_listen(struct soc_host *host, const struct soc_tap_options *options)
{
    assert(host->journal != NULL && options->take != NULL);
    if (host->tap == NULL)
        host->tap = soc_alloc_zero(sizeof(*host->tap));
    struct soc_listener *listener = soc_alloc_zero(sizeof(*listener));
    struct soc_listener **end = &host->tap->listeners;
    listener->host = host;
    listener->options = *options;
    listener->options.events = keep_text(&listener->texts[0], options->events);
    listener->options.agent = keep_text(&listener->texts[1], options->agent);
    listener->options.task = keep_text(&listener->texts[2], options->task);
    listener->options.correlation_id = keep_text(&listener->texts[3], options->correlation_id);
    listener->cursor =
        options->is_from_now ? soc_journal_durable_line(host->journal) : options->after;
    while (*end != NULL)
        end = &(*end)->next;
    *end = listener;
    soc_tap_note(host);
    return listener;
}

/* Hands out the last second, if it is over. */
static void end_second(struct soc_listener *listener)
{
    if (listener->second.number == 0 ||
        soc_host_now(listener->host) / 1000 <= listener->second.number)
        return;
    struct parcel parcel = {.listener = listener, .lines = soc_alloc(sizeof(struct soc_tap_line))};
    put_second(&parcel);
    hand_over(&parcel);
}

void soc_tap_more(struct soc_listener *listener)
{
    struct soc_host *host = listener->host;
    assert(!listener->is_gone);
    listener->is_full = false;
    if (!listener->is_called)
        end_second(listener);
    soc_tap_note(host);
}

void soc_tap_leave(struct soc_listener *listener)
{
    struct soc_tap *tap = listener->host->tap;
    assert(!listener->is_gone);
    listener->is_gone = true;
    if (listener->is_reading)
        soc_journal_drop(listener->host->journal, listener);
    if (!tap->is_noting && !tap->is_reading)
        sweep(tap);
}

uint64_t soc_tap_cursor(const struct soc_listener *listener)
{
    return listener->cursor;
}

void soc_tap_close(struct soc_host *host)
{
    struct soc_tap *tap = host->tap;
    if (tap == NULL)
        return;
    tap->is_closed = true;
}

void soc_tap_free(struct soc_host *host)
{
    struct soc_tap *tap = host->tap;
    while (tap != NULL && tap->listeners != NULL) {
        struct soc_listener *listener = tap->listeners;
        assert(listener->is_gone); /* they leave first */
        tap->listeners = listener->next;
        free_listener(listener);
    }
    free(tap);
    host->tap = NULL;
}

#include "embed/status_line.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "embed/live_talk.h"
#include "kernel/look.h"
#include "loop/alarm.h"
#include "parts/models/calls.h"
#include "parts/models/usage.h"

#define PERIOD_MS   100
#define NAMES_MAX   3  /* names of thinking agents shown */
#define WAITS_MAX   2  /* waits shown by name */
#define COLUMNS_MAX 78 /* fits any terminal */

struct soc_status_line {
    struct soc_host *host;
    struct soc_alarm *alarm;
    struct soc_live_talk live;
    struct soc_buf shown; /* empty: nothing is shown */
};

/* Appends how many model calls are open, and whose. */
static int put_thinkers(struct soc_host *host, struct soc_buf *out)
{
    struct soc_buf calls = {0};
    struct soc_json_walk walk;
    int count = 0;
    soc_calls_look(host, &calls);
    soc_json_walk(&walk, soc_buf_slice(&calls));
    while (soc_json_next(&walk)) {
        struct soc_slice kind = soc_json_plain_string(soc_json_member(walk.value, "kind"));
        if (!soc_slice_equal(kind, SOC_SLICE("chat")))
            continue;
        if (count < NAMES_MAX) {
            soc_buf_put_text(out, count == 0 ? "thinking: " : ", ");
            soc_buf_put_slice(out, soc_json_plain_string(soc_json_member(walk.value, "agent")));
        }
        count++;
    }
    if (count > NAMES_MAX)
        soc_buf_printf(out, " and %d more", count - NAMES_MAX);
    soc_buf_fini(&calls);
    return count;
}

static void put_wait(struct soc_slice wait, struct soc_buf *out)
{
    struct soc_json_walk walk;
    soc_buf_put_slice(out, soc_json_plain_string(soc_json_member(wait, "agent")));
    soc_json_walk(&walk, soc_json_member(wait, "waits_for"));
    if (soc_json_next(&walk))
        soc_buf_put_text(out, " for ");
    else
        return;
    soc_buf_put_slice(out, soc_json_plain_string(walk.value));
    if (soc_json_next(&walk))
        soc_buf_put_text(out, " and others");
}

/* Appends who waits for whom: an agent, the person, a timer. */
static void put_waiting(struct soc_host *host, struct soc_buf *out)
{
    struct soc_buf waits = {0};
    struct soc_json_walk walk;
    int count = 0;
    soc_look_waits(host, &waits);
    soc_json_walk(&walk, soc_buf_slice(&waits));
    while (soc_json_next(&walk)) {
        if (soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "kind")),
                            SOC_SLICE("call")))
            continue;
        if (count == 0 && out->length > 0)
            soc_buf_put_text(out, " | ");
        if (count < WAITS_MAX) {
            soc_buf_put_text(out, count == 0 ? "waiting: " : ", ");
            put_wait(walk.value, out);
        }
        count++;
    }
    if (count > WAITS_MAX)
        soc_buf_printf(out, " and %d more", count - WAITS_MAX);
    soc_buf_fini(&waits);
}

void soc_status_line_put(struct soc_host *host, struct soc_buf *out)
{
    struct soc_usage total = soc_usage_total(host);
    int thinking = put_thinkers(host, out);
    if (thinking == 0 && total.calls == 0)
        return;
    put_waiting(host, out);
    soc_buf_put_text(out, out->length == 0 ? "" : " | ");
    soc_usage_put_words(out, &total);
}

static void write_out(struct soc_slice text)
{
    fwrite(text.data, 1, text.length, stderr);
    fflush(stderr);
}

static void hear(void *user, const struct soc_outcall *call, struct soc_slice text)
{
    struct soc_status_line *line = user;
    soc_live_talk_add(&line->live, call->number, soc_calls_agent(call), text);
}

static bool is_open(void *user, uint64_t call)
{
    const struct soc_host *host = user;
    return soc_calls_is_open(host, call);
}

/* Appends what is to be shown: streaming text, a line break, the status. */
static void put_all(struct soc_status_line *line, struct soc_buf *out)
{
    struct soc_buf status = {0};
    soc_live_talk_sweep(&line->live, is_open, line->host);
    soc_live_talk_draw(&line->live, COLUMNS_MAX, out);
    if (out->length > 0)
        soc_buf_put_byte(out, '\n');
    soc_status_line_put(line->host, &status);
    soc_buf_put(out, status.data, status.length < COLUMNS_MAX ? status.length : COLUMNS_MAX);
    soc_buf_fini(&status);
}

static void draw(void *user)
{
    struct soc_status_line *line = user;
    struct soc_buf text = {0};
    put_all(line, &text);
    if (!soc_slice_equal(soc_buf_slice(&text), soc_buf_slice(&line->shown))) {
        soc_status_line_clear(line);
        write_out(soc_buf_slice(&text));
        soc_buf_put_slice(&line->shown, soc_buf_slice(&text));
    }
    soc_buf_fini(&text);
    soc_alarm_set(line->alarm, PERIOD_MS);
}

struct soc_status_line *soc_status_line_open(struct soc_loop *loop, struct soc_host *host)
{
    assert(loop != NULL && host != NULL);
    struct soc_status_line *line = soc_alloc_zero(sizeof(*line));
    line->host = host;
    line->alarm = soc_alarm_open(loop, "status line", draw, line);
    soc_alarm_set(line->alarm, PERIOD_MS);
    soc_calls_watch(host, hear, line);
    return line;
}

void soc_status_line_clear(struct soc_status_line *line)
{
    if (line == NULL || line->shown.length == 0)
        return;
    write_out(SOC_SLICE("\r\x1b[K"));
    if (memchr(line->shown.data, '\n', line->shown.length) != NULL)
        write_out(SOC_SLICE("\x1b[A\x1b[K"));
    line->shown.length = 0;
}

void soc_status_line_close(struct soc_status_line *line)
{
    if (line == NULL)
        return;
    soc_status_line_clear(line);
    soc_calls_unwatch(line->host, hear, line);
    soc_alarm_close(line->alarm);
    soc_live_talk_fini(&line->live);
    soc_buf_fini(&line->shown);
    free(line);
}

#include "embed/status_line.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "host/calls.h"
#include "host/look.h"
#include "host/usage.h"
#include "loop/alarm.h"

#define PERIOD_MS   200
#define NAMES_MAX   3  /* of those who think */
#define COLUMNS_MAX 78 /* of any terminal */

struct soc_status_line {
    struct soc_host *host;
    struct soc_alarm *alarm;
    struct soc_buf shown; /* empty: nothing stands there */
};

/* Appends how many calls to models are under way, and whose. */
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

/* Counts those who wait for others: an agent, the person, a time. */
static int count_waiting(struct soc_host *host)
{
    struct soc_buf waits = {0};
    struct soc_json_walk walk;
    int count = 0;
    soc_look_waits(host, &waits);
    soc_json_walk(&walk, soc_buf_slice(&waits));
    while (soc_json_next(&walk))
        count += !soc_slice_equal(soc_json_plain_string(soc_json_member(walk.value, "kind")),
                                  SOC_SLICE("call"));
    soc_buf_fini(&waits);
    return count;
}

void soc_status_line_put(struct soc_host *host, struct soc_buf *out)
{
    struct soc_usage total = soc_usage_total(host);
    int thinking = put_thinkers(host, out);
    if (thinking == 0 && total.calls == 0)
        return;
    int waiting = count_waiting(host);
    if (waiting > 0)
        soc_buf_printf(out, "%s%d waiting", out->length == 0 ? "" : " | ", waiting);
    soc_buf_printf(out, "%s%llu calls, %llu tokens, $%.4f", out->length == 0 ? "" : " | ",
                   (unsigned long long)total.calls,
                   (unsigned long long)(total.input_tokens + total.output_tokens),
                   (double)total.cost_micros / 1e6);
}

static void write_out(struct soc_slice text)
{
    fwrite(text.data, 1, text.length, stderr);
    fflush(stderr);
}

static void draw(void *user)
{
    struct soc_status_line *line = user;
    struct soc_buf text = {0};
    soc_status_line_put(line->host, &text);
    if (text.length > COLUMNS_MAX)
        text.length = COLUMNS_MAX;
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
    struct soc_status_line *line = soc_alloc_zero(sizeof(*line));
    line->host = host;
    line->alarm = soc_alarm_open(loop, draw, line);
    soc_alarm_set(line->alarm, PERIOD_MS);
    return line;
}

void soc_status_line_clear(struct soc_status_line *line)
{
    if (line == NULL || line->shown.length == 0)
        return;
    write_out(SOC_SLICE("\r\x1b[K"));
    line->shown.length = 0;
}

void soc_status_line_close(struct soc_status_line *line)
{
    if (line == NULL)
        return;
    soc_status_line_clear(line);
    soc_alarm_close(line->alarm);
    soc_buf_fini(&line->shown);
    free(line);
}

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "embed/replay.h"
#include "env/clock.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"

/* Longer values are cut for people; --json gives them whole. */
#define VALUE_BYTES_MAX 400

/* How often the terminal is told how far it is. */
#define ROWS_PER_LINE 256

struct report {
    bool is_json;
    bool has_progress;
};

static void put_time(struct soc_buf *out, int64_t time_ms)
{
    char text[SOC_TIME_BYTES];
    soc_time_format(text, time_ms);
    soc_buf_put(out, text, sizeof(text));
}

/* Cuts between characters. */
static void put_short(struct soc_buf *out, struct soc_slice text)
{
    size_t length = text.length;
    if (text.data == NULL) {
        soc_buf_put_text(out, "nothing");
        return;
    }
    if (length > VALUE_BYTES_MAX) {
        length = VALUE_BYTES_MAX;
        while (length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80)
            length--;
    }
    soc_buf_put(out, text.data, length);
    if (length < text.length)
        soc_buf_put_text(out, "…");
}

/* An effect or an end as people say it: send(…), returned, raised: … */
static void put_side(struct soc_buf *out, struct soc_slice side)
{
    struct soc_slice effect = soc_json_member(side, "effect");
    struct soc_slice end = soc_json_member(side, "end");
    struct soc_slice message = soc_json_member(side, "message");
    struct soc_slice arguments = soc_json_member(side, "arguments");
    bool is_object = side.data != NULL && soc_json_kind(side) == SOC_JSON_OBJECT;
    if (is_object && effect.data != NULL) {
        soc_json_string(effect, out);
        soc_buf_put_byte(out, '(');
        if (arguments.length > 2)
            put_short(out, soc_slice(arguments.data + 1, arguments.length - 2));
        soc_buf_put_byte(out, ')');
    } else if (is_object && end.data != NULL) {
        soc_buf_put_text(out, "the end, ");
        soc_json_string(end, out);
        if (message.data != NULL) {
            soc_buf_put_text(out, ": ");
            put_short(out, message);
        }
    } else {
        put_short(out, side);
    }
}

static void put_point(struct soc_buf *out, const struct soc_replay_finding *finding)
{
    put_time(out, finding->time_ms);
    if (finding->agent.data != NULL) {
        soc_buf_put_byte(out, ' ');
        soc_buf_put_slice(out, finding->agent);
        soc_buf_put_byte(out, ' ');
        soc_buf_put_slice(out, finding->message.data == NULL ? SOC_SLICE("(no message)")
                                                             : finding->message);
    }
    if (finding->effect >= 0)
        soc_buf_printf(out, " effect %lld", (long long)finding->effect + 1);
    else if (finding->asked.data == NULL)
        soc_buf_printf(out, " %s", finding->what);
    if (finding->asked.data != NULL) {
        soc_buf_put_byte(out, ' ');
        put_short(out, finding->asked);
    }
}

static void print_text(const struct soc_replay_finding *finding)
{
    struct soc_buf line = {0};
    put_point(&line, finding);
    if (strcmp(finding->what, "damage") == 0 || strcmp(finding->what, "load") == 0) {
        soc_buf_put_text(&line, ": ");
        soc_json_string(finding->now, &line);
    } else {
        soc_buf_put_text(&line, ": recorded ");
        put_side(&line, finding->recorded);
        soc_buf_put_text(&line, ", now ");
        put_side(&line, finding->now);
    }
    puts(soc_buf_text(&line));
    soc_buf_fini(&line);
}

static void put_json(struct soc_buf *out, const char *name, struct soc_slice value)
{
    if (value.data == NULL)
        return;
    soc_json_put_name(out, name);
    soc_buf_put_slice(out, value);
}

static void put_number(struct soc_buf *out, const char *name, int64_t number)
{
    soc_json_put_name(out, name);
    soc_json_put_integer(out, number);
}

static void print_json(const struct soc_replay_finding *finding)
{
    struct soc_buf line = {0};
    soc_buf_put_byte(&line, '{');
    soc_json_put_text_member(&line, "agent", finding->agent);
    soc_json_put_text_member(&line, "asked", finding->asked);
    soc_json_put_text_member(&line, "difference", soc_slice_text(finding->what));
    if (finding->effect >= 0)
        put_number(&line, "effect", finding->effect + 1);
    soc_json_put_text_member(&line, "message", finding->message);
    put_json(&line, "now", finding->now);
    put_json(&line, "recorded", finding->recorded);
    put_number(&line, "row", finding->number);
    soc_json_put_name(&line, "time");
    soc_time_put_json(&line, finding->time_ms);
    soc_buf_put_byte(&line, '}');
    puts(soc_buf_text(&line));
    soc_buf_fini(&line);
}

static void clear_progress(const struct report *report)
{
    if (report->has_progress)
        fputs("\r\033[K", stderr);
}

static void print_finding(void *user, const struct soc_replay_finding *finding)
{
    clear_progress(user);
    if (((struct report *)user)->is_json)
        print_json(finding);
    else
        print_text(finding);
}

static void print_progress(void *user, const struct soc_replay_totals *totals)
{
    (void)user;
    if (totals->rows_done % ROWS_PER_LINE == 0)
        fprintf(stderr, "\r\033[K%lld of %lld rows, %lld differences", (long long)totals->rows_done,
                (long long)totals->rows, (long long)totals->differences);
}

static void print_totals(const struct report *report, const struct soc_replay_totals *totals)
{
    struct soc_buf line = {0};
    clear_progress(report);
    if (report->is_json) {
        soc_buf_put_byte(&line, '{');
        put_number(&line, "differences", totals->differences);
        put_number(&line, "effects", totals->effects);
        put_number(&line, "questions", totals->questions);
        put_number(&line, "runs", totals->runs);
        put_number(&line, "starts", totals->starts);
        put_number(&line, "waiting", totals->waiting);
        soc_buf_put_byte(&line, '}');
        puts(soc_buf_text(&line));
    } else {
        printf("%lld activation%s (%lld waiting), %lld effects, %lld questions: %lld "
               "difference%s\n",
               (long long)totals->runs, totals->runs == 1 ? "" : "s", (long long)totals->waiting,
               (long long)totals->effects, (long long)totals->questions,
               (long long)totals->differences, totals->differences == 1 ? "" : "s");
    }
    soc_buf_fini(&line);
}

static int replay(const struct soc_replay_options *options, struct report *report)
{
    struct soc_replay_totals totals;
    struct soc_detail detail = {0};
    int rc = soc_replay_history(options, &totals, &detail);
    if (rc < 0) {
        clear_progress(report);
        int code = soc_exit_of(rc);
        return soc_complain(code == SOC_EXIT_FAILED ? SOC_EXIT_USAGE : code, "replay: %s",
                            detail.text);
    }
    print_totals(report, &totals);
    return totals.differences > 0 ? SOC_EXIT_FAILED : SOC_EXIT_DONE;
}

int soc_cmd_replay(int argc, char **argv)
{
    struct soc_args args = {.command = "replay"};
    struct soc_text_list policies = {0};
    struct report report = {0};
    const char *state = ".society";
    const char *app = NULL;
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &state}, {"policy", SOC_OPTION_LIST, &policies},
        {"app", SOC_OPTION_TEXT, &app},     {"json", SOC_OPTION_FLAG, &report.is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&args, argc, argv, options, 0, 0);
    if (code == SOC_ARGS_GO)
        code = soc_args_check_pairs(&args, &policies, "--policy KIND=NAME");
    if (code == SOC_ARGS_GO) {
        report.has_progress = isatty(STDERR_FILENO) != 0;
        struct soc_replay_options replay_options = {
            .state_dir = state,
            .app_file = app,
            .policies = policies.items,
            .found = print_finding,
            .progress = report.has_progress ? print_progress : NULL,
            .user = &report,
        };
        code = replay(&replay_options, &report);
    }
    soc_text_list_fini(&args.words);
    soc_text_list_fini(&policies);
    return code;
}

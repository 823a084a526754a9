#include "bridge/attach_log.h"

#include "base/json.h"
#include "base/limits.h"

#define WAIT_MS 10000 /* for the newline of a last line */

/* Says of a line what the log does: «refused: the sender does not know the receiver
 * (unknown_contact, to inner)». */
static void warn(const struct soc_attach_log *log, struct soc_slice event, struct soc_slice detail)
{
    struct soc_buf text = {0};
    struct soc_slice reason = soc_json_member(detail, "reason");
    struct soc_slice to = soc_json_member(reason, "to");
    soc_buf_put_slice(&text, event);
    soc_buf_put_text(&text, ": ");
    if (!soc_json_string(reason, &text)) {
        soc_json_string(soc_json_member(reason, "message"), &text);
        soc_buf_put_text(&text, " (");
        soc_json_string(soc_json_member(reason, "error"), &text);
        soc_buf_put_text(&text, to.data == NULL ? "" : ", to ");
        soc_json_string(to, &text);
        soc_buf_put_byte(&text, ')');
    }
    log->warn(log->user, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

/* Tells whether a file, as the log names it, is one that the agent writes. */
static bool is_own(const struct soc_attach_log *log, struct soc_slice file)
{
    static const char *const suffixes[] = {SOC_ACK_SUFFIX, SOC_OUT_SUFFIX};
    struct soc_buf name = {0};
    bool is_found = false;
    for (int i = 0; i < 2 && file.data != NULL && !is_found; i++) {
        name.length = 0;
        soc_buf_printf(&name, "%s/%s%s", soc_place_path(SOC_PLACE_AGENTS), log->id, suffixes[i]);
        is_found = soc_slice_equal(file, soc_buf_slice(&name));
    }
    soc_buf_fini(&name);
    return is_found;
}

static struct soc_slice text_of(struct soc_slice object, const char *name)
{
    return soc_json_plain_string(soc_json_member(object, name));
}

static bool take_event(void *user, const struct soc_line *line)
{
    struct soc_attach_log *log = user;
    if (line->kind > SOC_LINE_UNENDED || soc_json_check(line->text, NULL) < 0)
        return line->kind != SOC_LINE_UNENDED;
    struct soc_slice event = text_of(line->text, "event");
    struct soc_slice agent = text_of(line->text, "agent");
    struct soc_slice detail = soc_json_member(line->text, "detail");
    if (event.data == NULL || agent.data == NULL ||
        !soc_slice_equal(agent, soc_slice_text(log->id)))
        return true;
    struct soc_slice level = text_of(line->text, "level");
    bool is_told = level.data != NULL && !soc_slice_equal(level, SOC_SLICE("info")) &&
                   is_own(log, text_of(detail, "file"));
    bool is_taken = soc_slice_equal(event, SOC_SLICE("accepted")) ||
                    soc_slice_equal(event, SOC_SLICE("duplicate"));
    if ((is_told || is_taken) && log->unsettled > 0)
        log->unsettled--;
    if (is_told)
        warn(log, event, detail);
    return true;
}

static bool pass_over(void *user, const struct soc_line *line)
{
    (void)user;
    return line->kind != SOC_LINE_UNENDED;
}

static void look(struct soc_attach_log *log, soc_line_cb *take, int64_t now_ms)
{
    struct soc_look_options options = {.dir = log->dir,
                                       .place = SOC_PLACE_LOGS,
                                       .name = "events.jsonl",
                                       .line_bytes_max = SOC_PAYLOAD_BYTES_MAX,
                                       .lines_max = INT32_MAX,
                                       .now_ms = now_ms,
                                       .wait_ms = WAIT_MS};
    soc_lines_look(&log->lines, &options, take, log);
}

void soc_attach_log_open(struct soc_attach_log *log)
{
    look(log, pass_over, 0);
}

void soc_attach_log_look(struct soc_attach_log *log, int64_t now_ms)
{
    look(log, take_event, now_ms);
}

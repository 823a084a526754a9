#include "bridge/files/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/limits.h"
#include "bridge/files/state.h"
#include "kernel/gate.h"

#define LOG_BYTES_MAX  (64 << 20)
#define LOG_BYTES_HELD (4 << 20) /* of lines that could not be written */

/* Archives a log that has become too long. */
static void rotate_log(struct soc_files *files, const char *name)
{
    struct stat info;
    struct soc_buf old = {0};
    char digits[SOC_TIME_DIGITS];
    int folder = files->dir.folders[SOC_PLACE_LOGS];
    if (!files->settings->rotates || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
        info.st_size < LOG_BYTES_MAX)
        return;
    soc_time_digits(digits, soc_clock_date(soc_host_clock(files->host)));
    soc_buf_printf(&old, "%.*s.%.*s.jsonl", (int)strcspn(name, "."), name, SOC_TIME_DIGITS, digits);
    renameat(folder, name, files->dir.folders[SOC_PLACE_ARCHIVE], soc_buf_text(&old));
    soc_buf_fini(&old);
}

/* Keeps lines that could not be written, up to a limit; then drops the oldest. */
static void drop_oldest(struct soc_files_log *log)
{
    size_t from = log->text.length < LOG_BYTES_HELD ? 0 : log->text.length - LOG_BYTES_HELD;
    if (from == 0)
        return;
    const char *end = memchr(log->text.data + from, '\n', log->text.length - from);
    from = (size_t)(end - log->text.data) + 1;
    memmove(log->text.data, log->text.data + from, log->text.length - from);
    log->text.length -= from;
}

static void let_out(struct soc_files *files, const char *name, struct soc_files_log *log,
                    size_t length)
{
    struct soc_slice rest = soc_slice(log->text.data, length);
    if (length == 0)
        return;
    rotate_log(files, name);
    int code = soc_workdir_append_lines(&files->dir, SOC_PLACE_LOGS, name, &rest, &log->left);
    if (code < 0 && !log->is_stuck)
        soc_log_printf(soc_host_log(files->host), SOC_LOG_WARN,
                       soc_clock_now(soc_host_clock(files->host)), "files", SOC_SLICE("system"),
                       "%s/logs/%s: %s", files->dir.path, name, soc_workdir_reason(code));
    log->is_stuck = code < 0;
    length -= rest.length;
    memmove(log->text.data, log->text.data + length, log->text.length - length);
    log->text.length -= length;
    if (log->is_stuck)
        drop_oldest(log);
}

static bool has_more(const struct soc_files_log *log)
{
    return log->text.length > 0 && !log->is_stuck;
}

/* Lost log lines cannot be restored, so a change is reported once. */
static void check_logs(struct soc_files *files)
{
    if (soc_files_log_is_spoilt(files, SOC_PLACE_LOGS, "events.jsonl", &files->events.left, true))
        files->events.left = (struct soc_left){0};
    if (soc_files_log_is_spoilt(files, SOC_PLACE_LOGS, "errors.jsonl", &files->errors.left, true))
        files->errors.left = (struct soc_left){0};
}

/* Writes the lines that existed when this call was requested; later ones may not be durable
 * yet and need another call. Lines that cannot be written wait for the next sweep. */
static void let_log_out(void *user)
{
    struct soc_files *files = user;
    if (files->is_stopped)
        return;
    check_logs(files);
    let_out(files, "events.jsonl", &files->events, files->events.ready);
    let_out(files, "errors.jsonl", &files->errors, files->errors.ready);
    files->events.ready = files->events.text.length;
    files->errors.ready = files->errors.text.length;
    files->is_log_called = has_more(&files->events) || has_more(&files->errors);
    if (files->is_log_called)
        soc_gate_when_durable(files->host, let_log_out, files);
}

static void call_log(struct soc_files *files)
{
    if (files->is_log_called || files->is_stopped)
        return;
    files->is_log_called = true;
    files->events.ready = files->events.text.length;
    files->errors.ready = files->errors.text.length;
    soc_gate_when_durable(files->host, let_log_out, files);
}

void soc_files_log(struct soc_files *files, enum soc_log_level level, const char *event,
                   struct soc_slice agent, struct soc_slice message_id, struct soc_slice detail)
{
    assert(event != NULL);
    struct soc_buf *line = &files->events.text;
    size_t start = line->length;
    soc_buf_put_text(line, "{\"timestamp\":");
    soc_time_put_json(line, soc_clock_date(soc_host_clock(files->host)));
    soc_json_put_text_member(line, "level",
                             level >= SOC_LOG_ERROR  ? SOC_SLICE("error")
                             : level >= SOC_LOG_WARN ? SOC_SLICE("warn")
                                                     : SOC_SLICE("info"));
    soc_json_put_text_member(line, "event", soc_slice_text(event));
    soc_json_put_text_member(line, "agent", agent);
    soc_json_put_text_member(line, "message_id", message_id);
    soc_json_put_name(line, "detail");
    soc_buf_put_slice(line, detail.data == NULL ? SOC_SLICE("{}") : detail);
    soc_buf_put_text(line, "}\n");
    if (level >= SOC_LOG_WARN)
        soc_buf_put(&files->errors.text, line->data + start, line->length - start);
    call_log(files);
}

void soc_files_log_put_line(struct soc_buf *out, struct soc_slice line)
{
    static const char *const names[] = {"from", "id"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct soc_slice value = soc_json_member(line, names[i]);
        if (value.data == NULL || soc_json_kind(value) != SOC_JSON_STRING ||
            value.length > SOC_KEY_BYTES_MAX)
            continue;
        soc_json_put_name(out, names[i]);
        soc_buf_put_slice(out, value);
    }
}

void soc_files_log_file(struct soc_files *files, enum soc_log_level level, const char *event,
                        const struct soc_spot *spot, const char *reason)
{
    struct soc_buf detail = {0};
    struct soc_buf path = {0};
    const char *folder = soc_place_path(spot->place);
    soc_buf_printf(&path, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", spot->name);
    soc_buf_put_byte(&detail, '{');
    soc_json_put_text_member(&detail, "file", soc_buf_slice(&path));
    if (spot->offset >= 0) {
        soc_json_put_name(&detail, "offset");
        soc_json_put_integer(&detail, spot->offset);
    }
    if (spot->line.data != NULL)
        soc_files_log_put_line(&detail, spot->line);
    soc_json_put_text_member(&detail, "reason", soc_slice_text(reason));
    soc_buf_put_byte(&detail, '}');
    soc_files_log(files, level, event, spot->agent, (struct soc_slice){0}, soc_buf_slice(&detail));
    if (level >= SOC_LOG_WARN)
        soc_log_event(soc_host_log(files->host), level, soc_clock_now(soc_host_clock(files->host)),
                      event, spot->agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_buf_fini(&path);
}

void soc_files_log_write(struct soc_files *files, const struct soc_spot *spot, bool *is_stuck,
                         int code)
{
    assert(code <= 0);
    if (code < 0 && !*is_stuck)
        soc_files_log_file(files, SOC_LOG_ERROR, "write_failed", spot, soc_workdir_reason(code));
    *is_stuck = code < 0;
}

bool soc_files_log_is_spoilt(struct soc_files *files, enum soc_place place, const char *name,
                             const struct soc_left *left, bool grows)
{
    struct soc_left now = soc_workdir_look(&files->dir, place, name);
    struct soc_spot spot = {.place = place, .name = name, .offset = -1};
    bool is_other = now.inode != left->inode;
    bool is_shorter = now.size < left->size;
    if (left->inode == 0 || (!is_other && !is_shorter &&
                             (grows || (now.size == left->size && now.time_ns == left->time_ns))))
        return false;
    soc_files_log_file(files, SOC_LOG_WARN,
                       now.inode == 0            ? "file_removed"
                       : is_other || !is_shorter ? "file_replaced"
                                                 : "file_truncated",
                       &spot,
                       grows ? "only the society may write here; the former contents are lost"
                             : "only the society may write here; it is written again");
    return true;
}

void soc_files_log_check(struct soc_files *files)
{
    check_logs(files);
    if (files->events.is_stuck || files->errors.is_stuck)
        call_log(files);
}

void soc_files_log_flush(struct soc_files *files)
{
    check_logs(files);
    let_out(files, "events.jsonl", &files->events, files->events.text.length);
    let_out(files, "errors.jsonl", &files->errors, files->errors.text.length);
}

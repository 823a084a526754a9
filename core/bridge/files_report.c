/* What the file door shows of itself: agents.json, status.json and the logs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/files_state.h"
#include "env/ids.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "parts/tasks/tasks.h"

#define SOON_MS          50 /* what changes together is written together */
#define LOG_BYTES_MAX    (64 << 20)
#define REPORT_BYTES_MAX (64 << 20)
#define STATUS_SHOWN_MAX 10000     /* agents in status.json */
#define LOG_BYTES_HELD   (4 << 20) /* of lines that cannot be written */

/* Tells whether a file is not as we left it, and of what has become of it. Others may append to
 * one that `grows`. */
static bool is_spoilt(struct soc_files *files, enum soc_place place, const char *name,
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
                       grows ? "nobody else is to write here; what stood there is lost"
                             : "nobody else is to write here; it is written again");
    return true;
}

/* A log that has grown long goes to the archive. */
static void rotate_log(struct soc_files *files, const char *name)
{
    struct stat info;
    struct soc_buf old = {0};
    char digits[SOC_TIME_DIGITS];
    int folder = files->dir.folders[SOC_PLACE_LOGS];
    if (!files->settings->rotates || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
        info.st_size < LOG_BYTES_MAX)
        return;
    soc_time_digits(digits, soc_clock_now(soc_host_clock(files->host)));
    soc_buf_printf(&old, "%.*s.%.*s.jsonl", (int)strcspn(name, "."), name, SOC_TIME_DIGITS, digits);
    renameat(folder, name, files->dir.folders[SOC_PLACE_ARCHIVE], soc_buf_text(&old));
    soc_buf_fini(&old);
}

/* What could not be written is kept, up to a bound; then the oldest lines are dropped. */
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
                       "%s/logs/%s: %s", files->dir.path, name,
                       code == -ELOOP ? "it is a link, which is not followed" : strerror(-code));
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

/* Logs do not come back: what is not as we left it is told of once. */
static void check_logs(struct soc_files *files)
{
    if (is_spoilt(files, SOC_PLACE_LOGS, "events.jsonl", &files->events.left, true))
        files->events.left = (struct soc_left){0};
    if (is_spoilt(files, SOC_PLACE_LOGS, "errors.jsonl", &files->errors.left, true))
        files->errors.left = (struct soc_left){0};
}

/* Lets out what was there when this call was asked for; what came since may not be
 * durable yet and needs another. What could not be written waits for the next sweep. */
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

void soc_files_flush_log(struct soc_files *files)
{
    check_logs(files);
    let_out(files, "events.jsonl", &files->events, files->events.text.length);
    let_out(files, "errors.jsonl", &files->errors, files->errors.text.length);
}

void soc_files_log(struct soc_files *files, enum soc_log_level level, const char *event,
                   struct soc_slice agent, struct soc_slice message_id, struct soc_slice detail)
{
    struct soc_buf *line = &files->events.text;
    size_t start = line->length;
    int64_t now_ms = soc_clock_now(soc_host_clock(files->host));
    soc_buf_put_text(line, "{\"timestamp\":");
    soc_time_put_json(line, now_ms);
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

void soc_files_put_line(struct soc_buf *out, struct soc_slice line)
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
        soc_files_put_line(&detail, spot->line);
    soc_json_put_text_member(&detail, "reason", soc_slice_text(reason));
    soc_buf_put_byte(&detail, '}');
    soc_files_log(files, level, event, spot->agent, (struct soc_slice){0}, soc_buf_slice(&detail));
    if (level >= SOC_LOG_WARN)
        soc_log_line(soc_host_log(files->host), level, soc_clock_now(soc_host_clock(files->host)),
                     event, spot->agent, soc_buf_slice(&detail));
    soc_buf_fini(&detail);
    soc_buf_fini(&path);
}

static void put_time_member(struct soc_buf *out, const char *name, int64_t time_ms)
{
    soc_json_put_name(out, name);
    if (time_ms == 0)
        soc_buf_put_text(out, "null");
    else
        soc_time_put_json(out, time_ms);
}

/* One line for each agent, so that line tools can read it. */
static void put_client(struct soc_buf *out, const struct soc_files_client *client)
{
    soc_json_put_string(out, soc_slice_text(client->id));
    soc_buf_put_byte(out, ':');
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "perspective", soc_slice_text(client->perspective));
    soc_json_put_text_member(out, "status",
                             client->is_ended          ? SOC_SLICE("stopped")
                             : client->is_unresponsive ? SOC_SLICE("unresponsive")
                                                       : SOC_SLICE("active"));
    put_time_member(out, "started_at", client->started_ms);
    put_time_member(out, "last_heartbeat", client->heard_ms);
    if (client->since[0] != '\0')
        soc_json_put_text_member(out, "broadcasts_from", soc_slice_text(client->since));
    soc_buf_put_byte(out, '}');
}

static void hear_of(struct soc_files *files, struct soc_files_client *client)
{
    const struct soc_agent *agent =
        client->is_ended ? NULL : soc_outside_find(files->host, soc_slice_text(client->id));
    int64_t heard_ms = agent == NULL ? 0 : soc_outside_heard_ms(files->host, agent);
    if (heard_ms > client->heard_ms)
        client->heard_ms = heard_ms;
}

static void put_agents(struct soc_files *files, struct soc_buf *out)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "workflow_id", soc_slice_text(files->workflow_id));
    put_time_member(out, "created_at", files->created_ms);
    soc_json_put_name(out, "agents");
    soc_buf_put_text(out, "{");
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL) {
        hear_of(files, client);
        soc_buf_put_text(out, out->data[out->length - 1] == '{' ? "\n" : ",\n");
        put_client(out, client);
    }
    soc_buf_put_text(out, "\n}}\n");
}

static void put_status(struct soc_files *files, struct soc_buf *out)
{
    static const char *const names[] = {"status", "current_task", "load"};
    size_t cursor = 0;
    int count = 0;
    const struct soc_agent *agent;
    struct soc_buf load = {0};
    soc_buf_put_byte(out, '{');
    while (count < STATUS_SHOWN_MAX && (agent = soc_agents_each(files->host, &cursor)) != NULL) {
        load.length = 0;
        soc_tasks_put_load(files->host, agent, &load);
        soc_buf_put_text(out, count++ == 0 ? "\n" : ",\n");
        soc_json_put_string(out, soc_agent_id(agent));
        soc_buf_put_byte(out, ':');
        soc_buf_put_byte(out, '{');
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            struct soc_slice value = soc_json_member(soc_buf_slice(&load), names[i]);
            soc_json_put_name(out, names[i]);
            soc_buf_put_slice(out, value.data == NULL ? SOC_SLICE("null") : value);
        }
        soc_buf_put_byte(out, '}');
    }
    soc_buf_put_text(out, "\n}\n");
    soc_buf_fini(&load);
}

/* Writes what waits unless the file says that already. */
static void write_report(struct soc_files *files, const char *name, struct soc_report *report)
{
    struct soc_slice next = soc_buf_slice(&report->next);
    struct soc_left left;
    if (!soc_slice_equal(next, soc_buf_slice(&report->text))) {
        int code = soc_workdir_replace(&files->dir, SOC_PLACE_STATE, name, next, &left);
        struct soc_spot spot = {.place = SOC_PLACE_STATE, .name = name, .offset = -1};
        if (code < 0 && !report->is_stuck)
            soc_files_log_file(files, SOC_LOG_ERROR, "write_failed", &spot, strerror(-code));
        report->is_stuck = code < 0;
        if (code == 0) {
            struct soc_buf other = report->text;
            report->text = report->next;
            report->next = other;
            report->left = left;
        }
    }
    soc_buf_fini(&report->next);
}

static void put_reports(struct soc_files *files)
{
    files->is_report_due = false;
    files->agents.next.length = files->status.next.length = 0;
    put_agents(files, &files->agents.next);
    put_status(files, &files->status.next);
}

static void write_reports(struct soc_files *files)
{
    write_report(files, "agents.json", &files->agents);
    write_report(files, "status.json", &files->status);
}

/* The file is written whatever it is to say. */
static void forget(struct soc_report *report)
{
    report->text.length = 0;
    report->left = (struct soc_left){0};
}

void soc_files_forget_reports(struct soc_files *files)
{
    forget(&files->agents);
    forget(&files->status);
    files->events.left = files->errors.left = (struct soc_left){0};
}

static bool check_report(struct soc_files *files, const char *name, struct soc_report *report)
{
    bool is_gone = is_spoilt(files, SOC_PLACE_STATE, name, &report->left, false);
    if (is_gone)
        forget(report);
    return is_gone || report->is_stuck;
}

void soc_files_check_reports(struct soc_files *files)
{
    bool is_due = check_report(files, "agents.json", &files->agents);
    is_due = check_report(files, "status.json", &files->status) || is_due;
    if (is_due)
        soc_files_report_soon(files);
    check_logs(files);
    if (files->events.is_stuck || files->errors.is_stuck)
        call_log(files);
}

void soc_files_report_now(struct soc_files *files)
{
    soc_files_check_reports(files);
    put_reports(files);
    write_reports(files);
}

static int64_t time_member(struct soc_slice object, const char *name)
{
    int64_t time_ms = 0;
    struct soc_slice text = soc_json_plain_string(soc_json_member(object, name));
    return text.data != NULL && soc_time_parse(text, &time_ms) ? time_ms : 0;
}

static void restore(struct soc_files *files, struct soc_slice id, struct soc_slice entry)
{
    struct soc_buf perspective = {0};
    struct soc_files_client *client = soc_alloc_zero(sizeof(*client));
    soc_json_string(soc_json_member(entry, "perspective"), &perspective);
    client->files = files;
    client->id = soc_copy_text(id.data, id.length);
    client->perspective = soc_copy_text(soc_buf_text(&perspective), perspective.length);
    client->started_ms = time_member(entry, "started_at");
    client->heard_ms = time_member(entry, "last_heartbeat");
    struct soc_slice since = soc_json_plain_string(soc_json_member(entry, "broadcasts_from"));
    if (since.length == SOC_MESSAGE_ID_BYTES)
        memcpy(client->since, since.data, since.length);
    client->is_ended = true;
    soc_map_put(&files->clients, soc_slice_text(client->id), client);
    soc_buf_fini(&perspective);
}

void soc_files_restore_ended(struct soc_files *files)
{
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    int code =
        soc_workdir_read(&files->dir, SOC_PLACE_STATE, "agents.json", REPORT_BYTES_MAX, &text);
    if (code == 0 && soc_json_check(soc_buf_slice(&text), NULL) == SOC_OK) {
        soc_json_walk(&walk, soc_json_member(soc_buf_slice(&text), "agents"));
        while (soc_json_next(&walk))
            if (soc_id_is_for_outside(walk.name) &&
                soc_outside_find(files->host, walk.name) == NULL)
                restore(files, walk.name, walk.value);
    }
    soc_buf_fini(&text);
}

static void let_reports_out(void *user)
{
    struct soc_files *files = user;
    files->is_report_called = false;
    if (!files->is_stopped)
        write_reports(files);
}

/* Now and then also without a cause: heartbeats and loads change by themselves. What is
 * seen now is written when it is durable; what comes until then waits for the next time. */
static void ring(void *user)
{
    struct soc_files *files = user;
    if (!files->is_report_called) {
        put_reports(files);
        files->is_report_called = true;
        soc_gate_when_durable(files->host, let_reports_out, files);
    }
    soc_alarm_set(files->report_alarm,
                  files->is_report_due ? SOON_MS : files->settings->heartbeat_ms);
}

void soc_files_report_soon(struct soc_files *files)
{
    if (files->is_report_due || files->report_alarm == NULL)
        return;
    files->is_report_due = true;
    soc_alarm_set(files->report_alarm, SOON_MS);
}

void soc_files_open_report(struct soc_files *files)
{
    files->report_alarm = soc_alarm_open(files->loop, ring, files);
    soc_files_report_soon(files);
}

void soc_files_close_report(struct soc_files *files)
{
    soc_alarm_close(files->report_alarm);
    files->report_alarm = NULL;
}

#include "bridge/attach.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "bridge/attach_log.h"
#include "bridge/files/lines.h"
#include "env/clock.h"
#include "env/ids.h"

#define HEARTBEAT_MS       10000
#define REGISTRY_BYTES_MAX (16u << 20)

/* A member for ourselves: which message the line is the end of. The society ignores it. */
#define ABOUT "about"

/* A message that was shown. */
struct shown {
    char *id;
    char *type;
    char *task_id;       /* NULL: it opens no task */
    char *checkpoint_id; /* NULL: it is no checkpoint */
    bool is_broadcast;
    bool is_aborted;
};

/* The end of a task. */
struct abort {
    char *task_id;
    char *id; /* of the message */
};

struct soc_attach {
    struct soc_attach_options options;
    struct soc_workdir dir;
    struct soc_lines queue;
    struct soc_lines broadcast;
    struct soc_attach_log log;
    char *queue_name;
    char *ack_name;
    char *out_name;
    char *beat_name;
    char *since;           /* broadcasts with lesser ids came before the agent; NULL: none did */
    struct soc_map known;  /* ids that are done with or were shown: text -> itself, owned */
    struct soc_map aborts; /* task id -> its last abort, owned */
    struct shown *shown;
    int shown_count;
    int64_t beat_ms; /* of the last heartbeat, 0: none yet */
    int64_t last_ms; /* of the last message, for its id */
    int64_t now_ms;  /* of the look under way */
    unsigned said;   /* in this ms */
    bool is_over;
};

static char *name_with(const char *id, const char *suffix)
{
    struct soc_buf name = {0};
    soc_buf_printf(&name, "%s%s", id, suffix);
    char *copy = soc_copy_text(name.data, name.length);
    soc_buf_fini(&name);
    return copy;
}

static char *copy_member(struct soc_slice json, const char *name)
{
    struct soc_buf text = {0};
    char *copy = NULL;
    if (soc_json_string(soc_json_member(json, name), &text))
        copy = soc_copy_text(text.data == NULL ? "" : text.data, text.length);
    soc_buf_fini(&text);
    return copy;
}

static bool is_type(const struct shown *shown, const char *type)
{
    return shown->type != NULL && strcmp(shown->type, type) == 0;
}

/* Notes an id; false if it was known. Takes it. */
static bool note_id(struct soc_attach *attach, char *id)
{
    if (soc_map_find(&attach->known, soc_slice_text(id)) != NULL) {
        free(id);
        return false;
    }
    soc_map_put(&attach->known, soc_slice_text(id), id);
    return true;
}

/* Reads which messages are done with: acked as processed, answered, or with a result. What
 * was only received is open. */
static bool note_done(void *user, const struct soc_line *line)
{
    static const char *const answers[] = {"reply_to", ABOUT, "msg_id", "ack_for"};
    struct soc_attach *attach = user;
    if (line->kind > SOC_LINE_UNENDED || soc_json_check(line->text, NULL) < 0)
        return true;
    struct soc_slice status = soc_json_plain_string(soc_json_member(line->text, "status"));
    bool is_processed = status.data != NULL && soc_slice_equal(status, SOC_SLICE("processed"));
    size_t count = is_processed ? 4 : 2; /* an ack says less */
    for (size_t i = 0; i < count; i++) {
        char *answered = copy_member(line->text, answers[i]);
        if (answered != NULL)
            note_id(attach, answered);
    }
    return true;
}

/* Reads that from what the agent has written so far. */
static void read_done(struct soc_attach *attach)
{
    const char *const names[] = {attach->ack_name, attach->out_name};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct soc_lines lines = {0};
        struct soc_look_options all = {.dir = &attach->dir,
                                       .place = SOC_PLACE_AGENTS,
                                       .name = names[i],
                                       .line_bytes_max = SOC_PAYLOAD_BYTES_MAX,
                                       .lines_max = INT32_MAX,
                                       .is_last = true};
        soc_lines_look(&lines, &all, note_done, attach);
    }
}

static void free_abort(struct abort *abort)
{
    if (abort == NULL)
        return;
    free(abort->task_id);
    free(abort->id);
    free(abort);
}

/* Reads which tasks were aborted: what opened them came before. */
static bool note_abort(void *user, const struct soc_line *line)
{
    struct soc_attach *attach = user;
    if (line->kind > SOC_LINE_UNENDED || soc_json_check(line->text, NULL) < 0 ||
        !soc_slice_equal(soc_json_plain_string(soc_json_member(line->text, "type")),
                         SOC_SLICE("abort")))
        return true;
    struct abort *abort = soc_alloc_zero(sizeof(*abort));
    abort->id = copy_member(line->text, "id");
    abort->task_id = copy_member(line->text, "task_id");
    if (abort->id != NULL && abort->task_id != NULL) {
        struct soc_slice key = soc_slice_text(abort->task_id);
        free_abort(soc_map_take(&attach->aborts, key));
        soc_map_put(&attach->aborts, key, abort);
    } else {
        free_abort(abort);
    }
    return true;
}

static void read_aborts(struct soc_attach *attach)
{
    struct soc_lines lines = {0};
    struct soc_look_options all = {.dir = &attach->dir,
                                   .place = SOC_PLACE_AGENTS,
                                   .name = attach->queue_name,
                                   .line_bytes_max = SOC_PAYLOAD_BYTES_MAX,
                                   .lines_max = INT32_MAX,
                                   .is_last = true};
    soc_lines_look(&lines, &all, note_abort, attach);
}

bool soc_attach_is_settled(const struct soc_attach *attach)
{
    return attach->log.unsettled == 0;
}

static int check_registered(struct soc_attach *attach, struct soc_detail *detail)
{
    struct soc_buf text = {0};
    const char *id = attach->options.id;
    int code =
        soc_workdir_read(&attach->dir, SOC_PLACE_STATE, "agents.json", REGISTRY_BYTES_MAX, &text);
    bool is_there = code == 0 && soc_json_check(soc_buf_slice(&text), NULL) == SOC_OK;
    struct soc_slice agents =
        is_there ? soc_json_member(soc_buf_slice(&text), "agents") : (struct soc_slice){0};
    struct soc_slice entry =
        agents.data == NULL ? (struct soc_slice){0} : soc_json_member(agents, id);
    is_there = entry.data != NULL;
    if (is_there)
        attach->since = copy_member(entry, "broadcasts_from");
    soc_buf_fini(&text);
    if (code < 0)
        return soc_fail(detail, SOC_ENOFILE, "%s/state/agents.json: %s", attach->options.dir,
                        strerror(-code));
    if (!is_there)
        return soc_fail(detail, SOC_ENOAGENT, "%s is not registered in %s/state/agents.json", id,
                        attach->options.dir);
    return SOC_OK;
}

int soc_attach_open(struct soc_attach **out, const struct soc_attach_options *options,
                    struct soc_detail *detail)
{
    if (!soc_id_is_for_outside(soc_slice_text(options->id)))
        return soc_fail(detail, SOC_EINVAL, "%s can be no outside agent's id", options->id);
    struct soc_attach *attach = soc_alloc_zero(sizeof(*attach));
    attach->options = *options;
    int rc = soc_workdir_open(&attach->dir, options->dir, false, 0700, 0600, detail);
    if (rc == SOC_OK)
        rc = check_registered(attach, detail);
    if (rc < 0) {
        soc_attach_close(attach);
        return rc;
    }
    attach->queue_name = name_with(options->id, SOC_QUEUE_SUFFIX);
    attach->ack_name = name_with(options->id, SOC_ACK_SUFFIX);
    attach->out_name = name_with(options->id, SOC_OUT_SUFFIX);
    attach->beat_name = name_with(options->id, SOC_HEARTBEAT_SUFFIX);
    read_done(attach);
    read_aborts(attach);
    attach->log = (struct soc_attach_log){
        .dir = &attach->dir, .id = options->id, .warn = options->warn, .user = options->user};
    soc_attach_log_open(&attach->log);
    *out = attach;
    return SOC_OK;
}

void soc_attach_close(struct soc_attach *attach)
{
    size_t cursor = 0;
    char *id;
    if (attach == NULL)
        return;
    while ((id = soc_map_each(&attach->known, &cursor)) != NULL)
        free(id);
    soc_map_fini(&attach->known);
    struct abort *abort;
    cursor = 0;
    while ((abort = soc_map_each(&attach->aborts, &cursor)) != NULL)
        free_abort(abort);
    soc_map_fini(&attach->aborts);
    for (int i = 0; i < attach->shown_count; i++) {
        free(attach->shown[i].id);
        free(attach->shown[i].type);
        free(attach->shown[i].task_id);
        free(attach->shown[i].checkpoint_id);
    }
    free(attach->shown);
    free(attach->since);
    free(attach->queue_name);
    free(attach->ack_name);
    free(attach->out_name);
    free(attach->beat_name);
    soc_workdir_close(&attach->dir);
    free(attach);
}

static int append(struct soc_attach *attach, const char *name, struct soc_buf *line)
{
    soc_buf_put_text(line, "}\n");
    int code = soc_workdir_end_line(&attach->dir, SOC_PLACE_AGENTS, name);
    if (code == 0)
        code = soc_workdir_append(&attach->dir, SOC_PLACE_AGENTS, name, soc_buf_slice(line));
    soc_buf_fini(line);
    return code;
}

static int ack(struct soc_attach *attach, const char *id, const char *status)
{
    struct soc_buf line = {0};
    soc_buf_put_byte(&line, '{');
    soc_json_put_text_member(&line, "msg_id", soc_slice_text(id));
    soc_json_put_text_member(&line, "status", soc_slice_text(status));
    soc_json_put_name(&line, "at");
    soc_time_put_json(&line, attach->now_ms);
    return append(attach, attach->ack_name, &line);
}

static void keep_shown(struct soc_attach *attach, struct soc_slice envelope, char *id)
{
    struct soc_slice payload = soc_json_member(envelope, "payload");
    struct soc_slice to = soc_json_plain_string(soc_json_member(envelope, "to"));
    attach->shown =
        soc_realloc(attach->shown, (size_t)(attach->shown_count + 1) * sizeof(*attach->shown));
    struct shown *shown = &attach->shown[attach->shown_count++];
    *shown = (struct shown){.id = id, .is_broadcast = soc_slice_equal(to, SOC_SLICE("All"))};
    shown->type = copy_member(envelope, "type");
    if (is_type(shown, "task_assign") || is_type(shown, "task") ||
        is_type(shown, "task_assignment"))
        shown->task_id = copy_member(envelope, "task_id");
    if (is_type(shown, "checkpoint_request"))
        shown->checkpoint_id = copy_member(payload, "checkpoint_id");
}

/* Broadcasts are read by all: those from before the agent's birth are not for it, nor are
 * its own. */
static bool is_for_others(const struct soc_attach *attach, struct soc_slice envelope,
                          const char *id)
{
    struct soc_slice to = soc_json_plain_string(soc_json_member(envelope, "to"));
    struct soc_slice from = soc_json_plain_string(soc_json_member(envelope, "from"));
    return soc_slice_equal(to, SOC_SLICE("All")) &&
           ((attach->since != NULL && strcmp(id, attach->since) < 0) ||
            soc_slice_equal(from, soc_slice_text(attach->options.id)));
}

/* Tells whether what opens a task was followed by its abort. */
static bool is_aborted(const struct soc_attach *attach, struct soc_slice envelope, const char *id)
{
    struct soc_slice type = soc_json_plain_string(soc_json_member(envelope, "type"));
    char *task_id = copy_member(envelope, "task_id");
    const struct abort *abort =
        task_id == NULL ? NULL : soc_map_find(&attach->aborts, soc_slice_text(task_id));
    free(task_id);
    return abort != NULL && strcmp(id, abort->id) < 0 && !soc_slice_equal(type, SOC_SLICE("abort"));
}

/* An abort was shown: its task is what is talked about no more. */
static void drop_task(struct soc_attach *attach, const struct soc_line *line)
{
    char *task_id = copy_member(line->text, "task_id");
    for (int i = 0; task_id != NULL && i < attach->shown_count; i++)
        if (attach->shown[i].task_id != NULL && strcmp(attach->shown[i].task_id, task_id) == 0)
            attach->shown[i].is_aborted = true;
    free(task_id);
}

static bool take_message(void *user, const struct soc_line *line)
{
    struct soc_attach *attach = user;
    if (line->kind == SOC_LINE_REMOVED)
        attach->is_over = true;
    if (line->kind > SOC_LINE_UNENDED)
        return true;
    bool is_good =
        soc_json_check(line->text, NULL) == SOC_OK && soc_json_kind(line->text) == SOC_JSON_OBJECT;
    if (!is_good)
        return line->kind == SOC_LINE_WHOLE; /* a piece that a crash has left is skipped */
    char *id = copy_member(line->text, "id");
    if (id == NULL || is_for_others(attach, line->text, id) ||
        !note_id(attach, soc_copy_text(id, strlen(id)))) {
        free(id);
        return true;
    }
    if (is_aborted(attach, line->text, id)) {
        ack(attach, id, "processed");
        free(id);
        return true;
    }
    struct soc_slice wants = soc_json_member(line->text, "requires_ack");
    bool wants_ack = wants.data != NULL && soc_json_kind(wants) == SOC_JSON_TRUE;
    keep_shown(attach, line->text, id);
    const struct shown *shown = &attach->shown[attach->shown_count - 1];
    bool is_abort = is_type(shown, "abort"); /* whoever has read it has stopped */
    if (is_abort)
        drop_task(attach, line);
    attach->options.show(attach->options.user, attach->shown_count, line->text);
    bool is_open = wants_ack && !shown->is_broadcast && !is_abort;
    ack(attach, id, is_open ? "received" : "processed");
    return true;
}

static void beat(struct soc_attach *attach)
{
    char text[SOC_TIME_BYTES + 1];
    if (attach->beat_ms != 0 && attach->now_ms - attach->beat_ms < HEARTBEAT_MS)
        return;
    soc_time_format(text, attach->now_ms);
    text[SOC_TIME_BYTES] = '\n';
    soc_workdir_replace(&attach->dir, SOC_PLACE_HEARTBEAT, attach->beat_name,
                        soc_slice(text, sizeof(text)), NULL);
    attach->beat_ms = attach->now_ms;
}

bool soc_attach_look(struct soc_attach *attach, int64_t now_ms)
{
    struct soc_look_options options = {.dir = &attach->dir,
                                       .place = SOC_PLACE_CHANNEL,
                                       .name = "broadcast.jsonl",
                                       .line_bytes_max = SOC_PAYLOAD_BYTES_MAX,
                                       .lines_max = INT32_MAX,
                                       .now_ms = now_ms,
                                       .wait_ms = HEARTBEAT_MS};
    attach->now_ms = now_ms;
    soc_lines_look(&attach->broadcast, &options, take_message, attach);
    options.place = SOC_PLACE_AGENTS;
    options.name = attach->queue_name;
    soc_lines_look(&attach->queue, &options, take_message, attach);
    soc_attach_log_look(&attach->log, now_ms);
    if (!attach->is_over)
        beat(attach);
    return !attach->is_over;
}

/* Begins a line with an id of its own and the time. */
static void begin_line(struct soc_attach *attach, struct soc_buf *line)
{
    struct soc_buf id = {0};
    attach->said = attach->now_ms == attach->last_ms ? attach->said + 1 : 0;
    attach->last_ms = attach->now_ms;
    soc_buf_printf(&id, "%s-%" PRId64 "-%u", attach->options.id, attach->now_ms, attach->said);
    soc_buf_put_byte(line, '{');
    soc_json_put_text_member(line, "id", soc_buf_slice(&id));
    soc_json_put_name(line, "timestamp");
    soc_time_put_json(line, attach->now_ms);
    soc_buf_fini(&id);
}

/* Says a line: what becomes of it is in the log. */
static int say(struct soc_attach *attach, struct soc_buf *line)
{
    int code = append(attach, attach->out_name, line);
    attach->log.unsettled += code == 0;
    return code;
}

static int send_to(struct soc_attach *attach, struct soc_slice to, struct soc_slice text)
{
    struct soc_buf line = {0};
    begin_line(attach, &line);
    soc_json_put_text_member(&line, "to", to);
    soc_json_put_text_member(&line, "payload", text);
    return say(attach, &line);
}

/* Answers as what was shown wants it: a checkpoint by its response, a task by a word about
 * its progress, anything else by a reply. */
static int answer(struct soc_attach *attach, const struct shown *shown, struct soc_slice text)
{
    struct soc_buf line = {0};
    begin_line(attach, &line);
    if (shown->task_id == NULL && shown->checkpoint_id == NULL) {
        soc_json_put_text_member(&line, "reply_to", soc_slice_text(shown->id));
        soc_json_put_text_member(&line, "payload", text);
        return say(attach, &line);
    }
    soc_json_put_text_member(&line, "type",
                             shown->task_id != NULL ? SOC_SLICE("progress_update")
                                                    : SOC_SLICE("checkpoint_response"));
    if (shown->checkpoint_id != NULL)
        soc_json_put_text_member(&line, ABOUT, soc_slice_text(shown->id));
    soc_json_put_name(&line, "payload");
    soc_buf_put_byte(&line, '{');
    soc_json_put_text_member(&line, "task_id", soc_slice_text(shown->task_id));
    soc_json_put_text_member(&line, "checkpoint_id", soc_slice_text(shown->checkpoint_id));
    soc_json_put_text_member(&line, "text", text);
    soc_buf_put_byte(&line, '}');
    return say(attach, &line);
}

static int end_task(struct soc_attach *attach, const struct shown *shown, struct soc_slice text,
                    bool has_failed)
{
    struct soc_buf line = {0};
    bool is_helix = is_type(shown, "task");
    begin_line(attach, &line);
    soc_json_put_text_member(&line, "type",
                             is_helix ? SOC_SLICE("result") : SOC_SLICE("task_complete"));
    soc_json_put_text_member(&line, ABOUT, soc_slice_text(shown->id));
    soc_json_put_name(&line, "payload");
    soc_buf_put_byte(&line, '{');
    soc_json_put_text_member(&line, "task_id", soc_slice_text(shown->task_id));
    soc_json_put_text_member(&line, "status",
                             has_failed ? SOC_SLICE("failed") : SOC_SLICE("completed"));
    soc_json_put_text_member(&line, has_failed ? "error" : "output", text);
    soc_buf_put_byte(&line, '}');
    return say(attach, &line);
}

/* Takes the first word off `*line`. */
static struct soc_slice next_word(struct soc_slice *line)
{
    size_t start = 0;
    while (start < line->length && line->data[start] == ' ')
        start++;
    size_t end = start;
    while (end < line->length && line->data[end] != ' ')
        end++;
    struct soc_slice word = soc_slice(line->data + start, end - start);
    size_t rest = end < line->length ? end + 1 : end;
    *line = soc_slice(line->data + rest, line->length - rest);
    return word;
}

/* The last message that can be answered, or NULL. */
static const struct shown *last_shown(const struct soc_attach *attach)
{
    for (int i = attach->shown_count - 1; i >= 0; i--)
        if (!attach->shown[i].is_broadcast && !attach->shown[i].is_aborted &&
            !is_type(&attach->shown[i], "abort"))
            return &attach->shown[i];
    return NULL;
}

/* Takes a number off the line if one stands there: that message, else the last. */
static const struct shown *pick(const struct soc_attach *attach, struct soc_slice *line,
                                struct soc_detail *detail)
{
    struct soc_slice rest = *line;
    struct soc_slice word = next_word(&rest);
    int number = 0;
    bool is_number = word.length > 0 && word.length < 9;
    for (size_t i = 0; i < word.length && is_number; i++) {
        is_number = word.data[i] >= '0' && word.data[i] <= '9';
        number = number * 10 + (word.data[i] - '0');
    }
    if (is_number)
        *line = rest;
    if (is_number && (number < 1 || number > attach->shown_count)) {
        soc_fail(detail, 0, "there is no message %d", number);
        return NULL;
    }
    const struct shown *shown = is_number ? &attach->shown[number - 1] : last_shown(attach);
    if (shown == NULL)
        soc_fail(detail, 0, "no message was shown yet");
    return shown;
}

static bool is_blank(struct soc_slice text)
{
    struct soc_slice rest = text;
    return next_word(&rest).length == 0;
}

static int do_command(struct soc_attach *attach, struct soc_slice word, struct soc_slice rest,
                      struct soc_detail *detail)
{
    bool is_reply = soc_slice_equal(word, SOC_SLICE("/reply"));
    bool has_failed = soc_slice_equal(word, SOC_SLICE("/fail"));
    if (soc_slice_equal(word, SOC_SLICE("/quit")))
        return 1;
    if (!is_reply && !has_failed && !soc_slice_equal(word, SOC_SLICE("/done")))
        return soc_fail(detail, SOC_EINVAL,
                        "there are TEXT, @ID TEXT, /reply N TEXT, /done [N] [TEXT], "
                        "/fail [N] [TEXT] and /quit");
    const struct shown *shown = pick(attach, &rest, detail);
    if (shown == NULL)
        return SOC_EINVAL;
    if (is_reply && is_blank(rest))
        return soc_fail(detail, SOC_EINVAL, "/reply N TEXT answers with a text");
    if (has_failed && shown->task_id == NULL)
        return soc_fail(detail, SOC_EINVAL, "that message is no task");
    int code;
    if (is_reply)
        code = answer(attach, shown, rest);
    else if (shown->task_id != NULL)
        code = end_task(attach, shown, rest, has_failed);
    else
        code = ack(attach, shown->id, "processed");
    return code < 0 ? soc_fail(detail, SOC_EACCESS, "%s", strerror(-code)) : SOC_OK;
}

int soc_attach_say(struct soc_attach *attach, struct soc_slice line, int64_t now_ms,
                   struct soc_detail *detail)
{
    int code = 0;
    attach->now_ms = now_ms;
    while (line.length > 0 && strchr(" \r\n", line.data[line.length - 1]) != NULL)
        line.length--;
    if (line.length == 0)
        return SOC_OK;
    if (soc_utf8_fault(line) >= 0)
        return soc_fail(detail, SOC_EINVAL, "that is not UTF-8");
    if (line.data[0] == '/') {
        struct soc_slice word = next_word(&line);
        return do_command(attach, word, line, detail);
    }
    if (line.data[0] == '@') {
        struct soc_slice word = next_word(&line);
        if (word.length == 1 || is_blank(line))
            return soc_fail(detail, SOC_EINVAL, "@ID TEXT writes a text to ID");
        code = send_to(attach, soc_slice(word.data + 1, word.length - 1), line);
    } else if (last_shown(attach) != NULL) {
        code = answer(attach, last_shown(attach), line);
    } else {
        code = send_to(attach, SOC_SLICE("orchestrator"), line);
    }
    return code < 0 ? soc_fail(detail, SOC_EACCESS, "%s", strerror(-code)) : SOC_OK;
}

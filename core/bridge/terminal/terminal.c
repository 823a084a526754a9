#include "bridge/terminal/terminal.h"

#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/json.h"
#include "base/mem.h"
#include "env/ids.h"
#include "env/log.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "parts/human/human.h"

#define READ_BYTES     4096
#define LINE_BYTES_MAX (1u << 20)

/* A line to show when what it reports is durable. */
struct saying {
    struct saying *previous;
    struct saying *next;
    struct soc_terminal *terminal;
    size_t length;
    char text[];
};

struct soc_terminal {
    struct soc_terminal_options options;
    uv_tty_t tty;
    struct soc_buf in;  /* an incomplete line */
    struct soc_buf ids; /* SOC_ITEM_ID_BYTES each; item n is the n-th */
    struct saying *sayings;
};

static const char help[] = "N approve [COMMENT]      approve item N\n"
                           "N choose OPTION          approve it with an option, by number or text\n"
                           "N reject [COMMENT]       reject it\n"
                           "N modify {\"...\":...}     approve it with changes, as JSON\n"
                           "N                        show item N again\n"
                           "inbox                    list open items\n"
                           "help                     show this text\n"
                           "anything else            is sent to the agent the gatekeeper chooses";

bool soc_terminal_is_there(int input)
{
    return isatty(input) && tcgetpgrp(input) == getpgrp();
}

static bool say(struct soc_terminal *terminal, struct soc_slice text)
{
    assert(text.length > 0);
    return terminal->options.say(terminal->options.user, text);
}

static void free_saying(struct saying *saying)
{
    if (saying->previous != NULL)
        saying->previous->next = saying->next;
    else
        saying->terminal->sayings = saying->next;
    if (saying->next != NULL)
        saying->next->previous = saying->previous;
    free(saying);
}

static void say_now(void *user)
{
    struct saying *saying = user;
    say(saying->terminal, soc_slice(saying->text, saying->length));
    free_saying(saying);
}

static void say_when_durable(struct soc_terminal *terminal, const struct soc_buf *text)
{
    struct saying *saying = soc_alloc(sizeof(*saying) + text->length);
    saying->terminal = terminal;
    saying->previous = NULL;
    saying->next = terminal->sayings;
    if (saying->next != NULL)
        saying->next->previous = saying;
    terminal->sayings = saying;
    saying->length = text->length;
    memcpy(saying->text, text->data, text->length);
    soc_gate_when_durable(terminal->options.host, say_now, saying);
}

/* Returns the number of the item with that id; assigns one if needed. */
static size_t number_of(struct soc_terminal *terminal, struct soc_slice id)
{
    struct soc_buf *ids = &terminal->ids;
    for (size_t at = 0; at < ids->length; at += SOC_ITEM_ID_BYTES)
        if (soc_slice_equal(id, soc_slice(ids->data + at, SOC_ITEM_ID_BYTES)))
            return at / SOC_ITEM_ID_BYTES + 1;
    assert(id.length == SOC_ITEM_ID_BYTES);
    soc_buf_put_slice(ids, id);
    return ids->length / SOC_ITEM_ID_BYTES;
}

/* Lends the id of item `number`; absent if there is no such item. */
static struct soc_slice id_of(const struct soc_terminal *terminal, uint64_t number)
{
    if (number == 0 || number > terminal->ids.length / SOC_ITEM_ID_BYTES)
        return (struct soc_slice){0};
    return soc_slice(terminal->ids.data + (number - 1) * SOC_ITEM_ID_BYTES, SOC_ITEM_ID_BYTES);
}

/* Appends an agent's text without terminal control sequences; `line_end` begins a further line. */
static void put_lines(struct soc_buf *out, struct soc_slice value, const char *line_end)
{
    struct soc_buf text = {0};
    if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    soc_log_put_harmless(out, soc_buf_slice(&text), line_end, ' ');
    soc_buf_fini(&text);
}

/* The same on one line: whatever stands on a line of its own is the host's. */
static void put_words(struct soc_buf *out, struct soc_slice value)
{
    put_lines(out, value, " ");
}

static void put_line(struct soc_buf *out, const char *before, struct soc_slice value)
{
    if (value.data == NULL)
        return;
    soc_buf_put_text(out, before);
    put_words(out, value);
}

static void put_item(struct soc_terminal *terminal, struct soc_buf *out, struct soc_slice item)
{
    struct soc_json_walk walk;
    const char *before = "\n    options: ";
    size_t number = number_of(terminal, soc_json_plain_string(soc_json_member(item, "id")));
    struct soc_slice priority = soc_json_plain_string(soc_json_member(item, "priority"));
    soc_buf_printf(out, "[%zu] ", number);
    put_words(out, soc_json_member(item, "agent"));
    if (!soc_slice_equal(priority, SOC_SLICE("normal")))
        soc_buf_printf(out, " (%.*s)", (int)priority.length, priority.data);
    put_line(out, ": ", soc_json_member(item, "title"));
    if (soc_json_member(item, "overdue").data != NULL)
        soc_buf_put_text(out, "  OVERDUE");
    if (soc_json_member(item, "withdrawn").data != NULL)
        soc_buf_put_text(out, "  WITHDRAWN");
    struct soc_slice body = soc_json_member(item, "body");
    if (body.data != NULL) {
        soc_buf_put_text(out, "\n    ");
        put_lines(out, body, "\n    ");
    }
    soc_json_walk(&walk, soc_json_member(item, "options"));
    for (int i = 1; soc_json_next(&walk); i++) {
        soc_buf_printf(out, "%s%d. ", before, i);
        put_words(out, walk.value);
        before = ", ";
    }
}

bool soc_terminal_show(struct soc_terminal *terminal, struct soc_slice item)
{
    struct soc_buf text = {0};
    bool is_first = terminal->ids.length == 0;
    put_item(terminal, &text, item);
    if (is_first)
        soc_buf_put_text(
            &text, "\n    (decide with: 1 approve, 1 choose 2, 1 reject, 1 modify; see: help)");
    bool is_said = say(terminal, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return is_said;
}

/* Lists the open items, or the one with that id. */
static void list_items(struct soc_terminal *terminal, struct soc_slice id)
{
    struct soc_buf list = {0};
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    soc_human_look(terminal->options.host, NULL, &list);
    soc_json_walk(&walk, soc_buf_slice(&list));
    while (soc_json_next(&walk)) {
        struct soc_slice own = soc_json_plain_string(soc_json_member(walk.value, "id"));
        if (id.data != NULL && !soc_slice_equal(id, own))
            continue;
        if (text.length > 0)
            soc_buf_put_byte(&text, '\n');
        put_item(terminal, &text, walk.value);
    }
    if (text.length == 0)
        soc_buf_put_text(&text, id.data == NULL ? "the inbox is empty"
                                                : "that item is already decided or was withdrawn");
    say_when_durable(terminal, &text);
    soc_buf_fini(&list);
    soc_buf_fini(&text);
}

static void say_refusal(struct soc_terminal *terminal, struct soc_slice refusal)
{
    struct soc_buf text = {0};
    put_words(&text, soc_json_member(refusal, "error"));
    put_line(&text, ": ", soc_json_member(refusal, "message"));
    say(terminal, soc_buf_slice(&text));
    soc_buf_fini(&text);
}

static bool is_full(struct soc_terminal *terminal)
{
    if (!soc_host_is_full(terminal->options.host))
        return false;
    say(terminal, soc_slice_text(soc_error_text(SOC_EDISKFULL)));
    return true;
}

static void decide(struct soc_terminal *terminal, uint64_t number,
                   const struct soc_verdict *verdict)
{
    struct soc_buf answer = {0};
    struct soc_buf text = {0};
    int rc = soc_human_decide_now(terminal->options.host, verdict, &answer);
    if (rc < 0) {
        say_refusal(terminal, soc_buf_slice(&answer));
    } else {
        assert(answer.length > 2 && answer.data[0] == '[');
        struct soc_slice result = soc_slice(answer.data + 1, answer.length - 2);
        soc_buf_printf(&text, "[%llu] ", (unsigned long long)number);
        put_words(&text, soc_json_member(result, "decision"));
        put_line(&text, " ", soc_json_member(result, "choice"));
        put_line(&text, ": ", soc_json_member(result, "agent"));
        struct soc_slice note = soc_json_member(result, "note");
        if (note.data == NULL)
            soc_buf_put_text(&text, " is notified");
        put_line(&text, ", but ", note);
        say_when_durable(terminal, &text);
    }
    soc_buf_fini(&answer);
    soc_buf_fini(&text);
}

/* Removes the first word of `*line` and returns it. */
static struct soc_slice take_word(struct soc_slice *line)
{
    size_t start = 0;
    while (start < line->length && isspace((unsigned char)line->data[start]))
        start++;
    size_t end = start;
    while (end < line->length && !isspace((unsigned char)line->data[end]))
        end++;
    struct soc_slice word = soc_slice(line->data + start, end - start);
    while (end < line->length && isspace((unsigned char)line->data[end]))
        end++;
    *line = soc_slice(line->data + end, line->length - end);
    return word;
}

static bool read_number(struct soc_slice word, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (!isdigit((unsigned char)word.data[i]))
            return false;
        *number = *number * 10 + (uint64_t)(word.data[i] - '0');
    }
    return word.length > 0 && word.length < 10;
}

static bool is_open(struct soc_terminal *terminal, struct soc_slice id)
{
    struct soc_buf list = {0};
    struct soc_json_walk walk;
    bool is_found = false;
    soc_human_look(terminal->options.host, NULL, &list);
    soc_json_walk(&walk, soc_buf_slice(&list));
    while (!is_found && soc_json_next(&walk))
        is_found = soc_slice_equal(id, soc_json_plain_string(soc_json_member(walk.value, "id")));
    soc_buf_fini(&list);
    return is_found;
}

/* Appends the chosen option as JSON. A number on display means the option it stands before;
 * other words are passed on as a text, so that a refusal can list the options. */
static void put_option(struct soc_terminal *terminal, struct soc_slice id, struct soc_slice words,
                       struct soc_buf *out)
{
    struct soc_buf list = {0};
    struct soc_json_walk items;
    struct soc_json_walk options = {0};
    uint64_t number;
    uint64_t index = 0;
    soc_human_look(terminal->options.host, NULL, &list);
    soc_json_walk(&items, soc_buf_slice(&list));
    while (soc_json_next(&items))
        if (soc_slice_equal(id, soc_json_plain_string(soc_json_member(items.value, "id"))))
            soc_json_walk(&options, soc_json_member(items.value, "options"));
    bool is_number = read_number(words, &number);
    while (is_number && options.next != NULL && out->length == 0 && soc_json_next(&options))
        if (++index == number)
            soc_buf_put_slice(out, options.value);
    if (out->length == 0)
        soc_json_put_string(out, words);
    soc_buf_fini(&list);
}

/* `N choose OPTION`. */
static void choose(struct soc_terminal *terminal, uint64_t number, struct soc_slice id,
                   struct soc_slice words)
{
    struct soc_buf choice = {0};
    if (id.data == NULL) {
        say(terminal, SOC_SLICE("no item has that number; `inbox` lists them"));
    } else if (words.length == 0) {
        say(terminal, SOC_SLICE("choose needs an option or its number, like: 1 choose 2"));
    } else if (!is_full(terminal)) {
        put_option(terminal, id, words, &choice);
        struct soc_verdict verdict = {.item_id = id, .choice = soc_buf_slice(&choice)};
        decide(terminal, number, &verdict);
    }
    soc_buf_fini(&choice);
}

/* Do not send a mistyped decision (`N aprove`) as mail. Returns false if N is not open. */
static bool give_hint(struct soc_terminal *terminal, uint64_t number, struct soc_slice id)
{
    struct soc_buf text = {0};
    if (id.data == NULL || !is_open(terminal, id))
        return false;
    soc_buf_printf(&text,
                   "nothing was sent; decide item %llu with approve, choose, reject or modify,"
                   " for example: %llu approve",
                   (unsigned long long)number, (unsigned long long)number);
    say(terminal, soc_buf_slice(&text));
    soc_buf_fini(&text);
    return true;
}

/* Handles `N`, `N approve …` and so on. Returns false if the line is something else. */
static bool take_decision(struct soc_terminal *terminal, struct soc_slice line)
{
    uint64_t number;
    if (!read_number(take_word(&line), &number))
        return false;
    struct soc_slice id = id_of(terminal, number);
    struct soc_slice word = take_word(&line);
    enum soc_decision decision = soc_decision_parse(word);
    if (word.length == 0 && id.data != NULL) {
        list_items(terminal, id);
        return true;
    }
    if (soc_slice_equal(word, SOC_SLICE("choose"))) {
        choose(terminal, number, id, line);
        return true;
    }
    if (decision == SOC_DECISION_NONE)
        return give_hint(terminal, number, id);
    struct soc_verdict verdict = {.item_id = id, .decision = word};
    if (decision == SOC_DECISION_MODIFY)
        verdict.changes = line;
    else if (line.length > 0)
        verdict.comment = line;
    if (id.data == NULL)
        say(terminal, SOC_SLICE("no item has that number; `inbox` lists them"));
    else if (decision == SOC_DECISION_MODIFY && soc_json_check(line, NULL) < 0)
        say(terminal,
            SOC_SLICE("modify needs changes as JSON, for example: 1 modify {\"limit\":10}"));
    else if (!is_full(terminal))
        decide(terminal, number, &verdict);
    return true;
}

/* Sends input without an address. */
static void pass_on(struct soc_terminal *terminal, struct soc_slice line)
{
    struct soc_host *host = terminal->options.host;
    struct soc_buf payload = {0};
    struct soc_buf answer = {0};
    soc_buf_put_byte(&payload, '{');
    soc_json_put_text_member(&payload, "text", line);
    soc_buf_put_byte(&payload, '}');
    struct soc_send send = {.payload = soc_buf_slice(&payload)};
    soc_human_address(host, &send);
    if (soc_gate_send_as(host, soc_registry_user(host), &send, &answer) < 0) {
        say_refusal(terminal, soc_buf_slice(&answer));
    } else {
        answer.length = 0;
        soc_buf_put_text(&answer, "to ");
        soc_buf_put_slice(&answer, send.to);
        say_when_durable(terminal, &answer);
    }
    soc_buf_fini(&payload);
    soc_buf_fini(&answer);
}

static void take_line(struct soc_terminal *terminal, struct soc_slice line)
{
    while (line.length > 0 && isspace((unsigned char)line.data[line.length - 1]))
        line.length--;
    while (line.length > 0 && isspace((unsigned char)line.data[0]))
        line = soc_slice(line.data + 1, line.length - 1);
    if (line.length == 0)
        return;
    if (soc_utf8_fault(line) >= 0 || memchr(line.data, '\0', line.length) != NULL)
        say(terminal, SOC_SLICE("the line is not valid UTF-8"));
    else if (soc_slice_equal(line, SOC_SLICE("help")))
        say(terminal, soc_slice_text(help));
    else if (soc_slice_equal(line, SOC_SLICE("inbox")))
        list_items(terminal, (struct soc_slice){0});
    else if (!take_decision(terminal, line) && !is_full(terminal))
        pass_on(terminal, line);
}

static void take_lines(struct soc_terminal *terminal)
{
    struct soc_buf *in = &terminal->in;
    assert(in->data != NULL);
    size_t taken = 0;
    const char *end;
    while ((end = memchr(in->data + taken, '\n', in->length - taken)) != NULL) {
        size_t at = (size_t)(end - in->data);
        take_line(terminal, soc_slice(in->data + taken, at - taken));
        taken = at + 1;
    }
    memmove(in->data, in->data + taken, in->length - taken);
    in->length -= taken;
    if (in->length > LINE_BYTES_MAX)
        in->length = 0;
}

static void lend_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct soc_terminal *terminal = handle->data;
    *buf = uv_buf_init(soc_buf_reserve(&terminal->in, READ_BYTES), READ_BYTES);
}

static void take_bytes(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    (void)buf;
    struct soc_terminal *terminal = stream->data;
    if (count < 0) { /* end of input, or the process is in the background */
        uv_read_stop(stream);
        return;
    }
    struct soc_watchdog *dog = soc_loop_watchdog(terminal->options.loop);
    soc_watchdog_begin(dog, "terminal");
    terminal->in.length += (size_t)count;
    if (count > 0)
        take_lines(terminal);
    soc_watchdog_end(dog);
}

static void free_terminal(uv_handle_t *handle)
{
    struct soc_terminal *terminal = handle->data;
    soc_buf_fini(&terminal->in);
    soc_buf_fini(&terminal->ids);
    free(terminal);
}

int soc_terminal_open(struct soc_terminal **out, const struct soc_terminal_options *options,
                      struct soc_detail *detail)
{
    assert(options->host != NULL && options->loop != NULL && options->say != NULL);
    struct soc_terminal *terminal = soc_alloc_zero(sizeof(*terminal));
    terminal->options = *options;
    signal(SIGTTIN, SIG_IGN); /* reading in the background fails instead of stopping us */
    int rc = uv_tty_init(soc_loop_uv(options->loop), &terminal->tty, options->input, 1);
    if (rc < 0) {
        free(terminal);
        return soc_fail(detail, SOC_EIO, "terminal: %s", uv_strerror(rc));
    }
    terminal->tty.data = terminal;
    rc = uv_read_start((uv_stream_t *)&terminal->tty, lend_room, take_bytes);
    if (rc < 0) {
        uv_close((uv_handle_t *)&terminal->tty, free_terminal);
        return soc_fail(detail, SOC_EIO, "terminal: %s", uv_strerror(rc));
    }
    if (soc_human_count(options->host) > 0)
        list_items(terminal, (struct soc_slice){0});
    *out = terminal;
    return SOC_OK;
}

void soc_terminal_close(struct soc_terminal *terminal)
{
    if (terminal == NULL)
        return;
    while (terminal->sayings != NULL)
        free_saying(terminal->sayings);
    uv_close((uv_handle_t *)&terminal->tty, free_terminal);
}

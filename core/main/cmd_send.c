#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/send_reader.h"
#include "main/args.h"
#include "main/command.h"
#include "main/errand.h"
#include "parts/human/human.h"

struct send {
    struct soc_args args;
    const char *state;
    const char *to;
    const char *type;
    bool is_json; /* the word is a JSON payload */
    bool waits;
    int64_t timeout_ms;
    struct soc_buf payload;
    struct soc_buf request; /* as it goes to the socket */
};

static int print_value(struct soc_slice value)
{
    struct soc_buf text = {0};
    if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    fwrite(text.data, 1, text.length, stdout);
    putchar('\n');
    soc_buf_fini(&text);
    return SOC_EXIT_DONE;
}

/* Prints the id of what was sent, or what the reply says. */
static int print_answer(void *user, struct soc_slice list)
{
    (void)user;
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    soc_json_next(&walk);
    struct soc_slice id = soc_json_member(walk.value, "messageId");
    if (id.data != NULL)
        return print_value(id);
    struct soc_slice payload = soc_json_member(walk.value, "payload");
    struct soc_slice text = soc_json_member(payload, "text");
    return print_value(text.data == NULL ? payload : text);
}

static void put_request(const struct send *send, struct soc_buf *request)
{
    soc_buf_put_text(request, "{\"id\":1");
    soc_json_put_text_member(request, "op", send->waits ? SOC_SLICE("request") : SOC_SLICE("send"));
    soc_json_put_text_member(request, "to", soc_slice_text(send->to));
    soc_json_put_text_member(request, "type", soc_slice_text(send->type));
    soc_json_put_name(request, "payload");
    soc_buf_put_slice(request, soc_buf_slice(&send->payload));
    if (send->waits) {
        soc_json_put_name(request, "timeout_ms");
        soc_json_put_integer(request, send->timeout_ms);
    }
    soc_buf_put_byte(request, '}');
}

static int send_stopped(struct soc_host *host, void *user, struct soc_buf *answer)
{
    const struct send *send = user;
    struct soc_send_reader reader = {0};
    struct soc_said said = {0};
    struct soc_said_fault fault;
    int rc =
        soc_send_reader_read(&reader, soc_buf_slice(&send->request), SOC_SAY_SOCKET, &said, &fault);
    if (rc < 0)
        soc_send_reader_refuse(answer, rc, &fault);
    if (rc == SOC_OK && send->to == NULL)
        soc_human_address(host, &said.send);
    if (rc == SOC_OK)
        rc = soc_gate_send_as(host, soc_agents_user(host), &said.send, answer);
    soc_send_reader_fini(&reader);
    return rc;
}

static int send_message(struct send *send)
{
    put_request(send, &send->request);
    struct soc_errand errand = {
        .state = send->state,
        .request = soc_buf_slice(&send->request),
        .stopped = send->waits ? NULL : send_stopped,
        .user = send,
        .patience_ms = send->waits ? send->timeout_ms : 0,
        .print = print_answer,
    };
    return soc_errand_run(&errand);
}

/* What is not UTF-8 cannot be said in JSON, and is not to arrive as something else. */
static int check_text(const char *what, const char *text)
{
    ptrdiff_t fault = soc_utf8_fault(soc_slice_text(text));
    if (fault < 0)
        return SOC_ARGS_GO;
    return soc_complain(SOC_EXIT_USAGE, "send: %s is not UTF-8 from byte %td on", what, fault + 1);
}

static int check_texts(const struct send *send)
{
    int code = check_text("--to", send->to);
    if (code == SOC_ARGS_GO)
        code = check_text("--type", send->type);
    if (code == SOC_ARGS_GO && !send->is_json) /* JSON is checked as such */
        code = check_text("the text", send->args.words.items[0]);
    return code;
}

static int make_payload(struct send *send)
{
    struct soc_slice word = soc_slice_text(send->args.words.items[0]);
    struct soc_json_fault fault = {0};
    if (send->timeout_ms <= 0)
        return soc_complain(SOC_EXIT_USAGE, "send: --timeout needs ms above 0");
    if (!send->is_json) {
        soc_buf_put_byte(&send->payload, '{');
        soc_json_put_text_member(&send->payload, "text", word);
        soc_buf_put_byte(&send->payload, '}');
        return SOC_ARGS_GO;
    }
    if (soc_json_check(word, &fault) < 0)
        return soc_complain(SOC_EXIT_USAGE, "send: the payload is not JSON: %s at byte %zu",
                            fault.reason == NULL ? "too large" : fault.reason, fault.position + 1);
    size_t start = strspn(word.data, " \t\r\n");
    bool is_text = word.data[start] == '"'; /* a plain text means { text = … } */
    soc_buf_put_text(&send->payload, is_text ? "{\"text\":" : "");
    for (size_t i = start; i < word.length; i++) /* one line for the socket */
        soc_buf_put_byte(&send->payload, word.data[i] == '\n' ? ' ' : word.data[i]);
    soc_buf_put_text(&send->payload, is_text ? "}" : "");
    return SOC_ARGS_GO;
}

int soc_cmd_send(int argc, char **argv)
{
    struct send send = {.args = {.command = "send", .is_rest_words = true},
                        .state = ".society",
                        .timeout_ms = SOC_REQUEST_TIMEOUT_MS};
    const struct soc_option options[] = {
        {"to", SOC_OPTION_TEXT, &send.to},      {"state", SOC_OPTION_TEXT, &send.state},
        {"type", SOC_OPTION_TEXT, &send.type},  {"json-payload", SOC_OPTION_FLAG, &send.is_json},
        {"wait", SOC_OPTION_FLAG, &send.waits}, {"timeout", SOC_OPTION_NUMBER, &send.timeout_ms},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&send.args, argc, argv, options, 1, 1);
    if (code == SOC_ARGS_GO)
        code = check_texts(&send);
    if (code == SOC_ARGS_GO)
        code = make_payload(&send);
    if (code == SOC_ARGS_GO)
        code = send_message(&send);
    soc_buf_fini(&send.payload);
    soc_buf_fini(&send.request);
    soc_text_list_fini(&send.args.words);
    return code;
}

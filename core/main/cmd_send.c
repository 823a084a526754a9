#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "bridge/control_client.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"
#include "main/stopped.h"

struct send {
    struct soc_args args;
    const char *state;
    const char *to;
    const char *type;
    bool is_json; /* the word is a JSON payload */
    bool waits;
    int64_t timeout_ms;
    struct soc_buf payload;
};

/* "society: agent_not_found: no agent has that id …" */
static int complain_of_refusal(struct soc_slice refusal)
{
    struct soc_buf name = {0};
    struct soc_buf text = {0};
    soc_json_string(soc_json_member(refusal, "error"), &name);
    soc_json_string(soc_json_member(refusal, "message"), &text);
    soc_complain(0, "%s: %s", soc_buf_text(&name), soc_buf_text(&text));
    soc_buf_fini(&name);
    soc_buf_fini(&text);
    return SOC_EXIT_FAILED;
}

static int print_value(struct soc_slice value)
{
    struct soc_buf text = {0};
    if (!soc_json_string(value, &text))
        soc_buf_put_slice(&text, value);
    fwrite(text.data, 1, text.length, stdout);
    putchar('\n');
    soc_buf_fini(&text);
    return fflush(stdout) == 0 ? SOC_EXIT_DONE : SOC_EXIT_FAILED;
}

/* Prints the id of what was sent, or what the reply says. */
static int print_answer(struct soc_slice list)
{
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

static int send_to_running(const struct send *send, struct soc_control_client *client)
{
    struct soc_detail detail = {0};
    struct soc_buf request = {0};
    struct soc_buf answer = {0};
    soc_buf_put_text(&request, "{\"id\":1");
    soc_json_put_text_member(&request, "op",
                             send->waits ? SOC_SLICE("request") : SOC_SLICE("send"));
    soc_json_put_text_member(&request, "to", soc_slice_text(send->to));
    soc_json_put_text_member(&request, "type", soc_slice_text(send->type));
    soc_json_put_name(&request, "payload");
    soc_buf_put_slice(&request, soc_buf_slice(&send->payload));
    if (send->waits) {
        soc_json_put_name(&request, "timeout_ms");
        soc_json_put_integer(&request, send->timeout_ms);
    }
    soc_buf_put_byte(&request, '}');
    int rc = soc_control_client_ask(client, soc_buf_slice(&request), &answer, &detail);
    struct soc_slice list = soc_json_member(soc_buf_slice(&answer), "ok");
    int code;
    if (rc < 0)
        code = soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    else if (list.data == NULL)
        code = complain_of_refusal(soc_buf_slice(&answer));
    else
        code = print_answer(list);
    soc_buf_fini(&request);
    soc_buf_fini(&answer);
    return code;
}

/* Another `send`, or a run that is just starting, holds the state for a moment. */
#define BUSY          -1
#define BUSY_TRIES    60
#define BUSY_PAUSE_MS 50

static int send_to_stopped(const struct send *send, bool is_last_try)
{
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    struct soc_send what = {
        .to = soc_slice_text(send->to),
        .type = soc_slice_text(send->type),
        .payload = soc_buf_slice(&send->payload),
    };
    if (send->waits)
        return soc_complain(SOC_EXIT_FAILED,
                            "no society is running in %s, so --wait would wait for ever",
                            send->state);
    int rc = soc_stopped_send(send->state, &what, &answer, &detail);
    int code;
    if (rc == SOC_OK)
        code = print_answer(soc_buf_slice(&answer));
    else if (rc == SOC_ELOCKED && !is_last_try)
        code = BUSY;
    else if (answer.length > 0)
        code = complain_of_refusal(soc_buf_slice(&answer));
    else if (rc == SOC_ENOFILE)
        code = soc_complain(SOC_EXIT_FAILED, "there is no society in %s; --state DIR names another",
                            send->state);
    else
        code = soc_complain(soc_exit_of(rc), "%s", detail.text);
    soc_buf_fini(&answer);
    return code;
}

static int try_to_send(const struct send *send, bool is_last_try)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, send->state, &detail);
    if (rc == SOC_ENOFILE)
        return send_to_stopped(send, is_last_try);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = send_to_running(send, client);
    soc_control_client_close(client);
    return code;
}

static int send_message(const struct send *send)
{
    int code = BUSY;
    for (int tries_left = BUSY_TRIES; code == BUSY; tries_left--) {
        if (tries_left < BUSY_TRIES)
            poll(NULL, 0, BUSY_PAUSE_MS);
        code = try_to_send(send, tries_left <= 1);
    }
    return code;
}

static int make_payload(struct send *send)
{
    struct soc_slice word = soc_slice_text(send->args.words.items[0]);
    struct soc_json_fault fault = {0};
    if (send->to == NULL)
        return soc_complain(SOC_EXIT_USAGE, "send: --to ID is missing");
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
    for (size_t i = 0; i < word.length; i++) /* one line for the socket */
        soc_buf_put_byte(&send->payload, word.data[i] == '\n' ? ' ' : word.data[i]);
    return SOC_ARGS_GO;
}

int soc_cmd_send(int argc, char **argv)
{
    struct send send = {
        .args = {.command = "send"}, .state = ".society", .timeout_ms = SOC_REQUEST_TIMEOUT_MS};
    const struct soc_option options[] = {
        {"to", SOC_OPTION_TEXT, &send.to},      {"state", SOC_OPTION_TEXT, &send.state},
        {"type", SOC_OPTION_TEXT, &send.type},  {"json-payload", SOC_OPTION_FLAG, &send.is_json},
        {"wait", SOC_OPTION_FLAG, &send.waits}, {"timeout", SOC_OPTION_NUMBER, &send.timeout_ms},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&send.args, argc, argv, options, 1, 1);
    if (code == SOC_ARGS_GO)
        code = make_payload(&send);
    if (code == SOC_ARGS_GO)
        code = send_message(&send);
    soc_buf_fini(&send.payload);
    soc_text_list_fini(&send.args.words);
    return code;
}

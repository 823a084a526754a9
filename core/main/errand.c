#include "main/errand.h"

#include <poll.h>

#include "base/json.h"
#include "bridge/control/client.h"
#include "main/command.h"
#include "store/directory.h"

/* Appends "  details: one; two" as one line if the refusal has such texts. */
static void put_texts(struct soc_buf *out, struct soc_slice refusal, const char *name)
{
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    soc_json_walk(&walk, soc_json_member(refusal, name));
    for (bool is_first = true; soc_json_next(&walk); is_first = false) {
        if (is_first)
            soc_buf_printf(out, "\n  %s: ", name);
        else
            soc_buf_put_text(out, "; ");
        text.length = 0;
        if (!soc_json_string(walk.value, &text))
            soc_buf_put_slice(&text, walk.value);
        for (size_t i = 0; i < text.length; i++) /* a policy's words may have line breaks */
            soc_buf_put_byte(out, (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i]);
    }
    soc_buf_fini(&text);
}

/* "society: agent_not_found: no agent has that id …", and what is to be mended below it. */
static int complain_of_refusal(struct soc_slice refusal)
{
    struct soc_buf name = {0};
    struct soc_buf text = {0};
    soc_json_string(soc_json_member(refusal, "error"), &name);
    soc_json_string(soc_json_member(refusal, "message"), &text);
    put_texts(&text, refusal, "missing_fields");
    put_texts(&text, refusal, "details");
    soc_complain(0, "%s: %s", soc_buf_text(&name), soc_buf_text(&text));
    soc_buf_fini(&name);
    soc_buf_fini(&text);
    return SOC_EXIT_FAILED;
}

static int ask_running(const struct soc_errand *errand, struct soc_control_client *client)
{
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    int rc = soc_control_client_ask(client, errand->request, &answer, &detail);
    struct soc_slice list = soc_json_member(soc_buf_slice(&answer), "ok");
    int code;
    if (rc < 0)
        code = soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    else if (list.data == NULL)
        code = complain_of_refusal(soc_buf_slice(&answer));
    else
        code = errand->print(errand->user, list);
    soc_buf_fini(&answer);
    return code;
}

/* Another command, or a run that is just starting, holds the state for a moment. */
#define BUSY          -1
#define BUSY_TRIES    60
#define BUSY_PAUSE_MS 50

static int do_stopped(const struct soc_errand *errand, bool is_last_try)
{
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    if (errand->stopped == NULL && soc_directory_is_held(errand->state))
        return is_last_try
                   ? soc_complain(SOC_EXIT_FAILED,
                                  "a process holds %s, but no society there can be spoken to yet",
                                  errand->state)
                   : BUSY;
    if (errand->stopped == NULL)
        return soc_complain(SOC_EXIT_FAILED,
                            "no society is running in %s, so --wait would wait for ever",
                            errand->state);
    int rc = soc_stopped_do(errand->state, errand->stopped, errand->user, &answer, &detail);
    int code;
    if (rc == SOC_OK)
        code = errand->print(errand->user, soc_buf_slice(&answer));
    else if (rc == SOC_ELOCKED && !is_last_try)
        code = BUSY;
    else if (answer.length > 0)
        code = complain_of_refusal(soc_buf_slice(&answer));
    else if (rc == SOC_ENOFILE)
        code = soc_complain(SOC_EXIT_FAILED, "there is no society in %s; --state DIR names another",
                            errand->state);
    else
        code = soc_complain(soc_exit_of(rc), "%s", detail.text);
    soc_buf_fini(&answer);
    return code;
}

static int try_once(const struct soc_errand *errand, bool is_last_try)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, errand->state, &detail);
    if (rc == SOC_ENOFILE)
        return do_stopped(errand, is_last_try);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = ask_running(errand, client);
    soc_control_client_close(client);
    return code;
}

int soc_errand_run(const struct soc_errand *errand)
{
    int64_t tries_left = errand->patience_ms / BUSY_PAUSE_MS;
    if (errand->patience_ms == 0)
        tries_left = BUSY_TRIES;
    int code = try_once(errand, tries_left <= 1);
    while (code == BUSY) {
        poll(NULL, 0, BUSY_PAUSE_MS);
        tries_left--;
        code = try_once(errand, tries_left <= 1);
    }
    return code;
}

/* Export: a society, running or stopped, written in a format of others. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bridge/control/client.h"
#include "main/args.h"
#include "main/command.h"
#include "main/mermaid.h"
#include "main/stopped.h"

/* The messages of a stopped society, as a list. */
static int read_messages(const char *directory, struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_query query = {.what = "messages"};
    return soc_stopped_query(directory, &query, out, detail);
}

/* What can be written: how a running society is asked for it, and a stopped one. */
static const struct format {
    const char *name;
    const char *op;
    bool is_text; /* the socket answers with a JSON string that holds it */
    int (*read_stopped)(const char *directory, struct soc_buf *out, struct soc_detail *detail);
    /* Makes the format of a list of rows, as both answer then; NULL: they answer with it. */
    void (*convert)(struct soc_slice rows, struct soc_buf *out);
} formats[] = {
    {"org-json", "registries", false, soc_stopped_registries, NULL},
    {"dot", "dot", true, soc_stopped_dot, NULL},
    {"mermaid", "messages", false, read_messages, soc_mermaid_put},
};

static int print_text(struct soc_slice text)
{
    fwrite(text.data, 1, text.length, stdout);
    if (text.length == 0 || text.data[text.length - 1] != '\n')
        putchar('\n');
    return SOC_EXIT_DONE;
}

/* The answer is a list with one value. */
static int export_running(const struct format *format, struct soc_control_client *client)
{
    struct soc_detail detail = {0};
    struct soc_buf request = {0};
    struct soc_buf answer = {0};
    struct soc_buf text = {0};
    struct soc_json_walk walk;
    soc_buf_printf(&request, "{\"id\":1,\"op\":\"%s\"}", format->op);
    int rc = soc_control_client_ask(client, soc_buf_slice(&request), &answer, &detail);
    struct soc_slice list = soc_json_member(soc_buf_slice(&answer), "ok");
    int code;
    soc_json_walk(&walk, list);
    if (rc < 0) {
        code = soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    } else if (list.data != NULL && format->convert != NULL) {
        format->convert(list, &text);
        code = print_text(soc_buf_slice(&text));
    } else if (list.data == NULL || !soc_json_next(&walk)) {
        soc_json_string(soc_json_member(soc_buf_slice(&answer), "message"), &text);
        code = soc_complain(SOC_EXIT_FAILED, "%s", soc_buf_text(&text));
    } else {
        if (format->is_text)
            soc_json_string(walk.value, &text);
        code = print_text(format->is_text ? soc_buf_slice(&text) : walk.value);
    }
    soc_buf_fini(&request);
    soc_buf_fini(&answer);
    soc_buf_fini(&text);
    return code;
}

static int export_stopped(const struct format *format, const char *state)
{
    struct soc_detail detail = {0};
    struct soc_buf text = {0};
    int code;
    int rc = format->read_stopped(state, &text, &detail);
    if (rc == SOC_ENOFILE)
        code = soc_complain(SOC_EXIT_FAILED, "there is no society in %s; --state DIR names another",
                            state);
    else if (rc < 0)
        code = soc_complain(soc_exit_of(rc), "%s", detail.text);
    else if (format->convert != NULL) {
        struct soc_buf made = {0};
        format->convert(soc_buf_slice(&text), &made);
        code = print_text(soc_buf_slice(&made));
        soc_buf_fini(&made);
    } else {
        code = print_text(soc_buf_slice(&text));
    }
    soc_buf_fini(&text);
    return code;
}

static int export_state(const struct format *format, const char *state)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, state, &detail);
    if (rc == SOC_ENOFILE)
        return export_stopped(format, state);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = export_running(format, client);
    soc_control_client_close(client);
    return code;
}

static int complain_of_format(const char *name)
{
    struct soc_buf known = {0};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        soc_buf_printf(&known, "%s%s", i == 0 ? "" : ", ", formats[i].name);
    soc_complain(0, "export: there is no format '%s'; there is: %s", name, soc_buf_text(&known));
    soc_buf_fini(&known);
    return SOC_EXIT_USAGE;
}

int soc_cmd_export(int argc, char **argv)
{
    struct soc_args args = {.command = "export"};
    const char *state = ".society";
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &state},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&args, argc, argv, options, 1, 1);
    if (code == SOC_ARGS_GO) {
        const struct format *format = formats;
        const struct format *end = formats + sizeof(formats) / sizeof(formats[0]);
        while (format < end && strcmp(format->name, args.words.items[0]) != 0)
            format++;
        code = format < end ? export_state(format, state) : complain_of_format(args.words.items[0]);
    }
    soc_text_list_fini(&args.words);
    return code;
}

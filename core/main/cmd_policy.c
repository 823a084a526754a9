#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/control/client.h"
#include "main/args.h"
#include "main/command.h"
#include "main/output.h"

struct policy {
    struct soc_args args;
    const char *state;
    bool is_json;
};

static int check_pairs(const struct policy *policy)
{
    for (int i = 0; i < policy->args.words.count; i++) {
        const char *word = policy->args.words.items[i];
        const char *equals = strchr(word, '=');
        if (equals == NULL || equals == word || equals[1] == '\0')
            return soc_complain(SOC_EXIT_USAGE, "policy: KIND=NAME is expected, not '%s'", word);
    }
    return SOC_ARGS_GO;
}

/* Appends the policy's name as the society understands it: a path is meant from
 * where the command is given. False if there is no such file. */
static bool put_name(struct soc_buf *out, const char *name)
{
    if (strchr(name, '/') == NULL && strstr(name, ".lua") == NULL) {
        soc_buf_put_text(out, name);
        return true;
    }
    char *path = realpath(name, NULL);
    if (path == NULL)
        return false;
    soc_buf_put_text(out, path);
    free(path);
    return true;
}

/* "contacts: open 9a8b7c6d5e4f3a2b" */
static void print_swap(struct soc_slice list)
{
    static const char *const members[] = {"kind", "name", "hash"};
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_buf line = {0};
        for (int i = 0; i < 3; i++) {
            soc_json_string(soc_json_member(walk.value, members[i]), &line);
            soc_buf_put_text(&line, i == 0 ? ": " : i == 1 ? " " : "");
        }
        puts(soc_buf_text(&line));
        soc_buf_fini(&line);
    }
}

static int ask(const struct policy *policy, struct soc_control_client *client,
               struct soc_slice request)
{
    struct soc_detail detail = {0};
    struct soc_buf answer = {0};
    int code = SOC_EXIT_DONE;
    int rc = soc_control_client_ask(client, request, &answer, &detail);
    struct soc_slice list = soc_json_member(soc_buf_slice(&answer), "ok");
    if (rc < 0) {
        code = soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    } else if (list.data == NULL) {
        struct soc_buf text = {0};
        soc_json_string(soc_json_member(soc_buf_slice(&answer), "message"), &text);
        code = soc_complain(SOC_EXIT_FAILED, "%s", soc_buf_text(&text));
        soc_buf_fini(&text);
    } else if (policy->is_json) {
        soc_output_lines(list);
    } else {
        print_swap(list);
    }
    soc_buf_fini(&answer);
    return code;
}

static int swap(const struct policy *policy, struct soc_control_client *client, const char *word)
{
    const char *equals = strchr(word, '=');
    struct soc_buf name = {0};
    struct soc_buf request = {0};
    int code;
    if (!put_name(&name, equals + 1)) {
        code = soc_complain(SOC_EXIT_FAILED, "there is no file %s", equals + 1);
    } else {
        soc_buf_put_text(&request, "{\"id\":1");
        soc_json_put_text_member(&request, "op", SOC_SLICE("policy"));
        soc_json_put_text_member(&request, "kind", soc_slice(word, (size_t)(equals - word)));
        soc_json_put_text_member(&request, "name", soc_buf_slice(&name));
        soc_buf_put_byte(&request, '}');
        code = ask(policy, client, soc_buf_slice(&request));
    }
    soc_buf_fini(&name);
    soc_buf_fini(&request);
    return code;
}

/* The same rows as inspect gives. */
static int list(const struct policy *policy)
{
    char subject[] = "policies";
    char state[] = "--state";
    char json[] = "--json";
    char *directory = soc_copy_text(policy->state, strlen(policy->state));
    char *argv[] = {subject, state, directory, json};
    int code = soc_cmd_inspect(policy->is_json ? 4 : 3, argv);
    free(directory);
    return code;
}

static int run(const struct policy *policy)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client;
    int rc = soc_control_client_open(&client, policy->state, &detail);
    if (rc == SOC_ENOFILE)
        return soc_complain(SOC_EXIT_FAILED,
                            "no society is running in %s; begin it with: society run APP.lua "
                            "--policy KIND=NAME (society inspect policies shows the last ones)",
                            policy->state);
    if (rc < 0)
        return soc_complain(SOC_EXIT_FAILED, "%s", detail.text);
    int code = SOC_EXIT_DONE;
    for (int i = 0; i < policy->args.words.count; i++)
        if (swap(policy, client, policy->args.words.items[i]) != SOC_EXIT_DONE)
            code = SOC_EXIT_FAILED;
    soc_control_client_close(client);
    return policy->args.words.count == 0 ? list(policy) : code;
}

int soc_cmd_policy(int argc, char **argv)
{
    struct policy policy = {.args = {.command = "policy"}, .state = ".society"};
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &policy.state},
        {"json", SOC_OPTION_FLAG, &policy.is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&policy.args, argc, argv, options, 0, 64);
    if (code == SOC_ARGS_GO)
        code = check_pairs(&policy);
    if (code == SOC_ARGS_GO)
        code = run(&policy);
    soc_text_list_fini(&policy.args.words);
    return code;
}

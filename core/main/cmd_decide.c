#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "main/args.h"
#include "main/command.h"
#include "main/errand.h"
#include "main/output.h"
#include "parts/human/human.h"

struct decide {
    struct soc_args args;
    const char *state;
    const char *comment;
    const char *changes;
    bool is_json;
    struct soc_buf line; /* the changes on one line */
};

static struct soc_verdict verdict_of(const struct decide *decide)
{
    return (struct soc_verdict){
        .item_id = soc_slice_text(decide->args.words.items[0]),
        .decision = soc_slice_text(decide->args.words.items[1]),
        .changes = decide->changes == NULL ? (struct soc_slice){0} : soc_buf_slice(&decide->line),
        .comment = soc_slice_text(decide->comment),
    };
}

static int decide_stopped(struct soc_host *host, void *user, struct soc_buf *answer)
{
    struct soc_verdict verdict = verdict_of(user);
    return soc_human_decide_now(host, &verdict, answer);
}

/* "approve: pm has its answer", or how else it reached the agent. */
static int print_result(void *user, struct soc_slice list)
{
    const struct decide *decide = user;
    struct soc_json_walk walk;
    soc_json_walk(&walk, list);
    soc_json_next(&walk);
    struct soc_slice decision = soc_json_plain_string(soc_json_member(walk.value, "decision"));
    struct soc_slice agent = soc_json_plain_string(soc_json_member(walk.value, "agent"));
    struct soc_slice id = soc_json_plain_string(soc_json_member(walk.value, "messageId"));
    bool is_delivered =
        soc_slice_equal(soc_json_member(walk.value, "delivered"), SOC_SLICE("true"));
    if (decide->is_json)
        soc_output_lines(list);
    else if (!is_delivered)
        printf("%.*s: on record; %.*s, who asked, has ended\n", (int)decision.length, decision.data,
               (int)agent.length, agent.data);
    else if (id.data != NULL)
        printf("%.*s: sent to %.*s as %.*s\n", (int)decision.length, decision.data,
               (int)agent.length, agent.data, (int)id.length, id.data);
    else
        printf("%.*s: %.*s has its answer\n", (int)decision.length, decision.data,
               (int)agent.length, agent.data);
    return SOC_EXIT_DONE;
}

static void put_request(const struct decide *decide, struct soc_buf *request)
{
    struct soc_verdict verdict = verdict_of(decide);
    soc_buf_put_text(request, "{\"id\":1");
    soc_json_put_text_member(request, "op", SOC_SLICE("decide"));
    soc_json_put_text_member(request, "item_id", verdict.item_id);
    soc_json_put_text_member(request, "decision", verdict.decision);
    soc_json_put_text_member(request, "comment", verdict.comment);
    if (verdict.changes.data != NULL) {
        soc_json_put_name(request, "changes");
        soc_buf_put_slice(request, verdict.changes);
    }
    soc_buf_put_byte(request, '}');
}

/* Checks what the socket and the store would stumble over. */
static int check_words(struct decide *decide)
{
    struct soc_json_fault fault = {0};
    const char *decision = decide->args.words.items[1];
    if (soc_decision_parse(soc_slice_text(decision)) == SOC_DECISION_NONE)
        return soc_complain(SOC_EXIT_USAGE, "decide: approve, modify or reject, not '%s'",
                            decision);
    if (decide->comment != NULL && soc_utf8_fault(soc_slice_text(decide->comment)) >= 0)
        return soc_complain(SOC_EXIT_USAGE, "decide: the comment is not UTF-8");
    if (decide->changes == NULL)
        return SOC_ARGS_GO;
    struct soc_slice changes = soc_slice_text(decide->changes);
    if (soc_json_check(changes, &fault) < 0)
        return soc_complain(SOC_EXIT_USAGE, "decide: --changes is not JSON: %s at byte %zu",
                            fault.reason == NULL ? "too large" : fault.reason, fault.position + 1);
    for (size_t i = 0; i < changes.length; i++) /* one line for the socket */
        soc_buf_put_byte(&decide->line, changes.data[i] == '\n' ? ' ' : changes.data[i]);
    return SOC_ARGS_GO;
}

static int run_decide(struct decide *decide)
{
    struct soc_buf request = {0};
    put_request(decide, &request);
    struct soc_errand errand = {
        .state = decide->state,
        .request = soc_buf_slice(&request),
        .stopped = decide_stopped,
        .user = decide,
        .print = print_result,
    };
    int code = soc_errand_run(&errand);
    soc_buf_fini(&request);
    return code;
}

int soc_cmd_decide(int argc, char **argv)
{
    struct decide decide = {.args = {.command = "decide"}, .state = ".society"};
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &decide.state},
        {"comment", SOC_OPTION_TEXT, &decide.comment},
        {"changes", SOC_OPTION_TEXT, &decide.changes},
        {"json", SOC_OPTION_FLAG, &decide.is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&decide.args, argc, argv, options, 2, 2);
    if (code == SOC_ARGS_GO)
        code = check_words(&decide);
    if (code == SOC_ARGS_GO)
        code = run_decide(&decide);
    soc_buf_fini(&decide.line);
    soc_text_list_fini(&decide.args.words);
    return code;
}

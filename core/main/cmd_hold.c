/* society pause, society resume */
#include <stdio.h>

#include "base/json.h"
#include "main/args.h"
#include "main/command.h"
#include "main/errand.h"
#include "main/output.h"
#include "parts/supervision/hold.h"

struct hold {
    struct soc_args args;
    const char *state;
    const char *reason;
    bool is_all;
    bool has_subtree;
    bool is_json;
    bool is_resume;
};

static struct soc_hold_order order_of(const struct hold *hold)
{
    return (struct soc_hold_order){
        .id = soc_slice_text(hold->is_all ? "All" : hold->args.words.items[0]),
        .reason = soc_slice_text(hold->reason),
        .is_resume = hold->is_resume,
        .has_subtree = hold->has_subtree,
    };
}

static int hold_stopped(struct soc_host *host, void *user, struct soc_buf *answer)
{
    struct soc_hold_order order = order_of(user);
    return soc_hold_order_now(host, &order, answer);
}

/* "worker_3 is paused", or how many are. */
static int print_result(void *user, struct soc_slice list)
{
    const struct hold *hold = user;
    const char *what = hold->is_resume ? "resumed" : "paused";
    struct soc_json_walk walk;
    int64_t count = 0;
    soc_json_walk(&walk, list);
    soc_json_next(&walk);
    soc_json_integer(soc_json_member(walk.value, "count"), &count);
    if (hold->is_json)
        soc_output_lines(list);
    else if (hold->is_all || hold->has_subtree)
        printf("%lld %s %s\n", (long long)count, count == 1 ? "agent" : "agents", what);
    else if (count == 0)
        printf("%s was %s\n", hold->args.words.items[0],
               hold->is_resume ? "neither paused nor failed" : "paused already");
    else
        printf("%s is %s\n", hold->args.words.items[0], what);
    return SOC_EXIT_DONE;
}

static void put_request(const struct hold *hold, struct soc_buf *request)
{
    struct soc_hold_order order = order_of(hold);
    soc_buf_put_text(request, "{\"id\":1");
    soc_json_put_text_member(request, "op",
                             order.is_resume ? SOC_SLICE("resume") : SOC_SLICE("pause"));
    soc_json_put_text_member(request, "agent", order.id);
    soc_json_put_text_member(request, "reason", order.reason);
    soc_json_put_name(request, "subtree");
    soc_buf_put_text(request, order.has_subtree ? "true" : "false");
    soc_buf_put_byte(request, '}');
}

static int check_words(const struct hold *hold)
{
    int count = (int)hold->args.words.count;
    if (hold->is_all ? count > 0 : count != 1)
        return soc_complain(SOC_EXIT_USAGE, "%s: an agent's ID or --all", hold->args.command);
    if (hold->reason != NULL && soc_utf8_fault(soc_slice_text(hold->reason)) >= 0)
        return soc_complain(SOC_EXIT_USAGE, "%s: the reason is not UTF-8", hold->args.command);
    return SOC_ARGS_GO;
}

static int run_hold(struct hold *hold)
{
    struct soc_buf request = {0};
    put_request(hold, &request);
    struct soc_errand errand = {
        .state = hold->state,
        .request = soc_buf_slice(&request),
        .stopped = hold_stopped,
        .user = hold,
        .print = print_result,
    };
    int code = soc_errand_run(&errand);
    soc_buf_fini(&request);
    return code;
}

static int parse_and_run(struct hold *hold, int argc, char **argv)
{
    const struct soc_option options[] = {
        {"all", SOC_OPTION_FLAG, &hold->is_all},
        {"subtree", SOC_OPTION_FLAG, &hold->has_subtree},
        {"reason", SOC_OPTION_TEXT, &hold->reason},
        {"state", SOC_OPTION_TEXT, &hold->state},
        {"json", SOC_OPTION_FLAG, &hold->is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&hold->args, argc, argv, options, 0, 1);
    if (code == SOC_ARGS_GO)
        code = check_words(hold);
    if (code == SOC_ARGS_GO)
        code = run_hold(hold);
    soc_text_list_fini(&hold->args.words);
    return code;
}

int soc_cmd_pause(int argc, char **argv)
{
    struct hold hold = {.args = {.command = "pause"}, .state = ".society"};
    return parse_and_run(&hold, argc, argv);
}

int soc_cmd_resume(int argc, char **argv)
{
    struct hold hold = {.args = {.command = "resume"}, .state = ".society", .is_resume = true};
    return parse_and_run(&hold, argc, argv);
}

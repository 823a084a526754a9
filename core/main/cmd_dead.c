/* Dead letters: society redeliver ID … and society drop ID …. */
#include <stdio.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/router.h"
#include "main/args.h"
#include "main/command.h"
#include "main/errand.h"
#include "main/output.h"

struct dead {
    struct soc_args args;
    const char *state;
    bool is_json;
    bool is_drop;
    const char *id; /* the one at hand */
};

static int change_stopped(struct soc_host *host, void *user, struct soc_buf *answer)
{
    const struct dead *dead = user;
    struct soc_slice id = soc_slice_text(dead->id);
    int rc =
        dead->is_drop ? soc_router_drop(host, id, answer) : soc_router_redeliver(host, id, answer);
    if (rc < 0)
        return rc;
    answer->length = 0;
    soc_buf_put_text(answer, "[{");
    soc_json_put_text_member(answer, "messageId", id);
    soc_buf_put_text(answer, "}]");
    return SOC_OK;
}

static int print_result(void *user, struct soc_slice list)
{
    const struct dead *dead = user;
    if (dead->is_json)
        soc_output_lines(list);
    else
        printf("%s: %s\n", dead->id, dead->is_drop ? "dropped" : "sent again");
    return SOC_EXIT_DONE;
}

static int change(struct dead *dead)
{
    struct soc_buf request = {0};
    soc_buf_put_text(&request, "{\"id\":1");
    soc_json_put_text_member(&request, "op",
                             dead->is_drop ? SOC_SLICE("drop") : SOC_SLICE("redeliver"));
    soc_json_put_text_member(&request, "message_id", soc_slice_text(dead->id));
    soc_buf_put_byte(&request, '}');
    struct soc_errand errand = {
        .state = dead->state,
        .request = soc_buf_slice(&request),
        .stopped = change_stopped,
        .user = dead,
        .print = print_result,
    };
    int code = soc_errand_run(&errand);
    soc_buf_fini(&request);
    return code;
}

/* All ids are looked at before anything is done; then the first failure ends it. */
static int change_all(struct dead *dead)
{
    uint64_t key;
    int code = SOC_EXIT_DONE;
    for (int i = 0; i < dead->args.words.count; i++)
        if (!soc_message_id_parse(soc_slice_text(dead->args.words.items[i]), &key))
            return soc_complain(SOC_EXIT_USAGE, "%s: '%s' is no message's id", dead->args.command,
                                dead->args.words.items[i]);
    for (int i = 0; code == SOC_EXIT_DONE && i < dead->args.words.count; i++) {
        dead->id = dead->args.words.items[i];
        code = change(dead);
    }
    return code;
}

static int run(struct dead *dead, int argc, char **argv)
{
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &dead->state},
        {"json", SOC_OPTION_FLAG, &dead->is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&dead->args, argc, argv, options, 1, 1000);
    if (code == SOC_ARGS_GO)
        code = change_all(dead);
    soc_text_list_fini(&dead->args.words);
    return code;
}

int soc_cmd_redeliver(int argc, char **argv)
{
    struct dead dead = {.args = {.command = "redeliver"}, .state = ".society"};
    return run(&dead, argc, argv);
}

int soc_cmd_drop(int argc, char **argv)
{
    struct dead dead = {.args = {.command = "drop"}, .state = ".society", .is_drop = true};
    return run(&dead, argc, argv);
}

#include <stddef.h>

#include "main/args.h"
#include "main/command.h"

/* `society inbox` is `society inspect inbox` with fewer words. */
int soc_cmd_inbox(int argc, char **argv)
{
    struct soc_args args = {.command = "inbox"};
    const char *state = ".society";
    const char *agent = NULL;
    bool is_json = false;
    const struct soc_option options[] = {
        {"state", SOC_OPTION_TEXT, &state},
        {"agent", SOC_OPTION_TEXT, &agent},
        {"json", SOC_OPTION_FLAG, &is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&args, argc, argv, options, 0, 0);
    if (code == SOC_ARGS_GO) {
        struct soc_text_list words = {0};
        soc_text_list_add(&words, "inbox");
        soc_text_list_add(&words, "--state");
        soc_text_list_add(&words, state);
        if (agent != NULL) {
            soc_text_list_add(&words, "--agent");
            soc_text_list_add(&words, agent);
        }
        if (is_json)
            soc_text_list_add(&words, "--json");
        code = soc_cmd_inspect(words.count, (char **)words.items);
        soc_text_list_fini(&words);
    }
    soc_text_list_fini(&args.words);
    return code;
}

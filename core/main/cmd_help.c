/* The table of commands, and the commands that explain it. */
#include <stdio.h>
#include <string.h>

#include "main/args.h"
#include "main/command.h"
#include "society.h"

#define STATE_OPTION "  --state DIR          the state directory (.society)\n"
#define JSON_OPTION  "  --json               one JSON object per line\n"
#define APP_OPTIONS                                                                                \
    "  --policy KIND=NAME   put a policy in force; may be repeated\n"                              \
    "  --set KEY=VALUE      set what society.config sets; may be repeated\n"

static const struct soc_command commands[] = {
    {"run", soc_cmd_run, "run an app for real",
     "APP.lua [--state DIR] [--fresh] [--policy KIND=NAME]… [--set KEY=VALUE]… [--json] [--quiet] "
     "[--log LEVEL] [-- ARGS]",
     STATE_OPTION
     "  --fresh              put the older state aside (DIR/previous), begin anew\n" APP_OPTIONS
         JSON_OPTION "  --quiet              warnings and errors only on stderr\n"
     "  --log LEVEL          debug, info, warn, error or none\n"
     "  -- ARGS              reach the app as arg and ...\n",
     "  society run hello.lua --state /var/lib/hello --policy contacts=open\n"},
    {"sim", soc_cmd_sim, "run it in virtual time, from a seed",
     "APP.lua [--seed N | --seeds A..B] [--faults LIST] [--limit-ms N] [--limit-steps N] "
     "[--dump FILE] [--policy KIND=NAME]… [--set KEY=VALUE]… [--json] [-- ARGS]",
     "  --seed N             the seed (1); the same one gives the same transcript\n"
     "  --seeds A..B         each in turn, without transcripts, up to the first that fails\n"
     "  --faults LIST        none (with --seed), default (with --seeds: all), or names with\n"
     "                       commas between them: evict, crash, lag, raise, slow, jump, fold,\n"
     "                       power, full, io, drop, double, delay, model, dead\n"
     "  --limit-ms N         a seed that goes beyond so much of its time fails (a year)\n"
     "  --limit-steps N      and one that takes more steps (5000000); 0: no bound\n"
     "  --dump FILE          every row of the store at the end, sorted\n" APP_OPTIONS JSON_OPTION
     "  -- ARGS              reach the app as arg and ...\n",
     "  society sim hello.lua --seeds 1..1000\n"
     "  society sim hello.lua --seed 7 --faults crash,lag\n"},
    {"test", soc_cmd_test, "run busted specs inside the host", "[BUSTED ARGUMENTS]",
     "  what busted takes; without a path tests/spec, else spec\n",
     "  society test --filter greets spec/app_spec.lua\n"},
    {"check", soc_cmd_check, "load an app or a policy, report, run nothing", "APP.lua | POLICY.lua",
     NULL, "  society check policies/contacts/mine.lua\n"},
    {"inspect", soc_cmd_inspect, "look at a society, running or stopped",
     "agents|contacts|messages|tasks|inbox|dead-letters|activity|waits|usage|policies|stats "
     "[--state DIR] [FILTERS] [--json]",
     STATE_OPTION "  --agent ID           what concerns one agent\n"
                  "  --task ID            what belongs to one task\n"
                  "  --type TYPE          messages of one type, tasks of one state\n"
                  "  --correlation ID     what belongs to one request\n"
                  "  --since TIME, --until TIME   like 2026-01-05T12:00:00Z\n"
                  "  --limit N            the latest N rows\n"
                  "  A filter that does not apply to what is shown is refused.\n" JSON_OPTION,
     "  society inspect messages --agent root --limit 20\n"},
    {"policy", soc_cmd_policy, "swap policies of a running society, or list them",
     "[--state DIR] [--json] [KIND=NAME]…",
     STATE_OPTION JSON_OPTION
     "  KIND=NAME            put this policy in force; a NAME with / or .lua in it is a path\n",
     "  society policy contacts=open supervision=./patient.lua\n"},
    {"send", soc_cmd_send, "send a message from the user",
     "[--to ID] TEXT [--state DIR] [--type T] [--json-payload] [--wait] [--timeout MS]",
     "  --to ID              the agent; without it the gatekeeper says who\n" STATE_OPTION
     "  --type T             the message's type (general)\n"
     "  --json-payload       TEXT is the payload as JSON\n"
     "  --wait               wait for the reply and print it\n"
     "  --timeout MS         how long (30000)\n",
     "  society send --to root --wait \"how far are you?\"\n"},
    {"inbox", soc_cmd_inbox, "list what waits for the user's decision",
     "[--state DIR] [--agent ID] [--json]",
     STATE_OPTION "  --agent ID           what one agent asks\n" JSON_OPTION, "  society inbox\n"},
    {"decide", soc_cmd_decide, "decide about an item of the inbox",
     "ITEM approve|modify|reject [--comment TEXT] [--changes JSON] [--state DIR] [--json]",
     "  --comment TEXT       why; the agent that asked gets it\n"
     "  --changes JSON       an object or a list; modify needs it\n" STATE_OPTION JSON_OPTION,
     "  society decide item_20260105_120000_0000000000000a modify --changes '{\"limit\":10}'\n"},
    {"pause", soc_cmd_pause, "let agents start no new turn until they are resumed",
     "ID [--subtree] | --all [--reason TEXT] [--state DIR] [--json]",
     "  ID                   the agent\n"
     "  --all                every agent; the person's end goes on\n"
     "  --subtree            the agent and everybody below it\n"
     "  --reason TEXT        why, for the activity\n" STATE_OPTION JSON_OPTION,
     "  society pause planner --subtree --reason 'the budget is checked'\n"},
    {"resume", soc_cmd_resume, "let paused or failed agents go on",
     "ID [--subtree] | --all [--reason TEXT] [--state DIR] [--json]",
     "  ID                   the agent\n"
     "  --all                every agent; the person's end goes on\n"
     "  --subtree            the agent and everybody below it\n"
     "  --reason TEXT        why, for the activity\n" STATE_OPTION JSON_OPTION,
     "  society resume --all\n"},
    {"redeliver", soc_cmd_redeliver, "send dead letters again", "ID… [--state DIR] [--json]",
     STATE_OPTION JSON_OPTION "  ID                   as `society inspect dead-letters` shows it\n",
     "  society redeliver msg_20260105_120000_00000000000000a\n"},
    {"drop", soc_cmd_drop, "drop dead letters for good", "ID… [--state DIR] [--json]",
     STATE_OPTION JSON_OPTION "  ID                   as `society inspect dead-letters` shows it\n",
     "  society drop msg_20260105_120000_00000000000000a\n"},
    {"attach", soc_cmd_attach, "play an agent that lives outside, through its files",
     "DIR ID [--json]",
     JSON_OPTION "  TEXT                 typed: answers the last message shown, or tells the "
                 "orchestrator\n"
                 "  @ID TEXT             writes to ID\n"
                 "  /reply N TEXT        answers message N\n"
                 "  /done [N] [TEXT]     completes its task, or says that message N is done with\n"
                 "  /fail [N] [TEXT]     says that its task has failed\n"
                 "  /quit                leaves, as the end of the input does\n",
     "  society attach .workflow agent_architecture\n"},
    {"export", soc_cmd_export, "write a society, running or stopped, in another format",
     "org-json|dot|mermaid [--state DIR]",
     STATE_OPTION "  org-json             who knows whom, as JSON: the contact registries\n"
                  "  dot                  who there is and who waits for whom, for Graphviz\n"
                  "  mermaid              who said what to whom, a sequence diagram for Mermaid\n",
     "  society export dot | dot -Tsvg > society.svg\n"},
    {"replay", soc_cmd_replay, "run kept history again and show what differs",
     "[--state DIR] [--policy KIND=NAME]… [--app FILE] [--json]",
     STATE_OPTION
     "  --policy KIND=NAME   ask this policy instead of the one of then; may be repeated\n"
     "  --app FILE           run this script instead of the one of then\n" JSON_OPTION
     "  It needs society.config{ history = \"full\" }. Exit codes: 0 nothing differs, 1 something\n"
     "  does, 2 it cannot be replayed.\n",
     "  society replay --state /var/lib/hello --policy contacts=open\n"},
    {"init", soc_cmd_init, "make a folder with a first app and its spec", "NAME", NULL,
     "  society init greetings\n"},
    {"version", soc_cmd_version, "print the version", "", NULL, "  society version\n"},
    {"help", soc_cmd_help, "explain the commands, or one of them", "[COMMAND]", NULL,
     "  society help run\n"},
};

#define COMMAND_COUNT ((int)(sizeof(commands) / sizeof(commands[0])))

const struct soc_command *soc_command_at(int index)
{
    return index < COMMAND_COUNT ? &commands[index] : NULL;
}

const struct soc_command *soc_command_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void print_all(void)
{
    puts("usage: society COMMAND [OPTIONS]\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].summary);
    puts("\n`society help COMMAND` explains one. Exit codes: 0 done, 1 failed, 2 usage, 74 the "
         "disk\nfailed, 130 interrupted.");
}

void soc_help_print(const char *name)
{
    const struct soc_command *command = name == NULL ? NULL : soc_command_find(name);
    if (command == NULL) {
        print_all();
        return;
    }
    printf("society %s: %s\n\nusage: society %s %s\n", command->name, command->summary,
           command->name, command->usage);
    if (command->options != NULL)
        printf("\n%s", command->options);
    printf("\nexample:\n%s", command->example);
}

int soc_cmd_help(int argc, char **argv)
{
    struct soc_args args = {.command = "help"};
    const struct soc_option none[] = {{NULL, SOC_OPTION_FLAG, NULL}};
    int code = soc_args_parse(&args, argc, argv, none, 0, 1);
    if (code == SOC_ARGS_GO) {
        const char *name = args.words.count == 0 ? NULL : args.words.items[0];
        code = SOC_EXIT_DONE;
        if (name != NULL && soc_command_find(name) == NULL)
            code =
                soc_complain(SOC_EXIT_USAGE, "there is no command '%s'; see: society help", name);
        else
            soc_help_print(name);
    }
    soc_text_list_fini(&args.words);
    return code;
}

int soc_cmd_version(int argc, char **argv)
{
    struct soc_args args = {.command = "version"};
    const struct soc_option none[] = {{NULL, SOC_OPTION_FLAG, NULL}};
    int code = soc_args_parse(&args, argc, argv, none, 0, 0);
    if (code == SOC_ARGS_GO) {
        printf("society %s\n", soc_society_version());
        code = SOC_EXIT_DONE;
    }
    soc_text_list_fini(&args.words);
    return code;
}

/* Command: what the commands of the program have in common.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_COMMAND_H
#define SOC_MAIN_COMMAND_H

/* Exit codes, a contract with scripts that call the program. */
enum soc_exit {
    SOC_EXIT_DONE = 0,
    SOC_EXIT_FAILED = 1,
    SOC_EXIT_USAGE = 2,
    SOC_EXIT_DISK = 74,
    SOC_EXIT_INTERRUPTED = 130,
};

/* One command: `run` gets what follows its name and returns the exit code. Before that, at
 * argv[-2], stands the program as it was called. */
struct soc_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* a few words */
    const char *usage;   /* what follows `society NAME` */
    const char *options; /* lines, NULL: none */
    const char *example; /* lines */
};

/* Returns the command of that name, NULL if there is none. */
const struct soc_command *soc_command_find(const char *name);

/* Returns command number `index`, NULL behind the last. */
const struct soc_command *soc_command_at(int index);

/* The commands, each in its file cmd_NAME.c. */
int soc_cmd_run(int argc, char **argv);
int soc_cmd_sim(int argc, char **argv);
int soc_cmd_test(int argc, char **argv);
int soc_cmd_check(int argc, char **argv);
int soc_cmd_inspect(int argc, char **argv);
int soc_cmd_policy(int argc, char **argv);
int soc_cmd_send(int argc, char **argv);
int soc_cmd_inbox(int argc, char **argv);
int soc_cmd_decide(int argc, char **argv);
int soc_cmd_pause(int argc, char **argv);
int soc_cmd_resume(int argc, char **argv);
int soc_cmd_redeliver(int argc, char **argv);
int soc_cmd_drop(int argc, char **argv);
int soc_cmd_attach(int argc, char **argv);
int soc_cmd_export(int argc, char **argv);
int soc_cmd_replay(int argc, char **argv);
int soc_cmd_init(int argc, char **argv);
int soc_cmd_version(int argc, char **argv);
int soc_cmd_help(int argc, char **argv);

/* cmd_help.c: prints how a command is used. */
void soc_help_print(const char *name);

/* Prints "society: " and a sentence to stderr and returns `code`. */
int soc_complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit code for an error of the store or a script. */
int soc_exit_of(int error);

#endif

/* Args: a command's options and words, as its table says.
 *
 * --name VALUE and --name=VALUE are the same; `--` ends the options, and what
 * follows it is for the app.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_ARGS_H
#define SOC_MAIN_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* What an option is read into. */
enum soc_option_kind {
    SOC_OPTION_FLAG,   /* bool */
    SOC_OPTION_TEXT,   /* const char * */
    SOC_OPTION_NUMBER, /* int64_t >= 0 */
    SOC_OPTION_LIST,   /* struct soc_text_list */
};

/* Texts, then NULL; `items` is NULL while there are none. */
struct soc_text_list {
    const char **items;
    int count;
};

/* One option: its name without the dashes and where its value goes. A table of
 * them ends with a name that is NULL. */
struct soc_option {
    const char *name;
    enum soc_option_kind kind;
    void *value;
};

/* A command line as it was read. */
struct soc_args {
    const char *command;
    struct soc_text_list words; /* neither options nor their values */
    char **rest;                /* behind `--` */
    int rest_count;
    bool is_rest_words; /* what is behind `--` are words that may begin with a dash */
};

/* What soc_args_parse returns when the command can go on. */
#define SOC_ARGS_GO (-1)

/* Reads `argv` for command `args->command`, with at least `words_min` and at most
 * `words_max` words. Returns SOC_ARGS_GO, or the code to exit with: after --help,
 * or after a line about what is wrong. */
int soc_args_parse(struct soc_args *args, int argc, char **argv, const struct soc_option *options,
                   int words_min, int words_max);

/* Checks that each text of the list is NAME=VALUE, as `what` shows it. SOC_ARGS_GO, or after
 * a line about the first that is not the code to exit with. */
int soc_args_check_pairs(const struct soc_args *args, const struct soc_text_list *list,
                         const char *what);

/* Returns the policy KIND=NAME as it is called in `directory`: a name that is a path, from
 * here, leads to the same file from there. The caller owns it. */
char *soc_args_move_policy(const char *pair, const char *directory);

/* Adds a text, lent. */
void soc_text_list_add(struct soc_text_list *list, const char *text);

/* Frees the list, not its texts. */
void soc_text_list_fini(struct soc_text_list *list);

/* Reads digits into `*number`; false if the text is anything else. */
bool soc_number_parse(const char *text, uint64_t *number);

#endif

#include "main/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "main/command.h"

void soc_text_list_add(struct soc_text_list *list, const char *text)
{
    size_t size = ((size_t)list->count + 2) * sizeof(*list->items);
    list->items = soc_realloc(list->items, size);
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void soc_text_list_fini(struct soc_text_list *list)
{
    free(list->items);
    *list = (struct soc_text_list){0};
}

bool soc_number_parse(const char *text, uint64_t *number)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return errno == 0;
}

static const struct soc_option *find_option(const struct soc_option *options, const char *name,
                                            size_t length)
{
    while (options->name != NULL &&
           (strlen(options->name) != length || memcmp(options->name, name, length) != 0))
        options++;
    return options->name == NULL ? NULL : options;
}

static int set_value(const char *command, const struct soc_option *option, const char *value)
{
    uint64_t number = 0;
    switch (option->kind) {
    case SOC_OPTION_FLAG:
        *(bool *)option->value = true;
        break;
    case SOC_OPTION_TEXT:
        *(const char **)option->value = value;
        break;
    case SOC_OPTION_LIST:
        soc_text_list_add(option->value, value);
        break;
    case SOC_OPTION_NUMBER:
        if (!soc_number_parse(value, &number) || number > INT64_MAX)
            return soc_complain(SOC_EXIT_USAGE, "%s: --%s needs a whole number, not '%s'", command,
                                option->name, value);
        *(int64_t *)option->value = (int64_t)number;
        break;
    }
    return SOC_ARGS_GO;
}

/* Reads the option at `argv[*at]` and moves `*at` to its last word. */
static int take_option(const char *command, int argc, char **argv, int *at,
                       const struct soc_option *options)
{
    const char *text = argv[*at];
    const char *name = text + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const struct soc_option *option = text[1] == '-' ? find_option(options, name, length) : NULL;
    if (option == NULL)
        return soc_complain(SOC_EXIT_USAGE, "%s: there is no option '%s'; see: society help %s",
                            command, text, command);
    if (option->kind == SOC_OPTION_FLAG && equals != NULL)
        return soc_complain(SOC_EXIT_USAGE, "%s: --%s takes no value", command, option->name);
    if (option->kind == SOC_OPTION_FLAG || equals != NULL)
        return set_value(command, option, equals == NULL ? NULL : equals + 1);
    if (*at + 1 >= argc)
        return soc_complain(SOC_EXIT_USAGE, "%s: --%s needs a value", command, option->name);
    return set_value(command, option, argv[++*at]);
}

int soc_args_parse(struct soc_args *args, int argc, char **argv, const struct soc_option *options,
                   int words_min, int words_max)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            soc_help_print(args->command);
            return SOC_EXIT_DONE;
        }
        if (strcmp(argv[i], "--") == 0 && args->is_rest_words) {
            while (++i < argc)
                soc_text_list_add(&args->words, argv[i]);
            break;
        }
        if (strcmp(argv[i], "--") == 0) {
            args->rest = argv + i + 1;
            args->rest_count = argc - i - 1;
            break;
        }
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            soc_text_list_add(&args->words, argv[i]);
            continue;
        }
        int code = take_option(args->command, argc, argv, &i, options);
        if (code != SOC_ARGS_GO)
            return code;
    }
    if (args->words.count >= words_min && args->words.count <= words_max)
        return SOC_ARGS_GO;
    const struct soc_command *command = soc_command_find(args->command);
    return soc_complain(SOC_EXIT_USAGE, "usage: society %s %s", command->name, command->usage);
}

/* The file's whole path; of one that is not there, where it would be. */
static void put_whole_path(struct soc_buf *out, const char *path)
{
    char *whole = realpath(path, NULL);
    char *here = whole == NULL && path[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (whole != NULL)
        soc_buf_put_text(out, whole);
    else
        soc_buf_printf(out, "%s%s%s", here == NULL ? "" : here, here == NULL ? "" : "/", path);
    free(whole);
    free(here);
}

char *soc_args_move_policy(const char *pair, const char *directory)
{
    const char *name = strchr(pair, '=') + 1;
    struct soc_buf path = {0};
    struct soc_buf base = {0};
    struct soc_buf moved = {0};
    if (strchr(name, '/') == NULL && strstr(name, ".lua") == NULL)
        return soc_copy_text(pair, strlen(pair));
    put_whole_path(&path, name);
    put_whole_path(&base, directory);
    const char *text = soc_buf_text(&path);
    /* What lies below it is called so, wherever it lies itself. */
    bool is_below = base.length > 1 && strncmp(text, soc_buf_text(&base), base.length) == 0 &&
                    text[base.length] == '/';
    soc_buf_put(&moved, pair, (size_t)(name - pair));
    soc_buf_printf(&moved, "%s%s", is_below ? "." : "", text + (is_below ? base.length : 0));
    soc_buf_fini(&path);
    soc_buf_fini(&base);
    soc_buf_text(&moved);
    return moved.data;
}

int soc_args_check_pairs(const struct soc_args *args, const struct soc_text_list *list,
                         const char *what)
{
    for (int i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        if (equals == NULL || equals == list->items[i])
            return soc_complain(SOC_EXIT_USAGE, "%s: %s is expected, not '%s'", args->command, what,
                                list->items[i]);
    }
    return SOC_ARGS_GO;
}

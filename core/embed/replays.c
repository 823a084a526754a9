#include "embed/replays.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/refusal.h"

#define REPLAYS_MAX       32 /* that are remembered */
#define POLICIES_MAX      16
#define FINDINGS_MAX      1000
#define FINDINGS_BYTES    (1u << 20)
#define MESSAGE_BYTES_MAX 1024

extern char **environ;

struct replay {
    uint64_t number; /* from 1; 0: none */
    pid_t pid;       /* 0: it has ended */
    int code;        /* its exit code, once it has */
};

struct soc_replays {
    char *state_dir;
    char *program; /* NULL: unknown */
    struct replay list[REPLAYS_MAX];
    uint64_t next;
};

struct soc_replays *soc_replays_new(const char *state_dir, const char *program)
{
    struct soc_replays *replays = soc_alloc_zero(sizeof(*replays));
    replays->state_dir = soc_copy_text(state_dir, strlen(state_dir));
    if (program != NULL)
        replays->program = soc_copy_text(program, strlen(program));
    replays->next = 1;
    return replays;
}

/* Notes the end of a replay, if it has ended; `flags` of waitpid. */
static void reap(struct replay *replay, int flags)
{
    int status;
    if (replay->pid == 0 || waitpid(replay->pid, &status, flags) != replay->pid)
        return;
    replay->pid = 0;
    replay->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void soc_replays_free(struct soc_replays *replays)
{
    if (replays == NULL)
        return;
    for (int i = 0; i < REPLAYS_MAX; i++) {
        if (replays->list[i].pid == 0)
            continue;
        kill(replays->list[i].pid, SIGKILL); /* it only reads */
        reap(&replays->list[i], 0);
    }
    free(replays->state_dir);
    free(replays->program);
    free(replays);
}

static int refuse(struct soc_buf *answer, int code, const char *name, const char *sentence)
{
    answer->length = 0;
    soc_refuse_named(answer, name, sentence);
    return code;
}

/* A name has no slash and no dot: never a path. */
static bool is_name(struct soc_slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (strchr("/\\.=", text.data[i]) != NULL)
            return false;
    return text.length > 0;
}

/* Writes KIND=NAME for each policy into `texts`; -1 if one is no name. */
static int read_policies(struct soc_slice policies, struct soc_buf texts[POLICIES_MAX])
{
    struct soc_json_walk walk;
    int count = 0;
    soc_json_walk(&walk, policies.data == NULL ? SOC_SLICE("{}") : policies);
    while (soc_json_next(&walk)) {
        struct soc_slice name = soc_json_plain_string(walk.value);
        if (count == POLICIES_MAX || name.data == NULL || !is_name(name) || !is_name(walk.name))
            return -1;
        soc_buf_put_slice(&texts[count], walk.name);
        soc_buf_put_byte(&texts[count], '=');
        soc_buf_put_slice(&texts[count], name);
        soc_buf_text(&texts[count++]);
    }
    return count;
}

/* The file of its output (jsonl) or of its errors (err). */
static void put_file(const struct soc_replays *replays, uint64_t number, const char *kind,
                     struct soc_buf *out)
{
    soc_buf_printf(out, "%s/replays/replay_%llu.%s", replays->state_dir, (unsigned long long)number,
                   kind);
    soc_buf_text(out);
}

/* Starts the program with its output to the files; returns 0 or an errno. */
static int spawn(const struct soc_replays *replays, uint64_t number, struct soc_buf *policies,
                 int count, pid_t *pid)
{
    const char *arguments[6 + 2 * POLICIES_MAX] = {"society", "replay", "--json", "--state",
                                                   replays->state_dir};
    struct soc_buf output = {0};
    struct soc_buf errors = {0};
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t actions;
    for (int i = 0; i < count; i++) {
        arguments[5 + 2 * i] = "--policy";
        arguments[6 + 2 * i] = policies[i].data;
    }
    put_file(replays, number, "jsonl", &output);
    put_file(replays, number, "err", &errors);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output.data, flags, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, errors.data, flags, 0600);
    int failure =
        posix_spawn(pid, replays->program, &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    soc_buf_fini(&output);
    soc_buf_fini(&errors);
    return failure;
}

static void put_head(const struct replay *replay, struct soc_buf *answer)
{
    soc_buf_printf(answer, "[{\"id\":\"replay_%llu\",\"state\":\"%s\"",
                   (unsigned long long)replay->number,
                   replay->pid != 0    ? "running"
                   : replay->code == 0 ? "same"
                   : replay->code == 1 ? "different"
                                       : "failed");
    if (replay->pid == 0)
        soc_buf_printf(answer, ",\"code\":%d", replay->code);
}

int soc_replays_start(struct soc_replays *replays, struct soc_slice policies,
                      struct soc_buf *answer)
{
    struct soc_buf texts[POLICIES_MAX] = {{0}};
    struct soc_buf directory = {0};
    struct replay *replay = &replays->list[replays->next % REPLAYS_MAX];
    int rc = SOC_OK;
    for (int i = 0; i < REPLAYS_MAX; i++) {
        reap(&replays->list[i], WNOHANG);
        if (replays->list[i].pid != 0)
            return refuse(answer, SOC_EEXISTS, "in_progress",
                          "another replay is running; ask again when it has ended");
    }
    if (replays->program == NULL)
        return refuse(answer, SOC_EREFUSED, "not_possible",
                      "the path of the program `society` is not known here");
    int count = read_policies(policies, texts);
    soc_buf_printf(&directory, "%s/replays", replays->state_dir);
    if (count < 0) {
        rc = soc_refuse(answer, SOC_EINVAL, "policies are names by their kinds, never paths",
                        "member", SOC_SLICE("policies"));
    } else if ((mkdir(soc_buf_text(&directory), 0700) < 0 && errno != EEXIST) ||
               spawn(replays, replays->next, texts, count, &replay->pid) != 0) {
        replay->pid = 0;
        rc = refuse(answer, SOC_EREFUSED, "not_possible", "the replay could not be started");
    } else {
        replay->number = replays->next++;
        answer->length = 0;
        put_head(replay, answer);
        soc_buf_put_text(answer, "}]");
    }
    for (int i = 0; i < POLICIES_MAX; i++)
        soc_buf_fini(&texts[i]);
    soc_buf_fini(&directory);
    return rc;
}

/* Appends the lines of the file that are objects, as a list, as far as they fit. */
static void put_findings(const struct soc_replays *replays, uint64_t number, struct soc_buf *answer)
{
    struct soc_buf file = {0};
    char *line = NULL;
    size_t size = 0;
    size_t begin = answer->length;
    ssize_t length;
    put_file(replays, number, "jsonl", &file);
    FILE *input = fopen(file.data, "re");
    for (int i = 0; input != NULL && i < FINDINGS_MAX && answer->length - begin < FINDINGS_BYTES &&
                    (length = getline(&line, &size, input)) > 0;
         i++) {
        struct soc_slice text = soc_slice(line, (size_t)length);
        if (text.data[0] != '{' || soc_json_check(text, NULL) < 0)
            continue; /* cut off: it is being written */
        soc_buf_put_text(answer, answer->length == begin ? "" : ",");
        soc_buf_put(answer, text.data, text.length - (text.data[text.length - 1] == '\n'));
    }
    if (input != NULL)
        fclose(input);
    free(line);
    soc_buf_fini(&file);
}

/* Appends why it has failed: the first line that it wrote about it. */
static void put_message(const struct soc_replays *replays, uint64_t number, struct soc_buf *answer)
{
    static const char prefix[] = "society: ";
    struct soc_buf file = {0};
    char line[MESSAGE_BYTES_MAX];
    put_file(replays, number, "err", &file);
    FILE *input = fopen(file.data, "re");
    if (input != NULL && fgets(line, sizeof(line), input) != NULL) {
        bool has_prefix = strncmp(line, prefix, sizeof(prefix) - 1) == 0;
        const char *text = has_prefix ? line + sizeof(prefix) - 1 : line;
        soc_buf_put_text(answer, ",\"message\":");
        soc_json_put_string(answer, soc_slice(text, strcspn(text, "\n")));
    }
    if (input != NULL)
        fclose(input);
    soc_buf_fini(&file);
}

int soc_replays_put(struct soc_replays *replays, struct soc_slice id, struct soc_buf *answer)
{
    for (int i = 0; i < REPLAYS_MAX; i++) {
        struct replay *replay = &replays->list[i];
        char name[40];
        snprintf(name, sizeof(name), "replay_%llu", (unsigned long long)replay->number);
        if (replay->number == 0 || !soc_slice_equal(id, soc_slice_text(name)))
            continue;
        reap(replay, WNOHANG);
        answer->length = 0;
        put_head(replay, answer);
        if (replay->pid == 0 && replay->code > 1)
            put_message(replays, replay->number, answer);
        soc_buf_put_text(answer, ",\"findings\":[");
        put_findings(replays, replay->number, answer);
        soc_buf_put_text(answer, "]}]");
        return SOC_OK;
    }
    return refuse(answer, SOC_ENOFILE, "replay_not_found", "no replay of this run has that id");
}

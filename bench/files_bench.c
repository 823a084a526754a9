/* Files bench: agents behind the file door, busy and idle.
 *
 *     files_bench [--full]
 *
 * A society with 100 outside agents runs as a program of its own; this one plays them
 * all. First it appends every agent's messages to its file and waits until the answer to
 * each stands in its queue: in through the files, through root, out through the files.
 * Then everybody is silent, and the processor time of the program is what idling costs,
 * with inotify, with it and heartbeats, and without it.
 * Layer: bench. Thread: one. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "measure.h"

#define AGENTS         100
#define MESSAGES       10000
#define LINE_BYTES     100
#define IDLE_S_QUICK   5
#define IDLE_S_FULL    30
#define BEAT_S         10
#define WAIT_US_MAX    120000000
#define RATE_TARGET    2000 /* messages each way, per second */
#define PERCENT_TARGET 1.0
#define BARE_COUNT     200

struct scene {
    char directory[MEASURE_PATH_BYTES];
    char program[MEASURE_PATH_BYTES];
    char app[MEASURE_PATH_BYTES];
    pid_t host;
};

static void path_of(const struct scene *scene, struct soc_buf *path, int agent, const char *suffix)
{
    path->length = 0;
    soc_buf_printf(path, "%s/w/channel/agents/w%d%s", scene->directory, agent, suffix);
}

static void start(struct scene *scene, bool polls)
{
    char agents[16];
    snprintf(agents, sizeof(agents), "%d", AGENTS);
    const char *words[] = {scene->program, "run", scene->app, "--state", "st", "--quiet",
                           "--",           "w",   agents,     NULL,      NULL};
    const char *polling[] = {scene->program,
                             "run",
                             scene->app,
                             "--state",
                             "st",
                             "--quiet",
                             "--set",
                             "files={\"dir\":\"w\",\"polling\":{\"force\":true},"
                             "\"heartbeat\":{\"timeout_ms\":3600000}}",
                             "--",
                             "w",
                             agents,
                             NULL};
    scene->host = measure_start(scene->directory, polls ? polling : words);
}

static void stop(const struct scene *scene)
{
    kill(scene->host, SIGKILL);
    waitpid(scene->host, NULL, 0);
}

/* Has root make its agents, once the socket is there. */
static void hire(const struct scene *scene)
{
    struct soc_buf command = {0};
    int code = -1;
    soc_buf_printf(&command, "cd %s && %s send --state st --to root --wait go > /dev/null 2>&1",
                   scene->directory, scene->program);
    for (int i = 0; i < 100 && code != 0; i++) {
        usleep(50000);
        code = system(soc_buf_text(&command));
    }
    measure_require(code == 0, "the society does not answer");
    soc_buf_fini(&command);
}

static void speak(const struct scene *scene)
{
    struct soc_buf path = {0};
    struct soc_buf lines = {0};
    for (int agent = 1; agent <= AGENTS; agent++) {
        lines.length = 0;
        for (int i = 0; i < MESSAGES / AGENTS; i++)
            soc_buf_printf(&lines, "{\"id\":\"w%d-%d\",\"payload\":{\"text\":\"%*d\"}}\n", agent, i,
                           LINE_BYTES - 40, i);
        path_of(scene, &path, agent, ".out.jsonl");
        int file = open(soc_buf_text(&path), O_WRONLY | O_CREAT | O_APPEND, 0600);
        measure_require(file >= 0 && write(file, lines.data, lines.length) == (ssize_t)lines.length,
                        "a file cannot be written");
        close(file);
    }
    soc_buf_fini(&path);
    soc_buf_fini(&lines);
}

static int count_lines(const char *path)
{
    char bytes[65536];
    ssize_t length;
    int count = 0;
    int file = open(path, O_RDONLY);
    while (file >= 0 && (length = read(file, bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < length; i++)
            count += bytes[i] == '\n';
    if (file >= 0)
        close(file);
    return count;
}

static void await_answers(const struct scene *scene)
{
    struct soc_buf path = {0};
    int64_t begin_us = measure_now_us();
    for (int agent = 1; agent <= AGENTS; agent++) {
        path_of(scene, &path, agent, ".jsonl");
        while (count_lines(soc_buf_text(&path)) < MESSAGES / AGENTS) {
            measure_require(measure_now_us() - begin_us < WAIT_US_MAX, "no answers in time");
            usleep(2000);
        }
    }
    soc_buf_fini(&path);
}

/* Processor time that a process has used, in seconds. */
static double processor_seconds(pid_t pid)
{
    char path[64];
    unsigned long user = 0;
    unsigned long system = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    measure_require(file != NULL && fscanf(file,
                                           "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
                                           "%*u %lu %lu",
                                           &user, &system) == 2,
                    "/proc is not there");
    fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* Every agent shows once in BEAT_S seconds that it lives; these are those of one of them. */
static void beat(const struct scene *scene, int second)
{
    char text[32];
    struct soc_buf path = {0};
    time_t now = time(NULL);
    size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ\n", gmtime(&now));
    for (int agent = 1 + second % BEAT_S; agent <= AGENTS; agent += BEAT_S) {
        path.length = 0;
        soc_buf_printf(&path, "%s/w/state/heartbeat/w%d.ts", scene->directory, agent);
        int file = open(soc_buf_text(&path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        measure_require(file >= 0 && write(file, text, length) == (ssize_t)length,
                        "a heartbeat cannot be written");
        close(file);
    }
    soc_buf_fini(&path);
}

static double idle_percent(const struct scene *scene, int seconds, bool has_beats)
{
    usleep(1500000); /* what is left to be folded is */
    double before = processor_seconds(scene->host);
    for (int second = 0; second < seconds; second++) {
        if (has_beats)
            beat(scene, second);
        sleep(1);
    }
    return (processor_seconds(scene->host) - before) * 100 / seconds;
}

static void print_idle(const char *name, double percent)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "% of a core",
        .value = percent,
        .goal = MEASURE_AT_MOST,
        .target = PERCENT_TARGET,
    });
}

int main(int argc, char **argv)
{
    struct scene scene = {0};
    bool is_full = measure_begin(argc, argv);
    const char *program = getenv("SOCIETY");
    int idle_s = is_full ? IDLE_S_FULL : IDLE_S_QUICK;
    double bare_us[BARE_COUNT];
    measure_require(realpath(program == NULL ? "build/society" : program, scene.program) != NULL &&
                        realpath("bench/apps/files.lua", scene.app) != NULL,
                    "run it where the Makefile is");
    measure_make_directory(scene.directory);
    measure_bare_writes(scene.directory, LINE_BYTES, BARE_COUNT, bare_us);
    start(&scene, false);
    hire(&scene);
    int64_t begin_us = measure_now_us();
    double begin_cpu = processor_seconds(scene.host);
    speak(&scene);
    await_answers(&scene);
    double rate = MESSAGES * 1e6 / (double)(measure_now_us() - begin_us);
    double cpu = processor_seconds(scene.host) - begin_cpu;
    measure_print(&(struct measure_figure){
        .name = "10,000 lines in, 10,000 answers out, 100 agents",
        .unit = "/s",
        .value = rate,
        .yardstick_name = "write + fdatasync",
        .yardstick = 1e6 / measure_quantile(bare_us, BARE_COUNT, 0.5),
        .goal = MEASURE_AT_LEAST,
        .target = RATE_TARGET,
    });
    measure_print(&(struct measure_figure){
        .name = "the same in processor time, per line and answer",
        .unit = "us",
        .value = cpu * 1e6 / MESSAGES,
    });
    print_idle("100 agents idle", idle_percent(&scene, idle_s, false));
    print_idle("100 agents idle, with heartbeats", idle_percent(&scene, 2 * idle_s, true));
    stop(&scene);
    start(&scene, true);
    print_idle("100 agents idle, by looking alone", idle_percent(&scene, idle_s, false));
    stop(&scene);
    measure_remove_directory(scene.directory);
    return EXIT_SUCCESS;
}

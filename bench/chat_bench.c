/* Chat bench: streamed calls to a model all at once, and what a conversation weighs.
 *
 *     chat_bench [--full]
 *
 * The model is a server in a process of its own on loopback, which begins to stream when
 * all have asked. Counted is the CPU time of the society's process, which has one core,
 * for each call: its turn, its intent and answer in the journal, the transfer, the reading
 * of the stream. The yardstick is the bare HTTP client with as many transfers of the same
 * bytes.
 * Layer: bench. Thread: one. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "measure.h"
#include "net/http.h"
#include "stage.h"
#include "stream_server.h"

#define CALLS      500
#define CALLS_FULL 2000
#define TALKERS    5000
#define CALL_MS    5.0     /* of CPU, at most */
#define TALK_BYTES 30000.0 /* of an agent with 50 messages of 200 bytes, at most */

/* What one society did, in a child of its own. */
struct step {
    char directory[MEASURE_PATH_BYTES];
    int64_t count;
    int64_t port;
    double cpu_us;
    double seconds;
    double bytes;
};

/* Leaves the process, and its threads to come, the first core that it may use. */
static void keep_to_one_core(void)
{
    cpu_set_t all;
    cpu_set_t one;
    size_t core = 0;
    measure_require(sched_getaffinity(0, sizeof(all), &all) == 0, "which cores there are");
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    measure_require(sched_setaffinity(0, sizeof(one), &one) == 0, "one core");
}

static void run_society(void *shared)
{
    struct step *step = shared;
    struct stage stage = {0};
    keep_to_one_core();
    double before = measure_resident_bytes();
    stage_open(&stage, "chat", step->directory, step->count, step->port);
    int64_t cpu_us = measure_cpu_us();
    int64_t begin_us = measure_now_us();
    stage_run_until(&stage, "processed", step->count + 1);
    stage_settle(&stage);
    step->cpu_us = (double)(measure_cpu_us() - cpu_us);
    step->seconds = (double)(measure_now_us() - begin_us) / 1e6;
    step->bytes = measure_resident_bytes() - before;
    stage_close(&stage, 0);
}

static void take_head(void *user, int status, const struct soc_http_header *headers, int count)
{
    (void)user;
    (void)headers;
    (void)count;
    measure_require(status == 200, "the server refused");
}

static void take_body(void *user, struct soc_slice bytes)
{
    *(size_t *)user += bytes.length;
}

static void take_end(void *user, enum soc_http_end end, const char *detail)
{
    (void)user;
    measure_require(end == SOC_HTTP_DONE, detail);
}

/* The same number of transfers by the client alone. */
static void run_bare(void *shared)
{
    struct step *step = shared;
    char url[64];
    static const char body[] = "{\"model\":\"bench\",\"stream\":true}";
    size_t bytes = 0;
    keep_to_one_core();
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/chat/completions", (int)step->port);
    struct soc_loop *loop = soc_loop_new();
    struct soc_http *http = soc_http_open(loop, NULL);
    struct soc_http_request request = {.url = soc_slice_text(url), .body = soc_slice_text(body)};
    struct soc_http_events events = {take_head, take_body, take_end, &bytes};
    int64_t cpu_us = measure_cpu_us();
    int64_t begin_us = measure_now_us();
    for (int64_t i = 0; i < step->count; i++)
        soc_http_start(http, &request, &events);
    while (soc_http_count(http) > 0)
        soc_loop_poll(loop, 100);
    step->cpu_us = (double)(measure_cpu_us() - cpu_us);
    step->seconds = (double)(measure_now_us() - begin_us) / 1e6;
    soc_http_close(http);
    soc_loop_free(loop);
}

static void measure_calls(const char *parent, int64_t count)
{
    int port;
    char name[96];
    pid_t server = stream_server_start(&port, count);
    struct step step = {.count = count, .port = port};
    struct step bare = step;
    snprintf(step.directory, sizeof(step.directory), "%.400s/calls", parent);
    measure_in_child(run_society, &step, sizeof(step));
    measure_in_child(run_bare, &bare, sizeof(bare));
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    snprintf(name, sizeof(name), "CPU of a streamed call, %lld at once", (long long)count);
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "ms",
        .value = step.cpu_us / (double)count / 1e3,
        .yardstick_name = "bare client",
        .yardstick = bare.cpu_us / (double)count / 1e3,
        .goal = MEASURE_AT_MOST,
        .target = CALL_MS,
    });
    measure_print(&(struct measure_figure){
        .name = "all of them answered and durable",
        .unit = "s",
        .value = step.seconds,
        .yardstick_name = "bare client",
        .yardstick = bare.seconds,
    });
}

static void measure_memory(const char *parent, int64_t count)
{
    struct step step = {.count = count};
    snprintf(step.directory, sizeof(step.directory), "%.400s/talk", parent);
    measure_in_child(run_society, &step, sizeof(step));
    measure_print(&(struct measure_figure){
        .name = "memory of an agent that remembers 50 messages",
        .unit = "bytes",
        .value = step.bytes / (double)count,
        .goal = MEASURE_AT_MOST,
        .target = TALK_BYTES,
    });
}

int main(int argc, char **argv)
{
    char directory[MEASURE_PATH_BYTES];
    bool is_full = measure_begin(argc, argv);
    measure_make_directory(directory);
    measure_calls(directory, is_full ? CALLS_FULL : CALLS);
    measure_memory(directory, TALKERS);
    measure_remove_directory(directory);
    return 0;
}

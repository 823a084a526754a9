/* Latency bench: one message at a time from outside to its durable answer.
 *
 *     latency_bench [--full]
 *
 * A society runs in a process of its own; a client sends a request through its
 * socket and waits for the reply, which leaves only when it is durable. The
 * yardstick is a bare write + fdatasync of about the same bytes. The two take
 * turns, so that a disk that slows down slows both.
 * Layer: bench. Thread: one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/control/client.h"
#include "measure.h"

#define COUNT_QUICK 2000
#define COUNT_FULL  20000
#define ROUNDS      50 /* of client and bare writes in turn */
#define BARE_BYTES  300
#define RATIO       3
#define START_TRIES 250
#define TRY_US      20000

static const char request[] =
    "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":{\"amount\":1250,\"content\":\"the "
    "order is ready and waits for approval by the owner of the account, please now.\",\"customer\":"
    "\"sales_agent_17\",\"order\":48151623,\"state\":\"waiting\",\"subject\":\"order approved\"}}";

static pid_t start_society(const char *state)
{
    const char *program = getenv("SOCIETY");
    const char *const words[] = {program == NULL ? "build/society" : program,
                                 "run",
                                 "bench/apps/echo.lua",
                                 "--state",
                                 state,
                                 "--log",
                                 "warn",
                                 NULL};
    return measure_start(NULL, words);
}

static struct soc_control_client *connect_to(const char *state)
{
    struct soc_detail detail = {0};
    struct soc_control_client *client = NULL;
    for (int i = 0; i < START_TRIES; i++) {
        if (soc_control_client_open(&client, state, &detail) == SOC_OK)
            return client;
        usleep(TRY_US);
    }
    measure_require(false, detail.text);
    return NULL;
}

static void measure_requests(struct soc_control_client *client, size_t count, double *each_us)
{
    struct soc_buf answer = {0};
    struct soc_detail detail = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t begin_us = measure_now_us();
        answer.length = 0;
        int rc = soc_control_client_ask(client, soc_slice_text(request), &answer, &detail);
        each_us[i] = (double)(measure_now_us() - begin_us);
        measure_require(rc == SOC_OK, detail.text);
        measure_require(strstr(soc_buf_text(&answer), "\"ok\"") != NULL, soc_buf_text(&answer));
    }
    soc_buf_fini(&answer);
}

static void print_quantile(const char *name, double *ours, double *bare, size_t count, double part)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "us",
        .value = measure_quantile(ours, count, part),
        .yardstick_name = "write + fdatasync",
        .yardstick = measure_quantile(bare, count, part),
        .goal = MEASURE_AT_MOST,
        .target = RATIO,
        .is_ratio_meant = true,
    });
}

int main(int argc, char **argv)
{
    size_t count = measure_begin(argc, argv) ? COUNT_FULL : COUNT_QUICK;
    char directory[MEASURE_PATH_BYTES];
    char state[MEASURE_PATH_BYTES + 8];
    double *ours = calloc(count, sizeof(*ours));
    double *bare = calloc(count, sizeof(*bare));
    measure_require(ours != NULL && bare != NULL, "no memory");
    measure_make_directory(directory);
    snprintf(state, sizeof(state), "%s/state", directory);
    pid_t society = start_society(state);
    struct soc_control_client *client = connect_to(state);
    measure_requests(client, count / ROUNDS, ours); /* warm; overwritten below */
    for (size_t done = 0; done < count; done += count / ROUNDS) {
        measure_requests(client, count / ROUNDS, ours + done);
        measure_bare_writes(directory, BARE_BYTES, count / ROUNDS, bare + done);
    }
    print_quantile("request to durable answer, median", ours, bare, count, 0.5);
    print_quantile("request to durable answer, 99 of 100", ours, bare, count, 0.99);
    soc_control_client_close(client);
    kill(society, SIGKILL);
    waitpid(society, NULL, 0);
    measure_remove_directory(directory);
    free(ours);
    free(bare);
    return EXIT_SUCCESS;
}

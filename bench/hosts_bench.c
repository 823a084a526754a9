/* Hosts bench: what joining hosts through Redis carries, and what it costs.
 *
 *     hosts_bench [--full]
 *
 * Two societies run as programs of their own, joined through a Redis server on loopback.
 * The root of one writes to the workers of the other, who handle what comes; a message
 * counts when the other host has it durable and this one knows. Yardsticks, in turns with
 * it: plain clients of Redis Streams with appendfsync always; and, for one message alone,
 * two times write + fdatasync and two round trips to the same server. Then two hosts, each
 * with agents who write to each other only, against one such host.
 * Layer: bench. Thread: one. */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "bridge/control/client.h"
#include "measure.h"
#include "redis.h"

#define WARM_US         1000000
#define WARM_US_MAX     60000000
#define WARM_COUNT      50000 /* messages */
#define RATE_S_QUICK    3
#define RATE_S_FULL     15
#define LONG_S_QUICK    10
#define LONG_S_FULL     60
#define REPEATS         3
#define RATE_TARGET     100000
#define STREAMS_RATIO   1.5
#define STUCK_RATIO     0.9
#define DOWN_RATIO      0.9
#define STREAMS_COUNT   50000
#define ALONE_COUNT     500
#define ALONE_ROUNDS    25
#define ALONE_STEP      40  /* messages, one after the other, in one go */
#define ALONE_BYTES     600 /* of a message in the journal */
#define ALONE_RATIO     3
#define IDLE_S_QUICK    5
#define IDLE_S_FULL     60
#define IDLE_PERCENT    0.5
#define FAMILIES_RATIO  1.7
#define FAMILY          "1000" /* agents of one */
#define FAMILY_MESSAGES "5000" /* under way in one */
#define WAITING         "500"  /* messages that may wait for one worker */
#define START_TRIES     500
#define TRY_US          20000
#define POLL_US         20000

#define TEXT(word)    #word
#define TEXT_OF(word) TEXT(word)

/* A society that runs as a program of its own. */
struct member {
    pid_t process;
    char state[MEASURE_PATH_BYTES + 16];
    struct soc_control_client *client;
};

struct scene {
    char directory[MEASURE_PATH_BYTES];
    int port;
    char url[64];
    pid_t redis;
    int socket; /* to Redis */
    struct member alpha;
    struct member beta;
};

/* ---- Redis ---- */

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* A port that nobody uses. */
static int free_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t length = sizeof(address);
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    measure_require(bind(probe, (struct sockaddr *)&address, length) == 0 &&
                        getsockname(probe, (struct sockaddr *)&address, &length) == 0,
                    "no free port");
    close(probe);
    return ntohs(address.sin_port);
}

/* Starts a server that stores nothing. False: there is none. */
static bool start_redis(struct scene *scene)
{
    char port[16];
    scene->port = free_port();
    snprintf(port, sizeof(port), "%d", scene->port);
    snprintf(scene->url, sizeof(scene->url), "redis://127.0.0.1:%d", scene->port);
    const char *const words[] = {"redis-server", "--port",    port,        "--bind",
                                 "127.0.0.1",    "--save",    "",          "--appendonly",
                                 "no",           "--logfile", "redis.log", NULL};
    scene->redis = measure_start(scene->directory, words);
    struct sockaddr_in address = address_of(scene->port);
    for (int i = 0; i < START_TRIES; i++) {
        scene->socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(scene->socket, (struct sockaddr *)&address, sizeof(address)) == 0)
            return true;
        close(scene->socket);
        if (waitpid(scene->redis, NULL, WNOHANG) == scene->redis)
            return false;
        usleep(TRY_US);
    }
    return false;
}

/* One round trip, in microseconds. */
static double ping(const struct scene *scene)
{
    char answer[16];
    int64_t begin_us = measure_now_us();
    measure_require(write(scene->socket, "PING\r\n", 6) == 6 &&
                        read(scene->socket, answer, sizeof(answer)) > 0,
                    "redis went away");
    return (double)(measure_now_us() - begin_us);
}

/* ---- societies ---- */

static void stop(struct member *member)
{
    soc_control_client_close(member->client);
    kill(member->process, SIGKILL);
    waitpid(member->process, NULL, 0);
}

/* Runs in the process that becomes the society: `core` -1: it may use all. */
static pid_t start_on(int core, const char *const *words)
{
    cpu_set_t all;
    cpu_set_t one;
    measure_require(sched_getaffinity(0, sizeof(all), &all) == 0, "which cores there are");
    for (int i = 0, seen = 0; i < CPU_SETSIZE && core >= 0; i++) {
        if (!CPU_ISSET((size_t)i, &all) || seen++ != core)
            continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)i, &one);
        measure_require(sched_setaffinity(0, sizeof(one), &one) == 0, "one core");
    }
    pid_t process = measure_start(NULL, words);
    measure_require(sched_setaffinity(0, sizeof(all), &all) == 0, "all cores");
    return process;
}

static void connect_to(struct member *member)
{
    struct soc_detail detail = {0};
    for (int i = 0; i < START_TRIES; i++) {
        if (soc_control_client_open(&member->client, member->state, &detail) == SOC_OK)
            return;
        usleep(TRY_US);
    }
    measure_require(false, detail.text);
}

/* Starts a host; `peer` is the other. */
static void start(struct scene *scene, struct member *member, const char *name, const char *peer,
                  int core, const char *app, const char *first, const char *second)
{
    const char *program = getenv("SOCIETY");
    snprintf(member->state, sizeof(member->state), "%s/%s", scene->directory, name);
    const char *const words[] = {program == NULL ? "build/society" : program,
                                 "run",
                                 app,
                                 "--state",
                                 member->state,
                                 "--redis",
                                 scene->url,
                                 "--host",
                                 name,
                                 "--peers",
                                 peer,
                                 "--log",
                                 "error",
                                 "--quiet",
                                 "--",
                                 first,
                                 second,
                                 WAITING,
                                 NULL};
    member->process = start_on(core, words);
    connect_to(member);
}

static void ask(struct member *member, const char *request, struct soc_buf *answer)
{
    struct soc_detail detail = {0};
    answer->length = 0;
    int rc = soc_control_client_ask(member->client, soc_slice_text(request), answer, &detail);
    measure_require(rc == SOC_OK, detail.text);
    measure_require(strstr(soc_buf_text(answer), "\"ok\"") != NULL, soc_buf_text(answer));
}

static int64_t count_of(struct member *member, const char *counter)
{
    int64_t count = 0;
    struct soc_buf answer = {0};
    ask(member, "{\"id\":1,\"op\":\"stats\"}", &answer);
    struct soc_slice rows = soc_json_member(soc_buf_slice(&answer), "ok");
    measure_require(rows.length > 2, "no statistics");
    struct soc_slice row = soc_slice(rows.data + 1, rows.length - 2); /* the only one */
    measure_require(soc_json_integer(soc_json_member(row, counter), &count), counter);
    soc_buf_fini(&answer);
    return count;
}

static void tell(struct member *member, const char *request)
{
    struct soc_buf answer = {0};
    ask(member, request, &answer);
    soc_buf_fini(&answer);
}

/* The processor time of a process, its threads included. */
static double cpu_us_of(pid_t process)
{
    char path[64];
    unsigned long user = 0;
    unsigned long kernel = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    measure_require(file != NULL &&
                        fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                               &user, &kernel) == 2,
                    "no /proc");
    fclose(file);
    return (double)(user + kernel) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

/* ---- the figures ---- */

struct rate {
    double rate;
    double cpu_us[3]; /* of one message: alpha, beta, Redis */
};

/* Waits until messages flow and everything is warm. */
static void await_flow(struct member *member, const char *counter)
{
    int64_t begin_us = measure_now_us();
    while (count_of(member, counter) < WARM_COUNT) {
        measure_require(measure_now_us() - begin_us < WARM_US_MAX, "nothing flows");
        usleep(POLL_US);
    }
}

static struct rate measure_link(struct scene *scene, int64_t us)
{
    struct rate result;
    const pid_t processes[3] = {scene->alpha.process, scene->beta.process, scene->redis};
    await_flow(&scene->alpha, "handed_over");
    int64_t before = count_of(&scene->alpha, "handed_over");
    int64_t begin_us = measure_now_us();
    double cpu_us[3];
    for (int i = 0; i < 3; i++)
        cpu_us[i] = cpu_us_of(processes[i]);
    while (measure_now_us() - begin_us < us)
        usleep(POLL_US);
    double count = (double)(count_of(&scene->alpha, "handed_over") - before);
    measure_require(count > 0, "the link carries nothing");
    result.rate = count * 1e6 / (double)(measure_now_us() - begin_us);
    for (int i = 0; i < 3; i++)
        result.cpu_us[i] = (cpu_us_of(processes[i]) - cpu_us[i]) / count;
    return result;
}

static double measure_streams(void)
{
    char directory[MEASURE_PATH_BYTES];
    measure_make_directory(directory);
    double rate = redis_messages_per_second(directory, STREAMS_COUNT);
    measure_remove_directory(directory);
    return rate;
}

static void open_scene(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    measure_make_directory(scene->directory);
    if (start_redis(scene))
        return;
    measure_remove_directory(scene->directory);
    puts("hosts: there is no redis-server");
    exit(EXIT_SUCCESS);
}

static void close_scene(struct scene *scene)
{
    close(scene->socket);
    kill(scene->redis, SIGKILL);
    waitpid(scene->redis, NULL, 0);
    measure_remove_directory(scene->directory);
}

static void print_rate(const struct rate *best, double streams)
{
    static const char *const names[] = {"CPU of it, the host that sends",
                                        "CPU of it, the host that takes", "CPU of it, Redis"};
    struct measure_figure figure = {
        .name = "durable at both ends, one host to another",
        .unit = "/s",
        .value = best->rate,
        .yardstick_name = "plain Streams",
        .yardstick = streams,
        .goal = MEASURE_AT_LEAST,
        .target = RATE_TARGET,
    };
    measure_print(&figure);
    figure.name = "the same against plain Streams";
    figure.target = STREAMS_RATIO;
    figure.is_ratio_meant = true;
    measure_print(&figure);
    for (int i = 0; i < 3; i++)
        measure_print(
            &(struct measure_figure){.name = names[i], .unit = "us", .value = best->cpu_us[i]});
}

/* `is_stuck`: one agent of the other host takes nothing. */
static struct rate run_link(bool is_stuck, int seconds)
{
    struct scene scene;
    open_scene(&scene);
    start(&scene, &scene.beta, "beta", "alpha", -1, "bench/apps/hosts.lua", "receiver", "alpha");
    start(&scene, &scene.alpha, "alpha", "beta", -1, "bench/apps/hosts.lua", "sender", "beta");
    tell(&scene.alpha, is_stuck ? "{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"payload\":"
                                  "{\"start\":true,\"stuck\":true}}"
                                : "{\"id\":1,\"op\":\"send\",\"to\":\"root\",\"payload\":"
                                  "{\"start\":true}}");
    struct rate rate = measure_link(&scene, INT64_C(1000000) * seconds);
    stop(&scene.alpha);
    stop(&scene.beta);
    close_scene(&scene);
    return rate;
}

static void measure_rate(bool is_full)
{
    struct rate best = {0};
    double streams = 0;
    double stuck = 0;
    int seconds = is_full ? RATE_S_FULL : RATE_S_QUICK;
    for (int i = 0; i < REPEATS; i++) {
        struct rate rate = run_link(false, seconds);
        best = rate.rate > best.rate ? rate : best;
        double plain = measure_streams();
        streams = plain > streams ? plain : streams;
        rate = run_link(true, seconds);
        stuck = rate.rate > stuck ? rate.rate : stuck;
    }
    print_rate(&best, streams);
    measure_print(&(struct measure_figure){
        .name = is_full ? "durable at both ends, 60 s with folding"
                        : "durable at both ends, 10 s with folding",
        .unit = "/s",
        .value = run_link(false, is_full ? LONG_S_FULL : LONG_S_QUICK).rate,
        .yardstick_name = "plain Streams",
        .yardstick = streams,
    });
    measure_print(&(struct measure_figure){
        .name = "the same beside an agent whose mailbox is full",
        .unit = "/s",
        .value = stuck,
        .yardstick_name = "without it",
        .yardstick = best.rate,
        .goal = MEASURE_AT_LEAST,
        .target = STUCK_RATIO,
        .is_ratio_meant = true,
    });
}

static void print_alone(const char *name, double *ours, int count, const char *yardstick,
                        double bare)
{
    measure_print(&(struct measure_figure){
        .name = name,
        .unit = "us",
        .value = measure_quantile(ours, (size_t)count, 0.5),
        .yardstick_name = yardstick,
        .yardstick = bare,
        .goal = MEASURE_AT_MOST,
        .target = ALONE_RATIO,
        .is_ratio_meant = true,
    });
}

/* One message at a time: an agent waits for the acknowledgement of each, which says that the
 * other host has it durable. And one request at a time, which is two such messages and what
 * the client waits for. The yardstick takes turns with them. */
static void measure_alone(struct scene *scene)
{
    static double messages[ALONE_ROUNDS];
    static double requests[ALONE_COUNT];
    static double bare[ALONE_COUNT];
    static double writes[2 * ALONE_COUNT / ALONE_ROUNDS];
    int step = ALONE_COUNT / ALONE_ROUNDS;
    tell(&scene->alpha, "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":"
                        "{\"meet\":true,\"echo\":\"met\"}}");
    for (int round = 0; round < ALONE_ROUNDS; round++) {
        int64_t begin_us = measure_now_us();
        tell(&scene->alpha, "{\"id\":1,\"op\":\"request\",\"to\":\"root\",\"payload\":"
                            "{\"alone\":" TEXT_OF(ALONE_STEP) ",\"echo\":\"done\"}}");
        messages[round] = (double)(measure_now_us() - begin_us) / ALONE_STEP;
        for (int i = round * step; i < (round + 1) * step; i++) {
            begin_us = measure_now_us();
            tell(&scene->alpha, "{\"id\":1,\"op\":\"request\",\"to\":\"root@beta\",\"payload\":"
                                "{\"echo\":\"the order is ready\"}}");
            requests[i] = (double)(measure_now_us() - begin_us);
        }
        measure_bare_writes(scene->directory, ALONE_BYTES, (size_t)(2 * step), writes);
        for (int i = 0; i < step; i++)
            bare[round * step + i] = writes[2 * i] + writes[2 * i + 1] + ping(scene) + ping(scene);
    }
    double once = measure_quantile(bare, ALONE_COUNT, 0.5);
    print_alone("one message alone, durable at both ends", messages, ALONE_ROUNDS,
                "2 fdatasync + 2 PING", once);
    print_alone("one request alone to its answer", requests, ALONE_COUNT, "4 fdatasync + 4 PING",
                2 * once);
}

/* What a joined host takes when nobody says anything. */
static void measure_idle(const struct scene *scene, bool is_full)
{
    int64_t us = INT64_C(1000000) * (is_full ? IDLE_S_FULL : IDLE_S_QUICK);
    usleep(WARM_US);
    int64_t begin_us = measure_now_us();
    double before_us = cpu_us_of(scene->alpha.process);
    usleep((useconds_t)us);
    double cpu_us = cpu_us_of(scene->alpha.process) - before_us;
    measure_print(&(struct measure_figure){
        .name = "a joined host when nobody says anything",
        .unit = "%",
        .value = cpu_us * 100 / (double)(measure_now_us() - begin_us),
        .goal = MEASURE_AT_MOST,
        .target = IDLE_PERCENT,
    });
}

/* ---- families of agents that need nobody else ---- */

/* Messages handled per second by so many hosts, each with a circle of agents of its own.
 * `is_pinned`: each has one core. `is_down`: Redis has been killed. */
static double measure_families(int hosts, bool is_pinned, bool is_down, int64_t us)
{
    struct scene scene;
    open_scene(&scene);
    struct member *members[] = {&scene.alpha, &scene.beta};
    const char *const names[] = {"alpha", "beta"};
    int64_t before = 0;
    int64_t after = 0;
    for (int i = 0; i < hosts; i++)
        start(&scene, members[i], names[i], names[1 - i], is_pinned ? i : -1, "bench/apps/ring.lua",
              FAMILY, FAMILY_MESSAGES);
    for (int i = 0; i < hosts; i++)
        await_flow(members[i], "processed");
    if (is_down)
        kill(scene.redis, SIGKILL);
    int64_t begin_us = measure_now_us();
    for (int i = 0; i < hosts; i++)
        before += count_of(members[i], "processed");
    while (measure_now_us() - begin_us < us)
        usleep(POLL_US);
    int64_t end_us = measure_now_us();
    for (int i = 0; i < hosts; i++)
        after += count_of(members[i], "processed");
    for (int i = 0; i < hosts; i++)
        stop(members[i]);
    close_scene(&scene);
    return (double)(after - before) * 1e6 / (double)(end_us - begin_us);
}

static void print_families(bool is_pinned, bool is_full)
{
    double one = 0;
    double two = 0;
    int64_t us = INT64_C(1000000) * (is_full ? RATE_S_FULL : RATE_S_QUICK);
    for (int i = 0; i < REPEATS; i++) {
        double rate = measure_families(1, is_pinned, false, us);
        one = rate > one ? rate : one;
        rate = measure_families(2, is_pinned, false, us);
        two = rate > two ? rate : two;
    }
    measure_print(&(struct measure_figure){
        .name = is_pinned ? "2 families on 2 hosts, a core for each host"
                          : "2 families on 2 hosts, both share all cores",
        .unit = "/s",
        .value = two,
        .yardstick_name = "1 host",
        .yardstick = one,
        .goal = is_pinned ? MEASURE_AT_LEAST : MEASURE_NONE,
        .target = FAMILIES_RATIO,
        .is_ratio_meant = true,
    });
}

/* What a host handles by itself while Redis is down. */
static void print_down(bool is_full)
{
    double up = 0;
    double down = 0;
    int64_t us = INT64_C(1000000) * (is_full ? RATE_S_FULL : RATE_S_QUICK);
    for (int i = 0; i < REPEATS; i++) {
        double rate = measure_families(1, false, false, us);
        up = rate > up ? rate : up;
        rate = measure_families(1, false, true, us);
        down = rate > down ? rate : down;
    }
    measure_print(&(struct measure_figure){
        .name = "1 host by itself while Redis is down",
        .unit = "/s",
        .value = down,
        .yardstick_name = "while it is up",
        .yardstick = up,
        .goal = MEASURE_AT_LEAST,
        .target = DOWN_RATIO,
        .is_ratio_meant = true,
    });
}

static void measure_quiet(bool is_full)
{
    struct scene scene;
    open_scene(&scene);
    start(&scene, &scene.beta, "beta", "alpha", -1, "bench/apps/hosts.lua", "receiver", "alpha");
    start(&scene, &scene.alpha, "alpha", "beta", -1, "bench/apps/hosts.lua", "sender", "beta");
    measure_alone(&scene);
    measure_idle(&scene, is_full);
    stop(&scene.alpha);
    stop(&scene.beta);
    close_scene(&scene);
}

int main(int argc, char **argv)
{
    bool is_full = measure_begin(argc, argv);
    measure_rate(is_full);
    measure_quiet(is_full);
    print_families(true, is_full);
    print_families(false, is_full);
    print_down(is_full);
    return EXIT_SUCCESS;
}

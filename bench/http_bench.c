/* HTTP bench: the door under load, beside the bare library and the bare disk.
 *
 *     http_bench [--full]
 *
 * `society run --http` runs in a process of its own. One client sends intakes one at a time,
 * each answered when it is durable, in turn with bare writes. Then many keep-alive
 * connections send intakes at once; a libmicrohttpd that says hello takes the same load in the
 * same run. Last, listeners hear events at a fixed rate, and an idle door is watched.
 * Layer: bench. Thread: one, and that of the bare server. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/buf.h"
#include "measure.h"

#define CONNECTIONS     64
#define SINGLES_QUICK   10000
#define SINGLES_FULL    20000
#define ROUNDS          250
#define MANY_QUICK      40000
#define MANY_FULL       400000
#define LISTENERS       1000
#define EVENTS_A_SECOND 1000
#define OFFERED         1100 /* a second: the last ones are on their way when the time is over */
#define LINES           4    /* of an intake: intake, sent, order, processed */
#define SENDERS         16
#define LISTEN_SECONDS  5
#define IDLE_SECONDS    3
#define BARE_BYTES      300
#define RATIO           3
#define INTAKES_TARGET  20000
#define START_TRIES     500
#define TRY_US          20000
#define TEXT_BYTES      1024

static const char payload[] =
    "{\"payload\":{\"amount\":1250,\"content\":\"the order is ready and waits for approval by the "
    "owner of the account, please now.\",\"customer\":\"sales_agent_17\",\"order\":48151623,"
    "\"state\":\"waiting\",\"subject\":\"order approved\"}}";

/* A society with its door. */
struct place {
    pid_t pid;
    int port;
    char state[MEASURE_PATH_BYTES];
    char token[128];
    char intake[2048]; /* a request */
    size_t intake_length;
};

static bool read_line(const char *state, const char *name, char *line, size_t size)
{
    char path[MEASURE_PATH_BYTES + 32];
    snprintf(path, sizeof(path), "%s/%s", state, name);
    FILE *file = fopen(path, "r");
    bool is_read = file != NULL && fgets(line, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (is_read)
        line[strcspn(line, "\n")] = '\0';
    return is_read;
}

static void open_place(struct place *place)
{
    const char *program = getenv("SOCIETY");
    char url[128] = "";
    measure_make_directory(place->state);
    const char *const words[] = {program == NULL ? "build/society" : program,
                                 "run",
                                 "bench/apps/door.lua",
                                 "--state",
                                 place->state,
                                 "--log",
                                 "none",
                                 "--http",
                                 "0",
                                 NULL};
    place->pid = measure_start(NULL, words);
    for (int i = 0; i < START_TRIES && !read_line(place->state, "http.url", url, sizeof(url)); i++)
        usleep(TRY_US);
    measure_require(url[0] != '\0', "the society does not listen");
    measure_require(read_line(place->state, "http.token", place->token, sizeof(place->token)),
                    "there is no token");
    place->port = atoi(strrchr(url, ':') + 1);
    place->intake_length = (size_t)snprintf(
        place->intake, sizeof(place->intake),
        "POST /api/v1/intake HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        place->port, place->token, sizeof(payload) - 1, payload);
}

static void close_place(struct place *place)
{
    kill(place->pid, SIGTERM);
    waitpid(place->pid, NULL, 0);
    measure_remove_directory(place->state);
}

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int one = 1;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    measure_require(client >= 0 &&
                        connect(client, (struct sockaddr *)(void *)&address, sizeof(address)) == 0,
                    "cannot connect");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return client;
}

static void send_all(int client, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(client, text, length, MSG_NOSIGNAL);
        measure_require(sent > 0, "cannot send");
        text += sent;
        length -= (size_t)sent;
    }
}

/* Takes a whole response off the front of `in`; false if it is not complete. */
static bool take_response(struct soc_buf *in, const char *status)
{
    const char *text = soc_buf_text(in);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, "Content-Length: ");
    if (end == NULL)
        return false;
    measure_require(strncmp(text + 9, status, 3) == 0 && length != NULL && length < end, text);
    size_t all = (size_t)(end + 4 - text) + (size_t)atoi(length + 16);
    if (in->length < all)
        return false;
    memmove(in->data, in->data + all, in->length - all);
    in->length -= all;
    return true;
}

static void ask(int client, const struct place *place, struct soc_buf *in)
{
    send_all(client, place->intake, place->intake_length);
    while (!take_response(in, "202")) {
        ssize_t got = recv(client, soc_buf_reserve(in, 4096), 4096, 0);
        measure_require(got > 0, "the connection broke");
        in->length += (size_t)got;
    }
}

static void measure_singles(const struct place *place, size_t count)
{
    double *ours = malloc(count * sizeof(*ours));
    double *bare = malloc(count * sizeof(*bare));
    struct soc_buf in = {0};
    int client = connect_to(place->port);
    size_t part = count / ROUNDS;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < part; i++) {
            int64_t begin_us = measure_now_us();
            ask(client, place, &in);
            ours[round * part + i] = (double)(measure_now_us() - begin_us);
        }
        measure_bare_writes(place->state, BARE_BYTES, part, bare + round * part);
    }
    measure_print(&(struct measure_figure){.name = "intake to durable answer, median",
                                           .unit = "us",
                                           .value = measure_quantile(ours, part * ROUNDS, 0.5),
                                           .yardstick_name = "write + fdatasync",
                                           .yardstick = measure_quantile(bare, part * ROUNDS, 0.5),
                                           .goal = MEASURE_AT_MOST,
                                           .target = RATIO,
                                           .is_ratio_meant = true});
    measure_print(&(struct measure_figure){.name = "the same, 99 of 100",
                                           .unit = "us",
                                           .value = measure_quantile(ours, part * ROUNDS, 0.99),
                                           .yardstick_name = "write + fdatasync",
                                           .yardstick = measure_quantile(bare, part * ROUNDS, 0.99),
                                           .goal = MEASURE_AT_MOST,
                                           .target = RATIO,
                                           .is_ratio_meant = true});
    close(client);
    soc_buf_fini(&in);
    free(ours);
    free(bare);
}

/* Has `connections` clients send a request again and again until `count` are answered; the
 * answers per second. */
static double measure_many(int port, const char *request, size_t length, const char *status,
                           size_t count)
{
    struct client {
        int socket;
        struct soc_buf in;
    } clients[CONNECTIONS] = {{0}};
    struct epoll_event events[CONNECTIONS];
    int poll = epoll_create1(EPOLL_CLOEXEC);
    size_t sent = 0;
    size_t answered = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
        clients[i].socket = connect_to(port);
        epoll_ctl(poll, EPOLL_CTL_ADD, clients[i].socket,
                  &(struct epoll_event){.events = EPOLLIN, .data = {.u32 = (uint32_t)i}});
    }
    int64_t begin_us = measure_now_us();
    for (int i = 0; i < CONNECTIONS; i++, sent++)
        send_all(clients[i].socket, request, length);
    while (answered < count) {
        int ready = epoll_wait(poll, events, CONNECTIONS, 10000);
        measure_require(ready > 0, "no answers");
        for (int i = 0; i < ready; i++) {
            struct client *client = &clients[events[i].data.u32];
            ssize_t got = recv(client->socket, soc_buf_reserve(&client->in, 4096), 4096, 0);
            measure_require(got > 0, "the connection broke");
            client->in.length += (size_t)got;
            while (take_response(&client->in, status)) {
                answered++;
                if (sent < count) {
                    send_all(client->socket, request, length);
                    sent++;
                }
            }
        }
    }
    double seconds = (double)(measure_now_us() - begin_us) / 1e6;
    for (int i = 0; i < CONNECTIONS; i++) {
        close(clients[i].socket);
        soc_buf_fini(&clients[i].in);
    }
    close(poll);
    return (double)count / seconds;
}

static enum MHD_Result say_hello(void *user, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    static const char text[] = "{\"messageId\":\"msg_20260105_120000_00000000000000a\"}\n";
    (void)user, (void)url, (void)method, (void)version, (void)data;
    if (*context == NULL) {
        *context = connection;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(
        sizeof(text) - 1, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(connection, 202, response);
    MHD_destroy_response(response);
    return result;
}

static double measure_hello(const struct place *place, size_t count)
{
    struct MHD_Daemon *bare =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, say_hello, NULL,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)(2 * CONNECTIONS), MHD_OPTION_END);
    measure_require(bare != NULL, "libmicrohttpd does not start");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(bare, MHD_DAEMON_INFO_BIND_PORT);
    double rate = measure_many(info->port, place->intake, place->intake_length, "202", count);
    MHD_stop_daemon(bare);
    return rate;
}

/* The user and system time of a process so far, in microseconds, and its resident bytes. */
static void read_process(pid_t pid, double *cpu_us, double *bytes)
{
    char path[64];
    char text[TEXT_BYTES];
    unsigned long user = 0;
    unsigned long system = 0;
    long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    measure_require(file != NULL && fgets(text, sizeof(text), file) != NULL, path);
    fclose(file);
    sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
           &system);
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    file = fopen(path, "r");
    measure_require(file != NULL && fscanf(file, "%*d %ld", &pages) == 1, path);
    fclose(file);
    double tick_us = 1e6 / (double)sysconf(_SC_CLK_TCK);
    *cpu_us = (double)(user + system) * tick_us;
    *bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void measure_load(const struct place *place, size_t count)
{
    double hello = measure_hello(place, count);
    double before_us, after_us, bytes;
    read_process(place->pid, &before_us, &bytes);
    double ours = measure_many(place->port, place->intake, place->intake_length, "202", count);
    read_process(place->pid, &after_us, &bytes);
    measure_print(&(struct measure_figure){.name = "durable intakes, 64 connections",
                                           .unit = "/s",
                                           .value = ours,
                                           .yardstick_name = "libmicrohttpd's hello",
                                           .yardstick = hello,
                                           .goal = MEASURE_AT_LEAST,
                                           .target = INTAKES_TARGET});
    measure_print(&(struct measure_figure){.name = "CPU of a durable intake",
                                           .unit = "us",
                                           .value = (after_us - before_us) / (double)count});
}

static void measure_idle(const struct place *place)
{
    double before_us, after_us, bytes;
    read_process(place->pid, &before_us, &bytes);
    usleep(IDLE_SECONDS * 1000000);
    read_process(place->pid, &after_us, &bytes);
    measure_print(&(struct measure_figure){.name = "an idle door, CPU",
                                           .unit = "% of a core",
                                           .value = (after_us - before_us) / (IDLE_SECONDS * 1e4),
                                           .goal = MEASURE_AT_MOST,
                                           .target = 1});
}

/* Clients that listen, and those that send what there is to hear. */
struct audience {
    int poll;
    int listeners[LISTENERS];
    struct sender {
        int socket;
        bool is_waiting; /* for its answer */
        struct soc_buf in;
    } senders[SENDERS];
    size_t events;
};

/* Reads what has come; the number of events in it. */
static size_t count_events(int client)
{
    static char text[262144];
    size_t events = 0;
    ssize_t got;
    while ((got = recv(client, text, sizeof(text), MSG_DONTWAIT)) > 0)
        for (const char *at = text, *end = text + got;
             (at = memchr(at, '\n', (size_t)(end - at))) != NULL && ++at < end;)
            events += *at == 'd'; /* a line of data */
    return events;
}

static void add_to_poll(const struct audience *audience, int client, uint32_t number)
{
    epoll_ctl(audience->poll, EPOLL_CTL_ADD, client,
              &(struct epoll_event){.events = EPOLLIN, .data = {.u32 = number}});
}

/* Takes what has come for some of them. */
static void hear(struct audience *audience)
{
    struct epoll_event ready[256];
    int count = epoll_wait(audience->poll, ready, 256, 1);
    for (int i = 0; i < count; i++) {
        uint32_t number = ready[i].data.u32;
        if (number < LISTENERS) {
            audience->events += count_events(audience->listeners[number]);
            continue;
        }
        struct sender *sender = &audience->senders[number - LISTENERS];
        ssize_t got = recv(sender->socket, soc_buf_reserve(&sender->in, 4096), 4096, MSG_DONTWAIT);
        measure_require(got > 0, "the connection broke");
        sender->in.length += (size_t)got;
        sender->is_waiting = !take_response(&sender->in, "202");
    }
}

static void listen_for(const struct place *place, struct audience *audience)
{
    int64_t sent = 0;
    for (uint32_t i = 0; i < SENDERS; i++) {
        audience->senders[i].socket = connect_to(place->port);
        add_to_poll(audience, audience->senders[i].socket, LISTENERS + i);
    }
    int64_t begin_us = measure_now_us();
    while (measure_now_us() - begin_us < LISTEN_SECONDS * 1000000) {
        int64_t due = (measure_now_us() - begin_us) * OFFERED / LINES / 1000000;
        for (size_t i = 0; i < SENDERS && sent < due; i++) {
            if (audience->senders[i].is_waiting)
                continue;
            audience->senders[i].is_waiting = true;
            send_all(audience->senders[i].socket, place->intake, place->intake_length);
            sent++;
        }
        hear(audience);
    }
    for (size_t i = 0; i < SENDERS; i++) {
        close(audience->senders[i].socket);
        soc_buf_fini(&audience->senders[i].in);
    }
}

static void measure_listeners(const struct place *place)
{
    static struct audience audience;
    char request[512];
    double before_us, after_us, before_bytes, after_bytes;
    audience.poll = epoll_create1(EPOLL_CLOEXEC);
    read_process(place->pid, &before_us, &before_bytes);
    int length = snprintf(request, sizeof(request),
                          "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: "
                          "Bearer %s\r\n\r\n",
                          place->port, place->token);
    for (int i = 0; i < LISTENERS; i++) {
        char head[4096];
        int client = audience.listeners[i] = connect_to(place->port);
        send_all(client, request, (size_t)length);
        ssize_t got = recv(client, head, sizeof(head) - 1, 0);
        measure_require(got > 12 && strncmp(head, "HTTP/1.1 200", 12) == 0, "no stream");
        add_to_poll(&audience, client, (uint32_t)i);
    }
    read_process(place->pid, &before_us, &after_bytes);
    measure_print(&(struct measure_figure){.name = "memory of a listener, 1,000 of them",
                                           .unit = "bytes",
                                           .value = (after_bytes - before_bytes) / LISTENERS});
    listen_for(place, &audience);
    read_process(place->pid, &after_us, &after_bytes);
    for (int i = 0; i < LISTENERS; i++)
        close(audience.listeners[i]);
    close(audience.poll);
    measure_print(
        &(struct measure_figure){.name = "events to each of them",
                                 .unit = "/s",
                                 .value = (double)audience.events / LISTENERS / LISTEN_SECONDS,
                                 .goal = MEASURE_AT_LEAST,
                                 .target = EVENTS_A_SECOND});
    measure_print(
        &(struct measure_figure){.name = "CPU of an event to one listener",
                                 .unit = "us",
                                 .value = (after_us - before_us) / (double)audience.events});
}

int main(int argc, char **argv)
{
    struct place place = {0};
    struct rlimit limit;
    bool is_full = measure_begin(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    open_place(&place);
    measure_idle(&place);
    measure_singles(&place, is_full ? SINGLES_FULL : SINGLES_QUICK);
    measure_load(&place, is_full ? MANY_FULL : MANY_QUICK);
    close_place(&place);
    open_place(&place);
    measure_listeners(&place);
    close_place(&place);
    return 0;
}

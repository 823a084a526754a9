#include "redis.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "measure.h"

#define BATCH       100
#define START_TRIES 250
#define TRY_US      20000
#define READ_BYTES  (256u << 10)

/* A connection with what was read and not used yet. */
struct connection {
    int socket;
    size_t from;
    size_t to;
    char bytes[READ_BYTES];
};

static pid_t start_server(const char *directory)
{
    const char *const words[] = {"redis-server",
                                 "--port",
                                 "0",
                                 "--unixsocket",
                                 "redis.sock",
                                 "--appendonly",
                                 "yes",
                                 "--appendfsync",
                                 "always",
                                 "--save",
                                 "",
                                 "--auto-aof-rewrite-percentage",
                                 "0",
                                 "--logfile",
                                 "redis.log",
                                 NULL};
    return measure_start(directory, words);
}

/* Waits until the server listens. False if it is none. */
static bool connect_to(struct connection *connection, const char *directory, pid_t server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/redis.sock", directory);
    measure_require(length < (int)sizeof(address.sun_path), "the directory's path is too long");
    for (int i = 0; i < START_TRIES; i++) {
        connection->socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(connection->socket, (struct sockaddr *)&address, sizeof(address)) == 0)
            return true;
        close(connection->socket);
        if (waitpid(server, NULL, WNOHANG) == server)
            return false;
        usleep(TRY_US);
    }
    return false;
}

static void write_all(struct connection *connection, struct soc_buf *request)
{
    for (size_t done = 0; done < request->length;) {
        ssize_t n = write(connection->socket, request->data + done, request->length - done);
        measure_require(n > 0, "redis went away");
        done += (size_t)n;
    }
    request->length = 0;
}

static void fill(struct connection *connection)
{
    memmove(connection->bytes, connection->bytes + connection->from,
            connection->to - connection->from);
    connection->to -= connection->from;
    connection->from = 0;
    ssize_t n =
        read(connection->socket, connection->bytes + connection->to, READ_BYTES - connection->to);
    measure_require(n > 0, "redis went away");
    connection->to += (size_t)n;
}

/* Takes one line and returns its first byte; its number goes to `number`. */
static char read_line(struct connection *connection, long *number)
{
    char *end;
    while ((end = memchr(connection->bytes + connection->from, '\n',
                         connection->to - connection->from)) == NULL)
        fill(connection);
    char *line = connection->bytes + connection->from;
    connection->from = (size_t)(end + 1 - connection->bytes);
    measure_require(line[0] != '-', line);
    *number = strtol(line + 1, NULL, 10);
    return line[0];
}

static void skip_bytes(struct connection *connection, size_t count)
{
    while (connection->to - connection->from < count)
        fill(connection);
    connection->from += count;
}

/* Reads `count` replies, whatever they are; returns the strings in them. */
static long read_replies(struct connection *connection, long count)
{
    long strings = 0;
    for (long open = count; open > 0; open--) {
        long number;
        char kind = read_line(connection, &number);
        if (kind == '*' && number > 0)
            open += number;
        if (kind == '$' && number >= 0) {
            skip_bytes(connection, (size_t)number + 2);
            strings++;
        }
    }
    return strings;
}

/* The command of a list of words, as the protocol wants it. */
static void put_command(struct soc_buf *request, const char *const *words, size_t count)
{
    soc_buf_printf(request, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        soc_buf_printf(request, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
}

static void put_batch(struct soc_buf *request)
{
    static const char *const words[] = {
        "XADD",
        "mail",
        "*",
        "amount",
        "1250",
        "order",
        "48151623",
        "customer",
        "sales_agent_17",
        "subject",
        "order approved",
        "state",
        "waiting",
        "content",
        "the order is ready and waits for approval by the owner of the account, please now."};
    for (int i = 0; i < BATCH; i++)
        put_command(request, words, sizeof(words) / sizeof(words[0]));
}

static void put_take(struct soc_buf *request)
{
    static const char *const words[] = {"XREADGROUP", "GROUP",   "workers", "one", "COUNT",
                                        "100",        "STREAMS", "mail",    ">"};
    put_command(request, words, sizeof(words) / sizeof(words[0]));
}

/* Reads the answer of one XREADGROUP and puts the XACK of all its ids: they are
 * the strings with a hyphen that stand first in each entry. */
static void read_batch(struct connection *connection, struct soc_buf *acks)
{
    long number;
    long entries = 0;
    for (int i = 0; i < 2; i++) /* the list of streams, then one stream */
        measure_require(read_line(connection, &number) == '*', "redis has nothing to read");
    read_line(connection, &number);
    skip_bytes(connection, (size_t)number + 2);
    read_line(connection, &entries);
    measure_require(entries == BATCH, "redis gave another number of messages");
    soc_buf_printf(acks, "*%d\r\n$4\r\nXACK\r\n$4\r\nmail\r\n$7\r\nworkers\r\n", BATCH + 3);
    for (long i = 0; i < entries; i++) {
        read_line(connection, &number);
        read_line(connection, &number);
        while (connection->to - connection->from < (size_t)number + 2)
            fill(connection);
        soc_buf_printf(acks, "$%ld\r\n%.*s\r\n", number, (int)number,
                       connection->bytes + connection->from);
        skip_bytes(connection, (size_t)number + 2);
        read_replies(connection, 1);
    }
}

/* The producer's batch and the consumer's last acknowledgement and next request
 * are under way together. */
static double exchange(struct connection *producer, struct connection *consumer, int64_t count)
{
    struct soc_buf request = {0};
    struct soc_buf acks = {0};
    soc_buf_printf(&request, "XGROUP CREATE mail workers $ MKSTREAM\r\n");
    write_all(producer, &request);
    read_replies(producer, 1);
    int64_t begin_us = measure_now_us();
    int64_t rounds = count / BATCH;
    for (int64_t i = 0; i <= rounds; i++) {
        bool has_acks = acks.length > 0;
        if (i < rounds) {
            put_batch(&request);
            write_all(producer, &request);
        }
        if (i > 0) {
            put_take(&acks);
            write_all(consumer, &acks);
            if (has_acks)
                read_replies(consumer, 1);
            read_batch(consumer, &acks);
        }
        if (i < rounds)
            read_replies(producer, BATCH);
    }
    write_all(consumer, &acks);
    read_replies(consumer, 1);
    double rate = (double)(rounds * BATCH) * 1e6 / (double)(measure_now_us() - begin_us);
    soc_buf_fini(&request);
    soc_buf_fini(&acks);
    return rate;
}

double redis_messages_per_second(const char *directory, int64_t count)
{
    double rate = 0;
    pid_t server = start_server(directory);
    struct connection *producer = calloc(1, sizeof(*producer));
    struct connection *consumer = calloc(1, sizeof(*consumer));
    measure_require(producer != NULL && consumer != NULL, "no memory");
    if (connect_to(producer, directory, server) && connect_to(consumer, directory, server)) {
        rate = exchange(producer, consumer, count);
        close(producer->socket);
        close(consumer->socket);
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    free(producer);
    free(consumer);
    return rate;
}

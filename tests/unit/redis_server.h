/* Redis server: a private one for a test, on loopback, without persistence.
 *
 * Tests that need it call redis_server_is_there first and print why they skip.
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_REDIS_SERVER_H
#define SOC_TESTS_REDIS_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A server. */
struct redis_server {
    pid_t process; /* 0: not running */
    int port;
    char url[64];
    char password[32]; /* empty: none */
};

/* Tells whether the program is installed; prints a TAP comment if it is not. */
static inline bool redis_server_is_there(void)
{
    if (system("command -v redis-server > /dev/null 2>&1") == 0)
        return true;
    printf("# skipped: redis-server is not installed\n1..0 # SKIP redis-server is missing\n");
    return false;
}

/* Returns a port that nobody listens on. A connection to it ends on this side first: so the system
 * gives it to nobody else for a minute, but lets a server that names it have it. */
static inline int redis_server_free_port(void)
{
    int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int accepted = -1;
    int yes = 1;
    char end;
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(probe, (struct sockaddr *)&address, length) != 0 || listen(probe, 1) != 0 ||
        getsockname(probe, (struct sockaddr *)&address, &length) != 0 ||
        connect(client, (struct sockaddr *)&address, length) != 0 ||
        (accepted = accept(probe, NULL, NULL)) < 0)
        abort();
    close(probe);
    close(accepted);
    if (read(client, &end, 1) != 0)
        abort();
    close(client);
    return ntohs(address.sin_port);
}

/* Runs a server by a command line. It ends with the test, however that ends. */
static inline void redis_server_run(struct redis_server *server, const char *command)
{
    pid_t parent = getpid();
    server->process = fork();
    if (server->process != 0)
        return;
    char watch[1024];
    snprintf(
        watch, sizeof(watch),
        "%s > /dev/null 2>&1 & r=$!; trap 'kill -9 $r; exit' TERM; "
        "while kill -0 %d && kill -0 $r; do sleep 0.2; done 2> /dev/null; kill -9 $r 2> /dev/null",
        command, (int)parent);
    execl("/bin/sh", "sh", "-c", watch, (char *)NULL);
    _exit(127);
}

/* Starts it on its port, which is chosen the first time. It may not listen yet: the
 * connection tries again. */
static inline void redis_server_start(struct redis_server *server)
{
    if (server->port == 0)
        server->port = redis_server_free_port();
    snprintf(server->url, sizeof(server->url), "redis://127.0.0.1:%d", server->port);
    char command[512];
    snprintf(command, sizeof(command),
             "redis-server --port %d --bind 127.0.0.1 --save '' --appendonly no --daemonize no "
             "--dir /tmp --loglevel warning --requirepass '%s'",
             server->port, server->password);
    redis_server_run(server, command);
}

/* Ends it; what it held is gone. */
static inline void redis_server_stop(struct redis_server *server)
{
    if (server->process == 0)
        return;
    kill(server->process, SIGTERM);
    waitpid(server->process, NULL, 0);
    server->process = 0;
}

#endif

/* Zygote: the small process that worker processes are forked from.
 *
 * It is the program itself, started anew without environment, so that nothing the host
 * knows is in its memory, whatever the host's size. It has one socket to the host. The host
 * sends a request with the worker's end of a socket pair; the zygote forks and answers with
 * the worker's process id. A dead worker stays a zombie, its number its own, until the host
 * releases it. When the host's end is closed the zygote ends, and its workers with it.
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_ZYGOTE_H
#define SOC_WORKER_ZYGOTE_H

#include <stdbool.h>

/* First argument of the program that makes it a zygote; its socket is descriptor 0. */
#define SOC_ZYGOTE_ARGUMENT "--worker-zygote"

/* What the host sends. */
struct soc_zygote_request {
    int released;    /* process id of a worker that is over; 0: a new worker, with its socket */
    int cpu_seconds; /* of the new worker, at most */
};

/* Starts `program` as a zygote; returns the host's end of its socket, -1 if that fails. */
int soc_zygote_start(const char *program, int *pid);

/* Sends a request without waiting; `socket` < 0: none is passed. False if there is no room
 * or the zygote is gone. */
bool soc_zygote_send(int zygote, struct soc_zygote_request request, int socket);

/* The zygote's own life, with its socket `fd`; returns the exit code. */
int soc_zygote_main(int fd);

#endif

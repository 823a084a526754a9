#include "worker/workers.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/descriptor.h"
#include "worker/parcel.h"
#include "worker/zygote.h"

/* Bytes read, or written, at once: a step of the loop stays short. */
#define PIECE_BYTES       (256u << 10)
#define FRAME_PIECE_BYTES (16u << 10)

/* The zygote has so many starts before it at most, which its socket holds. */
#define STARTS_MAX 32

struct soc_worker {
    struct soc_workers *workers;
    struct soc_worker *next;      /* among those whose process id is on its way */
    struct soc_worker *next_open; /* among those that run */
    struct soc_worker *previous_open;
    struct soc_descriptor *descriptor; /* NULL: stopped */
    int socket;
    int pid; /* 0: not known yet */
    struct soc_buf out;
    size_t written;
    struct soc_buf in;
    soc_workers_cb *cb;
    void *user;
    bool converses;
    bool is_dead;   /* of one that converses: nothing comes from it any more */
    bool has_frame; /* `in` holds what it said */
};

struct soc_workers {
    struct soc_loop *loop;
    char *program;
    int zygote; /* its socket; -1: it does not run */
    int zygote_pid;
    struct soc_descriptor *descriptor;
    struct soc_worker *first; /* whose process ids are on their way, in order */
    struct soc_worker *last;
    unsigned expected; /* how many they are */
    struct soc_worker *open;
};

struct soc_workers *soc_workers_new(struct soc_loop *loop, const char *program)
{
    struct soc_workers *workers = soc_alloc_zero(sizeof(*workers));
    workers->loop = loop;
    workers->program = soc_copy_text(program, strlen(program));
    workers->zygote = -1;
    return workers;
}

/* Kills the process and lets the zygote forget its number. A zygote that takes nothing more
 * keeps a zombie until it ends. */
static void release_process(struct soc_workers *workers, int pid)
{
    kill(pid, SIGKILL);
    if (workers->zygote >= 0)
        soc_zygote_send(workers->zygote, (struct soc_zygote_request){.released = pid}, -1);
}

/* Closes the host's end. The worker itself stays until its process id is known. */
static void close_worker(struct soc_worker *worker)
{
    struct soc_workers *workers = worker->workers;
    assert(worker->descriptor != NULL);
    soc_descriptor_close(worker->descriptor);
    worker->descriptor = NULL;
    close(worker->socket);
    soc_buf_fini(&worker->out);
    soc_buf_fini(&worker->in);
    if (worker->previous_open != NULL)
        worker->previous_open->next_open = worker->next_open;
    else
        workers->open = worker->next_open;
    if (worker->next_open != NULL)
        worker->next_open->previous_open = worker->previous_open;
    if (worker->pid == 0)
        return;
    if (worker->pid > 0)
        release_process(workers, worker->pid);
    free(worker);
}

/* The job is over, or there is something to be heard. */
static void end_worker(struct soc_worker *worker, struct soc_slice answer)
{
    if (worker->converses) {
        soc_descriptor_set(worker->descriptor, false, false);
        worker->is_dead = true;
        worker->cb(worker->user, (struct soc_slice){0});
        return;
    }
    struct soc_buf in = worker->in; /* holds the answer */
    soc_workers_cb *cb = worker->cb;
    void *user = worker->user;
    worker->in = (struct soc_buf){0};
    close_worker(worker);
    cb(user, answer);
    soc_buf_fini(&in);
}

static struct soc_worker *pop_expected(struct soc_workers *workers)
{
    struct soc_worker *worker = workers->first;
    workers->first = worker->next;
    if (workers->first == NULL)
        workers->last = NULL;
    worker->next = NULL;
    workers->expected--;
    return worker;
}

bool soc_workers_are_busy(const struct soc_workers *workers)
{
    return workers->expected >= STARTS_MAX;
}

/* The zygote is gone. Workers that it has forked die with it and are seen to; the system may
 * give their numbers to others now, so they are forgotten. */
static void lose_zygote(struct soc_workers *workers)
{
    soc_descriptor_close(workers->descriptor);
    workers->descriptor = NULL;
    close(workers->zygote);
    workers->zygote = -1;
    kill(workers->zygote_pid, SIGKILL);
    waitpid(workers->zygote_pid, NULL, 0);
    for (struct soc_worker *worker = workers->open; worker != NULL; worker = worker->next_open)
        if (worker->pid > 0)
            worker->pid = -1;
    while (workers->first != NULL) {
        struct soc_worker *worker = pop_expected(workers);
        if (worker->descriptor == NULL) {
            free(worker);
            continue;
        }
        worker->pid = -1; /* never to be known: nothing to kill */
        end_worker(worker, (struct soc_slice){0});
    }
}

/* The zygote says which process the next worker has. */
static void take_pid(struct soc_workers *workers, int pid)
{
    struct soc_worker *worker = pop_expected(workers);
    if (worker->descriptor == NULL) { /* stopped meanwhile */
        if (pid > 0)
            release_process(workers, pid);
        free(worker);
        return;
    }
    worker->pid = pid > 0 ? pid : -1;
    if (pid <= 0)
        end_worker(worker, (struct soc_slice){0});
}

static void on_zygote(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_workers *workers = user;
    (void)can_read, (void)can_write;
    for (;;) {
        int pid;
        ssize_t got = recv(socket, &pid, sizeof(pid), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got != (ssize_t)sizeof(pid) || workers->first == NULL) {
            lose_zygote(workers);
            return;
        }
        take_pid(workers, pid);
    }
}

static bool has_zygote(struct soc_workers *workers)
{
    if (workers->zygote >= 0)
        return true;
    workers->zygote = soc_zygote_start(workers->program, &workers->zygote_pid);
    if (workers->zygote < 0)
        return false;
    workers->descriptor =
        soc_descriptor_open(workers->loop, "zygote", workers->zygote, on_zygote, workers);
    soc_descriptor_set(workers->descriptor, true, false);
    return true;
}

/* Waits for the socket, in vain if that takes too long. */
static void wait_for_socket(const struct soc_worker *worker, int64_t wait_us)
{
    bool writes = worker->written < worker->out.length;
    struct pollfd watched = {worker->socket, (short)(POLLIN | (writes ? POLLOUT : 0)), 0};
    struct timespec time = {wait_us / 1000000, wait_us % 1000000 * 1000};
    ppoll(&watched, 1, &time, NULL);
}

static bool write_piece(struct soc_worker *worker)
{
    size_t left = worker->out.length - worker->written;
    if (left == 0)
        return true;
    ssize_t sent = send(worker->socket, worker->out.data + worker->written,
                        left < PIECE_BYTES ? left : PIECE_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    worker->written += (size_t)sent;
    soc_descriptor_set(worker->descriptor, true, worker->written < worker->out.length);
    return true;
}

/* Reads once from a worker that converses; false: there is nothing to read now. */
static bool read_frame(struct soc_worker *worker)
{
    struct soc_slice frame;
    char *place = soc_buf_reserve(&worker->in, FRAME_PIECE_BYTES);
    ssize_t got = recv(worker->socket, place, FRAME_PIECE_BYTES, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got > 0)
        worker->in.length += (size_t)got;
    enum soc_parcel_state state = got > 0 ? soc_parcel_look(&worker->in, &frame) : SOC_PARCEL_WRONG;
    worker->has_frame = state == SOC_PARCEL_WHOLE;
    worker->is_dead = state == SOC_PARCEL_WRONG;
    return true;
}

static void on_speaker(struct soc_worker *worker, bool can_read)
{
    if (can_read && (worker->has_frame || worker->is_dead)) /* it is not its turn to speak */
        soc_descriptor_set(worker->descriptor, false, false);
    if (!can_read || worker->has_frame || worker->is_dead)
        return;
    read_frame(worker);
    if (!worker->has_frame && !worker->is_dead)
        return;
    soc_descriptor_set(worker->descriptor, false, false);
    worker->cb(worker->user, (struct soc_slice){0});
}

static void on_worker(void *user, int socket, bool can_read, bool can_write)
{
    struct soc_worker *worker = user;
    struct soc_slice answer = {0};
    if (can_write)
        write_piece(worker); /* a worker that has ended is noticed by reading */
    if (worker->converses) {
        on_speaker(worker, can_read);
        return;
    }
    if (!can_read)
        return;
    ssize_t got =
        recv(socket, soc_buf_reserve(&worker->in, PIECE_BYTES), PIECE_BYTES, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        end_worker(worker, answer);
        return;
    }
    worker->in.length += (size_t)got;
    enum soc_parcel_state state = soc_parcel_look(&worker->in, &answer);
    if (state != SOC_PARCEL_PART)
        end_worker(worker, answer);
}

/* Starts a worker that may use so much CPU time in all. */
static struct soc_worker *start(struct soc_workers *workers, struct soc_slice request,
                                int cpu_seconds, soc_workers_cb *cb, void *user)
{
    int pair[2];
    if (!has_zygote(workers) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return NULL;
    struct soc_zygote_request wish = {.cpu_seconds = cpu_seconds};
    bool is_sent = soc_zygote_send(workers->zygote, wish, pair[1]);
    close(pair[1]);
    if (!is_sent) {
        close(pair[0]);
        return NULL;
    }
    struct soc_worker *worker = soc_alloc_zero(sizeof(*worker));
    worker->workers = workers;
    worker->socket = pair[0];
    worker->cb = cb;
    worker->user = user;
    soc_parcel_put(&worker->out, request);
    worker->descriptor = soc_descriptor_open(workers->loop, "worker", pair[0], on_worker, worker);
    soc_descriptor_set(worker->descriptor, true, true);
    if (workers->last == NULL)
        workers->first = worker;
    else
        workers->last->next = worker;
    workers->last = worker;
    workers->expected++;
    worker->next_open = workers->open;
    if (workers->open != NULL)
        workers->open->previous_open = worker;
    workers->open = worker;
    return worker;
}

struct soc_worker *soc_workers_start(struct soc_workers *workers, struct soc_slice request,
                                     soc_workers_cb *cb, void *user)
{
    return start(workers, request, SOC_RUN_LUA_CPU_MS_MAX / 1000 + 1, cb, user);
}

struct soc_worker *soc_workers_converse(struct soc_workers *workers, struct soc_slice frame,
                                        soc_workers_cb *cb, void *user)
{
    struct soc_worker *worker = start(workers, frame, SOC_WORKER_CPU_S_MAX, cb, user);
    if (worker != NULL)
        worker->converses = true;
    return worker;
}

bool soc_workers_say(struct soc_worker *worker, struct soc_slice frame)
{
    assert(worker->converses && worker->has_frame);
    worker->has_frame = false;
    if (worker->in.capacity > PIECE_BYTES)
        soc_buf_fini(&worker->in);
    worker->in.length = 0;
    if (worker->out.capacity > PIECE_BYTES)
        soc_buf_fini(&worker->out);
    worker->out.length = worker->written = 0;
    soc_parcel_put(&worker->out, frame);
    soc_descriptor_set(worker->descriptor, true, true);
    return write_piece(worker);
}

enum soc_workers_heard soc_workers_listen(struct soc_worker *worker, int64_t wait_us,
                                          struct soc_slice *frame)
{
    assert(worker->converses);
    int64_t end_us = soc_workers_clock_us() + wait_us;
    while (!worker->has_frame && !worker->is_dead) {
        write_piece(worker);
        if (read_frame(worker))
            continue;
        int64_t left_us = end_us - soc_workers_clock_us();
        if (wait_us <= 0 || left_us <= 0)
            return SOC_WORKERS_NOTHING;
        wait_for_socket(worker, left_us);
    }
    if (!worker->has_frame)
        return SOC_WORKERS_DEATH;
    soc_parcel_look(&worker->in, frame);
    return SOC_WORKERS_FRAME;
}

void soc_workers_set_user(struct soc_worker *worker, void *user)
{
    worker->user = user;
}

void soc_workers_stop(struct soc_worker *worker)
{
    close_worker(worker);
}

static int64_t read_clock_us(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t soc_workers_own_cpu_us(void)
{
    return read_clock_us(CLOCK_THREAD_CPUTIME_ID);
}

int64_t soc_workers_clock_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

int64_t soc_workers_cpu_ms(const struct soc_worker *worker)
{
    clockid_t clock;
    struct timespec used;
    if (worker->pid <= 0 || clock_getcpuclockid(worker->pid, &clock) != 0 ||
        clock_gettime(clock, &used) < 0)
        return 0;
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

int soc_workers_pid(const struct soc_worker *worker)
{
    return worker->pid > 0 ? worker->pid : 0;
}

void soc_workers_free(struct soc_workers *workers)
{
    if (workers == NULL)
        return;
    while (workers->open != NULL)
        close_worker(workers->open);
    if (workers->zygote >= 0)
        lose_zygote(workers);
    free(workers->program);
    free(workers);
}

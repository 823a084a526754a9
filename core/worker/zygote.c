#include "worker/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "worker/guard.h"
#include "worker/guest.h"
#include "worker/job.h"
#include "worker/parcel.h"

/* Address space of a worker beyond the zygote's: the heap's own bound, and some. */
#define MEMORY_BYTES ((size_t)1 << 30)

int soc_zygote_start(const char *program, int *pid)
{
    int pair[2];
    char *arguments[] = {(char *)"society-zygote", (char *)SOC_ZYGOTE_ARGUMENT, NULL};
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 1);
    int rc = posix_spawn(pid, program, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (rc == 0)
        return pair[0];
    close(pair[0]);
    return -1;
}

/* A message with room for one descriptor. */
struct packet {
    struct msghdr header;
    struct iovec part;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
};

static void init_packet(struct packet *packet, void *data, size_t length)
{
    memset(packet, 0, sizeof(*packet));
    packet->part = (struct iovec){data, length};
    packet->header.msg_iov = &packet->part;
    packet->header.msg_iovlen = 1;
    packet->header.msg_control = packet->control.bytes;
    packet->header.msg_controllen = sizeof(packet->control.bytes);
}

bool soc_zygote_send(int zygote, struct soc_zygote_request request, int socket)
{
    struct packet packet;
    init_packet(&packet, &request, sizeof(request));
    if (socket < 0) {
        packet.header.msg_control = NULL;
        packet.header.msg_controllen = 0;
    } else {
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet.header);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &socket, sizeof(int));
    }
    ssize_t sent = sendmsg(zygote, &packet.header, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent == (ssize_t)sizeof(request);
}

/* Receives a request; false at the end. `*socket` is -1 if none came. */
static bool receive(int fd, struct soc_zygote_request *request, int *socket)
{
    struct packet packet;
    ssize_t got;
    do {
        init_packet(&packet, request, sizeof(*request));
        got = recvmsg(fd, &packet.header, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const struct cmsghdr *header = CMSG_FIRSTHDR(&packet.header);
    *socket = -1;
    if (got > 0 && header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(socket, CMSG_DATA(header), sizeof(int));
    return got == (ssize_t)sizeof(*request);
}

/* The last frame of a worker whose memory is over. */
static void answer_and_exit(void *user, struct soc_slice answer)
{
    soc_parcel_write(*(int *)user, answer);
    _exit(0);
}

/* Has the calling process end with `zygote`, its parent, also when that has ended already. */
static void end_with(pid_t zygote)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != zygote)
        _exit(1);
}

/* A worker's life: one job, or one isolated agent. It never returns. */
static void work(int fd, int cpu_seconds, const struct soc_guard_filter *filter)
{
    struct soc_guard_limits limits = {MEMORY_BYTES, (unsigned)cpu_seconds};
    struct soc_buf request = {0};
    struct soc_buf answer = {0};
    if (!soc_guard_close_others(fd) || !soc_guard_enter(filter, &limits))
        _exit(2);
    if (!soc_parcel_read(fd, &request))
        _exit(1);
    if (soc_json_member(soc_buf_slice(&request), "script").data == NULL)
        soc_guest_run(fd, &request);
    soc_job_run(soc_buf_slice(&request), &answer, answer_and_exit, &fd);
    soc_parcel_write(fd, soc_buf_slice(&answer));
    _exit(0);
}

static int compare_bytes(const void *left, const void *right)
{
    return *(const char *)left - *(const char *)right;
}

/* Has the C library ask the system now what a worker may not ask later: qsort wants to know
 * how much memory there is. */
static void warm_up(void)
{
    static const char job[] = "{\"script\":\"return {b=1,a=('x'):rep(2)}\"}";
    struct soc_buf answer = {0};
    char *bytes = calloc(1, 65536);
    if (bytes != NULL)
        qsort(bytes, 65536, 1, compare_bytes);
    free(bytes);
    soc_job_run(soc_slice(job, sizeof(job) - 1), &answer, NULL, NULL);
    soc_buf_fini(&answer);
}

static void fork_worker(int fd, int socket, int cpu_seconds, const struct soc_guard_filter *filter)
{
    pid_t zygote = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        end_with(zygote);
        work(socket, cpu_seconds, filter);
    }
    close(socket);
    int answer = pid;
    if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
        _exit(1); /* the host is gone */
}

int soc_zygote_main(int fd)
{
    static struct soc_guard_filter filter; /* too large for a stack */
    struct soc_zygote_request request;
    int socket;
    signal(SIGINT, SIG_IGN); /* of the terminal: the host decides */
    signal(SIGTERM, SIG_IGN);
    if (!soc_guard_compile(&filter) || !soc_guard_drop_rights() ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return 2;
    warm_up();
    while (receive(fd, &request, &socket)) {
        if (request.released > 0) {
            kill(request.released, SIGKILL);
            waitpid(request.released, NULL, 0);
        } else if (socket >= 0) {
            fork_worker(fd, socket, request.cpu_seconds, &filter);
        }
    }
    return 0;
}

#include "embed/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/alarm.h"

struct soc_service {
    struct sockaddr_un address;
    socklen_t length;        /* of the address */
    struct soc_alarm *alarm; /* NULL: no signs of life are wanted */
    int64_t period_ms;
};

/* Reads $NOTIFY_SOCKET: a path, or after an @ a name in the abstract space. */
static bool read_address(struct soc_service *service)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t length = name == NULL ? 0 : strlen(name);
    if (length < 2 || length >= sizeof(service->address.sun_path) ||
        (name[0] != '/' && name[0] != '@'))
        return false;
    service->address.sun_family = AF_UNIX;
    memcpy(service->address.sun_path, name, length);
    if (name[0] == '@')
        service->address.sun_path[0] = '\0';
    service->length =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/' ? 1 : 0));
    return true;
}

/* Returns how often a sign of life is due; 0: never. */
static int64_t read_period_ms(void)
{
    const char *usec = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    bool is_meant = pid == NULL || strtoll(pid, NULL, 10) == (long long)getpid();
    int64_t limit_us = usec == NULL || !is_meant ? 0 : strtoll(usec, NULL, 10);
    if (limit_us <= 0)
        return 0;
    return limit_us < 2000 ? 1 : limit_us / 2000;
}

static void tell(const struct soc_service *service, const char *text)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ssize_t sent;
    if (fd < 0)
        return;
    do
        sent = sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                      (const struct sockaddr *)&service->address, service->length);
    while (sent < 0 && errno == EINTR);
    close(fd);
}

static void show_life(void *user)
{
    struct soc_service *service = user;
    tell(service, "WATCHDOG=1");
    soc_alarm_set(service->alarm, service->period_ms);
}

struct soc_service *soc_service_open(struct soc_loop *loop)
{
    struct soc_service *service = soc_alloc_zero(sizeof(*service));
    if (!read_address(service)) {
        free(service);
        return NULL;
    }
    service->period_ms = read_period_ms();
    if (service->period_ms > 0)
        service->alarm = soc_alarm_open(loop, "service", show_life, service);
    return service;
}

void soc_service_ready(struct soc_service *service)
{
    char text[64];
    if (service == NULL)
        return;
    /* MAINPID also where a shell script started the program. */
    snprintf(text, sizeof(text), "READY=1\nMAINPID=%lld", (long long)getpid());
    tell(service, text);
    if (service->alarm != NULL)
        show_life(service);
}

void soc_service_stopping(struct soc_service *service)
{
    if (service != NULL)
        tell(service, "STOPPING=1");
}

void soc_service_close(struct soc_service *service)
{
    if (service == NULL)
        return;
    soc_alarm_close(service->alarm);
    free(service);
}

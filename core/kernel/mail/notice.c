#include "kernel/mail/notice.h"

#include "kernel/mail/router.h"
#include "kernel/trace.h"
#include "kernel/turns/commit.h"
#include "kernel/turns/turn.h"

void soc_notice_send(struct soc_host *host, struct soc_agent *from, const struct soc_send *send,
                     const char *failed)
{
    struct soc_message *message;
    struct soc_buf error = {0};
    bool is_own = !host->turn.is_open;
    if (is_own)
        soc_turn_begin(host, NULL, NULL);
    int rc = soc_router_send(host, from, send, &message, &error);
    if (is_own)
        soc_commit_turn(host);
    if (rc < 0)
        soc_trace_event(host, SOC_LOG_WARN, failed, from, soc_buf_slice(&error));
    soc_buf_fini(&error);
}

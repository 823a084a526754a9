#include "kernel/mail/mail.h"

#include <assert.h>

#include "kernel/state.h"

void soc_mail_watch(struct soc_host *host, struct soc_message *message)
{
    if (message->expires_ms == 0)
        return;
    message->timer.kind = SOC_TIMER_MESSAGE;
    soc_heap_add(&host->timers, &message->timer, message->expires_ms);
}

void soc_mail_queue(struct soc_host *host, struct soc_message *message, bool is_back)
{
    assert(message->to != NULL && !message->is_queued);
    if (is_back)
        soc_mailbox_put_back(&message->to->mailbox, message);
    else
        soc_mailbox_push(&message->to->mailbox, message);
    soc_mail_watch(host, message);
}

void soc_mail_free(struct soc_host *host, struct soc_message *message)
{
    if (message != NULL && message->script_mark != 0)
        host->hooks.forget(host->hooks.user, message);
    soc_message_free(message);
}

void soc_mail_free_list(struct soc_host *host, struct soc_message_list *list)
{
    struct soc_message *message;
    while ((message = soc_message_list_pop(list)) != NULL) {
        soc_heap_remove(&host->timers, &message->timer);
        soc_mail_free(host, message);
    }
}

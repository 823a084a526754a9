/* Expiry: notifies a sender that required an ack when its message expires. */
#include <assert.h>

#include "base/json.h"
#include "env/ids.h"
#include "kernel/mail/acks.h"
#include "kernel/mail/envelope.h"
#include "kernel/mail/notice.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "parts/table.h"

static bool is_told(const struct soc_host *host, const struct soc_message *message)
{
    const struct soc_agent *from = message->from;
    return message->flags & SOC_MESSAGE_REQUIRES_ACK && from != NULL && !from->is_ended &&
           !from->is_ending && !message->is_told &&
           !(message->flags & SOC_MESSAGE_WANTS_REPLY) && /* a request fails by itself */
           !soc_acks_awaits(host, message->key);          /* so does a wait for an ack */
}

static void failed(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome)
{
    char id[SOC_MESSAGE_ID_BYTES];
    char chain[SOC_MESSAGE_ID_BYTES];
    struct soc_buf payload = {0};
    if (outcome != SOC_OUTCOME_EXPIRED || !is_told(host, message))
        return;
    assert(message->to != NULL);
    soc_envelope_id(id, message);
    soc_refusal_begin(&payload, SOC_EEXPIRED, NULL);
    soc_json_put_text_member(&payload, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&payload, "to", soc_agent_id(message->to));
    soc_refusal_end(&payload, SOC_EEXPIRED);
    struct soc_send send = {
        .to = soc_agent_id(message->from),
        .type = SOC_SLICE("delivery_failed"),
        .payload = soc_buf_slice(&payload),
        .answers_key = message->key,
        .answers_ms = message->time_ms,
    };
    send.texts[SOC_TEXT_TASK_ID] = soc_message_text(message, SOC_TEXT_TASK_ID);
    send.texts[SOC_TEXT_CORRELATION_ID] = soc_envelope_chain(message, chain);
    soc_notice_send(host, NULL, &send, "task_notice_failed");
    soc_buf_fini(&payload);
}

const struct soc_part soc_expiry_part = {
    .name = "expiry",
    .number = SOC_PART_EXPIRY,
    .failed = failed,
};

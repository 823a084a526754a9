#include "kernel/expiry.h"

#include "base/json.h"
#include "env/ids.h"
#include "kernel/envelope.h"
#include "kernel/refusal.h"
#include "kernel/state.h"
#include "parts/tasks/tasks_state.h"

void soc_expiry_tell_sender(struct soc_host *host, const struct soc_message *message)
{
    char id[SOC_MESSAGE_ID_BYTES];
    char chain[SOC_MESSAGE_ID_BYTES];
    struct soc_agent *from = message->from;
    if (from == NULL || from->is_ended || from->is_ending ||
        message->flags & SOC_MESSAGE_WANTS_REPLY) /* whoever asks is answered */
        return;
    struct soc_buf payload = {0};
    soc_envelope_id(id, message);
    soc_refusal_begin(&payload, SOC_EEXPIRED, NULL);
    soc_json_put_text_member(&payload, "message_id", soc_slice(id, sizeof(id)));
    soc_json_put_text_member(&payload, "to", soc_agent_id(message->to));
    soc_refusal_end(&payload, SOC_EEXPIRED);
    struct soc_send send = {
        .to = soc_agent_id(from),
        .type = SOC_SLICE("delivery_failed"),
        .payload = soc_buf_slice(&payload),
        .answers_key = message->key,
        .answers_ms = message->time_ms,
    };
    send.texts[SOC_TEXT_TASK_ID] = soc_message_text(message, SOC_TEXT_TASK_ID);
    send.texts[SOC_TEXT_CORRELATION_ID] = soc_envelope_chain(message, chain);
    soc_tasks_send(host, NULL, &send);
    soc_buf_fini(&payload);
}

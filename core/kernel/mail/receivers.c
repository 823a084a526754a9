#include "kernel/mail/receivers.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/mail/envelope.h"
#include "kernel/refusal.h"

/* Results of a list so far. */
struct outcome {
    struct soc_buf *answer;
    struct soc_buf failures; /* error objects, separated by commas */
    size_t failed;
};

/* Appends the id from the receipt of a duplicate. */
static void put_duplicate(struct soc_buf *out, struct soc_slice receipt)
{
    struct soc_json_walk walk;
    soc_json_walk(&walk, receipt);
    soc_json_next(&walk);
    soc_buf_put_slice(out, soc_json_member(walk.value, "messageId"));
}

static void put_failure(struct outcome *outcome, size_t index, struct soc_slice to,
                        struct soc_slice error)
{
    struct soc_buf *failures = &outcome->failures;
    assert(error.length > 2 && error.data[0] == '{');
    soc_buf_put_text(failures, failures->length == 0 ? "" : ",");
    soc_buf_printf(failures, "{\"index\":%zu", index + 1);
    if (soc_json_member(error, "to").data == NULL)
        soc_json_put_text_member(failures, "to", to);
    soc_buf_put_byte(failures, ',');
    soc_buf_put_slice(failures, soc_slice(error.data + 1, error.length - 1));
    soc_buf_put_text(outcome->answer, "null");
    outcome->failed++;
}

static void put_failures(struct soc_buf *out, const struct outcome *outcome)
{
    soc_json_put_name(out, "partialErrors");
    soc_buf_put_byte(out, '[');
    soc_buf_put_slice(out, soc_buf_slice(&outcome->failures));
    soc_buf_put_byte(out, ']');
}

int soc_receivers_send(struct soc_host *host, struct soc_agent *from,
                       const struct soc_send_input *input, struct soc_buf *answer)
{
    struct outcome outcome = {.answer = answer};
    struct soc_send send = input->send;
    struct soc_buf error = {0};
    int rc = SOC_OK;
    assert(input->receivers_count > 0 && input->send.to.data == NULL);
    answer->length = 0;
    send.is_listed = true;
    soc_buf_put_text(answer, "[{\"messageIds\":[");
    for (size_t i = 0; i < input->receivers_count; i++) {
        struct soc_message *message;
        send.to = input->receivers[i];
        soc_buf_put_text(answer, i == 0 ? "" : ",");
        rc = soc_router_send(host, from, &send, &message, &error);
        if (rc < 0) {
            put_failure(&outcome, i, send.to, soc_buf_slice(&error));
        } else if (rc > 0) {
            put_duplicate(answer, soc_buf_slice(&error));
        } else {
            char id[SOC_MESSAGE_ID_BYTES];
            soc_envelope_id(id, message);
            soc_json_put_string(answer, soc_slice(id, sizeof(id)));
        }
    }
    soc_buf_put_byte(answer, ']');
    if (outcome.failed > 0)
        put_failures(answer, &outcome);
    soc_buf_put_text(answer, "}]");
    rc = SOC_OK;
    if (outcome.failed == input->receivers_count) {
        soc_refuse_named(answer, "all_recipients_failed",
                         "the message could not be sent to any receiver");
        answer->length--;
        put_failures(answer, &outcome);
        soc_buf_put_byte(answer, '}');
        rc = SOC_EREFUSED;
    }
    soc_buf_fini(&outcome.failures);
    soc_buf_fini(&error);
    return rc;
}

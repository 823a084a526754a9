#include "model/delivery/ack.h"

#include <assert.h>

#include "base/json.h"

enum soc_ack soc_ack_parse(struct soc_slice text)
{
    if (text.data != NULL && soc_slice_equal(text, SOC_SLICE("received")))
        return SOC_ACK_RECEIVED;
    if (text.data != NULL && soc_slice_equal(text, SOC_SLICE("processed")))
        return SOC_ACK_PROCESSED;
    return SOC_ACK_NONE;
}

const char *soc_ack_name(enum soc_ack ack)
{
    assert(ack <= SOC_ACK_PROCESSED);
    static const char *const names[] = {"none", "received", "processed"};
    return names[ack];
}

enum soc_ack soc_ack_read(struct soc_slice json, struct soc_buf *id, struct soc_buf *from,
                          const char **reason)
{
    if (soc_json_kind(json) != SOC_JSON_OBJECT) {
        *reason = "an ack is an object";
        return SOC_ACK_NONE;
    }
    size_t start = id->length;
    if (!soc_json_string(soc_json_member(json, "ack_for"), id) &&
        !soc_json_string(soc_json_member(json, "msg_id"), id)) {
        *reason = "an ack names a message, as ack_for or msg_id";
        return SOC_ACK_NONE;
    }
    enum soc_ack ack = soc_ack_parse(soc_json_plain_string(soc_json_member(json, "status")));
    if (id->length == start || ack == SOC_ACK_NONE) {
        *reason = "the status of an ack is received or processed";
        return SOC_ACK_NONE;
    }
    if (from != NULL)
        soc_json_string(soc_json_member(json, "from"), from);
    return ack;
}

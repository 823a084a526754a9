#include "kernel/operations/message_params.h"

#include <assert.h>

#include "base/limits.h"

static_assert(SOC_MESSAGE_FIELD_COUNT + 5 < 64, "a bit each");

#define SPAN_MS_MAX   100000000000000 /* 10^14 */
#define SECONDS_S_MAX 100000000000    /* 10^11 */

const char *const soc_message_params_priorities[] = {"urgent", "high", "normal", "low", "P0",
                                                     "P1",     "P2",   "P3",     NULL};

/* What a sender may give for each kind of field. */
#define GIVEN_ACK      .kind = SOC_PARAM_TEXT
#define GIVEN_ANSWERED .kind = SOC_PARAM_TEXT, .most = SOC_KEY_BYTES_MAX
#define GIVEN_FLAG     .kind = SOC_PARAM_FLAG
#define GIVEN_ID       .kind = SOC_PARAM_ID
#define GIVEN_KEY      .kind = SOC_PARAM_TEXT, .most = SOC_KEY_BYTES_MAX
#define GIVEN_MARK     .kind = SOC_PARAM_FLAG
#define GIVEN_NAME     .kind = SOC_PARAM_TEXT, .most = SOC_ID_BYTES_MAX
#define GIVEN_NUMBER   .kind = SOC_PARAM_INTEGER
#define GIVEN_PAYLOAD  .kind = SOC_PARAM_JSON, .is_needed = true
#define GIVEN_PRIORITY .kind = SOC_PARAM_CHOICE, .choices = soc_message_params_priorities
#define GIVEN_RECEIVER .kind = SOC_PARAM_RECEIVER
#define GIVEN_ROW      .kind = SOC_PARAM_JSON
#define GIVEN_SECONDS  .kind = SOC_PARAM_NUMBER, .most = SECONDS_S_MAX
#define GIVEN_SENDER   .kind = SOC_PARAM_TEXT, .most = SOC_KEY_BYTES_MAX
#define GIVEN_SENT     .kind = SOC_PARAM_TIME
#define GIVEN_SPAN     .kind = SOC_PARAM_NUMBER, .most = SPAN_MS_MAX
#define GIVEN_TIME     .kind = SOC_PARAM_TIME
#define GIVEN_TYPE     .kind = SOC_PARAM_TEXT, .most = SOC_ID_BYTES_MAX

/* What a message shows for each kind of field. */
#define SHOWN_ACK      SOC_PARAM_TEXT
#define SHOWN_ANSWERED SOC_PARAM_ID
#define SHOWN_FLAG     SOC_PARAM_FLAG
#define SHOWN_ID       SOC_PARAM_ID
#define SHOWN_KEY      SOC_PARAM_TEXT
#define SHOWN_MARK     SOC_PARAM_FLAG
#define SHOWN_NAME     SOC_PARAM_TEXT
#define SHOWN_NUMBER   SOC_PARAM_INTEGER
#define SHOWN_PAYLOAD  SOC_PARAM_JSON
#define SHOWN_PRIORITY SOC_PARAM_TEXT
#define SHOWN_RECEIVER SOC_PARAM_TEXT
#define SHOWN_ROW      SOC_PARAM_TEXT
#define SHOWN_SECONDS  SOC_PARAM_NUMBER
#define SHOWN_SENDER   SOC_PARAM_TEXT
#define SHOWN_SENT     SOC_PARAM_TIME
#define SHOWN_SPAN     SOC_PARAM_NUMBER
#define SHOWN_TIME     SOC_PARAM_TIME
#define SHOWN_TYPE     SOC_PARAM_TEXT

#define SAYS_ACK            "`received` once an outside agent has acknowledged it"
#define SAYS_ATTEMPT        "how often it was delivered"
#define SAYS_CORRELATION_ID "the chain it belongs to"
#define SAYS_DEADLINE       "when what it asks for is due"
#define SAYS_DEDUPE_KEY     "a message with the same key is not sent again"
#define SAYS_DELAY_MS       "delivered so many ms later"
#define SAYS_DELIVER_AT     "delivered at this time"
#define SAYS_EXTERNAL_ID    "its id where it comes from; a key as well"
#define SAYS_FINISHED_AT    "when it ended"
#define SAYS_FOREIGN_ID     "its id on the host of its sender"
#define SAYS_FOREIGN_REPLY  "the same of the message it answers"
#define SAYS_FROM           "the sender"
#define SAYS_HOPS           "how many messages led to it"
#define SAYS_ID             "its id"
#define SAYS_PAYLOAD        "the content; a text stands for { text }"
#define SAYS_PRIORITY       "which mail is handled first"
#define SAYS_REASON         "why it ended: a sentence, or the code of `error`"
#define SAYS_REPLY_TO       "the message it answers"
#define SAYS_REQUIRES_ACK   "whether an outside agent must acknowledge it"
#define SAYS_STATUS         "pending, processed, expired, dead, dropped, cancelled or handed_over"
#define SAYS_TASK_ID        "the task it belongs to"
#define SAYS_TIMEOUT_MS     "how long to wait for the reply, in ms"
#define SAYS_TIMESTAMP      "when it was sent"
#define SAYS_TO             "an id, All or a list of ids; without it the gatekeeper decides"
#define SAYS_TRACEPARENT    "the trace it belongs to (W3C)"
#define SAYS_TTL_SECONDS    "it expires after so many seconds"
#define SAYS_TYPE           "the message type"
#define SAYS_WAIT_ACK       "the ack to wait for"
#define SAYS_WANTS_REPLY    "whether its sender waits"

#define ALIAS_PAYLOAD "content"
#define ALIAS_TASK_ID "taskId"

const struct soc_param soc_message_params[] = {
#define F(tag, wire, kind_, by, shown, hashed)                                                     \
    {.name = #wire,                                                                                \
     GIVEN_##kind_,                                                                                \
     .summary = SAYS_##tag,                                                                        \
     .alias = SOC_MESSAGE_FIELD_##tag == SOC_MESSAGE_FIELD_PAYLOAD   ? ALIAS_PAYLOAD               \
              : SOC_MESSAGE_FIELD_##tag == SOC_MESSAGE_FIELD_TASK_ID ? ALIAS_TASK_ID               \
                                                                     : NULL},
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
        {.name = NULL},
};

/* The fields that every message has. */
#define B(tag) ((uint64_t)1 << SOC_MESSAGE_FIELD_##tag)
#define ALWAYS                                                                                     \
    (B(FROM) | B(ID) | B(PAYLOAD) | B(PRIORITY) | B(STATUS) | B(TIMESTAMP) | B(TO) | B(TYPE))

const struct soc_param soc_message_members[] = {
#define F(tag, wire, kind_, by, shown, hashed)                                                     \
    {.name = #wire,                                                                                \
     .kind = SOC_MESSAGE_FIELD_##tag == SOC_MESSAGE_FIELD_FINISHED_AT ? SOC_PARAM_TIME             \
                                                                      : SHOWN_##kind_,             \
     .is_needed = (ALWAYS & B(tag)) != 0,                                                          \
     .summary = SOC_MESSAGE_FIELD_##tag == SOC_MESSAGE_FIELD_TO ? "the receiver" : SAYS_##tag},
    SOC_MESSAGE_FIELD_MAP(F)
#undef F
        {.name = "error", .kind = SOC_PARAM_OBJECT, .summary = "the error that ended it"},
    {.name = "cause",
     .kind = SOC_PARAM_OBJECT,
     .summary = "the message its sender was handling when it sent it"},
    {.name = "caused_by", .kind = SOC_PARAM_ID, .summary = "the id of that message"},
    {.name = "reply", .kind = SOC_PARAM_OBJECT, .summary = "the first message that answers it"},
    {.name = "life",
     .kind = SOC_PARAM_LIST,
     .is_needed = true,
     .summary = "the lines of the activity log about it"},
    {.name = "tries",
     .kind = SOC_PARAM_INTEGER,
     .is_needed = true,
     .summary = "how often its turn was run, or how often it was delivered if it never was"},
    {.name = NULL},
};

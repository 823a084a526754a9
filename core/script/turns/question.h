/* Question: what the worker of an isolated agent asks for, taken apart.
 *
 * What a worker says may be anything; a question is a list whose first element is one of the
 * names below, worker/guest.h.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_QUESTION_H
#define SOC_SCRIPT_TURNS_QUESTION_H

#include <stdbool.h>

#include "base/slice.h"

/* What a worker can ask for. The last four end its activation. */
enum soc_want {
    SOC_WANT_AGENT,
    SOC_WANT_SOCIETY,
    SOC_WANT_PRINT,
    SOC_WANT_TIME,
    SOC_WANT_CLOCK,
    SOC_WANT_RANDOM,
    SOC_WANT_TEXT,
    SOC_WANT_STATUS,
    SOC_WANT_REQUIRE,
    SOC_WANT_DONE,
    SOC_WANT_UNHANDLED,
    SOC_WANT_ERROR,
    SOC_WANT_OVER,
    SOC_WANT_COUNT, /* no question at all */
};

/* A question, with up to two values behind its name: JSON, absent if they are not there. */
struct soc_question {
    enum soc_want want;
    struct soc_slice first;
    struct soc_slice second;
};

/* Takes JSON that soc_json_check has accepted; false: it is no question. */
bool soc_question_read(struct soc_slice asked, struct soc_question *question);

#endif

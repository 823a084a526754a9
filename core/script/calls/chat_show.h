/* Chat show: log lines about model answers.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_CALLS_CHAT_SHOW_H
#define SOC_SCRIPT_CALLS_CHAT_SHOW_H

#include "base/slice.h"
#include "kernel/host.h"
#include "model/agent.h"
#include "parts/models/usage.h"

/* Logs usage and tool calls of an answer, or the error it failed with, and the totals
 * so far. `answer` is its JSON. */
void soc_chat_show_answer(struct soc_host *host, const struct soc_agent *agent,
                          struct soc_usage used, struct soc_slice answer);

#endif

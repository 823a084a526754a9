/* Genai: the messages of a conversation with a model, in the form of OpenTelemetry's
 * conventions for generative AI.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_TELEMETRY_GENAI_H
#define SOC_PARTS_TELEMETRY_GENAI_H

#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

/* Appends the list of messages (JSON, as agent:chat takes and gives them; absent: none) as a
 * list of { role, parts, finish_reason? }. Beyond `bytes_max` the earliest are left out. */
void soc_genai_put_messages(struct soc_buf *out, struct soc_slice messages, size_t bytes_max);

#endif

/* Traceparent: the text by which one trace goes on in another process (W3C Trace Context),
 * and which traces are sampled.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_TELEMETRY_TRACEPARENT_H
#define SOC_PARTS_TELEMETRY_TRACEPARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define SOC_TRACEPARENT_BYTES 55 /* of a text, no NUL */

/* A place in a trace. */
struct soc_traceparent {
    uint64_t trace_id[2]; /* high and low half; not both 0 */
    uint64_t span_id;     /* not 0 */
    bool is_sampled;
};

/* Reads a text. False if it is not valid; texts of later versions are read as far as they
 * are known. */
bool soc_traceparent_parse(struct soc_slice text, struct soc_traceparent *out);

/* Writes the text. */
void soc_traceparent_format(char out[SOC_TRACEPARENT_BYTES], const struct soc_traceparent *from);

/* Which traces leave. An all-zero struct takes every trace, except those whose parent was
 * not sampled. */
struct soc_trace_sampler {
    bool is_alone;   /* the parent's decision does not count */
    double left_out; /* share of traces that are not taken, 0 to 1 */
};

/* Reads the standard names (always_on, parentbased_traceidratio and so on) and their
 * argument, which may be absent. False if either is unknown. */
bool soc_traceparent_read_sampler(struct soc_slice name, struct soc_slice argument,
                                  struct soc_trace_sampler *out);

/* Tells whether a trace is taken. `parent` NULL: it begins here. */
bool soc_traceparent_is_taken(const struct soc_trace_sampler *sampler, const uint64_t trace_id[2],
                              const struct soc_traceparent *parent);

#endif

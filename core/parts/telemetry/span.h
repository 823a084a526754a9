/* Span: one span as OTLP writes it in JSON.
 *
 * soc_span_begin, then any number of soc_span_put_…, then soc_span_end. Ids are hexadecimal,
 * times are texts of nanoseconds, as the JSON mapping of OTLP asks.
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_TELEMETRY_SPAN_H
#define SOC_PARTS_TELEMETRY_SPAN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Kinds, by OTLP's numbers. */
enum soc_span_kind { SOC_SPAN_INTERNAL = 1, SOC_SPAN_CLIENT = 3 };

/* The head of a span. */
struct soc_span {
    uint64_t trace_id[2];
    uint64_t span_id;
    uint64_t parent_id;      /* 0: none */
    const char *verb;        /* its name: the verb, */
    struct soc_slice object; /* and after a space the object; absent: none */
    enum soc_span_kind kind;
    int64_t start_ms;
    int64_t end_ms;
    int64_t behind_ms; /* by which the date at the end is below the time: both are shown so */
};

/* Appends the head up to the attributes. */
void soc_span_begin(struct soc_buf *out, const struct soc_span *span);

/* Appends an attribute; nothing if the text is absent. Texts are cut at
 * SOC_SPAN_TEXT_BYTES_MAX, between characters. */
void soc_span_put_text(struct soc_buf *out, const char *name, struct soc_slice text);
void soc_span_put_integer(struct soc_buf *out, const char *name, int64_t number);

/* The same with a list of one text. */
void soc_span_put_list(struct soc_buf *out, const char *name, struct soc_slice text);

/* Appends the end. `error` is the code of the error, absent: none; `message` says more, or
 * is absent. */
void soc_span_end(struct soc_buf *out, struct soc_slice error, struct soc_slice message);

#endif

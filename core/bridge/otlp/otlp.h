/* Otlp: sends spans to a collector as OTLP over HTTP in JSON.
 *
 * Spans wait in a bounded queue and leave in batches, on the loop. What the collector does
 * with them concerns nobody else: if it is down, slow or hostile, a batch is sent again after
 * a pause (longer each time, or as Retry-After says), the queue fills, and new spans are
 * dropped and counted. Only its status is ever read or logged, never what it says.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_OTLP_OTLP_H
#define SOC_BRIDGE_OTLP_OTLP_H

#include <stdint.h>

#include "base/slice.h"
#include "bridge/otlp/otlp_settings.h"
#include "env/log.h"
#include "loop/loop.h"

struct soc_otlp;

/* What an exporter is made from. Everything is lent until it is closed, but for `log`. */
struct soc_otlp_options {
    struct soc_loop *loop;
    const struct soc_otlp_settings *settings; /* with a URL */
    const char *app_name;                     /* the name of the service, unless set */
    struct soc_log log;                       /* copied */
};

/* What became of the spans so far. */
struct soc_otlp_counts {
    uint64_t sent;
    uint64_t dropped; /* the queue was full, or the collector did not take them */
    uint64_t queued;  /* still here */
};

/* Returns an exporter. */
struct soc_otlp *soc_otlp_open(const struct soc_otlp_options *options);

/* Tries for at most the settings' `close_ms` to send what is left, and frees it. A batch that
 * fails is sent again only if the collector says when. NULL is allowed. */
void soc_otlp_close(struct soc_otlp *otlp);

/* Queues a span, an object of OTLP in JSON. A soc_telemetry_cb; `user` is the exporter. */
void soc_otlp_add(void *user, struct soc_slice span);

/* Returns the counts. */
struct soc_otlp_counts soc_otlp_count(const struct soc_otlp *otlp);

#endif

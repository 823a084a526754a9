/* Metrics: figures of a society in the text format of Prometheus.
 *
 * Everything is a total or a current count of the whole society, never of one agent: the
 * number of series does not grow with the society.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_HTTP_METRICS_H
#define SOC_BRIDGE_HTTP_METRICS_H

#include <stdint.h>

#include "base/buf.h"

struct soc_host;

#define SOC_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* What the door itself has counted. */
struct soc_metrics {
    uint64_t responses[6]; /* by the first digit of their status */
    uint64_t refused;      /* wrong tokens */
    int connections;       /* open now, like the next */
    int streams;
};

/* Appends the text. */
void soc_metrics_put(const struct soc_metrics *metrics, struct soc_host *host, struct soc_buf *out);

#endif

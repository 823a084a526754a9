/* Otlp settings: where spans go, from the standard variables of OpenTelemetry.
 *
 * A value that is not valid is reported and ignored, as the standard asks: telemetry never
 * keeps a society from running. Headers and the URL may hold secrets and are never quoted.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_OTLP_OTLP_SETTINGS_H
#define SOC_BRIDGE_OTLP_OTLP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/slice.h"
#include "parts/telemetry/traceparent.h"

/* A name with its value. */
struct soc_otlp_pair {
    char *name;
    char *value;
};

/* The settings. All-zero: nothing is exported. */
struct soc_otlp_settings {
    char *url;     /* of the traces; owned. NULL: telemetry is off */
    char *ca_file; /* NULL: the system's certificates */
    struct soc_otlp_pair headers[SOC_OTLP_HEADERS_MAX];
    int header_count;
    struct soc_otlp_pair attributes[SOC_OTLP_ATTRIBUTES_MAX]; /* of the resource */
    int attribute_count;
    struct soc_trace_sampler sampler;
    bool has_content;
    int64_t timeout_ms;
    int64_t delay_ms;
    int64_t close_ms; /* for what is left when the society ends */
    int64_t spans_max;
    int64_t batch_spans;
    struct soc_buf faults; /* sentences about ignored values, each with a NUL at its end */
};

/* Returns the value of a variable, NULL if it is unset. */
typedef const char *soc_otlp_getenv(const char *name);

/* Reads the settings. Release with soc_otlp_settings_fini. */
void soc_otlp_settings_read(struct soc_otlp_settings *settings, soc_otlp_getenv *get);

/* Frees what they own, with the secrets overwritten. */
void soc_otlp_settings_fini(struct soc_otlp_settings *settings);

#endif

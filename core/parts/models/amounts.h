/* Amounts: what calls to models took, and what they may take.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_MODELS_AMOUNTS_H
#define SOC_PARTS_MODELS_AMOUNTS_H

#include <stdint.h>

/* What calls to a model took. */
struct soc_usage {
    uint64_t calls; /* answered, errors too */
    uint64_t input_tokens;
    uint64_t output_tokens;
    uint64_t cost_micros; /* millionths of a dollar */
};

/* What may be used at most; 0: without bound. Tokens are those in and out together. */
struct soc_usage_bound {
    uint64_t tokens;
    uint64_t cost_micros;
};

/* What they may take, by whom it is counted. */
struct soc_usage_bounds {
    struct soc_usage_bound agent;
    struct soc_usage_bound task;
    struct soc_usage_bound society;
};

#endif

/* Amounts: usage of models, and its limits.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_MODELS_AMOUNTS_H
#define SOC_PARTS_MODELS_AMOUNTS_H

#include <stdint.h>

/* What calls to a model used. */
struct soc_usage {
    uint64_t calls; /* answered, including errors */
    uint64_t input_tokens;
    uint64_t output_tokens;
    uint64_t cost_micros; /* millionths of a dollar */
};

/* Upper limits; 0: unlimited. Tokens are input and output together. */
struct soc_usage_bound {
    uint64_t tokens;
    uint64_t cost_micros;
};

/* The limits by scope. */
struct soc_usage_bounds {
    struct soc_usage_bound agent;
    struct soc_usage_bound task;
    struct soc_usage_bound society;
};

#endif

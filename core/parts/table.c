#include "parts/table.h"

#include <assert.h>

static_assert(SOC_PART_COUNT <= SOC_PARTS_MAX, "raise SOC_PARTS_MAX for a new part");

const struct soc_part *const soc_part_table[] = {
#define P(tag, name) &soc_##name##_part,
    SOC_PART_TABLE(P)
#undef P
        NULL,
};

const struct soc_part *const soc_part_table_observed[] = {
#define P(tag, name) &soc_##name##_part,
    SOC_PART_TABLE(P) SOC_PART_OBSERVERS(P)
#undef P
        NULL,
};

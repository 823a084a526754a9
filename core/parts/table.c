#include "parts/table.h"

const struct soc_part *const soc_part_table[] = {
#define P(tag, name) &soc_##name##_part,
    SOC_PART_TABLE(P)
#undef P
        NULL,
};

#include "kernel/policies.h"

#include "kernel/state.h"
#include "kernel/turn.h"

struct soc_slice soc_policies_recorded(const struct soc_host *host)
{
    return soc_policies_are_recorded(host) ? soc_buf_slice(&host->policies) : SOC_SLICE("[]");
}

bool soc_policies_are_recorded(const struct soc_host *host)
{
    return host->policies.length > 0;
}

void soc_policies_record(struct soc_host *host, struct soc_slice list)
{
    if (soc_slice_equal(list, soc_buf_slice(&host->policies)))
        return;
    host->policies.length = 0;
    soc_buf_put_slice(&host->policies, list);
    struct soc_record record = {
        .type = SOC_RECORD_META,
        .meta = {.name = SOC_SLICE("policies"), .value = list},
    };
    soc_batch_put(host, &record);
}

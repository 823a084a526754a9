#include "parts/policies/policies.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "parts/table.h"

/* Lends the list in force, JSON. Empty: never recorded. */
static struct soc_buf *list_of(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_POLICIES);
}

struct soc_slice soc_policies_recorded(const struct soc_host *host)
{
    return soc_policies_are_recorded(host) ? soc_buf_slice(list_of(host)) : SOC_SLICE("[]");
}

bool soc_policies_are_recorded(const struct soc_host *host)
{
    return list_of(host)->length > 0;
}

static void set(struct soc_host *host, struct soc_slice list)
{
    list_of(host)->length = 0;
    soc_buf_put_slice(list_of(host), list);
}

void soc_policies_record(struct soc_host *host, struct soc_slice list)
{
    assert(list.length > 0 && list.data[0] == '[');
    if (soc_slice_equal(list, soc_buf_slice(list_of(host))))
        return;
    set(host, list);
    soc_batch_put_meta(host, "policies", list);
}

static void *open_policies(struct soc_host *host)
{
    (void)host;
    return soc_alloc_zero(sizeof(struct soc_buf));
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    if (record->type == SOC_RECORD_META &&
        soc_slice_equal(record->meta.name, SOC_SLICE("policies")))
        set(host, record->meta.value);
    return SOC_OK;
}

static void free_policies(struct soc_host *host)
{
    soc_buf_fini(list_of(host));
    free(list_of(host));
}

const struct soc_part soc_policies_part = {
    .name = "policies",
    .number = SOC_PART_POLICIES,
    .open = open_policies,
    .restore = restore,
    .free = free_policies,
};

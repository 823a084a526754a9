#include "kernel/operations/catalogue.h"

#include "kernel/operations/agent_looks.h"
#include "kernel/operations/at.h"
#include "kernel/operations/exports.h"
#include "kernel/operations/looks.h"
#include "kernel/operations/message_looks.h"
#include "kernel/operations/orders.h"
#include "kernel/part.h"

/* The operations of the kernel. */
static const struct soc_operation *const kernel[] = {
    soc_looks, soc_agent_looks, soc_message_looks, soc_at_looks, soc_exports, soc_orders};

#define KERNEL_COUNT (sizeof(kernel) / sizeof(kernel[0]))

/* Lends element `*index` of the list, or counts its elements off `*index`. */
static const struct soc_operation *at(const struct soc_operation *list, size_t *index)
{
    for (; list != NULL && list->name != NULL; list++)
        if ((*index)-- == 0)
            return list;
    return NULL;
}

const struct soc_operation *soc_catalogue_at(const struct soc_part *const *parts, size_t index)
{
    const struct soc_operation *found = NULL;
    for (size_t i = 0; found == NULL && i < KERNEL_COUNT; i++)
        found = at(kernel[i], &index);
    for (; found == NULL && *parts != NULL; parts++)
        found = at((*parts)->operations, &index);
    return found;
}

static const struct soc_operation *find(const struct soc_operation *list, struct soc_slice name)
{
    for (; list != NULL && list->name != NULL; list++)
        if (name.length > 0 && list->name[0] == name.data[0] &&
            soc_slice_equal(name, soc_slice_text(list->name)))
            return list;
    return NULL;
}

const struct soc_operation *soc_catalogue_find(const struct soc_part *const *parts,
                                               struct soc_slice name)
{
    const struct soc_operation *found = NULL;
    for (size_t i = 0; found == NULL && i < KERNEL_COUNT; i++)
        found = find(kernel[i], name);
    for (; found == NULL && *parts != NULL; parts++)
        found = find((*parts)->operations, name);
    return found;
}

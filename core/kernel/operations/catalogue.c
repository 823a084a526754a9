#include "kernel/operations/catalogue.h"

#include "kernel/operations/looks.h"
#include "kernel/operations/orders.h"
#include "kernel/part.h"

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
    const struct soc_operation *found = at(soc_looks, &index);
    if (found == NULL)
        found = at(soc_orders, &index);
    for (; found == NULL && *parts != NULL; parts++)
        found = at((*parts)->operations, &index);
    return found;
}

static const struct soc_operation *find(const struct soc_operation *list, struct soc_slice name)
{
    for (; list != NULL && list->name != NULL; list++)
        if (soc_slice_equal(name, soc_slice_text(list->name)))
            return list;
    return NULL;
}

const struct soc_operation *soc_catalogue_find(const struct soc_part *const *parts,
                                               struct soc_slice name)
{
    const struct soc_operation *found = find(soc_looks, name);
    if (found == NULL)
        found = find(soc_orders, name);
    for (; found == NULL && *parts != NULL; parts++)
        found = find((*parts)->operations, name);
    return found;
}

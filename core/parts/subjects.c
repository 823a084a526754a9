#include "parts/subjects.h"

#include <assert.h>

#include "kernel/operations/catalogue.h"
#include "parts/table.h"

const struct soc_operation *soc_subjects_at(size_t index)
{
    const struct soc_operation *operation;
    for (size_t i = 0; (operation = soc_catalogue_at(soc_part_table, i)) != NULL; i++) {
        if (operation->view == NULL || index-- > 0)
            continue;
        assert(operation->view->is_stored || operation->view->look != NULL);
        return operation;
    }
    return NULL;
}

const struct soc_operation *soc_subjects_find(struct soc_slice name)
{
    const struct soc_operation *operation = soc_catalogue_find(soc_part_table, name);
    return operation != NULL && operation->view != NULL ? operation : NULL;
}

#include "bridge/control/operations.h"

#include "base/json.h"
#include "base/limits.h"
#include "kernel/operations/catalogue.h"
#include "parts/table.h"

static void fail_unknown_op(struct soc_call *call)
{
    struct soc_buf sentence = {0};
    const struct soc_operation *operation;
    soc_buf_put_text(&sentence, "unknown op; known ones are");
    for (size_t i = 0; (operation = soc_catalogue_at(soc_part_table, i)) != NULL; i++)
        soc_buf_printf(&sentence, "%s %s", i == 0 ? "" : ",", operation->name);
    soc_call_fail(call, SOC_EINVAL, soc_buf_text(&sentence));
    soc_buf_fini(&sentence);
}

void soc_operations_do(const struct soc_operations *society, struct soc_call *call,
                       struct soc_slice request)
{
    struct soc_buf text = {0};
    struct soc_slice name = soc_json_text(soc_json_member(request, "op"), SOC_KEY_BYTES_MAX, &text);
    const struct soc_operation *operation = NULL;
    if (name.data != NULL)
        operation = soc_catalogue_find(soc_part_table, name);
    soc_buf_fini(&text);
    if (operation == NULL) {
        fail_unknown_op(call);
    } else {
        struct soc_caller caller = soc_caller_owner;
        struct soc_buf key = {0};
        struct soc_slice given = soc_json_member(request, "idempotency_key");
        if (given.data != NULL && soc_json_kind(given) != SOC_JSON_NULL)
            caller.key = soc_json_text(given, SOC_KEY_BYTES_MAX, &key);
        if (given.data != NULL && soc_json_kind(given) != SOC_JSON_NULL && caller.key.length == 0)
            soc_call_fail(call, SOC_EINVAL, "idempotency_key must be text of 1 to 256 bytes");
        else
            soc_operation_do(society, operation, &caller, call, request);
        soc_buf_fini(&key);
    }
}

/* Operation fuzz: lines `NAME PARAMS` as calls of the operations of a small society, with any
 * object as their parameters.
 *
 * Whatever comes, a call is answered once at the most; the answer is JSON, a list, or an object
 * with the code of an error; and a call without a client is done with when time has passed.
 * Layer: tests. Thread: one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/host_asking.h"

#define CALLS_MAX 8 /* of one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "operation_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* Takes the text before the next `end`, or all of it. */
static struct soc_slice cut(struct soc_slice *text, char end)
{
    const char *found = text->length == 0 ? NULL : memchr(text->data, end, text->length);
    struct soc_slice part = *text;
    if (found != NULL)
        part.length = (size_t)(found - text->data);
    size_t taken = part.length + (found != NULL);
    *text = soc_slice(text->data + taken, text->length - taken);
    return part;
}

static void check_answer(const struct asked *asked)
{
    struct soc_slice answer = soc_buf_slice(&asked->answer);
    MUST(asked->count <= 1);
    if (asked->count == 0 || answer.length == 0) /* it was dropped */
        return;
    MUST(soc_json_check(answer, NULL) == SOC_OK);
    if (asked->is_error)
        MUST(soc_json_plain_string(soc_json_member(answer, "error")).length > 0);
    else
        MUST(soc_json_kind(answer) == SOC_JSON_ARRAY);
}

/* Calls an operation as one who may do everything, or as an agent; `key` may be absent. */
static void call(struct world *world, const struct soc_operation *operation,
                 struct soc_slice params, bool is_agent, struct asked *asked)
{
    struct soc_operations society = {
        .host = world->host, .stop = stop, .use_policy = use_policy, .user = world};
    struct soc_caller caller = soc_caller_owner;
    if (is_agent)
        caller.agent = SOC_SLICE("user");
    if (operation->changes && !operation->takes_no_key)
        caller.key = SOC_SLICE("k");
    asked->call = (struct soc_call){.answer = take, .is_strict = !is_agent, .is_paged = is_agent};
    soc_operation_do(&society, operation, &caller, &asked->call, params);
    soc_batch_seal(world->host);
    world_settle(world);
    soc_batch_seal(world->host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world;
    struct asked asked[CALLS_MAX] = {{.count = 0}};
    size_t count = 0;
    char *bytes = malloc(size == 0 ? 1 : size); /* of its own, so that a read beyond it shows */
    MUST(bytes != NULL);
    memcpy(bytes, data, size);
    struct soc_slice text = soc_slice(bytes, size);
    open_world(&world);
    while (text.length > 0 && count < CALLS_MAX) {
        struct soc_slice line = cut(&text, '\n');
        struct soc_slice name = cut(&line, ' ');
        const struct soc_operation *operation = soc_catalogue_find(soc_part_table, name);
        if (operation != NULL && soc_json_check(line, NULL) == SOC_OK &&
            soc_json_kind(line) == SOC_JSON_OBJECT) {
            call(&world, operation, line, count % 2 == 1, &asked[count]);
            count++;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (asked[i].count == 0)
            soc_call_drop(&asked[i].call);
    world_finish(&world);
    world_close(&world);
    for (size_t i = 0; i < count; i++) {
        check_answer(&asked[i]);
        soc_call_fini(&asked[i].call);
        soc_buf_fini(&asked[i].answer);
    }
    free(bytes);
    return 0;
}

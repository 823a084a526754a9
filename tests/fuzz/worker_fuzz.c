/* Worker fuzz: any bytes as what a worker process says to the host.
 *
 * The frame is taken apart as the host does it: never beyond its bytes, never more than the
 * bound, and what comes out as the answer of a `run_lua` is one of the answers there are.
 * Layer: tests. Thread: one. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/limits.h"
#include "script/calls/errand.h"
#include "script/turns/question.h"
#include "worker/parcel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "worker_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* A copy, so that a sanitizer sees each byte too far. */
static struct soc_slice copy(struct soc_slice bytes, char **room)
{
    *room = malloc(bytes.length + 1);
    MUST(*room != NULL);
    for (size_t i = 0; i < bytes.length; i++)
        (*room)[i] = bytes.data[i];
    return soc_slice(*room, bytes.length);
}

/* The frame, as it comes from the socket. */
static void fuzz_parcel(const uint8_t *data, size_t size)
{
    struct soc_buf in = {0};
    struct soc_slice content = {0};
    soc_buf_put(&in, data, size);
    if (soc_parcel_look(&in, &content) == SOC_PARCEL_WHOLE) {
        MUST(content.length > 0 && content.length <= SOC_WORKER_FRAME_BYTES_MAX);
        MUST(content.length + SOC_PARCEL_HEAD_BYTES == size);
    }
    soc_buf_fini(&in);
}

static void fuzz_question(struct soc_slice said)
{
    struct soc_question question;
    if (soc_json_check(said, NULL) < 0)
        return;
    if (soc_question_read(said, &question))
        MUST(question.want < SOC_WANT_COUNT && said.data[0] == '[');
    MUST(question.second.data == NULL || question.first.data != NULL);
    if (question.first.data != NULL)
        MUST(soc_json_check(question.first, NULL) == SOC_OK);
    if (question.second.data != NULL)
        MUST(soc_json_check(question.second, NULL) == SOC_OK);
}

static void fuzz_answer(struct soc_slice said)
{
    struct soc_buf answer = {0};
    soc_errand_judge(said, &answer);
    struct soc_slice text = soc_buf_slice(&answer);
    MUST(soc_json_check(text, NULL) == SOC_OK);
    MUST(text.data[0] == '[' || soc_json_member(text, "error").data != NULL);
    soc_buf_fini(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *room;
    struct soc_slice said = copy(soc_slice((const char *)data, size), &room);
    fuzz_parcel(data, size);
    fuzz_question(said);
    fuzz_answer(said);
    free(room);
    return 0;
}

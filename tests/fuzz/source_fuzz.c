/* Source fuzz: any bytes as the source of a script in the sandbox, bounded by steps.
 *
 * It ends, with a result or a known error, and in sound JSON. libFuzzer prints how many
 * scripts a second were run.
 * Layer: tests. Thread: one. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "worker/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX    20000
#define MEMORY_BYTES 4000000

/* Stays on whatever NDEBUG says. */
static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "source_fuzz: %s\n", what);
        abort();
    }
}

#define MUST(condition) must((condition), #condition)

/* Tells whether texts are joined: doubled often enough they ask for more memory at once than a
 * simulated script may, which ends the process, as it is meant to. */
static bool joins_texts(const uint8_t *data, size_t size)
{
    size_t dots = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && data[i] == '.') {
            dots++;
            continue;
        }
        if (dots == 2 || dots > 3)
            return true;
        dots = 0;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (joins_texts(data, size))
        return -1; /* not for the corpus */
    struct soc_buf request = {0};
    struct soc_buf answer = {0};
    soc_buf_put_byte(&request, '{');
    soc_json_put_name(&request, "memory_bytes");
    soc_json_put_integer(&request, MEMORY_BYTES);
    soc_json_put_text_member(&request, "script", soc_slice((const char *)data, size));
    soc_json_put_name(&request, "steps");
    soc_json_put_integer(&request, STEPS_MAX);
    soc_buf_put_byte(&request, '}');
    soc_job_run(soc_buf_slice(&request), &answer, NULL, NULL);
    struct soc_slice text = soc_buf_slice(&answer);
    MUST(soc_json_check(text, NULL) == SOC_OK);
    MUST(text.data[0] == '[' || soc_json_member(text, "error").data != NULL);
    soc_buf_fini(&request);
    soc_buf_fini(&answer);
    return 0;
}

#include "kernel/turns/egress.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/state.h"
#include "kernel/turns/batch.h"
#include "store/journal.h"

static struct soc_output *new_output(struct soc_slice stream, struct soc_slice agent,
                                     struct soc_slice text)
{
    struct soc_output *output = soc_alloc_zero(sizeof(*output));
    output->stream = soc_copy_text(stream.data, stream.length);
    output->agent = soc_copy_text(agent.data, agent.length);
    output->text = soc_copy_text(text.data, text.length);
    output->text_length = text.length;
    return output;
}

void soc_egress_print(struct soc_host *host, struct soc_slice stream, struct soc_slice agent,
                      struct soc_slice text)
{
    assert(host->turn.is_open);
    struct soc_output *output = new_output(stream, agent, text);
    output->key = host->outbox.next++;
    struct soc_record record = {.type = SOC_RECORD_OUTPUT};
    record.output = (struct soc_record_output){
        .key = output->key,
        .time_ms = (uint64_t)soc_host_now(host),
        .agent = agent,
        .stream = stream,
        .text = text,
    };
    soc_batch_put(host, &record);
    output->next = host->turn.outputs;
    host->turn.outputs = output;
}

static void append(struct soc_host *host, struct soc_output *output)
{
    output->next = NULL;
    output->sequence = host->next_sequence;
    if (host->outbox.last == NULL)
        host->outbox.first = output;
    else
        host->outbox.last->next = output;
    host->outbox.last = output;
}

void soc_egress_restore(struct soc_host *host, uint64_t key, struct soc_slice stream,
                        struct soc_slice agent, struct soc_slice text)
{
    struct soc_output *output = new_output(stream, agent, text);
    output->key = key;
    append(host, output);
    output->sequence = 0;
}

static void free_output(struct soc_output *output)
{
    free(output->agent);
    free(output->stream);
    free(output->text);
    free(output);
}

void soc_egress_free(struct soc_output *outputs)
{
    while (outputs != NULL) {
        struct soc_output *next = outputs->next;
        free_output(outputs);
        outputs = next;
    }
}

static struct soc_output *take_first(struct soc_host *host)
{
    struct soc_output *output = host->outbox.first;
    assert(output != NULL);
    host->outbox.first = output->next;
    if (host->outbox.first == NULL)
        host->outbox.last = NULL;
    return output;
}

void soc_egress_forget(struct soc_host *host, uint64_t key)
{
    while (host->outbox.first != NULL && host->outbox.first->key <= key)
        free_output(take_first(host));
}

static bool show(struct soc_host *host, const struct soc_output *output)
{
    return host->options.show(host->options.user, soc_slice_text(output->stream),
                              soc_slice_text(output->agent),
                              soc_slice(output->text, output->text_length));
}

/* Puts a list of lines back to the front of the queue. */
static void put_back(struct soc_host *host, struct soc_output *first, struct soc_output *last)
{
    last->next = host->outbox.first;
    host->outbox.first = first;
    if (host->outbox.last == NULL)
        host->outbox.last = last;
}

/* Returns the key of the last line shown, 0: none. */
static uint64_t release_all(struct soc_host *host)
{
    uint64_t shown = 0;
    struct soc_output *kept = NULL;
    struct soc_output *kept_last = NULL;
    while (host->outbox.first != NULL && host->outbox.first->sequence <= host->outbox.released) {
        struct soc_output *output = take_first(host);
        if (output->call != NULL) {
            output->call(output->call_user);
        } else if (kept != NULL || !show(host, output)) {
            output->next = NULL;
            if (kept == NULL)
                kept = output;
            else
                kept_last->next = output;
            kept_last = output;
            continue;
        } else {
            shown = output->key;
        }
        free_output(output);
    }
    if (kept != NULL)
        put_back(host, kept, kept_last);
    return shown;
}

/* Released output may record more and so call this again. The outermost call releases
 * everything, in order. */
void soc_egress_release(struct soc_host *host, uint64_t sequence)
{
    if (sequence > host->outbox.released)
        host->outbox.released = sequence;
    if (host->outbox.is_releasing)
        return;
    host->outbox.is_releasing = true;
    uint64_t shown = release_all(host);
    host->outbox.is_releasing = false;
    if (shown == 0)
        return;
    struct soc_record record = {.type = SOC_RECORD_OUTPUT_END, .output_end = {.key = shown}};
    soc_batch_put(host, &record);
}

void soc_egress_add(struct soc_host *host, struct soc_output *newest)
{
    struct soc_output *oldest = NULL;
    while (newest != NULL) {
        struct soc_output *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        struct soc_output *next = oldest->next;
        append(host, oldest);
        oldest = next;
    }
    if (host->options.shows_early)
        soc_egress_release(host, host->next_sequence);
}

void soc_egress_call(struct soc_host *host, void (*call)(void *user), void *user)
{
    assert(call != NULL);
    struct soc_output *output = soc_alloc_zero(sizeof(*output));
    output->call = call;
    output->call_user = user;
    append(host, output);
    /* With an empty batch, the cause is in a sealed one, which may be durable already. Then
     * nothing else would release the call. */
    if (host->batch.length == 0) {
        output->sequence = host->next_sequence - 1;
        soc_egress_release(host, soc_journal_durable(host->journal));
    }
}

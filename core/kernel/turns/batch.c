#include "kernel/turns/batch.h"

#include <assert.h>

#include "base/json.h"
#include "kernel/state.h"
#include "store/journal.h"

#define CURSOR_NUMBERS 11 /* the last two only of a host that has joined others */

void soc_batch_put(struct soc_host *host, const struct soc_record *record)
{
    soc_record_put(&host->batch, record);
}

void soc_batch_keep(struct soc_host *host, const struct soc_record *record)
{
    soc_record_put(host->turn.is_open ? &host->turn.kept : &host->batch, record);
}

void soc_batch_put_meta(struct soc_host *host, const char *name, struct soc_slice value)
{
    struct soc_record record = {
        .type = SOC_RECORD_META,
        .meta = {.name = soc_slice_text(name), .value = value},
    };
    soc_batch_put(host, &record);
}

/* Every batch ends with the counters, which live messages alone do not show. */
static void put_cursor(struct soc_host *host)
{
    const struct soc_totals *t = &host->totals;
    const uint64_t numbers[CURSOR_NUMBERS] = {host->next_key,    (uint64_t)soc_host_now(host),
                                              host->outbox.next, t->sent,
                                              t->outcome[1],     t->outcome[2],
                                              t->outcome[3],     t->outcome[4],
                                              t->outcome[5],     t->outcome[6],
                                              t->taken};
    size_t count = numbers[9] + numbers[10] > 0 ? CURSOR_NUMBERS : CURSOR_NUMBERS - 2;
    struct soc_buf text = {0};
    for (size_t i = 0; i < count; i++) {
        soc_buf_put_byte(&text, i == 0 ? '[' : ',');
        soc_json_put_integer(&text, (int64_t)numbers[i]);
    }
    soc_buf_put_byte(&text, ']');
    soc_batch_put_meta(host, "cursor", soc_buf_slice(&text));
    soc_buf_fini(&text);
}

int64_t soc_batch_read_cursor(struct soc_host *host, struct soc_slice json)
{
    int64_t numbers[CURSOR_NUMBERS] = {0};
    struct soc_json_walk walk;
    soc_json_walk(&walk, json);
    for (int i = 0; i < CURSOR_NUMBERS && soc_json_next(&walk); i++)
        soc_json_integer(walk.value, &numbers[i]);
    host->next_key = (uint64_t)numbers[0];
    host->outbox.next = (uint64_t)numbers[2];
    host->totals.sent = (uint64_t)numbers[3];
    for (int i = SOC_OUTCOME_PROCESSED; i < SOC_OUTCOME_COUNT; i++)
        host->totals.outcome[i] = (uint64_t)numbers[3 + i];
    host->totals.taken = (uint64_t)numbers[10];
    return numbers[1];
}

void soc_batch_seal(struct soc_host *host)
{
    if (host->batch.length == 0 || host->disk.is_failed)
        return;
    assert(host->journal != NULL);
    assert(!host->turn.is_open || host->options.keys_apart);
    put_cursor(host);
    if (host->options.witness != NULL)
        host->options.witness->sealed(host->options.witness->user, host->next_sequence,
                                      soc_buf_slice(&host->batch));
    host->next_sequence++; /* first: output released meanwhile belongs to the next batch */
    uint64_t sequence = soc_journal_submit(host->journal, &host->batch);
    assert(sequence + 1 == host->next_sequence);
    (void)sequence;
}

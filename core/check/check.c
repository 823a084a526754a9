#include "check/check.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "check/books.h"
#include "check/ledger.h"
#include "check/readers.h"

/* A longer history is not compared with what a start loads. */
#define HISTORY_BYTES_MAX (64u << 20)

struct soc_check *soc_check_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_check));
}

void soc_check_reset(struct soc_check *check)
{
    soc_books_reset(check);
}

void soc_check_free(struct soc_check *check)
{
    if (check != NULL)
        soc_books_free(check);
}

void soc_check_bound(struct soc_check *check, uint32_t mailbox_max)
{
    check->mailbox_max = mailbox_max;
}

void soc_check_orchestrator(struct soc_check *check, struct soc_slice id)
{
    check->orchestrator = soc_books_copy(check, id);
}

void soc_check_window(struct soc_check *check, int64_t window_ms)
{
    assert(window_ms >= 0);
    check->window_ms = window_ms;
}

void soc_check_sealed(struct soc_check *check, uint64_t sequence, struct soc_slice batch)
{
    uint64_t last = check->applied + check->waiting_count;
    assert(batch.length > 0);
    if (sequence != last + 1)
        soc_books_fail(check, "batch %llu was written after batch %llu",
                       (unsigned long long)sequence, (unsigned long long)last);
    if (check->waiting_count == check->waiting_capacity) {
        size_t capacity = check->waiting_capacity == 0 ? 8 : check->waiting_capacity * 2;
        check->waiting = soc_realloc(check->waiting, capacity * sizeof(*check->waiting));
        for (size_t i = check->waiting_capacity; i < capacity; i++)
            check->waiting[i] = (struct soc_check_batch){0};
        check->waiting_capacity = capacity;
    }
    struct soc_check_batch *waiting = &check->waiting[check->waiting_count++];
    waiting->sequence = sequence;
    waiting->bytes.length = 0;
    soc_buf_put_slice(&waiting->bytes, batch);
}

static void note_output(struct soc_check *check, const struct soc_record_output *record)
{
    if (check->outputs_count > 0 && record->key <= check->outputs[check->outputs_count - 1].key)
        soc_books_fail(check, "output %llu was recorded twice or out of order",
                       (unsigned long long)record->key);
    if (check->outputs_count == check->outputs_capacity) {
        check->outputs_capacity = check->outputs_capacity == 0 ? 64 : check->outputs_capacity * 2;
        check->outputs =
            soc_realloc(check->outputs, check->outputs_capacity * sizeof(*check->outputs));
    }
    check->outputs[check->outputs_count++] = (struct soc_check_output){
        .key = record->key,
        .stream = soc_books_copy(check, record->stream),
        .agent = soc_books_copy(check, record->agent),
        .text = soc_books_copy(check, record->text),
    };
}

static void note_outputs_seen(struct soc_check *check, uint64_t key)
{
    if (check->shown == 0 || check->outputs[check->shown - 1].key < key)
        soc_books_fail(check, "output %llu is recorded as shown, but was not",
                       (unsigned long long)key);
    check->outputs_done = key;
}

static void note_cursor(struct soc_check *check, struct soc_slice cursor)
{
    assert(cursor.data != NULL);
    check->cursor.length = 0;
    soc_buf_put_slice(&check->cursor, cursor);
    soc_check_totals(check, cursor, false);
}

static void read_record(struct soc_check *check, const struct soc_record *record)
{
    check->place++;
    if (record->type == SOC_RECORD_OUTPUT)
        note_output(check, &record->output);
    else if (record->type == SOC_RECORD_OUTPUT_END)
        note_outputs_seen(check, record->output_end.key);
    else if (record->type == SOC_RECORD_META) {
        if (soc_slice_equal(record->meta.name, SOC_SLICE("cursor")))
            note_cursor(check, record->meta.value);
        else if (soc_slice_equal(record->meta.name, SOC_SLICE("clock")))
            soc_check_times_step(check, record->meta.value);
        else if (soc_slice_equal(record->meta.name, SOC_SLICE("policies")))
            soc_check_people(check, record);
        else if (soc_slice_equal(record->meta.name, SOC_SLICE("main_failed")))
            soc_check_turns(check, record);
    } else if (!soc_check_mail(check, record) && !soc_check_people(check, record) &&
               !soc_check_waits(check, record) && !soc_check_promises(check, record)) {
        soc_check_turns(check, record);
    }
}

static void apply(struct soc_check *check, const struct soc_check_batch *batch)
{
    struct soc_slice rest = soc_buf_slice(&batch->bytes);
    struct soc_record record;
    int rc;
    check->begun = check->place;
    check->is_sending = false;
    while ((rc = soc_record_next(&rest, &record)) > 0)
        read_record(check, &record);
    if (rc < 0)
        soc_books_fail(check, "batch %llu holds bytes that are not a record",
                       (unsigned long long)batch->sequence);
    soc_check_states(check);
    soc_check_cycles(check);
    soc_check_promises_kept(check);
    check->applied = batch->sequence;
    if (check->history.length <= HISTORY_BYTES_MAX)
        soc_buf_put_slice(&check->history, soc_buf_slice(&batch->bytes));
}

/* Applies what waits up to `sequence`. */
static void apply_up_to(struct soc_check *check, uint64_t sequence)
{
    size_t count = 0;
    while (count < check->waiting_count && check->waiting[count].sequence <= sequence)
        apply(check, &check->waiting[count++]);
    /* The empty ones move to the back, with their buffers. */
    for (size_t i = 0; i + count < check->waiting_count; i++) {
        struct soc_check_batch moved = check->waiting[i];
        check->waiting[i] = check->waiting[i + count];
        check->waiting[i + count] = moved;
    }
    assert(count <= check->waiting_count);
    check->waiting_count -= count;
}

void soc_check_durable(struct soc_check *check, uint64_t sequence)
{
    apply_up_to(check, sequence);
    if (check->applied < sequence)
        soc_books_fail(check, "batch %llu was reported durable, but never written",
                       (unsigned long long)sequence);
    check->durable = sequence;
}

void soc_check_shown(struct soc_check *check, struct soc_slice stream, struct soc_slice agent,
                     struct soc_slice text)
{
    if (check->shown >= check->outputs_count) {
        soc_books_fail(check, "a line of %.*s was shown before it was durable: %.*s",
                       (int)agent.length, agent.data, (int)text.length, text.data);
        return;
    }
    const struct soc_check_output *next = &check->outputs[check->shown++];
    if (!soc_slice_equal(next->stream, stream) || !soc_slice_equal(next->agent, agent) ||
        !soc_slice_equal(next->text, text))
        soc_books_fail(check, "a line of %.*s was shown out of order: %.*s", (int)agent.length,
                       agent.data, (int)text.length, text.data);
}

void soc_check_restart(struct soc_check *check, uint64_t sequence)
{
    if (sequence < check->durable)
        soc_books_fail(check, "batch %llu was durable, but is lost: the store ends with %llu",
                       (unsigned long long)check->durable, (unsigned long long)sequence);
    apply_up_to(check, sequence);
    if (sequence > check->applied)
        soc_books_fail(check, "the store ends with batch %llu, which was never written",
                       (unsigned long long)sequence);
    /* What the society resumes from must not be lost later. */
    check->durable = sequence;
    check->waiting_count = 0;
    soc_check_doors_restart(check);
    check->shown = 0;
    while (check->shown < check->outputs_count &&
           check->outputs[check->shown].key <= check->outputs_done)
        check->shown++;
}

static int read_loaded(const struct soc_record *record, void *user)
{
    soc_ledger_read(user, record);
    return SOC_OK;
}

static void compare(struct soc_check *check, const struct soc_ledger *loaded)
{
    struct soc_ledger *ledger = soc_ledger_new(NULL);
    struct soc_slice rest = soc_buf_slice(&check->history);
    struct soc_record record;
    struct soc_buf difference = {0};
    while (soc_record_next(&rest, &record) > 0)
        soc_ledger_read(ledger, &record);
    if (!soc_ledger_agrees(ledger, loaded, &difference))
        soc_books_fail(check, "a start does not load what was written: %s",
                       soc_buf_text(&difference));
    soc_buf_fini(&difference);
    soc_ledger_free(ledger);
}

void soc_check_reload(struct soc_check *check, struct soc_store *store)
{
    soc_check_restart(check, soc_store_sequence(store));
    soc_check_stored(check, store);
}

void soc_check_stored(struct soc_check *check, struct soc_store *store)
{
    if (check->applied != soc_store_sequence(store) || check->fault[0] != '\0' ||
        check->history.length > HISTORY_BYTES_MAX || soc_store_folded(store) == check->loaded)
        return;
    struct soc_ledger *loaded = soc_ledger_new(store);
    struct soc_detail detail;
    if (soc_store_load(store, read_loaded, loaded, &detail) == SOC_OK) {
        check->loaded = soc_store_folded(store);
        compare(check, loaded);
    }
    soc_ledger_free(loaded);
}

void soc_check_end(struct soc_check *check, int64_t now_ms)
{
    if (check->waiting_count > 0)
        soc_books_fail(check, "at the end %zu batches are not durable", check->waiting_count);
    if (check->shown < check->outputs_count)
        soc_books_fail(
            check, "at the end a line of %.*s was never shown: %.*s",
            (int)check->outputs[check->shown].agent.length, check->outputs[check->shown].agent.data,
            (int)check->outputs[check->shown].text.length, check->outputs[check->shown].text.data);
    else if (check->shown > 0 && check->outputs_done < check->outputs[check->shown - 1].key)
        soc_books_fail(check, "at the end output %llu was shown, but not recorded as shown",
                       (unsigned long long)check->outputs[check->shown - 1].key);
    if (check->cursor.length > 0)
        soc_check_totals(check, soc_buf_slice(&check->cursor), true);
    check->now_ms = now_ms;
    soc_check_mail_end(check);
    soc_check_turns_end(check);
}

const char *soc_check_fault(const struct soc_check *check)
{
    return check->fault[0] == '\0' ? NULL : check->fault;
}

uint64_t soc_check_messages(const struct soc_check *check)
{
    return check->sent + check->readers;
}

uint64_t soc_check_agents(const struct soc_check *check)
{
    return check->births;
}

/* Finds the agent that has handled most, after `before` in that order. */
static const struct soc_check_agent *find_busiest(const struct soc_check *check,
                                                  const struct soc_check_agent *before)
{
    const struct soc_check_agent *busiest = NULL;
    const struct soc_check_agent *agent;
    size_t cursor = 0;
    while ((agent = soc_map_each(&check->agents, &cursor)) != NULL) {
        if (before != NULL &&
            (agent->handled > before->handled ||
             (agent->handled == before->handled && agent->number <= before->number)))
            continue;
        if (agent->handled > 0 && (busiest == NULL || agent->handled > busiest->handled))
            busiest = agent;
    }
    return busiest;
}

void soc_check_put_busiest(const struct soc_check *check, int count, struct soc_buf *out)
{
    const struct soc_check_agent *agent = NULL;
    for (int i = 0; i < count && (agent = find_busiest(check, agent)) != NULL; i++) {
        soc_buf_put_text(out, i == 0 ? "" : ", ");
        soc_buf_put_slice(out, agent->id);
        soc_buf_printf(out, " (%lld messages)", (long long)agent->handled);
    }
}

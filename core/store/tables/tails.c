#include "store/tables/tails.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/line.h"
#include "store/tables/batches.h"

#define TAILS          4          /* kept */
#define KEPT_BYTES_MAX (2u << 20) /* of one, between looks */

/* A message of a batch. */
struct found {
    uint64_t key;
    size_t start; /* of its record */
};

struct soc_tails {
    struct soc_tail list[TAILS];
    uint64_t uses;
};

struct soc_tails *soc_tails_new(void)
{
    return soc_alloc_zero(sizeof(struct soc_tails));
}

static void empty(struct soc_tail *tail)
{
    soc_buf_fini(&tail->messages);
    soc_buf_fini(&tail->starts);
    soc_buf_fini(&tail->bytes);
    *tail = (struct soc_tail){0};
}

void soc_tails_free(struct soc_tails *tails)
{
    for (int i = 0; tails != NULL && i < TAILS; i++)
        empty(&tails->list[i]);
    free(tails);
}

void soc_tails_trim(struct soc_tails *tails)
{
    for (int i = 0; i < TAILS; i++)
        if (tails->list[i].bytes.capacity > KEPT_BYTES_MAX)
            empty(&tails->list[i]);
}

/* Notes where the messages are, whose keys rise, and the records that make lines. */
static void find_records(struct soc_tail *tail)
{
    struct soc_slice rest = soc_buf_slice(&tail->bytes);
    struct soc_slice bytes;
    enum soc_record_type type;
    uint64_t key = 0;
    tail->messages.length = tail->starts.length = 0;
    while (soc_record_skip(&rest, &type, &bytes) > 0) {
        size_t start = (size_t)(bytes.data - tail->bytes.data);
        if (type == SOC_RECORD_MESSAGE) {
            struct found found = {soc_record_key(bytes), start};
            soc_buf_put(&tail->messages, &found, sizeof(found));
        }
        if (soc_line_count(bytes, &key) > 0)
            soc_buf_put(&tail->starts, &start, sizeof(start));
    }
}

/* Reads the number of the last line of a batch. */
static int read_last_line(struct soc_database *database, uint64_t sequence, uint64_t *line,
                          struct soc_detail *detail)
{
    sqlite3_stmt *row = soc_database_statement(database, SOC_STATEMENT_BOUNDS);
    sqlite3_bind_int64(row, 1, (int64_t)sequence);
    int rc = row == NULL ? SQLITE_ERROR : sqlite3_step(row);
    if (rc == SQLITE_ROW)
        *line = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return rc == SQLITE_ROW ? SOC_OK : soc_database_fail(database, rc, detail);
}

static int fill(struct soc_tail *tail, struct soc_database *database, uint64_t sequence,
                struct soc_detail *detail)
{
    uint64_t before = sequence - 1;
    uint64_t last = 0;
    tail->sequence = 0;
    tail->bytes.length = 0;
    int rc = soc_batches_read(database, &before, sequence, 1, &tail->bytes, detail);
    if (rc == SOC_OK)
        rc = read_last_line(database, sequence, &last, detail);
    if (rc < 0)
        return rc;
    find_records(tail);
    tail->lines = last - tail->starts.length / sizeof(size_t);
    tail->sequence = sequence;
    return SOC_OK;
}

/* Finds the batch, or the one that makes way for it: the one not used for longest. */
static struct soc_tail *choose(struct soc_tails *tails, uint64_t sequence,
                               const struct soc_tail *kept)
{
    struct soc_tail *oldest = NULL;
    for (int i = 0; i < TAILS; i++) {
        struct soc_tail *each = &tails->list[i];
        if (each->sequence == sequence)
            return each;
        if (each != kept && (oldest == NULL || each->used < oldest->used))
            oldest = each;
    }
    return oldest;
}

int soc_tails_read(struct soc_tails *tails, struct soc_database *database, uint64_t sequence,
                   const struct soc_tail *kept, const struct soc_tail **out,
                   struct soc_detail *detail)
{
    struct soc_tail *tail = choose(tails, sequence, kept);
    int rc = SOC_OK;
    assert(sequence > 0);
    if (tail->sequence != sequence)
        rc = fill(tail, database, sequence, detail);
    tail->used = ++tails->uses;
    *out = tail;
    return rc;
}

bool soc_tail_find(const struct soc_tail *tail, uint64_t key, struct soc_record *record)
{
    const struct found *all = (const struct found *)(const void *)tail->messages.data;
    size_t count = tail->messages.length / sizeof(*all);
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || all[low].key != key)
        return false;
    struct soc_slice bytes = soc_buf_slice(&tail->bytes);
    bytes = soc_slice(bytes.data + all[low].start, bytes.length - all[low].start);
    return soc_record_next(&bytes, record) > 0;
}

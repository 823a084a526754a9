/* Lines: which row holds a line of the activity log.
 *
 * The table `lines` has a row for each block of consecutive lines. A block is a few bytes
 * for each line: that it is the line of a message, the line of its end, or a row of
 * `events`, whose number is that of the line. So a line is found without a scan, and
 * folding writes one row for hundreds of lines. A block also has the earliest and the
 * latest time in it, which lets a look skip blocks: times may step back, numbers rise.
 *
 * A message that ended and is pending again keeps its end as a row of `events`, but the
 * block still names the message.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_LINES_H
#define SOC_STORE_TABLES_LINES_H

#include "store/line.h"
#include "store/tables/database.h"

#define SOC_LINES_BLOCK_MAX 512 /* lines of a block */

/* What kind of row holds a line. */
enum soc_lines_kind {
    SOC_LINES_EVENT, /* of `events`; there may be none */
    SOC_LINES_SENT,  /* of `message_entries` */
    SOC_LINES_END,   /* the same, for the end of the message */
};

/* Where a line is. */
struct soc_lines_entry {
    enum soc_lines_kind kind;
    uint64_t key; /* of the message; 0: an event */
};

/* A block that is being written. Zeroed: empty. */
struct soc_lines {
    struct soc_buf bytes;
    uint64_t count;
    uint64_t key; /* of the last message */
    int64_t since_ms;
    int64_t until_ms;
};

/* Adds line `number`, the next one, and writes the block if it is full. Returns SQLite's
 * result code. */
int soc_lines_add(struct soc_lines *lines, struct soc_database *database, uint64_t number,
                  struct soc_lines_entry entry, int64_t time_ms);

/* Writes the block, whose last line is `last`, and empties it. */
int soc_lines_flush(struct soc_lines *lines, struct soc_database *database, uint64_t last);

/* Frees it. */
void soc_lines_fini(struct soc_lines *lines);

/* A block that was read. Zeroed: none. Its memory is used again for the next one. */
struct soc_lines_block {
    uint64_t first; /* number of its first line; 0: there is none */
    uint64_t count;
    struct soc_lines_entry entries[SOC_LINES_BLOCK_MAX];
};

/* Which blocks to read. */
struct soc_lines_span {
    uint64_t after;    /* with a line above this one … */
    uint64_t until;    /* … and one up to this */
    int64_t since_ms;  /* whose times reach into this span; 0: from the beginning */
    int64_t until_ms;  /* exclusive; 0: no end */
    bool is_backwards; /* the last such block, not the first */
};

/* Reads the first block of a span, or none. */
int soc_lines_read(struct soc_database *database, const struct soc_lines_span *span,
                   struct soc_lines_block *block, struct soc_detail *detail);

/* Fills the table for lines that were folded by a version without it, and notes in each
 * batch of the journal up to which line and message it goes. */
int soc_lines_upgrade(struct soc_database *database, struct soc_detail *detail);

#endif

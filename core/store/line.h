/* Line: one line of the activity log, as a pure function of records.
 *
 * Lines are numbered from 1 in the order of the records that make them, through the whole
 * history of a society. The number of a line is the cursor of every list and the id of
 * every event. Folding, the reader and the tap all number and read lines by these
 * functions. A record without a line here never gets one later; a record that has got its
 * line only in a later version makes one only if it holds what that version added.
 * Layer: store. Thread: any; a line lends its texts. */
#ifndef SOC_STORE_LINE_H
#define SOC_STORE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/record.h"

/* A line. What a line about a message does not say itself is that of the message. */
struct soc_line {
    uint64_t number;
    int64_t time_ms;
    uint64_t key;                /* of the message it is about; 0: none */
    int64_t sent_ms;             /* when that was sent; 0: not known */
    struct soc_slice foreign_id; /* its id on the host it came from; absent: it is of this one */
    const char *event;           /* what happened; NULL: `name` */
    struct soc_slice name;
    struct soc_slice agent; /* whom it concerns */
    struct soc_slice other; /* the second agent; absent: none */
    struct soc_slice task_id;
    struct soc_slice correlation_id;
    struct soc_slice type; /* of the message */
    struct soc_slice detail;
};

/* Tells whether the record makes a line. */
bool soc_line_is_made(const struct soc_record *record);

/* Returns the time of the line that the record makes. */
int64_t soc_line_time(const struct soc_record *record);

/* Fills in what the record itself says of the line it makes, but for the number. A text
 * that has to be composed is put into `scratch`, which is emptied first. */
void soc_line_read(const struct soc_record *record, struct soc_line *line, struct soc_buf *scratch);

/* Adds what a line about a message leaves to the message. */
void soc_line_complete(struct soc_line *line, const struct soc_record_message *message);

/* Tells whether the line is left out when the log is shown: that of a dead letter made of
 * one reader's copy of a broadcast, which was sent with the broadcast. */
bool soc_line_is_hidden(const struct soc_record_message *message);

/* Counts the lines that the records of a batch make, and raises `*key` to the highest key
 * of a message in it. Bytes that are not a record end the count. */
uint64_t soc_line_count(struct soc_slice batch, uint64_t *key);

/* Lends the name of the end of a message: `processed`, `dead` and so on. */
const char *soc_line_outcome(uint64_t outcome);

#endif

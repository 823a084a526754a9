/* Window: the batches that are folded together, and their outcome.
 *
 * For the files of folding only.
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_WINDOW_H
#define SOC_STORE_TABLES_WINDOW_H

#include "base/map.h"
#include "store/record.h"
#include "store/tables/database.h"
#include "store/tables/lines.h"

#define SOC_WINDOW_NONE ((size_t)-1)

/* Tables of what is under way. During a window they only lose rows: what it adds is written
 * at its end. Most of the time they are empty, and then nothing need be removed. */
enum soc_window_stored {
    SOC_WINDOW_TAKES,
    SOC_WINDOW_ACTIVATIONS,
    SOC_WINDOW_EFFECTS,
    SOC_WINDOW_STORED_COUNT
};

/* A message of the window, and its state at the end. */
struct soc_window_message {
    struct soc_record record;
    uint64_t status;
    uint64_t finished_ms;
    uint64_t ack;
    uint64_t place;     /* of its line in the activity log */
    uint64_t end_place; /* of the line of its end */
    struct soc_slice reason;
};

/* The end of a message that was sent before the window. */
struct soc_window_end {
    struct soc_record_message_end end;
    uint64_t place; /* of its line */
};

/* An activation that the window mentions. */
struct soc_window_activation {
    struct soc_record record; /* type 0: the window has no record of it */
    size_t last_effect;       /* in `effects`, or SOC_WINDOW_NONE */
    bool is_ended;
};

/* An activation recorded in the window, in order of its first record. */
struct soc_window_begun {
    size_t activation;
};

/* An effect that was recorded or answered in the window. */
struct soc_window_effect {
    struct soc_record record;
    size_t activation; /* in `activations` */
    size_t previous;   /* effect of the same activation, or SOC_WINDOW_NONE */
};

/* A message that `receive` took. */
struct soc_window_take {
    struct soc_record record; /* type 0: its message has ended */
    size_t activation;
    size_t previous; /* take of the same message, or SOC_WINDOW_NONE */
};

/* A link to another host; the last record about it counts. */
struct soc_window_link {
    struct soc_record record;
    bool is_written;
};

/* A state, an output, or items of a link. */
struct soc_window_plain {
    struct soc_record record;
};

/* Growing arrays; the memory is kept for the next window. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        struct type *items;                                                                        \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/* What the window holds, by kind. */
struct soc_window {
    struct soc_database *database; /* lent */
    struct soc_buf bytes;          /* of its batches; records lend from it */
    LIST(soc_window_message) messages;
    LIST(soc_window_end) ends;
    LIST(soc_window_activation) activations;
    LIST(soc_window_begun) begun;
    LIST(soc_window_effect) effects;
    LIST(soc_window_take) takes;
    LIST(soc_window_plain) states;
    LIST(soc_window_plain) outputs;
    LIST(soc_window_link) links; /* a few */
    LIST(soc_window_plain) link_items;
    /* Values are item numbers + 1 as pointers: the arrays move when they grow. */
    struct soc_map message_by_key;
    struct soc_map end_by_key;
    struct soc_map take_by_key;
    struct soc_map activation_by_agent;
    struct soc_map state_by_agent;
    uint64_t outputs_shown; /* highest key of an output_end */
    uint64_t lines;         /* of the activity log, in total */
    struct soc_lines block; /* the last of them, not written yet */
    struct soc_buf scratch; /* of one line */
    int rc;                 /* SQLite's first failure */
    bool is_stored_known;   /* `stored` was read */
    bool stored[SOC_WINDOW_STORED_COUNT];
};

/* The index in a map's value, SOC_WINDOW_NONE for NULL; and the value of an index. */
static inline size_t soc_window_number(void *value)
{
    return (size_t)(uintptr_t)value - 1;
}
static inline void *soc_window_value(size_t number)
{
    return (void *)(uintptr_t)(number + 1);
}

/* Makes space for one more item of `size` bytes. */
void soc_window_make_room(void **items, size_t count, size_t *capacity, size_t size);

/* The same for a list; yields the item as an lvalue. */
#define SOC_WINDOW_ADD(list)                                                                       \
    (*(soc_window_make_room((void **)&(list).items, (list).count, &(list).capacity,                \
                            sizeof(*(list).items)),                                                \
       &(list).items[(list).count++]))

/* Runs a statement, unless one has failed. */
void soc_window_run(struct soc_window *window, enum soc_statement which);

/* Binds the fields of `record` from parameter 1 on; returns the next index. */
int soc_window_bind(struct soc_window *window, enum soc_statement which, struct soc_record *record);

/* Binds the record and runs. */
void soc_window_run_record(struct soc_window *window, enum soc_statement which,
                           struct soc_record *record);

/* Tells whether that table had rows when the window first asked. */
bool soc_window_has_stored(struct soc_window *window, enum soc_window_stored which);

/* Counts the line of the activity log that the record makes, if it makes one. */
void soc_window_count(struct soc_window *window, const struct soc_record *record);

/* Writes that line as a row of `events`: the last one counted. */
void soc_window_put_line(struct soc_window *window, const struct soc_record *record);

/* Empties the window; its memory is kept for the next one. */
void soc_window_clear(struct soc_window *window);

/* Frees everything. */
void soc_window_fini(struct soc_window *window);

#endif

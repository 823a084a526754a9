/* Past: a society as it was at a line of the activity log.
 *
 * A past is fed the lines of the log in order, up to the one asked for, and then tells who
 * was alive, who knew whom, who waited, which tasks and inbox items there were, and how many
 * messages had been sent and ended. It begins with nothing before the first line, or with
 * what it was at a later one (past_rows.h). It is filled by pages, so no step of it takes
 * long; what lines do not say (the name of a role, the text of an item) comes from the tables
 * at the end.
 *
 * Each thing it holds has a number, which rises in the order they came: that is how it is
 * stored, and found again when it changes.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAST_H
#define SOC_STORE_TABLES_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "store/line.h"
#include "store/values.h"

/* What one agent knows of another, which may have ended. */
struct soc_past_tie {
    uint64_t number;
    const struct soc_past_agent *owner;
    char *id;
    char *role;
    char *source;
    int64_t added_ms;
};

/* An agent that is alive. */
struct soc_past_agent {
    char *id;
    char *role;
    char *parent; /* NULL: none */
    uint64_t number;
    uint64_t birth;
    uint64_t children; /* counted for the answer */
    int64_t created_ms;
    uint64_t pending; /* messages for it that have not ended */
    bool is_outside;
    bool is_failed;
    bool is_paused;
    bool is_unresponsive;
    bool is_ending;
    struct soc_map ties;  /* struct soc_past_tie by id */
    char *wait;           /* why it is blocked, JSON; NULL: it is not */
    char *correlation_id; /* the chain it waits in */
    int64_t since_ms;
};

/* A task. */
struct soc_past_task {
    uint64_t number;
    char *name; /* owner, a line feed and its id */
    char *owner;
    char *id;
    char *assigner;
    char *correlation_id;
    char *reason; /* JSON */
    const char *state;
    uint64_t key; /* of the message that opened it; 0: not known */
    int64_t opened_ms;
    int64_t started_ms;
    int64_t ended_ms;
    uint32_t tries; /* how often it was begun */
};

/* An item of the inbox. */
struct soc_past_item {
    uint64_t number;
    uint64_t key;
    const char *state;
};

/* An offer of a task: its message, by the name that the task will have. */
struct soc_past_offer {
    uint64_t number;
    char *name;
    uint64_t key;
    int64_t time_ms;
};

/* What kind of thing is stored; the numbers are. */
enum soc_past_kind {
    SOC_PAST_HEAD,
    SOC_PAST_AGENT,
    SOC_PAST_TIE,
    SOC_PAST_TASK,
    SOC_PAST_ITEM,
    SOC_PAST_LETTER, /* has its key instead of a number */
    SOC_PAST_OFFER,
};

/* A thing that came, changed or went. */
struct soc_past_change {
    uint64_t number;
    enum soc_past_kind kind;
    const void *thing; /* lent; NULL: it has gone. Of a letter its outcome + 1 */
};

/* The number of a letter: those of other things stay below. */
#define SOC_PAST_LETTER_NUMBER(key) ((key) | UINT64_C(1) << 63)

/* How far the answer to a look was written. */
struct soc_past_cursor {
    int part;
    size_t row; /* of the part, */
    size_t tie; /* and of the agent in that row */
};

/* What was found so far. Zeroed: nothing. */
struct soc_past {
    uint64_t line; /* the last one that was looked at */
    uint64_t kept; /* the last one as of which it was stored */
    size_t bytes;  /* how many that took; 0: not known */
    uint64_t fed;  /* lines since it began: what a look costs */
    uint64_t last; /* the last one that was fed, and its time */
    int64_t time_ms;
    int64_t latest_ms; /* the latest date in it, as whoever feeds it says */
    uint64_t number;   /* the highest of its things */
    uint64_t births;
    uint64_t totals[SOC_OUTCOME_COUNT]; /* by outcome; `pending`: sent */
    uint64_t taken;                     /* from other hosts */
    struct soc_map agents;              /* in order of birth, by id */
    struct soc_map tasks;               /* by name, in order of opening */
    struct soc_map items;               /* by key */
    struct soc_map dead;                /* outcome + 1 of dead letters, by key */
    struct soc_map offers;              /* messages that offer a task, by its name */
    struct soc_map offers_by_key;       /* the same, by their keys */
    uint64_t tasks_over;                /* how many of `tasks` have ended … */
    uint64_t items_over;                /* … and of `items` */
    bool has_begun;                     /* it was looked where to begin */
    bool is_partial;                    /* lines were left out: their times are not asked for */
    bool is_tracked;                    /* `changes` is kept */
    struct soc_map changes;             /* struct soc_past_change by number */
    struct soc_past_cursor cursor;
};

/* Returns an empty one; the caller owns it. */
struct soc_past *soc_past_new(void);

/* Makes it what a new one is. */
void soc_past_empty(struct soc_past *past);

/* Frees it. NULL is allowed. */
void soc_past_free(struct soc_past *past);

/* Adds a thing that was stored; takes it, also if it is refused: the owner of a contact is
 * missing. One that is there already is replaced. */
void soc_past_add_agent(struct soc_past *past, struct soc_past_agent *agent);
bool soc_past_add_tie(struct soc_past *past, struct soc_slice owner, struct soc_past_tie *tie);
void soc_past_add_task(struct soc_past *past, struct soc_past_task *task);
void soc_past_add_item(struct soc_past *past, struct soc_past_item *item);
void soc_past_add_offer(struct soc_past *past, struct soc_past_offer *offer);

/* Forgets what has changed so far. */
void soc_past_clear_changes(struct soc_past *past);

/* Forgets a dead letter with what it offered: it was removed, so no further line can be about
 * it. */
void soc_past_forget_letter(struct soc_past *past, uint64_t key);

/* Takes the next line. */
void soc_past_feed(struct soc_past *past, const struct soc_line *line);

/* Returns the status of an agent, as soc_status_name does: `idle` and `working` are told
 * apart by whether messages were pending for it. */
const char *soc_past_status(const struct soc_past_agent *agent);

#endif

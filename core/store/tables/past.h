/* Past: a society as it was at a line of the activity log.
 *
 * A past is fed the lines of the log in order, from the first to the one asked for, and
 * then tells who was alive, who knew whom, who waited, which tasks and inbox items there
 * were, and how many messages had been sent and ended. It is filled by pages, so no step of
 * it takes long; what lines do not say (the name of a role, the text of an item) comes from
 * the tables at the end.
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
    uint64_t birth;
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
    uint64_t key;
    const char *state;
};

/* What was found so far. Zeroed: nothing. */
struct soc_past {
    uint64_t line; /* the last one that was looked at */
    uint64_t last; /* the last one that was fed, and its time */
    int64_t time_ms;
    uint64_t births;
    uint64_t totals[SOC_OUTCOME_COUNT]; /* by outcome; `pending`: sent */
    uint64_t taken;                     /* from other hosts */
    struct soc_map agents;              /* in order of birth, by id */
    struct soc_map tasks;               /* by name, in order of opening */
    struct soc_map items;               /* by key */
    struct soc_map dead;                /* outcome + 1 of dead letters, by key */
    struct soc_map offers;              /* messages that offer a task, by its name */
    uint64_t tasks_over;                /* how many of `tasks` have ended … */
    uint64_t items_over;                /* … and of `items` */
};

/* Returns an empty one; the caller owns it. */
struct soc_past *soc_past_new(void);

/* Frees it. NULL is allowed. */
void soc_past_free(struct soc_past *past);

/* Takes the next line. */
void soc_past_feed(struct soc_past *past, const struct soc_line *line);

/* Returns the status of an agent, as soc_status_name does: `idle` and `working` are told
 * apart by whether messages were pending for it. */
const char *soc_past_status(const struct soc_past_agent *agent);

#endif

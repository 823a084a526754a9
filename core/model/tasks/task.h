/* Task: a piece of work given to an agent, from assignment to completion.
 *
 * State changes: pending -> processing -> completed or failed; pending or processing ->
 * cancelled; processing -> pending for a retry; pending -> failed if the message that
 * opened it can no longer be handled.
 *
 * A task knows its parent and its subtasks, but nothing about messages, timers or
 * scripts.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_TASKS_TASK_H
#define SOC_MODEL_TASKS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/slice.h"

struct soc_agent;
struct soc_message;

/* Stored: never change the values. States from COMPLETED on are final. */
enum soc_task_state {
    SOC_TASK_PENDING,
    SOC_TASK_PROCESSING,
    SOC_TASK_COMPLETED,
    SOC_TASK_FAILED,
    SOC_TASK_CANCELLED,
};

/* The type of message that opened it. Stored. */
enum soc_task_style {
    SOC_TASK_STYLE_TASK,
    SOC_TASK_STYLE_ASSIGN,
    SOC_TASK_STYLE_ASSIGNMENT,
    SOC_TASK_STYLE_COUNT,
};

/* Alerts, each sent to the assigner once. Bits, stored. */
enum soc_task_alert {
    SOC_TASK_ALERT_NONE = 0,
    SOC_TASK_ALERT_DEADLINE = 1,
    SOC_TASK_ALERT_TIMEOUT = 2,
};

/* A task. */
struct soc_task {
    struct soc_heap_item alarm; /* due at soc_task_due() */
    uint64_t key;               /* of the message that opened it */
    char *id;                   /* owned; not unique */
    char *correlation_id;       /* owned */
    char *reason;               /* why it failed or was cancelled: JSON, owned, or NULL */
    struct soc_agent *assigner; /* lent; NULL: the host, or an agent that has terminated */
    struct soc_agent *owner;    /* lent; the agent that does it */
    int64_t opened_ms;
    int64_t started_ms;       /* when it first began; 0: not yet */
    int64_t ended_ms;         /* 0: not yet */
    int64_t deadline_ms;      /* 0: none */
    int64_t deadline_date_ms; /* its date (env/calendar.h): as it was given */
    int64_t limit_ms;         /* time allowed once begun; 0: no limit */
    uint32_t tries;           /* how often it was begun */
    uint8_t state;            /* enum soc_task_state */
    uint8_t style;            /* enum soc_task_style */
    uint8_t priority;         /* enum soc_priority */
    uint8_t alerts;           /* enum soc_task_alert, those raised */

    struct soc_task *parent; /* lent, or NULL */
    struct soc_task *first_child;
    struct soc_task *last_child;
    struct soc_task *previous_sibling;
    struct soc_task *next_sibling;
    struct soc_task *previous; /* among the open tasks of its owner */
    struct soc_task *next;

    /* Used by the host. */
    struct soc_message *message; /* that opened it, while it exists; NULL: gone */
    bool owns_message;           /* the message was handled and is kept for a retry */
    uint8_t intent;              /* what the current turn will do with it */
    uint8_t intent_state;        /* enum soc_task_state the turn will set */
    int64_t again_ms;            /* when it is retried */
    struct soc_agent *canceller; /* the agent cancelling it; NULL: the host */
    char *name;                  /* owned: its key in the map of open tasks */
};

/* Returns a pending task. Release with soc_task_free(). */
struct soc_task *soc_task_new(uint64_t key, struct soc_slice id, struct soc_agent *assigner,
                              struct soc_agent *owner);

/* Frees it but not its message. It must have no parent and no subtasks. NULL is
 * allowed. */
void soc_task_free(struct soc_task *task);

/* Returns true if it is completed, failed or cancelled. */
bool soc_task_is_over(const struct soc_task *task);

/* Change its state. SOC_ETASKOVER: it is over. SOC_EREFUSED: its state does not allow
 * the change. On an error nothing has changed. */
int soc_task_begin(struct soc_task *task, int64_t now_ms);
int soc_task_retry(struct soc_task *task);
int soc_task_end(struct soc_task *task, enum soc_task_state state, int64_t now_ms);

/* Returns when its next alert is due; 0: never. */
int64_t soc_task_due(const struct soc_task *task);

/* Returns the first alert that is due and marks it as raised; NONE if none is due. */
enum soc_task_alert soc_task_take_alert(struct soc_task *task, int64_t now_ms);

/* Returns when its message is or was due. A pending task does not begin before. */
int64_t soc_task_ready_ms(const struct soc_task *task);

/* Returns the time since it was begun, or since it was opened if it has not begun. */
int64_t soc_task_took_ms(const struct soc_task *task, int64_t now_ms);

/* Adds `child`, which has no parent, as the last child of `parent`. */
void soc_task_adopt(struct soc_task *parent, struct soc_task *child);

/* Removes it from the tree; its children move to its parent. */
void soc_task_leave(struct soc_task *task);

/* Lends the next descendant of `top` in pre-order; start with `task` = `top`. NULL
 * after the last. */
struct soc_task *soc_task_next_below(const struct soc_task *top, const struct soc_task *task);

/* Lend the names of states, styles (a message type) and alerts. */
const char *soc_task_state_name(enum soc_task_state state);
const char *soc_task_style_name(enum soc_task_style style);
const char *soc_task_alert_name(enum soc_task_alert alert);

#endif

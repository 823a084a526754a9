/* Task: one piece of work that an agent was given, from its opening to its end.
 *
 * Its life is pending -> processing -> completed or failed; cancelled from either
 * of the first two; back from processing to pending to be tried again; and from
 * pending to failed when what opened it can no longer be handled. Nothing else.
 * A task knows its place among tasks (the one in whose handling it was opened, and
 * those opened in its own), but nothing of messages, timers or scripts.
 * Layer: model. Thread: loop. */
#ifndef SOC_MODEL_TASKS_TASK_H
#define SOC_MODEL_TASKS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/slice.h"

struct soc_agent;
struct soc_message;

/* Stored: values are for ever, and those from COMPLETED on are ends. */
enum soc_task_state {
    SOC_TASK_PENDING,
    SOC_TASK_PROCESSING,
    SOC_TASK_COMPLETED,
    SOC_TASK_FAILED,
    SOC_TASK_CANCELLED,
};

/* By which type of message it was opened. Stored. */
enum soc_task_style {
    SOC_TASK_STYLE_TASK,
    SOC_TASK_STYLE_ASSIGN,
    SOC_TASK_STYLE_ASSIGNMENT,
    SOC_TASK_STYLE_COUNT,
};

/* What its assigner is told once. Bits, stored. */
enum soc_task_alert {
    SOC_TASK_ALERT_NONE = 0,
    SOC_TASK_ALERT_DEADLINE = 1,
    SOC_TASK_ALERT_TIMEOUT = 2,
};

/* A task. */
struct soc_task {
    struct soc_heap_item alarm; /* due at soc_task_due() */
    uint64_t key;               /* of the message that opened it */
    char *id;                   /* owned; others may have one of the same id */
    char *correlation_id;       /* owned */
    char *reason;               /* why it failed or was cancelled: JSON, owned, or NULL */
    struct soc_agent *assigner; /* lent; NULL: the host, or somebody who has ended */
    struct soc_agent *owner;    /* lent: who does it */
    int64_t opened_ms;
    int64_t started_ms;  /* when it was first begun, 0: not yet */
    int64_t ended_ms;    /* 0: not yet */
    int64_t deadline_ms; /* 0: none */
    int64_t limit_ms;    /* that it may take once begun, 0: no limit */
    uint32_t tries;      /* times it was begun */
    uint8_t state;       /* enum soc_task_state */
    uint8_t style;       /* enum soc_task_style */
    uint8_t priority;    /* enum soc_priority */
    uint8_t alerts;      /* enum soc_task_alert, those given */

    struct soc_task *parent; /* lent, or NULL */
    struct soc_task *first_child;
    struct soc_task *last_child;
    struct soc_task *previous_sibling;
    struct soc_task *next_sibling;
    struct soc_task *previous; /* among the open ones of its owner */
    struct soc_task *next;

    /* The host's own. */
    struct soc_message *message; /* that opened it, while it exists; NULL: gone */
    bool owns_message;           /* it was handled; kept for another try */
    uint8_t intent;              /* what the turn under way means to do with it */
    uint8_t intent_state;        /* enum soc_task_state it means to give it */
    int64_t again_ms;            /* when it is to be tried again */
    struct soc_agent *canceller; /* who means to cancel it, NULL: the host */
    char *name;                  /* owned: its key among open tasks */
};

/* Returns a pending task; release with soc_task_free(). */
struct soc_task *soc_task_new(uint64_t key, struct soc_slice id, struct soc_agent *assigner,
                              struct soc_agent *owner);

/* Frees it, not the message; it must have no place among tasks any more. NULL is
 * allowed. */
void soc_task_free(struct soc_task *task);

/* Tells whether it is at its end. */
bool soc_task_is_over(const struct soc_task *task);

/* The steps of its life: SOC_OK; SOC_ETASKOVER if it is at its end, SOC_EREFUSED if
 * no such step leads on from where it is; nothing has changed then. */
int soc_task_begin(struct soc_task *task, int64_t now_ms);
int soc_task_retry(struct soc_task *task);
int soc_task_end(struct soc_task *task, enum soc_task_state state, int64_t now_ms);

/* When its next alert falls due, 0: never. */
int64_t soc_task_due(const struct soc_task *task);

/* Takes the alert that is due first, marking it as given; NONE if none is due. */
enum soc_task_alert soc_task_take_alert(struct soc_task *task, int64_t now_ms);

/* When its message is due, or was: a pending task does not begin before. */
int64_t soc_task_ready_ms(const struct soc_task *task);

/* How long it has taken: since it was begun, else since it was opened. */
int64_t soc_task_took_ms(const struct soc_task *task, int64_t now_ms);

/* Puts `child`, which has no parent, last among the children of `parent`. */
void soc_task_adopt(struct soc_task *parent, struct soc_task *child);

/* Takes it out of its place: its children become those of its parent. */
void soc_task_leave(struct soc_task *task);

/* Lends the next task of those that descend from `top`, parents before children;
 * `task` is `top` to begin. NULL after the last. */
struct soc_task *soc_task_next_below(const struct soc_task *top, const struct soc_task *task);

/* Lend the names of states, styles (the message's type) and alerts. */
const char *soc_task_state_name(enum soc_task_state state);
const char *soc_task_style_name(enum soc_task_style style);
const char *soc_task_alert_name(enum soc_task_alert alert);

#endif

/* Turn state: what the turn under way has done so far.
 *
 * For the files of this folder only, as state.h.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURN_STATE_H
#define SOC_KERNEL_TURN_STATE_H

#include "base/buf.h"
#include "model/activation.h"
#include "model/agent.h"
#include "model/dedupe.h"
#include "model/inbox.h"
#include "model/message.h"

/* Something for the world outside, kept until its batch is durable. */
struct soc_output {
    struct soc_output *next;
    uint64_t key;             /* of its output record; 0: a call only, not recorded */
    uint64_t sequence;        /* the batch that holds its cause */
    void (*call)(void *user); /* instead of a text */
    void *call_user;
    char *agent;  /* id, owned */
    char *stream; /* owned */
    char *text;   /* owned, may hold zero bytes */
    size_t text_length;
};

/* How to take back one change of the turn under way. */
struct soc_undo {
    enum {
        SOC_UNDO_AGENT,
        SOC_UNDO_CONTACT,
        SOC_UNDO_ROLE,
        SOC_UNDO_TAKE,
        SOC_UNDO_ENDING,
        SOC_UNDO_ITEM,     /* put into the inbox */
        SOC_UNDO_DECISION, /* taken out of it */
        SOC_UNDO_MEMORY,   /* appended to an agent's conversation */
        SOC_UNDO_TASK,     /* the last thing done to a task: tasks.h knows what */
        SOC_UNDO_BARRIER,  /* opened */
        SOC_UNDO_SENT_KEY, /* remembered */
        SOC_UNDO_HOLD,     /* paused or resumed */
        SOC_UNDO_RESOLVE,  /* decided about an unresponsive agent; nothing is done yet */
    } kind;
    struct soc_agent *agent; /* born, to end, or whose contact changed */
    struct soc_agent *peer;  /* the contact, or who has it end */
    struct soc_contact old;  /* source etc. of the entry that was replaced */
    uint32_t old_number;     /* its place among the contacts */
    bool had_old;
    bool is_forced;   /* an end */
    uint8_t old_hold; /* enum soc_hold, before and after */
    uint8_t new_hold;
    char *old_reason; /* of an end, owned */
    struct soc_role *role;
    struct soc_message *message;
    uint64_t barrier_key;
    struct soc_dedupe_entry *sent_key; /* lent */
    struct soc_item *item;             /* lent of the inbox; of a decision: owned */
    char *answer; /* to the activation that waits for it, owned; NULL: none does */
};

/* The turn under way. */
struct soc_turn {
    bool is_open;
    struct soc_agent *agent;           /* whose turn; NULL: the host's own */
    struct soc_activation *activation; /* NULL: from a door */
    const struct soc_message *cause;   /* what is sent descends from it; NULL: nothing */
    size_t batch_mark;
    struct soc_message_list sent; /* delivered when the turn commits */
    struct soc_output *outputs;   /* newest first */
    struct soc_undo *undo;
    size_t undo_count;
    size_t undo_capacity;
    uint64_t key_mark; /* next_key at the beginning */
    uint64_t output_mark;
    int64_t keys_ms;     /* when keys against duplicates are looked at; 0: not yet */
    struct soc_buf kept; /* records that stay whatever becomes of the turn */
};

#endif

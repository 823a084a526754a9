/* Turn state: what the open turn has done so far. Owned by turn.h and commit.h.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_TURN_STATE_H
#define SOC_KERNEL_TURNS_TURN_STATE_H

#include "base/buf.h"
#include "kernel/turns/undo.h"
#include "model/message.h"

struct soc_activation;
struct soc_agent;

/* One output, held until its batch is durable. */
struct soc_output {
    struct soc_output *next;
    uint64_t key;             /* of its record; 0: a call, which has none */
    uint64_t sequence;        /* the batch that holds its cause */
    void (*call)(void *user); /* made instead of showing a text */
    void *call_user;
    char *agent;  /* id, owned */
    char *stream; /* owned */
    char *text;   /* owned, may hold zero bytes */
    size_t text_length;
};

/* The open turn. */
struct soc_turn {
    bool is_open;
    struct soc_agent *agent;           /* whose turn; NULL: the host */
    struct soc_activation *activation; /* NULL: from a door */
    const struct soc_message *cause;   /* the message that causes what is sent; NULL: none */
    size_t batch_mark;
    struct soc_message_list sent; /* delivered when the turn commits */
    struct soc_output *outputs;   /* newest first */
    struct soc_undo *undo;
    size_t undo_count;
    size_t undo_capacity;
    uint64_t key_mark; /* next_key when it was opened */
    uint64_t output_mark;
    uint64_t number;     /* increases with every turn */
    struct soc_buf kept; /* records that survive a rollback */
};

#endif

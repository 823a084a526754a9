/* Turn state: what the turn under way has done so far.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_TURN_STATE_H
#define SOC_KERNEL_TURNS_TURN_STATE_H

#include "base/buf.h"
#include "kernel/turns/undo.h"
#include "model/message.h"

struct soc_activation;
struct soc_agent;

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
    uint64_t number;     /* rises with every turn */
    struct soc_buf kept; /* records that stay whatever becomes of the turn */
};

#endif

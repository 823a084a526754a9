/* Why: the chain of waits from an agent to what it really waits for.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_WHY_H
#define SOC_KERNEL_OPERATIONS_WHY_H

#include "base/buf.h"

struct soc_agent;
struct soc_host;

#define SOC_WHY_STEPS_MAX 1000

/*  E(tag, name): where a chain of waits ends. */
#define SOC_WHY_END_MAP(E)                                                                         \
    E(PERSON, "person")   /* somebody must decide or answer */                                     \
    E(MODEL, "model")     /* a model is being asked */                                             \
    E(SERVER, "server")   /* a server is being asked */                                            \
    E(SLEEP, "sleep")     /* it sleeps until its deadline */                                       \
    E(RETRY, "retry")     /* it tries again at its deadline */                                     \
    E(PAUSED, "paused")   /* it runs no turn until it is resumed */                                \
    E(FAILED, "failed")   /* the same, after repeated failures */                                  \
    E(OUTSIDE, "outside") /* the agent lives outside */                                            \
    E(ABSENT, "absent")   /* the script does not define its role */                                \
    E(SILENCE, "silence") /* nobody is about to send what it waits for */                          \
    E(HOST, "host")       /* the society itself is about to answer */                              \
    E(WORKING, "working") /* it runs, or its turn comes next */                                    \
    E(IDLE, "idle")       /* it waits for nothing */                                               \
    E(CYCLE, "cycle")     /* it leads back to an agent of the chain */

/* Appends a list of steps, each the wait of one agent with `status` and `ended_by`, a list
 * of the operations that would end it. The last has `end`. */
void soc_why_put(struct soc_host *host, const struct soc_agent *agent, struct soc_buf *out);

/* The names of the ends, terminated by NULL. */
extern const char *const soc_why_ends[];

#endif

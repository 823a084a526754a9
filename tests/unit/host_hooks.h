/* Host hooks: agents implemented as C functions.
 *
 * A part is run from its beginning in every turn and answered from the record, as
 * a script is after a restart, so that each wait is also a replay.
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_HOST_HOOKS_H
#define SOC_TESTS_HOST_HOOKS_H

#include "base/json.h"
#include "check.h"
#include "kernel/agents.h"
#include "kernel/gate.h"
#include "kernel/host.h"
#include "kernel/look.h"
#include "kernel/refusal.h"
#include "kernel/registry.h"
#include "kernel/turns/batch.h"
#include "parts/table.h"
#include "store/store.h"

struct world;
/* One activation, from its beginning. */
typedef enum soc_turn_end part_fn(struct world *world, struct soc_activation *activation,
                                  struct soc_buf *error);

struct world { /* a host, its store, and what its scripts are */
    struct soc_store *store;
    struct soc_loop *loop; /* NULL: none */
    struct soc_host *host;
    part_fn *main;
    part_fn *worker; /* of every agent of that role */
    /* The gatekeeper; NULL: none is there. */
    struct soc_agent *(*route)(void *user, struct soc_slice payload, struct soc_buf *intent);
    bool shows_early, keys_apart;        /* as in struct soc_host_options */
    const struct soc_part *const *parts; /* NULL: those of every society */
    uint32_t effects_max;                /* 0: as usual */
    uint32_t retries_max;                /* of a turn that raised */
    uint64_t seed;                       /* 0: 1 */
    int64_t now_ms;                      /* time at a start, if the store knows none later */
    int runs;                            /* calls of a part */
    int live;                            /* effects done, not answered from the record */
    int failures;                        /* of the disk */
    bool is_deaf;                        /* nothing can be shown */
    struct soc_buf shown;                /* "agent: text\n" for each line */
    uint64_t shown_sequence;             /* of the store when the last line was shown */
    struct soc_buf texts[2];             /* owned by a test */
};

/* Runs the part of the activation's agent. */
static inline enum soc_turn_end world_run(void *user, struct soc_activation *activation,
                                          struct soc_buf *error)
{
    struct world *world = user;
    activation->cursor = 0;
    world->runs++;
    if (activation->message == NULL)
        return world->main(world, activation, error);
    return world->worker(world, activation, error);
}

/* There is no coroutine to forget. */
static inline void world_drop(void *user, struct soc_activation *activation)
{
    (void)user;
    activation->script = NULL;
}

/* Everybody may write to their contacts. */
static inline bool world_may_send(void *user, struct soc_agent *from, struct soc_agent *to,
                                  const struct soc_contact *contact, struct soc_buf *refusal)
{
    (void)user, (void)from, (void)to, (void)refusal;
    return contact != NULL;
}

/* Nothing is held for a message. */
static inline void world_forget(void *user, struct soc_message *message)
{
    (void)user;
    message->script_mark = 0;
}

/* Tries again every 100 ms, so many times. */
static inline int64_t world_retry_after(void *user, struct soc_agent *agent, uint32_t retries)
{
    (void)agent;
    return retries > ((struct world *)user)->retries_max ? -1 : 100;
}

/* Every agent answers for itself. */
static inline void world_introduce(void *user, const struct soc_introduction *introduction,
                                   struct soc_introduce_answer *answer)
{
    (void)user, (void)introduction;
    answer->kind = SOC_INTRODUCE_LEAVE;
}

/* Only solicited responses are accepted. */
static inline bool world_takes_unsolicited(void *user, struct soc_agent *from, struct soc_agent *to)
{
    (void)user, (void)from, (void)to;
    return false;
}

/* Children terminate with their parent. */
static inline bool world_is_adopted(void *user, struct soc_agent *agent, struct soc_agent *child,
                                    bool is_forced)
{
    (void)user, (void)agent, (void)child, (void)is_forced;
    return false;
}

/* Valid unless the type is `refused` or `warned`; `acked` requires an ack. */
static inline int world_check_message(void *user, const struct soc_candidate *candidate,
                                      bool *requires_ack, struct soc_buf *error)
{
    (void)user;
    *requires_ack = soc_slice_equal(candidate->type, SOC_SLICE("acked"));
    bool is_warned = soc_slice_equal(candidate->type, SOC_SLICE("warned"));
    if (!is_warned && !soc_slice_equal(candidate->type, SOC_SLICE("refused")))
        return SOC_OK;
    soc_refuse_message(error, "no", candidate->type, SOC_SLICE(""), SOC_SLICE(""));
    return is_warned ? 1 : SOC_EBADMESSAGE;
}

/* The agent that closed the cycle is released. */
static inline size_t world_victim(void *user, const struct soc_waiter *ring, size_t count)
{
    (void)user, (void)ring, (void)count;
    return 0;
}

/* Records what is shown, and how far the store was then. */
static inline bool world_show(void *user, struct soc_slice stream, struct soc_slice agent,
                              struct soc_slice text)
{
    struct world *world = user;
    if (world->is_deaf)
        return false;
    if (soc_slice_equal(stream, SOC_SLICE("mail")))
        text = soc_json_member(text, "payload");
    soc_buf_put_slice(&world->shown, agent);
    soc_buf_put_text(&world->shown, ": ");
    soc_buf_put_slice(&world->shown, text);
    soc_buf_put_byte(&world->shown, '\n');
    world->shown_sequence = world->loop == NULL ? soc_store_sequence(world->store) : 0;
    return true;
}

/* Counts; no test expects it. */
static inline void world_failed(void *user, const struct soc_detail *detail)
{
    (void)detail;
    ((struct world *)user)->failures++;
}

#endif

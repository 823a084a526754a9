/* Replay: a run that history has is run again, and what differs is told.
 *
 * The host of a replay has nothing but scripts: agents and messages are made from
 * the row. Every effect is answered from the row, so nothing is done and nothing
 * leaves. The first thing that differs ends the run: what comes behind it answers
 * another question.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HISTORY_REPLAY_H
#define SOC_PARTS_HISTORY_REPLAY_H

#include "base/buf.h"
#include "kernel/gate.h"
#include "model/activation.h"

/* What of a run differs. */
enum soc_replay_point {
    SOC_REPLAY_SAME,
    SOC_REPLAY_EFFECT, /* the effect at `index`, one more, or one that is missing */
    SOC_REPLAY_END,    /* how it ended */
    SOC_REPLAY_RESULT, /* what it answered its message with by returning it */
    SOC_REPLAY_STATE,  /* agent.state behind it */
};

/* One run. The all-zero struct is ready; release with soc_replay_fini(). */
struct soc_replay {
    struct soc_slice run; /* the detail of the row, lent */
    enum soc_replay_point point;
    uint32_t index;          /* of the effect where it was found, or of the last one */
    uint32_t effects;        /* that were repeated */
    struct soc_buf recorded; /* what stands in the row, JSON; empty: nothing */
    struct soc_buf now;      /* what came instead */
    struct soc_buf result;
    bool has_result;
    bool is_at_end; /* the record goes no further: it waited there */
};

/* Lends the agent of that id, made if it was not there. */
struct soc_agent *soc_replay_agent(struct soc_host *host, struct soc_slice id);

/* Makes the agent what it was then: role, parent, brief (absent: none), state. Its
 * role may still be without a behaviour. */
struct soc_agent *soc_replay_prepare(struct soc_host *host, struct soc_slice id,
                                     struct soc_slice run, struct soc_slice brief);

/* Runs `replay->run` of that agent again. SOC_ECORRUPT if the row makes no sense. */
int soc_replay_run(struct soc_host *host, struct soc_agent *agent, struct soc_replay *replay);

/* For the gate: as soc_gate_begin, of a host that replays. */
int soc_replay_begin(struct soc_host *host, struct soc_activation *activation,
                     enum soc_effect_kind kind, uint64_t hash, struct soc_slice *answer,
                     struct soc_buf *error);

/* Tells whether the host replays a run right now. */
bool soc_replay_is_under_way(const struct soc_host *host);

/* The running activation is about to answer its message with the payload `result`: kept
 * for history. False in a replay: it is compared and not sent. */
bool soc_replay_keep_result(struct soc_host *host, struct soc_slice result);

/* Forgets what the host would have written. */
void soc_replay_settle(struct soc_host *host);

/* Frees what it holds. */
void soc_replay_fini(struct soc_replay *replay);

#endif

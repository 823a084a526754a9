/* Replay: runs a recorded run again and reports the first difference.
 *
 * The host of a replay has nothing but scripts; agents and messages are made from the
 * row. Every effect is answered from the row, so nothing is executed and nothing leaves
 * the process. The run stops at the first difference, because everything after it would
 * answer a different question.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HISTORY_REPLAY_H
#define SOC_PARTS_HISTORY_REPLAY_H

#include "base/buf.h"
#include "kernel/gate.h"
#include "model/activation.h"

/* Where a replayed run differs from its record. */
enum soc_replay_point {
    SOC_REPLAY_SAME,
    SOC_REPLAY_EFFECT, /* the effect at `index` differs, is new or is missing */
    SOC_REPLAY_END,    /* how the run ended */
    SOC_REPLAY_RESULT, /* the returned answer to its message */
    SOC_REPLAY_STATE,  /* agent.state afterwards */
};

/* One run. An all-zero struct is ready for use; release with soc_replay_fini(). */
struct soc_replay {
    struct soc_slice run; /* the detail of the row, lent */
    enum soc_replay_point point;
    uint32_t index;          /* of the effect that differs, or of the last one */
    uint32_t effects;        /* repeated so far */
    struct soc_buf recorded; /* what the row says, JSON; empty: nothing */
    struct soc_buf now;      /* what happened instead */
    struct soc_buf where;    /* file and line of the effect that differs; empty: unknown */
    struct soc_buf result;
    bool has_result;
    bool is_at_end; /* the record ends here: the run was waiting */
};

/* Lends the agent with that id, creating it if needed. */
struct soc_agent *soc_replay_agent(struct soc_host *host, struct soc_slice id);

/* Restores the agent as it was at the start of the run: role, parent, brief (absent:
 * none) and state. Its role may still lack a behaviour. */
struct soc_agent *soc_replay_prepare(struct soc_host *host, struct soc_slice id,
                                     struct soc_slice run, struct soc_slice brief);

/* Runs `replay->run` again as that agent. SOC_ECORRUPT if the row cannot be understood. */
int soc_replay_run(struct soc_host *host, struct soc_agent *agent, struct soc_replay *replay);

/* The gate's soc_gate_begin for a host that is replaying. */
int soc_replay_begin(struct soc_host *host, struct soc_activation *activation,
                     enum soc_effect_kind kind, struct soc_effect_hash hash,
                     struct soc_slice *answer, struct soc_buf *error);

/* Tells whether the host is replaying a run right now. */
bool soc_replay_is_under_way(const struct soc_host *host);

/* Notes file and line of the effect at which the run that is replayed differs. Does nothing
 * without a replay. */
void soc_replay_set_where(struct soc_host *host, struct soc_slice where);

/* Notes the payload with which the running activation is about to answer its message.
 * False in a replay: the payload is compared, not sent. */
bool soc_replay_keep_result(struct soc_host *host, struct soc_slice result);

/* Discards what the host would have written. */
void soc_replay_settle(struct soc_host *host);

/* Releases the buffers and clears the struct. */
void soc_replay_fini(struct soc_replay *replay);

#endif

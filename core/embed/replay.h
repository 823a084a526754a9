/* Replay: the history of a state directory, run again in a society of its own.
 *
 * The directory is only read, also while its society runs. Each stretch of history
 * with the same scripts and policies gets a society in memory that is loaded from
 * the texts kept then; runs and questions are repeated in their order (parts/history/replay.h,
 * script/history/replay.h). Nothing is done and nothing leaves.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_REPLAY_H
#define SOC_EMBED_REPLAY_H

#include "base/buf.h"
#include "base/err.h"

/* Something that is not as it was. */
struct soc_replay_finding {
    const char *what; /* effect, end, result, state, question, damage, load */
    int64_t number;   /* of the row of history; 0: what still waits */
    int64_t time_ms;
    struct soc_slice agent;    /* whose turn; absent: nobody's */
    struct soc_slice message;  /* id of what it handled; absent: `main`, or nothing */
    int64_t effect;            /* index of the effect, -1: none */
    struct soc_slice asked;    /* KIND.QUESTION; absent: no question */
    struct soc_slice recorded; /* JSON; absent: nothing */
    struct soc_slice now;      /* JSON; absent: nothing */
};

/* How far a replay is, and what it has found. */
struct soc_replay_totals {
    int64_t rows;      /* of history, in all */
    int64_t rows_done; /* so far */
    int64_t starts;    /* stretches with their own scripts and policies */
    int64_t runs;      /* activations and tries of them */
    int64_t effects;   /* answered from the record */
    int64_t questions; /* put again */
    int64_t waiting;   /* activations that still wait, among the runs */
    int64_t differences;
};

/* What is replayed, with what, and who is told. */
struct soc_replay_options {
    const char *state_dir;
    const char *app_file;        /* today's script instead of the one kept; NULL: that */
    const char *const *policies; /* "KIND=NAME" each, then NULL, over those kept; NULL: none */
    void (*found)(void *user, const struct soc_replay_finding *finding);
    void (*progress)(void *user, const struct soc_replay_totals *totals); /* NULL: not told */
    void *user;
};

/* Replays it. SOC_OK, whether something differs or not; SOC_ENOFILE if there is no
 * society or it keeps no history; SOC_EINVAL for a policy that cannot be used; other
 * errors of the store. */
int soc_replay_history(const struct soc_replay_options *options, struct soc_replay_totals *totals,
                       struct soc_detail *detail);

#endif

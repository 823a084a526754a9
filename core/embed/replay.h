/* Replay: runs the history of a state directory again in a society of its own.
 *
 * The directory is only read, even while its society runs. Each stretch of history with
 * the same scripts and policies gets a society in memory, loaded from the kept texts.
 * Runs and policy questions are repeated in order (parts/history/replay.h,
 * script/history/rerun.h). Nothing has an effect outside.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_REPLAY_H
#define SOC_EMBED_REPLAY_H

#include "base/buf.h"
#include "base/err.h"

/* A difference from the record. */
struct soc_replay_finding {
    const char *what; /* effect, end, result, state, question, damage, load */
    int64_t number;   /* of the row in history; 0: an activation that still waits */
    int64_t time_ms;
    struct soc_slice agent;    /* whose turn; absent: none */
    struct soc_slice message;  /* id of the handled message; absent: `main` or none */
    int64_t effect;            /* index of the effect; -1: none */
    struct soc_slice asked;    /* KIND.QUESTION; absent: not a policy question */
    struct soc_slice recorded; /* JSON; absent: nothing */
    struct soc_slice now;      /* JSON; absent: nothing */
};

/* Progress and results. */
struct soc_replay_totals {
    int64_t rows;      /* rows of history in total */
    int64_t rows_done; /* rows replayed so far */
    int64_t starts;    /* stretches with their own scripts and policies */
    int64_t runs;      /* activations, including retries */
    int64_t effects;   /* answered from the record */
    int64_t questions; /* policy questions asked again */
    int64_t waiting;   /* of the runs, activations that still wait */
    int64_t differences;
};

/* What to replay, with what, and whom to notify. */
struct soc_replay_options {
    const char *state_dir;
    const char *app_file; /* today's script; NULL: the one that was kept */
    const char *const
        *policies; /* "KIND=NAME" each, NULL-terminated, replacing kept ones; NULL: none */
    void (*found)(void *user, const struct soc_replay_finding *finding);
    void (*progress)(void *user,
                     const struct soc_replay_totals *totals); /* NULL: no notification */
    void *user;
};

/* Replays it. SOC_OK, with or without differences; SOC_ENOFILE if there is no society
 * or no history; SOC_EINVAL for a policy that cannot be used; errors of the store. */
int soc_replay_history(const struct soc_replay_options *options, struct soc_replay_totals *totals,
                       struct soc_detail *detail);

#endif

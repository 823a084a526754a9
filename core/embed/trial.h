/* Trial: tries waiting activations against a script that has changed.
 *
 * An activation that waits goes on by running its script from the start, with its recorded
 * effects as answers (kernel/gate.h). If the script has changed meanwhile, it may no longer
 * repeat them, which would show only when the wait ends. The trial runs each of them at the
 * start of the society, in a society of its own where nothing has an effect, up to the effect
 * that it waits for. It is bounded in time.
 * Layer: embed. Thread: loop. */
#ifndef SOC_EMBED_TRIAL_H
#define SOC_EMBED_TRIAL_H

#include "embed/assembly.h"

struct soc_misfit;

/* What a trial has found. All zero: nothing. Release with soc_trial_fini(). */
struct soc_trial {
    struct soc_misfit *misfits; /* owned */
    size_t misfit_count;
    size_t tried;
    size_t left;     /* not reached in time, or the script cannot be tried: see `why_left` */
    size_t isolated; /* not tried, since they run in processes of their own */
    bool is_changed; /* the script is not the one that the state was last run with */
    uint64_t script; /* hash of its files */
    char why_left[512];
};

/* Tries the waiting activations of a started society that has run nothing yet, for `ms` at the
 * most. `options` are those it was loaded with. */
void soc_trial_run(struct soc_trial *trial, const struct soc_assembly *parts,
                   const struct soc_assembly_options *options, int64_t ms);

/* Logs each activation that does not fit, and how many were not tried. */
void soc_trial_log(const struct soc_trial *trial, struct soc_host *host);

/* Parks the activations that do not fit: their messages become dead letters, and `main` has
 * failed. */
void soc_trial_park(const struct soc_trial *trial, struct soc_host *host);

/* Stores that the society runs with this script from now on, unless activations are left: then
 * the next start tries all again. */
void soc_trial_accept(const struct soc_trial *trial, struct soc_host *host);

/* Frees what it holds and clears it. */
void soc_trial_fini(struct soc_trial *trial);

#endif

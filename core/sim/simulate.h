/* Simulate: runs a host in virtual time and injects faults.
 *
 * The clock jumps from one timer to the next. Before every step the fault plan is
 * consulted. A crash stops the host as `kill -9` would; the owner of the simulation
 * restarts it from its store.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_SIMULATE_H
#define SOC_SIM_SIMULATE_H

#include "kernel/host.h"
#include "sim/faults.h"

/* One simulated society. */
struct soc_simulation {
    struct soc_host *host;           /* lent; replaced by `restart` */
    struct soc_faults *faults;       /* lent; NULL: none */
    struct soc_disk *disk;           /* below the store, lent; NULL: in memory */
    struct soc_outsiders *outsiders; /* lent; NULL: outside agents have another door */
    struct soc_callers *callers;     /* lent; NULL: nobody calls from outside */
    uint64_t steps_max;              /* limit of all runs; 0: none */
    int64_t span_ms;                 /* limit of virtual time per run; 0: none */
    /* Polled regularly; true stops the run. May be NULL. */
    bool (*is_stopped)(struct soc_simulation *simulation);
    /* Crashes the host, with `has_power` or without, and starts a new one on its store,
     * with the wall clock at `date_ms`, which may be before the last recorded time. Sets
     * `host`, NULL on failure. */
    void (*restart)(struct soc_simulation *simulation, int64_t date_ms, bool has_power);
    /* Compares the live society with its history. Called when everything is durable: after
     * a restart, after a turn that was made to raise, and at the end. May be NULL. */
    void (*count)(struct soc_simulation *simulation);
    /* Compares what a start would load with the history, after part of that was folded in a
     * store without a disk, whose faults would strike elsewhere otherwise. May be NULL. */
    void (*folded)(struct soc_simulation *simulation);
    void *user;
    uint64_t steps; /* taken so far */
    bool is_losing; /* the next crash is a power failure */
    bool was_full;  /* its disk, when that was last logged */
    bool has_moved; /* its time moved when the wall clock was set, or did not at a restart */
};

/* How a run ended. */
enum soc_simulated {
    SOC_SIMULATED_QUIET, /* nothing can happen any more */
    SOC_SIMULATED_TIME,  /* `until_ms` was reached */
    SOC_SIMULATED_STUCK, /* exceeded steps_max */
    SOC_SIMULATED_LATE,  /* exceeded span_ms */
    SOC_SIMULATED_MOVED, /* setting the wall clock moved its time, or a restart did not follow it */
    SOC_SIMULATED_STOPPED,
    SOC_SIMULATED_ENDED, /* main raised, the disk failed, or a restart did */
};

#define SOC_SIMULATED_MOVED_TEXT                                                                   \
    "setting the wall clock moved the society's time, or a restart did not follow the clock"

/* Runs until `until_ms`; if that is 0, until nothing is ready and no agent waits for a
 * timer. With `is_app` the timers of parts count as well, and the run ends with `main`.
 * Everything is durable afterwards. */
enum soc_simulated soc_simulate(struct soc_simulation *simulation, int64_t until_ms, bool is_app);

/* For who runs several hosts on one clock: injects faults and takes one step at this moment.
 * Batches become durable when the plan says so, or when there is nothing else to do. Returns
 * whether there was anything; `host` may be another one afterwards, or NULL. */
bool soc_simulate_step(struct soc_simulation *simulation);

/* The same at the end of such a run: makes everything durable. */
void soc_simulate_settle(struct soc_simulation *simulation);

#endif

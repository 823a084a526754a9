/* Simulate: runs a host in virtual time, with faults and under a witness.
 *
 * The clock moves from one thing that is due to the next. Before every step the plan
 * of faults is asked; a crash takes the host down as `kill -9` would and has its owner
 * bring it up again.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_SIMULATE_H
#define SOC_SIM_SIMULATE_H

#include "kernel/host.h"
#include "sim/faults.h"

/* A society that is driven, and by what. */
struct soc_simulation {
    struct soc_host *host;           /* lent; another one after a restart */
    struct soc_faults *faults;       /* lent; NULL: none */
    struct soc_disk *disk;           /* under its store, lent; NULL: in memory */
    struct soc_outsiders *outsiders; /* lent; NULL: agents outside have a door elsewhere */
    uint64_t steps_max;              /* of one run, 0: no end; beyond it the run is stuck */
    int64_t span_ms;                 /* of virtual time from its start; the same */
    /* Asked now and then; true: the run is stopped. NULL: nobody asks. */
    bool (*is_stopped)(struct soc_simulation *simulation);
    /* Ends the host as a crash does, with `has_power` or without, and starts it anew on its
     * store, with its clock at `now_ms` or at what it had reached if that is later; sets
     * `host`, NULL if it failed. */
    void (*restart)(struct soc_simulation *simulation, int64_t now_ms, bool has_power);
    void *user;
    uint64_t steps; /* taken so far */
    bool is_losing; /* the next crash takes the power away */
    bool was_full;  /* its disk, when that was told last */
    bool has_moved; /* its time went with the wall clock when that was set */
};

/* How a run ended. */
enum soc_simulated {
    SOC_SIMULATED_QUIET, /* nothing is left that could happen */
    SOC_SIMULATED_TIME,  /* `until_ms` was reached */
    SOC_SIMULATED_STUCK, /* steps_max was not enough */
    SOC_SIMULATED_LATE,  /* span_ms was not */
    SOC_SIMULATED_MOVED, /* setting the wall clock has moved its time */
    SOC_SIMULATED_STOPPED,
    SOC_SIMULATED_ENDED, /* main raised, the disk failed, or a restart did */
};

#define SOC_SIMULATED_MOVED_TEXT "setting the wall clock moved the society's time"

/* Runs until `until_ms`, or if that is 0 until nothing is ready and nothing waits for
 * time to pass; with `is_app` alerts of tasks count too, and it ends with main.
 * Everything is durable then. */
enum soc_simulated soc_simulate(struct soc_simulation *simulation, int64_t until_ms, bool is_app);

#endif

/* Faults: the fault plan of a simulation, drawn from the seed.
 *
 * A plan is drawn from a set of fault kinds and a seed; some seeds are gentle, some
 * cruel. The plan only decides what happens next; simulate.h and outsiders.h make it
 * happen and log it to the transcript. Logging writes no records and draws no random
 * numbers, so it changes no run. The owner of the simulation owns the plan.
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_FAULTS_H
#define SOC_SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "env/log.h"
#include "env/rng.h"
#include "kernel/options.h"

/*  F(tag, name, what it does) */
#define SOC_FAULT_MAP(F)                                                                           \
    F(EVICT, "evict", "a waiting activation loses its coroutine and is replayed")                  \
    F(CRASH, "crash", "the society is killed (kill -9) between any two steps and restarted")       \
    F(LAG, "lag", "batches become durable late, so a crash loses recent work")                     \
    F(RAISE, "raise", "a turn raises just before its end, is rolled back and retried")             \
    F(SLOW, "slow", "turns take up to a second each")                                              \
    F(JUMP, "jump", "the wall clock is set by up to an hour, either way, running or down")         \
    F(FOLD, "fold", "part of the journal is folded into the tables early")                         \
    F(POWER, "power", "a crash in any disk call loses unsynced data, whole or torn")               \
    F(FULL, "full", "the disk is full for a while")                                                \
    F(IO, "io", "a disk read, write or sync fails")                                                \
    F(DROP, "drop", "messages and acks are lost on their way in or out")                           \
    F(DOUBLE, "double", "messages to and from outside agents arrive twice")                        \
    F(DELAY, "delay", "messages from outside agents are up to half a minute late, out of order")   \
    F(DEAD, "dead", "outside agents are silent for a minute")                                      \
    F(MODEL, "model", "models are busy, break off, return garbage or are slow")

/* Kinds of faults. */
enum soc_fault_kind {
#define F(tag, name, text) SOC_FAULT_##tag,
    SOC_FAULT_MAP(F)
#undef F
        SOC_FAULT_COUNT,
};

/* A set of kinds: bit 1 << kind. */
#define SOC_FAULTS_NONE 0u
#define SOC_FAULTS_ALL  ((1u << SOC_FAULT_COUNT) - 1)

/* A plan. Probabilities are out of SOC_CHANCE_WHOLE, drawn once per step. */
#define SOC_CHANCE_WHOLE 65536u
struct soc_faults {
    uint32_t set; /* kinds that may happen */
    uint32_t chance[SOC_FAULT_COUNT];
    uint32_t crashes_left;
    bool has_disk;   /* the store is on a simulated disk, where any call may crash */
    bool has_raised; /* a turn was made to raise, and nobody has looked since */
    struct soc_rng rng;
    struct soc_rng steps; /* clock steps: a generator of their own, so they change no other draw */
    struct soc_log *log;  /* lent; where faults are logged; NULL: nowhere */
    struct soc_injector injector; /* for soc_host_options: failing turns and model calls */
};

/* Parses "none", "default" or comma-separated names. False, with a sentence in `detail`,
 * for an unknown name. */
bool soc_faults_parse(const char *list, uint32_t *set, struct soc_detail *detail);

/* Lends the name of a kind and, in `*text`, its description; NULL after the last. */
const char *soc_faults_name(int kind, const char **text);

/* Draws the plan of `seed`. */
void soc_faults_init(struct soc_faults *faults, uint32_t set, uint64_t seed);

/* Nothing happens from now on. */
void soc_faults_end(struct soc_faults *faults);

/* Draws whether a fault of `kind` happens in this step. */
bool soc_faults_happens(struct soc_faults *faults, enum soc_fault_kind kind);

/* Draws in which disk call (from 1) a restart itself crashes; 0: it does not. Such
 * crashes are rare and count as crashes of the plan. */
uint64_t soc_faults_draw_start_crash(struct soc_faults *faults);

/* Draws by how many ms the wall clock is set in this step; 0: it is not. */
int64_t soc_faults_draw_clock_step(struct soc_faults *faults);

/* Draws by how many ms the clock moves while the society is down. */
int64_t soc_faults_draw_pause(struct soc_faults *faults);

/* Logs one fault to the transcript; `agent` may be absent. */
void soc_faults_log(struct soc_faults *faults, enum soc_fault_kind kind, int64_t now_ms,
                    struct soc_slice agent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

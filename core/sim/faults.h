/* Faults: what goes wrong in a simulation, and when, by the seed.
 *
 * A plan is drawn from a set of kinds and a seed: some seeds are gentle, some cruel,
 * and no two alike. The plan only says what happens next; simulate.h makes it happen.
 * Whoever makes a fault happen tells of it, for the transcript; the history has no word of
 * it, and no chance is drawn for it.
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
    F(CRASH, "crash", "the society ends as by kill -9, between any two steps, and starts again")   \
    F(LAG, "lag", "batches become durable late, so that a crash loses what is under way")          \
    F(RAISE, "raise", "a turn that was about to end raises, and is taken back and tried again")    \
    F(SLOW, "slow", "turns take time, up to a second each")                                        \
    F(JUMP, "jump", "the clock is set by an hour, either way, while it runs or is down")           \
    F(FOLD, "fold", "part of the journal is folded into the tables in between")                    \
    F(POWER, "power", "a crash at any call of the disk loses what is not synced, whole or torn")   \
    F(FULL, "full", "the disk is full for a while")                                                \
    F(IO, "io", "a read, write or sync of the disk fails")                                         \
    F(DROP, "drop", "messages and acks are lost on their way out of the society or into it")       \
    F(DOUBLE, "double", "messages to agents outside, and what they say, come twice")               \
    F(DELAY, "delay", "what agents outside say comes up to half a minute late, out of order")      \
    F(DEAD, "dead", "agents outside are silent for a minute")                                      \
    F(MODEL, "model", "models are busy, break off, talk nonsense, or are slow to answer")

/* What goes wrong. */
enum soc_fault_kind {
#define F(tag, name, text) SOC_FAULT_##tag,
    SOC_FAULT_MAP(F)
#undef F
        SOC_FAULT_COUNT,
};

/* A set of kinds: bit 1 << kind. */
#define SOC_FAULTS_NONE 0u
#define SOC_FAULTS_ALL  ((1u << SOC_FAULT_COUNT) - 1)

/* A plan. Chances are out of SOC_CHANCE_WHOLE, asked once in every step. */
#define SOC_CHANCE_WHOLE 65536u
struct soc_faults {
    uint32_t set; /* kinds that may happen */
    uint32_t chance[SOC_FAULT_COUNT];
    uint32_t crashes_left;
    bool has_disk; /* the store lies on a simulated disk, on which a crash may come at any call */
    struct soc_rng rng;
    struct soc_rng steps;         /* of the clock, apart: they change no other chance of the seed */
    struct soc_log *log;          /* lent; where faults are told of; NULL: nowhere */
    struct soc_injector injector; /* for soc_host_options: turns that raise, models in trouble */
};

/* Reads "none", "default" or names between commas. False, with a sentence in `detail`,
 * for a name that is none. */
bool soc_faults_parse(const char *list, uint32_t *set, struct soc_detail *detail);

/* Lends the name of a kind, and a sentence of what it does; NULL behind the last. */
const char *soc_faults_name(int kind, const char **text);

/* Draws the plan of `seed`. */
void soc_faults_init(struct soc_faults *faults, uint32_t set, uint64_t seed);

/* Tells whether a fault of `kind` happens in this step. */
bool soc_faults_happens(struct soc_faults *faults, enum soc_fault_kind kind);

/* Tells in which call of the disk, from 1, a crash strikes that has just restarted: there
 * are fewer of those than of others, and they count among them. 0: in none. */
uint64_t soc_faults_strikes_start(struct soc_faults *faults);

/* Returns by how much the wall clock is set in this step, in ms; 0: it is not. */
int64_t soc_faults_step(struct soc_faults *faults);

/* Returns how far the clock has moved, in ms, while the society was down. */
int64_t soc_faults_pause(struct soc_faults *faults);

/* Tells that a fault happens, in one line; `agent` may be absent. */
void soc_faults_tell(struct soc_faults *faults, enum soc_fault_kind kind, int64_t now_ms,
                     struct soc_slice agent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

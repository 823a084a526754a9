/* Host: one society, from its doors to its journal.
 *
 * A host combines the rules (model), the store, the clock, the parts and, behind
 * hooks.h, the scripts. Its owner calls soc_host_tick whenever something may be
 * ready. Everything that happens in a tick becomes one batch of the journal, and
 * output leaves the process when its batch is durable. The owner keeps store, loop
 * and options alive until the host is freed.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_HOST_H
#define SOC_KERNEL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "env/clock.h"
#include "kernel/hooks.h"
#include "kernel/options.h"
#include "loop/loop.h"

struct soc_host;

/* Returns a host without agents. Release with soc_host_close or soc_host_crash. */
struct soc_host *soc_host_new(const struct soc_host_options *options);

/* Sets the hooks that run the scripts. Call it before soc_host_start. */
void soc_host_set_hooks(struct soc_host *host, const struct soc_hooks *hooks);

/* Loads the state; a new state gets `user` and `root`. `app` names the app;
 * SOC_EOTHERAPP if the state belongs to another one. */
int soc_host_start(struct soc_host *host, struct soc_slice app, struct soc_detail *detail);

/* Sets how many days what is over is kept, and how many MB the database may have; 0: no
 * limit. A simulation keeps everything. */
void soc_host_set_retention_days(struct soc_host *host, int64_t days);
void soc_host_set_retention_mb(struct soc_host *host, int64_t mb);

/* What is set. */
int64_t soc_host_retention_days(const struct soc_host *host);
int64_t soc_host_retention_mb(const struct soc_host *host);

/* Starts `main`, or resumes it where it was, unless it has finished. Call it after
 * soc_host_start if the script has a `main`. */
void soc_host_begin_main(struct soc_host *host);

/* Loads the state read-only, instead of soc_host_start: nothing runs and nothing is
 * written. Release with soc_host_crash. */
int soc_host_load(struct soc_host *host, struct soc_detail *detail);

/* Returns true if `main` had already finished when the state was loaded. */
bool soc_host_main_was_done(const struct soc_host *host);

/* Runs what is ready and returns as loop.h specifies. Does not move a virtual clock. */
int64_t soc_host_tick(struct soc_host *host);

/* Runs one turn or fires one due timer; returns false if nothing is ready. */
bool soc_host_step(struct soc_host *host);

/* Time of the next timer, 0: none. The second leaves out `due` of the parts (task
 * alerts, acks and heartbeats of outside agents), which nobody waits for. */
int64_t soc_host_next_due(const struct soc_host *host);
int64_t soc_host_next_wait(const struct soc_host *host);

/* Returns true if no agent has anything to run or waits (`main` included), and all
 * output is durable and shown. */
bool soc_host_is_quiet(const struct soc_host *host);

/* Returns true if `main` has returned or does not exist. */
bool soc_host_main_is_done(const struct soc_host *host);

/* Returns true if `main` has raised: nothing runs any more. The next start retries the turn. */
bool soc_host_main_has_failed(const struct soc_host *host);

/* Lends the error it raised; empty if it did not. */
struct soc_slice soc_host_main_error(const struct soc_host *host);

/* Returns true if nothing is ready and no timer is set: agents may wait, but only
 * something from outside can make progress. */
bool soc_host_is_stalled(const struct soc_host *host);

/* Returns true while the disk is full; doors then answer storage_full. */
bool soc_host_is_full(const struct soc_host *host);

/* Returns true while more waits for the disk than a society may have in memory: no turn
 * starts, and doors ask to come back later. */
bool soc_host_is_saturated(const struct soc_host *host);

/* Returns true if the disk has failed: nothing happens any more. */
bool soc_host_is_failed(const struct soc_host *host);

/* The society's clock and log, lent. */
struct soc_clock *soc_host_clock(struct soc_host *host);
struct soc_log *soc_host_log(struct soc_host *host);

/* Lends the watchdog of the loop; NULL: there is none, or no loop. */
struct soc_watchdog *soc_host_watchdog(const struct soc_host *host);

/* Makes everything durable, folds for at most `fold_ms_max` and frees the host. */
void soc_host_close(struct soc_host *host, int64_t fold_ms_max);

/* Frees the host as `kill -9` would: what is not durable is lost. */
void soc_host_crash(struct soc_host *host);

/* Simulation only. While held, batches become durable only by soc_host_commit, which
 * commits up to `count` of them. */
void soc_host_hold(struct soc_host *host, bool is_held);
void soc_host_commit(struct soc_host *host, size_t count);

/* Drops the coroutine of one waiting activation, chosen by `chance`; it is replayed
 * when it resumes. Lends its agent, or NULL if none was found. */
const struct soc_agent *soc_host_evict(struct soc_host *host, uint64_t chance);

#endif

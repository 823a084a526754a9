/* Host: one society, from its doors to its journal.
 *
 * It joins the rules (model), the store, the clock and the scripts behind
 * hooks.h. The owner calls soc_host_tick whenever something may be ready; all
 * that happens in a tick becomes one batch of the journal, and what is meant for
 * the world outside leaves when its batch is durable.
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

/* Says who runs the scripts. Before soc_host_start. */
void soc_host_set_hooks(struct soc_host *host, const struct soc_hooks *hooks);

/* Loads the state; a new one gets `user` and `root`. `app` names the app: a
 * state that records another is SOC_EOTHERAPP. */
int soc_host_start(struct soc_host *host, struct soc_slice app, struct soc_detail *detail);

/* Says that the script has a `main`: it is begun, or goes on where it was, unless
 * it has finished. After soc_host_start. */
void soc_host_begin_main(struct soc_host *host);

/* Loads the state for looking only, instead of soc_host_start: nothing may run then
 * and nothing is written. End it with soc_host_crash. */
int soc_host_load(struct soc_host *host, struct soc_detail *detail);

/* Tells whether `main` had already finished when the state was loaded. */
bool soc_host_main_was_done(const struct soc_host *host);

/* Runs what is ready, as loop.h says. Simulated, the virtual clock stays. */
int64_t soc_host_tick(struct soc_host *host);

/* Runs one turn or fires one due timer; false if nothing is ready. */
bool soc_host_step(struct soc_host *host);

/* Time of the next timer, 0 if there is none; the second without the alerts of tasks and
 * the acks and heartbeats of outside agents, which nobody waits for. */
int64_t soc_host_next_due(const struct soc_host *host);
int64_t soc_host_next_wait(const struct soc_host *host);

/* Nothing is queued for anybody able to run, nothing runs or waits (`main`
 * included), and everything sent out is durable and shown. */
bool soc_host_is_quiet(const struct soc_host *host);

/* `main` has returned, or there was none. */
bool soc_host_main_is_done(const struct soc_host *host);

/* `main` has raised: nothing runs any more. The next start tries that turn again. */
bool soc_host_main_has_failed(const struct soc_host *host);

/* Lends what it raised; empty if it did not. */
struct soc_slice soc_host_main_error(const struct soc_host *host);

/* Nothing is ready and no time is waited for: without somebody outside nothing can happen
 * any more, whoever waits. */
bool soc_host_is_still(const struct soc_host *host);

/* The disk is full: doors answer storage_full until there is room. */
bool soc_host_is_full(const struct soc_host *host);

/* The disk has failed: nothing happens any more. */
bool soc_host_is_failed(const struct soc_host *host);

/* The society's clock and log, lent. */
struct soc_clock *soc_host_clock(struct soc_host *host);
struct soc_log *soc_host_log(struct soc_host *host);

/* Makes everything durable, folds for at most `fold_ms_max`, frees. */
void soc_host_close(struct soc_host *host, int64_t fold_ms_max);

/* Frees as `kill -9` would: what is not durable is gone. */
void soc_host_crash(struct soc_host *host);

/* Simulated, `is_held`: batches become durable only by soc_host_commit, `count` of them
 * or as many as there are, until this is called again. */
void soc_host_hold(struct soc_host *host, bool is_held);
void soc_host_commit(struct soc_host *host, size_t count);

/* Drops the coroutine of one waiting activation, chosen by `chance`: it is run again
 * from its start when it is to go on. Lends whose it was, NULL if none was found. */
const struct soc_agent *soc_host_evict(struct soc_host *host, uint64_t chance);

#endif

/* Workers: the host's side of worker processes.
 *
 * A worker runs one job and ends, or it is an isolated agent's and converses: it and the
 * host speak in turns. What it sends is read without waiting and handed on
 * unjudged: the caller checks it as if it were hostile. A worker that dies, sends anything
 * but one parcel, or is stopped, ends its job and nothing else. The zygote is started at the
 * first job, and again if it died.
 * Layer: worker. Thread: loop. */
#ifndef SOC_WORKER_WORKERS_H
#define SOC_WORKER_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "loop/loop.h"

struct soc_workers;
struct soc_worker;

/* The job is over. `answer` is lent; absent: the worker died or spoke nonsense. The worker
 * is freed afterwards. */
typedef void soc_workers_cb(void *user, struct soc_slice answer);

/* Returns the workers of a society, none yet. `program` is the path of the program
 * `society`. Release with soc_workers_free(). */
struct soc_workers *soc_workers_new(struct soc_loop *loop, const char *program);

/* Ends all workers and the zygote; no callback is called. NULL is allowed. */
void soc_workers_free(struct soc_workers *workers);

/* Starts a worker on a request for worker/job.h; NULL if the system gives none. */
struct soc_worker *soc_workers_start(struct soc_workers *workers, struct soc_slice request,
                                     soc_workers_cb *cb, void *user);

/* Tells whether so many workers are being started that it is better to wait. */
bool soc_workers_are_busy(const struct soc_workers *workers);

/* Starts a worker that converses, worker/guest.h, with its first frame; NULL if the system
 * gives none. `cb`, without an answer, tells that it has spoken or died while nobody listened;
 * it is freed by soc_workers_stop() only. */
struct soc_worker *soc_workers_converse(struct soc_workers *workers, struct soc_slice frame,
                                        soc_workers_cb *cb, void *user);

/* What was heard of a worker. */
enum soc_workers_heard {
    SOC_WORKERS_NOTHING, /* so far */
    SOC_WORKERS_FRAME,   /* what it said */
    SOC_WORKERS_DEATH,   /* it died, or spoke nonsense */
};

/* Listens for at most `wait_us`. The frame is lent until the worker is spoken to. */
enum soc_workers_heard soc_workers_listen(struct soc_worker *worker, int64_t wait_us,
                                          struct soc_slice *frame);

/* Speaks to the worker, after it has spoken. False: it has died meanwhile. */
bool soc_workers_say(struct soc_worker *worker, struct soc_slice frame);

/* Sets who is told instead; for a worker that is kept for somebody else. */
void soc_workers_set_user(struct soc_worker *worker, void *user);

/* Ends it at once, whatever it does; its callback is not called. */
void soc_workers_stop(struct soc_worker *worker);

/* Returns the CPU time it has used, in ms; 0 as long as that is unknown. */
int64_t soc_workers_cpu_ms(const struct soc_worker *worker);

/* Returns the CPU time this thread has used, and monotonic time, in µs. */
int64_t soc_workers_own_cpu_us(void);
int64_t soc_workers_clock_us(void);

/* Returns its process id; 0: not known yet. */
int soc_workers_pid(const struct soc_worker *worker);

#endif

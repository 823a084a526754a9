/* Job: one run of a script that nobody trusts, with values in and a result out.
 *
 * A job has a Lua state of its own with the libraries of the sandbox and `society.json`,
 * and nothing else: no effects, no modules, no clock. It runs in a worker process, which is
 * killed when its time is over; in a simulation inside the program, bounded by VM steps.
 *
 * A request is a JSON object { script, values?, memory_bytes, steps }; `steps` is 0 in a
 * worker. The answer is that of an effect: a list with { result?, printed? }, or an error
 * object.
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_JOB_H
#define SOC_WORKER_JOB_H

#include "base/buf.h"

/* Runs the request and appends the answer. `answer_at_once` is called, and must not return,
 * when memory is over in a worker; NULL: the script is ended by an error instead. */
typedef void soc_job_last_words(void *user, struct soc_slice answer);
void soc_job_run(struct soc_slice request, struct soc_buf *answer,
                 soc_job_last_words *answer_at_once, void *user);

/* Appends the answer of a job that is over its budget. */
void soc_job_put_over(struct soc_buf *answer, const char *which, uint64_t limit);

/* Appends an error object. */
void soc_job_put_error(struct soc_buf *answer, const char *error, struct soc_slice message);

#endif

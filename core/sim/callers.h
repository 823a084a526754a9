/* Callers: simulated clients of a society's operations.
 *
 * A society that sets `callers` is called from outside while it is simulated: by seed, a few
 * callers send input under idempotency keys, leave before the answer, ask again, ask for
 * something else under a used key, decide items of the inbox, also twice and against each
 * other, and follow the activity log page by page and as listeners (ears.h). Callers survive the
 * society's crashes; what was not answered they ask again. They do not stop while the disk is
 * full: what is refused then they ask again, or give up.
 *
 * They keep books and know what must never be: a key that made two messages, or an order done
 * under a used key; an answer that differs from the first; an answer to something that was
 * lost; an order done that was only ever refused; an item decided twice; a line of the log that
 * is missing, there twice or other than it was. What they send has the payload
 * { caller, number, once, text }; `once` lets the checker see a second one as well
 * (check/check.h).
 * Layer: sim. Thread: loop. */
#ifndef SOC_SIM_CALLERS_H
#define SOC_SIM_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

struct soc_callers;
struct soc_host;

#define SOC_CALLERS_MAX 16

/* Returns `count` callers driven by `seed`. Release with soc_callers_free(). */
struct soc_callers *soc_callers_new(uint64_t seed, uint32_t count);

/* Frees them. NULL is allowed. */
void soc_callers_free(struct soc_callers *callers);

/* Connects them to a host that has started; call it again after every restart. */
void soc_callers_join(struct soc_callers *callers, struct soc_host *host);

/* Their host is about to go: nobody listens any more. */
void soc_callers_part(struct soc_callers *callers);

/* Returns when the next caller acts, in ms; 0: never. */
int64_t soc_callers_due(const struct soc_callers *callers);

/* Lets one caller act that is due; returns false if none is. */
bool soc_callers_act(struct soc_callers *callers);

/* The run is over and everything is durable: compares the books with the store. */
void soc_callers_end(struct soc_callers *callers);

/* Lends a sentence about the first violation; NULL if there is none. */
const char *soc_callers_fault(const struct soc_callers *callers);

#endif

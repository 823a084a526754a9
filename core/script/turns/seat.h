/* Seat: the place of an isolated agent, with its worker process and what was said there.
 *
 * The worker asks for effects and gets answers (worker/guest.h). All of it is noted for as
 * long as the activation lasts, because either side may have to begin anew:
 *
 * - The worker is slow. The host waits a fraction of a millisecond, then undoes the turn and
 *   serves others. When the worker has spoken the turn is done again from the notes. What
 *   the worker was told must still be true: if not, it is replaced, and begins anew.
 * - The worker is needed elsewhere, or has died. Another one is told what this one was told,
 *   as long as it asks the same.
 *
 * Workers are kept for the next message of their agent while there is room.
 * Layer: script. Thread: loop. */
#ifndef SOC_SCRIPT_TURNS_SEAT_H
#define SOC_SCRIPT_TURNS_SEAT_H

#include "script/turns/box.h"

struct soc_seat;

/* Prepare the script, and release it. */
void soc_seat_open(struct soc_script *script);
void soc_seat_fini(struct soc_script *script);

/* Returns a seat for the activation, with its agent's worker if that was kept. `open` and `run`
 * are the parts of its first frame, JSON objects, copied. Leave it with soc_seat_finish() or
 * soc_seat_drop(). */
struct soc_seat *soc_seat_take(struct soc_script *script, struct soc_activation *activation,
                               struct soc_slice open, struct soc_slice run);

/* The activation is over: its worker is kept. */
void soc_seat_finish(struct soc_seat *seat);

/* The activation, or its run, is given up: so is the worker. */
void soc_seat_drop(struct soc_seat *seat);

/* A run of the activation begins: the notes are read from their start. */
void soc_seat_rewind(struct soc_seat *seat);

/* What can be done next. */
enum soc_seat_state {
    SOC_SEAT_ASKED,   /* the worker asks, or did so in the notes */
    SOC_SEAT_BUSY,    /* the turn must stall */
    SOC_SEAT_DEAD,    /* the worker died, or spoke nonsense */
    SOC_SEAT_STRAYED, /* the new worker asks for something else than the former one */
    SOC_SEAT_OVER,    /* its CPU time is over */
    SOC_SEAT_LABOUR,  /* the host has spent its share on doing the turn again */
    SOC_SEAT_FULL,    /* there is more in the notes than a turn may add to memory */
    SOC_SEAT_NONE,    /* the system gives no worker */
};

/* Lends what the worker asks, valid JSON, until it is answered. Waits briefly. */
enum soc_seat_state soc_seat_hear(struct soc_seat *seat, struct soc_slice *asked);

/* Tells whether it is worth doing the turn again, without waiting: ASKED, or what
 * soc_seat_hear would return in the end. */
enum soc_seat_state soc_seat_peek(struct soc_seat *seat);

/* Answers it. False: the worker was told something else before, and is replaced; the turn must
 * stall. `given` is the answer of the effect if that only looks; it is not asked twice. */
bool soc_seat_tell(struct soc_seat *seat, struct soc_slice answer, struct soc_slice given);

/* If what is asked comes from the notes: lends its answer then, and that of the effect; else
 * absent. */
struct soc_slice soc_seat_told(const struct soc_seat *seat);
struct soc_slice soc_seat_given(const struct soc_seat *seat);

/* A turn of the activation is over and the next one begins, with all of its budget. */
void soc_seat_renew(struct soc_seat *seat);

/* Charges CPU time that the host spent on the turn. */
void soc_seat_charge(struct soc_seat *seat, int64_t cpu_us);

/* The CPU time of the turn when it was last looked at, the worker's and the host's. */
int64_t soc_seat_used_ms(const struct soc_seat *seat);

#endif

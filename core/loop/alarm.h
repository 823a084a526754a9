/* Alarm: one call after some time, for what keeps its own time on the loop.
 *
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_ALARM_H
#define SOC_LOOP_ALARM_H

#include <stdint.h>

#include "loop/loop.h"

struct soc_alarm;

/* The time is over. It may set or close its alarm. */
typedef void soc_alarm_cb(void *user);

/* Returns an alarm that is not set. End it with soc_alarm_close. */
struct soc_alarm *soc_alarm_open(struct soc_loop *loop, soc_alarm_cb *cb, void *user);

/* Sets it to `wait_ms` from now, instead of what it was set to; < 0: to never. At the
 * earliest it is called after one millisecond, never at once. */
void soc_alarm_set(struct soc_alarm *alarm, int64_t wait_ms);

/* It is not called any more. The memory goes when the loop has run the closing, at
 * soc_loop_free at the latest. NULL is allowed. */
void soc_alarm_close(struct soc_alarm *alarm);

#endif

/* Alarm: one call after some time, for users of the loop that keep their own time.
 *
 * Layer: loop. Thread: loop. */
#ifndef SOC_LOOP_ALARM_H
#define SOC_LOOP_ALARM_H

#include <stdint.h>

#include "loop/loop.h"

struct soc_alarm;

/* Called when the time is over. It may set or close its alarm. */
typedef void soc_alarm_cb(void *user);

/* Returns an alarm that is not set; `name`, a constant, is what the watchdog calls it.
 * Release with soc_alarm_close. */
struct soc_alarm *soc_alarm_open(struct soc_loop *loop, const char *name, soc_alarm_cb *cb,
                                 void *user);

/* Sets it to `wait_ms` from now, replacing the previous time; < 0: never. The call comes
 * after one millisecond at the earliest. */
void soc_alarm_set(struct soc_alarm *alarm, int64_t wait_ms);

/* Cancels the alarm. The memory is freed once the loop has run the close callback, by
 * soc_loop_free at the latest. NULL is allowed. */
void soc_alarm_close(struct soc_alarm *alarm);

#endif

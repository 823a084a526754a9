/* Follow: a look at the activity log that waits for the next line.
 *
 * With `after` and `wait_ms`, and no row after that line yet, the answer comes with the first
 * one that fits, or empty when the time is over. The log is heard through the tap, so nothing
 * is read meanwhile.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_FOLLOW_H
#define SOC_KERNEL_OPERATIONS_FOLLOW_H

struct soc_given;

/* Answers `activity`; its `run`. */
void soc_follow_look(struct soc_given *given);

#endif

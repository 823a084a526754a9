/* Human intake: the operation that takes what a person says. Private to the part `human`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HUMAN_HUMAN_INTAKE_H
#define SOC_PARTS_HUMAN_HUMAN_INTAKE_H

#include "kernel/operations/operation.h"

/* What it takes, and the members of its answer. */
extern const struct soc_param soc_human_intake_params[];
extern const struct soc_param soc_human_intake_members[];

/* Sends what is given to whom the gatekeeper chooses, and may wait for the reply. */
void soc_human_intake(struct soc_given *given);

/* Answers a call that repeats another under its key: what was sent is waited for again. */
void soc_human_intake_again(struct soc_given *given, struct soc_slice answer);

#endif

/* Witness: passes what a host writes and does outside to a checker.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_WITNESS_H
#define SOC_WORLD_WITNESS_H

#include "check/check.h"
#include "kernel/host.h"

/* Returns a witness that reports to `check`, which must outlive it. */
struct soc_witness soc_witness_of(struct soc_check *check);

/* Compares the live society with what the checker knows. Everything it did must be durable. */
void soc_witness_census(struct soc_check *check, struct soc_host *host);

#endif

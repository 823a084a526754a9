/* Commit: the end of a turn that succeeded.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_COMMIT_H
#define SOC_KERNEL_TURNS_COMMIT_H

struct soc_host;

/* Keeps everything the open turn did: its messages go to their receivers, its outputs
 * wait for durability. */
void soc_commit_turn(struct soc_host *host);

#endif

/* Commit: ends a successful turn.
 *
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_TURNS_COMMIT_H
#define SOC_KERNEL_TURNS_COMMIT_H

struct soc_host;

/* Commits the open turn: its changes stay, its messages go to their receivers, its output
 * waits for durability. */
void soc_commit_turn(struct soc_host *host);

#endif

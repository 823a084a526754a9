/* Outside letters: which of an outside agent's letters wait to leave, and how they are
 * found by what the agent calls them, also for a while after their end.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_LETTERS_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_LETTERS_H

#include "parts/outside/outside_state.h"

/* Puts a letter among those that wait to leave, in order of age; takes it out. */
void soc_outside_queue(struct soc_letter *letter);
void soc_outside_unqueue(struct soc_letter *letter);

/* Has it found by its external id, if it has one. */
void soc_outside_name(struct soc_letter *letter);

/* Remembers a letter that ends; of too many the oldest is forgotten. */
void soc_outside_remember(struct soc_letter *letter);

/* Lends the pending letter of that id, ours or external, or NULL. */
struct soc_letter *soc_outside_find_letter(const struct soc_outsider *outsider,
                                           struct soc_slice id);

/* Lends what is remembered of a letter of that id that has ended, or NULL. */
const struct soc_ended_letter *soc_outside_find_ended(const struct soc_outsider *outsider,
                                                      struct soc_slice id);

/* Ends a letter as processed (outside.c). */
void soc_outside_end_letter(struct soc_letter *letter);

#endif

/* Outside letters: the queue of an outside agent's letters waiting to leave, and the
 * lookup of letters by the ids the agent uses, even for a while after they have ended.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_OUTSIDE_OUTSIDE_LETTERS_H
#define SOC_PARTS_OUTSIDE_OUTSIDE_LETTERS_H

#include "parts/outside/outside_state.h"

/* Adds a letter to those waiting to leave, ordered by age; or removes it. */
void soc_outside_queue(struct soc_letter *letter);
void soc_outside_unqueue(struct soc_letter *letter);

/* Makes the letter findable by its external id and the one on its own host, if it has them. */
void soc_outside_name(struct soc_letter *letter);

/* Remembers a letter that ends; the oldest one is forgotten when there are too many. */
void soc_outside_remember(struct soc_letter *letter);

/* Lends the pending letter with that id, as the agent sees it, ours or external, or NULL. */
struct soc_letter *soc_outside_find_letter(const struct soc_outsider *outsider,
                                           struct soc_slice id);

/* Lends what is remembered of an ended letter with that id, or NULL. */
const struct soc_ended_letter *soc_outside_find_ended(const struct soc_outsider *outsider,
                                                      struct soc_slice id);

/* outside_mail.c: ends a letter as processed. */
void soc_outside_end_letter(struct soc_letter *letter);

#endif

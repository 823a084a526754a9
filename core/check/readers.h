/* Readers: the parts of a checker, each with the records it reads.
 *
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_READERS_H
#define SOC_CHECK_READERS_H

#include "check/books.h"

/* Read one record each; false if it is not one of theirs. */
bool soc_check_mail(struct soc_check *check, const struct soc_record *record);
bool soc_check_people(struct soc_check *check, const struct soc_record *record);
bool soc_check_turns(struct soc_check *check, const struct soc_record *record);

/* The end of a batch: time and totals, and the states of agents. Totals are compared now
 * and then, because a difference only grows, or if `is_last`. */
void soc_check_totals(struct soc_check *check, struct soc_slice cursor, bool is_last);
void soc_check_states(struct soc_check *check);

/* The end of the history. */
void soc_check_mail_end(struct soc_check *check);
void soc_check_turns_end(struct soc_check *check);

#endif

/* Past answer: a past (past.h) as a JSON object.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAST_ANSWER_H
#define SOC_STORE_TABLES_PAST_ANSWER_H

#include "base/buf.h"
#include "base/err.h"
#include "store/tables/database.h"
#include "store/tables/past.h"

/* Appends the object: line, time, agents, contacts, waits, tasks, inbox, policies, totals.
 * The calendar of the database was read. */
int soc_past_answer(struct soc_database *database, const struct soc_past *past, struct soc_buf *out,
                    struct soc_detail *detail);

#endif

/* Past answer: a past (past.h) as a JSON object.
 * Layer: store. Thread: that of the database. */
#ifndef SOC_STORE_TABLES_PAST_ANSWER_H
#define SOC_STORE_TABLES_PAST_ANSWER_H

#include "base/buf.h"
#include "base/err.h"
#include "store/tables/database.h"
#include "store/tables/past.h"

/* Appends the next part of the object, until the time `end_us` (0: all of it): agents,
 * contacts, inbox, line, policies, tasks, time, totals, waits. Returns 1 if there is more;
 * `out` must still end with what was appended then. The calendar of the database was read. */
int soc_past_answer(struct soc_database *database, struct soc_past *past, int64_t end_us,
                    struct soc_buf *out, struct soc_detail *detail);

#endif

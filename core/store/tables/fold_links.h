/* Fold links: of the states of a link the last one counts, and numbers that were given and
 * acked inside one window leave nothing.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_FOLD_LINKS_H
#define SOC_STORE_TABLES_FOLD_LINKS_H

#include "store/tables/window.h"

/* Apply one record each. */
void soc_fold_links_put(struct soc_window *window, struct soc_record *record);
void soc_fold_links_number(struct soc_window *window, struct soc_record *record);

/* Writes what was held back, at the window's end. */
void soc_fold_links_write(struct soc_window *window);

#endif

/* Window rows: what a window holds, as tables that SQL can read.
 *
 * One statement then writes all rows of a kind. Run once for each row it would open its
 * cursors and allocate its memory anew every time, which costs more than the row itself.
 *   window_messages: the messages of the window, in the order in which they were sent
 *   window_ends: ends of messages that were sent before the window
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_WINDOW_ROWS_H
#define SOC_STORE_TABLES_WINDOW_ROWS_H

#include "store/tables/window.h"

/* Makes the tables known to the window's database, which is open. They lend from the window,
 * so statements about them are run only while it lives. Returns SQLite's result code. */
int soc_window_rows_open(struct soc_window *window);

#endif

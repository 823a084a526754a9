/* Fold mail: a message of the window and what happens to it become one row, except for
 * lines of the activity log that the row cannot hold.
 *
 * Layer: store. Thread: that of the store. */
#ifndef SOC_STORE_TABLES_FOLD_MAIL_H
#define SOC_STORE_TABLES_FOLD_MAIL_H

#include "store/tables/window.h"

/* Apply one record each. */
void soc_fold_mail_add(struct soc_window *window, struct soc_record *record);
void soc_fold_mail_end(struct soc_window *window, struct soc_record *record);
void soc_fold_mail_again(struct soc_window *window, struct soc_record *record);
void soc_fold_mail_receipt(struct soc_window *window, struct soc_record *record);
void soc_fold_mail_broadcast_end(struct soc_window *window, struct soc_record *record);

/* Writes the messages of the window, at its end. */
void soc_fold_mail_write(struct soc_window *window);

#endif

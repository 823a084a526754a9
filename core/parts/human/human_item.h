/* Human item: the operation that shows one item of the inbox. Private to the part `human`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HUMAN_HUMAN_ITEM_H
#define SOC_PARTS_HUMAN_HUMAN_ITEM_H

#include "kernel/operations/operation.h"

/* Answers with the item and the messages it came by. */
void soc_human_item(struct soc_given *given);

#endif

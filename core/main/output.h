/* Output: rows for people and for programs.
 *
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_OUTPUT_H
#define SOC_MAIN_OUTPUT_H

#include "base/buf.h"
#include "base/slice.h"

/* One column of a table: the member it shows. An object is shown by its member
 * `name`, or as JSON. */
struct soc_column {
    const char *title;
    const char *member;
    int width_max; /* longer texts are cut */
};

/* Prints the objects of a JSON list as a table with aligned columns; a column
 * without any value is left out, one titled DOLLARS has numbers to the millionth. `columns` end
 * with a title that is NULL. */
void soc_output_table(struct soc_slice rows, const struct soc_column *columns);

/* Prints the members of each object of a JSON list, one per line. */
void soc_output_members(struct soc_slice rows);

/* Prints each element of a JSON list as a line. */
void soc_output_lines(struct soc_slice rows);

/* Appends `text` as a shell would read it back as one word. */
void soc_output_put_word(struct soc_buf *out, const char *text);

/* Tells whether lines to stderr may be coloured. */
bool soc_output_has_colour(void);

#endif

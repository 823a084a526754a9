/* Reading: a line of an outside agent, read as a message.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_READING_H
#define SOC_BRIDGE_FILES_READING_H

#include "bridge/files/state.h"

/* A line being read. */
struct soc_reading {
    struct soc_inlet *inlet;
    const struct soc_line *line;
    struct soc_agent *agent; /* who speaks */
    struct soc_buf texts;    /* unescaped, with room for all: it never moves */
    const char *fault;       /* the member that is wrong, NULL: none */
    bool is_placed;          /* it goes to one receiver, and only its place tells it apart */
};

/* Lends the text of a value, or of a member of the line; absent if it is missing or null. One
 * that is no text, or too long, is the fault of `name`. */
struct soc_slice soc_reading_text(struct soc_reading *reading, const char *name,
                                  struct soc_slice value, size_t bytes_max);
struct soc_slice soc_reading_member(struct soc_reading *reading, const char *name,
                                    size_t bytes_max);

/* Lends the payload, absent if there is none; `wrapped` is room for what it becomes. */
struct soc_slice soc_reading_payload(struct soc_reading *reading, struct soc_buf *wrapped);

/* Reads all but `to` and the payload. */
void soc_reading_mail(struct soc_reading *reading, struct soc_outside_mail *mail, bool has_to);

#endif

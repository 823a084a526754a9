/* Terminal: the door of the person who sits before a running society.
 *
 * Items of the inbox are shown with a number when they are durable, and lines are
 * read: `1 approve`, `2 reject too expensive`, `3 modify {"limit":10}` decide,
 * `3` shows item 3 again, `inbox` lists them all, `help` explains; any other line is
 * input that the gatekeeper passes on. Numbers hold for one run. The end of the input
 * ends nothing.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_TERMINAL_TERMINAL_H
#define SOC_BRIDGE_TERMINAL_TERMINAL_H

#include "kernel/host.h"

struct soc_terminal;

/* What a terminal is opened with. */
struct soc_terminal_options {
    struct soc_host *host; /* lent, started */
    struct soc_loop *loop; /* lent, the host's own */
    int input;             /* descriptor of the terminal */
    /* Shows a text, which may have several lines; false: it could not. */
    bool (*say)(void *user, struct soc_slice text);
    void *user;
};

/* Tells whether a person can be talked to there: it is a terminal, and this process
 * may read from it without being stopped. */
bool soc_terminal_is_there(int input);

/* Lists what is open and begins to read. SOC_EIO with `detail`. End it with
 * soc_terminal_close. */
int soc_terminal_open(struct soc_terminal **out, const struct soc_terminal_options *options,
                      struct soc_detail *detail);

/* Shows an item, given as its JSON object, with its number; false: it could not. */
bool soc_terminal_show(struct soc_terminal *terminal, struct soc_slice item);

/* Reads no more. The host must be gone, so that nothing is to be said. The memory goes
 * when the loop has run the closing. NULL is allowed. */
void soc_terminal_close(struct soc_terminal *terminal);

#endif

/* Terminal: the door for a person at the terminal of a running society.
 *
 * Inbox items are shown with a number once they are durable. Input lines `1 approve`,
 * `1 choose 2`, `2 reject too expensive` and `3 modify {"limit":10}` decide an item, `3`
 * shows item 3 again, `inbox` lists all items, `help` explains. Any other line is input for the
 * gatekeeper. Numbers are valid for one run. End of input does not stop the society.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_TERMINAL_TERMINAL_H
#define SOC_BRIDGE_TERMINAL_TERMINAL_H

#include "kernel/host.h"

struct soc_terminal;

/* Options of a terminal. */
struct soc_terminal_options {
    struct soc_host *host; /* lent, started */
    struct soc_loop *loop; /* lent, that of the host */
    int input;             /* descriptor of the terminal */
    /* Shows a text of one or more lines. Returns false if that failed. */
    bool (*say)(void *user, struct soc_slice text);
    void *user;
};

/* Returns true if `input` is a terminal and this process is in its foreground. */
bool soc_terminal_is_there(int input);

/* Lists the open items and starts to read. SOC_EIO with `detail`. End it with
 * soc_terminal_close(). */
int soc_terminal_open(struct soc_terminal **out, const struct soc_terminal_options *options,
                      struct soc_detail *detail);

/* Shows an item, a JSON object, with its number. Returns false if that failed. */
bool soc_terminal_show(struct soc_terminal *terminal, struct soc_slice item);

/* Stops reading. The host must have been freed, so that no output is pending. The loop
 * frees the memory. NULL is allowed. */
void soc_terminal_close(struct soc_terminal *terminal);

#endif

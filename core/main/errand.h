/* Errand: one request of a command to a society, whether it runs or not.
 *
 * A society that runs is asked through its socket; one that does not is opened for
 * the moment. Another command may hold it for that long: it is tried again.
 * Layer: main. Thread: main. */
#ifndef SOC_MAIN_ERRAND_H
#define SOC_MAIN_ERRAND_H

#include <stdint.h>

#include "base/slice.h"
#include "main/stopped.h"

/* What a society is asked, running or stopped. */
struct soc_errand {
    const char *state;        /* the state directory */
    struct soc_slice request; /* a line for the control socket, without its end */
    soc_stopped_fn *stopped;  /* the same for a stopped one; NULL: it cannot be done there */
    void *user;               /* of both functions */
    int64_t patience_ms;      /* for a state that somebody holds; 0: a moment */
    /* Prints the list that was answered and returns the exit code. */
    int (*print)(void *user, struct soc_slice list);
};

/* Runs it and returns the exit code; what went wrong is said on stderr. */
int soc_errand_run(const struct soc_errand *errand);

#endif

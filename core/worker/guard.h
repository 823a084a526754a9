/* Guard: what a worker process gives up before it runs a script.
 *
 * No descriptor but one, no rights, limits on memory and CPU time, no core dumps, and a
 * list of the few system calls it may make: any other one ends the process. The list is
 * compiled once, by the zygote; a worker only loads it.
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_GUARD_H
#define SOC_WORKER_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define SOC_GUARD_FILTER_MAX 512 /* instructions */

/* The compiled list: instructions of BPF. */
struct soc_guard_filter {
    unsigned short count;
    struct {
        unsigned short code;
        unsigned char jump_true;
        unsigned char jump_false;
        unsigned int value;
    } instructions[SOC_GUARD_FILTER_MAX];
};

/* Limits that hold even if nobody watches the worker. */
struct soc_guard_limits {
    size_t memory_bytes; /* of address space, beyond what the process has */
    unsigned cpu_seconds;
};

/* Compiles the list; false if the system cannot. */
bool soc_guard_compile(struct soc_guard_filter *filter);

/* Tells whether the list allows the system call of that number. */
bool soc_guard_allows(int number);

/* Gives up root, if the process has it. */
bool soc_guard_drop_rights(void);

/* Closes every descriptor but `kept`. */
bool soc_guard_close_others(int kept);

/* Gives up everything else; there is no way back. False: the process must not run a script. */
bool soc_guard_enter(const struct soc_guard_filter *filter, const struct soc_guard_limits *limits);

#endif

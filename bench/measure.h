/* Measure: clocks, processes, directories and the table of figures, for all
 * benches.
 *
 * A bench prints one line per figure: what it measured, the yardstick measured in
 * the same run, the ratio of the two, the target and whether it was met. Machines
 * are noisy, ratios less so.
 * Layer: bench. Thread: one. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEASURE_PATH_BYTES 512

/* Which way a figure is good. */
enum measure_goal { MEASURE_NONE, MEASURE_AT_LEAST, MEASURE_AT_MOST };

/* One line of the table. */
struct measure_figure {
    const char *name;
    const char *unit;
    double value;
    const char *yardstick_name; /* NULL: there is none */
    double yardstick;
    enum measure_goal goal;
    double target;       /* for `value`, or for the ratio of `value` to `yardstick` */
    bool is_ratio_meant; /* by `target` */
};

/* Prints the load of the machine, a warning if it is busy, and the table's head.
 * True if the arguments ask for the full sizes (--full). */
bool measure_begin(int argc, char **argv);

/* Prints one line. */
void measure_print(const struct measure_figure *figure);

/* The monotonic clock, and the CPU time of this process, in microseconds. */
int64_t measure_now_us(void);
int64_t measure_cpu_us(void);

/* Memory of this process that is resident. */
double measure_resident_bytes(void);

/* Ends the program with `what` unless `holds`. */
void measure_require(bool holds, const char *what);

/* Makes a new directory in $BENCH_DIR, or in build/: on the disk that matters. */
void measure_make_directory(char path[MEASURE_PATH_BYTES]);

/* Removes it with everything inside. */
void measure_remove_directory(const char *path);

/* Runs `work` in a process of its own, which starts with fresh memory and whose
 * crash is only its own. `shared`, of at most a page, is copied to it and, when it
 * has ended, back. */
void measure_in_child(void (*work)(void *shared), void *shared, size_t size);

/* Starts a program of its own, found as execvp does, in `directory` (NULL: here);
 * it does not outlive this one. `words` end with NULL. Returns its process id. */
pid_t measure_start(const char *directory, const char *const *words);

/* Sorts and returns the value at `part` (0 to 1) of all. */
double measure_quantile(double *values, size_t count, double part);

/* Time in microseconds of each of `count` times write + fdatasync of `bytes` at
 * the end of a new file in `directory`. */
void measure_bare_writes(const char *directory, size_t bytes, size_t count, double *each_us);

#endif

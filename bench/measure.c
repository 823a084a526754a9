#include "measure.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOAD_QUIET    0.5
#define SHARED_BYTES  4096
#define NUMBER_BYTES  32
#define WALK_FILES    16
#define US_PER_SECOND 1000000

bool measure_begin(int argc, char **argv)
{
    double load = 0;
    getloadavg(&load, 1);
    printf("load %.2f%s\n", load,
           load > LOAD_QUIET ? ": the machine is busy, measure again when it is quiet" : "");
    printf("%-42s %17s  %-28s %7s  %-15s\n", "figure", "ours", "yardstick", "ratio", "target");
    fflush(stdout);
    return argc > 1 && strcmp(argv[1], "--full") == 0;
}

/* Three digits that matter at least, and commas between thousands. */
static void format_number(char out[NUMBER_BYTES], double value)
{
    if (value < 100) {
        snprintf(out, NUMBER_BYTES, "%.*f", value < 10 ? 2 : 1, value);
        return;
    }
    char digits[NUMBER_BYTES];
    int length = snprintf(digits, sizeof(digits), "%.0f", value < 1e15 ? value : 1e15);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

void measure_print(const struct measure_figure *figure)
{
    char number[NUMBER_BYTES];
    char value[2 * NUMBER_BYTES];
    char yardstick[4 * NUMBER_BYTES] = "-";
    char ratio[NUMBER_BYTES + 2] = "-";
    char target[2 * NUMBER_BYTES] = "-";
    const char *verdict = "";
    double compared = figure->value;
    format_number(number, figure->value);
    snprintf(value, sizeof(value), "%s %s", number, figure->unit);
    if (figure->yardstick_name != NULL) {
        format_number(number, figure->yardstick);
        snprintf(yardstick, sizeof(yardstick), "%s %s", figure->yardstick_name, number);
        snprintf(ratio, sizeof(ratio), "%.2fx", figure->value / figure->yardstick);
    }
    if (figure->is_ratio_meant)
        compared = figure->value / figure->yardstick;
    if (figure->goal != MEASURE_NONE) {
        bool is_least = figure->goal == MEASURE_AT_LEAST;
        format_number(number, figure->target);
        snprintf(target, sizeof(target), "%s %s%s%s", is_least ? ">=" : "<=", number,
                 figure->is_ratio_meant ? "" : " ", figure->is_ratio_meant ? "x" : figure->unit);
        bool is_met = is_least ? compared >= figure->target : compared <= figure->target;
        verdict = is_met ? "ok" : "below";
    }
    printf("%-42s %17s  %-28s %7s  %-15s %s\n", figure->name, value, yardstick, ratio, target,
           verdict);
    fflush(stdout);
}

static int64_t read_clock_us(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

int64_t measure_now_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

int64_t measure_cpu_us(void)
{
    return read_clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

double measure_resident_bytes(void)
{
    long total = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    measure_require(file != NULL && fscanf(file, "%ld %ld", &total, &resident) == 2, "no /proc");
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

void measure_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
}

void measure_make_directory(char path[MEASURE_PATH_BYTES])
{
    const char *parent = getenv("BENCH_DIR");
    snprintf(path, MEASURE_PATH_BYTES, "%s/bench.XXXXXX", parent == NULL ? "build" : parent);
    measure_require(mkdtemp(path) != NULL, "cannot make a directory; run it in the project's own");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

void measure_remove_directory(const char *path)
{
    nftw(path, remove_one, WALK_FILES, FTW_DEPTH | FTW_PHYS);
}

void measure_in_child(void (*work)(void *shared), void *shared, size_t size)
{
    measure_require(size <= SHARED_BYTES, "too much to share");
    void *page =
        mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    measure_require(page != MAP_FAILED, "no memory");
    memcpy(page, shared, size);
    fflush(stdout);
    pid_t child = fork();
    measure_require(child >= 0, "cannot fork");
    if (child == 0) {
        work(page);
        fflush(stdout);
        _exit(EXIT_SUCCESS);
    }
    int status = 0;
    waitpid(child, &status, 0);
    measure_require(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "a process failed");
    memcpy(shared, page, size);
    munmap(page, SHARED_BYTES);
}

pid_t measure_start(const char *directory, const char *const *words)
{
    pid_t child = fork();
    measure_require(child >= 0, "cannot fork");
    if (child > 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (directory == NULL || chdir(directory) == 0)
        execvp(words[0], (char *const *)words); /* which it does not change */
    _exit(EXIT_FAILURE);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double measure_quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof(*values), compare);
    return values[(size_t)(part * (double)(count - 1))];
}

void measure_bare_writes(const char *directory, size_t bytes, size_t count, double *each_us)
{
    char path[MEASURE_PATH_BYTES + 8];
    char *data = malloc(bytes);
    measure_require(data != NULL, "no memory");
    memset(data, 'x', bytes);
    snprintf(path, sizeof(path), "%s/bare", directory);
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    measure_require(file >= 0, "cannot make a file");
    for (size_t i = 0; i < count; i++) {
        int64_t begin_us = measure_now_us();
        measure_require(write(file, data, bytes) == (ssize_t)bytes, "write");
        measure_require(fdatasync(file) == 0, "fdatasync");
        each_us[i] = (double)(measure_now_us() - begin_us);
    }
    close(file);
    unlink(path);
    free(data);
}

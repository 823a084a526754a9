/* Check: the harness of the C tests, in TAP.
 *
 * A test is a function named as the sentence it proves, run by RUN. A check that
 * fails prints where and with which values, and the test continues; the test is then
 * `not ok`. A file ends with `return check_done();`.
 *
 *     static void an_empty_buffer_has_no_bytes(void)
 *     {
 *         struct soc_buf buf = {0};
 *         CHECK_INT(buf.length, 0);
 *     }
 *
 *     int main(void)
 *     {
 *         RUN(an_empty_buffer_has_no_bytes);
 *         return check_done();
 *     }
 *
 * Layer: tests. Thread: one. */
#ifndef SOC_TESTS_CHECK_H
#define SOC_TESTS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one test program has counted; the only mutable static of the tests. */
struct check_state {
    int tests;         /* run so far */
    int tests_failed;  /* with at least one failed check */
    int checks_failed; /* in the current test */
};

static struct check_state check_state;

/* How many failures of one test are shown; the rest would be more of the same. */
#define CHECK_SHOWN_MAX 10

/* Counts a failure and prints where it was, unless enough have been printed. Returns
 * whether it did. */
static inline bool check_fail(const char *file, int line, const char *what)
{
    bool is_shown = ++check_state.checks_failed <= CHECK_SHOWN_MAX;
    if (is_shown)
        printf("# %s:%d: %s\n", file, line, what);
    else if (check_state.checks_failed == CHECK_SHOWN_MAX + 1)
        printf("# further failures of this test are not shown\n");
    fflush(stdout);
    return is_shown;
}

/* Does the work of CHECK. */
static inline bool check_true(const char *file, int line, const char *what, bool holds)
{
    if (!holds)
        check_fail(file, line, what);
    return holds;
}

/* Does the work of CHECK_INT. */
static inline bool check_int(const char *file, int line, const char *what, long long actual,
                             long long expected)
{
    if (actual == expected)
        return true;
    if (check_fail(file, line, what))
        printf("#   actual:   %lld\n#   expected: %lld\n", actual, expected);
    fflush(stdout);
    return false;
}

/* Does the work of CHECK_BYTES; NULL equals only NULL. */
static inline bool check_bytes(const char *file, int line, const char *what, const char *actual,
                               size_t length, const char *expected)
{
    if (actual == NULL || expected == NULL) {
        if (actual == expected)
            return true;
    } else if (length == strlen(expected) && memcmp(actual, expected, length) == 0) {
        return true;
    }
    if (check_fail(file, line, what)) {
        printf("#   actual:   %.*s\n", (int)length, actual == NULL ? "" : actual);
        printf("#   expected: %s\n", expected == NULL ? "(none)" : expected);
    }
    fflush(stdout);
    return false;
}

/* Does the work of CHECK_TEXT. */
static inline bool check_text(const char *file, int line, const char *what, const char *actual,
                              const char *expected)
{
    return check_bytes(file, line, what, actual, actual == NULL ? 0 : strlen(actual), expected);
}

/* Runs one test and prints its TAP line. */
static inline void check_run(const char *name, void (*test)(void))
{
    check_state.checks_failed = 0;
    test();
    check_state.tests++;
    if (check_state.checks_failed > 0)
        check_state.tests_failed++;
    printf("%sok %d - ", check_state.checks_failed > 0 ? "not " : "", check_state.tests);
    for (const char *c = name; *c != '\0'; c++)
        putchar(*c == '_' ? ' ' : *c);
    putchar('\n');
    fflush(stdout);
}

/* Prints the plan and a summary; returns what main returns. */
static inline int check_done(void)
{
    printf("1..%d\n# %d passed, %d failed\n", check_state.tests,
           check_state.tests - check_state.tests_failed, check_state.tests_failed);
    return check_state.tests_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Each check is an expression whose value says whether it held, so that a test can
 * stop early where continuing makes no sense: if (!CHECK(x != NULL)) return; */
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(actual, expected)                                                                \
    check_int(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define CHECK_TEXT(actual, expected) check_text(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_BYTES(actual, length, expected)                                                      \
    check_bytes(__FILE__, __LINE__, #actual, (actual), (length), (expected))
#define RUN(test) check_run(#test, test)

#endif

#include "base/mem.h"

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void zeroed_memory_is_zero(void)
{
    unsigned char *bytes = soc_alloc_zero(4096);
    int sum = 0;
    for (int i = 0; i < 4096; i++)
        sum += bytes[i];
    CHECK_INT(sum, 0);
    free(bytes);
}

static void resizing_keeps_the_bytes_and_may_start_from_null(void)
{
    char *text = soc_realloc(NULL, 4);
    memcpy(text, "abc", 4);
    text = soc_realloc(text, 1 << 20);
    CHECK_TEXT(text, "abc");
    free(text);
    char *plain = soc_alloc(16);
    memset(plain, 'x', 16);
    free(plain);
}

static void zero_bytes_may_be_allocated(void)
{
    free(soc_alloc(0));
    free(soc_alloc_zero(0));
}

static void a_copied_text_is_nul_terminated_and_independent(void)
{
    char source[] = "hello, world";
    char *copy = soc_copy_text(source, 5);
    source[0] = 'X';
    CHECK_TEXT(copy, "hello");
    free(copy);
    char *with_nul = soc_copy_text("a\0b", 3);
    CHECK(memcmp(with_nul, "a\0b", 4) == 0);
    free(with_nul);
}

static void an_empty_text_can_be_copied_even_from_null(void)
{
    char *copy = soc_copy_text(NULL, 0);
    CHECK_TEXT(copy, "");
    free(copy);
}

/* Allocates more than there is in a child process and returns how it ended; its stderr
 * goes to `words`. */
static int ask_for_too_much(char words[256])
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        volatile size_t size = SIZE_MAX / 2;
        free(soc_alloc(size));
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        if (length < 255)
            words[length++] = byte;
    words[length] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void out_of_memory_is_reported_and_aborts(void)
{
    char words[256];
    int status = ask_for_too_much(words);
    if (WIFEXITED(status)) { /* a sanitizer gives up first */
        CHECK(WEXITSTATUS(status) != 0);
        return;
    }
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strncmp(words, "society: out of memory (", 24) == 0);
}

int main(void)
{
    RUN(zeroed_memory_is_zero);
    RUN(resizing_keeps_the_bytes_and_may_start_from_null);
    RUN(zero_bytes_may_be_allocated);
    RUN(a_copied_text_is_nul_terminated_and_independent);
    RUN(an_empty_text_can_be_copied_even_from_null);
    RUN(out_of_memory_is_reported_and_aborts);
    return check_done();
}

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "bridge/attach.h"
#include "env/clock.h"
#include "env/log.h"
#include "main/args.h"
#include "main/command.h"

#define LOOK_MS_MIN 100 /* between two looks at the files, after something has come */
#define LOOK_MS_MAX 500
#define END_TRIES   20 /* looks at what becomes of the last lines, if nobody types any more */
#define END_MS      50

struct person {
    struct soc_attach *attach;
    struct soc_clock clock;
    struct soc_buf typed; /* not a whole line yet */
    bool is_json;
    bool has_shown; /* in this look */
    bool is_ended;  /* types no more */
};

/* Prints text as it is, but for what could steer a terminal; further lines indented. */
static void print_text_to(FILE *out, struct soc_slice text)
{
    struct soc_buf shown = {0};
    soc_log_put_harmless(&shown, text, "\n    ", '?');
    fputs(soc_buf_text(&shown), out);
    soc_buf_fini(&shown);
}

static void print_text(struct soc_slice text)
{
    print_text_to(stdout, text);
}

static void print_member(const char *before, struct soc_slice object, const char *name)
{
    struct soc_buf text = {0};
    if (soc_json_string(soc_json_member(object, name), &text)) {
        fputs(before, stdout);
        print_text(soc_buf_slice(&text));
    }
    soc_buf_fini(&text);
}

static void show(void *user, int number, struct soc_slice envelope)
{
    struct person *person = user;
    struct soc_slice payload = soc_json_member(envelope, "payload");
    person->has_shown = true;
    if (person->is_json) {
        fwrite(envelope.data, 1, envelope.length, stdout);
    } else {
        printf("[%d]", number);
        print_member(" ", envelope, "from");
        print_member(" ", envelope, "type");
        print_member(" ", envelope, "task_id");
        fputs(": ", stdout);
        if (soc_json_member(payload, "text").data != NULL)
            print_member("", payload, "text");
        else
            print_text(payload);
    }
    putchar('\n');
}

static void warn(void *user, struct soc_slice text)
{
    (void)user;
    fputs("society: attach: ", stderr);
    print_text_to(stderr, text);
    putc('\n', stderr);
}

static bool look(struct person *person)
{
    person->has_shown = false;
    bool goes_on = soc_attach_look(person->attach, soc_clock_now(&person->clock));
    if (!goes_on && !person->is_json)
        puts("the workflow is over");
    return fflush(stdout) == 0 && goes_on;
}

/* Does what the whole lines among what was typed say; false after /quit. */
static bool take_lines(struct person *person)
{
    struct soc_buf *typed = &person->typed;
    const char *end;
    while (typed->length > 0 && (end = memchr(typed->data, '\n', typed->length)) != NULL) {
        struct soc_detail detail = {{0}};
        size_t length = (size_t)(end - typed->data) + 1;
        int rc = soc_attach_say(person->attach, soc_slice(typed->data, length),
                                soc_clock_now(&person->clock), &detail);
        if (rc < 0)
            fprintf(stderr, "society: attach: %s\n", detail.text);
        memmove(typed->data, typed->data + length, typed->length - length);
        typed->length -= length;
        if (rc > 0)
            return false;
    }
    return true;
}

/* Reads what was typed; at its end the last line needs no newline. */
static bool read_typed(struct person *person)
{
    ssize_t count = read(STDIN_FILENO, soc_buf_reserve(&person->typed, 4096), 4096);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (count > 0)
        person->typed.length += (size_t)count;
    person->is_ended = count <= 0;
    if (person->is_ended)
        soc_buf_put_byte(&person->typed, '\n');
    return take_lines(person);
}

/* Waits a moment for what becomes of the last lines: nobody sees it later. */
static void wait_for_end(struct person *person)
{
    for (int i = 0; i < END_TRIES && !soc_attach_is_settled(person->attach); i++) {
        poll(NULL, 0, END_MS);
        if (!look(person))
            return;
    }
}

static int converse(struct person *person)
{
    int wait_ms = LOOK_MS_MIN;
    while (look(person)) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (person->is_ended) {
            wait_for_end(person);
            break;
        }
        wait_ms = person->has_shown ? LOOK_MS_MIN : wait_ms * 3 / 2;
        wait_ms = wait_ms < LOOK_MS_MAX ? wait_ms : LOOK_MS_MAX;
        if (poll(&input, 1, wait_ms) > 0 && !read_typed(person))
            break;
    }
    return ferror(stdout) ? SOC_EXIT_FAILED : SOC_EXIT_DONE;
}

int soc_cmd_attach(int argc, char **argv)
{
    struct person person = {0};
    struct soc_detail detail = {{0}};
    struct soc_args args = {.command = "attach"};
    const struct soc_option options[] = {
        {"json", SOC_OPTION_FLAG, &person.is_json},
        {NULL, SOC_OPTION_FLAG, NULL},
    };
    int code = soc_args_parse(&args, argc, argv, options, 2, 2);
    if (code == SOC_ARGS_GO) {
        struct soc_attach_options attach = {.dir = args.words.items[0],
                                            .id = args.words.items[1],
                                            .show = show,
                                            .warn = warn,
                                            .user = &person};
        signal(SIGPIPE, SIG_IGN);
        soc_clock_init(&person.clock, false);
        int rc = soc_attach_open(&person.attach, &attach, &detail);
        code =
            rc < 0 ? soc_complain(SOC_EXIT_FAILED, "attach: %s", detail.text) : converse(&person);
    }
    soc_attach_close(person.attach);
    soc_buf_fini(&person.typed);
    soc_text_list_fini(&args.words);
    return code;
}

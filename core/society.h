/* Society: a society of agents inside a C program.
 *
 *     struct soc_society_options options = {.app_file = "app.lua", .state_dir = ".society"};
 *     struct soc_society *society;
 *     char error[SOC_SOCIETY_ERROR_BYTES];
 *     if (soc_society_open(&society, &options, error) < 0)
 *         return fprintf(stderr, "%s\n", error), 1;
 *     enum soc_society_end end = soc_society_run(society);
 *     soc_society_close(society);
 *
 * A society belongs to the thread that opened it; a program may have several.
 * Link with libsociety.a and what it stands on: Lua 5.4, libuv, SQLite, libcurl,
 * libmicrohttpd, wslay, libcrypto. */
#ifndef SOC_SOCIETY_H
#define SOC_SOCIETY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOC_SOCIETY_ERROR_BYTES 512
#define SOC_SOCIETY_ID_BYTES    40 /* room for a message id and its NUL */

struct soc_society;

/* What a society is made of. All zero but `app_file` is fine. Everything is lent
 * until soc_society_open returns, but `user`. */
struct soc_society_options {
    const char *app_file;  /* the Lua script */
    const char *state_dir; /* made if missing; NULL: in memory, gone at the close */
    const char *home;      /* where lua/ and policies/ are; NULL: as the program finds it */
    const char *program;   /* path of the program `society`, for replays that clients ask for;
                              NULL: there are none */
    bool is_fresh;         /* puts an older state aside, into state_dir/previous */
    bool retries_main;     /* a `main` that has not finished runs from its start */
    bool accepts_changes;  /* activations that a changed script cannot continue are parked */
    /* Asks whether to park them, if that is not accepted from the start. The log has named each
     * of them; `text` says how many. False, or NULL: the society is not opened. */
    bool (*confirm)(void *user, const char *text);

    char *const *arguments; /* reach the script as `arg` and `...` */
    int argument_count;
    const char *const *policies; /* "KIND=NAME" each, then NULL; NULL: none */
    const char *const *settings; /* "KEY=VALUE" each, then NULL; NULL: none */

    const char *log_level; /* debug info warn error none; NULL: warn */
    bool log_is_json;      /* one JSON object per line */
    bool log_has_colour;
    int watchdog_ms; /* logs steps of the loop that take longer, and the worst at the end;
                        0: steps are not measured */
    int trial_ms;    /* for how long waiting activations are tried against a changed script;
                        0: 5000; negative: not at all */

    bool has_socket;       /* listens in state_dir/socket for `society inspect` and `send`;
                              SIGPIPE is ignored by the whole process from then on */
    const char *http;      /* [HOST:]PORT on which HTTP is spoken, 0 for a free port; NULL: only if
                              the app says so in society.config{ web = … }. Needs state_dir;
                              SIGPIPE as above */
    bool http_is_open;     /* no token is needed; on loopback only, for tests and demos */
    bool http_is_insecure; /* may listen beyond loopback without TLS */
    const char *web_dir;   /* files of the page; NULL: web/ of `home`, if it is there */
    const char *redis;     /* address of a Redis for plain clients (docs/redis.md), instead of that
                              in society.config{ redis = … }; NULL: that one, if any */
    bool is_once;          /* with HTTP or Redis: ends when `main` has, as without */
    bool has_terminal;     /* reads lines from stdin if that is a terminal: they decide items
                              of the inbox, others go to the gatekeeper; needs `show` */
    bool has_status_line;  /* shows on stderr, a terminal, who thinks and what it took */
    bool watches_policies; /* a policy in force whose file is saved is put in force anew */
    bool notifies_manager; /* tells the service manager that started the process when it is ready
                              and when it stops, and shows it signs of life (sd_notify(3)) */
    bool takes_signals;    /* SIGINT and SIGTERM end soc_society_run; the second one kills */

    /* Shows something to the world, when its cause is durable: `stream` is "stdout"
     * (a line an agent printed), "mail" (a message for the person: its envelope as
     * JSON), "inbox" (an item the person is to decide about, or with `withdrawn` no more,
     * as JSON) or "terminal" (words for the person who types). False: it could not be
     * shown; the run ends as by soc_society_stop and the next one, in this program or
     * another, shows it first. NULL: lines go to stdout, mail is taken and not shown. */
    bool (*show)(void *user, const char *stream, const char *agent, const char *text,
                 size_t length);
    void *user;
};

/* How a run ended. */
enum soc_society_end {
    SOC_SOCIETY_DONE,        /* `main` has returned and nothing is left to do */
    SOC_SOCIETY_FAILED,      /* `main` raised; the log says what */
    SOC_SOCIETY_STOPPED,     /* soc_society_stop, a client of the socket, or `show` */
    SOC_SOCIETY_INTERRUPTED, /* SIGINT */
    SOC_SOCIETY_DISK_FAILED, /* close it and start again: it recovers */
    SOC_SOCIETY_TERMINATED,  /* SIGTERM, with which service managers stop a service */
};

/* Opens the state, runs the script's file and makes everything ready. Returns 0;
 * or a negative code with a sentence in `error`, and nothing is left behind.
 * SOC_SOCIETY_DISK is the one code that means a broken disk. */
#define SOC_SOCIETY_DISK (-30)
int soc_society_open(struct soc_society **out, const struct soc_society_options *options,
                     char error[SOC_SOCIETY_ERROR_BYTES]);

/* Runs until `main` has returned and nothing is queued, running or waiting; a
 * script without `main` runs until it is stopped, and so does one that is reached by HTTP or Redis
 * unless `is_once`. May be called again, after
 * soc_society_send for instance. */
enum soc_society_end soc_society_run(struct soc_society *society);

/* Ends soc_society_run soon, between two turns; nothing is lost. From any thread
 * and from a signal handler. */
void soc_society_stop(struct soc_society *society);

/* Sends from `user` to an agent (NULL: the gatekeeper says to whom): `payload` is a JSON value, or
 * `text` a plain text (the other is NULL). Its id goes to `id` (NULL is allowed). It is handled by
 * soc_society_run and durable at the latest when that or the close returns. A
 * negative code with a sentence in `error` if it was refused. */
int soc_society_send(struct soc_society *society, const char *to, const char *payload,
                     const char *text, char id[SOC_SOCIETY_ID_BYTES],
                     char error[SOC_SOCIETY_ERROR_BYTES]);

/* Lends the address of the society's HTTP door, such as http://127.0.0.1:8080; NULL: it has
 * none. */
const char *soc_society_url(const struct soc_society *society);

/* Returns how many items of the inbox are open. */
size_t soc_society_open_items(const struct soc_society *society);

/* Writes a sentence that names the open tasks to `text`, cut where it is full, and returns
 * how many there are. */
size_t soc_society_open_tasks(const struct soc_society *society,
                              char text[SOC_SOCIETY_ERROR_BYTES]);

/* Tells whether `main` had finished before this start: a run then only handles
 * what has come since. */
bool soc_society_was_finished(const struct soc_society *society);

/* Tells whether no message is pending and no agent waits. */
bool soc_society_is_idle(struct soc_society *society);

/* Makes everything durable, closes the state and frees. NULL is allowed. A negative code
 * if the disk failed, now or before, or what is stored was found damaged: what is missing
 * is known at the next start. */
int soc_society_close(struct soc_society *society);

/* Returns the version, "0.1.0". */
const char *soc_society_version(void);

#ifdef __cplusplus
}
#endif

#endif

/* A society inside a C program that is reached by HTTP: what the public header promises.
 *
 * Covers: core/society.h, core/embed/society.c */
#include "society.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "check.h"

#define PATH_BYTES   128
#define ANSWER_BYTES 8192

/* A directory with an app and a page. */
struct place {
    char directory[32];
    char app[PATH_BYTES];
    char state[PATH_BYTES];
};

/* Someone who asks while the society runs. */
struct visitor {
    struct soc_society *society;
    char health[ANSWER_BYTES];
    char page[ANSWER_BYTES];
};

static void write_file(const struct place *place, const char *name, const char *text)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", place->directory, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void place_init(struct place *place, const char *app)
{
    snprintf(place->directory, sizeof(place->directory), "/tmp/society_http_XXXXXX");
    CHECK(mkdtemp(place->directory) != NULL);
    snprintf(place->app, sizeof(place->app), "%s/app.lua", place->directory);
    snprintf(place->state, sizeof(place->state), "%s/state", place->directory);
    write_file(place, "app.lua", app);
    write_file(place, "index.html", "<p>a page of one's own</p>");
}

static void place_fini(const struct place *place)
{
    char command[PATH_BYTES];
    snprintf(command, sizeof(command), "rm -rf %s", place->directory);
    CHECK_INT(system(command), 0);
}

/* Gets a path of the society's address, which is http://127.0.0.1:PORT. */
static void get(const char *url, const char *path, char out[ANSWER_BYTES])
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(strrchr(url, ':') + 1)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char request[PATH_BYTES];
    size_t length = 0;
    ssize_t got = -1;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
             path, url + strlen("http://"));
    if (connect(client, (struct sockaddr *)(void *)&address, sizeof(address)) == 0 &&
        send(client, request, strlen(request), MSG_NOSIGNAL) > 0)
        do {
            got = recv(client, out + length, ANSWER_BYTES - 1 - length, 0);
            length += got > 0 ? (size_t)got : 0;
        } while (got > 0 || (got < 0 && errno == EINTR));
    out[length] = '\0';
    close(client);
}

static void visit(void *user)
{
    struct visitor *visitor = user;
    const char *url = soc_society_url(visitor->society);
    get(url, "/healthz", visitor->health);
    get(url, "/", visitor->page);
    soc_society_stop(visitor->society);
}

static void a_society_in_a_program_is_reached_by_http(void)
{
    struct place place;
    struct visitor visitor = {0};
    uv_thread_t thread;
    char error[SOC_SOCIETY_ERROR_BYTES] = "";
    place_init(&place, "require('society').main(function() end)\n");
    struct soc_society_options options = {.app_file = place.app,
                                          .state_dir = place.state,
                                          .home = ".",
                                          .http = "0",
                                          .http_is_open = true,
                                          .web_dir = place.directory};
    CHECK_INT(soc_society_open(&visitor.society, &options, error), 0);
    CHECK_TEXT(error, "");
    CHECK(strncmp(soc_society_url(visitor.society), "http://127.0.0.1:", 17) == 0);
    CHECK_INT(uv_thread_create(&thread, visit, &visitor), 0);
    /* `main` has returned, yet it runs on until it is stopped. */
    CHECK_INT(soc_society_run(visitor.society), SOC_SOCIETY_STOPPED);
    uv_thread_join(&thread);
    CHECK(strncmp(visitor.health, "HTTP/1.1 200 ", 13) == 0);
    CHECK(strncmp(visitor.page, "HTTP/1.1 200 ", 13) == 0);
    CHECK(strstr(visitor.page, "a page of one's own") != NULL);
    CHECK_INT(soc_society_close(visitor.society), 0);
    place_fini(&place);
}

static void a_society_that_runs_once_ends_although_it_has_http(void)
{
    struct place place;
    struct soc_society *society;
    char error[SOC_SOCIETY_ERROR_BYTES] = "";
    place_init(&place, "require('society').main(function() end)\n");
    struct soc_society_options options = {.app_file = place.app,
                                          .state_dir = place.state,
                                          .home = ".",
                                          .http = "127.0.0.1:0",
                                          .is_once = true};
    CHECK_INT(soc_society_open(&society, &options, error), 0);
    CHECK_TEXT(error, "");
    CHECK(soc_society_url(society) != NULL);
    CHECK_INT(soc_society_run(society), SOC_SOCIETY_DONE);
    CHECK_INT(soc_society_close(society), 0);
    place_fini(&place);
}

static void a_society_without_http_has_no_address(void)
{
    struct place place;
    struct soc_society *society;
    char error[SOC_SOCIETY_ERROR_BYTES] = "";
    place_init(&place, "require('society').main(function() end)\n");
    struct soc_society_options options = {.app_file = place.app, .home = "."};
    CHECK_INT(soc_society_open(&society, &options, error), 0);
    CHECK(soc_society_url(society) == NULL);
    CHECK_INT(soc_society_run(society), SOC_SOCIETY_DONE);
    CHECK_INT(soc_society_close(society), 0);
    options.http = "0"; /* but nowhere to keep its tokens */
    CHECK(soc_society_open(&society, &options, error) < 0);
    CHECK(strlen(error) > 0);
    place_fini(&place);
}

int main(void)
{
    RUN(a_society_in_a_program_is_reached_by_http);
    RUN(a_society_that_runs_once_ends_although_it_has_http);
    RUN(a_society_without_http_has_no_address);
    return check_done();
}

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "bridge/http/door_state.h"

#define URL_FILE      "http.url"
#define FLUSH_POLL_MS 10
#define FLUSH_POLLS   100

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int check_options(const struct soc_door_options *options, const char *address,
                         struct soc_detail *detail)
{
    if (is_loopback(address))
        return SOC_OK;
    if (options->is_open)
        return soc_fail(detail, SOC_EINVAL,
                        "--http-open needs no token and is for loopback only, not for %s", address);
    if (options->settings->tls_cert == NULL && !options->is_insecure)
        return soc_fail(detail, SOC_EINVAL,
                        "listening on %s, beyond loopback, needs web.tls = { cert, key }, or "
                        "--insecure to send tokens in the clear",
                        address);
    return SOC_OK;
}

static int read_pem(const char *path, struct soc_buf *out, struct soc_detail *detail)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    while (file >= 0 && out->length < (1u << 20) &&
           (got = read(file, soc_buf_reserve(out, 4096), 4096)) > 0)
        out->length += (size_t)got;
    int error = errno;
    if (file >= 0)
        close(file);
    if (got != 0)
        return soc_fail(detail, SOC_EACCESS, "web.tls: %s: %s", path, strerror(error));
    return SOC_OK;
}

static int open_server(struct soc_door *door, const char *address, int port,
                       struct soc_detail *detail)
{
    const struct soc_web_settings *settings = door->options.settings;
    struct soc_buf cert = {0};
    struct soc_buf key = {0};
    int rc = SOC_OK;
    if (settings->tls_cert != NULL)
        rc = read_pem(settings->tls_cert, &cert, detail);
    if (rc == SOC_OK && settings->tls_key != NULL)
        rc = read_pem(settings->tls_key, &key, detail);
    struct soc_server_options server = {
        .loop = door->options.loop,
        .events = {soc_door_on_head, soc_door_on_body, soc_door_on_gone, door},
        .address = address,
        .port = port,
        .tls_cert = settings->tls_cert == NULL ? NULL : soc_buf_text(&cert),
        .tls_key = settings->tls_key == NULL ? NULL : soc_buf_text(&key),
        .connections_max = (int)settings->connections,
        .streams_max = (int)settings->streams,
        .body_bytes_max = (size_t)settings->body_bytes,
    };
    if (rc == SOC_OK)
        rc = soc_server_open(&door->server, &server, detail);
    if (key.length > 0)
        explicit_bzero(key.data, key.capacity);
    soc_buf_fini(&cert);
    soc_buf_fini(&key);
    return rc;
}

/* Writes the address to STATE/http.url, as a whole. */
static int write_url(const struct soc_door *door, struct soc_detail *detail)
{
    struct soc_slice url = soc_buf_slice(&door->url);
    int file = openat(door->directory, URL_FILE ".new",
                      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write(file, url.data, url.length) == (ssize_t)url.length &&
                      write(file, "\n", 1) == 1;
    if (file >= 0)
        close(file);
    if (is_written)
        is_written = renameat(door->directory, URL_FILE ".new", door->directory, URL_FILE) == 0;
    return is_written ? SOC_OK
                      : soc_fail(detail, SOC_EACCESS, "%s/" URL_FILE ": %s",
                                 door->options.directory, strerror(errno));
}

static int open_parts(struct soc_door *door, struct soc_detail *detail)
{
    const struct soc_web_settings *settings = door->options.settings;
    const char *listen = door->options.listen == NULL ? settings->listen : door->options.listen;
    char address[SOC_WEB_ADDRESS_BYTES];
    int port;
    int rc = soc_web_settings_address(listen == NULL ? "0" : listen, address, &port, detail);
    if (rc == SOC_OK)
        rc = check_options(&door->options, address, detail);
    struct soc_entry_options entry = {
        .directory = door->options.directory,
        .wrong_tokens = settings->wrong_tokens == 0 ? SOC_WEB_WRONG_TOKENS : settings->wrong_tokens,
        .is_open = door->options.is_open,
    };
    if (rc == SOC_OK)
        rc = soc_entry_open(&door->entry, &entry, detail);
    if (rc < 0)
        return rc;
    door->streams = soc_streams_new(door->options.loop, door->options.society.host, door->entry);
    rc = open_server(door, address, port, detail);
    if (rc < 0)
        return rc;
    bool is_secure = settings->tls_cert != NULL;
    door->hosts = (struct soc_hosts){
        .port = soc_server_port(door->server), .is_secure = is_secure, .more = settings->hosts};
    soc_entry_set_port(door->entry, door->hosts.port);
    bool is_six = strchr(address, ':') != NULL;
    soc_buf_printf(&door->url, "%s://%s%s%s:%d", is_secure ? "https" : "http", is_six ? "[" : "",
                   address, is_six ? "]" : "", door->hosts.port);
    door->directory = open(door->options.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return write_url(door, detail);
}

int soc_door_open(struct soc_door **out, const struct soc_door_options *options,
                  struct soc_detail *detail)
{
    assert(options->society.host != NULL && options->loop != NULL && options->settings != NULL);
    assert(options->directory != NULL);
    struct soc_door *door = soc_alloc_zero(sizeof(*door));
    door->options = *options;
    door->directory = -1;
    door->pages = soc_website_new(options->pages);
    int rc = open_parts(door, detail);
    door->options.directory = door->options.listen = door->options.pages = NULL;
    if (rc < 0) {
        soc_door_close(door);
        return rc;
    }
    *out = door;
    return SOC_OK;
}

const char *soc_door_url(const struct soc_door *door)
{
    return door->url.data;
}

void soc_door_set_ending(struct soc_door *door, bool is_ending)
{
    if (door != NULL)
        door->is_ending = is_ending;
}

void soc_door_stop(struct soc_door *door)
{
    if (door == NULL || door->is_stopped)
        return;
    door->is_stopped = true;
    soc_streams_stop(door->streams);
    if (door->server != NULL)
        soc_server_stop(door->server);
}

/* Lets answers leave that are ready; a client that does not read them is not waited for. */
static void flush(struct soc_door *door)
{
    for (int i = 0; i < FLUSH_POLLS && soc_exchange_has_answers(door); i++)
        soc_loop_poll(door->options.loop, FLUSH_POLL_MS);
}

void soc_door_close(struct soc_door *door)
{
    if (door == NULL)
        return;
    soc_door_stop(door);
    soc_exchange_end_running(door);
    if (door->server != NULL) {
        flush(door);
        soc_streams_cut(door->streams);
        soc_server_close(door->server);
    }
    if (door->directory >= 0) {
        unlinkat(door->directory, URL_FILE, 0);
        close(door->directory);
    }
    assert(door->exchanges == NULL);
    soc_entry_free(door->entry);
    soc_website_free(door->pages);
    soc_streams_free(door->streams);
    soc_buf_fini(&door->url);
    soc_buf_fini(&door->out);
    free(door);
}

#include "bridge/http/website.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/url.h"

#define HTML "text/html; charset=utf-8"

static const char absent[] =
    "<!doctype html>\n<html lang=\"en\"><title>society</title>\n"
    "<p>The society runs. This installation has no page; its interface is described at "
    "<a href=\"/openapi.json\">/openapi.json</a>.</p></html>\n";

struct soc_website {
    int directory; /* -1: none */
};

struct soc_website *soc_website_new(const char *directory)
{
    struct soc_website *pages = soc_alloc_zero(sizeof(*pages));
    pages->directory = directory == NULL ? -1 : open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return pages;
}

void soc_website_free(struct soc_website *pages)
{
    if (pages == NULL)
        return;
    if (pages->directory >= 0)
        close(pages->directory);
    free(pages);
}

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".html", HTML},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end != NULL && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(end, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

static bool is_plain(struct soc_slice segment)
{
    for (size_t i = 0; i < segment.length; i++) {
        char c = segment.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && c != '_' && c != '-' && (c != '.' || i == 0))
            return false;
    }
    return segment.length > 0 && segment.length < SOC_PATH_BYTES_MAX;
}

static bool read_all(int file, struct soc_buf *out)
{
    struct stat info;
    if (fstat(file, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size > SOC_WEB_FILE_BYTES_MAX)
        return false;
    for (;;) {
        ssize_t got = read(file, soc_buf_reserve(out, 16384), 16384);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            out->length += (size_t)got;
        if (out->length > SOC_WEB_FILE_BYTES_MAX)
            return false;
    }
}

/* Opens what a path names, segment by segment; -1 if there is nothing. */
static int open_path(int directory, struct soc_slice path, struct soc_buf *name)
{
    int at = directory;
    while (path.length > 0) {
        struct soc_slice segment = soc_url_segment(&path);
        bool is_last = path.length == 0;
        int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (is_last ? 0 : O_DIRECTORY);
        if (is_last && segment.length == 0)
            segment = SOC_SLICE("index.html");
        if (segment.data == NULL || !is_plain(segment)) {
            if (at != directory)
                close(at);
            return -1;
        }
        name->length = 0;
        soc_buf_put_slice(name, segment);
        int next = openat(at, soc_buf_text(name), flags);
        if (at != directory)
            close(at);
        if (next < 0)
            return -1;
        at = next;
    }
    return at == directory ? -1 : at;
}

static void put_tag(struct soc_website_file *page)
{
    uint8_t digest[SOC_DIGEST_BYTES];
    struct soc_buf text = {0};
    soc_digest_sha256(digest, soc_buf_slice(&page->body));
    soc_buf_put_byte(&text, '"');
    soc_digest_put_hex(&text, digest, sizeof(digest));
    soc_buf_put_byte(&text, '"');
    memcpy(page->tag, text.data, text.length);
    page->tag[text.length] = '\0';
    soc_buf_fini(&text);
}

bool soc_website_find(const struct soc_website *pages, struct soc_slice path,
                      struct soc_website_file *page)
{
    struct soc_buf name = {0};
    bool is_found = false;
    *page = (struct soc_website_file){.type = HTML};
    if (pages->directory >= 0) {
        int file = open_path(pages->directory, path, &name);
        is_found = file >= 0 && read_all(file, &page->body);
        if (file >= 0)
            close(file);
        if (is_found)
            page->type = type_of(soc_buf_text(&name));
    } else if (soc_slice_equal(path, SOC_SLICE("/"))) {
        soc_buf_put_text(&page->body, absent);
        is_found = true;
    }
    if (is_found)
        put_tag(page);
    else
        soc_buf_fini(&page->body);
    soc_buf_fini(&name);
    return is_found;
}

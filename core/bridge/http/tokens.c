#include "bridge/http/tokens.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "env/ids.h"
#include "env/rng.h"
#include "kernel/operations/operation.h"

#define OWNER_FILE     "http.token"
#define TOKENS_FILE    "http.tokens"
#define DRAFT_FILE     "http.tokens.new"
#define SECRET_BYTES   32
#define PREFIX         "soc_"
#define FILE_BYTES_MAX (1u << 20)

struct soc_tokens {
    int directory; /* kept open: the path may be relative */
    char *key;     /* the owner's token */
    struct soc_digest *sha256;
    struct soc_token owner;
    struct soc_token *list;
    size_t count;
    struct stat seen; /* of TOKENS_FILE when it was read; all zero: it was not there */
};

static int fail_file(const char *directory, const char *name, struct soc_detail *detail)
{
    int code = errno == EACCES || errno == EPERM || errno == EROFS || errno == ELOOP ? SOC_EACCESS
               : errno == ENOENT                                                     ? SOC_ENOFILE
               : errno == ENOSPC || errno == EDQUOT                                  ? SOC_EDISKFULL
                                                                                     : SOC_EIO;
    return soc_fail(detail, code, "%s/%s: %s", directory, name, strerror(errno));
}

/* Appends a file; false with errno. */
static bool read_file(int directory, const char *name, struct soc_buf *out, struct stat *info)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is_read = fstat(file, info) == 0 && S_ISREG(info->st_mode);
    while (is_read && out->length < FILE_BYTES_MAX) {
        ssize_t got = read(file, soc_buf_reserve(out, 4096), 4096);
        if (got == 0)
            break;
        if (got > 0)
            out->length += (size_t)got;
        else
            is_read = errno == EINTR;
    }
    int error = errno;
    close(file);
    errno = error;
    return is_read;
}

/* Writes all of a new file and makes it durable; false with errno. */
static bool write_file(int file, struct soc_slice text)
{
    size_t done = 0;
    while (done < text.length) {
        ssize_t count = write(file, text.data + done, text.length - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        done += (size_t)count;
    }
    return fsync(file) == 0;
}

static void put_secret(struct soc_buf *out)
{
    uint8_t secret[SECRET_BYTES];
    soc_rng_system_bytes(secret, sizeof(secret));
    soc_buf_put_text(out, PREFIX);
    soc_digest_put_hex(out, secret, sizeof(secret));
}

/* Reads the owner's token, without white space at its end, into `out`. */
static bool read_owner(int directory, struct soc_buf *out)
{
    struct stat info;
    if (!read_file(directory, OWNER_FILE, out, &info))
        return false;
    while (out->length > 0 && (unsigned char)out->data[out->length - 1] <= ' ')
        out->length--;
    return true;
}

static bool make_owner(int directory, struct soc_buf *out)
{
    struct soc_buf line = {0};
    int file =
        openat(directory, OWNER_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    put_secret(out);
    soc_buf_put_slice(&line, soc_buf_slice(out));
    soc_buf_put_byte(&line, '\n');
    bool is_made = write_file(file, soc_buf_slice(&line));
    soc_buf_fini(&line);
    close(file);
    if (!is_made)
        unlinkat(directory, OWNER_FILE, 0);
    return is_made;
}

static bool read_scopes(struct soc_slice list, unsigned *scopes)
{
    struct soc_json_walk walk;
    *scopes = 0;
    soc_json_walk(&walk, list);
    while (soc_json_next(&walk)) {
        struct soc_slice name = soc_json_plain_string(walk.value);
        unsigned bit = 0;
#define S(tag, text, value)                                                                        \
    if (soc_slice_equal(name, SOC_SLICE(text)))                                                    \
        bit = (value);
        SOC_SCOPE_MAP(S)
#undef S
        if (bit == 0)
            return false;
        *scopes |= bit;
    }
    return *scopes != 0;
}

static void fini_token(struct soc_token *token)
{
    free(token->name);
    free(token->agent);
}

static void free_list(struct soc_token *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fini_token(&list[i]);
    free(list);
}

static bool read_token(struct soc_slice line, struct soc_token *token)
{
    if (soc_json_check(line, NULL) < 0)
        return false;
    struct soc_slice name = soc_json_plain_string(soc_json_member(line, "name"));
    struct soc_slice agent = soc_json_plain_string(soc_json_member(line, "as"));
    struct soc_slice hash = soc_json_plain_string(soc_json_member(line, "sha256"));
    if (name.data == NULL || !soc_id_is_valid(name) ||
        (agent.data != NULL && !soc_id_is_valid(agent)) || hash.data == NULL ||
        !soc_digest_read_hex(hash, token->digest, SOC_DIGEST_BYTES) ||
        !read_scopes(soc_json_member(line, "scopes"), &token->scopes))
        return false;
    token->name = soc_copy_text(name.data, name.length);
    token->agent = agent.data == NULL ? NULL : soc_copy_text(agent.data, agent.length);
    return true;
}

/* Takes the next line of a text; absent at its end. */
static struct soc_slice next_line(struct soc_slice *text)
{
    if (text->length == 0)
        return (struct soc_slice){0};
    const char *end = memchr(text->data, '\n', text->length);
    size_t length = end == NULL ? text->length : (size_t)(end - text->data);
    struct soc_slice line = soc_slice(text->data, length);
    size_t taken = end == NULL ? length : length + 1;
    *text = soc_slice(text->data + taken, text->length - taken);
    return line;
}

/* Reads the lines of TOKENS_FILE. Returns false if one is malformed. */
static bool read_list(struct soc_slice text, struct soc_token **list, size_t *count)
{
    struct soc_slice line;
    *list = NULL;
    *count = 0;
    while ((line = next_line(&text)).data != NULL) {
        struct soc_token token = {0};
        if (line.length == 0)
            continue;
        if (*count == SOC_WEB_TOKENS_MAX || !read_token(line, &token)) {
            free_list(*list, *count);
            return false;
        }
        *list = soc_realloc(*list, (*count + 1) * sizeof(**list));
        (*list)[(*count)++] = token;
    }
    return true;
}

/* Reads TOKENS_FILE if it has changed. Returns false if it cannot be used. */
static bool renew(struct soc_tokens *tokens)
{
    struct stat info = {0};
    struct soc_buf text = {0};
    struct soc_token *list = NULL;
    size_t count = 0;
    if (fstatat(tokens->directory, TOKENS_FILE, &info, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            return false;
        info = (struct stat){0};
    }
    if (info.st_ino == tokens->seen.st_ino && info.st_size == tokens->seen.st_size &&
        info.st_mtim.tv_sec == tokens->seen.st_mtim.tv_sec &&
        info.st_mtim.tv_nsec == tokens->seen.st_mtim.tv_nsec)
        return true;
    bool is_good = info.st_ino == 0 || (read_file(tokens->directory, TOKENS_FILE, &text, &info) &&
                                        read_list(soc_buf_slice(&text), &list, &count));
    soc_buf_fini(&text);
    tokens->seen = info; /* a malformed file is not read again and again */
    if (!is_good)
        return false;
    free_list(tokens->list, tokens->count);
    tokens->list = list;
    tokens->count = count;
    return true;
}

int soc_tokens_open(struct soc_tokens **out, const char *directory, struct soc_detail *detail)
{
    struct soc_buf key = {0};
    int handle = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return fail_file(directory, "", detail);
    bool is_there = read_owner(handle, &key) || (errno == ENOENT && make_owner(handle, &key));
    if (!is_there || key.length < SOC_SECRET_BYTES_MIN) {
        int rc = is_there ? soc_fail(detail, SOC_EINVAL,
                                     "%s/" OWNER_FILE " holds no token; remove it to have a new "
                                     "one made",
                                     directory)
                          : fail_file(directory, OWNER_FILE, detail);
        soc_buf_fini(&key);
        close(handle);
        return rc;
    }
    struct soc_tokens *tokens = soc_alloc_zero(sizeof(*tokens));
    tokens->directory = handle;
    tokens->key = soc_copy_text(key.data, key.length);
    tokens->sha256 = soc_digest_new();
    tokens->owner.name = soc_copy_text("owner", 5);
    tokens->owner.scopes = SOC_SCOPE_ALL;
    soc_digest_sha256(tokens->owner.digest, soc_buf_slice(&key));
    soc_buf_fini(&key);
    if (!renew(tokens)) {
        soc_tokens_free(tokens);
        return soc_fail(detail, SOC_EINVAL,
                        "%s/" TOKENS_FILE " is malformed; each line is written by `society token "
                        "add`",
                        directory);
    }
    *out = tokens;
    return SOC_OK;
}

void soc_tokens_free(struct soc_tokens *tokens)
{
    if (tokens == NULL)
        return;
    close(tokens->directory);
    explicit_bzero(tokens->key, strlen(tokens->key));
    free(tokens->key);
    soc_digest_free(tokens->sha256);
    fini_token(&tokens->owner);
    free_list(tokens->list, tokens->count);
    free(tokens);
}

static const struct soc_token *find_digest(struct soc_tokens *tokens,
                                           const uint8_t digest[SOC_DIGEST_BYTES])
{
    const struct soc_token *found = NULL;
    renew(tokens);
    if (soc_digest_equal(digest, tokens->owner.digest, SOC_DIGEST_BYTES))
        found = &tokens->owner;
    for (size_t i = 0; i < tokens->count; i++)
        if (soc_digest_equal(digest, tokens->list[i].digest, SOC_DIGEST_BYTES))
            found = &tokens->list[i];
    return found;
}

const struct soc_token *soc_tokens_find(struct soc_tokens *tokens, struct soc_slice shown)
{
    uint8_t digest[SOC_DIGEST_BYTES];
    soc_digest_run(tokens->sha256, digest, shown);
    return find_digest(tokens, digest);
}

bool soc_tokens_has(struct soc_tokens *tokens, const uint8_t digest[SOC_DIGEST_BYTES])
{
    return find_digest(tokens, digest) != NULL;
}

struct soc_slice soc_tokens_key(const struct soc_tokens *tokens)
{
    return soc_slice_text(tokens->key);
}

int soc_tokens_read_key(const char *directory, struct soc_buf *out, struct soc_detail *detail)
{
    int handle = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return fail_file(directory, "", detail);
    bool is_read = read_owner(handle, out);
    int rc = is_read ? SOC_OK : fail_file(directory, OWNER_FILE, detail);
    close(handle);
    return rc;
}

/* An edit of TOKENS_FILE: the draft is locked, so that two commands come one after the
 * other, and replaces the file as a whole. */
struct edit {
    int directory;
    int draft;
    struct soc_buf text; /* of the file as it is */
};

static void end_edit(struct edit *edit)
{
    if (edit->draft >= 0)
        close(edit->draft);
    if (edit->directory >= 0)
        close(edit->directory);
    soc_buf_fini(&edit->text);
}

/* Opens and locks the draft; another command may have renamed it while we waited. */
static int lock_draft(int directory)
{
    for (;;) {
        struct stat held;
        struct stat named;
        int draft = openat(directory, DRAFT_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (draft < 0)
            return -1;
        if (flock(draft, LOCK_EX) == 0 && fstat(draft, &held) == 0 &&
            fstatat(directory, DRAFT_FILE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            held.st_ino == named.st_ino)
            return draft;
        close(draft);
    }
}

static int begin_edit(struct edit *edit, const char *directory, struct soc_detail *detail)
{
    struct stat info;
    struct soc_token *list;
    size_t count;
    *edit = (struct edit){.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                          .draft = -1};
    if (edit->directory < 0)
        return soc_fail(detail, SOC_ENOFILE, "there is no society in %s; --state DIR names another",
                        directory);
    edit->draft = lock_draft(edit->directory);
    if (edit->draft < 0)
        return fail_file(directory, DRAFT_FILE, detail);
    if (!read_file(edit->directory, TOKENS_FILE, &edit->text, &info) && errno != ENOENT)
        return fail_file(directory, TOKENS_FILE, detail);
    if (!read_list(soc_buf_slice(&edit->text), &list, &count))
        return soc_fail(detail, SOC_EINVAL, "%s/" TOKENS_FILE " is malformed", directory);
    free_list(list, count);
    return SOC_OK;
}

static int commit_edit(const struct edit *edit, const char *directory, struct soc_slice text,
                       struct soc_detail *detail)
{
    if (ftruncate(edit->draft, 0) < 0 || !write_file(edit->draft, text) ||
        renameat(edit->directory, DRAFT_FILE, edit->directory, TOKENS_FILE) < 0 ||
        fsync(edit->directory) < 0)
        return fail_file(directory, TOKENS_FILE, detail);
    return SOC_OK;
}

/* Lends the line of the token with that name; absent if there is none. */
static struct soc_slice find_line(struct soc_slice text, const char *name)
{
    struct soc_slice line;
    while ((line = next_line(&text)).data != NULL)
        if (line.length > 0 && soc_slice_equal(soc_json_plain_string(soc_json_member(line, "name")),
                                               soc_slice_text(name)))
            return line;
    return (struct soc_slice){0};
}

/* Appends a list of names with commas as a JSON list. */
static void put_scopes(struct soc_buf *out, const char *scopes)
{
    soc_buf_put_byte(out, '[');
    while (*scopes != '\0') {
        size_t length = strcspn(scopes, ",");
        if (length > 0) {
            if (out->data[out->length - 1] != '[')
                soc_buf_put_byte(out, ',');
            soc_json_put_string(out, soc_slice(scopes, length));
        }
        scopes += length + (scopes[length] == ',');
    }
    soc_buf_put_byte(out, ']');
}

static int check_draft(const char *name, struct soc_slice scopes, const char *agent,
                       struct soc_detail *detail)
{
    unsigned bits;
    if (!soc_id_is_valid(soc_slice_text(name)) || strcmp(name, "owner") == 0)
        return soc_fail(detail, SOC_EINVAL,
                        "'%s' cannot be the name of a token: it is an id other than owner", name);
    if (!read_scopes(scopes, &bits))
        return soc_fail(detail, SOC_EINVAL,
                        "scopes are read, write, decide and operate, with commas between them");
    if (agent != NULL && !soc_id_is_valid(soc_slice_text(agent)))
        return soc_fail(detail, SOC_EINVAL, "'%s' is not an agent's id", agent);
    return SOC_OK;
}

static void put_line(struct soc_buf *out, const char *name, struct soc_slice scopes,
                     const char *agent, struct soc_slice token)
{
    struct soc_clock clock;
    struct soc_buf hash = {0};
    uint8_t digest[SOC_DIGEST_BYTES];
    soc_clock_init(&clock, false);
    soc_digest_sha256(digest, token);
    soc_digest_put_hex(&hash, digest, sizeof(digest));
    soc_buf_put_byte(out, '{');
    soc_json_put_text_member(out, "name", soc_slice_text(name));
    soc_json_put_name(out, "scopes");
    soc_buf_put_slice(out, scopes);
    soc_json_put_text_member(out, "as", soc_slice_text(agent));
    soc_json_put_text_member(out, "sha256", soc_buf_slice(&hash));
    soc_json_put_name(out, "created_at");
    soc_time_put_json(out, soc_clock_now(&clock));
    soc_buf_put_text(out, "}\n");
    soc_buf_fini(&hash);
}

int soc_tokens_add(const char *directory, const char *name, const char *scopes, const char *agent,
                   struct soc_buf *out, struct soc_detail *detail)
{
    struct soc_buf list = {0};
    struct edit edit = {.directory = -1, .draft = -1};
    size_t first = out->length;
    put_scopes(&list, scopes);
    int rc = check_draft(name, soc_buf_slice(&list), agent, detail);
    if (rc == SOC_OK)
        rc = begin_edit(&edit, directory, detail);
    if (rc == SOC_OK && find_line(soc_buf_slice(&edit.text), name).data != NULL)
        rc = soc_fail(detail, SOC_EEXISTS,
                      "there is a token named %s already; `society token remove %s` removes it",
                      name, name);
    if (rc == SOC_OK) {
        put_secret(out);
        put_line(&edit.text, name, soc_buf_slice(&list), agent,
                 soc_slice(out->data + first, out->length - first));
        rc = commit_edit(&edit, directory, soc_buf_slice(&edit.text), detail);
    }
    if (rc < 0)
        out->length = first;
    end_edit(&edit);
    soc_buf_fini(&list);
    return rc;
}

int soc_tokens_remove(const char *directory, const char *name, struct soc_detail *detail)
{
    struct edit edit = {.directory = -1, .draft = -1};
    struct soc_buf rest = {0};
    int rc = begin_edit(&edit, directory, detail);
    struct soc_slice text = soc_buf_slice(&edit.text);
    struct soc_slice line = {0};
    if (rc == SOC_OK && (line = find_line(text, name)).data == NULL)
        rc = soc_fail(detail, SOC_ENOFILE,
                      "there is no token named %s; `society token list` shows them", name);
    if (rc == SOC_OK) {
        const char *after = line.data + line.length;
        soc_buf_put(&rest, text.data, (size_t)(line.data - text.data));
        if (after < text.data + text.length)
            soc_buf_put(&rest, after + 1, (size_t)(text.data + text.length - after) - 1);
        rc = commit_edit(&edit, directory, soc_buf_slice(&rest), detail);
    }
    soc_buf_fini(&rest);
    end_edit(&edit);
    return rc;
}

int soc_tokens_list(const char *directory, struct soc_buf *out, struct soc_detail *detail)
{
    struct stat info;
    struct soc_buf text = {0};
    int handle = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return soc_fail(detail, SOC_ENOFILE, "there is no society in %s; --state DIR names another",
                        directory);
    int rc = SOC_OK;
    if (!read_file(handle, TOKENS_FILE, &text, &info) && errno != ENOENT)
        rc = fail_file(directory, TOKENS_FILE, detail);
    soc_buf_put_byte(out, '[');
    if (faccessat(handle, OWNER_FILE, F_OK, 0) == 0)
        soc_buf_put_text(
            out, "{\"name\":\"owner\",\"scopes\":[\"read\",\"write\",\"decide\",\"operate\"]}");
    struct soc_slice lines = soc_buf_slice(&text);
    struct soc_slice line;
    while ((line = next_line(&lines)).data != NULL) {
        if (line.length == 0 || soc_json_check(line, NULL) < 0)
            continue;
        if (out->data[out->length - 1] != '[')
            soc_buf_put_byte(out, ',');
        soc_json_put_changed(out, line, "sha256", (struct soc_slice){0});
    }
    soc_buf_put_byte(out, ']');
    soc_buf_fini(&text);
    close(handle);
    return rc;
}

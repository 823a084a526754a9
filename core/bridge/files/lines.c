#include "bridge/files/lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "env/clock.h"

#define CHUNK_BYTES 65536
#define WHOLE_BYTES_MAX                                                                            \
    16384 /* up to this much, all bytes read before are compared at each look                      \
           */

/* FNV-1a, which can be continued. */
#define SUM_START 0xcbf29ce484222325ull
#define SUM_PRIME 0x100000001b3ull

/* One look. */
struct look {
    struct soc_lines *lines;
    const struct soc_look_options *options;
    soc_line_cb *cb;
    void *user;
    int file;
    int64_t size;        /* read up to here */
    struct soc_buf rest; /* bytes after the position */
    int taken;
    int64_t bytes_left; /* to be read in this look */
    bool is_hash_due;   /* the position has moved, its hash has not */
    bool is_over;       /* a line was not taken */
    bool is_cut;        /* there is more than is to be read */
};

static ssize_t read_at(int file, void *out, size_t length, int64_t offset)
{
    ssize_t count;
    do
        count = pread(file, out, length, offset);
    while (count < 0 && errno == EINTR);
    return count;
}

/* Returns the hash of the bytes before `offset`; 0 if they are missing. */
static uint64_t hash_before(int file, int64_t offset)
{
    char bytes[SOC_LINES_TAIL_BYTES];
    size_t length = offset < (int64_t)sizeof(bytes) ? (size_t)offset : sizeof(bytes);
    if (read_at(file, bytes, length, offset - (int64_t)length) != (ssize_t)length)
        return 0;
    return soc_hash(bytes, length, 1);
}

static uint64_t add_up(uint64_t sum, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * SUM_PRIME;
    return sum;
}

/* Continues the hash with `length` zero bytes of a hole. */
static uint64_t add_up_hole(uint64_t sum, int64_t length)
{
    uint64_t factor = SUM_PRIME;
    for (; length > 0; length >>= 1, factor *= factor)
        if (length & 1)
            sum *= factor;
    return sum;
}

/* Returns how many bytes from `offset` on are a hole, up to `end`. */
static int64_t hole_at(int file, int64_t offset, int64_t end)
{
    off_t data = offset < end ? lseek(file, offset, SEEK_DATA) : offset;
    if (data < 0)
        data = errno == ENXIO ? end : offset;
    return (data < end ? data : end) - offset;
}

/* Tells whether a look has read enough bytes, or for long enough. */
static bool is_spent(const struct look *look)
{
    int64_t until_us = look->options->until_us;
    return look->bytes_left <= 0 || (until_us > 0 && soc_clock_monotonic_us() >= until_us);
}

/* Continues the hash with bytes of the file; 0 if they are missing. */
static uint64_t add_up_file(uint64_t sum, int file, int64_t from, int64_t to)
{
    char chunk[CHUNK_BYTES];
    while (from < to) {
        size_t length = to - from < CHUNK_BYTES ? (size_t)(to - from) : CHUNK_BYTES;
        ssize_t count = read_at(file, chunk, length, from);
        if (count <= 0)
            return 0;
        sum = add_up(sum, chunk, (size_t)count);
        from += count;
    }
    return sum;
}

static bool tell(struct look *look, enum soc_line_kind kind, int64_t offset, struct soc_slice text)
{
    struct soc_line line = {.kind = kind, .offset = offset, .text = text};
    return look->cb(look->user, &line);
}

static void go_to_start(struct soc_lines *lines)
{
    lines->offset = lines->scanned = lines->summed = 0;
    lines->hash = lines->sum = 0;
    lines->since_ms = 0;
    lines->is_torn = lines->is_long = false;
}

/* Makes the hash that of the position. */
static void renew_hash(struct look *look)
{
    look->lines->hash = hash_before(look->file, look->lines->offset);
    look->is_hash_due = false;
}

/* Moves the position on, but not its hash; `bytes` NULL: they were summed up. */
static void move_on(struct look *look, const char *bytes, int64_t length)
{
    struct soc_lines *lines = look->lines;
    uint64_t sum = lines->offset == 0 ? SUM_START : lines->sum;
    assert(bytes != NULL || lines->summed == lines->offset + length);
    lines->sum = bytes == NULL ? lines->summed_up : add_up(sum, bytes, (size_t)length);
    lines->offset += length;
    lines->scanned = lines->summed = lines->offset;
    lines->since_ms = 0;
    look->is_hash_due = true;
}

/* Advances past a line of `length` bytes including its end, and back if it is not taken. */
static bool pass(struct look *look, enum soc_line_kind kind, const char *bytes, int64_t length,
                 struct soc_slice text)
{
    struct soc_lines *lines = look->lines;
    struct soc_lines before = *lines;
    move_on(look, bytes, length);
    renew_hash(look);
    lines->is_torn = lines->is_long = false;
    if (tell(look, kind, before.offset, text))
        return true;
    before.is_torn |= lines->is_torn; /* the callback may have set it */
    *lines = before;
    return false;
}

static struct soc_slice trim(struct soc_slice text)
{
    while (text.length > 0 && memchr("\r \t", text.data[text.length - 1], 3) != NULL)
        text.length--;
    while (text.length > 0 && memchr(" \t", text.data[0], 2) != NULL)
        text = soc_slice(text.data + 1, text.length - 1);
    return text;
}

/* A byte order mark at the start of a file is not part of its first line. */
static struct soc_slice skip_mark(const struct soc_lines *lines, struct soc_slice text)
{
    if (lines->offset > 0 || text.length < 3 || memcmp(text.data, "\xef\xbb\xbf", 3) != 0)
        return text;
    return soc_slice(text.data + 3, text.length - 3);
}

/* Passes on the line at the position; `length` is without its newline, which follows
 * `text` unless that is absent. */
static void take(struct look *look, struct soc_slice text, int64_t length)
{
    assert(length >= 0);
    const struct soc_lines *lines = look->lines;
    const char *bytes = text.data;
    bool is_long = length > (int64_t)look->options->line_bytes_max;
    text = is_long ? text : trim(skip_mark(lines, text));
    if (!is_long && text.length == 0) {
        move_on(look, bytes, length + 1);
        return;
    }
    if (is_long)
        look->is_over = !pass(look, lines->is_long ? SOC_LINE_LONG_END : SOC_LINE_TOO_LONG, bytes,
                              length + 1, (struct soc_slice){0});
    else
        look->is_over = !pass(look, SOC_LINE_WHOLE, bytes, length + 1, text);
    look->taken += !look->is_over;
}

/* Takes the complete lines in `rest`. Returns false at the limit. What remains starts at
 * the position. */
static bool take_lines(struct look *look)
{
    struct soc_lines *lines = look->lines;
    size_t done = 0;
    size_t from = (size_t)(lines->scanned - lines->offset);
    bool is_first = true;
    while (!look->is_over && look->taken < look->options->lines_max &&
           (is_first || !is_spent(look))) {
        is_first = false;
        const char *start = look->rest.data + done;
        size_t left = look->rest.length - done;
        const char *end = from < left ? memchr(start + from, '\n', left - from) : NULL;
        from = 0;
        if (end == NULL) {
            lines->scanned = lines->offset + (int64_t)left;
            memmove(look->rest.data, start, left);
            look->rest.length = left;
            return true;
        }
        take(look, soc_slice(start, (size_t)(end - start)), end - start);
        done += (size_t)(end - start) + 1;
    }
    return false;
}

/* Sums up what was scanned of a line, which is no more than a look reads. */
static void sum_up_scanned(struct look *look)
{
    struct soc_lines *lines = look->lines;
    if (lines->summed <= lines->offset) {
        lines->summed = lines->offset;
        lines->summed_up = lines->offset == 0 ? SUM_START : lines->sum;
    }
    lines->summed_up = add_up_file(lines->summed_up, look->file, lines->summed, lines->scanned);
    lines->summed = lines->scanned;
}

/* Skips bytes of a long line that were read, or its hole (NULL). */
static void skip_bytes(struct soc_lines *lines, const char *bytes, int64_t length)
{
    lines->summed_up = bytes == NULL ? add_up_hole(lines->summed_up, length)
                                     : add_up(lines->summed_up, bytes, (size_t)length);
    lines->summed += length;
}

/* How the search for the end of a long line went. */
enum skip {
    SKIP_ENDED,
    SKIP_UNENDED, /* it has no end yet */
    SKIP_LATER,   /* it was not found in this look */
};

/* Looks for the end of a line that is too long to be held: SOC_LINE_TOO_LONG. A missing end
 * is reported once: the line cannot become shorter. */
static enum skip skip_long(struct look *look)
{
    struct soc_lines *lines = look->lines;
    char chunk[CHUNK_BYTES];
    sum_up_scanned(look);
    for (bool is_first = true; is_first || !is_spent(look); is_first = false) {
        int64_t hole = hole_at(look->file, lines->scanned, look->size);
        skip_bytes(lines, NULL, hole);
        lines->scanned += hole;
        ssize_t count = read_at(look->file, chunk, sizeof(chunk), lines->scanned);
        if (count <= 0 && !lines->is_long) {
            lines->is_long = true;
            tell(look, SOC_LINE_TOO_LONG, lines->offset, (struct soc_slice){0});
        }
        if (count <= 0)
            return SKIP_UNENDED;
        look->bytes_left -= count;
        const char *end = memchr(chunk, '\n', (size_t)count);
        if (end != NULL) {
            skip_bytes(lines, chunk, end - chunk + 1);
            take(look, (struct soc_slice){0}, lines->scanned + (end - chunk) - lines->offset);
            return SKIP_ENDED;
        }
        skip_bytes(lines, chunk, count);
        lines->scanned += count;
    }
    return SKIP_LATER;
}

/* Offers a last line without a newline after `wait_ms`. */
static void offer_rest(struct look *look)
{
    struct soc_lines *lines = look->lines;
    const struct soc_look_options *options = look->options;
    struct soc_slice text = trim(skip_mark(lines, soc_buf_slice(&look->rest)));
    if (look->rest.length == 0 || text.length == 0)
        return;
    if (lines->since_ms == 0) {
        lines->since_ms = options->now_ms;
        lines->is_torn = false;
    }
    if (lines->is_torn || look->rest.length > options->line_bytes_max ||
        (!options->is_last && options->now_ms - lines->since_ms < options->wait_ms))
        return;
    look->taken += pass(look, SOC_LINE_UNENDED, look->rest.data, (int64_t)look->rest.length, text);
}

/* Reads from the position. Returns true if there is more to take. */
static bool read_on(struct look *look)
{
    struct soc_lines *lines = look->lines;
    int64_t at = lines->offset;
    int64_t begun = lines->offset;
    int64_t scanned = lines->scanned;
    for (;;) {
        if (lines->scanned - lines->offset > (int64_t)look->options->line_bytes_max) {
            look->rest.length = 0;
            enum skip skip = skip_long(look);
            if (skip != SKIP_ENDED)
                return skip == SKIP_LATER;
            at = lines->offset;
        }
        if (lines->offset > begun && is_spent(look))
            return true;
        int64_t from = at + (int64_t)look->rest.length;
        int64_t left = look->is_cut ? look->size - from : CHUNK_BYTES;
        size_t length = left < CHUNK_BYTES ? (size_t)(left < 0 ? 0 : left) : CHUNK_BYTES;
        ssize_t count =
            read_at(look->file, soc_buf_reserve(&look->rest, CHUNK_BYTES), length, from);
        if (count <= 0)
            break;
        look->rest.length += (size_t)count;
        look->bytes_left -= count;
        if (!take_lines(look))
            return !look->is_over;
        at = lines->offset;
    }
    if (lines->scanned != scanned)
        lines->since_ms = 0;
    if (!look->is_cut)
        offer_rest(look);
    return look->is_cut;
}

/* Returns a hash of the metadata that changes whenever the file does. */
static uint64_t mark_of(const struct stat *info)
{
    int64_t facts[] = {(int64_t)info->st_ino, info->st_size,        info->st_mtim.tv_sec,
                       info->st_mtim.tv_nsec, info->st_ctim.tv_sec, info->st_ctim.tv_nsec};
    return soc_hash(facts, sizeof(facts), 1) | 1;
}

/* Whether what was read stands there still. */
enum fit {
    FIT_SAME,
    FIT_OTHER,
    FIT_LATER, /* not known in this look */
};

/* Sums up the bytes before the position, as far as one look does; false: there are more. */
static bool sum_up_read(struct look *look, const struct stat *info)
{
    struct soc_lines *lines = look->lines;
    char chunk[CHUNK_BYTES];
    if (lines->compared != info->st_ino) {
        lines->compared = info->st_ino;
        lines->compared_to = 0;
        lines->compared_sum = SUM_START;
    }
    for (bool is_first = true; lines->compared_to < lines->offset; is_first = false) {
        if (!is_first && is_spent(look))
            return false;
        int64_t hole = hole_at(look->file, lines->compared_to, lines->offset);
        lines->compared_sum = add_up_hole(lines->compared_sum, hole);
        lines->compared_to += hole;
        int64_t left = lines->offset - lines->compared_to;
        size_t length = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        ssize_t count = read_at(look->file, chunk, length, lines->compared_to);
        if (count < 0 || (count == 0 && left > 0)) { /* they are not there */
            lines->compared_sum = 0;
            break;
        }
        look->bytes_left -= count;
        lines->compared_sum = add_up(lines->compared_sum, chunk, (size_t)count);
        lines->compared_to += count;
    }
    lines->compared = 0;
    return true;
}

/* All of it is compared where that is cheap, and if it is another file: a line at the start
 * may be another one, and long ones may differ in nothing but their ids. */
static enum fit fit_of(struct look *look, const struct stat *info)
{
    struct soc_lines *lines = look->lines;
    bool is_due =
        lines->inode != info->st_ino || lines->offset <= WHOLE_BYTES_MAX || lines->sum == 0;
    if (lines->offset == 0)
        return FIT_SAME;
    if (hash_before(look->file, lines->offset) != lines->hash)
        return FIT_OTHER;
    if (!is_due)
        return FIT_SAME;
    if (!sum_up_read(look, info))
        return FIT_LATER;
    if (lines->sum == 0)
        lines->sum = lines->compared_sum; /* it was read by a version that did not add up */
    return lines->compared_sum == lines->sum ? FIT_SAME : FIT_OTHER;
}

/* Makes sure that the position still fits the file; false if that takes another look. */
static bool check_position(struct look *look, const struct stat *info)
{
    struct soc_lines *lines = look->lines;
    int64_t was = lines->offset;
    bool is_shorter = info->st_size < was;
    enum fit fit = is_shorter ? FIT_OTHER : fit_of(look, info);
    bool is_back = lines->inode == 0 && was > 0;
    if (fit == FIT_LATER)
        return false;
    if (lines->inode != info->st_ino || info->st_size < lines->scanned) {
        lines->scanned = lines->summed = lines->offset;
        lines->is_long = false;
    }
    lines->inode = info->st_ino;
    if (fit == FIT_SAME) {
        if (is_back)
            tell(look, SOC_LINE_RETURNED, was, (struct soc_slice){0});
        return true;
    }
    go_to_start(lines);
    tell(look, is_shorter ? SOC_LINE_TRUNCATED : SOC_LINE_REPLACED, was, (struct soc_slice){0});
    return true;
}

static void note_gone(struct look *look)
{
    struct soc_lines *lines = look->lines;
    lines->seen = 0;
    lines->is_unreadable = lines->is_behind = false;
    if (lines->inode == 0)
        return;
    lines->inode = 0;
    tell(look, SOC_LINE_REMOVED, lines->offset, (struct soc_slice){0});
}

static void note_odd(struct look *look, int code)
{
    const char *why = soc_workdir_reason(code);
    look->lines->is_behind = false;
    if (look->lines->is_unreadable)
        return;
    look->lines->is_unreadable = true;
    tell(look, SOC_LINE_UNREADABLE, look->lines->offset, soc_slice_text(why));
}

/* Returns true if the file is unchanged and nothing is pending. */
static bool is_settled(const struct soc_lines *lines, const struct soc_look_options *options,
                       uint64_t mark)
{
    if (lines->seen != mark || options->is_last)
        return false;
    return lines->since_ms == 0 || lines->is_torn ||
           options->now_ms - lines->since_ms < options->wait_ms;
}

/* Sets the end to read up to. Returns false if the file is not the one noted in `end`. */
static bool set_end(struct look *look, const struct stat *info)
{
    const struct soc_lines_end *end = look->options->end;
    look->is_cut = end != NULL && info->st_size > end->size;
    look->size = look->is_cut ? end->size : info->st_size;
    return end == NULL || end->inode == info->st_ino;
}

/* A line as long as it may be is read in one look, whatever its bound. */
static void set_bytes(struct look *look)
{
    int64_t line = (int64_t)look->options->line_bytes_max + 2 * CHUNK_BYTES;
    int64_t most = look->options->bytes_max;
    look->bytes_left = most == 0 ? INT64_MAX : most < line ? line : most;
}

void soc_lines_find_end(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_lines_end *end)
{
    struct stat info;
    *end = (struct soc_lines_end){0};
    if (fstatat(dir->folders[place], name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        *end = (struct soc_lines_end){.inode = info.st_ino, .size = info.st_size};
}

bool soc_lines_look(struct soc_lines *lines, const struct soc_look_options *options,
                    soc_line_cb *cb, void *user)
{
    assert(options->dir != NULL && options->name != NULL && cb != NULL);
    struct look look = {.lines = lines, .options = options, .cb = cb, .user = user};
    struct stat info;
    bool has_more = false;
    int folder = options->dir->folders[options->place];
    if (fstatat(folder, options->name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT)
            note_gone(&look);
        else
            note_odd(&look, -errno);
        return false;
    }
    if (is_settled(lines, options, mark_of(&info)))
        return false;
    look.file = soc_workdir_open_file(options->dir, options->place, options->name, O_RDONLY);
    if (look.file == -ENOENT)
        return false;
    if (look.file < 0) {
        note_odd(&look, look.file);
        return false;
    }
    lines->is_unreadable = false;
    if (fstat(look.file, &info) == 0) {
        lines->owner = info.st_uid;
        set_bytes(&look);
        has_more = !set_end(&look, &info);
        if (!has_more)
            has_more = !check_position(&look, &info) || read_on(&look);
        if (look.is_hash_due)
            renew_hash(&look);
        lines->seen = has_more || look.is_over ? 0 : mark_of(&info);
        lines->is_behind = has_more || look.is_over ||
                           (lines->since_ms != 0 && !lines->is_torn && !lines->is_long);
    }
    close(look.file);
    soc_buf_fini(&look.rest);
    return has_more;
}

void soc_lines_put_position(const struct soc_lines *lines, char out[SOC_LINES_POSITION_BYTES])
{
    snprintf(out, SOC_LINES_POSITION_BYTES,
             "%" PRId64 " %" PRIu64 " %016" PRIx64 " %" PRIu32 " %016" PRIx64, lines->offset,
             lines->inode, lines->hash, lines->epoch, lines->sum);
}

bool soc_lines_set_position(struct soc_lines *lines, struct soc_slice text)
{
    char copy[SOC_LINES_POSITION_BYTES];
    struct soc_lines read = {0};
    if (text.data == NULL || text.length >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    if (sscanf(copy, "%" SCNd64 " %" SCNu64 " %" SCNx64 " %" SCNu32 " %" SCNx64, &read.offset,
               &read.inode, &read.hash, &read.epoch, &read.sum) < 4 ||
        read.offset < 0)
        return false;
    read.scanned = read.offset;
    *lines = read;
    return true;
}

void soc_lines_key(const struct soc_lines *lines, const char *name, const struct soc_line *line,
                   char out[SOC_LINES_KEY_BYTES])
{
    assert(line->offset >= 0);
    uint64_t seed = soc_hash(name, strlen(name), 1);
    snprintf(out, SOC_LINES_KEY_BYTES, "line-%" PRIu32 "-%" PRId64 "-%016" PRIx64, lines->epoch,
             line->offset, soc_hash(line->text.data, line->text.length, seed));
}

void soc_lines_leave_torn(struct soc_lines *lines)
{
    lines->is_torn = true;
}

void soc_lines_begin_anew(struct soc_lines *lines)
{
    *lines = (struct soc_lines){.epoch = lines->epoch + 1};
}

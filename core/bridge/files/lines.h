/* Lines: reads a file that somebody else appends lines to, each line once.
 *
 * A position says how far the file was read: the offset, the inode, a hash of the bytes
 * right before the offset, and a hash of all bytes before it, which is checked if the file
 * is short or has another inode. The caller commits it with the effects of each line. If
 * the position does not match at the next look, the file was truncated or replaced; that is
 * reported, and reading starts over. Lines taken before stay taken: the same bytes at the
 * same offset of the same name are the same line (soc_lines_key), whether or not the file
 * was seen empty or missing in between, which is a matter of chance. A file that comes back
 * unchanged is continued. Only soc_lines_begin_anew makes its contents new.
 *
 * A last line without a newline waits. If it has not grown for `wait_ms`, it is offered as
 * `unended`: the caller takes it if it is complete, or leaves it until it has grown. One
 * that is refused for now is offered at each look. Carriage returns before a newline and a
 * byte order mark at the start of the file are not part of a line; empty lines are skipped.
 *
 * A look is bounded in lines, bytes and time; the next one continues. Holes of a sparse file
 * are skipped, not read: like any bytes without a newline they are part of a line, which
 * soon is too long.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_FILES_LINES_H
#define SOC_BRIDGE_FILES_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bridge/files/workdir.h"

/* Bytes before a position that must be unchanged to continue there. */
#define SOC_LINES_TAIL_BYTES 256

/* Room for a position as text. */
#define SOC_LINES_POSITION_BYTES 96

/* A file that others append to, and how far it was read. */
struct soc_lines {
    /* The position. */
    int64_t offset; /* of the next byte to be read */
    uint64_t inode; /* 0: there was no file at the last look */
    uint64_t hash;  /* of the bytes right before */
    uint64_t sum;   /* of all bytes before; 0: unknown */
    uint32_t epoch; /* how often it was started over */

    /* Valid until the next look. */
    int64_t scanned; /* no newline between `offset` and here */
    int64_t summed;  /* `summed_up` is the sum of all bytes before here */
    uint64_t summed_up;
    uint64_t compared;     /* inode of a file being compared with what was read; 0: none */
    int64_t compared_to;   /* compared so far */
    uint64_t compared_sum; /* of its bytes before `compared_to` */
    uint64_t seen;         /* hash of the file's metadata; 0: not seen */
    int64_t since_ms;      /* when the last, incomplete line last grew; 0: none */
    bool is_unreadable;    /* reported once */
    bool is_torn;          /* the last line was offered and is incomplete: reported once */
    bool is_long;          /* the last line is too long: reported once */
    bool is_behind;        /* a line was refused for now */
    uint32_t owner;        /* user id of the file's owner; valid while a line is taken */
};

/* The end of a file at some moment. */
struct soc_lines_end {
    uint64_t inode; /* 0: no file */
    int64_t size;
};

/* What a look can find. */
enum soc_line_kind {
    SOC_LINE_WHOLE,      /* `text` is a line */
    SOC_LINE_UNENDED,    /* `text` is a last line without newline that does not grow */
    SOC_LINE_TOO_LONG,   /* a line exceeds the limit and is skipped, ended or not */
    SOC_LINE_LONG_END,   /* the end of a line that was reported as too long */
    SOC_LINE_TRUNCATED,  /* the file is shorter than the part already read */
    SOC_LINE_REPLACED,   /* the bytes already read have changed */
    SOC_LINE_REMOVED,    /* the file is gone */
    SOC_LINE_RETURNED,   /* the file is back with the bytes already read */
    SOC_LINE_UNREADABLE, /* a link, a directory, no permission: see `text` */
};

/* A finding. */
struct soc_line {
    enum soc_line_kind kind;
    int64_t offset; /* start of the line, or the position */
    struct soc_slice text;
};

/* Receives one finding; the position is already after it. Returning false for a line means
 * that it is not taken: the look ends before it. */
typedef bool soc_line_cb(void *user, const struct soc_line *line);

/* Which file to look at, and how much of it at once. */
struct soc_look_options {
    const struct soc_workdir *dir; /* with `place` and `name`: the file */
    enum soc_place place;
    const char *name;
    size_t line_bytes_max;
    int lines_max;                   /* per look */
    int64_t bytes_max;               /* per look, but at least a line of line_bytes_max; 0: any */
    int64_t until_us;                /* of soc_clock_monotonic_us; 0: any time */
    int64_t now_ms;                  /* monotonic */
    int64_t wait_ms;                 /* for a newline */
    bool is_last;                    /* do not wait for a newline */
    const struct soc_lines_end *end; /* read up to here; NULL: all */
};

/* Stores the current end of a file in `end`. */
void soc_lines_find_end(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_lines_end *end);

/* Looks at a file and passes new lines to `cb`. Returns true if there is more to take at
 * once. An unchanged file costs one system call. */
bool soc_lines_look(struct soc_lines *lines, const struct soc_look_options *options,
                    soc_line_cb *cb, void *user);

/* For the callback: the unended line is incomplete. */
void soc_lines_leave_torn(struct soc_lines *lines);

/* Format a position as text, and parse it; false if the text is invalid. */
void soc_lines_put_position(const struct soc_lines *lines, char out[SOC_LINES_POSITION_BYTES]);
bool soc_lines_set_position(struct soc_lines *lines, struct soc_slice text);

/* Writes the key that identifies a line of the file `name`. */
#define SOC_LINES_KEY_BYTES 64
void soc_lines_key(const struct soc_lines *lines, const char *name, const struct soc_line *line,
                   char out[SOC_LINES_KEY_BYTES]);

/* Starts over: the file was archived, and its contents are new from now on. */
void soc_lines_begin_anew(struct soc_lines *lines);

#endif

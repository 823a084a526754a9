/* Lines: reads a file that somebody else appends lines to, each line once.
 *
 * A position says how far the file was read: the offset, which file it was (its inode), a
 * hash of the bytes right before the offset, and one of all bytes before it, which is looked
 * at if the file is short or another one. It is kept by whoever takes the lines,
 * together with what a line has led to. When the file is looked at again these must still
 * fit: a file that is shorter now, or holds other bytes there, was truncated or replaced;
 * that is told, and reading begins at the start of what is there now. What had been taken
 * before stays taken, whatever has become of the file: the same bytes in the same place of
 * the same name are the same line. Whether the file was seen to be empty or gone meanwhile
 * makes no difference, since that is a matter of chance. A file that comes back as it was is
 * gone on with; else each line is known again by soc_lines_key. Only soc_lines_begin_anew
 * says that what stands there is new.
 *
 * A last line without its newline waits. When it has not grown for `wait_ms` it is offered
 * as `unended`: a text that is complete in itself can be taken, another is left to wait, and
 * offered again when it has grown. One that is not taken for now is offered at each look.
 * Carriage returns before a newline and a byte order mark at the start of the file are not
 * part of a line; empty lines are none.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_FILES_LINES_H
#define SOC_BRIDGE_FILES_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "bridge/files/workdir.h"

/* Bytes before a position that must be the same to go on there. */
#define SOC_LINES_TAIL_BYTES 256

/* Room for a position as text. */
#define SOC_LINES_POSITION_BYTES 96

/* A file that others append to, and how far it was read. */
struct soc_lines {
    /* The position. */
    int64_t offset; /* of the next byte to be read */
    uint64_t inode; /* 0: the file was not there when it was looked for last */
    uint64_t hash;  /* of the bytes right before */
    uint64_t sum;   /* of all bytes before, 0: not known */
    uint32_t epoch; /* how often it was begun anew */

    /* What is known until the next look. */
    int64_t scanned;  /* no newline between `offset` and here */
    uint64_t seen;    /* a hash of the file's data in its folder, 0: not seen */
    int64_t since_ms; /* the last line has had its length since, 0: there is none */
    bool is_odd;      /* it cannot be read: told */
    bool is_torn;     /* its last line was offered and is not complete: told */
    bool is_long;     /* its last line is too long already: told */
    bool is_behind;   /* something stands there that was not taken and may be, soon */
    uint32_t owner;   /* the user whose file it is; known while a line is taken */
};

/* How far a file reached at some moment. */
struct soc_lines_end {
    uint64_t inode; /* 0: there was none */
    int64_t size;
};

/* What a look has found. */
enum soc_line_kind {
    SOC_LINE_WHOLE,     /* `text` is a line */
    SOC_LINE_UNENDED,   /* `text` is a last line that has no newline and does not grow */
    SOC_LINE_TOO_LONG,  /* a line is longer than it may be and is left out, with its end or not */
    SOC_LINE_LONG_END,  /* here ends one that was told of before its end */
    SOC_LINE_TRUNCATED, /* the file is shorter than what was read of it */
    SOC_LINE_REPLACED,  /* other bytes stand where it was read */
    SOC_LINE_REMOVED,   /* the file is gone */
    SOC_LINE_RETURNED,  /* it is back, with the bytes that were read */
    SOC_LINE_ODD,       /* a link, a directory, no permission: `text` says what */
};

/* One thing that a look has found. */
struct soc_line {
    enum soc_line_kind kind;
    int64_t offset; /* where the line begins, or what was read up to */
    struct soc_slice text;
};

/* Takes one line, or a note of the kinds behind. The position is behind it already. False
 * for a line: it is not taken, and the look ends in front of it. */
typedef bool soc_line_cb(void *user, const struct soc_line *line);

/* Which file is looked at, and how much of it at once. */
struct soc_look_options {
    const struct soc_workdir *dir; /* where the file is, and what it is called */
    enum soc_place place;
    const char *name;
    size_t line_bytes_max;
    int lines_max;                   /* of one look; the rest is for the next */
    int64_t now_ms;                  /* a clock that does not go back */
    int64_t wait_ms;                 /* for a newline */
    bool is_last;                    /* nobody writes any more: no waiting */
    const struct soc_lines_end *end; /* nothing beyond it; NULL: all there is */
};

/* Notes how far a file reaches now: what was written to another one before a line of this
 * one stands there when that is read up to here. */
void soc_lines_find_end(const struct soc_workdir *dir, enum soc_place place, const char *name,
                        struct soc_lines_end *end);

/* Looks at a file and has what is new taken. Tells whether there is more to be taken at
 * once. A file that has not changed costs one question to the system. */
bool soc_lines_look(struct soc_lines *lines, const struct soc_look_options *options,
                    soc_line_cb *cb, void *user);

/* For who is offered an unended line: it is not complete. */
void soc_lines_leave_torn(struct soc_lines *lines);

/* Writes the position as a text; reads one, false if it is none. */
void soc_lines_put_position(const struct soc_lines *lines, char out[SOC_LINES_POSITION_BYTES]);
bool soc_lines_set_position(struct soc_lines *lines, struct soc_slice text);

/* Writes the key that a line of the file `name` is known by again. */
#define SOC_LINES_KEY_BYTES 64
void soc_lines_key(const struct soc_lines *lines, const char *name, const struct soc_line *line,
                   char out[SOC_LINES_KEY_BYTES]);

/* The file was put away: what stands there from now on is new, whatever it says. */
void soc_lines_begin_anew(struct soc_lines *lines);

#endif

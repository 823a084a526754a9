/* Head: the rules for the head of an HTTP request.
 *
 * What one reader takes for one request and another for two can be used to hide requests
 * from a proxy. So a head is refused if there is any doubt about where its body ends, about
 * which host it is for, about what is a header, or about where a line ends.
 *
 * libmicrohttpd takes a line feed alone for the end of a line, cuts values at a NUL and
 * overwrites what divides words and lines. What stood there can still be told by how far
 * words stand apart: one byte on the request line, two between lines, four at the end.
 * Only a NUL at the end of a line can look the same as what belongs there.
 * Layer: net. Thread: any. */
#ifndef SOC_NET_HEAD_H
#define SOC_NET_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* What is known of a head; an all-zero struct has no headers yet. */
struct soc_head {
    size_t bytes;
    int fields;
    int lengths;
    int encodings;
    int hosts;
    uint64_t length;   /* of the body as announced; one in chunks has at least 1 */
    bool is_strange;   /* a length that is no number, or an encoding other than `chunked` */
    bool is_malformed; /* a name or a value has signs that do not belong there */
    bool is_loose;     /* something other than a line end stands between two lines */
    const char *end;   /* of what was read so far, where it was received; NULL: not known */
};

/* Takes the request line into account, whose words stand where they were received; so do
 * all names and values then, and what divides them is checked as well. */
void soc_head_begin(struct soc_head *head, struct soc_slice method, struct soc_slice target,
                    struct soc_slice version);

/* Takes one more header into account. */
void soc_head_add(struct soc_head *head, struct soc_slice name, struct soc_slice value);

/* Ends a head that was begun: where it ends is that far behind its first byte. */
void soc_head_end(struct soc_head *head, const char *first, size_t bytes);

/* Returns 0, or the status with which to refuse the request and a sentence. `target` is the
 * second word of the request line; `is_old`: HTTP/1.0. */
int soc_head_check(const struct soc_head *head, struct soc_slice target, bool is_old,
                   const char **sentence);

#endif

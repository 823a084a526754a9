/* Head: the rules for the head of an HTTP request.
 *
 * What one reader takes for one request and another for two can be used to hide requests
 * from a proxy. So a head is refused if there is any doubt about where its body ends, about
 * which host it is for, or about what is a header.
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
};

/* Takes one more header into account. */
void soc_head_add(struct soc_head *head, struct soc_slice name, struct soc_slice value);

/* Returns 0, or the status with which to refuse the request and a sentence. `target` is the
 * second word of the request line; `is_old`: HTTP/1.0. */
int soc_head_check(const struct soc_head *head, struct soc_slice target, bool is_old,
                   const char **sentence);

#endif

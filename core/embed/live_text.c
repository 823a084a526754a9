#include "embed/live_text.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "env/log.h"

#define TAIL_BYTES_MAX 1024 /* more than one line needs in any script */

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Returns the length of the character at `at`, from its first byte. */
static size_t length_at(const char *at, size_t left)
{
    size_t length = 1;
    while (length < left && is_continuation(at[length]))
        length++;
    return length;
}

/* Returns the columns of a character: East Asian characters and pictographs take two.
 * Combining marks count as one, so a line may be too short but never too long. */
static size_t columns_of(const char *at)
{
    return (unsigned char)*at >= 0xE1 ? 2 : 1;
}

static void cut_tail(struct soc_live_text *live)
{
    assert(live->tail.length <= live->tail.capacity);
    struct soc_buf *tail = &live->tail;
    if (tail->length <= TAIL_BYTES_MAX)
        return;
    live->is_cut = true;
    size_t drop = tail->length - TAIL_BYTES_MAX / 2;
    while (drop < tail->length && is_continuation(tail->data[drop]))
        drop++;
    tail->length -= drop;
    memmove(tail->data, tail->data + drop, tail->length);
}

void soc_live_text_add(struct soc_live_text *live, struct soc_slice name, struct soc_slice text)
{
    if (live->name.length == 0)
        soc_buf_put_slice(&live->name, name);
    for (size_t i = 0; i < text.length;) {
        size_t length = length_at(text.data + i, text.length - i);
        bool is_space = soc_log_harm_at(text, i) > 0;
        bool was_space = live->tail.length > 0 && live->tail.data[live->tail.length - 1] == ' ';
        if (!is_space)
            soc_buf_put(&live->tail, text.data + i, length);
        else if (!was_space)
            soc_buf_put_byte(&live->tail, ' ');
        live->characters++;
        i += length;
        cut_tail(live);
    }
}

void soc_live_text_put(const struct soc_live_text *live, size_t columns, struct soc_buf *out)
{
    if (live->tail.length == 0)
        return;
    size_t before = out->length;
    soc_buf_put_slice(out, soc_buf_slice(&live->name));
    soc_buf_printf(out, " (%llu): ", (unsigned long long)live->characters);
    size_t used = out->length - before;
    size_t room = used + 2 < columns ? columns - used - 2 : 0;
    size_t start = live->tail.length;
    size_t taken = 0;
    while (start > 0) {
        size_t at = start - 1;
        while (at > 0 && is_continuation(live->tail.data[at]))
            at--;
        taken += columns_of(live->tail.data + at);
        if (taken > room)
            break;
        start = at;
    }
    if (start > 0 || live->is_cut)
        soc_buf_put_text(out, "…");
    soc_buf_put(out, live->tail.data + start, live->tail.length - start);
}

void soc_live_text_fini(struct soc_live_text *live)
{
    soc_buf_fini(&live->name);
    soc_buf_fini(&live->tail);
}

#include "world/fleet_books.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bridge/links/frame.h"
#include "store/record.h"

#define FAULT_BYTES 256

/* How far a host has come with a peer. */
struct count {
    char *peer;
    uint64_t last;  /* the last item that was numbered for it */
    uint64_t taken; /* the last item of it that was taken */
};

/* What a batch that is not durable says about a peer. */
struct news {
    uint64_t sequence;
    size_t peer;
    uint64_t last;
    uint64_t taken;
};

/* A host. */
struct book {
    char *host;
    struct count *written; /* by peer: what all batches say … */
    struct count *durable; /* … and what is durable, at the same places */
    size_t count;
    struct soc_buf news; /* struct news, oldest first */
};

struct soc_fleet_books {
    const char *society;
    struct book **books; /* each stays where it is */
    size_t count;
    uint64_t checked;
    char fault[FAULT_BYTES];
};

static size_t place_of(struct book *book, struct soc_slice peer)
{
    for (size_t i = 0; i < book->count; i++)
        if (soc_slice_equal(soc_slice_text(book->written[i].peer), peer))
            return i;
    size_t bytes = (book->count + 1) * sizeof(struct count);
    book->written = soc_realloc(book->written, bytes);
    book->durable = soc_realloc(book->durable, bytes);
    book->written[book->count] = (struct count){.peer = soc_copy_text(peer.data, peer.length)};
    book->durable[book->count] = (struct count){0};
    return book->count++;
}

/* ---- what is written ---- */

static void note_record(struct book *book, uint64_t sequence, const struct soc_record *record)
{
    bool is_state = record->type == SOC_RECORD_LINK;
    size_t at = place_of(book, is_state ? record->link.peer : record->link_items.peer);
    struct count *written = &book->written[at];
    if (is_state) {
        written->last = record->link.last;
        written->taken = record->link.taken;
    } else {
        written->last = record->link_items.first + record->link_items.count - 1;
    }
    struct news news = {sequence, at, written->last, written->taken};
    soc_buf_put(&book->news, &news, sizeof(news));
}

static void note_sealed(void *user, uint64_t sequence, struct soc_slice batch)
{
    struct soc_record record;
    while (soc_record_next(&batch, &record) > 0)
        if (record.type == SOC_RECORD_LINK || record.type == SOC_RECORD_LINK_ITEMS)
            note_record(user, sequence, &record);
}

static void note_durable(void *user, uint64_t sequence)
{
    struct book *book = user;
    size_t done = 0;
    struct news news;
    for (; done < book->news.length; done += sizeof(news)) {
        memcpy(&news, book->news.data + done, sizeof(news));
        if (news.sequence > sequence)
            break;
        book->durable[news.peer].last = news.last;
        book->durable[news.peer].taken = news.taken;
    }
    if (done == 0)
        return;
    book->news.length -= done;
    memmove(book->news.data, book->news.data + done, book->news.length);
}

static void note_number(void *user, uint32_t number)
{
    (void)user;
    (void)number;
}

static void note_time(void *user, int64_t ms)
{
    (void)user;
    (void)ms;
}

static void note_id(void *user, struct soc_slice id)
{
    (void)user;
    (void)id;
}

static void note_call(void *user, struct soc_slice agent, struct soc_slice id)
{
    (void)user;
    (void)agent;
    (void)id;
}

/* ---- what leaves ---- */

static struct book *find(const struct soc_fleet_books *books, const char *host)
{
    for (size_t i = 0; i < books->count; i++)
        if (strcmp(books->books[i]->host, host) == 0)
            return books->books[i];
    return NULL;
}

static void fail(struct soc_fleet_books *books, const char *format, const char *host,
                 uint64_t number, const char *peer, uint64_t durable)
{
    if (books->fault[0] == '\0')
        snprintf(books->fault, sizeof(books->fault), format, host, number, peer, durable);
}

void soc_fleet_books_frame(void *user, const char *from, const char *to, struct soc_slice bytes)
{
    struct soc_fleet_books *books = user;
    struct book *book = find(books, from);
    struct soc_frame_keys keys = {.society = books->society, .sender = from, .receiver = to};
    struct soc_frame frame;
    struct soc_detail detail;
    assert(book != NULL);
    if (soc_frame_read(&frame, bytes, &keys, &detail) < 0) {
        fail(books, "a frame of %s, after %" PRIu64 " to %s, cannot be read", from, books->checked,
             to, 0);
        return;
    }
    const struct count *durable = &book->durable[place_of(book, soc_slice_text(to))];
    books->checked += frame.taken > 0;
    if (frame.taken > durable->taken)
        fail(books,
             "%s acknowledged item %" PRIu64 " of %s before it was durable; %" PRIu64
             " was the last",
             from, frame.taken, to, durable->taken);
    if (frame.count > 0 && frame.first + frame.count - 1 > durable->last)
        fail(books,
             "%s sent item %" PRIu64 " to %s before it was durable; %" PRIu64 " was the last", from,
             frame.first + frame.count - 1, to, durable->last);
}

const char *soc_fleet_books_fault(const struct soc_fleet_books *books, uint64_t *checked)
{
    *checked = books->checked;
    return books->fault[0] == '\0' ? NULL : books->fault;
}

/* ---- lifetime ---- */

struct soc_fleet_books *soc_fleet_books_new(const char *society)
{
    struct soc_fleet_books *books = soc_alloc_zero(sizeof(*books));
    books->society = society;
    return books;
}

struct soc_witness soc_fleet_books_add(struct soc_fleet_books *books, const char *host)
{
    struct book *book = soc_alloc_zero(sizeof(*book));
    book->host = soc_copy_text(host, strlen(host));
    books->books = soc_realloc(books->books, (books->count + 1) * sizeof(struct book *));
    books->books[books->count++] = book;
    return (struct soc_witness){
        .bounded = note_number,
        .windowed = note_time,
        .silenced = note_time,
        .headed = note_id,
        .sealed = note_sealed,
        .durable = note_durable,
        .called = note_call,
        .user = book,
    };
}

void soc_fleet_books_lose(struct soc_fleet_books *books, const char *host)
{
    struct book *book = find(books, host);
    assert(book != NULL);
    book->news.length = 0;
    /* What was written without being told durable comes again with the epoch of the next
     * start, which is durable before a frame leaves. */
}

void soc_fleet_books_free(struct soc_fleet_books *books)
{
    if (books == NULL)
        return;
    for (size_t i = 0; i < books->count; i++) {
        struct book *book = books->books[i];
        for (size_t k = 0; k < book->count; k++)
            free(book->written[k].peer);
        free(book->written);
        free(book->durable);
        free(book->host);
        soc_buf_fini(&book->news);
        free(book);
    }
    free(books->books);
    free(books);
}

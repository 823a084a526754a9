#include "store/reader.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "env/clock.h"
#include "store/tables/snapshots.h"

#define BUSY_US     100000 /* after a commit or a fold */
#define REST_SHARE  9      /* of the time that a page took, to rest after it */
#define REST_US_MIN 3000   /* a short page costs more outside this thread than in it */
#define REST_US_MAX 30000

#define SNAPSHOT_BYTES_MAX (32u << 20) /* that wait to be stored */

struct soc_reader {
    /* set at the start, then read by both */
    struct soc_loop *loop; /* lent */
    pthread_t thread;

    /* both: what the other threads ask all the time, so that they need not take the mutex,
     * which the reader may hold while it is not running */
    atomic_llong busy_until_us; /* the writer works, or did a moment before */
    atomic_bool is_held;
    atomic_bool has_news; /* an answer or a failure */
    atomic_bool has_left; /* there are snapshots */

    /* both, under `mutex` */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct soc_lookup *queue; /* to be answered, in order */
    struct soc_lookup **queue_end;
    struct soc_lookup *current; /* being answered */
    struct soc_lookup *answers; /* to be delivered, in order */
    struct soc_lookup **answers_end;
    int64_t rest_until_us;          /* only what is prompt is read before */
    struct soc_snapshot *snapshots; /* left by lookups */
    size_t snapshot_bytes;
    void (*on_left)(void *user);
    void *on_left_user;
    bool is_closing;
    bool is_failed;
    struct soc_detail failure;

    /* reader thread */
    struct soc_store *store; /* owned */
};

static void push(struct soc_lookup ***end, struct soc_lookup *lookup)
{
    lookup->next = NULL;
    **end = lookup;
    *end = &lookup->next;
}

/* Tells whether the reader still rests, so that lookups that are not prompt wait. */
static bool is_resting(const struct soc_reader *reader)
{
    int64_t now_us = soc_clock_monotonic_us();
    return now_us < reader->rest_until_us && now_us < atomic_load(&reader->busy_until_us);
}

/* Takes the first lookup that may be read now off the queue, or returns NULL. */
static struct soc_lookup *pop(struct soc_reader *reader)
{
    bool must_be_prompt = is_resting(reader);
    struct soc_lookup **at = &reader->queue;
    while (*at != NULL && must_be_prompt && !(*at)->query.is_prompt && !(*at)->is_dropped)
        at = &(*at)->next;
    struct soc_lookup *lookup = *at;
    if (lookup == NULL)
        return NULL;
    *at = lookup->next;
    if (*at == NULL)
        reader->queue_end = at;
    lookup->next = NULL;
    return lookup;
}

/* Notes how long to rest after a page. */
static void rest_after(struct soc_reader *reader, const struct soc_lookup *lookup, int64_t begin_us)
{
    int64_t now_us = soc_clock_monotonic_us();
    int64_t rest_us = (now_us - begin_us) * REST_SHARE;
    if (rest_us < REST_US_MIN)
        rest_us = REST_US_MIN;
    if (!lookup->query.is_prompt)
        reader->rest_until_us = now_us + (rest_us < REST_US_MAX ? rest_us : REST_US_MAX);
}

/* Waits for a change, or until the reader has rested. The mutex is held, and released
 * meanwhile. */
static void wait_for_change(struct soc_reader *reader)
{
    if (reader->queue == NULL || atomic_load(&reader->is_held)) {
        pthread_cond_wait(&reader->changed, &reader->mutex);
        return;
    }
    int64_t until_us = reader->rest_until_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&reader->changed, &reader->mutex, &until);
}

/* Takes the snapshots of a lookup over, unless too many wait to be stored. Returns whether
 * there were any. With the mutex held. */
static bool take_snapshots(struct soc_reader *reader, struct soc_lookup *lookup)
{
    struct soc_snapshot *snapshot = lookup->snapshots;
    if (snapshot == NULL)
        return false;
    lookup->snapshots = NULL;
    if (reader->snapshot_bytes > SNAPSHOT_BYTES_MAX) {
        soc_snapshots_free(snapshot);
        return false;
    }
    while (snapshot != NULL) {
        struct soc_snapshot *next = snapshot->next;
        reader->snapshot_bytes += snapshot->bytes.length;
        snapshot->next = reader->snapshots;
        reader->snapshots = snapshot;
        snapshot = next;
    }
    atomic_store(&reader->has_left, true);
    return true;
}

/* Reads one page for a lookup that was taken off the queue. The mutex is held, and released
 * meanwhile. */
static void serve(struct soc_reader *reader, struct soc_lookup *lookup)
{
    struct soc_detail detail = {0};
    bool was_dropped = lookup->is_dropped;
    int64_t begin_us = soc_clock_monotonic_us();
    reader->current = lookup;
    pthread_mutex_unlock(&reader->mutex);
    lookup->rc = was_dropped ? SOC_ECLOSED
                             : soc_lookup_step(lookup, reader->store, SOC_PAGE_US_MAX, &detail);
    pthread_mutex_lock(&reader->mutex);
    rest_after(reader, lookup, begin_us);
    if (take_snapshots(reader, lookup) && reader->on_left != NULL) {
        pthread_mutex_unlock(&reader->mutex); /* it takes the writer's */
        reader->on_left(reader->on_left_user);
        pthread_mutex_lock(&reader->mutex);
    }
    reader->current = NULL; /* until here it may be dropped */
    if (lookup->rc > 0) {
        push(&reader->queue_end, lookup);
        return;
    }
    if (soc_lookup_is_fatal(lookup->rc) && !reader->is_failed) {
        reader->is_failed = true;
        reader->failure = detail;
    }
    push(&reader->answers_end, lookup);
    atomic_store(&reader->has_news, true);
    /* Without the mutex: the loop, which may run at once in place of this, takes it. */
    pthread_mutex_unlock(&reader->mutex);
    soc_loop_wake(reader->loop);
    pthread_mutex_lock(&reader->mutex);
}

static void *run(void *user)
{
    struct soc_reader *reader = user;
    pthread_mutex_lock(&reader->mutex);
    while (!reader->is_closing) {
        struct soc_lookup *lookup = atomic_load(&reader->is_held) ? NULL : pop(reader);
        if (lookup == NULL)
            wait_for_change(reader);
        else
            serve(reader, lookup);
    }
    pthread_mutex_unlock(&reader->mutex);
    return NULL;
}

struct soc_reader *soc_reader_open(struct soc_store *store, struct soc_loop *loop)
{
    struct soc_reader *reader = soc_alloc_zero(sizeof(*reader));
    assert(loop != NULL);
    reader->store = store;
    reader->loop = loop;
    reader->queue_end = &reader->queue;
    reader->answers_end = &reader->answers;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = pthread_create(&reader->thread, NULL, run, reader);
    assert(rc == 0);
    (void)rc;
    return reader;
}

void soc_reader_on_left(struct soc_reader *reader, void (*on_left)(void *user), void *user)
{
    pthread_mutex_lock(&reader->mutex);
    reader->on_left = on_left;
    reader->on_left_user = user;
    pthread_mutex_unlock(&reader->mutex);
}

struct soc_snapshot *soc_reader_take_snapshots(struct soc_reader *reader)
{
    if (!atomic_load(&reader->has_left))
        return NULL;
    pthread_mutex_lock(&reader->mutex);
    struct soc_snapshot *snapshots = reader->snapshots;
    reader->snapshots = NULL;
    reader->snapshot_bytes = 0;
    atomic_store(&reader->has_left, false);
    pthread_mutex_unlock(&reader->mutex);
    return snapshots;
}

void soc_reader_add(struct soc_reader *reader, struct soc_lookup *lookup)
{
    pthread_mutex_lock(&reader->mutex);
    push(&reader->queue_end, lookup);
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
}

void soc_reader_hold(struct soc_reader *reader, bool is_held)
{
    if (atomic_exchange(&reader->is_held, is_held) == is_held)
        return;
    pthread_mutex_lock(&reader->mutex);
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
}

void soc_reader_note_work(struct soc_reader *reader, bool begins)
{
    atomic_store(&reader->busy_until_us, begins ? INT64_MAX : soc_clock_monotonic_us() + BUSY_US);
}

void soc_reader_drop(struct soc_reader *reader, const void *user)
{
    pthread_mutex_lock(&reader->mutex);
    for (struct soc_lookup *lookup = reader->queue; lookup != NULL; lookup = lookup->next)
        lookup->is_dropped |= lookup->user == user;
    if (reader->current != NULL && reader->current->user == user)
        reader->current->is_dropped = true;
    pthread_mutex_unlock(&reader->mutex);
}

struct soc_lookup *soc_reader_take(struct soc_reader *reader)
{
    if (!atomic_load(&reader->has_news))
        return NULL;
    pthread_mutex_lock(&reader->mutex);
    struct soc_lookup *answers = reader->answers;
    atomic_store(&reader->has_news, reader->is_failed);
    reader->answers = NULL;
    reader->answers_end = &reader->answers;
    pthread_mutex_unlock(&reader->mutex);
    return answers;
}

bool soc_reader_has_failed(struct soc_reader *reader, struct soc_detail *failure)
{
    if (!atomic_load(&reader->has_news))
        return false;
    pthread_mutex_lock(&reader->mutex);
    bool is_failed = reader->is_failed;
    if (is_failed)
        *failure = reader->failure;
    pthread_mutex_unlock(&reader->mutex);
    return is_failed;
}

struct soc_lookup *soc_reader_close(struct soc_reader *reader)
{
    if (reader == NULL)
        return NULL;
    pthread_mutex_lock(&reader->mutex);
    reader->is_closing = true;
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    pthread_join(reader->thread, NULL);
    for (struct soc_lookup *lookup = reader->queue; lookup != NULL; lookup = lookup->next)
        lookup->rc = SOC_ECLOSED;
    *reader->answers_end = reader->queue;
    struct soc_lookup *answers = reader->answers;
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
    soc_store_close(reader->store);
    soc_snapshots_free(reader->snapshots);
    free(reader);
    return answers;
}

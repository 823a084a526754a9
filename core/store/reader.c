#include "store/reader.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

#define NICE 10 /* of the thread */

struct soc_reader {
    /* set at the start, then read by both */
    struct soc_loop *loop; /* lent */
    pthread_t thread;

    /* both, under `mutex` */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct soc_lookup *queue; /* to be answered, in order */
    struct soc_lookup **queue_end;
    struct soc_lookup *current; /* being answered */
    struct soc_lookup *answers; /* to be delivered, in order */
    struct soc_lookup **answers_end;
    bool is_held;
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

static struct soc_lookup *pop(struct soc_reader *reader)
{
    struct soc_lookup *lookup = reader->queue;
    reader->queue = lookup->next;
    if (reader->queue == NULL)
        reader->queue_end = &reader->queue;
    lookup->next = NULL;
    return lookup;
}

/* Reads one page for the first lookup. The mutex is held, and released meanwhile. */
static void serve(struct soc_reader *reader)
{
    struct soc_lookup *lookup = pop(reader);
    struct soc_detail detail = {0};
    bool was_dropped = lookup->is_dropped;
    reader->current = lookup;
    pthread_mutex_unlock(&reader->mutex);
    lookup->rc = was_dropped ? SOC_ECLOSED
                             : soc_lookup_step(lookup, reader->store, SOC_PAGE_US_MAX, &detail);
    pthread_mutex_lock(&reader->mutex);
    reader->current = NULL;
    if (lookup->rc > 0) {
        push(&reader->queue_end, lookup);
        return;
    }
    if (soc_lookup_is_fatal(lookup->rc) && !reader->is_failed) {
        reader->is_failed = true;
        reader->failure = detail;
    }
    push(&reader->answers_end, lookup);
    soc_loop_wake(reader->loop);
}

/* Looks give way to those who work, where there are fewer processors than threads. */
static void be_modest(void)
{
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
}

static void *run(void *user)
{
    struct soc_reader *reader = user;
    be_modest();
    pthread_mutex_lock(&reader->mutex);
    while (!reader->is_closing) {
        if (reader->queue == NULL || reader->is_held)
            pthread_cond_wait(&reader->changed, &reader->mutex);
        else
            serve(reader);
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
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->changed, NULL);
    int rc = pthread_create(&reader->thread, NULL, run, reader);
    assert(rc == 0);
    (void)rc;
    return reader;
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
    pthread_mutex_lock(&reader->mutex);
    reader->is_held = is_held;
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
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
    pthread_mutex_lock(&reader->mutex);
    struct soc_lookup *answers = reader->answers;
    reader->answers = NULL;
    reader->answers_end = &reader->answers;
    pthread_mutex_unlock(&reader->mutex);
    return answers;
}

bool soc_reader_has_failed(struct soc_reader *reader, struct soc_detail *failure)
{
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
    free(reader);
    return answers;
}

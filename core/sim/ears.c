#include "sim/ears.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "env/rng.h"
#include "kernel/host.h"
#include "kernel/tap.h"

#define EARS_SEED   0x65617273ull
#define BREAKS_IN   8 /* one page in this many is cut off */
#define FULL_IN     3 /* after one in this many there is no room */
#define LEAVES_IN   4
#define FROM_NOW_IN 4

/* What an ear listens to. */
enum taste { ALL, MESSAGES, ROOT, TASTES };

struct ear {
    struct soc_ears *ears;
    struct soc_listener *listener; /* NULL: it does not listen */
    enum taste taste;
    bool is_from_now;
    bool has_begun;
    bool has_no_room;
    bool is_broken; /* nothing arrives any more, which the society does not know yet */
    uint64_t first; /* it was promised the lines after this one */
    uint64_t line;  /* where it begins again */
    uint64_t last;  /* the last line it has heard, */
    uint64_t hash;  /* and all of them */
};

struct soc_ears {
    struct soc_rng rng;
    struct soc_host *host; /* lent */
    struct ear *list;
    uint32_t count;
    bool is_ending; /* all have room */
    char fault[256];
};

__attribute__((format(printf, 2, 3))) static void complain(struct soc_ears *ears,
                                                           const char *format, ...)
{
    va_list arguments;
    if (ears->fault[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(ears->fault, sizeof(ears->fault), format, arguments);
    va_end(arguments);
}

static bool is_one_in(struct soc_ears *ears, uint64_t count)
{
    return !ears->is_ending && soc_rng_below(&ears->rng, count) == 0;
}

static uint32_t number_of(const struct ear *ear)
{
    return (uint32_t)(ear - ear->ears->list) + 1;
}

struct soc_ears *soc_ears_new(uint64_t seed, uint32_t count)
{
    struct soc_ears *ears = soc_alloc_zero(sizeof(*ears));
    assert(count > 0);
    soc_rng_init(&ears->rng, seed ^ EARS_SEED);
    ears->list = soc_alloc_zero(count * sizeof(*ears->list));
    ears->count = count;
    for (uint32_t i = 0; i < count; i++) {
        ears->list[i].ears = ears;
        ears->list[i].taste = (enum taste)soc_rng_below(&ears->rng, TASTES);
        ears->list[i].is_from_now = is_one_in(ears, FROM_NOW_IN);
    }
    return ears;
}

/* Leaves; what it begins with next is the last line it has heard. */
static void leave(struct ear *ear)
{
    if (ear->listener != NULL)
        soc_tap_leave(ear->listener);
    ear->listener = NULL;
    ear->is_broken = false;
    ear->has_no_room = false;
}

void soc_ears_part(struct soc_ears *ears)
{
    for (uint32_t i = 0; i < ears->count; i++)
        leave(&ears->list[i]);
    ears->host = NULL;
}

void soc_ears_join(struct soc_ears *ears, struct soc_host *host)
{
    assert(ears->host == NULL || ears->host == host);
    ears->host = host;
}

void soc_ears_free(struct soc_ears *ears)
{
    if (ears == NULL)
        return;
    soc_ears_part(ears);
    free(ears->list);
    free(ears);
}

static void hear(struct ear *ear, const struct soc_tap_line *line)
{
    bool is_next = ear->taste == ALL ? line->line == ear->line + 1 : line->line > ear->line;
    if (!is_next)
        complain(ear->ears, "listener %u heard line %llu after line %llu", number_of(ear),
                 (unsigned long long)line->line, (unsigned long long)ear->line);
    ear->line = ear->last = line->line;
    ear->hash = soc_hash(line->data.data, line->data.length, ear->hash);
}

static bool take(void *user, const struct soc_tap_line *lines, size_t count)
{
    struct ear *ear = user;
    struct soc_ears *ears = ear->ears;
    size_t heard = count;
    if (ear->has_no_room)
        complain(ears, "listener %u has no room and is handed lines", number_of(ear));
    if (ear->is_broken)
        return true; /* the society writes on, into nothing */
    ear->is_broken = is_one_in(ears, BREAKS_IN);
    if (ear->is_broken)
        heard = (size_t)soc_rng_below(&ears->rng, count);
    for (size_t i = 0; i < heard; i++)
        hear(ear, &lines[i]);
    if (ear->is_broken && ear->listener != NULL && is_one_in(ears, 2))
        leave(ear);
    ear->has_no_room = ear->listener != NULL && is_one_in(ears, FULL_IN);
    return !ear->has_no_room;
}

static void take_gone(void *user, uint64_t first)
{
    struct ear *ear = user;
    complain(ear->ears, "listener %u is told that lines before %llu are gone", number_of(ear),
             (unsigned long long)first);
}

static void listen(struct ear *ear)
{
    struct soc_tap_options options = {
        .after = ear->line, .take = take, .gone = take_gone, .user = ear};
    options.is_from_now = ear->is_from_now && !ear->has_begun;
    if (ear->taste == MESSAGES)
        options.events = SOC_SLICE("message.*");
    if (ear->taste == ROOT)
        options.agent = SOC_SLICE("root");
    ear->listener = soc_tap_listen(ear->ears->host, &options);
    if (options.is_from_now)
        ear->first = ear->line = soc_tap_cursor(ear->listener);
    ear->has_begun = true;
}

/* Leaves at the cursor that the tap gives, which may be after the last line that was for it. */
static void leave_at_cursor(struct ear *ear)
{
    uint64_t cursor = soc_tap_cursor(ear->listener);
    if (cursor < ear->line || (ear->taste == ALL && cursor != ear->line))
        complain(ear->ears, "listener %u is at line %llu by its cursor, and has heard line %llu",
                 number_of(ear), (unsigned long long)cursor, (unsigned long long)ear->line);
    ear->line = cursor;
    leave(ear);
}

void soc_ears_act(struct soc_ears *ears, uint32_t i)
{
    assert(i < ears->count && ears->host != NULL);
    struct ear *ear = &ears->list[i];
    if (ear->listener == NULL) {
        listen(ear);
    } else if (ear->is_broken) {
        leave(ear);
    } else if (is_one_in(ears, LEAVES_IN)) {
        if (is_one_in(ears, 2))
            leave_at_cursor(ear);
        else
            leave(ear);
    } else if (ear->has_no_room) {
        ear->has_no_room = false;
        soc_tap_more(ear->listener);
    }
}

void soc_ears_end(struct soc_ears *ears)
{
    ears->is_ending = true;
    for (uint32_t i = 0; i < ears->count; i++) {
        struct ear *ear = &ears->list[i];
        if (ear->is_broken)
            leave(ear);
        if (ear->listener == NULL || ear->has_no_room)
            soc_ears_act(ears, i);
    }
}

static bool is_member(struct soc_slice row, const char *name, const char *text)
{
    return soc_slice_equal(soc_json_plain_string(soc_json_member(row, name)), soc_slice_text(text));
}

/* Tells whether a row of the log is for the ear, without asking the tap. */
static bool is_for(const struct ear *ear, struct soc_slice row)
{
    static const char *const messages[] = {"sent",    "sent_again", "processed", "dead",
                                           "expired", "dropped",    "cancelled", "handed_over"};
    bool is_message = false;
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
        is_message = is_message || is_member(row, "event", messages[i]);
    switch (ear->taste) {
    case MESSAGES:
        return is_message;
    case ROOT:
        return is_member(row, "agent", "root") || is_member(row, "other", "root");
    default:
        return true;
    }
}

static void compare(struct ear *ear, struct soc_slice rows)
{
    struct soc_json_walk walk;
    uint64_t hash = 0;
    uint64_t last = 0;
    soc_json_walk(&walk, rows);
    while (soc_json_next(&walk)) {
        int64_t line = 0;
        soc_json_integer(soc_json_member(walk.value, "line"), &line);
        if ((uint64_t)line <= ear->first || !is_for(ear, walk.value))
            continue;
        last = (uint64_t)line;
        hash = soc_hash(walk.value.data, walk.value.length, hash);
    }
    if (last != ear->last)
        complain(ear->ears, "listener %u heard lines up to %llu of %llu", number_of(ear),
                 (unsigned long long)ear->last, (unsigned long long)last);
    else if (hash != ear->hash)
        complain(ear->ears, "listener %u heard other lines than are in the log", number_of(ear));
}

void soc_ears_compare(struct soc_ears *ears, struct soc_slice rows)
{
    for (uint32_t i = 0; i < ears->count; i++)
        compare(&ears->list[i], rows);
}

const char *soc_ears_fault(const struct soc_ears *ears)
{
    return ears->fault[0] == '\0' ? NULL : ears->fault;
}

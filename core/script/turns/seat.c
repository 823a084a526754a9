#include "script/turns/seat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "kernel/turns/waiting.h"
#include "worker/workers.h"

/* How long the loop waits for a worker: for one that answers at once it is the shortest way.
 * One that has been slow in this turn gets less. */
#define PATIENCE_US      500
#define SLOW_PATIENCE_US 50
#define RUN_PATIENCE_US  2000 /* in one run */

/* A turn of several questions is over its budget if doing it again takes so much CPU time: each
 * time that its worker is slow it is done again, and everybody waits for that. */
#define REDO_US     (SOC_HOST_SHARE_MS * 1000)
#define REDO_COUNT  16
#define LARGE_COUNT 3 /* if they are large */
#define LARGE_BYTES ((size_t)4 << 20)
#define HUGE_COUNT  2 /* if they are huge */
#define HUGE_BYTES  ((size_t)10 << 20)

/* After so much CPU time in all a worker is not kept. */
#define RETIRE_MS (SOC_WORKER_CPU_S_MAX * 1000 / 2)

/* A worker that uses no CPU time and says nothing for so long is given up. */
#define SILENCE_US 60000000

/* How often an activation may begin anew because the world changed under it, or its worker
 * was killed. */
#define STRAYS_MAX 16

/* One question of the worker. Places in the notes. */
struct note {
    size_t asked;
    size_t told;
    size_t given;
    size_t end;
};

/* An id that the worker was told, and the one that stands for it now. */
struct alias {
    char told[SOC_ITEM_ID_BYTES];
    char now[SOC_ITEM_ID_BYTES];
    size_t length;
};

struct soc_seat {
    struct soc_script *script;
    struct soc_worker *worker;         /* NULL: none */
    struct soc_agent *agent;           /* lent */
    struct soc_activation *activation; /* NULL: the worker is kept for the next one */
    struct soc_seat *older;            /* by last use */
    struct soc_seat *newer;
    struct soc_buf open; /* parts of the first frame */
    struct soc_buf run;
    struct soc_buf text; /* the notes */
    struct note *notes;
    size_t count;
    size_t capacity;
    size_t values; /* in all that was asked */
    size_t told;   /* notes whose answers the worker has got */
    size_t place;  /* notes that this run of the activation has passed */
    struct alias *aliases;
    size_t alias_count;
    int64_t waited_us;    /* by the loop, in this run */
    int64_t begun_us;     /* CPU time of the host when this run began */
    struct soc_buf asked; /* what is asked, with ids as they are now */
    bool is_slow;
    bool is_redone;    /* this run has come from the notes, and nothing else yet */
    bool is_kept;      /* the worker is a former activation's and has not spoken since */
    unsigned strays;   /* times that it had to begin anew */
    int64_t base_ms;   /* CPU time of the worker when the turn began */
    int64_t own_us;    /* CPU time that the host spent on the turn */
    int64_t used_ms;   /* CPU time of the turn, when it was last looked at */
    int64_t spoken_us; /* when the worker was last spoken to */
};

struct soc_seats {
    struct soc_map by_agent; /* those that are kept */
    struct soc_seat *oldest;
    struct soc_seat *newest;
    uint32_t workers;
};

void soc_seat_open(struct soc_script *script)
{
    assert(script->seats == NULL);
    script->seats = soc_alloc_zero(sizeof(*script->seats));
}

static void unlink_seat(struct soc_seats *seats, const struct soc_seat *seat)
{
    if (seat->older != NULL)
        seat->older->newer = seat->newer;
    else
        seats->oldest = seat->newer;
    if (seat->newer != NULL)
        seat->newer->older = seat->older;
    else
        seats->newest = seat->older;
}

static void link_newest(struct soc_seats *seats, struct soc_seat *seat)
{
    seat->older = seats->newest;
    seat->newer = NULL;
    if (seats->newest != NULL)
        seats->newest->newer = seat;
    else
        seats->oldest = seat;
    seats->newest = seat;
}

static void stop_worker(struct soc_seat *seat)
{
    if (seat->worker == NULL)
        return;
    soc_workers_stop(seat->worker);
    seat->worker = NULL;
    seat->script->seats->workers--;
}

static void free_seat(struct soc_seat *seat)
{
    stop_worker(seat);
    unlink_seat(seat->script->seats, seat);
    soc_buf_fini(&seat->open);
    soc_buf_fini(&seat->run);
    soc_buf_fini(&seat->text);
    soc_buf_fini(&seat->asked);
    free(seat->notes);
    free(seat->aliases);
    free(seat);
}

void soc_seat_fini(struct soc_script *script)
{
    while (script->seats->oldest != NULL)
        free_seat(script->seats->oldest);
    soc_map_fini(&script->seats->by_agent);
    free(script->seats);
    script->seats = NULL;
}

/* The worker has spoken, or died, while nobody listened. */
static void notice(void *user, struct soc_slice nothing)
{
    struct soc_seat *seat = user;
    (void)nothing;
    if (seat->activation != NULL) {
        soc_waiting_unstall(seat->script->host, seat->activation);
        return;
    }
    soc_map_take(&seat->script->seats->by_agent, soc_agent_id(seat->agent));
    free_seat(seat);
}

struct soc_seat *soc_seat_take(struct soc_script *script, struct soc_activation *activation,
                               struct soc_slice open, struct soc_slice run)
{
    struct soc_seats *seats = script->seats;
    struct soc_seat *seat = soc_map_take(&seats->by_agent, soc_agent_id(activation->agent));
    if (seat == NULL) {
        seat = soc_alloc_zero(sizeof(*seat));
        seat->script = script;
        seat->agent = activation->agent;
        link_newest(seats, seat);
    }
    assert(seat->activation == NULL && seat->count == 0);
    seat->activation = activation;
    seat->open.length = seat->run.length = 0;
    soc_buf_put_slice(&seat->open, open);
    soc_buf_put_slice(&seat->run, run);
    if (seat->worker != NULL) {
        seat->asked.length = 0;
        soc_buf_printf(&seat->asked, "{\"run\":%s}", soc_buf_text(&seat->run));
        seat->is_kept = soc_workers_say(seat->worker, soc_buf_slice(&seat->asked));
        if (!seat->is_kept)
            stop_worker(seat);
    }
    seat->strays = 0;
    soc_seat_renew(seat);
    return seat;
}

static void forget_notes(struct soc_seat *seat)
{
    if (seat->text.capacity > SOC_TEXT_BYTES_MAX)
        soc_buf_fini(&seat->text);
    seat->text.length = 0;
    seat->count = seat->values = seat->told = seat->place = seat->alias_count = 0;
}

void soc_seat_finish(struct soc_seat *seat)
{
    struct soc_seats *seats = seat->script->seats;
    forget_notes(seat);
    seat->activation = NULL;
    seat->is_slow = false;
    if (seat->worker == NULL || seat->agent->is_ended || seat->agent->is_ending ||
        soc_workers_cpu_ms(seat->worker) > RETIRE_MS) {
        free_seat(seat);
        return;
    }
    unlink_seat(seats, seat);
    link_newest(seats, seat);
    soc_map_put(&seats->by_agent, soc_agent_id(seat->agent), seat);
}

void soc_seat_drop(struct soc_seat *seat)
{
    free_seat(seat);
}

void soc_seat_rewind(struct soc_seat *seat)
{
    seat->place = 0;
    seat->alias_count = 0;
    seat->waited_us = 0;
    seat->begun_us = soc_workers_own_cpu_us();
    seat->is_redone = true;
}

void soc_seat_renew(struct soc_seat *seat)
{
    seat->base_ms = seat->worker == NULL ? 0 : soc_workers_cpu_ms(seat->worker);
    seat->own_us = 0;
    seat->is_slow = false;
    seat->spoken_us = soc_workers_clock_us();
}

void soc_seat_charge(struct soc_seat *seat, int64_t cpu_us)
{
    seat->own_us += cpu_us;
}

int64_t soc_seat_used_ms(const struct soc_seat *seat)
{
    return seat->used_ms;
}

/* Takes a worker from the agent that has not used its own for longest: a kept one, else one
 * that waits for somebody. False: all of them work. */
static bool make_room(struct soc_script *script)
{
    struct soc_seats *seats = script->seats;
    if (seats->workers < script->workers_max)
        return true;
    for (struct soc_seat *seat = seats->oldest; seat != NULL; seat = seat->newer) {
        if (seat->activation != NULL)
            continue;
        soc_map_take(&seats->by_agent, soc_agent_id(seat->agent));
        free_seat(seat);
        return true;
    }
    for (struct soc_seat *seat = seats->oldest; seat != NULL; seat = seat->newer) {
        if (seat->worker == NULL || seat->activation->state != SOC_ACTIVATION_WAITING)
            continue;
        stop_worker(seat);
        return true;
    }
    return false;
}

/* A new worker, which gets the answers of the notes again. */
static enum soc_seat_state start_worker(struct soc_seat *seat)
{
    struct soc_script *script = seat->script;
    struct soc_buf frame = {0};
    if (seat->strays > STRAYS_MAX)
        return SOC_SEAT_DEAD;
    if (soc_workers_are_busy(script->workers) || !make_room(script))
        return SOC_SEAT_BUSY;
    soc_buf_printf(&frame, "{\"open\":%s,", soc_buf_text(&seat->open));
    soc_buf_printf(&frame, "\"run\":%s}", soc_buf_text(&seat->run));
    if (frame.length <= SOC_WORKER_TOLD_BYTES_MAX)
        seat->worker = soc_workers_converse(script->workers, soc_buf_slice(&frame), notice, seat);
    soc_buf_fini(&frame);
    if (seat->worker == NULL)
        return SOC_SEAT_NONE;
    script->seats->workers++;
    unlink_seat(script->seats, seat);
    link_newest(script->seats, seat);
    seat->told = 0;
    soc_seat_renew(seat);
    seat->is_slow = true; /* the loop does not wait for its start */
    return SOC_SEAT_BUSY;
}

static struct soc_slice part(const struct soc_seat *seat, size_t from, size_t to)
{
    return soc_slice(seat->text.data + from, to - from);
}

static struct soc_slice asked_at(const struct soc_seat *seat, size_t place)
{
    return part(seat, seat->notes[place].asked, seat->notes[place].told);
}

static struct soc_slice told_at(const struct soc_seat *seat, size_t place)
{
    return part(seat, seat->notes[place].told, seat->notes[place].given);
}

static void say(struct soc_seat *seat, struct soc_slice answer)
{
    assert(seat->told < seat->count);
    seat->told++;
    seat->spoken_us = soc_workers_clock_us();
    if (soc_workers_say(seat->worker, answer))
        return;
    stop_worker(seat); /* it died while it waited: another one is told the same */
    seat->strays++;
}

/* Whether the worker may go on working. */
static enum soc_seat_state check_time(struct soc_seat *seat)
{
    int64_t used_us = (soc_workers_cpu_ms(seat->worker) - seat->base_ms) * 1000 + seat->own_us;
    seat->used_ms = used_us / 1000;
    if (used_us > (int64_t)seat->script->cpu_ms_max * 1000)
        return SOC_SEAT_OVER;
    bool is_silent = soc_workers_clock_us() - seat->spoken_us > SILENCE_US;
    return is_silent ? SOC_SEAT_DEAD : SOC_SEAT_BUSY;
}

/* The worker died while it was kept, which is nobody's fault. */
static enum soc_seat_state replace_worker(struct soc_seat *seat)
{
    seat->is_kept = false;
    stop_worker(seat);
    return start_worker(seat);
}

static enum soc_workers_heard listen_once(struct soc_seat *seat, struct soc_slice *said)
{
    int64_t wait_us = seat->is_slow ? SLOW_PATIENCE_US : PATIENCE_US;
    int64_t left_us = RUN_PATIENCE_US - seat->waited_us;
    int64_t began_us = soc_workers_clock_us();
    enum soc_workers_heard heard =
        soc_workers_listen(seat->worker, wait_us < left_us ? wait_us : left_us, said);
    seat->waited_us += soc_workers_clock_us() - began_us;
    return heard;
}

/* Listens to the worker until it asks what is not in the notes. */
static enum soc_seat_state listen(struct soc_seat *seat, struct soc_slice *said)
{
    for (;;) {
        enum soc_workers_heard heard = listen_once(seat, said);
        if (heard == SOC_WORKERS_DEATH && seat->is_kept)
            return replace_worker(seat);
        if (heard == SOC_WORKERS_DEATH)
            return SOC_SEAT_DEAD;
        if (heard == SOC_WORKERS_NOTHING)
            return check_time(seat);
        seat->is_kept = false;
        if (seat->told == seat->count)
            return SOC_SEAT_ASKED;
        if (!soc_slice_equal(*said, asked_at(seat, seat->told)))
            return SOC_SEAT_STRAYED;
        say(seat, told_at(seat, seat->told));
        if (seat->worker == NULL)
            return start_worker(seat);
        seat->base_ms = soc_workers_cpu_ms(seat->worker); /* each turn has its own budget */
    }
}

/* Notes what the worker asks, which may be anything. */
static enum soc_seat_state note_asked(struct soc_seat *seat, struct soc_slice said)
{
    struct soc_json_fault fault;
    size_t values = soc_json_count(said);
    if (values > SOC_WORKER_VALUES_MAX || soc_json_check(said, &fault) < 0 || said.data[0] != '[')
        return SOC_SEAT_DEAD;
    if (seat->text.length + said.length > seat->script->memory_bytes_max)
        return SOC_SEAT_FULL;
    if (seat->count == seat->capacity) {
        seat->capacity = seat->capacity == 0 ? 8 : seat->capacity * 2;
        seat->notes = soc_realloc(seat->notes, seat->capacity * sizeof(*seat->notes));
    }
    struct note *note = &seat->notes[seat->count];
    note->asked = seat->text.length;
    soc_buf_put_slice(&seat->text, said);
    note->told = note->given = note->end = seat->text.length;
    seat->values += values;
    return SOC_SEAT_ASKED;
}

/* Lends what is asked at `place`, with the ids that stand for those that the worker knows. */
static struct soc_slice translate(struct soc_seat *seat, size_t place)
{
    struct soc_slice asked = asked_at(seat, place);
    seat->asked.length = 0;
    soc_buf_put_slice(&seat->asked, asked);
    for (size_t i = 0; i < seat->alias_count; i++) {
        const struct alias *alias = &seat->aliases[i];
        char *at = seat->asked.data;
        char *end = at + seat->asked.length;
        while ((at = memmem(at, (size_t)(end - at), alias->told, alias->length)) != NULL) {
            memcpy(at, alias->now, alias->length);
            at += alias->length;
        }
    }
    return soc_buf_slice(&seat->asked);
}

/* Tells whether this run of the turn has taken the host long enough. */
static bool is_laborious(const struct soc_seat *seat)
{
    bool is_large = seat->text.length > LARGE_BYTES || seat->values > SOC_WORKER_VALUES_MAX;
    size_t enough = is_large ? LARGE_COUNT : REDO_COUNT;
    if (seat->text.length > HUGE_BYTES)
        enough = HUGE_COUNT;
    return seat->count >= enough && soc_workers_own_cpu_us() - seat->begun_us > REDO_US;
}

enum soc_seat_state soc_seat_hear(struct soc_seat *seat, struct soc_slice *asked)
{
    struct soc_slice said;
    enum soc_seat_state state = SOC_SEAT_ASKED;
    if (seat->place == seat->count) {
        if (is_laborious(seat))
            return seat->is_redone ? SOC_SEAT_LABOUR : SOC_SEAT_BUSY;
        seat->is_redone = false;
        state = seat->worker == NULL ? start_worker(seat) : listen(seat, &said);
        if (state == SOC_SEAT_ASKED)
            state = note_asked(seat, said);
        else if (state == SOC_SEAT_BUSY)
            seat->is_slow = true;
    }
    if (state == SOC_SEAT_ASKED)
        *asked = translate(seat, seat->place);
    return state;
}

enum soc_seat_state soc_seat_peek(struct soc_seat *seat)
{
    struct soc_slice said;
    if (seat->count == 0 || seat->worker == NULL || seat->told < seat->count)
        return SOC_SEAT_ASKED;
    enum soc_workers_heard heard = soc_workers_listen(seat->worker, 0, &said);
    return heard == SOC_WORKERS_NOTHING ? check_time(seat) : SOC_SEAT_ASKED;
}

struct soc_slice soc_seat_told(const struct soc_seat *seat)
{
    return seat->place < seat->count ? told_at(seat, seat->place) : (struct soc_slice){0};
}

struct soc_slice soc_seat_given(const struct soc_seat *seat)
{
    if (seat->place == seat->count)
        return (struct soc_slice){0};
    const struct note *note = &seat->notes[seat->place];
    return note->end == note->given ? (struct soc_slice){0} : part(seat, note->given, note->end);
}

/* Returns the length of the id of a message or another thing that begins inside the string
 * that holds `at`, 0 if there is none; `*start` becomes its first byte. */
static size_t find_id(struct soc_slice text, size_t at, size_t *start)
{
    static const char *const kinds[] = {"msg_", "chk_", "ack_", "item_"};
    size_t quote = at;
    while (quote > 0 && text.data[quote - 1] != '"')
        quote--;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t prefix = strlen(kinds[i]);
        size_t length = SOC_MESSAGE_ID_BYTES + prefix - 4;
        *start = quote;
        if (quote + length <= text.length && memcmp(text.data + quote, kinds[i], prefix) == 0)
            return length;
    }
    return 0;
}

static void add_alias(struct soc_seat *seat, const char *told, const char *now, size_t length)
{
    assert(length <= SOC_ITEM_ID_BYTES);
    seat->aliases = soc_realloc(seat->aliases, (seat->alias_count + 1) * sizeof(*seat->aliases));
    struct alias *alias = &seat->aliases[seat->alias_count++];
    memcpy(alias->told, told, length);
    memcpy(alias->now, now, length);
    alias->length = length;
}

/* Tells whether the answer is what the worker was told, but for the ids of what the turn has
 * made; these become aliases. */
static bool is_same(struct soc_seat *seat, struct soc_slice answer)
{
    struct soc_slice told = told_at(seat, seat->place);
    size_t start;
    if (answer.length != told.length)
        return false;
    for (size_t i = 0; i < told.length; i++) {
        if (answer.data[i] == told.data[i])
            continue;
        size_t length = find_id(told, i, &start);
        if (length == 0 || start + length <= i || memcmp(answer.data + start, told.data + start, 4))
            return false;
        add_alias(seat, told.data + start, answer.data + start, length);
        i = start + length - 1;
    }
    return true;
}

bool soc_seat_tell(struct soc_seat *seat, struct soc_slice answer, struct soc_slice given)
{
    if (seat->place < seat->count) {
        if (!is_same(seat, answer)) {
            stop_worker(seat);
            forget_notes(seat);
            seat->strays++;
            return false;
        }
        seat->place++;
        return true;
    }
    struct note *note = &seat->notes[seat->count];
    assert(note->end == seat->text.length);
    soc_buf_put_slice(&seat->text, answer);
    note->given = seat->text.length;
    soc_buf_put_slice(&seat->text, given);
    note->end = seat->text.length;
    seat->count++;
    seat->place++;
    if (seat->worker != NULL)
        say(seat, told_at(seat, seat->place - 1));
    return true;
}

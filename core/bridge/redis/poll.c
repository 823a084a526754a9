#include "bridge/redis/poll.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bridge/redis/intake.h"
#include "env/rng.h"
#include "kernel/gate.h"
#include "kernel/registry.h"

#define SOURCES_MAX 200       /* of one script */
#define ENTRIES_MAX "64"      /* of one source at a time */
#define REPLY_BYTES "1048576" /* about so much in one reply */
#define OWNER_MS    "10000"
#define FENCED_MS   1000 /* between looks while another society reads */
#define CROWD       4    /* agents for which a look may come a millisecond later */

#define START "0-0"
#define FIXED 7 /* arguments of the script before the sources */
#define EACH  4

/* KEYS: owner, epoch. ARGV: who we are, for how long, an epoch in case there is none, the one
 * that we know, how many entries of a source, how many bytes of all and of one; then for each
 * source its key, the stream of ours for a list, the place, and up to where to trim.
 *
 * An entry gets an id of its own only if the clock of Redis was set back below the place: then
 * the one after it. It is popped after it was added, so that an error loses nothing.
 *
 * Returns {status, epoch, the first source that was not looked at, then source number, id and
 * text of each entry}; a text begins with m, or with ! and says why it is none. An id of ! says
 * what is wrong with the source. */
static const char script[] =
    "local holder = redis.call('GET', KEYS[1]) "
    "if holder and holder ~= ARGV[1] then return {'held'} end "
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
    "redis.call('SET', KEYS[2], ARGV[3], 'NX') "
    "local epoch = redis.call('GET', KEYS[2]) "
    "if epoch ~= ARGV[4] then return {'epoch', epoch} end "
    "local count, room, most = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]) "
    "local out = {'ok', epoch, '0'} "
    "local function put(number, id, text) "
    "  out[#out + 1] = number; out[#out + 1] = id; out[#out + 1] = text "
    "  room = room - #text "
    "end "
    "local function kind(key) return redis.call('TYPE', key).ok end "
    "local function move(list, stream, place) "
    "  local left = count - redis.call('XLEN', stream) "
    "  while left > 0 do "
    "    local text = redis.call('LINDEX', list, -1) "
    "    if not text then return end "
    "    local time = redis.call('TIME') "
    "    local now = time[1] * 1000 + math.floor(time[2] / 1000) "
    "    local last = tonumber(place:match('^%d+')) "
    "    local id = '*' "
    "    if now <= last then id = string.format('%.0f-*', last + 1) end "
    "    local added = redis.pcall('XADD', stream, id, 'message', text) "
    "    if type(added) == 'table' then redis.call('XADD', stream, '*', 'message', text) end "
    "    redis.call('RPOP', list) "
    "    left = left - 1 "
    "  end "
    "end "
    "local function text_of(fields) "
    "  local text = #fields == 2 and fields[2] "
    "  for i = 1, #fields, 2 do "
    "    if fields[i] == 'message' then text = fields[i + 1] end "
    "  end "
    "  if not text then return '!an entry needs a field called message' end "
    "  if #text > most then return '!it has ' .. #text .. ' bytes; message_bytes allows ' .. most "
    "end "
    "  return 'm' .. text "
    "end "
    "local number = 0 "
    "for at = 8, #ARGV, 4 do "
    "  if room < 0 then out[3] = tostring(number); return out end "
    "  local key, taken, place, trim = unpack(ARGV, at, at + 3) "
    "  local stream, n = key, tostring(number) "
    "  local type_of_key = kind(key) "
    "  local wrong = taken ~= '' and type_of_key ~= 'list' or taken == '' and type_of_key ~= "
    "'stream' "
    "  if type_of_key ~= 'none' and wrong then put(n, '!', key .. ' holds a ' .. type_of_key) "
    "  else "
    "    wrong = false "
    "    if taken ~= '' then "
    "      stream = taken "
    "      local type_of_taken = kind(taken) "
    "      wrong = type_of_taken ~= 'none' and type_of_taken ~= 'stream' "
    "      if wrong then put(n, '!', taken .. ' holds a ' .. type_of_taken) "
    "      elseif type_of_key == 'list' then move(key, taken, place) end "
    "    end "
    "    if not wrong then "
    "      if trim ~= '' then redis.call('XTRIM', stream, 'MINID', trim) end "
    "      local entries = redis.call('XRANGE', stream, '(' .. place, '+', 'COUNT', count) "
    "      for _, entry in ipairs(entries) do "
    "        if room < 0 then break end "
    "        put(n, entry[1], text_of(entry[2])) "
    "      end "
    "    end "
    "  end "
    "  number = number + 1 "
    "end "
    "return out";

/* ---- sources ---- */

static void free_source(struct soc_redis_source *source)
{
    free(source->agent);
    free(source->key);
    free(source->taken);
    free(source->position);
    free(source);
}

static void set_place(char place[SOC_REDIS_PLACE_BYTES], struct soc_slice text)
{
    snprintf(place, SOC_REDIS_PLACE_BYTES, "%.*s", (int)text.length, text.data);
}

/* Takes the place from the journal if it is of this epoch. */
static void load_place(struct soc_redis_source *source)
{
    const struct soc_redis_door *door = source->door;
    struct soc_slice kept = soc_outside_position(door->host, soc_slice_text(source->position));
    size_t length = strlen(door->epoch);
    bool is_ours = length > 0 && kept.length > length + 1 &&
                   kept.length - length - 1 < SOC_REDIS_PLACE_BYTES &&
                   memcmp(kept.data, door->epoch, length) == 0 && kept.data[length] == ' ';
    set_place(source->place, is_ours ? soc_slice(kept.data + length + 1, kept.length - length - 1)
                                     : SOC_SLICE(START));
    set_place(source->calling, soc_slice_text(source->place));
    set_place(source->durable, soc_slice_text(source->place));
    set_place(source->trimmed, soc_slice_text(source->place));
}

void soc_redis_poll_load_places(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_source *source;
    while ((source = soc_map_each(&door->sources, &cursor)) != NULL)
        load_place(source);
}

static char *format_key(const char *format, const char *a, const char *b)
{
    char text[256];
    int length = snprintf(text, sizeof(text), format, a, b);
    assert(length > 0 && (size_t)length < sizeof(text));
    return soc_copy_text(text, (size_t)length);
}

static void need_source(struct soc_redis_door *door, enum soc_redis_kind kind,
                        const struct soc_agent *agent)
{
    static const char *const names[] = {"queue", "inbox", "outbox"};
    char position[128];
    snprintf(position, sizeof(position), "redis:%s:%s", names[kind], agent->id);
    struct soc_redis_source *source = soc_map_find(&door->sources, soc_slice_text(position));
    if (source == NULL) {
        source = soc_alloc_zero(sizeof(*source));
        source->door = door;
        source->kind = kind;
        source->agent = soc_copy_text(agent->id, agent->id_length);
        source->position = soc_copy_text(position, strlen(position));
        if (kind == SOC_REDIS_QUEUE) {
            source->key = format_key("helix:queue:%s%s", agent->id, "");
            source->taken = format_key("%staken:%s", door->prefix, agent->id);
        } else {
            source->key = format_key("agent:%s:%s", agent->id, names[kind]);
        }
        load_place(source);
        soc_map_put(&door->sources, soc_slice_text(source->position), source);
    }
    source->seen = door->walks;
}

/* Makes the list of sources: two for each agent inside, one for each outside this door leads
 * to. Those of agents that have ended are left. */
static void walk(struct soc_redis_door *door)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    struct soc_redis_source *source;
    door->is_changed = false;
    door->walks++;
    while ((agent = soc_registry_each(door->host, &cursor)) != NULL) {
        if (agent->is_external && soc_redis_door_find(door, soc_agent_id(agent)) != NULL)
            need_source(door, SOC_REDIS_OUTBOX, agent);
        if (agent->is_external || agent == soc_registry_user(door->host))
            continue;
        need_source(door, SOC_REDIS_QUEUE, agent);
        need_source(door, SOC_REDIS_INBOX, agent);
    }
    if (door->list_capacity < door->sources.count) {
        door->list_capacity = door->sources.count * 2;
        door->list =
            soc_realloc(door->list, door->list_capacity * sizeof(struct soc_redis_source *));
    }
    door->list_count = 0;
    for (cursor = 0; (source = soc_map_each(&door->sources, &cursor)) != NULL;) {
        if (source->seen == door->walks) {
            door->list[door->list_count++] = source;
        } else {
            soc_map_take(&door->sources, soc_slice_text(source->position));
            free_source(source);
        }
    }
    if (door->cursor >= door->list_count)
        door->cursor = 0;
}

/* ---- durability ---- */

static void note_durable(void *user)
{
    struct soc_redis_door *door = user;
    size_t cursor = 0;
    struct soc_redis_source *source;
    door->is_calling = false;
    if (door->is_stopped)
        return;
    while ((source = soc_map_each(&door->sources, &cursor)) != NULL)
        memcpy(source->durable, source->calling, sizeof(source->durable));
}

/* Asks once at a time: what comes meanwhile is asked about with the next poll. */
static void ask_durable(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_source *source;
    door->is_behind = door->is_calling;
    if (door->is_calling)
        return;
    while ((source = soc_map_each(&door->sources, &cursor)) != NULL)
        memcpy(source->calling, source->place, sizeof(source->calling));
    door->is_calling = true;
    soc_gate_when_durable(door->host, note_durable, door);
}

/* ---- polling ---- */

static void schedule(struct soc_redis_door *door, int64_t wait_ms)
{
    soc_alarm_set(door->poll_alarm, wait_ms);
}

/* Writes the least id behind a place; nothing if there is nothing new to remove. */
static void put_trim(struct soc_redis_source *source, char out[SOC_REDIS_PLACE_BYTES])
{
    uint64_t time_ms = 0;
    uint64_t number = 0;
    bool is_wanted = source->taken != NULL || source->door->settings->trims;
    out[0] = '\0';
    if (!is_wanted || strcmp(source->durable, source->trimmed) == 0 ||
        sscanf(source->durable, "%" SCNu64 "-%" SCNu64, &time_ms, &number) != 2 ||
        number == UINT64_MAX)
        return;
    snprintf(out, SOC_REDIS_PLACE_BYTES, "%" PRIu64 "-%" PRIu64, time_ms, number + 1);
    memcpy(source->trimmed, source->durable, sizeof(source->trimmed));
}

static bool can_take(const struct soc_redis_door *door)
{
    return !soc_host_is_full(door->host) && !soc_host_is_failed(door->host) &&
           !soc_host_is_saturated(door->host);
}

static void poll_now(struct soc_redis_door *door)
{
    struct soc_slice arguments[5 + FIXED + EACH * SOURCES_MAX];
    char trims[SOURCES_MAX][SOC_REDIS_PLACE_BYTES];
    char keys[2][160];
    char epoch[24];
    char bytes[24];
    size_t count = 0;
    if (door->is_changed)
        walk(door);
    snprintf(keys[0], sizeof(keys[0]), "%sowner", door->prefix);
    snprintf(keys[1], sizeof(keys[1]), "%sepoch", door->prefix);
    snprintf(epoch, sizeof(epoch), "%016" PRIx64, soc_rng_system_seed());
    snprintf(bytes, sizeof(bytes), "%" PRId64, door->settings->message_bytes);
    const char *const fixed[] = {
        "EVAL",   script, "2",         keys[0],     keys[1],     door->owner,
        OWNER_MS, epoch,  door->epoch, ENTRIES_MAX, REPLY_BYTES, bytes,
    };
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        arguments[count++] = soc_slice_text(fixed[i]);
    door->polled_from = door->cursor;
    for (size_t i = 0; i < SOURCES_MAX && door->cursor + i < door->list_count; i++) {
        struct soc_redis_source *source = door->list[door->cursor + i];
        put_trim(source, trims[i]);
        arguments[count++] = soc_slice_text(source->key);
        arguments[count++] = source->taken == NULL ? SOC_SLICE("") : soc_slice_text(source->taken);
        arguments[count++] = soc_slice_text(source->place);
        arguments[count++] = soc_slice_text(trims[i]);
        source->is_skipped = false;
    }
    door->is_polling =
        soc_redis_command(door->commands, arguments, count, door->take, door) == SOC_OK;
}

static void ring(void *user)
{
    struct soc_redis_door *door = user;
    if (door->is_stopped || door->is_polling || !soc_redis_is_up(door->commands))
        return;
    if (can_take(door))
        poll_now(door);
    else
        schedule(door, door->settings->poll_ms);
}

void soc_redis_poll_start(struct soc_redis_door *door)
{
    schedule(door, 0);
}

/* Another society holds the key `owner`: nothing is read and nothing said until it is gone. */
static void be_fenced(struct soc_redis_door *door)
{
    if (!door->is_fenced)
        soc_redis_door_log(door, SOC_LOG_ERROR, (struct soc_slice){0},
                           "another society with this name reads these keys; this one waits "
                           "until it has been gone for 10 s");
    door->is_fenced = true;
    door->is_ready = false;
    schedule(door, FENCED_MS);
}

static void note_wrong(struct soc_redis_source *source, struct soc_slice what)
{
    if (!source->is_wrong)
        soc_redis_door_log(source->door, SOC_LOG_WARN, soc_slice_text(source->agent),
                           "cannot be read: %.*s", (int)what.length, what.data);
    source->is_wrong = true;
}

/* Takes one entry, unless it must wait. */
static bool take_entry(struct soc_redis_source *source, struct soc_slice id, struct soc_slice text)
{
    if (soc_slice_equal(id, SOC_SLICE("!"))) {
        note_wrong(source, text);
        return false;
    }
    if (source->is_skipped || id.length == 0 || id.length >= SOC_REDIS_PLACE_BYTES ||
        text.length == 0)
        return false;
    source->is_wrong = false;
    source->is_skipped = !soc_redis_intake_take(source, id, text);
    if (!source->is_skipped)
        set_place(source->place, id);
    return !source->is_skipped;
}

static size_t read_count(struct soc_slice text)
{
    size_t number = 0;
    for (size_t i = 0; i < text.length && i < 9; i++)
        number = number * 10 + (size_t)(text.data[i] - '0');
    return number;
}

/* Returns whether any entry was taken. */
static bool take_entries(struct soc_redis_door *door, const struct soc_redis_reply *reply)
{
    bool is_any = false;
    for (size_t i = 3; i + 2 < soc_redis_reply_count(reply) && can_take(door); i += 3) {
        size_t number =
            door->polled_from + read_count(soc_redis_reply_text(soc_redis_reply_at(reply, i)));
        if (number >= door->list_count)
            continue;
        is_any |=
            take_entry(door->list[number], soc_redis_reply_text(soc_redis_reply_at(reply, i + 1)),
                       soc_redis_reply_text(soc_redis_reply_at(reply, i + 2)));
    }
    return is_any;
}

/* Chooses what is polled next, and when. */
static void go_on(struct soc_redis_door *door, size_t stopped_at, bool is_any)
{
    size_t next = stopped_at > 0 ? door->polled_from + stopped_at : door->polled_from + SOURCES_MAX;
    bool is_round = next >= door->list_count;
    door->cursor = is_round ? 0 : next;
    int64_t rest_ms = door->settings->poll_ms + (int64_t)(door->list_count / CROWD);
    if (door->list_count > SOURCES_MAX)
        rest_ms = is_round ? rest_ms : 1;
    schedule(door, is_any || stopped_at > 0 ? 0 : rest_ms);
}

static void take_reply(void *user, const struct soc_redis_reply *reply)
{
    struct soc_redis_door *door = user;
    door->is_polling = false;
    if (door->is_stopped || reply == NULL)
        return;
    if (soc_redis_door_is_refused(door, reply, &door->is_poll_stuck)) {
        schedule(door, FENCED_MS);
        return;
    }
    struct soc_slice status = soc_redis_reply_text(soc_redis_reply_at(reply, 0));
    door->is_poll_stuck = false;
    if (soc_slice_equal(status, SOC_SLICE("held"))) {
        be_fenced(door);
        return;
    }
    door->is_fenced = false;
    if (soc_slice_equal(status, SOC_SLICE("epoch"))) {
        soc_redis_door_set_epoch(door, soc_redis_reply_text(soc_redis_reply_at(reply, 1)));
        schedule(door, 0);
        return;
    }
    if (!door->is_ready)
        soc_redis_door_be_ready(door);
    bool is_any = take_entries(door, reply);
    if (is_any || door->is_behind)
        ask_durable(door);
    go_on(door, read_count(soc_redis_reply_text(soc_redis_reply_at(reply, 2))), is_any);
}

void soc_redis_poll_open(struct soc_redis_door *door)
{
    door->is_changed = true;
    door->take = take_reply;
    door->poll_alarm = soc_alarm_open(door->loop, "redis poll", ring, door);
}

void soc_redis_poll_close(struct soc_redis_door *door)
{
    size_t cursor = 0;
    struct soc_redis_source *source;
    while ((source = soc_map_each(&door->sources, &cursor)) != NULL)
        free_source(source);
    soc_map_fini(&door->sources);
    free(door->list);
    soc_alarm_close(door->poll_alarm);
}

#include "sim/outsiders.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "env/ids.h"
#include "kernel/mail/envelope.h"
#include "kernel/state.h"
#include "parts/outside/outside.h"
#include "sim/faults.h"
#include "store/journal.h"

#define OUTSIDERS_SEED 0x6f7574736964ull
#define WHILE_MS       50    /* maximal delay of an action */
#define LATE_MS        30000 /* maximal delay of a late one */
#define AGAIN_MS       5000  /* maximal delay before a lost one is repeated, or a line is read */
#define SILENT_MS      60000
#define ECHO_MS        20000 /* delay before an echo that may not be durable is repeated */
#define SILENCES_MAX   3

#define LINES_MAX 64

/* Of the name under which the place of a reader is kept. */
#define LINES_NAME_BYTES (SOC_ID_BYTES_MAX + 8)

enum deed { ACK_RECEIVED, ACK_PROCESSED, REPLY, ECHO, LINE };

/* A planned action of an outsider. */
struct act {
    struct soc_heap_item due;
    enum deed deed;
    uint64_t number; /* makes its external id */
    char message[SOC_MESSAGE_ID_BYTES];
    char agent[SOC_ID_BYTES_MAX + 1];
    uint64_t key;                       /* of the message */
    uint64_t said;                      /* ECHO: `lives` when it was last sent; 0: not sent yet */
    struct soc_buf echo;                /* ECHO: the payload */
    char to[SOC_ADDRESS_BYTES_MAX + 1]; /* the sender of the message; empty: the host */
};

/* Lines that an outsider has written down, for its door to read one by one. */
struct lines {
    struct lines *following;
    char agent[SOC_ID_BYTES_MAX + 1];
    char to[SOC_ADDRESS_BYTES_MAX + 1];
    int64_t count;
    int64_t next;    /* to be read, from 1 */
    bool is_planned; /* that is an action */
};

struct soc_outsiders {
    struct lines *lines; /* owned */
    struct soc_rng rng;
    struct soc_faults *faults;
    struct soc_outsiders_watch watch;
    struct soc_map deaf;   /* key of a message -> times it was not noticed, as a pointer */
    struct soc_host *host; /* the current one, lent */
    struct soc_heap acts;
    uint64_t next_number;
    uint64_t lives; /* starts of the society so far */
    int silences;
    int64_t silent_ms; /* until then no outsider receives or sends */
};

struct soc_outsiders *soc_outsiders_new(uint64_t seed, struct soc_faults *faults,
                                        const struct soc_outsiders_watch *watch)
{
    struct soc_outsiders *outsiders = soc_alloc_zero(sizeof(*outsiders));
    soc_rng_init(&outsiders->rng, seed ^ OUTSIDERS_SEED);
    outsiders->faults = faults;
    outsiders->watch = *watch;
    return outsiders;
}

static struct act *first_act(const struct soc_outsiders *outsiders)
{
    struct soc_heap_item *item = soc_heap_peek(&outsiders->acts);
    return item == NULL ? NULL : (void *)((char *)item - offsetof(struct act, due));
}

static void free_act(struct act *act)
{
    soc_buf_fini(&act->echo);
    free(act);
}

void soc_outsiders_free(struct soc_outsiders *outsiders)
{
    struct act *act;
    if (outsiders == NULL)
        return;
    while ((act = first_act(outsiders)) != NULL) {
        soc_heap_remove(&outsiders->acts, &act->due);
        free_act(act);
    }
    soc_heap_fini(&outsiders->acts);
    soc_map_fini(&outsiders->deaf);
    while (outsiders->lines != NULL) {
        struct lines *lines = outsiders->lines;
        outsiders->lines = lines->following;
        free(lines);
    }
    free(outsiders);
}

/* Draws whether a fault hits the message `id` of `agent` and logs it as `what`. */
static bool happens(struct soc_outsiders *outsiders, enum soc_fault_kind kind, const char *agent,
                    const char *id, const char *what)
{
    if (outsiders->faults == NULL || !soc_faults_happens(outsiders->faults, kind))
        return false;
    soc_faults_log(outsiders->faults, kind, soc_clock_date(&outsiders->host->clock),
                   soc_slice_text(agent), "%s %.*s", what, SOC_MESSAGE_ID_BYTES, id);
    return true;
}

/* Lends the payload to echo; absent if there is none or the host is the sender. */
static struct soc_slice echo_of(const struct soc_message *message)
{
    struct soc_slice payload = soc_message_payload(message);
    struct soc_slice echo = {0};
    if (message->from != NULL && payload.length > 0 && payload.data[0] == '{')
        echo = soc_json_member(payload, "echo");
    return echo.length > 0 && echo.data[0] == '{' ? echo : (struct soc_slice){0};
}

static void note_sender(struct act *act, const struct soc_message *message)
{
    if (message->from == NULL)
        return;
    assert(message->from->id_length < sizeof(act->to));
    memcpy(act->to, message->from->id, message->from->id_length);
}

/* Plans one action, or the same action twice. */
static void plan(struct soc_outsiders *outsiders, const struct soc_handout *handout, enum deed deed)
{
    uint64_t number = outsiders->next_number++;
    const char *agent = handout->agent->id;
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, handout->message);
    int copies = happens(outsiders, SOC_FAULT_DOUBLE, agent, id, "sends twice for") ? 2 : 1;
    for (int i = 0; i < copies; i++) {
        bool is_late = happens(outsiders, SOC_FAULT_DELAY, agent, id, "sends late for");
        struct act *act = soc_alloc_zero(sizeof(*act));
        act->deed = deed;
        act->number = number;
        act->key = handout->message->key;
        note_sender(act, handout->message);
        if (deed == ECHO)
            soc_buf_put_slice(&act->echo, echo_of(handout->message));
        memcpy(act->message, id, sizeof(id));
        assert(handout->agent->id_length < sizeof(act->agent));
        memcpy(act->agent, handout->agent->id, handout->agent->id_length);
        soc_heap_add(&outsiders->acts, &act->due,
                     soc_host_now(outsiders->host) + 1 +
                         (int64_t)soc_rng_below(&outsiders->rng, is_late ? LATE_MS : WHILE_MS));
    }
}

/* Plans to read the next line, if there is one. */
static void plan_line(struct soc_outsiders *outsiders, struct lines *lines)
{
    if (lines->is_planned || lines->next > lines->count)
        return;
    struct act *act = soc_alloc_zero(sizeof(*act));
    act->deed = LINE;
    memcpy(act->agent, lines->agent, sizeof(act->agent));
    lines->is_planned = true;
    soc_heap_add(&outsiders->acts, &act->due,
                 soc_host_now(outsiders->host) + 1 +
                     (int64_t)soc_rng_below(&outsiders->rng, AGAIN_MS));
}

static struct lines *find_lines(const struct soc_outsiders *outsiders, const char *agent)
{
    struct lines *lines = outsiders->lines;
    while (lines != NULL && strcmp(lines->agent, agent) != 0)
        lines = lines->following;
    return lines;
}

/* Returns a number that an agent's payload gives under a name; 0: none. */
static int64_t number_in(const struct soc_handout *handout, const char *name)
{
    struct soc_slice payload = soc_message_payload(handout->message);
    int64_t number = 0;
    if (handout->message->from == NULL || payload.length == 0 || payload.data[0] != '{' ||
        !soc_json_integer(soc_json_member(payload, name), &number))
        return 0;
    return number;
}

/* Tells whether the outsider takes no notice of it this time. */
static bool is_deaf(struct soc_outsiders *outsiders, const struct soc_handout *handout)
{
    uint64_t key = handout->message->key;
    intptr_t times = (intptr_t)soc_map_find_number(&outsiders->deaf, key);
    if (times >= number_in(handout, "deaf"))
        return false;
    soc_map_put_number(&outsiders->deaf, key, (void *)(times + 1));
    return true;
}

/* Writes down as many lines as the payload says, once. */
static void write_lines(struct soc_outsiders *outsiders, const struct soc_handout *handout)
{
    int64_t count = number_in(handout, "lines");
    if (count < 1 || find_lines(outsiders, handout->agent->id) != NULL)
        return;
    struct lines *lines = soc_alloc_zero(sizeof(*lines));
    memcpy(lines->agent, handout->agent->id, handout->agent->id_length);
    memcpy(lines->to, handout->message->from->id, handout->message->from->id_length);
    lines->count = count < LINES_MAX ? count : LINES_MAX;
    lines->next = 1;
    lines->following = outsiders->lines;
    outsiders->lines = lines;
    plan_line(outsiders, lines);
}

static bool deliver(void *user, const struct soc_handout *handout)
{
    struct soc_outsiders *outsiders = user;
    int64_t now_ms = soc_host_now(outsiders->host);
    const char *agent = handout->agent->id;
    char id[SOC_MESSAGE_ID_BYTES];
    soc_envelope_id(id, handout->message);
    outsiders->watch.handed(outsiders->watch.user, soc_agent_id(handout->agent),
                            handout->message->key, soc_slice(id, sizeof(id)));
    if (outsiders->silences < SILENCES_MAX &&
        happens(outsiders, SOC_FAULT_DEAD, agent, id,
                "all outside agents are silent for a minute from")) {
        outsiders->silences++;
        outsiders->silent_ms = now_ms + SILENT_MS;
    }
    if (now_ms < outsiders->silent_ms ||
        happens(outsiders, SOC_FAULT_DROP, agent, id, "never receives"))
        return true; /* sent, but never received */
    if (handout->is_broadcast)
        return true;
    write_lines(outsiders, handout);
    if (is_deaf(outsiders, handout))
        return true;
    /* A message received twice is handled twice. */
    int copies = happens(outsiders, SOC_FAULT_DOUBLE, agent, id, "receives twice") ? 2 : 1;
    for (; copies > 0; copies--) {
        plan(outsiders, handout, ACK_RECEIVED);
        if (handout->message->flags & SOC_MESSAGE_WANTS_REPLY)
            plan(outsiders, handout, REPLY);
        else
            plan(outsiders, handout, echo_of(handout->message).data ? ECHO : ACK_PROCESSED);
    }
    return true;
}

/* Reports what an outsider is about to send or ack. */
static void say(const struct soc_outsiders *outsiders, const char *agent, const char *external_id,
                const char *to)
{
    outsiders->watch.said(outsiders->watch.user, soc_slice_text(agent),
                          external_id == NULL ? (struct soc_slice){0} : soc_slice_text(external_id),
                          soc_slice_text(to));
}

static void report_ack(const struct soc_outsiders *outsiders, const struct act *act)
{
    outsiders->watch.acked(outsiders->watch.user, soc_slice_text(act->agent), act->key,
                           act->deed != ACK_RECEIVED);
}

static struct soc_slice name_place(char name[LINES_NAME_BYTES], const struct lines *lines)
{
    snprintf(name, LINES_NAME_BYTES, "sim:%s", lines->agent);
    return soc_slice_text(name);
}

/* Reads one line. Odd ones name nobody who is there, and are refused. What is refused for
 * now is read again later. */
static void read_line(struct soc_outsiders *outsiders, struct act *act)
{
    struct soc_host *host = outsiders->host;
    struct lines *lines = find_lines(outsiders, act->agent);
    struct soc_agent *agent = soc_outside_find(host, soc_slice_text(act->agent));
    char name[LINES_NAME_BYTES];
    char number[24];
    char to[32];
    struct soc_buf payload = {0};
    struct soc_buf answer = {0};
    lines->is_planned = false;
    if (agent == NULL || lines->next > lines->count)
        return;
    snprintf(number, sizeof(number), "%lld", (long long)lines->next);
    snprintf(to, sizeof(to), "nobody-%s", number);
    soc_buf_printf(&payload, "{\"text\":\"line\",\"once\":\"%s/line/%s\"}", act->agent, number);
    struct soc_outside_mail mail = {.send = {.payload = soc_buf_slice(&payload)}};
    mail.send.to = soc_slice_text(lines->next % 2 == 1 ? to : lines->to);
    struct soc_position position = {name_place(name, lines), soc_slice_text(number)};
    say(outsiders, act->agent, NULL, lines->next % 2 == 1 ? "" : lines->to);
    int rc = soc_outside_accept(host, agent, &mail, position, &answer);
    if (rc != SOC_EMAILBOX && rc != SOC_EDISKFULL)
        lines->next++;
    plan_line(outsiders, lines);
    soc_buf_fini(&payload);
    soc_buf_fini(&answer);
}

void soc_outsiders_join(struct soc_outsiders *outsiders, struct soc_host *host)
{
    struct soc_door door = {.user = outsiders, .deliver = deliver};
    outsiders->host = host;
    outsiders->lives++;
    soc_outside_open(host, &door);
    for (struct lines *lines = outsiders->lines; lines != NULL; lines = lines->following) {
        char name[LINES_NAME_BYTES];
        int64_t line = 0;
        struct soc_slice kept = soc_outside_position(host, name_place(name, lines));
        if (kept.length > 0)
            soc_json_integer(kept, &line);
        lines->next = line + 1;
        plan_line(outsiders, lines);
    }
}

int64_t soc_outsiders_due(const struct soc_outsiders *outsiders)
{
    const struct act *act = first_act(outsiders);
    return act == NULL ? 0 : act->due.due_ms;
}

static void reply(const struct soc_outsiders *outsiders, struct soc_agent *agent,
                  const struct act *act, struct soc_buf *answer)
{
    char own_id[32];
    snprintf(own_id, sizeof(own_id), "outside-%llu", (unsigned long long)act->number);
    struct soc_outside_mail mail = {
        .send = {.payload = SOC_SLICE("{\"text\":\"from outside\"}")},
        .answers = soc_slice(act->message, sizeof(act->message)),
    };
    mail.send.texts[SOC_TEXT_EXTERNAL_ID] = soc_slice_text(own_id);
    say(outsiders, act->agent, own_id, act->to);
    soc_outside_accept(outsiders->host, agent, &mail, (struct soc_position){0}, answer);
}

/* Sends the echo, with the same external id each time, and acks the message in the same
 * step. Returns true if the echo is finished: it was sent in this life of the society and
 * everything has become durable since. */
static bool echo(struct soc_outsiders *outsiders, struct soc_agent *agent, struct act *act)
{
    struct soc_host *host = outsiders->host;
    struct soc_buf answer = {0};
    char own_id[16 + SOC_MESSAGE_ID_BYTES];
    bool is_durable = host->batch.length == 0 && soc_journal_bytes(host->journal) == 0;
    if (act->said == outsiders->lives && is_durable && !soc_outside_is_awaited(host, act->key))
        return true;
    snprintf(own_id, sizeof(own_id), "echo-%.*s", SOC_MESSAGE_ID_BYTES, act->message);
    struct soc_outside_mail mail = {
        .send = {.to = soc_slice_text(act->to), .payload = soc_buf_slice(&act->echo)}};
    mail.send.texts[SOC_TEXT_EXTERNAL_ID] = soc_slice_text(own_id);
    say(outsiders, act->agent, own_id, act->to);
    int rc = soc_outside_accept(host, agent, &mail, (struct soc_position){0}, &answer);
    answer.length = 0;
    if (rc == SOC_OK) {
        report_ack(outsiders, act);
        soc_outside_ack(host, agent, soc_slice(act->message, sizeof(act->message)),
                        SOC_ACK_PROCESSED, (struct soc_position){0}, &answer);
        act->said = outsiders->lives;
    }
    soc_buf_fini(&answer);
    return rc < 0 && rc != SOC_EMAILBOX && rc != SOC_EDISKFULL;
}

/* Late and duplicate actions are refused, as they should be. */
static void perform(const struct soc_outsiders *outsiders, const struct act *act)
{
    struct soc_host *host = outsiders->host;
    struct soc_buf answer = {0};
    struct soc_slice id = soc_slice(act->message, sizeof(act->message));
    struct soc_agent *agent = soc_outside_find(host, soc_slice_text(act->agent));
    if (agent != NULL)
        report_ack(outsiders, act);
    if (agent != NULL && act->deed == REPLY)
        reply(outsiders, agent, act, &answer);
    else if (agent != NULL)
        soc_outside_ack(host, agent, id,
                        act->deed == ACK_RECEIVED ? SOC_ACK_RECEIVED : SOC_ACK_PROCESSED,
                        (struct soc_position){0}, &answer);
    soc_buf_fini(&answer);
}

bool soc_outsiders_act(struct soc_outsiders *outsiders, struct soc_host *host)
{
    struct act *act = first_act(outsiders);
    int64_t now_ms = soc_host_now(host);
    assert(host == outsiders->host); /* joined after every restart */
    if (act == NULL || act->due.due_ms > now_ms)
        return false;
    soc_heap_remove(&outsiders->acts, &act->due);
    if (act->deed == LINE) {
        read_line(outsiders, act);
        free_act(act);
        return true;
    }
    struct soc_agent *agent = soc_outside_find(host, soc_slice_text(act->agent));
    if (now_ms < outsiders->silent_ms ||
        happens(outsiders, SOC_FAULT_DROP, act->agent, act->message, "its message is lost for") ||
        (act->deed == ECHO && agent != NULL && !echo(outsiders, agent, act))) {
        /* It was lost, or may not be durable: repeat it. */
        int64_t later_ms = now_ms < outsiders->silent_ms ? outsiders->silent_ms : now_ms;
        if (act->said != 0)
            later_ms += ECHO_MS;
        soc_heap_add(&outsiders->acts, &act->due,
                     later_ms + 1 + (int64_t)soc_rng_below(&outsiders->rng, AGAIN_MS));
        return true;
    }
    if (act->deed != ECHO)
        perform(outsiders, act);
    free_act(act);
    return true;
}

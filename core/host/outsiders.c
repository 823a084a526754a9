#include "host/outsiders.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/mem.h"
#include "env/ids.h"
#include "host/envelope.h"
#include "host/faults.h"
#include "host/outside.h"
#include "host/state.h"

#define OUTSIDERS_SEED 0x6f7574736964ull
#define WHILE_MS       50    /* an outsider is done within this */
#define LATE_MS        30000 /* or within this, if it is late */
#define AGAIN_MS       5000  /* what was lost is said again within this */
#define SILENT_MS      60000
#define SILENCES_MAX   3

enum deed { ACK_RECEIVED, ACK_PROCESSED, REPLY };

/* Something an outsider will do. */
struct act {
    struct soc_heap_item due;
    enum deed deed;
    uint64_t number; /* its own id for what it says */
    char message[SOC_MESSAGE_ID_BYTES];
    char agent[SOC_ID_BYTES_MAX + 1];
};

struct soc_outsiders {
    struct soc_rng rng;
    struct soc_faults *faults;
    soc_handed_cb *cb;
    void *user;
    struct soc_host *host; /* of now */
    struct soc_heap acts;
    uint64_t next_number;
    int silences;
    int64_t silent_ms; /* until then none of them hears or says anything */
};

struct soc_outsiders *soc_outsiders_new(uint64_t seed, struct soc_faults *faults, soc_handed_cb *cb,
                                        void *user)
{
    struct soc_outsiders *outsiders = soc_alloc_zero(sizeof(*outsiders));
    soc_rng_init(&outsiders->rng, seed ^ OUTSIDERS_SEED);
    outsiders->faults = faults;
    outsiders->cb = cb;
    outsiders->user = user;
    return outsiders;
}

static struct act *first_act(const struct soc_outsiders *outsiders)
{
    struct soc_heap_item *item = soc_heap_peek(&outsiders->acts);
    return item == NULL ? NULL : (void *)((char *)item - offsetof(struct act, due));
}

void soc_outsiders_free(struct soc_outsiders *outsiders)
{
    struct act *act;
    if (outsiders == NULL)
        return;
    while ((act = first_act(outsiders)) != NULL) {
        soc_heap_remove(&outsiders->acts, &act->due);
        free(act);
    }
    soc_heap_fini(&outsiders->acts);
    free(outsiders);
}

static bool happens(struct soc_outsiders *outsiders, enum soc_fault_kind kind)
{
    return outsiders->faults != NULL && soc_faults_happens(outsiders->faults, kind);
}

/* Plans one deed, or two of the same. */
static void plan(struct soc_outsiders *outsiders, const struct soc_handout *handout, enum deed deed)
{
    uint64_t number = outsiders->next_number++;
    int copies = happens(outsiders, SOC_FAULT_DOUBLE) ? 2 : 1;
    for (int i = 0; i < copies; i++) {
        uint64_t most_ms = happens(outsiders, SOC_FAULT_DELAY) ? LATE_MS : WHILE_MS;
        struct act *act = soc_alloc_zero(sizeof(*act));
        act->deed = deed;
        act->number = number;
        soc_envelope_id(act->message, handout->message);
        memcpy(act->agent, handout->agent->id, handout->agent->id_length);
        soc_heap_add(&outsiders->acts, &act->due,
                     soc_host_now(outsiders->host) + 1 +
                         (int64_t)soc_rng_below(&outsiders->rng, most_ms));
    }
}

static bool deliver(void *user, const struct soc_handout *handout)
{
    struct soc_outsiders *outsiders = user;
    int64_t now_ms = soc_host_now(outsiders->host);
    outsiders->cb(outsiders->user, soc_agent_id(handout->agent));
    if (outsiders->silences < SILENCES_MAX && happens(outsiders, SOC_FAULT_DEAD)) {
        outsiders->silences++;
        outsiders->silent_ms = now_ms + SILENT_MS;
    }
    if (now_ms < outsiders->silent_ms || happens(outsiders, SOC_FAULT_DROP))
        return true; /* it went out, and was never seen */
    if (handout->is_broadcast)
        return true;
    plan(outsiders, handout, ACK_RECEIVED);
    if (handout->message->flags & SOC_MESSAGE_WANTS_REPLY)
        plan(outsiders, handout, REPLY);
    else
        plan(outsiders, handout, ACK_PROCESSED);
    return true;
}

void soc_outsiders_join(struct soc_outsiders *outsiders, struct soc_host *host)
{
    struct soc_door door = {.user = outsiders, .deliver = deliver};
    outsiders->host = host;
    soc_outside_open(host, &door);
}

int64_t soc_outsiders_due(const struct soc_outsiders *outsiders)
{
    const struct act *act = first_act(outsiders);
    return act == NULL ? 0 : act->due.due_ms;
}

static void reply(struct soc_host *host, struct soc_agent *agent, const struct act *act,
                  struct soc_buf *answer)
{
    char own_id[32];
    snprintf(own_id, sizeof(own_id), "outside-%llu", (unsigned long long)act->number);
    struct soc_outside_mail mail = {
        .send = {.payload = SOC_SLICE("{\"text\":\"from outside\"}")},
        .answers = soc_slice(act->message, sizeof(act->message)),
    };
    mail.send.texts[SOC_TEXT_EXTERNAL_ID] = soc_slice_text(own_id);
    soc_outside_accept(host, agent, &mail, (struct soc_position){0}, answer);
}

/* What comes too late, or twice, is refused, which is as it should be. */
static void perform(struct soc_host *host, const struct act *act)
{
    struct soc_buf answer = {0};
    struct soc_slice id = soc_slice(act->message, sizeof(act->message));
    struct soc_agent *agent = soc_outside_find(host, soc_slice_text(act->agent));
    if (agent != NULL && act->deed == REPLY)
        reply(host, agent, act, &answer);
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
    if (act == NULL || act->due.due_ms > now_ms)
        return false;
    soc_heap_remove(&outsiders->acts, &act->due);
    if (now_ms < outsiders->silent_ms || happens(outsiders, SOC_FAULT_DROP)) {
        /* Nobody heard it: it is said again. */
        int64_t later_ms = now_ms < outsiders->silent_ms ? outsiders->silent_ms : now_ms;
        soc_heap_add(&outsiders->acts, &act->due,
                     later_ms + 1 + (int64_t)soc_rng_below(&outsiders->rng, AGAIN_MS));
        return true;
    }
    perform(host, act);
    free(act);
    return true;
}

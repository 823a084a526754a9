/* Group messaging: the part for broadcasts and checkpoints. */
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/mail/passage.h"
#include "kernel/recover.h"
#include "kernel/registry.h"
#include "parts/group/barriers.h"
#include "parts/group/broadcasts.h"
#include "parts/group/group_state.h"

static void *open_group(struct soc_host *host)
{
    struct soc_group_state *group = soc_alloc_zero(sizeof(*group));
    struct soc_intern *types = &host->types.table;
    group->checkpoint_request = soc_intern_mark(types, SOC_SLICE("checkpoint_request"));
    group->checkpoint_response = soc_intern_mark(types, SOC_SLICE("checkpoint_response"));
    return group;
}

static void forget_load(struct soc_group_state *group)
{
    soc_map_fini(&group->hearing);
    soc_buf_fini(&group->heard);
    group->hearing = (struct soc_map){0};
}

static void free_group(struct soc_host *host)
{
    struct soc_group_state *group = soc_group_state(host);
    soc_broadcasts_free(host);
    soc_barriers_free(host);
    forget_load(group);
    free(group->broadcasters);
    free(group);
}

/* A broadcast that an agent took with `receive`. */
struct heard {
    uint64_t key;
    struct soc_agent *agent;
};

static bool is_open(const struct soc_host *host, uint64_t key)
{
    return soc_map_find_number(&soc_group_state(host)->broadcasts, key) != NULL;
}

/* Notes who holds a copy of a broadcast; the copy is made after loading. */
static void note_holder(struct soc_host *host, const struct soc_record *record)
{
    struct soc_group_state *group = soc_group_state(host);
    if (record->type == SOC_RECORD_TAKE && is_open(host, record->take.key)) {
        struct heard heard = {record->take.key, soc_registry_need(host, record->take.agent)};
        soc_buf_put(&group->heard, &heard, sizeof(heard));
    } else if (record->type == SOC_RECORD_ACTIVATION) {
        uint64_t key = record->activation.key;
        struct soc_slice id = soc_agent_id(soc_registry_need(host, record->activation.agent));
        soc_map_take(&group->hearing, id);
        if (is_open(host, key))
            soc_map_put(&group->hearing, id, (void *)(uintptr_t)key);
    }
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    switch (record->type) {
    case SOC_RECORD_MESSAGE:
        if (record->message.flags & SOC_MESSAGE_IS_BROADCAST)
            soc_broadcasts_restore(host, soc_recover_message(host, &record->message));
        break;
    case SOC_RECORD_MESSAGE_END:
        soc_broadcasts_forget(host, record->message_end.key);
        break;
    case SOC_RECORD_BROADCAST_END:
        if (record->broadcast_end.agent.data != NULL)
            soc_broadcasts_restore_end(host, record->broadcast_end.key,
                                       soc_registry_need(host, record->broadcast_end.agent));
        break;
    case SOC_RECORD_BARRIER:
        soc_barriers_restore(host, &record->barrier,
                             soc_registry_need(host, record->barrier.owner));
        break;
    case SOC_RECORD_SEAT:
        soc_barriers_restore_seat(host, &record->seat, soc_registry_need(host, record->seat.agent));
        break;
    case SOC_RECORD_BARRIER_END:
        soc_barriers_forget(host, record->barrier_end.key);
        break;
    default:
        note_holder(host, record);
        break;
    }
    return SOC_OK;
}

/* Gives activations back the copies of broadcasts they held. */
static void loaded(struct soc_host *host)
{
    struct soc_group_state *group = soc_group_state(host);
    size_t cursor = 0;
    struct soc_agent *agent;
    soc_broadcasts_count_left(host);
    while (group->hearing.count > 0 &&
           (agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        uint64_t key = (uintptr_t)soc_map_find(&group->hearing, soc_agent_id(agent));
        if (key != 0 && agent->activation != NULL)
            agent->activation->message = soc_broadcasts_hold(host, key, agent);
    }
    const struct heard *heard = (const void *)group->heard.data;
    for (size_t i = 0; i < group->heard.length / sizeof(*heard); i++) {
        struct soc_activation *activation = heard[i].agent->activation;
        struct soc_message *message =
            activation == NULL ? NULL : soc_broadcasts_hold(host, heard[i].key, heard[i].agent);
        if (message != NULL)
            soc_message_list_push(&activation->taken, message);
    }
    soc_broadcasts_resume(host);
    forget_load(group);
}

/* A reply to a checkpoint's question names the checkpoint. */
static void prepare(struct soc_host *host, struct soc_passage *p)
{
    bool has_type = p->send.type.data != NULL || p->adopted.type.data != NULL;
    if (p->send.answers != NULL || p->send.answers_key != 0)
        p->is_formal_reply = soc_barriers_name_reply(host, &p->send, has_type, &p->payload);
}

static int complete(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    if (p->to == NULL)
        return soc_broadcasts_check(host, p->from, &p->send, error);
    if (p->type == soc_group_state(host)->checkpoint_response && p->send.answers == NULL &&
        p->send.answers_key == 0)
        soc_barriers_join(host, p->from, p->to, &p->send);
    p->send.is_formal |= p->is_formal_reply; /* it makes nobody known to anybody */
    return SOC_OK;
}

static int sent(struct soc_host *host, const struct soc_passage *p, struct soc_message *message,
                struct soc_buf *error)
{
    return p->to != NULL ? SOC_OK : soc_broadcasts_open(host, message, error);
}

static bool is_to_all(const struct soc_message *message)
{
    return message->flags & SOC_MESSAGE_IS_BROADCAST;
}

static void unsend(struct soc_host *host, struct soc_message *message)
{
    if (is_to_all(message))
        soc_broadcasts_take_back(host, message);
}

static bool put_receipt(struct soc_host *host, const struct soc_message *message,
                        struct soc_buf *out)
{
    if (is_to_all(message))
        soc_broadcasts_put_receipt(host, message, out);
    return is_to_all(message);
}

static bool accept(struct soc_host *host, struct soc_message *message)
{
    bool is = is_to_all(message);
    if (is)
        soc_broadcasts_accept(host, message);
    return is;
}

static bool arrive(struct soc_host *host, struct soc_message *message)
{
    bool is_late = soc_barriers_is_late(host, message);
    if (is_late)
        soc_barriers_drop_late(host, message);
    return is_late;
}

static bool late(struct soc_host *host, struct soc_message *message)
{
    bool is = message->type == soc_group_state(host)->checkpoint_response;
    if (is)
        soc_barriers_drop_late(host, message);
    return is;
}

static bool expire(struct soc_host *host, struct soc_message *message)
{
    if (message->to == NULL)
        soc_broadcasts_expire(host, message);
    return message->to == NULL;
}

static bool finishing(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome,
                      struct soc_slice reason)
{
    bool is = is_to_all(message);
    if (is)
        soc_broadcasts_finish(host, message, outcome, reason);
    return is;
}

static struct soc_agent *target(const struct soc_host *host,
                                const struct soc_activation *activation, size_t index)
{
    const struct soc_seat *seat = soc_barriers_open_seat(host, activation->wait.request_key, index);
    return seat == NULL ? NULL : seat->agent;
}

static uint64_t question(const struct soc_host *host, const struct soc_activation *activation,
                         size_t index)
{
    const struct soc_seat *seat = soc_barriers_open_seat(host, activation->wait.request_key, index);
    return seat == NULL ? 0 : seat->question;
}

static void put(const struct soc_host *host, const struct soc_activation *activation,
                struct soc_buf *out)
{
    (void)host;
    soc_barriers_put_id(out, activation->wait.request_ms, activation->wait.request_key);
}

static void put_so_far(const struct soc_host *host, const struct soc_activation *activation,
                       struct soc_buf *out)
{
    soc_barriers_put_members(host, activation->wait.request_key, out);
}

static const struct soc_wait_ops waits[] = {
    {
        .kind = SOC_WAIT_BARRIER,
        .begin = soc_barriers_begin,
        .end = soc_barriers_close,
        .timeout = soc_barriers_timeout,
        .target = target,
        .question = question,
        .put = put,
        .put_so_far = put_so_far,
    },
    {0},
};

const struct soc_part soc_group_part = {
    .name = "group",
    .number = SOC_PART_GROUP,
    .waits = waits,
    .open = open_group,
    .free = free_group,
    .restore = restore,
    .loaded = loaded,
    .prepare = prepare,
    .complete = complete,
    .sent = sent,
    .unsend = unsend,
    .put_receipt = put_receipt,
    .reaches = soc_broadcasts_is_for,
    .accept = accept,
    .arrive = arrive,
    .late = late,
    .collect = soc_broadcasts_collect,
    .unread = soc_broadcasts_unread,
    .expire = expire,
    .finishing = finishing,
};

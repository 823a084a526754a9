/* Contacts: the part for who knows whom. */
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kernel/mail/passage.h"
#include "kernel/mail/requests.h"
#include "kernel/refusal.h"
#include "parts/contacts/acquaintance.h"
#include "parts/contacts/book.h"
#include "parts/contacts/contacts_state.h"
#include "parts/contacts/introductions.h"

static void *open_contacts(struct soc_host *host)
{
    struct soc_contacts_state *state = soc_alloc_zero(sizeof(*state));
    struct soc_intern *types = &host->types.table;
    state->policy_generation = 1;
    state->hops_max = SOC_INTRODUCTION_HOPS_MAX;
    state->request = soc_intern_mark(types, SOC_SLICE("introduction_request"));
    state->response = soc_intern_mark(types, SOC_SLICE("introduction_response"));
    state->collaboration_response = soc_intern_mark(types, SOC_SLICE("collaboration_response"));
    return state;
}

static void free_contacts(struct soc_host *host)
{
    struct soc_contacts_state *state = soc_contacts_state(host);
    soc_introductions_free(host);
    free(state);
}

static int restore(struct soc_host *host, const struct soc_record *record)
{
    soc_book_restore(host, record);
    if (record->type == SOC_RECORD_INTRODUCTION)
        soc_introductions_restore(host, &record->introduction);
    else if (record->type == SOC_RECORD_INTRODUCTION_END)
        soc_introductions_forget(host, record->introduction_end.key);
    return SOC_OK;
}

static enum soc_reclaim reclaim(struct soc_host *host, struct soc_message *message)
{
    if (soc_introductions_reclaim(host, message))
        return SOC_RECLAIM_TAKEN;
    return soc_introductions_is_new(host, message) ? SOC_RECLAIM_TRANSIT : SOC_RECLAIM_NONE;
}

static int complete(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    const struct soc_contacts_state *state = soc_contacts_state(host);
    if (p->to == NULL && (p->type == state->request || p->type == state->response))
        return soc_refuse(error, SOC_EINVAL, "an introduction needs one receiver", "to",
                          SOC_SLICE("All"));
    if (p->to == NULL)
        return SOC_OK;
    return soc_introductions_prepare(host, p->from, p->to, p->type, &p->send, &p->payload, error);
}

/* Lends the self_introduction that the sender wrote, or absent. The host reads no envelope
 * fields from the payloads it sends on behalf of agents. */
static struct soc_slice introduction_of(const struct soc_passage *p)
{
    if (!p->send.is_bare || !p->send.is_formal || p->send.payload.data[0] != '{')
        return p->adopted.introduction;
    return soc_json_member(p->send.payload, "self_introduction");
}

/* The first message between two agents introduces its sender. In any message, the sender
 * can introduce itself only as what it is. */
static int check(struct soc_host *host, struct soc_passage *p, struct soc_buf *error)
{
    bool is_first = p->to != NULL && soc_acquaint_is_first(host, p->from, p->to, &p->send);
    struct soc_slice given = p->from == NULL ? (struct soc_slice){0} : introduction_of(p);
    if (given.data != NULL && given.data[0] != '{')
        return soc_refuse_format(error,
                                 "self_introduction must be an object with role, duty and reason",
                                 soc_symbol_slice(p->type));
    if (is_first)
        soc_acquaint_introduce_self(p->from, p->to, p->send.payload, &p->completed);
    else if (given.data != NULL && !p->from->is_remote)
        soc_acquaint_correct_role(p->from, p->send.payload, &p->completed);
    if (p->completed.length > 0)
        p->send.payload = soc_buf_slice(&p->completed);
    return SOC_OK;
}

static bool accept(struct soc_host *host, struct soc_message *message)
{
    if (soc_introductions_accept(host, message))
        return true;
    soc_acquaint_by_message(host, message);
    return false;
}

static bool arrive(struct soc_host *host, struct soc_message *message)
{
    return message->type == soc_contacts_state(host)->request && !message->to->is_ended &&
           soc_introductions_receive(host, message);
}

/* A script waiting in request_introduction gets the contact, not the message. */
static bool put_answer(struct soc_host *host, const struct soc_request *request,
                       const struct soc_message *reply, struct soc_buf *out)
{
    const struct soc_activation *activation = request->activation;
    if (activation == NULL || activation->effects_count == 0 ||
        activation->effects[activation->effects_count - 1].kind != SOC_EFFECT_REQUEST_INTRODUCTION)
        return false;
    soc_introductions_put_answer(host, reply, out);
    return true;
}

static void failed(struct soc_host *host, struct soc_message *message, enum soc_outcome outcome)
{
    (void)outcome;
    soc_introductions_close(host, message->key);
}

static bool answerer(const struct soc_host *host, uint64_t key, struct soc_agent **asked)
{
    *asked = soc_introductions_target(host, key, *asked);
    return true;
}

/* The host may answer a request on behalf of its receiver. */
static bool is_own_answer(const struct soc_host *host, const struct soc_message *message)
{
    return message->type == soc_contacts_state(host)->request;
}

static void fire_timer(struct soc_host *host, struct soc_heap_item *item)
{
    soc_introductions_timer(host,
                            (void *)((char *)item - offsetof(struct soc_introduction, timer)));
}

static void agent_ending(struct soc_host *host, struct soc_agent *agent, struct soc_slice reason)
{
    soc_introductions_end_agent(host, agent, reason);
}

const struct soc_part soc_contacts_part = {
    .name = "contacts",
    .number = SOC_PART_CONTACTS,
    .open = open_contacts,
    .free = free_contacts,
    .timer = fire_timer,
    .restore = restore,
    .reclaim = reclaim,
    .resume = soc_introductions_resume,
    .birth = soc_book_birth,
    .agent_adopted = soc_book_adopt,
    .agent_ending = agent_ending,
    .agent_ended = soc_book_forget_agent,
    .has_work = soc_introductions_has_held,
    .complete = complete,
    .may_send = soc_book_may_send,
    .check = check,
    .awaits = soc_introductions_is_question,
    .accept = accept,
    .arrive = arrive,
    .put_answer = put_answer,
    .show = soc_introductions_show,
    .decide = soc_introductions_decide,
    .failed = failed,
    .request_closed = soc_introductions_close,
    .answerer = answerer,
    .is_with_person = soc_introductions_is_item,
    .is_own_answer = is_own_answer,
};

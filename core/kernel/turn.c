#include "kernel/turn.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/egress.h"
#include "kernel/ending.h"
#include "kernel/router.h"
#include "kernel/trace.h"
#include "parts/group/barriers.h"
#include "parts/group/broadcasts.h"
#include "parts/human/human.h"
#include "parts/models/memory.h"
#include "parts/outside/outside_state.h"
#include "parts/supervision/hold.h"
#include "parts/tasks/tasks.h"

void soc_turn_begin(struct soc_host *host, struct soc_agent *agent,
                    struct soc_activation *activation)
{
    struct soc_turn *turn = &host->turn;
    assert(!turn->is_open);
    turn->is_open = true;
    turn->agent = agent;
    turn->activation = activation;
    turn->cause = activation == NULL ? NULL : activation->message;
    turn->batch_mark = host->batch.length;
    turn->key_mark = host->next_key;
    turn->output_mark = host->next_output;
    turn->undo_count = 0;
    turn->keys_ms = 0;
}

void soc_batch_put(struct soc_host *host, const struct soc_record *record)
{
    soc_record_put(&host->batch, record);
}

void soc_turn_note(struct soc_host *host, struct soc_undo undo)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open);
    if (turn->undo_count == turn->undo_capacity) {
        turn->undo_capacity = turn->undo_capacity == 0 ? 16 : turn->undo_capacity * 2;
        turn->undo = soc_realloc(turn->undo, turn->undo_capacity * sizeof(*turn->undo));
    }
    turn->undo[turn->undo_count++] = undo;
    bool is_talk = undo.kind == SOC_UNDO_TAKE || undo.kind == SOC_UNDO_SENT_KEY ||
                   undo.kind == SOC_UNDO_MEMORY;
    if (turn->activation != NULL && !is_talk)
        turn->activation->has_progress = true;
}

static void note_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer)
{
    struct soc_undo undo = {.kind = SOC_UNDO_CONTACT, .agent = owner, .peer = peer};
    const struct soc_contact *old = soc_contacts_find(&owner->contacts, peer);
    if (old != NULL) {
        undo.had_old = true;
        undo.old = *old;
        undo.old_number = (uint32_t)(old - owner->contacts.items);
        undo.old.extra = soc_contact_extra_copy(old->extra);
    }
    soc_turn_note(host, undo);
}

void soc_turn_write_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                            enum soc_source source, int64_t added_ms,
                            struct soc_contact_extra *extra)
{
    struct soc_record record = {.type = SOC_RECORD_CONTACT};
    record.contact = (struct soc_record_contact){
        .time_ms = (uint64_t)added_ms,
        .source = source,
        .owner = soc_agent_id(owner),
        .id = soc_agent_id(peer),
    };
    if (extra != NULL) {
        record.contact.role = soc_slice_text(extra->role);
        record.contact.interface_spec = soc_slice_text(extra->interface_spec);
        record.contact.introduced_by = soc_slice_text(extra->introduced_by);
        record.contact.via = soc_slice_text(extra->via);
        record.contact.reason = soc_slice_text(extra->reason);
    }
    soc_batch_put(host, &record);
    soc_contacts_put(&owner->contacts, peer, source, added_ms, extra);
}

void soc_turn_erase_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer)
{
    struct soc_record record = {
        .type = SOC_RECORD_CONTACT_END,
        .contact_end = {.owner = soc_agent_id(owner), .id = soc_agent_id(peer)},
    };
    soc_batch_put(host, &record);
    soc_contacts_remove(&owner->contacts, peer);
}

void soc_turn_put_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                          enum soc_source source, int64_t added_ms, struct soc_contact_extra *extra)
{
    note_contact(host, owner, peer);
    soc_turn_write_contact(host, owner, peer, source, added_ms, extra);
}

void soc_turn_remove_contact(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer)
{
    note_contact(host, owner, peer);
    soc_turn_erase_contact(host, owner, peer);
}

static void settle_birth(struct soc_host *host, struct soc_agent *agent)
{
    soc_trace(host, "spawn", agent, "born of %s as %s", agent->parent->id, agent->role->id);
    if (agent->is_external)
        soc_outside_born(host, agent);
}

static void settle(struct soc_host *host, struct soc_undo *undo)
{
    if (undo->kind == SOC_UNDO_CONTACT)
        soc_contact_extra_free(undo->old.extra);
    else if (undo->kind == SOC_UNDO_AGENT)
        settle_birth(host, undo->agent);
    else if (undo->kind == SOC_UNDO_ITEM || undo->kind == SOC_UNDO_DECISION)
        soc_human_settle(host, undo);
    else if (undo->kind == SOC_UNDO_HOLD)
        soc_hold_settle(host, undo);
}

/* At the end of a turn, one way or the other. */
static void put_kept(struct soc_host *host)
{
    soc_buf_put_slice(&host->batch, soc_buf_slice(&host->turn.kept));
    host->turn.kept.length = 0;
}

void soc_turn_commit(struct soc_host *host)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open);
    turn->is_open = false;
    put_kept(host);
    bool has_progress = turn->activation != NULL && turn->activation->has_progress;
    /* What follows may be turns of the host's own, with notes of their own. */
    struct soc_undo *undo = turn->undo;
    size_t count = turn->undo_count;
    size_t capacity = turn->undo_capacity;
    turn->undo = NULL;
    turn->undo_count = turn->undo_capacity = 0;
    for (size_t i = 0; i < count; i++)
        settle(host, &undo[i]);
    struct soc_message_list sent = turn->sent;
    turn->sent = (struct soc_message_list){0};
    soc_egress_add(host, turn->outputs);
    turn->outputs = NULL;
    soc_tasks_commit(host);
    struct soc_message *message;
    while ((message = soc_message_list_pop(&sent)) != NULL) {
        if (has_progress)
            message->idle_hops = 0;
        soc_router_accept(host, message);
    }
    for (size_t i = 0; i < count; i++) {
        if (undo[i].kind == SOC_UNDO_RESOLVE)
            soc_outside_settle(host, &undo[i]);
        if (undo[i].kind != SOC_UNDO_ENDING)
            continue;
        free(undo[i].old_reason);
        soc_ending_commit(host, &undo[i]);
    }
    free(turn->undo);
    turn->undo = undo;
    turn->undo_capacity = capacity;
}

static void take_back(struct soc_host *host, struct soc_undo *undo)
{
    switch (undo->kind) {
    case SOC_UNDO_AGENT:
        soc_map_take(&host->agents, soc_agent_id(undo->agent));
        if (undo->agent->parent != NULL)
            undo->agent->parent->children--, undo->agent->parent->births--;
        host->agents_alive--;
        soc_agent_free(undo->agent);
        break;
    case SOC_UNDO_CONTACT:
        if (!undo->had_old) {
            soc_contacts_remove(&undo->agent->contacts, undo->peer);
            break;
        }
        soc_contacts_put(&undo->agent->contacts, undo->peer, undo->old.source, undo->old.added_ms,
                         undo->old.extra);
        soc_contacts_move(&undo->agent->contacts, undo->peer, undo->old_number);
        break;
    case SOC_UNDO_ROLE:
        soc_map_take(&host->roles, soc_slice_text(undo->role->id));
        soc_role_free(undo->role);
        break;
    case SOC_UNDO_TAKE:
        soc_message_list_remove(&host->turn.activation->taken, undo->message);
        soc_mailbox_put_back(&undo->agent->mailbox, undo->message);
        soc_router_watch(host, undo->message);
        break;
    case SOC_UNDO_ENDING:
        undo->agent->is_ending = undo->had_old;
        free(undo->agent->end_reason);
        undo->agent->end_reason = undo->old_reason;
        break;
    case SOC_UNDO_ITEM:
    case SOC_UNDO_DECISION:
        soc_human_take_back(host, undo);
        break;
    case SOC_UNDO_MEMORY:
        soc_memory_take_back(host, undo->agent);
        break;
    case SOC_UNDO_TASK:
        soc_tasks_take_back(host);
        break;
    case SOC_UNDO_BARRIER:
        soc_barriers_take_back(host, undo->barrier_key);
        break;
    case SOC_UNDO_SENT_KEY:
        soc_dedupe_remove(&host->sent_keys, undo->sent_key);
        break;
    case SOC_UNDO_HOLD:
        soc_hold_take_back(undo);
        break;
    case SOC_UNDO_RESOLVE:
        break;
    }
}

struct soc_turn_mark soc_turn_mark(const struct soc_host *host)
{
    return (struct soc_turn_mark){
        .batch_length = host->batch.length,
        .undo_count = host->turn.undo_count,
        .sent_count = host->turn.sent.count,
    };
}

void soc_turn_return(struct soc_host *host, struct soc_turn_mark mark)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open);
    while (turn->sent.count > mark.sent_count) {
        struct soc_message *message = turn->sent.last;
        soc_message_list_remove(&turn->sent, message);
        if (message->flags & SOC_MESSAGE_IS_BROADCAST)
            soc_broadcasts_take_back(host, message);
        soc_router_free(host, message);
    }
    while (turn->undo_count > mark.undo_count)
        take_back(host, &turn->undo[--turn->undo_count]);
    host->batch.length = mark.batch_length;
}

void soc_turn_rollback(struct soc_host *host)
{
    struct soc_turn *turn = &host->turn;
    soc_egress_free(turn->outputs);
    turn->outputs = NULL;
    soc_turn_return(host, (struct soc_turn_mark){.batch_length = turn->batch_mark});
    host->next_key = turn->key_mark;
    host->next_output = turn->output_mark;
    turn->is_open = false;
    put_kept(host);
}

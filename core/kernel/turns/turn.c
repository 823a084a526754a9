#include "kernel/turns/turn.h"

#include <assert.h>

#include "base/mem.h"
#include "kernel/mail/mail.h"
#include "kernel/turns/egress.h"

void soc_turn_begin(struct soc_host *host, struct soc_agent *agent,
                    struct soc_activation *activation)
{
    struct soc_turn *turn = &host->turn;
    assert(!turn->is_open && turn->sent.count == 0 && turn->outputs == NULL);
    assert(activation == NULL || activation->agent == agent);
    turn->is_open = true;
    turn->agent = agent;
    turn->activation = activation;
    turn->cause = activation == NULL ? NULL : activation->message;
    turn->batch_mark = host->batch.length;
    turn->key_mark = host->next_key;
    turn->output_mark = host->outbox.next;
    turn->undo_count = 0;
    turn->number++;
}

void soc_turn_note(struct soc_host *host, struct soc_undo undo)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open && undo.ops != NULL);
    if (turn->undo_count == turn->undo_capacity) {
        turn->undo_capacity = turn->undo_capacity == 0 ? 16 : turn->undo_capacity * 2;
        turn->undo = soc_realloc(turn->undo, turn->undo_capacity * sizeof(*turn->undo));
    }
    turn->undo[turn->undo_count++] = undo;
    if (turn->activation != NULL && !undo.ops->is_talk)
        turn->activation->has_progress = true;
}

struct soc_turn_mark soc_turn_mark(const struct soc_host *host)
{
    return (struct soc_turn_mark){
        .batch_length = host->batch.length,
        .undo_count = host->turn.undo_count,
        .sent_count = host->turn.sent.count,
    };
}

void soc_turn_rollback_to(struct soc_host *host, struct soc_turn_mark mark)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open && mark.undo_count <= turn->undo_count);
    assert(mark.batch_length <= host->batch.length);
    while (turn->sent.count > mark.sent_count) {
        struct soc_message *message = turn->sent.last;
        soc_message_list_remove(&turn->sent, message);
        SOC_PARTS_TELL(host, unsend, host, message);
        soc_mail_free(host, message);
    }
    while (turn->undo_count > mark.undo_count) {
        struct soc_undo *undo = &turn->undo[--turn->undo_count];
        if (undo->ops->roll_back != NULL)
            undo->ops->roll_back(host, undo);
    }
    host->batch.length = mark.batch_length;
}

void soc_turn_close(struct soc_host *host)
{
    assert(host->turn.is_open);
    host->turn.is_open = false;
    soc_buf_put_slice(&host->batch, soc_buf_slice(&host->turn.kept));
    host->turn.kept.length = 0;
}

void soc_turn_rollback(struct soc_host *host)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open);
    soc_egress_free(turn->outputs);
    turn->outputs = NULL;
    soc_turn_rollback_to(host, (struct soc_turn_mark){.batch_length = turn->batch_mark});
    assert(turn->sent.count == 0 && turn->undo_count == 0);
    host->next_key = turn->key_mark;
    host->outbox.next = turn->output_mark;
    soc_turn_close(host);
}

#include "kernel/turns/commit.h"

#include <assert.h>
#include <stdlib.h>

#include "kernel/mail/router.h"
#include "kernel/turns/egress.h"
#include "kernel/turns/turn.h"

/* The host may open turns of its own while a commit is completed. So the notes and
 * messages of this turn are moved out of it first. */
void soc_commit_turn(struct soc_host *host)
{
    struct soc_turn *turn = &host->turn;
    assert(turn->is_open);
    soc_turn_close(host);
    bool has_progress = turn->activation != NULL && turn->activation->has_progress;
    struct soc_undo *undo = turn->undo;
    size_t count = turn->undo_count;
    size_t capacity = turn->undo_capacity;
    turn->undo = NULL;
    turn->undo_count = turn->undo_capacity = 0;
    for (size_t i = 0; i < count; i++)
        if (undo[i].ops->commit != NULL)
            undo[i].ops->commit(host, &undo[i]);
    struct soc_message_list sent = turn->sent;
    turn->sent = (struct soc_message_list){0};
    soc_egress_add(host, turn->outputs);
    turn->outputs = NULL;
    SOC_PARTS_TELL(host, commit, host);
    struct soc_message *message;
    while ((message = soc_message_list_pop(&sent)) != NULL) {
        if (has_progress)
            message->idle_hops = 0;
        soc_router_accept(host, message);
    }
    for (size_t i = 0; i < count; i++)
        if (undo[i].ops->finish != NULL)
            undo[i].ops->finish(host, &undo[i]);
    assert(!turn->is_open && turn->sent.count == 0 && turn->outputs == NULL);
    free(turn->undo);
    turn->undo = undo;
    turn->undo_capacity = capacity;
}

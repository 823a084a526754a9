/* Barriers: checkpoints that agents wait at until all who were asked have answered.
 *
 * A checkpoint sends one `checkpoint_request` to each agent that is asked and waits.
 * The question is a request to the router, so that a reply answers it, in this or a
 * later activation; so does a `checkpoint_response` that names the checkpoint. The
 * first answer of each counts. Who ends or fails, or whose mailbox is full, is missing at
 * once; when the time is over, all who have not answered are. Barriers and answers are in
 * the journal: a restart goes on waiting for those who are left.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_BARRIERS_H
#define SOC_PARTS_GROUP_BARRIERS_H

#include "base/buf.h"
#include "kernel/mail/send.h"
#include "model/activation.h"
#include "model/barrier.h"
#include "store/record.h"

struct soc_host;

/* What an agent asks for. */
struct soc_checkpoint {
    struct soc_slice payload;       /* JSON object, or absent */
    const struct soc_slice *agents; /* ids, lent */
    size_t agents_count;
    bool is_for_all; /* all agents but the one who asks and `user`, instead */
    int64_t timeout_ms;
};

/* Opens a barrier of the running agent inside its turn. 1: it waits as `*wait` says;
 * SOC_OK: it is over at once, with the answer, a list, in `answer`; or an error with
 * its object there, and nothing has changed. */
int soc_barriers_open(struct soc_host *host, const struct soc_checkpoint *checkpoint,
                      struct soc_wait *wait, struct soc_buf *answer);

/* The wait of an activation at its barrier begins, has run out of time, is
 * over. */
void soc_barriers_begin(struct soc_host *host, struct soc_activation *activation);
void soc_barriers_timeout(struct soc_host *host, struct soc_activation *activation);
void soc_barriers_close(struct soc_host *host, struct soc_activation *activation);

/* Makes a reply to a checkpoint's question a `checkpoint_response` that names
 * it, unless the sender says otherwise; `payload` is room for what it becomes. False if it
 * answers none. */
bool soc_barriers_name_reply(struct soc_host *host, struct soc_send *send, bool has_type,
                             struct soc_buf *payload);

/* Lends who opened the checkpoint that is named in the payload of an answer to it, if it
 * is open still, or NULL. */
struct soc_agent *soc_barriers_asker(const struct soc_host *host, struct soc_slice payload);

/* Joins a `checkpoint_response` that answers no message to the question it
 * answers. One that names a checkpoint of ours which waits for it no more is let pass,
 * to be dropped when it arrives: soc_barriers_is_late tells. */
void soc_barriers_join(struct soc_host *host, const struct soc_agent *from,
                       const struct soc_agent *to, struct soc_send *send);
bool soc_barriers_is_late(const struct soc_host *host, const struct soc_message *message);

/* An answer that nobody waits for any more: noted in the activity and dropped. */
void soc_barriers_drop_late(struct soc_host *host, struct soc_message *message);

/* Lends the seat of who is still waited for at the barrier of that key, number `index`
 * from 0; NULL at the end. */
const struct soc_seat *soc_barriers_open_seat(const struct soc_host *host, uint64_t key,
                                              size_t index);

/* Appends the member "checkpoint_id" of a barrier's key and time. */
void soc_barriers_put_id(struct soc_buf *out, int64_t time_ms, uint64_t key);

/* At a start: a barrier, one of its seats, the end of one. */
void soc_barriers_restore(struct soc_host *host, const struct soc_record_barrier *record,
                          struct soc_agent *owner);
void soc_barriers_restore_seat(struct soc_host *host, const struct soc_record_seat *record,
                               struct soc_agent *agent);
void soc_barriers_forget(struct soc_host *host, uint64_t key);

/* Frees all of them. */
void soc_barriers_free(struct soc_host *host);

#endif

/* Barriers: checkpoints at which an agent waits until all others have answered.
 *
 * A checkpoint sends one `checkpoint_request` to each agent and waits. The router
 * treats the question as a request, so a reply answers it, in the same or a later
 * activation; so does a `checkpoint_response` that names the checkpoint. The first
 * answer of each agent counts. An agent that terminates, fails or has a full mailbox is
 * missing immediately; at the timeout, so is everyone who has not answered. Barriers
 * and answers are journaled: after a restart the wait continues for the rest.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_BARRIERS_H
#define SOC_PARTS_GROUP_BARRIERS_H

#include "base/buf.h"
#include "kernel/mail/send.h"
#include "model/activation.h"
#include "model/group/barrier.h"
#include "store/record.h"

struct soc_host;

/* A checkpoint as the agent requests it. */
struct soc_checkpoint {
    struct soc_slice payload;       /* JSON object, or absent */
    const struct soc_slice *agents; /* ids, lent */
    size_t agents_count;
    bool is_for_all; /* instead: all agents but the asker and `user` */
    int64_t timeout_ms;
};

/* Opens a barrier of the running agent inside its turn. 1: the agent waits as `*wait`
 * says; SOC_OK: it is already over, with the answer, a list, in `answer`; otherwise an
 * error with its object there, and nothing has changed. */
int soc_barriers_open(struct soc_host *host, const struct soc_checkpoint *checkpoint,
                      struct soc_wait *wait, struct soc_buf *answer);

/* The wait of an activation at its barrier starts, times out, ends. */
void soc_barriers_begin(struct soc_host *host, struct soc_activation *activation);
void soc_barriers_timeout(struct soc_host *host, struct soc_activation *activation);
void soc_barriers_close(struct soc_host *host, struct soc_activation *activation);

/* Appends the members `missing` and `responses`, as they are so far. */
void soc_barriers_put_members(const struct soc_host *host, uint64_t key, struct soc_buf *out);

/* Turns a reply to a checkpoint's question into a `checkpoint_response` that names it,
 * unless the sender says otherwise; `payload` is a buffer for the changed payload.
 * False if the message answers no such question. */
bool soc_barriers_name_reply(struct soc_host *host, struct soc_send *send, bool has_type,
                             struct soc_buf *payload);

/* Lends the agent that opened the checkpoint named in the payload of an answer, if it
 * is still open, or NULL. */
struct soc_agent *soc_barriers_asker(const struct soc_host *host, struct soc_slice payload);

/* Links a `checkpoint_response` that answers no message to its question. One that names
 * a checkpoint of ours which no longer waits for it passes, to be dropped on arrival:
 * soc_barriers_is_late detects it. */
void soc_barriers_join(struct soc_host *host, const struct soc_agent *from,
                       const struct soc_agent *to, struct soc_send *send);
bool soc_barriers_is_late(const struct soc_host *host, const struct soc_message *message);

/* Drops an answer that nobody waits for, and records it in the activity log. */
void soc_barriers_drop_late(struct soc_host *host, struct soc_message *message);

/* Lends seat number `index`, from 0, among those still awaited at the barrier with that
 * key; NULL past the last one. */
const struct soc_seat *soc_barriers_open_seat(const struct soc_host *host, uint64_t key,
                                              size_t index);

/* Returns how many are open. */
size_t soc_barriers_count(const struct soc_host *host);

/* Appends the member "checkpoint_id" for the barrier with that time and key. */
void soc_barriers_put_id(struct soc_buf *out, int64_t time_ms, uint64_t key);

/* Recovery: a barrier, one of its seats, the end of a barrier. */
void soc_barriers_restore(struct soc_host *host, const struct soc_record_barrier *record,
                          struct soc_agent *owner);
void soc_barriers_restore_seat(struct soc_host *host, const struct soc_record_seat *record,
                               struct soc_agent *agent);
void soc_barriers_forget(struct soc_host *host, uint64_t key);

/* Frees all barriers. */
void soc_barriers_free(struct soc_host *host);

#endif

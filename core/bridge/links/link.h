/* Link: the rules by which two hosts hand items to each other exactly once, in order.
 *
 * A link does no I/O, has no clock and keeps no items. It is told what happened and the time,
 * and says which frame leaves next and what to do with a frame that came. Its owner keeps the
 * items and `struct soc_link_state` in its journal. A carrier may lose, repeat and cut off
 * whatever it likes: that delays.
 *
 * The rules:
 *   1. Each start of a host has an epoch, higher than all before and durable before its use.
 *      A frame is heeded only if it names the reader's own epoch as the last one heard. So
 *      neither end acts on what was said to an earlier run of it, and no item leaves before
 *      the peer has answered in this epoch.
 *   2. Items are numbered from 1 without gaps. The reader takes the next number only, and
 *      asks for the one it misses. What a frame brought and the state are committed together.
 *   3. An item is acknowledged when it is durable at the reader, and kept by the sender until
 *      then. A frame without items also says which number is next, so a lost end is missed.
 *   4. Both ends compare what they know of each other. Where that cannot be, a state directory
 *      was put back or replaced, and the link stops: nothing is taken or sent until it is reset.
 *
 * The owner calls soc_link_next until it returns false whenever something has changed, and
 * when soc_link_due says so.
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_LINK_H
#define SOC_BRIDGE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bridge/links/frame.h"
#include "net/carrier.h"

#define SOC_LINK_WINDOW_ITEMS 32768       /* sent and not acknowledged */
#define SOC_LINK_WINDOW_BYTES (16u << 20) /* the same */
#define SOC_LINK_FRAME_BYTES  (64u << 10) /* a frame is closed beyond it */
#define SOC_LINK_IDLE_MS      2000        /* between frames of an idle link */
#define SOC_LINK_ASK_MS       500         /* between questions that are not answered */

struct soc_link;

/* What its owner keeps in the journal, in the batch of the items it counts. */
struct soc_link_state {
    uint8_t own_id[SOC_FRAME_ID_BYTES];  /* of this end; random, new with each reset */
    uint8_t peer_id[SOC_FRAME_ID_BYTES]; /* of the other; zeros: not known yet */
    uint64_t last;                       /* the last item that was numbered here */
    uint64_t acked;                      /* the last of them that is durable at the peer */
    uint64_t taken;                      /* the last item of the peer that was taken */
    uint64_t peer_epoch;                 /* the highest epoch of the peer that was met */
    uint64_t epoch;                      /* of this end */
};

/* Why a link does not carry items. S(name, wire name, text for people) */
#define SOC_LINK_STOP_MAP(S)                                                                       \
    S(NONE, "none", "the link carries messages")                                                   \
    S(FENCED, "fenced", "a later epoch of this host exists: another process runs in its name")     \
    S(STATE_ROLLED_BACK, "state_rolled_back",                                                      \
      "this host's state directory is older than what the peer knows of it")                       \
    S(PEER_ROLLED_BACK, "peer_rolled_back",                                                        \
      "the peer's state directory is older than what this host knows of it")                       \
    S(PEER_REPLACED, "peer_replaced",                                                              \
      "the peer has another state directory, or its end of the link was reset")                    \
    S(NOT_RECOGNIZED, "not_recognized",                                                            \
      "the peer knows another state directory by this host's name, or this end was reset")

/* The stop conditions. The last two end when the known peer speaks again and knows this end,
 * `fenced` with a new epoch, and the others when the links of both hosts are reset. */
enum soc_link_stop {
#define S(name, wire, text) SOC_LINK_##name,
    SOC_LINK_STOP_MAP(S)
#undef S
};

/* What a frame brought. */
struct soc_link_news {
    bool is_stopped;       /* the link has just stopped, or what stopped it is over */
    uint64_t acked;        /* items up to this one have just become durable at the peer; or 0 */
    uint32_t skip;         /* items of the frame that were taken before */
    uint32_t take;         /* items after them to be taken now, in order */
    bool is_state_changed; /* soc_link_state is to be committed, with the items */
};

/* A frame that leaves. */
struct soc_link_outgoing {
    bool is_creation; /* soc_carrier_create; else soc_carrier_append */
    struct soc_carrier_place place;
    struct soc_carrier_place trim;
    struct soc_frame frame; /* its items are lent until the next call */
};

/* Figures for people. */
struct soc_link_figures {
    enum soc_link_stop stop;
    bool is_met;        /* the peer has answered in this epoch */
    uint64_t waiting;   /* items not acknowledged */
    uint64_t in_flight; /* of these, sent */
    uint64_t in_flight_bytes;
    int64_t heard_ms; /* when the last frame came; 0: none in this run */
    int64_t acked_ms; /* when the last acknowledgement came; 0: likewise */
};

/* Raises the epoch for a new start. The owner commits the state before it makes the link. */
void soc_link_state_open(struct soc_link_state *state, int64_t now_ms);

/* Forgets the peer, and raises the epoch. Items that are not acknowledged are numbered anew
 * from 1, in order: item n becomes n - acked. `own_id` is a new random id. The owner frees the
 * link, commits the state and makes a new link. */
void soc_link_state_reset(struct soc_link_state *state, const uint8_t own_id[SOC_FRAME_ID_BYTES],
                          int64_t now_ms);

/* Returns a link. The state is durable and so are all items up to its last; the carrier is not
 * ready. `item` appends item `number`, which is durable and not acknowledged, to `out`.
 * Release with soc_link_free. */
struct soc_link *soc_link_new(const struct soc_link_state *state,
                              void (*item)(void *user, uint64_t number, struct soc_buf *out),
                              void *user);

/* Frees it. NULL is allowed. */
void soc_link_free(struct soc_link *link);

/* Lends the state as it is now. */
const struct soc_link_state *soc_link_state(const struct soc_link *link);

/* Returns the number of a new item; it is in the state from now on. */
uint64_t soc_link_number(struct soc_link *link);

/* Takes back the last number, which was never committed. */
void soc_link_unnumber(struct soc_link *link);

/* The items that were numbered up to `last`, and what was taken up to `taken`, are durable. */
void soc_link_durable(struct soc_link *link, uint64_t last, uint64_t taken);

/* The carrier is ready: the owner reads the peer's stream after the place returned. */
struct soc_carrier_place soc_link_ready(struct soc_link *link);

/* Has a frame leave soon, whatever it holds. */
void soc_link_speak(struct soc_link *link);

/* The carrier was lost; nothing leaves until it is ready. */
void soc_link_lost(struct soc_link *link);

/* An append or a creation has ended. Returns whether the link has just stopped. */
bool soc_link_appended(struct soc_link *link, struct soc_carrier_place place,
                       enum soc_carrier_end end);

/* A frame came that soc_frame_read has accepted. */
struct soc_link_news soc_link_receive(struct soc_link *link, struct soc_carrier_place place,
                                      const struct soc_frame *frame, int64_t now_ms);

/* Makes the next frame; false: none is due. */
bool soc_link_next(struct soc_link *link, int64_t now_ms, struct soc_link_outgoing *out);

/* Returns when soc_link_next is to be called at the latest; -1: not before something happens. */
int64_t soc_link_due(const struct soc_link *link);

/* Returns the figures. */
struct soc_link_figures soc_link_figures(const struct soc_link *link);

/* Returns the wire name and the text of a condition. */
const char *soc_link_stop_name(enum soc_link_stop stop);
const char *soc_link_stop_text(enum soc_link_stop stop);

#endif

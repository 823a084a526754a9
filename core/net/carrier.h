/* Carrier: takes frames from host to host.
 *
 * A carrier serves one host, `self`. For each peer it has two streams, one each way; a frame
 * has a place in its stream, an epoch and a number that only rise. It promises little: frames
 * arrive in the order of their places or not at all, and what it has accepted may vanish at
 * any moment. Delivery is the business of the links, which keep what they send until the peer
 * has said that it is durable there.
 *
 * A stream exists once its writer has created it. Appending to one that does not exist is
 * refused (SOC_CARRIER_GONE), so a writer learns that its stream was lost, and so is a place
 * at or below the last one (SOC_CARRIER_FENCED): somebody else writes to the stream in this
 * host's name, or did before a state directory was put back.
 *
 * Everything is asynchronous. Frames of one peer are accepted and handed out in order.
 * There are two implementations: redis_carrier.h, and the simulator's network.
 * Layer: net. Thread: loop. */
#ifndef SOC_NET_CARRIER_H
#define SOC_NET_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct soc_carrier;

/* The place of a frame in its stream. {0, 0} is before the first. */
struct soc_carrier_place {
    uint64_t epoch;
    uint64_t frame;
};

/* How an append or a creation ended. */
enum soc_carrier_end {
    SOC_CARRIER_DONE,
    SOC_CARRIER_GONE,    /* append: the stream does not exist; create it, send again */
    SOC_CARRIER_FENCED,  /* the place is not beyond the last one of the stream */
    SOC_CARRIER_BLOCKED, /* something else is in the place of the stream; nothing was done */
    SOC_CARRIER_LOST,    /* the carrier was lost meanwhile: it may or may not have been done */
};

/* What a carrier reports. None may close the carrier; all may append. `peer` is the number of
 * the peer in the options it was opened with. */
struct soc_carrier_events {
    /* It carries from now on. Nothing is known about the streams. */
    void (*ready)(void *user);
    /* It does not carry, since it cannot be reached. Reported once until the next `ready`. */
    void (*lost)(void *user, const char *why);
    /* The end of one append or creation; in order for each peer. */
    void (*appended)(void *user, int peer, struct soc_carrier_place place,
                     enum soc_carrier_end end);
    /* A frame from the peer; `bytes` is lent for the call. */
    void (*frame)(void *user, int peer, struct soc_carrier_place place, struct soc_slice bytes);
    /* A card of a host (a peer or any other), as it is now. Reported for each host every
     * time that cards are exchanged. `bytes` is lent for the call. */
    void (*card)(void *user, struct soc_slice host, struct soc_slice bytes);
    /* Who has the number that this host claimed: `host`, lent for the call. */
    void (*claimed)(void *user, int number, struct soc_slice host);
    /* The stream from a peer cannot be read, since something else is in its place. The other
     * streams go on. Repeated while it lasts. */
    void (*blocked)(void *user, int peer, const char *why);
    /* Cards were exchanged: all have been reported. `time_ms`: the carrier's clock. */
    void (*cards)(void *user, int64_t time_ms);
    void *user;
};

/* What an implementation does; the functions below are their manual. */
struct soc_carrier_ops {
    void (*close)(struct soc_carrier *carrier);
    void (*create)(struct soc_carrier *carrier, int peer, struct soc_carrier_place place,
                   struct soc_slice bytes);
    void (*append)(struct soc_carrier *carrier, int peer, struct soc_carrier_place place,
                   struct soc_carrier_place trim, struct soc_slice bytes);
    void (*read)(struct soc_carrier *carrier, int peer, struct soc_carrier_place after);
    void (*exchange)(struct soc_carrier *carrier, struct soc_slice card);
    void (*claim)(struct soc_carrier *carrier, int number);
    size_t (*backlog)(const struct soc_carrier *carrier);
};

/* A carrier; the struct of an implementation begins with it. */
struct soc_carrier {
    const struct soc_carrier_ops *ops;
    struct soc_carrier_events events;
};

/* Closes and frees it. NULL is allowed. */
static inline void soc_carrier_close(struct soc_carrier *carrier)
{
    if (carrier != NULL)
        carrier->ops->close(carrier);
}

/* Appends a frame to the stream to a peer, creating the stream if it does not exist. Ignored
 * while the carrier is lost, as are the next two. */
static inline void soc_carrier_create(struct soc_carrier *carrier, int peer,
                                      struct soc_carrier_place place, struct soc_slice bytes)
{
    carrier->ops->create(carrier, peer, place, bytes);
}

/* Appends a frame to the stream to a peer, and removes frames before `trim` from it. */
static inline void soc_carrier_append(struct soc_carrier *carrier, int peer,
                                      struct soc_carrier_place place, struct soc_carrier_place trim,
                                      struct soc_slice bytes)
{
    carrier->ops->append(carrier, peer, place, trim, bytes);
}

/* Hands out frames of a peer after this place, from now on, until the carrier is lost. It may
 * be called again with another place; frames on their way may come before. */
static inline void soc_carrier_read(struct soc_carrier *carrier, int peer,
                                    struct soc_carrier_place after)
{
    carrier->ops->read(carrier, peer, after);
}

/* Shows this host's card, and asks for those of all hosts and for the time. */
static inline void soc_carrier_exchange(struct soc_carrier *carrier, struct soc_slice card)
{
    carrier->ops->exchange(carrier, card);
}

/* Takes a host number for this host unless another has it, and reports who has it. */
static inline void soc_carrier_claim(struct soc_carrier *carrier, int number)
{
    carrier->ops->claim(carrier, number);
}

/* Returns the bytes of frames that wait in this process. */
static inline size_t soc_carrier_backlog(const struct soc_carrier *carrier)
{
    return carrier->ops->backlog(carrier);
}

#endif

/* Hosts state: private to the part `hosts`. Doors use hosts.h.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_STATE_H
#define SOC_PARTS_HOSTS_HOSTS_STATE_H

#include "kernel/state.h"
#include "parts/hosts/hosts.h"
#include "parts/table.h"

/* An item that is numbered and not acked. */
struct soc_hosts_item {
    uint64_t key;                /* of its message */
    struct soc_message *message; /* owned; NULL: not recovered yet, or never will be */
};

/* Another host. */
struct soc_hosts_peer {
    char *name;
    struct soc_hosts_end end;
    struct soc_hosts_item *items; /* a ring; the first has the number end.acked + 1 */
    size_t items_first;
    size_t items_count;
    size_t items_capacity; /* a power of two */
    struct soc_map ready;  /* proxies with mail to be numbered, by address */
    struct soc_map busy;   /* proxies that can take none, likewise */
    struct soc_map known;  /* agents of this host that the peer has written to, likewise */
    int64_t agents;        /* it has, as it said last */
    bool is_silent;
};

/* A message from elsewhere that may be answered after it has ended. */
struct soc_hosts_asked {
    uint64_t key;
    int64_t time_ms;
    char id[SOC_MESSAGE_ID_BYTES + 1]; /* on its own host */
    char *chain;                       /* its correlation id, owned; NULL: not known */
    struct soc_agent *from;            /* lent */
    struct soc_agent *to;              /* lent; NULL: it has ended */
    bool is_open;                      /* a request that was not answered */
};

struct soc_hosts_probes; /* hosts_probe.h */

/* Hashes that were noted, the oldest of which are forgotten. */
struct soc_hosts_seen {
    struct soc_map map;
    uint64_t *hashes; /* a ring; NULL: none yet */
    size_t next;      /* place in it */
};

#define SOC_HOSTS_ASKED_MAX 65536 /* remembered; older ones are answered without naming them */

/* All of them. */
struct soc_hosts {
    struct soc_map peers;            /* name -> soc_hosts_peer, owned */
    struct soc_map numbered;         /* during a start: key -> soc_hosts_peer */
    struct soc_map asked;            /* key -> soc_hosts_asked, owned, oldest first */
    struct soc_hosts_probes *probes; /* of deadlocks */
    struct soc_hosts_seen seen;      /* agents that probes have reached, and rings */
    struct soc_hosts_driver driver;
    bool has_driver;
    int number;                      /* of this host; -1: none */
    char *name;                      /* as stored; NULL: it has joined nobody yet */
    const struct soc_symbol *failed; /* delivery_failed */
    const struct soc_symbol *answer; /* host_answer */
};

/* Lends the part's state. */
static inline struct soc_hosts *soc_hosts_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_HOSTS);
}

/* Lends the peer that a proxy belongs to. */
struct soc_hosts_peer *soc_hosts_peer_of(struct soc_host *host, const struct soc_agent *proxy);

/* Appends an item; lends the one with that number. */
void soc_hosts_push_item(struct soc_hosts_peer *peer, struct soc_hosts_item item);
struct soc_hosts_item *soc_hosts_item_at(const struct soc_hosts_peer *peer, uint64_t number);

/* hosts_asked.c: remembers the id of a message from elsewhere that asks for an answer; and lends
 * it, absent if it is not known. */
void soc_hosts_remember(struct soc_host *host, struct soc_message *message);
struct soc_slice soc_hosts_asked_id(const struct soc_host *host, uint64_t key);

/* An answer to that message leaves. */
void soc_hosts_note_reply(struct soc_host *host, uint64_t key);

/* That message was handled. If it is a request without an answer, one may come later, also
 * after a restart. */
void soc_hosts_leave_open(struct soc_host *host, uint64_t key);

/* Which request may still be answered (kernel/part.h). */
bool soc_hosts_find_asked(const struct soc_host *host, const struct soc_agent *to,
                          struct soc_slice id, struct soc_asked *asked);

/* A start: a key of the part `queries` may be that of such a request. */
void soc_hosts_restore_asked(struct soc_host *host, const struct soc_record_sent_key *key);

/* Frees them all. */
void soc_hosts_free_asked(struct soc_hosts *hosts);

/* The agent will answer nothing more: tells those elsewhere who have asked it. */
void soc_hosts_tell_askers(struct soc_host *host, const struct soc_agent *agent);

/* A message for a proxy is due: it waits in the outbox. */
bool soc_hosts_send(struct soc_host *host, struct soc_message *message);

/* A message from another host ended without being processed. */
void soc_hosts_report(struct soc_host *host, const struct soc_message *message,
                      enum soc_outcome outcome);

/* An answer without a waiter that could take it. True: it was a report, which ended the wait
 * that it is about. */
bool soc_hosts_take_report(struct soc_host *host, struct soc_message *message);

#endif

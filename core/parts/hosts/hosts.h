/* Hosts: mail to and from agents on other hosts.
 *
 * An agent elsewhere, `agent@host`, is a proxy (kernel/registry.h) whose mailbox is an outbox.
 * This part numbers what leaves for each host, keeps it until that host has it durable, and
 * takes what comes from there. Everything it decides is in the journal; how bytes travel is the
 * business of bridge/links, which drives it:
 *
 *   - mail for a proxy waits in its mailbox, where it may expire, until the link has room;
 *   - soc_hosts_number gives it a number of the link, in the batch that is open; from then on
 *     it must arrive: it neither expires here nor is it dropped;
 *   - soc_hosts_put_item encodes a numbered item, soc_hosts_acked ends items: handed_over;
 *   - soc_hosts_take takes an item of the other host, which the state of the link counts in
 *     the same batch (soc_hosts_keep).
 *
 * A message that cannot be taken is answered with a message `delivery_failed`, which ends the
 * wait of the sender if it waits.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_H
#define SOC_PARTS_HOSTS_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct soc_agent;
struct soc_hold_order;
struct soc_host;
struct soc_hosts_peer;
struct soc_message;

#define SOC_HOSTS_ID_BYTES 32 /* of an end of a link, in hex */

/* One end of a link, as it is stored; bridge/links/link.h explains it. */
struct soc_hosts_end {
    char own_id[SOC_HOSTS_ID_BYTES + 1];  /* "": none yet */
    char peer_id[SOC_HOSTS_ID_BYTES + 1]; /* "": not known yet */
    uint64_t last;
    uint64_t acked;
    uint64_t taken;
    uint64_t peer_epoch;
    uint64_t epoch;
};

/* What drives the part. */
struct soc_hosts_driver {
    void (*settle)(void *user);                         /* a turn or a timer is over */
    bool (*is_busy)(void *user);                        /* something is under way */
    void (*put_links)(void *user, struct soc_buf *out); /* objects for people, with commas */
    /* SOC_ENOHOST: it has no such link. SOC_EALREADYUP: it is up and `is_forced` is not set. */
    int (*reset)(void *user, struct soc_slice peer, bool is_forced);
    void *user;
};

/* Joins other hosts under this name, after soc_host_start; they are added with
 * soc_hosts_need_peer, and those of earlier runs are not joined any more. SOC_EINVAL: the state
 * directory is that of a host of another name. */
int soc_hosts_join(struct soc_host *host, struct soc_slice name, struct soc_detail *detail);

/* Appends the hosts where agents can be born, this one first, as a list of { name, is_local,
 * is_reachable, agents }. False, with nothing appended: there is no other. */
bool soc_hosts_put_places(struct soc_host *host, struct soc_buf *out);

/* The peer says how many agents it has. */
void soc_hosts_set_agents(struct soc_hosts_peer *peer, int64_t agents);

/* Sets or removes (NULL) the driver, which is copied. */
void soc_hosts_set_driver(struct soc_host *host, const struct soc_hosts_driver *driver);

/* Lends the peer of that name, adding it. */
struct soc_hosts_peer *soc_hosts_need_peer(struct soc_host *host, struct soc_slice name);

/* Lends the name of this host; NULL: it has joined nobody yet. */
const char *soc_hosts_name(const struct soc_host *host);

/* Returns the number of this host, which its message ids bear; -1: it has none yet. Sets it,
 * once and for ever. */
int soc_hosts_number_of(const struct soc_host *host);
void soc_hosts_set_number(struct soc_host *host, int number);

/* Lends the stored end of the link; and stores one. */
const struct soc_hosts_end *soc_hosts_end(const struct soc_hosts_peer *peer);
void soc_hosts_keep(struct soc_host *host, struct soc_hosts_peer *peer,
                    const struct soc_hosts_end *end);

/* Tells whether mail for the peer could be numbered now; and how much waits. */
bool soc_hosts_has_mail(const struct soc_hosts_peer *peer);
uint64_t soc_hosts_waiting(const struct soc_host *host, const struct soc_hosts_peer *peer);

/* Numbers up to `max` waiting messages from `first` on, and returns how many. */
uint64_t soc_hosts_number(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t first,
                          uint64_t max);

/* Appends item `number`, which is not acked. `ahead_ms`: by how much the clock that all hosts
 * share is ahead of this host's. */
void soc_hosts_put_item(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t number,
                        int64_t ahead_ms, struct soc_buf *out);

/* Items up to `number` are durable at the peer. */
void soc_hosts_acked(struct soc_host *host, struct soc_hosts_peer *peer, uint64_t number);

/* The end was reset: items that are not acked are numbered from 1. */
void soc_hosts_renumber(struct soc_host *host, struct soc_hosts_peer *peer);

/* Takes an item from the peer. */
void soc_hosts_take(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice item,
                    int64_t ahead_ms);

/* What an agent is spawned from on another host. All is lent. */
struct soc_hosts_birth {
    struct soc_slice host;
    struct soc_slice role;
    struct soc_slice id;    /* without its host; absent: generated */
    struct soc_slice brief; /* JSON, checked by the briefs policy */
    bool is_external;
    bool is_isolated;
    uint8_t denied; /* bits of enum soc_isolation */
};

/* Inside the running agent's turn: asks the host to spawn a child of the agent. `*order` is the
 * request that it answers with { id, roleId, roleName }; `*child` is the proxy, which may be
 * written to at once. SOC_ENOHOST, SOC_EBADID, SOC_ENOAGENT (a collaborator). */
int soc_hosts_spawn(struct soc_host *host, const struct soc_hosts_birth *birth,
                    struct soc_message **order, struct soc_agent **child, struct soc_buf *error);

/* Tells whether `id` is the address of an agent on another host. */
bool soc_hosts_is_elsewhere(const struct soc_host *host, struct soc_slice id);

/* Inside the running agent's turn: has a child elsewhere terminated, or paused or resumed; its
 * host may still refuse. SOC_ENOAGENT, SOC_EFORBIDDEN. `answer` is as of soc_hold_order. */
int soc_hosts_end_child(struct soc_host *host, struct soc_slice id, bool is_forced,
                        struct soc_slice reason, struct soc_buf *error);
int soc_hosts_hold_child(struct soc_host *host, const struct soc_hold_order *order,
                         struct soc_buf *answer);

/* The peer is silent, or is heard again: its agents show `unresponsive`, or no longer. */
void soc_hosts_set_silent(struct soc_host *host, struct soc_hosts_peer *peer, bool is_silent);

/* Appends which agents of this host that the peer has written to can take no mail now: a piece of
 * the list of them by id, of at most about SOC_HOSTS_BUSY_BYTES. A piece is texts,
 * each with a NUL: the id after which it begins ("": with the first), the agents between, and
 * the id with which it ends ("": with the last). `*after` is where the next piece begins. Returns
 * whether the peer holds mail back until it is told more. */
#define SOC_HOSTS_BUSY_BYTES 8192
bool soc_hosts_put_busy(struct soc_host *host, const struct soc_hosts_peer *peer,
                        struct soc_buf *after, struct soc_buf *out);

/* Takes such a piece from the peer: mail for these agents waits, and
 * mail for all others in its range is released. */
void soc_hosts_set_busy(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_slice piece);

/* Sends an alert of that type about the link to the orchestrator, and logs it. */
void soc_hosts_alert(struct soc_host *host, struct soc_slice peer, const char *type,
                     const char *text);

#endif

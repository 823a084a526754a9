/* Acquaintance: how messages make agents known to each other.
 *
 * The host does this at a commit, outside any turn, so it is never rolled back.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_CONTACTS_ACQUAINTANCE_H
#define SOC_PARTS_CONTACTS_ACQUAINTANCE_H

#include "base/buf.h"
#include "kernel/mail/send.h"

struct soc_host;

/* The first message from A to B makes A known to B. */
void soc_acquaint_by_message(struct soc_host *host, const struct soc_message *message);

/* How one agent was introduced to another. */
struct soc_acquaintance {
    struct soc_agent *by;
    struct soc_slice via;            /* JSON list of ids */
    struct soc_slice interface_spec; /* JSON, or absent */
    struct soc_slice reason;         /* text, or absent */
    struct soc_slice usage_hint;     /* text, or absent */
    struct soc_slice role; /* the name of the peer's role, if this host does not know it */
};

/* Makes `peer` known to `owner`. Fields that an older entry already has are kept; the
 * source of one that is known by its first message becomes the introduction. */
void soc_acquaint_by_introduction(struct soc_host *host, struct soc_agent *owner,
                                  struct soc_agent *peer, const struct soc_acquaintance *how);

/* Tells whether this would be the first message between two agents that are not parent
 * and child, so that it must introduce its sender. */
bool soc_acquaint_is_first(const struct soc_host *host, const struct soc_agent *from,
                           const struct soc_agent *to, const struct soc_send *send);

/* Appends the payload with its `self_introduction`, an object or absent, completed: duty
 * and reason if the sender left them out, and always its real role. */
void soc_acquaint_introduce_self(const struct soc_agent *from, const struct soc_agent *to,
                                 struct soc_slice payload, struct soc_buf *out);

/* Appends the payload, whose self_introduction is an object, with the sender's own role in
 * it. */
void soc_acquaint_correct_role(const struct soc_agent *from, struct soc_slice payload,
                               struct soc_buf *out);

#endif

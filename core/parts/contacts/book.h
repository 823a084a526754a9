/* Book: the contacts of agents, and how they change.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_CONTACTS_BOOK_H
#define SOC_PARTS_CONTACTS_BOOK_H

#include "base/buf.h"
#include "model/contacts.h"
#include "store/record.h"

struct soc_agent;
struct soc_host;

/* Adds or enriches a contact of the running agent from a JSON entry
 * { id, role?, interfaceSpec? }; `*peer` is whom it names. */
int soc_book_add(struct soc_host *host, struct soc_slice entry, struct soc_agent **peer,
                 struct soc_buf *error);

/* Forgets a contact of the running agent. */
int soc_book_remove(struct soc_host *host, struct soc_slice id, struct soc_buf *error);

/* The contacts policy has changed: its earlier verdicts do not count any more. */
void soc_book_policy_changed(struct soc_host *host);

/* May `from` write to `to`, by the contacts policy? The refusal goes to `error`. */
int soc_book_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                      struct soc_buf *error);

/* Sets one contact for good, as record and as fact; nothing takes it back. Takes `extra`. */
void soc_book_write(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                    enum soc_source source, int64_t added_ms, struct soc_contact_extra *extra);

/* Removes one for good. */
void soc_book_erase(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer);

/* Inside the turn of a birth: parent and child know each other, and the brief's
 * collaborators become contacts; the parent must be allowed to write to each. */
int soc_book_birth(struct soc_host *host, struct soc_agent *child, struct soc_buf *error);

/* The child of `former` has another parent. */
void soc_book_adopt(struct soc_host *host, struct soc_agent *child, struct soc_agent *former);

/* The agent has ended: its parent forgets it. */
void soc_book_forget_agent(struct soc_host *host, struct soc_agent *agent);

/* Reads back what a record says of contacts; other records are left alone. */
void soc_book_restore(struct soc_host *host, const struct soc_record *record);

#endif

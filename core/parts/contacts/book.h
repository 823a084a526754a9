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

/* Adds a contact of the running agent, or adds to it, from a JSON entry { id,
 * interfaceSpec? }; `*peer` is the agent it names. A role is ignored: it has its name. */
int soc_book_add(struct soc_host *host, struct soc_slice entry, struct soc_agent **peer,
                 struct soc_buf *error);

/* Removes a contact of the running agent. */
int soc_book_remove(struct soc_host *host, struct soc_slice id, struct soc_buf *error);

/* The contacts policy has changed: discards its earlier verdicts. */
void soc_book_policy_changed(struct soc_host *host);

/* Does the contacts policy let `from` write to `to`? The refusal goes to `error`. */
int soc_book_may_send(struct soc_host *host, struct soc_agent *from, struct soc_agent *to,
                      struct soc_buf *error);

/* Sets a contact permanently, in memory and in the journal; it is never rolled back.
 * Takes `extra`. */
void soc_book_write(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer,
                    enum soc_source source, int64_t added_ms, struct soc_contact_extra *extra);

/* Removes a contact permanently. */
void soc_book_erase(struct soc_host *host, struct soc_agent *owner, struct soc_agent *peer);

/* Inside the spawning turn: parent and child become contacts, and so do the
 * collaborators of the brief; the parent must be allowed to write to each of them. */
int soc_book_birth(struct soc_host *host, struct soc_agent *child, struct soc_buf *error);

/* Checks the collaborators of a brief for a child on another host: they exist, and the parent
 * may write to each of them. */
int soc_book_check_brief(struct soc_host *host, struct soc_agent *parent, struct soc_slice brief,
                         struct soc_buf *error);

/* The child of `former` has a new parent. */
void soc_book_adopt(struct soc_host *host, struct soc_agent *child, struct soc_agent *former);

/* The agent has terminated: removes it from its parent's contacts. */
void soc_book_forget_agent(struct soc_host *host, struct soc_agent *agent);

/* Restores contacts from a record. Ignores other records. */
void soc_book_restore(struct soc_host *host, const struct soc_record *record);

#endif

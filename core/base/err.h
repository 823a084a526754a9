/* Errors: one table for the C code, the wire name and the text for people.
 *
 * Functions that can fail return SOC_OK or one of these, all negative. The wire name is
 * what a Lua script reads in `err.error` and a door answers; SPEC fixes those names, so
 * they never change.
 * Layer: base. Thread: any. */
#ifndef SOC_BASE_ERR_H
#define SOC_BASE_ERR_H

#define SOC_OK 0

/*  X(name, value, wire name, text for people) */
#define SOC_ERROR_MAP(X)                                                                           \
    X(EINVAL, -1, "invalid_argument", "an argument has the wrong type or value")                   \
    X(ENOAGENT, -2, "agent_not_found",                                                             \
      "no agent has that id; the list of agents has those there are")                              \
    X(ENOCONTACT, -3, "unknown_contact", "the sender does not know the receiver")                  \
    X(ENOROLE, -4, "unknown_role", "no role has that id; declare it with society.role")            \
    X(EEXISTS, -5, "already_exists", "that id is taken")                                           \
    X(EBADID, -6, "invalid_id",                                                                    \
      "an id has 1 to 64 characters of A-Z a-z 0-9 _ . - and starts with a "                       \
      "letter or digit")                                                                           \
    X(EBADMESSAGE, -7, "invalid_message_format", "the message does not fit its type")              \
    X(ENOPAYLOAD, -8, "missing_payload", "a message needs a payload")                              \
    X(ETIMEOUT, -9, "timeout", "no answer came in time")                                           \
    X(ETOOLARGE, -10, "too_large", "the value exceeds its limit")                                  \
    X(EEXPIRED, -11, "expired", "the message outlived its ttl_seconds")                            \
    X(ENOMESSAGE, -12, "message_not_found", "no such message")                                     \
    X(EREFUSED, -13, "refused", "a policy refused this")                                           \
    X(ENONDET, -14, "nondeterministic", "the script did not repeat its recorded effects")          \
    X(ETOOLONG, -15, "activation_too_long",                                                        \
      "the activation has too many effects; continue with a message to itself")                    \
    X(EDEADLOCK, -16, "deadlock", "the wait would never end")                                      \
    X(ESTOPPED, -17, "agent_stopped", "the agent has ended")                                       \
    X(EFORBIDDEN, -18, "forbidden", "this agent may not do that")                                  \
    X(ERECEIVER, -19, "receiver_failed",                                                           \
      "the receiver has failed; it continues when it is resumed")                                  \
    X(ETOODEEP, -21, "too_deep", "the agent tree would be too deep; spawn from a higher agent")    \
    X(ECHILDREN, -22, "too_many_children",                                                         \
      "the agent has spawned too many children in its lifetime")                                   \
    X(EAGENTS, -23, "too_many_agents", "there are too many agents; terminate some first")          \
    X(EHOPS, -24, "too_many_hops", "this chain of messages has too many hops")                     \
    X(EMAILBOX, -25, "mailbox_full",                                                               \
      "the receiver's mailbox is full; nothing was sent, try again later")                         \
    X(ENOPROGRESS, -28, "no_progress",                                                             \
      "too many messages in a row without progress; finish, or do something else")                 \
    X(ECOUNT, -41, "count_differs", "the number of matches differs; look again, then repeat")      \
    X(EAMBIGUOUS, -42, "ambiguous", "several fit; name one of them by its id")                     \
    X(EKEYREUSED, -43, "key_reused",                                                               \
      "the idempotency key was used for another request; choose a new one")                        \
    X(ENOHOST, -46, "unknown_host",                                                                \
      "this host is not joined to one of that name; see config.hosts and --peers")                 \
    X(EGONE, -44, "gone", "the rows after that line were removed; begin at the first there is")    \
    X(ECHANGED, -45, "script_changed",                                                             \
      "the script has changed, and some waiting activations no longer fit")                        \
    X(ENOITEM, -26, "item_not_found", "no inbox item has that id")                                 \
    X(EDECIDED, -27, "already_decided", "the item is already decided; the first decision stands")  \
    X(EWITHDRAWN, -29, "item_withdrawn",                                                           \
      "the item was withdrawn: its task was cancelled, its request has ended, or its agent "       \
      "was ended by force")                                                                        \
    X(ENOTASK, -60, "task_not_found", "no open or recently ended task has that id")                \
    X(EALREADYUP, -68, "already_up", "the link is up")                                             \
    X(ETASKOVER, -61, "task_finished", "the task has already ended")                               \
    X(ECANCELLED, -62, "cancelled", "the task was cancelled")                                      \
    X(EDROPPED, -67, "dropped", "the message was dropped before it was processed")                 \
    X(ENOQUERY, -65, "unknown_query", "no open query of the receiver to this agent has that id")   \
    X(EOTHERTASK, -66, "unknown_task", "the task belongs to another agent")                        \
    X(EINDOUBT, -63, "in_doubt",                                                                   \
      "the program ended during this call; it may or may not have been done")                      \
    X(EBUDGET, -64, "budget_exceeded", "the token or cost limit is reached; raise it to continue") \
    X(EJSON, -20, "invalid_json", "the text is not JSON")                                          \
    X(EIO, -30, "storage_failed", "the disk failed; it is unknown what was written")               \
    X(EDISKFULL, -31, "storage_full", "the disk is full; free some space to continue")             \
    X(ELOCKED, -32, "state_locked", "another process holds the state directory")                   \
    X(ENEWER, -33, "state_newer", "the state directory was written by a newer program")            \
    X(ECORRUPT, -34, "state_damaged", "stored data is damaged")                                    \
    X(EOTHERAPP, -35, "other_app", "the state directory belongs to another app")                   \
    X(EACCESS, -36, "no_permission", "no permission for that file")                                \
    X(ENOFILE, -37, "no_such_file", "the file does not exist")                                     \
    X(ECLOSED, -38, "closed", "the other end is closed")                                           \
    X(EOLDER, -39, "state_older",                                                                  \
      "the state directory was written by an older program; run its app once")                     \
    X(ESCRIPT, -40, "script_error", "the script raised an error")

/* An error, negative. */
enum soc_error {
#define X(name, value, wire, text) SOC_##name = (value),
    SOC_ERROR_MAP(X)
#undef X
};

/* A message about one failure, filled by functions that have more to say than a code.
 * Always NUL-terminated; empty if nothing was said. */
struct soc_detail {
    char text[512];
};

/* Returns the wire name of `code`, "unknown_error" for one not in the table. */
const char *soc_error_name(int code);

/* Returns the text for people. */
const char *soc_error_text(int code);

/* Writes a formatted message into `detail` (NULL is allowed) and returns `code`, so that
 * a failing function can end with one line. */
int soc_fail(struct soc_detail *detail, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with SOC_EINVAL because there is no `what` called `name`; `known` lists the names
 * there are: "unknown setting 'x'; there are a, b". */
int soc_fail_unknown(struct soc_detail *detail, const char *what, const char *name,
                     const char *known);

#endif

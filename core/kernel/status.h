/* Status: the status of an agent, always derived and never stored.
 *
 * Lasting conditions (paused, unresponsive, failed) are fields of the agent;
 * soc_status_of alone ranks them against each other. Other vocabularies map these
 * names: Helix shows idle, unresponsive, stopped and failed as they are and the rest
 * as `busy`; the workflow files show unresponsive and stopped as they are and the
 * rest as `active`.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_STATUS_H
#define SOC_KERNEL_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct soc_activation;
struct soc_agent;
struct soc_host;

/*  S(tag, name on the wire) */
#define SOC_STATUS_MAP(S)                                                                          \
    S(IDLE, "idle")                                                                                \
    S(WORKING, "working")                                                                          \
    S(BLOCKED_INTERNAL, "blocked_internal") /* waits for an agent or for mail */                   \
    S(BLOCKED_USER, "blocked_user")                                                                \
    S(PAUSED, "paused")             /* no turn starts until it is resumed */                       \
    S(FAILED, "failed")             /* the same, after repeated failures */                        \
    S(UNRESPONSIVE, "unresponsive") /* lives outside and does not answer */                        \
    S(ENDING, "ending")             /* drains its mailbox, accepts no new mail */                  \
    S(STOPPED, "stopped")

/* The statuses. */
enum soc_status {
#define S(tag, name) SOC_STATUS_##tag,
    SOC_STATUS_MAP(S)
#undef S
};

/* Returns the status of the agent. */
enum soc_status soc_status_of(const struct soc_host *host, const struct soc_agent *agent);

/* Returns its status from its work alone, whether or not it is held, ending or ended. */
enum soc_status soc_status_of_work(const struct soc_host *host, const struct soc_agent *agent);

/* Lends how `agent` stands to the message with that key, which it has received and whose
 * sender waits: queued, working, blocked, finished (it has handled it), paused, failed or
 * outside. */
const char *soc_status_of_receiver(const struct soc_host *host, const struct soc_agent *agent,
                                   uint64_t key, bool is_finished);

/* Lends its name. */
const char *soc_status_name(enum soc_status status);

/* Records in the activity log that the agent is blocked, if it is and this wait is not
 * recorded yet. */
void soc_status_log_blocked(struct soc_host *host, const struct soc_agent *agent);

/* The wait of the activation ends now: records that if its start was recorded. */
void soc_status_log_unblocked(struct soc_host *host, struct soc_activation *activation);

#endif

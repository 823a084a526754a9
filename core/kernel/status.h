/* Status: how an agent is, derived from what is so and never set by hand.
 *
 * A state that outlasts what an agent does (paused, unresponsive, failed) is a fact
 * of the agent; soc_status_of is the one place that ranks such facts against each
 * other. Other vocabularies follow from these names: Helix shows idle, unresponsive,
 * stopped and failed as they are and the rest as `busy`; the workflow files show
 * unresponsive and stopped as they are and the rest as `active`.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_STATUS_H
#define SOC_KERNEL_STATUS_H

struct soc_activation;
struct soc_agent;
struct soc_host;

/*  S(tag, name on the wire) */
#define SOC_STATUS_MAP(S)                                                                          \
    S(IDLE, "idle")                                                                                \
    S(WORKING, "working")                                                                          \
    S(BLOCKED_INTERNAL, "blocked_internal") /* waits for an agent, or for any mail */              \
    S(BLOCKED_USER, "blocked_user")                                                                \
    S(PAUSED, "paused")             /* no turn of it starts until it is resumed */                 \
    S(FAILED, "failed")             /* the same; its turns raised too often */                     \
    S(UNRESPONSIVE, "unresponsive") /* lives outside and is not heard */                           \
    S(ENDING, "ending")             /* finishes what is queued, takes no more */                   \
    S(STOPPED, "stopped")

/* What an agent is at. */
enum soc_status {
#define S(tag, name) SOC_STATUS_##tag,
    SOC_STATUS_MAP(S)
#undef S
};

/* Tells how the agent is. */
enum soc_status soc_status_of(const struct soc_host *host, const struct soc_agent *agent);

/* The same as if nobody held it back. */
enum soc_status soc_status_of_work(const struct soc_host *host, const struct soc_agent *agent);

/* Lends its name. */
const char *soc_status_name(enum soc_status status);

/* Writes to the activity log that the agent is blocked, if it is and the log does not
 * have it yet. */
void soc_status_tell(struct soc_host *host, const struct soc_agent *agent);

/* The wait of the activation ends now: writes that down if its beginning was. */
void soc_status_tell_end(struct soc_host *host, struct soc_activation *activation);

#endif

/* Awaiting: operations that answer when something happens, or when their time is over.
 *
 * A call that waits registers here for the reply to a message, for mail to an agent, or, where
 * something else tells it what it waits for, for the end of its time alone. It
 * is called back once: when that was committed, when its time is over, or when the host is
 * freed. Nothing of it is durable: a client asks again after a restart.
 * Layer: kernel. Thread: loop. */
#ifndef SOC_KERNEL_OPERATIONS_AWAITING_H
#define SOC_KERNEL_OPERATIONS_AWAITING_H

#include <stdint.h>

struct soc_agent;
struct soc_awaiting;
struct soc_host;

#define SOC_WAIT_MS_MAX 60000

/* Why a call is woken. */
enum soc_awaited {
    SOC_AWAITED_CAME, /* it was committed; not durable yet */
    SOC_AWAITED_LATE, /* the time is over */
    SOC_AWAITED_GONE, /* the host is being freed: release what is yours, answer nobody */
};

/* Called once. The registration is over. */
typedef void soc_awaited_cb(void *user, enum soc_awaited why);

/* Registers for a reply to the message with that key, for `wait_ms`. Lent until `cb`. */
struct soc_awaiting *soc_awaiting_reply(struct soc_host *host, uint64_t key, int64_t wait_ms,
                                        soc_awaited_cb *cb, void *user);

/* Registers for mail that is handed out to an agent outside. */
struct soc_awaiting *soc_awaiting_mail(struct soc_host *host, const struct soc_agent *agent,
                                       int64_t wait_ms, soc_awaited_cb *cb, void *user);

/* Registers for nothing but the end of the time. */
struct soc_awaiting *soc_awaiting_time(struct soc_host *host, int64_t wait_ms, soc_awaited_cb *cb,
                                       void *user);

/* Ends a registration without calling `cb`. NULL is allowed. */
void soc_awaiting_end(struct soc_host *host, struct soc_awaiting *awaiting);

/* The kernel's: a reply was committed; the time of one is over; the host is being freed. */
void soc_awaiting_note_reply(struct soc_host *host, uint64_t key);
void soc_awaiting_timeout(struct soc_host *host, struct soc_awaiting *awaiting);
void soc_awaiting_free_all(struct soc_host *host);

/* Mail was handed out to that agent. */
void soc_awaiting_note_mail(struct soc_host *host, const struct soc_agent *agent);

#endif

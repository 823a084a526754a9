/* Hosts, orders: what one host asks of another on behalf of its agents.
 *
 * An order is a formal message to `system@host`. It travels as all mail does: it is committed
 * with the turn that gives it and taken exactly once. What obeys it is a turn of its own, as
 * the proxy of the agent that gave it, so the rules of this host decide. An order that cannot
 * be obeyed is answered with `delivery_failed`, a birth with `host_answer`.
 *
 *   host_spawn { role, id, task_brief, … }  an agent is born, the child of the sender
 *   host_end { id, force, reason }          a child of the sender ends; of an agent of that
 *                                           host if `system` says so
 *   host_hold { id, resume, subtree, … }    a child of the sender is paused or resumed
 *   host_gone { id, parent }                a child of `parent` has ended
 *   host_ack { id, message_id, outcome }    what an agent sent to `id` has ended
 *   host_begun { id, message_id }            the task of `id` that the message opened has begun
 *   host_probe, host_probe_back, host_deadlock   see hosts_probe.h and hosts_ring.h
 *
 * A host ignores an order of another host itself that it does not know.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_HOSTS_HOSTS_ORDERS_H
#define SOC_PARTS_HOSTS_HOSTS_ORDERS_H

#include "kernel/mail/send.h"
#include "parts/hosts/hosts_state.h"
#include "store/record.h"

/* Tells whether the message is an order, and obeys it. */
bool soc_hosts_obey(struct soc_host *host, struct soc_hosts_peer *peer, struct soc_agent *from,
                    const struct soc_record_message *r);

/* Refuses what is no order of this host itself for `system@host`. */
int soc_hosts_check_order(struct soc_host *host, struct soc_passage *passage,
                          struct soc_buf *error);

/* A broadcast to all hosts goes to the others as well, in the same turn. */
int soc_hosts_broadcast(struct soc_host *host, const struct soc_passage *passage,
                        struct soc_message *message, struct soc_buf *error);

/* A message from another host has ended: tells that host if an ack is required. */
void soc_hosts_ack(struct soc_host *host, const struct soc_message *message,
                   enum soc_outcome outcome);

/* A message from another host is delivered, or was handled: tells that host if a task begins
 * with it for the first time. */
void soc_hosts_tell_begun(struct soc_host *host, const struct soc_message *message);

/* Tells whether somebody waits for an ack of that message, which went to an agent of the peer. */
bool soc_hosts_awaits_ack(struct soc_host *host, const struct soc_hosts_peer *peer, uint64_t key);

/* Another host has answered an order of `message->to`. */
void soc_hosts_take_answer(struct soc_host *host, struct soc_message *message);

/* An agent has ended: tells the host of its parent and those of its children. */
void soc_hosts_agent_ended(struct soc_host *host, struct soc_agent *agent);

#endif

/* Readers: the parts of a checker, each with the records it reads.
 *
 * Layer: check. Thread: loop. */
#ifndef SOC_CHECK_READERS_H
#define SOC_CHECK_READERS_H

#include "check/books.h"

/* Read one record each; false if it is not one of theirs. */
bool soc_check_mail(struct soc_check *check, const struct soc_record *record);
bool soc_check_people(struct soc_check *check, const struct soc_record *record);
bool soc_check_turns(struct soc_check *check, const struct soc_record *record);
bool soc_check_waits(struct soc_check *check, const struct soc_record *record);
bool soc_check_promises(struct soc_check *check, const struct soc_record *record);

/* Times (times.c): notes a step of the clock, as JSON; when a message may be handled. Checks
 * that it is at `time_ms`, that `receive` takes it in time, and that it does not expire
 * early. */
void soc_check_times_step(struct soc_check *check, struct soc_slice json);
int64_t soc_check_times_from(const struct soc_check *check,
                             const struct soc_check_message *message);
void soc_check_times_note(const struct soc_check *check, struct soc_check_message *message,
                          const struct soc_record_message *record);
void soc_check_times_start(struct soc_check *check, const struct soc_check_agent *agent,
                           const struct soc_check_message *message, int64_t time_ms);
void soc_check_times_take(struct soc_check *check, const struct soc_check_message *message);
void soc_check_times_expire(struct soc_check *check, const struct soc_check_message *message,
                            int64_t time_ms);

/* Waits (waits.c): notes whom an agent begins to wait for, by the JSON of its wait. */
void soc_check_waits_note(struct soc_check *check, struct soc_check_agent *agent,
                          struct soc_slice wait);

/* Promises (promises.c): a message was accepted, and its keys must be remembered; a wait for
 * a decision, or for a message to be processed, ends with this answer. */
void soc_check_promises_keyed(struct soc_check *check, const struct soc_record_message *record);
void soc_check_promises_decided(struct soc_check *check, const struct soc_check_agent *agent,
                                struct soc_slice answer);
void soc_check_promises_acked(struct soc_check *check, const struct soc_check_agent *agent,
                              struct soc_slice answer);

/* A broadcast is for everyone alive except its sender. */
bool soc_check_is_reader(const struct soc_check_agent *agent,
                         const struct soc_check_message *message);

/* Doors (doors.c): an outside agent's message is accepted; a message ends; it is sent again
 * or acked; an event about an outside agent; the society restarts, and gives nobody up. */
void soc_check_doors_sent(struct soc_check *check, const struct soc_record_message *record,
                          const struct soc_check_message *message);
void soc_check_doors_ended(struct soc_check *check, struct soc_check_message *message,
                           uint64_t outcome);
void soc_check_doors_receipt(struct soc_check *check, struct soc_check_message *message,
                             const struct soc_record_receipt *record);
void soc_check_doors_event(struct soc_check *check, const struct soc_record_event *record);
void soc_check_doors_restart(struct soc_check *check);

/* The end of a batch: time and totals, and the states of agents. Totals are compared now
 * and then, because a difference only grows, or if `is_last`. */
void soc_check_totals(struct soc_check *check, struct soc_slice cursor, bool is_last);
void soc_check_states(struct soc_check *check);
void soc_check_cycles(struct soc_check *check);
void soc_check_promises_kept(struct soc_check *check);

/* The end of the history. */
void soc_check_mail_end(struct soc_check *check);
void soc_check_turns_end(struct soc_check *check);

#endif

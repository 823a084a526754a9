/* Fleet books: what the hosts of a fleet may tell each other, by what is durable.
 *
 * They read the batches of each host and the frames that leave it, and trust nothing else:
 *   1. no item leaves before the batch that numbered it is durable at its sender;
 *   2. none is acknowledged before the batch that took it is durable at its receiver.
 * The host is not asked. They write nothing and draw nothing, so they change no run.
 * Layer: world. Thread: loop. */
#ifndef SOC_WORLD_FLEET_BOOKS_H
#define SOC_WORLD_FLEET_BOOKS_H

#include "base/slice.h"
#include "kernel/options.h"

struct soc_fleet_books;

/* Returns the books of a fleet whose frames are not signed; `society` is its common name and
 * lent. Release with soc_fleet_books_free. */
struct soc_fleet_books *soc_fleet_books_new(const char *society);

/* Frees them. NULL is allowed. */
void soc_fleet_books_free(struct soc_fleet_books *books);

/* Adds a host, whose name is copied, and returns the witness that reports on it. */
struct soc_witness soc_fleet_books_add(struct soc_fleet_books *books, const char *host);

/* The host has stopped: what was not durable is lost. */
void soc_fleet_books_lose(struct soc_fleet_books *books, const char *host);

/* A frame leaves `from`; `user` are the books. For soc_network_watch. */
void soc_fleet_books_frame(void *user, const char *from, const char *to, struct soc_slice bytes);

/* Lends the first thing that was wrong, as a sentence, and how many acknowledgements were
 * checked. NULL: nothing was. */
const char *soc_fleet_books_fault(const struct soc_fleet_books *books, uint64_t *checked);

#endif

/* Reader: answers lookups on a thread of its own, from a connection that only reads.
 *
 * Nothing that is read here holds up a commit. Each page is read in a transaction of its
 * own and takes SOC_PAGE_US_MAX at most, so the write-ahead log can be copied back
 * between two of them; while it is much too long, no page begins. Lookups take turns: one
 * that needs several pages goes to the end of the queue after each.
 *
 * While batches are being committed or folded, the reader rests after each page for several times
 * as long as it took: clients that ask over and over would otherwise take a processor from those
 * who work. Lookups that are prompt (the tap's, agents') neither wait for that nor cause it. The
 * other threads take the reader's mutex only to bring a lookup or to fetch answers: on a busy
 * machine the reader may stand still while it holds it. Layer: store. Thread: as the rulers of the
 * struct say. */
#ifndef SOC_STORE_READER_H
#define SOC_STORE_READER_H

#include "loop/loop.h"
#include "store/lookup.h"

struct soc_reader;

/* Starts a reader on `store`, which only reads and which it owns from now on. `loop` is
 * woken when there are answers. */
struct soc_reader *soc_reader_open(struct soc_store *store, struct soc_loop *loop);

/* Has `on_left` called from the reader's thread when lookups have left snapshots. Before the
 * first lookup. */
void soc_reader_on_left(struct soc_reader *reader, void (*on_left)(void *user), void *user);

/* Returns the snapshots that lookups have left, for whoever writes to store; the caller owns
 * them. Thread: any. */
struct soc_snapshot *soc_reader_take_snapshots(struct soc_reader *reader);

/* Queues a lookup, whose batches are durable. Takes it. Thread: any. */
void soc_reader_add(struct soc_reader *reader, struct soc_lookup *lookup);

/* While `is_held`, no page begins. Thread: any. */
void soc_reader_hold(struct soc_reader *reader, bool is_held);

/* The writer begins to commit or to fold, or has ended: until then and a moment longer the reader
 * leaves the processors to others. Thread: any. */
void soc_reader_note_work(struct soc_reader *reader, bool begins);

/* Drops the lookups of `user`: they are answered with SOC_ECLOSED as soon as possible.
 * Thread: any. */
void soc_reader_drop(struct soc_reader *reader, const void *user);

/* Returns the answers there are, in order; the caller owns them. Thread: loop. */
struct soc_lookup *soc_reader_take(struct soc_reader *reader);

/* Tells whether the disk has failed during a page; nothing is answered then. */
bool soc_reader_has_failed(struct soc_reader *reader, struct soc_detail *failure);

/* Ends the thread after the page it reads, closes the store and frees the reader. Returns
 * the lookups that have no answer or whose answer was not taken; those without one have
 * SOC_ECLOSED. NULL is allowed. */
struct soc_lookup *soc_reader_close(struct soc_reader *reader);

#endif

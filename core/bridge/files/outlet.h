/* Outlet: a file of messages that we append to and somebody else reads.
 *
 * Each message is one line, written by one call, so that a reader sees it whole or not
 * yet. Which messages stand in the file is read when it is opened and remembered: after a
 * crash, or with many receivers of one broadcast, the same message is not written a second
 * time. If a write was cut short (the disk was full, we were killed), what is there is
 * ended by a newline and the line written again: readers skip the piece, which is no JSON.
 *
 * Nobody else is to write there. A file that is not as we left it, since somebody has cut
 * or replaced it, is read anew before the next line is written, and that is noted: what it
 * lacks has to be handed out again.
 *
 * When the file is full it is rotated: it goes to the archive, and one takes its place
 * that holds what is still pending, and of the rest the newest and what was written a
 * short while ago, for those who have not looked since. Readers know what they have had
 * by its id.
 * Layer: bridge. Thread: any, one at a time. */
#ifndef SOC_BRIDGE_FILES_OUTLET_H
#define SOC_BRIDGE_FILES_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "bridge/files/workdir.h"

/* How somebody else changed the file. */
enum soc_outlet_change {
    SOC_OUTLET_SOUND,
    SOC_OUTLET_TRUNCATED, /* it is shorter */
    SOC_OUTLET_REPLACED,  /* another file, or longer */
};

/* A file that messages are appended to. */
struct soc_outlet {
    const struct soc_workdir *dir; /* lent */
    enum soc_place place;
    char *name;
    struct soc_map written; /* key of a message -> its highest attempt in the file */
    uint64_t lines;         /* in the file */
    int64_t *times;     /* when each was written, ms; for older lines when the file was opened */
    uint64_t times_max; /* capacity of `times` */
    uint64_t old;       /* result of the last soc_outlet_count_old */
    uint64_t left;      /* lines that the last rotation kept */
    int64_t size;       /* of the file as we left it; < 0: unknown */
    uint64_t inode;
    enum soc_outlet_change change; /* found by a check; the caller resets it */
    bool is_torn;                  /* the file does not end with a newline */
    bool is_unrotated;             /* a rotation failed: reported once by the caller */
};

/* Opens the file and creates it if needed. Returns 0 or a negative errno; the outlet can be
 * used even then: a later write may succeed. */
int soc_outlet_open(struct soc_outlet *outlet, const struct soc_workdir *dir, enum soc_place place,
                    const char *name, int64_t now_ms);

/* Frees the outlet. The file stays. */
void soc_outlet_close(struct soc_outlet *outlet);

/* Returns true if the file has this message with this or a later attempt. */
bool soc_outlet_has(const struct soc_outlet *outlet, uint64_t key, uint16_t attempt);

/* Appends a message; `json` is its envelope. `key` 0: an ack. Returns 0, or a negative errno
 * if no complete line was written. */
int soc_outlet_put(struct soc_outlet *outlet, uint64_t key, uint16_t attempt, struct soc_slice json,
                   int64_t now_ms);

/* Checks that the file is as we left it; otherwise reads it again and sets `change`. Returns
 * 0 or a negative errno. soc_outlet_put does the same. */
int soc_outlet_check(struct soc_outlet *outlet, int64_t now_ms);

/* Counts the lines written before `since_ms`. Cheap if `since_ms` never decreases. */
uint64_t soc_outlet_count_old(struct soc_outlet *outlet, int64_t since_ms);

/* Archives the file as NAME.`stamp`.jsonl; messages for which `is_pending` is true and the
 * newest `newest` lines stay. Returns 0, or a negative errno if nothing changed. */
int soc_outlet_rotate(struct soc_outlet *outlet, const char *stamp, uint64_t newest,
                      bool (*is_pending)(void *user, uint64_t key), void *user);

#endif

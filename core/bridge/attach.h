/* Attach: the other side of the file door, for a person who plays an outside agent.
 *
 * Reads the agent's queue and the broadcasts, acks what was shown and writes what is
 * typed into the agent's own file. What is done with is known by the agent's acks and
 * answers and is not shown again the next time; what was only received is, unless an abort
 * has ended its task. It needs no running society: only its files. What has become of the
 * agent's lines is read from the society's log.
 * Layer: bridge. Thread: main. */
#ifndef SOC_BRIDGE_ATTACH_H
#define SOC_BRIDGE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct soc_attach;

/* Whom a person plays, and how it is shown. */
struct soc_attach_options {
    const char *dir;
    const char *id;
    /* Shows a message, number `number` of those shown: its envelope is JSON. */
    void (*show)(void *user, int number, struct soc_slice envelope);
    /* Tells that a line of this agent was not taken, as the society's log says: for people. */
    void (*warn)(void *user, struct soc_slice text);
    void *user;
};

/* Opens the files of an agent. SOC_ENOFILE, SOC_EACCESS, SOC_ENOAGENT if it is not
 * registered there, with `detail`. Close it with soc_attach_close. */
int soc_attach_open(struct soc_attach **out, const struct soc_attach_options *options,
                    struct soc_detail *detail);

/* Ends it. NULL is allowed. */
void soc_attach_close(struct soc_attach *attach);

/* Shows and acks what is new, and gives a heartbeat if one is due. False: the workflow is
 * over, its files are gone. */
bool soc_attach_look(struct soc_attach *attach, int64_t now_ms);

/* Tells whether the log says of every line said so far whether it was taken. */
bool soc_attach_is_settled(const struct soc_attach *attach);

/* Does what a typed line says:
 *   TEXT              answers the last message shown, or tells the orchestrator
 *   @ID TEXT          writes to ID
 *   /reply N TEXT     answers message N
 *   /done [N] [TEXT]  completes its task, else says that message N is done with
 *   /fail [N] [TEXT]  says that its task has failed
 * SOC_OK; SOC_EINVAL with `detail`, for people; SOC_EACCESS if a file cannot be written;
 * 1 for /quit. */
int soc_attach_say(struct soc_attach *attach, struct soc_slice line, int64_t now_ms,
                   struct soc_detail *detail);

#endif

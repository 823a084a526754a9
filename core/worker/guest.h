/* Guest: an isolated agent's side of its worker process.
 *
 * A guest has a Lua state of its own with the sandbox, the module `society`, and an `agent`
 * whose methods ask the host: each writes a frame and waits for the answer. Its sources come
 * from the host as well. It handles one message after another until the host ends it.
 *
 * The host begins an activation with { open?, run }; `open` comes with the first one:
 *     open: { app?, behaviour?, role, methods, looks, brief?, id, role_name, memory_bytes,
 *             text_bytes }
 *     run: { message, parent?, state?, is_of_host }
 * where app is { path, text, arguments }. The guest asks with a list, its first element is
 * one of
 *     agent NAME ARGUMENTS · society NAME ARGUMENTS · print ARGUMENTS · time · clock ·
 *     random ARGUMENTS · text MESSAGE · status · require NAME
 * and gets [ "ok", RESULTS, is_message? ] or [ "raise", VALUE ]. An activation ends with
 *     done RESULT STATE · unhandled · error VALUE TRACEBACK · over WHICH LIMIT
 * of which the last also ends the process.
 * Layer: worker. Thread: one. */
#ifndef SOC_WORKER_GUEST_H
#define SOC_WORKER_GUEST_H

#include "base/buf.h"

/* Runs a guest that talks over the socket `fd`, from its first frame. Never returns. */
void soc_guest_run(int fd, struct soc_buf *first);

#endif

/* Clients: the outside agents of the file door and their files.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_FILES_CLIENTS_H
#define SOC_BRIDGE_FILES_CLIENTS_H

#include "bridge/files/state.h"

/* Returns the client of an agent. A new one is created and its files are opened, which
 * creates those that are missing.
 *
 * A client that was restored from agents.json as ended has no files. If an agent of that
 * id is alive it is another agent, and its files are opened. */
struct soc_files_client *soc_files_clients_need(struct soc_files *files,
                                                const struct soc_agent *agent);

/* Frees all clients. Their files stay. */
void soc_files_clients_free(struct soc_files *files);

#endif

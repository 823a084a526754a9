#include "bridge/files/state.h"

#include <assert.h>

struct soc_files_client *soc_files_find(struct soc_files *files, struct soc_slice id)
{
    return soc_map_find(&files->clients, id);
}

void soc_files_note_change(struct soc_files_client *client)
{
    struct soc_files *files = client->files;
    if (client->is_changed || files->look_alarm == NULL)
        return;
    client->is_changed = true;
    client->next_changed = files->changed;
    files->changed = client;
    soc_alarm_set(files->look_alarm, 1);
}

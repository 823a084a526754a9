#include "bridge/files/clients.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bridge/files/inlet.h"
#include "bridge/files/log.h"
#include "bridge/files/report.h"
#include "env/ids.h"

static void set_perspective(struct soc_files_client *client, const struct soc_agent *agent)
{
    const char *set = client->files->settings->perspectives;
    struct soc_buf text = {0};
    if (set == NULL || !soc_json_string(soc_json_member(soc_slice_text(set), client->id), &text))
        soc_buf_put_text(&text, agent->role->id);
    free(client->perspective);
    client->perspective = soc_copy_text(text.data, text.length);
    soc_buf_fini(&text);
}

static void open_inlet(struct soc_files_client *client, struct soc_inlet *inlet, const char *suffix)
{
    struct soc_buf name = {0};
    soc_buf_printf(&name, "%s%s", client->id, suffix);
    soc_inlet_open(inlet, client->files, client, SOC_PLACE_AGENTS, soc_buf_text(&name));
    soc_buf_fini(&name);
}

/* Opens the files of an agent and creates missing ones. */
static void open_client(struct soc_files_client *client, const struct soc_agent *agent)
{
    struct soc_files *files = client->files;
    struct soc_buf name = {0};
    client->started_ms = soc_clock_date_of(soc_host_clock(files->host), agent->created_ms);
    soc_message_id_format(client->since, agent->created_ms, agent->since);
    set_perspective(client, agent);
    open_inlet(client, &client->acks, SOC_ACK_SUFFIX);
    open_inlet(client, &client->out, SOC_OUT_SUFFIX);
    client->acks.is_acks = true;
    soc_buf_printf(&name, "%s" SOC_QUEUE_SUFFIX, client->id);
    int code = soc_outlet_open(&client->queue, &files->dir, SOC_PLACE_AGENTS, soc_buf_text(&name),
                               soc_clock_now(soc_host_clock(files->host)));
    struct soc_spot spot = {.agent = soc_slice_text(client->id),
                            .place = client->queue.place,
                            .name = client->queue.name,
                            .offset = -1};
    soc_files_log_write(files, &spot, &client->is_stuck, code);
    soc_workdir_append(&files->dir, SOC_PLACE_AGENTS, client->acks.name, SOC_SLICE(""));
    soc_buf_fini(&name);
    soc_files_note_change(client);
    soc_files_report_soon(files);
}

struct soc_files_client *soc_files_clients_need(struct soc_files *files,
                                                const struct soc_agent *agent)
{
    assert(agent->is_external);
    struct soc_files_client *client = soc_files_find(files, soc_agent_id(agent));
    if (client != NULL && (client->queue.name != NULL || agent->is_ended))
        return client;
    if (client == NULL) {
        client = soc_alloc_zero(sizeof(*client));
        client->files = files;
        client->id = soc_copy_text(agent->id, agent->id_length);
        soc_map_put(&files->clients, soc_slice_text(client->id), client);
    }
    client->is_ended = false;
    client->heard_ms = 0;
    open_client(client, agent);
    return client;
}

static void free_client(struct soc_files_client *client)
{
    soc_inlet_close(&client->acks);
    soc_inlet_close(&client->out);
    soc_outlet_close(&client->queue);
    soc_map_fini(&client->pending);
    free(client->perspective);
    free(client->id);
    free(client);
}

void soc_files_clients_free(struct soc_files *files)
{
    size_t cursor = 0;
    struct soc_files_client *client;
    while ((client = soc_map_each(&files->clients, &cursor)) != NULL)
        free_client(client);
    soc_map_fini(&files->clients);
}

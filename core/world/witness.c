#include "world/witness.h"

#include <assert.h>

#include "kernel/registry.h"
#include "kernel/state.h"
#include "parts/group/barriers.h"

static void note_bounded(void *user, uint32_t mailbox_max)
{
    soc_check_bound(user, mailbox_max);
}

static void note_windowed(void *user, int64_t window_ms)
{
    soc_check_window(user, window_ms);
}

static void note_silenced(void *user, int64_t silence_ms)
{
    soc_check_silence(user, silence_ms);
}

static void note_headed(void *user, struct soc_slice id)
{
    soc_check_orchestrator(user, id);
}

static void note_sealed(void *user, uint64_t sequence, struct soc_slice batch)
{
    soc_check_sealed(user, sequence, batch);
}

static void note_durable(void *user, uint64_t sequence)
{
    soc_check_durable(user, sequence);
}

static void note_called(void *user, struct soc_slice agent, struct soc_slice id)
{
    soc_check_called(user, agent, id);
}

struct soc_witness soc_witness_of(struct soc_check *check)
{
    assert(check != NULL);
    return (struct soc_witness){
        .bounded = note_bounded,
        .windowed = note_windowed,
        .silenced = note_silenced,
        .headed = note_headed,
        .sealed = note_sealed,
        .durable = note_durable,
        .called = note_called,
        .user = check,
    };
}

static void count_mail(struct soc_check *check, const struct soc_agent *agent, int64_t now_ms)
{
    for (int i = 0; i < SOC_PRIORITY_COUNT; i++)
        for (const struct soc_message *m = agent->mailbox.classes[i].first; m != NULL; m = m->next)
            soc_check_census_mail(check, soc_agent_id(agent), m->key, now_ms);
}

static uint64_t count_roles(struct soc_host *host)
{
    size_t cursor = 0;
    uint64_t count = 0;
    const struct soc_role *role;
    while ((role = soc_registry_each_role(host, &cursor)) != NULL)
        count += role->behaviour != NULL;
    return count;
}

void soc_witness_census(struct soc_check *check, struct soc_host *host)
{
    size_t cursor = 0;
    const struct soc_agent *agent;
    soc_check_census_begin(check, count_roles(host), soc_barriers_count(host));
    while ((agent = soc_map_each(&host->registry.agents, &cursor)) != NULL) {
        if (agent->is_ended)
            continue;
        struct soc_slice parent = {0};
        if (agent->parent != NULL)
            parent = soc_agent_id(agent->parent);
        soc_check_census_agent(check, soc_agent_id(agent), parent);
        soc_check_census_standing(check, soc_agent_id(agent), agent->births, agent->hold != 0,
                                  agent->is_ending);
        for (uint32_t i = 0; i < agent->contacts.count; i++)
            soc_check_census_contact(check, soc_agent_id(agent),
                                     soc_agent_id(agent->contacts.items[i].peer));
        count_mail(check, agent, soc_host_now(host));
    }
    soc_check_census_end(check);
}

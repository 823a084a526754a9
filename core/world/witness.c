#include "world/witness.h"

static void note_bounded(void *user, uint32_t mailbox_max)
{
    soc_check_bound(user, mailbox_max);
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
    return (struct soc_witness){
        .bounded = note_bounded,
        .headed = note_headed,
        .sealed = note_sealed,
        .durable = note_durable,
        .called = note_called,
        .user = check,
    };
}

#include "model/delivery/ladder.h"

#include <assert.h>

#include "base/limits.h"

static const char *const names[] = {"end", "timeout", "resend", "warn", "unresponsive"};

const char *soc_rung_name(enum soc_rung_action action)
{
    assert(action <= SOC_RUNG_UNRESPONSIVE);
    return names[action];
}

enum soc_rung_action soc_rung_parse(struct soc_slice name)
{
    for (int i = SOC_RUNG_TIMEOUT; i <= SOC_RUNG_UNRESPONSIVE; i++)
        if (name.data != NULL && soc_slice_equal(name, soc_slice_text(names[i])))
            return (enum soc_rung_action)i;
    return SOC_RUNG_END;
}

struct soc_rung soc_ladder_default(uint32_t step)
{
    static const struct soc_rung rungs[] = {
        {5000, SOC_RUNG_TIMEOUT}, {7000, SOC_RUNG_RESEND},        {12000, SOC_RUNG_TIMEOUT},
        {14000, SOC_RUNG_WARN},   {19000, SOC_RUNG_UNRESPONSIVE},
    };
    if (step < 1 || step > sizeof(rungs) / sizeof(rungs[0]))
        return (struct soc_rung){0};
    return rungs[step - 1];
}

void soc_ladder_start(struct soc_ladder *ladder, int64_t now_ms)
{
    *ladder = (struct soc_ladder){.start_ms = now_ms, .step = 1};
}

int64_t soc_ladder_set(struct soc_ladder *ladder, struct soc_rung rung)
{
    assert(ladder->step > 0);
    int64_t last_ms = ladder->next.at_ms;
    if (ladder->step > SOC_LADDER_STEPS_MAX)
        rung.action = SOC_RUNG_END;
    if (rung.at_ms < last_ms)
        rung.at_ms = last_ms;
    ladder->next = rung;
    return rung.action == SOC_RUNG_END ? 0 : ladder->start_ms + rung.at_ms;
}

enum soc_rung_action soc_ladder_climb(struct soc_ladder *ladder, int64_t now_ms)
{
    enum soc_rung_action action = ladder->next.action;
    if (action == SOC_RUNG_END || now_ms - ladder->start_ms < ladder->next.at_ms)
        return SOC_RUNG_END;
    ladder->next.action = SOC_RUNG_END;
    ladder->step++;
    return action;
}

void soc_ladder_stop(struct soc_ladder *ladder)
{
    ladder->next = (struct soc_rung){0};
}

bool soc_ladder_is_climbed(const struct soc_ladder *ladder)
{
    return ladder->next.action != SOC_RUNG_END;
}

#include "model/pulse.h"

void soc_pulse_begin(struct soc_pulse *pulse, int64_t now_ms)
{
    *pulse = (struct soc_pulse){.counted_ms = now_ms};
}

bool soc_pulse_hear(struct soc_pulse *pulse, int64_t now_ms)
{
    bool was_lost = pulse->is_lost;
    *pulse = (struct soc_pulse){.heard_ms = now_ms, .counted_ms = now_ms};
    return was_lost;
}

int64_t soc_pulse_due(const struct soc_pulse *pulse, int64_t timeout_ms)
{
    return timeout_ms == 0 || pulse->is_alarmed ? 0 : pulse->counted_ms + timeout_ms;
}

bool soc_pulse_lose(struct soc_pulse *pulse)
{
    bool is_news = !pulse->is_alarmed;
    pulse->is_lost = pulse->is_alarmed = true;
    return is_news;
}

void soc_pulse_retry(struct soc_pulse *pulse, int64_t now_ms)
{
    pulse->is_alarmed = false;
    pulse->counted_ms = now_ms;
}

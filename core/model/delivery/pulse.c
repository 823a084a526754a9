#include "model/delivery/pulse.h"

void soc_pulse_begin(struct soc_pulse *pulse, int64_t now_ms)
{
    *pulse = (struct soc_pulse){.counted_ms = now_ms};
}

void soc_pulse_excuse(struct soc_pulse *pulse, int64_t now_ms)
{
    pulse->counted_ms = now_ms;
}

bool soc_pulse_hear(struct soc_pulse *pulse, int64_t now_ms)
{
    bool was_lost = pulse->is_lost;
    pulse->heard_ms = pulse->counted_ms = now_ms;
    pulse->is_lost = pulse->is_alarmed = false;
    return was_lost;
}

int64_t soc_pulse_due(const struct soc_pulse *pulse, int64_t timeout_ms)
{
    return timeout_ms == 0 || pulse->is_alarmed ? 0 : pulse->counted_ms + timeout_ms + 1;
}

bool soc_pulse_lose(struct soc_pulse *pulse)
{
    bool is_news = !pulse->is_alarmed;
    pulse->is_lost = pulse->is_alarmed = true;
    return is_news;
}

bool soc_pulse_give_up(struct soc_pulse *pulse)
{
    pulse->is_owing = true;
    return soc_pulse_lose(pulse);
}

bool soc_pulse_redeem(struct soc_pulse *pulse)
{
    bool was_owing = pulse->is_owing;
    pulse->is_owing = false;
    return was_owing;
}

bool soc_pulse_is_awaited(const struct soc_pulse *pulse)
{
    return !pulse->is_alarmed && !pulse->is_owing;
}

void soc_pulse_retry(struct soc_pulse *pulse, int64_t now_ms)
{
    pulse->is_alarmed = pulse->is_owing = false;
    pulse->counted_ms = now_ms;
}

/* News: whether an agent may have broadcasts to look at.
 *
 * For the files of this folder only, as state.h: one comparison where nobody writes to
 * all.
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_GROUP_NEWS_H
#define SOC_PARTS_GROUP_NEWS_H

#include "kernel/state.h"
#include "parts/group/broadcasts.h"

/* Tells whether something was sent to all since the agent last looked. */
static inline bool soc_news_has(const struct soc_host *host, const struct soc_agent *agent)
{
    return agent->news < host->news_key;
}

/* Hands it over, if there is anything. */
static inline void soc_news_look(struct soc_host *host, struct soc_agent *agent)
{
    if (soc_news_has(host, agent))
        soc_broadcasts_collect(host, agent);
}

#endif

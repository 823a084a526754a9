/* Contacts state: private to the part `contacts`.
 *
 * Layer: parts. Thread: loop. */
#ifndef SOC_PARTS_CONTACTS_CONTACTS_STATE_H
#define SOC_PARTS_CONTACTS_CONTACTS_STATE_H

#include "kernel/state.h"
#include "parts/table.h"

/* Open introduction requests, and verdicts of the contacts policy. */
struct soc_contacts_state {
    struct soc_map introductions; /* key of the request -> soc_introduction, owned */
    struct soc_buf due;           /* keys of requests due for their next step */
    uint32_t hops_max;            /* agents that may pass a request on */
    bool is_introducing;          /* a step is being taken */
    uint32_t policy_generation;   /* raised when a verdict may have changed */
    const struct soc_symbol *request;
    const struct soc_symbol *response;
    const struct soc_symbol *collaboration_response;
};

/* Lends the part's state. */
static inline struct soc_contacts_state *soc_contacts_state(const struct soc_host *host)
{
    return soc_part_state(host, SOC_PART_CONTACTS);
}

#endif

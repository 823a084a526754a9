/* Links, numbers: each host has a number from 0 to 99, which no other may have. */
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "bridge/links/links_state.h"
#include "parts/hosts/hosts.h"

/* Where the search for a free number begins: a new host of a known name finds its own again. */
static int first_number(const char *name)
{
    return (int)(soc_hash(name, strlen(name), 0) % (SOC_HOSTS_MAX - 1)) + 1;
}

void soc_links_begin_number(struct soc_links *links, int number)
{
    links->is_searching = number < 0;
    links->wanted = links->is_searching ? first_number(links->name) : number;
}

void soc_links_claim(struct soc_links *links)
{
    int number = soc_hosts_number_of(links->host);
    if (number >= 0 || !links->is_searching)
        soc_carrier_claim(links->carrier, number >= 0 ? number : links->wanted);
}

/* A carrier that has forgotten everything says that all numbers are free. So a host that looks for
 * one lets the others claim theirs again: all have once they show their cards, which follow their
 * claims, and those that run have after one round. */
static bool may_search(const struct soc_links *links)
{
    if (soc_links_now(links) - links->ready_ms >= SOC_LINKS_CARDS_MS)
        return true;
    for (int i = 0; i < links->count; i++)
        if (links->ends[i].card == 0 || links->ends[i].shown_ms < links->ready_ms)
            return false;
    return true;
}

void soc_links_search(struct soc_links *links)
{
    if (links->is_searching && soc_hosts_number_of(links->host) < 0 && may_search(links))
        soc_carrier_claim(links->carrier, links->wanted);
}

/* Another host has the number of this one. */
static void refuse_number(struct soc_links *links, int number, struct soc_slice host)
{
    struct soc_buf text = {0};
    soc_buf_printf(&text, "the host '%.*s' has the number %d of this host; no link is used",
                   (int)host.length, host.data, number);
    links->is_taken = true;
    for (int i = 0; i < links->count; i++)
        if (links->ends[i].link != NULL)
            soc_link_lost(links->ends[i].link);
    soc_links_alert(links, NULL, "number_taken", soc_buf_text(&text));
    soc_buf_fini(&text);
}

/* The number is this host's: it is stored, unless it was. */
static void take_number(struct soc_links *links, int number)
{
    bool was_taken = links->is_taken;
    links->is_taken = false;
    if (soc_hosts_number_of(links->host) < 0)
        soc_hosts_set_number(links->host, number);
    if (was_taken)
        soc_links_alert(links, NULL, "number_free", "the number of this host is its own again");
    if (!links->is_numbered)
        soc_links_mark(links, NULL);
    else if (was_taken)
        soc_links_start_all(links);
}

void soc_links_hear_claimed(void *user, int number, struct soc_slice host)
{
    struct soc_links *links = user;
    int own = soc_hosts_number_of(links->host);
    if (number != (own >= 0 ? own : links->wanted))
        return; /* it has moved on */
    if (soc_slice_equal(host, soc_slice_text(links->name))) {
        take_number(links, number);
    } else if (own < 0 && links->is_searching && links->tries < SOC_HOSTS_MAX - 2) {
        links->tries++;
        links->wanted = number % (SOC_HOSTS_MAX - 1) + 1; /* 0 is of hosts that never joined */
        soc_carrier_claim(links->carrier, links->wanted);
    } else if (!links->is_taken) {
        refuse_number(links, number, host);
    }
}

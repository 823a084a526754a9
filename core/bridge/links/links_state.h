/* Links state: private to links. Its owner uses links.h.
 *
 * Layer: bridge. Thread: loop. */
#ifndef SOC_BRIDGE_LINKS_LINKS_STATE_H
#define SOC_BRIDGE_LINKS_LINKS_STATE_H

#include "base/buf.h"
#include "bridge/links/link.h"

struct soc_alarm;
struct soc_host;
struct soc_hosts_peer;

#define SOC_LINKS_CARDS_MS 2000

/* A link to one peer. */
struct soc_links_end {
    struct soc_links *links;
    struct soc_hosts_peer *peer;
    int index;
    char *name;
    struct soc_link *link;     /* NULL: its epoch is not durable yet */
    uint64_t awaited;          /* the epoch that is to become durable */
    struct soc_buf busy;       /* what the peer is told of agents here that can take no mail */
    struct soc_buf busy_after; /* where the next piece of that begins */
    int64_t busy_ms;           /* when they were looked at */
    bool is_busy_new;          /* no frame has told it yet */
    bool is_holding;           /* the peer holds mail back: there will be something to tell */
    uint64_t card;             /* a hash of its last card; 0: none yet */
    int64_t card_ms;           /* when that changed */
    int64_t shown_ms;          /* when it was seen last, changed or not */
    bool is_due;               /* a batch is durable: a frame may leave when all it ends is noted */
    bool is_silent;
    char *refused;           /* why its last frame was refused; NULL: it was accepted */
    int64_t refused_ms;      /* since when */
    int64_t refused_said_ms; /* when an alert said so last */
    bool is_refused_said;    /* it gave this reason */
    bool is_blocked;         /* it was said that its stream cannot be read … */
    bool is_shut;            /* … or the one to it not written */
};

/* All links of a host. */
struct soc_links {
    struct soc_host *host;
    struct soc_carrier *carrier; /* NULL: stopped */
    struct soc_alarm *alarm;     /* NULL: simulated */
    char *society;
    char *name;
    char *keys[SOC_FRAME_KEYS_MAX];
    int key_count;
    struct soc_links_end *ends;
    int count;
    int wanted;                       /* the number it asks for */
    bool is_searching;                /* none was set: any free one will do */
    int tries;                        /* numbers that others had */
    bool is_ready;                    /* the carrier */
    int64_t ready_ms;                 /* when it was lost or became ready */
    bool is_numbered;                 /* the number is durable and this host's */
    bool is_taken;                    /* another host has the number: all links have stopped */
    bool has_time;                    /* `ahead_ms` is known */
    bool is_skewed;                   /* it was said that the clocks differ */
    bool is_told_lost;                /* that the carrier is lost */
    int64_t ahead_ms;                 /* by how much the carrier's clock is ahead of the host's */
    int64_t exchange_ms;              /* when cards are exchanged next */
    int asking;                       /* exchanges that are not answered … */
    int64_t asked_ms;                 /* … and when the first of them began */
    uint64_t cards;                   /* shown in this run */
    struct soc_buf marks;             /* struct mark, oldest first */
    size_t marks_done;                /* bytes of them that are durable */
    void (*note_durable)(void *user); /* called for each mark */
};

/* ---- links.c ---- */

/* The time of the host. */
int64_t soc_links_now(const struct soc_links *links);

/* Sends an alert; `peer` NULL: it is about this host. */
void soc_links_alert(struct soc_links *links, const char *peer, const char *type, const char *text);

/* Notes what the open batch makes durable. `end` NULL: the number of this host. */
void soc_links_mark(struct soc_links *links, struct soc_links_end *end);

/* Uses the carrier for all links that have everything they need. */
void soc_links_start_all(struct soc_links *links);

/* ---- numbers.c: the number of this host ---- */

/* Sets which number it asks for; `number` -1: any. */
void soc_links_begin_number(struct soc_links *links, int number);

/* Cards are about to be exchanged: claims the number of this host. */
void soc_links_claim(struct soc_links *links);

/* Cards were exchanged: looks for a free number, if it has none. */
void soc_links_search(struct soc_links *links);

/* The carrier says who has a number that was claimed. */
void soc_links_hear_claimed(void *user, int number, struct soc_slice host);

/* ---- looks.c: what people see ---- */

/* Tells whether the link carries messages, as far as is known here. */
bool soc_links_is_up(const struct soc_links_end *end);

/* Appends the links, as soc_hosts_driver says. */
void soc_links_put_all(void *user, struct soc_buf *out);

#endif

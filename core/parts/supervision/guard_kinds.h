/* Guard kinds: what runaway protection limits, with settings and error codes.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_SUPERVISION_GUARD_KINDS_H
#define SOC_PARTS_SUPERVISION_GUARD_KINDS_H

/*  G(tag, setting, default, code): every guard. The order is that of the bits in
 *  soc_agent.guards, which are stored. The default is a name of limits.h.
 *  depth        of the tree of agents; root's children are at 1
 *  children     spawned by one agent in its lifetime
 *  agents       alive at once
 *  hops         from agent to agent in the lineage of a message
 *  mailbox      messages queued for one agent, delayed ones and broadcasts included
 *  no_progress  consecutive messages of a lineage without progress */
#define SOC_GUARD_MAP(G)                                                                           \
    G(DEPTH, "depth_max", SOC_DEPTH_MAX, SOC_ETOODEEP)                                             \
    G(CHILDREN, "children_max", SOC_CHILDREN_MAX, SOC_ECHILDREN)                                   \
    G(AGENTS, "agents_max", SOC_AGENTS_MAX, SOC_EAGENTS)                                           \
    G(HOPS, "hops_max", SOC_HOPS_MAX, SOC_EHOPS)                                                   \
    G(MAILBOX, "mailbox_max", SOC_MAILBOX_MAX, SOC_EMAILBOX)                                       \
    G(PROGRESS, "no_progress_max", SOC_NO_PROGRESS_MAX, SOC_ENOPROGRESS)

/* The guards. */
enum soc_guard {
#define G(tag, setting, fallback, code) SOC_GUARD_##tag,
    SOC_GUARD_MAP(G) SOC_GUARD_COUNT
#undef G
};

#endif

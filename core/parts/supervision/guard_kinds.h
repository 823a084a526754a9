/* Guard kinds: what runaway protection bounds, with its setting and error code.
 *
 * Layer: parts. Thread: any. */
#ifndef SOC_PARTS_SUPERVISION_GUARD_KINDS_H
#define SOC_PARTS_SUPERVISION_GUARD_KINDS_H

/*  G(tag, setting, default, code): every guard; bits of soc_agent.guards in this
 *  order, which are stored. The default is a name of limits.h.
 *  depth        of the tree of agents: root's children have 1
 *  children     that one agent has in its life
 *  agents       alive at a time
 *  hops         from agent to agent of a message's lineage
 *  mailbox      messages queued for one agent, delayed ones and broadcasts included
 *  no_progress  messages in a row of a lineage in which nobody made progress */
#define SOC_GUARD_MAP(G)                                                                           \
    G(DEPTH, "depth_max", SOC_DEPTH_MAX, SOC_ETOODEEP)                                             \
    G(CHILDREN, "children_max", SOC_CHILDREN_MAX, SOC_ECHILDREN)                                   \
    G(AGENTS, "agents_max", SOC_AGENTS_MAX, SOC_EAGENTS)                                           \
    G(HOPS, "hops_max", SOC_HOPS_MAX, SOC_EHOPS)                                                   \
    G(MAILBOX, "mailbox_max", SOC_MAILBOX_MAX, SOC_EMAILBOX)                                       \
    G(PROGRESS, "no_progress_max", SOC_NO_PROGRESS_MAX, SOC_ENOPROGRESS)

/* What is guarded. */
enum soc_guard {
#define G(tag, setting, usual, code) SOC_GUARD_##tag,
    SOC_GUARD_MAP(G) SOC_GUARD_COUNT
#undef G
};

#endif

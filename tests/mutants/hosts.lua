-- Planted faults of joined hosts; see list.lua.

local FLEET = { "unit:fleet_test" }
local BOOKS = { "spec:fleet_sim" }
local LINKS = { "unit:links_test" }
local SPAWN, GROUP = { "spec:spawn_elsewhere" }, { "spec:group_elsewhere" }
local MEET = { "spec:introductions_elsewhere" }
local LATER = { "spec:answers_elsewhere" }
local RINGS, NO_RINGS = { "spec:deadlock_elsewhere" }, { "spec:no_deadlock_elsewhere" }
local WHY = "the standard scenario is one host"

return {
  {
    name = "what was taken is acknowledged before it is durable",
    file = "core/bridge/links/link.c", by = BOOKS, outside = WHY,
    from = ".taken = link->taken_durable,",
    to = ".taken = link->state.taken,",
  },
  {
    name = "mail leaves for another host before it is durable",
    file = "core/bridge/links/link.c", by = BOOKS, outside = WHY,
    from = "link->next <= link->last_durable &&",
    to = "link->next <= link->state.last &&",
  },
  {
    name = "what was taken from another host is counted in memory alone",
    file = "core/bridge/links/links.c", by = FLEET, outside = WHY,
    from = "    if (news->is_state_changed) {\n        keep(end, soc_link_state(end->link));",
    to = "    if (news->is_state_changed) {",
  },
  {
    name = "a host that starts again has its old epoch",
    file = "core/bridge/links/links.c", by = FLEET, outside = WHY,
    from = "        soc_link_state_open(&state, date_of(links));\n" ..
      "        raise_epoch(end, &state);",
    to = "        raise_epoch(end, &state);",
  },
  {
    name = "the first task of an unborn child goes to whoever has its id",
    file = "core/parts/hosts/hosts_in.c", by = SPAWN, outside = WHY,
    from = "return to == NULL || to->parent == NULL || to->parent != from;",
    to = "return to == NULL;",
  },
  {
    name = "anybody ends an agent on another host",
    file = "core/parts/hosts/hosts_orders.c", by = SPAWN, outside = WHY,
    from = "if (known == NULL || known->source != SOC_SOURCE_CHILD)",
    to = "if (known != NULL && known->source != SOC_SOURCE_CHILD)",
  },
  {
    name = "agents give orders to other hosts",
    file = "core/parts/hosts/hosts_orders.c", by = SPAWN, outside = WHY,
    from = "        !soc_slice_equal(local, SOC_SLICE(\"system\")))",
    to = "        soc_slice_equal(local, SOC_SLICE(\"system\")))",
  },
  {
    name = "children on other hosts outlive their parent",
    file = "core/parts/hosts/hosts_orders.c", by = SPAWN, outside = WHY,
    from = "    end_children(host, agent);\n", to = "    (void)end_children;\n",
  },
  {
    name = "a parent knows a child that has ended elsewhere",
    file = "core/parts/hosts/hosts_orders.c", by = SPAWN, outside = WHY,
    from = "        soc_book_erase(host, parent, child);", to = "        (void)parent;",
  },
  {
    name = "ids leave for another host as they are",
    file = "core/parts/hosts/hosts_out.c", by = SPAWN, outside = WHY,
    from = "    if (soc_hosts_qualify(r,",
    to = "    if (r->payload.length == 0 && soc_hosts_qualify(r,",
  },
  {
    name = "ids become addresses in payloads of every type",
    file = "core/parts/hosts/hosts_qualify.c", by = { "spec:introductions_elsewhere", BOOKS[1] },
    outside = WHY,
    from = "    return KIND_OTHER;\n", to = "    return KIND_BRIEF;\n",
  },
  {
    name = "the path of a request ends where it arrives",
    file = "core/parts/contacts/introductions_wire.c", by = MEET, outside = WHY,
    from = "if (send->payload.data[0] != '{' || from->is_remote)",
    to = "if (send->payload.data[0] != '{')",
  },
  {
    name = "a restart moves a request for another host behind later mail",
    file = "core/parts/contacts/introductions.c", by = MEET, outside = WHY,
    from = "!(message->to != NULL && message->to->is_remote) && find(host, message->key) == NULL",
    to = "find(host, message->key) == NULL",
  },
  {
    name = "consent is never told to another host",
    file = "core/parts/contacts/introductions.c", by = MEET, outside = WHY,
    from = "!(message->to != NULL && message->to->is_remote);", to = "message->to != NULL;",
  },
  {
    name = "a task that another host refuses stays open",
    file = "core/parts/hosts/hosts_in.c", by = SPAWN, outside = WHY,
    from = "    if (fails_task(host, peer, &arrival.message) ||",
    to = "    if ((item.length == 0 && fails_task(host, peer, &arrival.message)) ||",
  },
  {
    name = "what is cancelled on another host has failed",
    file = "core/parts/hosts/hosts_in.c", by = { "spec:tasks_elsewhere" }, outside = WHY,
    from = "        return soc_tasks_note_cancelled(host, key, error);",
    to = "        (void)soc_tasks_note_cancelled;",
  },
  {
    name = "who waits for a task that fails elsewhere waits on",
    file = "core/parts/hosts/hosts_in.c", by = { "spec:tasks_elsewhere" }, outside = WHY,
    from = "    soc_request_fail(host, key, soc_error_name(SOC_ERECEIVER), HAS_DEAD_LETTER,",
    to = "    soc_request_fail(host, 0, soc_error_name(SOC_ERECEIVER), HAS_DEAD_LETTER,",
  },
  {
    name = "who waits for an ack of what another host refuses waits on",
    file = "core/parts/hosts/hosts_in.c", by = { "spec:refusals_elsewhere" }, outside = WHY,
    from = "soc_acks_refuse_key(host, key, r->payload);",
    to = "soc_acks_refuse_key(host, 0, r->payload);",
  },
  {
    name = "the trace of a message ends at its host",
    file = "core/parts/hosts/hosts_in.c", by = { "spec:refusals_elsewhere" }, outside = WHY,
    from = "    send.texts[SOC_TEXT_TRACEPARENT] = r->traceparent;\n", to = "",
  },
  {
    name = "everybody writes to all agents of another host",
    file = "core/parts/hosts/hosts_orders.c", by = GROUP, outside = WHY,
    from = "        return soc_broadcasts_check(host, p->from, &p->send, error);",
    to = "        return SOC_OK;",
  },
  {
    name = "a broadcast to all hosts stays on its own",
    file = "core/parts/hosts/hosts_orders.c", by = GROUP, outside = WHY,
    from = "            rc = soc_router_send(host, p->from, &send, &copy, error);",
    to = "            (void)copy;",
  },
  {
    name = "what failed on another host is acked as processed",
    file = "core/parts/hosts/hosts_orders.c", by = GROUP, outside = WHY,
    from = "    if (outcome == SOC_OUTCOME_PROCESSED)", to = "    if (outcome >= 0)",
  },
  {
    name = "who asked an agent that fails elsewhere is not told",
    file = "core/parts/hosts/hosts_in.c", by = GROUP, outside = WHY,
    from = "        if (asked->to != agent ||", to = "        if (asked->to == agent ||",
  },
  {
    name = "the policy hosts is not asked about what comes",
    file = "core/parts/hosts/hosts_in.c", by = { "spec:hosts_policy" }, outside = WHY,
    from = "    if (!is_accepted(host, &arrival.message, &error)) {",
    to = "    if (item.length == 0 && !is_accepted(host, &arrival.message, &error)) {",
  },
  {
    name = "items that come twice are taken twice",
    file = "core/bridge/links/links.c", by = { "spec:fleet_sim", "unit:fleet_test" }, outside = WHY,
    from = "        if (i >= news->skip)\n", to = "        if (i + 1 > 0)\n",
  },
  {
    name = "a restart forgets the first message that is on its way",
    file = "core/parts/hosts/hosts_part.c", by = { "spec:fleet_sim", "unit:fleet_test" },
    outside = WHY,
    from = "        if (r->first + count - 1 > peer->end.acked)",
    to = "        if (r->first + count - 1 > peer->end.acked + 1)",
  },
  {
    name = "a probe overtakes the answer that waits for room",
    file = "core/parts/hosts/hosts_probe.c", by = NO_RINGS, outside = WHY,
    from = "        is_on_its_way(host, &edge))",
    to = "        (edge.peer == NULL && is_on_its_way(host, &edge)))",
  },
  {
    name = "the second round does not look at the numbers of waits",
    file = "core/parts/hosts/hosts_ring.c", by = NO_RINGS, outside = WHY,
    from = "        agent->activation->wait.number != (uint64_t)wait->number)",
    to = "        wait->number < 0)",
  },
  {
    name = "a ring is decided without a second round",
    file = "core/parts/hosts/hosts_ring.c", by = NO_RINGS, outside = WHY,
    from = "    if (is_judge && next.data == NULL) {", to = "    if (is_judge || is_found) {",
  },
  {
    name = "a host lets a ring pass whose waits it does not know",
    file = "core/parts/hosts/hosts_ring.c", by = { "spec:fleet_rings" }, outside = WHY,
    from = "|| !is_own_part_current(host, &ring))",
    to = "|| (ring.count == 0 && !is_own_part_current(host, &ring)))",
  },
  {
    name = "a ring that several probes find is decided several times",
    file = "core/parts/hosts/hosts_ring.c", by = RINGS, outside = WHY,
    from = "    if (soc_hosts_has_seen(host, hash))",
    to = "    if (hash == 0 && soc_hosts_has_seen(host, hash))",
  },
  {
    name = "a lost probe is not followed by another",
    file = "core/parts/hosts/hosts_probe.c", by = NO_RINGS, outside = WHY,
    from = "    soc_heap_add(&probes->times, &watch->due,\n" ..
      "                 soc_host_now(host) +",
    to = "    soc_heap_add(&probes->times, &watch->due,\n" ..
      "                 3600000 + soc_host_now(host) +",
  },
  {
    name = "held mail waits for the next frame",
    file = "core/bridge/links/links.c", by = { "spec:held_mail" }, outside = WHY,
    from = "        soc_link_speak(end->link);",
    to = "        (void)end;",
  },
  {
    name = "a piece of the list of full mailboxes speaks for all of them",
    file = "core/parts/hosts/hosts_busy.c", by = { "unit:hosts_busy_test" }, outside = WHY,
    from = "        if (!is_spoken_of)",
    to = "        if (!is_spoken_of && peer == NULL)",
  },
  {
    name = "a new host takes the number of one that runs",
    file = "core/bridge/links/numbers.c", by = LINKS, outside = WHY,
    from = "links->ready_ms >= SOC_LINKS_CARDS_MS)",
    to = "links->ready_ms >= 0)",
  },
  {
    name = "two hosts with one number talk to each other",
    file = "core/bridge/links/numbers.c", by = LINKS, outside = WHY,
    from = "    links->is_taken = true;",
    to = "    links->is_taken = false;",
  },
  {
    name = "a host whose number is free again stays apart",
    file = "core/bridge/links/numbers.c", by = LINKS, outside = WHY,
    from = "        soc_links_start_all(links);",
    to = "        (void)links;",
  },
  {
    name = "a silent host is never named",
    file = "core/bridge/links/links.c", by = LINKS, outside = WHY,
    from = "now_ms - end->card_ms >= SILENT_MS)",
    to = "now_ms < end->card_ms)",
  },
  {
    name = "agents named while their host is silent look well",
    file = "core/kernel/registry.c", by = LINKS, outside = WHY,
    from = "    agent->is_unresponsive = peer != NULL && peer->is_silent;",
    to = "    agent->is_unresponsive = peer == NULL && id.length == 0;",
  },
  {
    name = "an older copy of a state directory goes unnoticed",
    file = "core/bridge/links/link.c", by = LINKS, outside = WHY,
    from = "        return SOC_LINK_STATE_ROLLED_BACK;",
    to = "        return SOC_LINK_NONE;",
  },
  {
    name = "another state directory goes unnoticed",
    file = "core/bridge/links/link.c", by = LINKS, outside = WHY,
    from = "        return SOC_LINK_PEER_REPLACED;",
    to = "        return SOC_LINK_NONE;",
  },
  {
    name = "--once waits for a carrier that is down",
    file = "core/bridge/links/links.c", by = LINKS, outside = WHY,
    from = "    if (!links->is_ready && soc_links_now",
    to = "    if (links->is_ready && links->is_taken && soc_links_now",
  },
  {
    name = "a fenced host says nothing",
    file = "core/bridge/links/link.c", by = LINKS, outside = WHY,
    from = "        link->stop = SOC_LINK_FENCED;\n        return true;",
    to = "        link->stop = SOC_LINK_FENCED;\n        return false;",
  },
  {
    name = "a request that was handled cannot be answered after a restart",
    file = "core/parts/hosts/hosts_asked.c", by = LATER, outside = WHY,
    from = "    SOC_PARTS_TELL(host, request_lapsed, host, &lapsed);\n",
    to = "",
  },
  {
    name = "a late answer to another host may be given again after a restart",
    file = "core/parts/queries/queries.c", by = LATER, outside = WHY,
    from = "    p->is_query_answer |= p->send.answers_key != 0 &&",
    to = "    p->is_query_answer |= p->send.answers_key == 1 &&",
  },
  {
    name = "who lives outside cannot name a letter of another host",
    file = "core/parts/outside/outside_letters.c", by = LATER, outside = WHY,
    from = "    return letter != NULL ? letter : soc_map_find(&outsider->externals, id);",
    to = "    return soc_map_find(&outsider->externals, id);",
  },
  {
    name = "a late answer does not name what it answers",
    file = "core/kernel/mail/asked.c", by = LATER, outside = WHY,
    from = "    send->texts[SOC_TEXT_FOREIGN_REPLY] = asked->id;\n    if", to = "    if",
  },
}

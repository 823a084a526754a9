-- Planted faults of waits for each other, checkpoints and replies; see list.lua.

local LAWS = { "run:laws" }

return {
  {
    name = "a checkpoint waits for nobody", file = "core/parts/group/group.c", by = LAWS,
    from = "    return seat == NULL ? NULL : seat->agent;",
    to = "    return seat == NULL ? NULL : NULL;",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a checkpoint waits for its first participant only", file = "core/parts/group/group.c",
    by = { "spec:wait_graph_kinds", "spec:checkpoint" },
    from = "    return seat == NULL ? NULL : seat->agent;",
    to = "    return seat == NULL || index > 0 ? NULL : seat->agent;",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a wait for a child's task has no target", file = "core/kernel/turns/wait.c",
    by = LAWS,
    from = "    return index > 0 ? NULL : activation->wait.on;",
    to = "    return index > 0 || activation->wait.kind == SOC_WAIT_TASK ? NULL\n" ..
      "                                                               : activation->wait.on;",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a receive from one agent has no target", file = "core/kernel/turns/wait.c",
    by = LAWS,
    from = "    return index > 0 ? NULL : activation->wait.on;",
    to = "    return index > 0 || activation->wait.kind == SOC_WAIT_RECEIVE ? NULL\n" ..
      "                                                                  : activation->wait.on;",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a wait for a reply has no target", file = "core/kernel/mail/requests.c",
    by = LAWS,
    from = "    if (index > 0)\n        return NULL;\n    for",
    to = "    if (index >= 0)\n        return NULL;\n    for",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a new wait is not looked at", file = "core/kernel/turns/schedule.c", by = LAWS,
    from = "    soc_wait_note(host, activation->agent);\n    if (activation->message == NULL)",
    to = "    if (activation->message == NULL)",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a cycle of two is not searched for", file = "core/model/waits.c", by = LAWS,
    from = "            if (next == start) {", to = "            if (next == start && at > 1) {",
    law = "rings", says = "wait for each other",
  },
  {
    name = "every answer seems to be in transit", file = "core/kernel/turns/deadlock.c", by = LAWS,
    from = "    return is_coming(host, agent, index) ? host->registry.user : target;",
    to = "    return is_coming(host, agent, index) || index == 0 ? host->registry.user : target;",
    law = "rings", says = "wait for each other",
  },
  {
    name = "a reply of anybody is accepted", file = "core/kernel/mail/router.c", by = LAWS,
    from = "    bool is_late = request == NULL || request->to != message->from;",
    to = "    bool is_late = request == NULL;",
    also = {
      file = "core/kernel/gate.c",
      from = "    if (request == NULL || request->to != host->turn.agent)\n" ..
        "        request = soc_request_find_text(host, host->turn.agent, id);",
      to = "    if (request == NULL)\n" ..
        "        request = soc_request_find_text(host, host->turn.agent, id);",
    },
    law = "replies", says = "which went to",
  },
  {
    name = "a checkpoint that was rolled back stays", file = "core/parts/group/barriers.c",
    by = { "run:folds_wild" },
    from = "    soc_barrier_free(soc_map_take_number(&soc_group_state(host)->barriers, " ..
      "undo->number));",
    to = "    (void)host, (void)undo;",
  },
  {
    name = "the end of a checkpoint is not written", file = "core/parts/group/barriers.c",
    by = LAWS,
    from = "    soc_batch_put(host, &record);\n    for (uint32_t i = 0; i < " ..
      "barrier->count; i++)\n" ..
      "        if (barrier->seats[i].state == SOC_SEAT_ASKED)",
    to = "    for (uint32_t i = 0; i < barrier->count; i++)\n" ..
      "        if (barrier->seats[i].state == SOC_SEAT_ASKED)",
  },
  {
    name = "a checkpoint waits for those that have answered", file = "core/parts/group/barriers.c",
    by = { "run:exact" },
    from = "        if (seat->state == SOC_SEAT_ASKED)\n            soc_request_open_for",
    to = "        if (seat->state == SOC_SEAT_ANSWERED)\n            soc_request_open_for",
  },
  {
    name = "a wait for an agent that ends is not ended", file = "core/kernel/ending.c",
    by = LAWS,
    from = "    soc_waiting_note_end(host, agent);\n", to = "",
  },
  {
    name = "a request to an agent that ends stays open", file = "core/kernel/ending.c",
    by = LAWS,
    from = "        if (request->to == agent && !soc_transit_replies(host, request->key))",
    to = "        if (request->to == NULL && !soc_transit_replies(host, request->key))",
  },
}

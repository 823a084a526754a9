-- Planted faults of turns that are rolled back, and of births and ends; see list.lua.

local LAWS = { "run:laws" }
local UNDONE = { "run:undone" }

return {
  {
    name = "a birth is not undone", file = "core/kernel/agents.c", by = LAWS,
    from = "    soc_map_take(&host->registry.agents, soc_agent_id(agent));\n" ..
      "    agent->parent->children--;\n    agent->parent->births--;\n" ..
      "    host->registry.alive--;\n    soc_agent_free(agent);",
    to = "    (void)host, (void)agent;",
    law = "rollback", says = "was never born",
  },
  {
    name = "a birth that is undone stays counted", file = "core/kernel/agents.c",
    by = UNDONE,
    from = "    agent->parent->children--;\n    agent->parent->births--;\n", to = "",
  },
  {
    name = "a role is not undone", file = "core/kernel/agents.c", by = UNDONE,
    from = "    soc_map_take(&host->registry.roles, soc_slice_text(role->id));\n    " ..
      "soc_role_free(role);",
    to = "    (void)host, (void)role;",
    law = "rollback",
  },
  {
    name = "a new contact is not undone", file = "core/parts/contacts/book.c", by = LAWS,
    from = "    if (old == NULL) {\n        soc_contacts_remove(contacts, undo->peer);\n   " ..
      "     return;",
    to = "    if (old == NULL) {\n        return;",
    law = "rollback", says = "as a contact",
  },
  {
    name = "a removed contact is not put back", file = "core/parts/contacts/book.c",
    by = { "run:wild" },
    from = "    soc_contacts_put(contacts, undo->peer, old->contact.source, " ..
      "old->contact.added_ms,\n" ..
      "                     old->contact.extra);\n" ..
      "    soc_contacts_move(contacts, undo->peer, old->place);\n",
    to = "    (void)contacts;\n    soc_contact_extra_free(old->contact.extra);\n",
    law = "rollback", says = "contacts",
  },
  {
    name = "changes of contacts are not noted", file = "core/parts/contacts/book.c",
    by = { "run:wild" },
    from = "    note(host, owner, peer);\n    soc_book_write(host, owner, peer, source, " ..
      "added_ms, extra);",
    to = "    soc_book_write(host, owner, peer, source, added_ms, extra);",
    law = "rollback", says = "contact",
  },
  {
    name = "a deduplication key is not undone", file = "core/parts/duplicates/duplicates.c",
    by = UNDONE,
    from = "    soc_dedupe_remove(&of(host)->keys, undo->data);",
    to = "    (void)host, (void)undo;",
    law = "rollback",
  },
  {
    name = "a hold is not undone", file = "core/parts/supervision/hold.c", by = UNDONE,
    from = "    undo->agent->hold = old_hold_of(undo);\n", to = "",
    law = "rollback",
  },
  {
    name = "the end of an agent is not undone", file = "core/kernel/ending.c", by = LAWS,
    from = "    undo->agent->is_ending = undo->old_flag;\n", to = "",
    law = "rollback",
  },
  {
    name = "a question to the person is not undone", file = "core/parts/human/human.c", by = LAWS,
    from = "static void take_back_item(struct soc_host *host, struct soc_undo *undo)\n{\n",
    to = "static void take_back_item(struct soc_host *host, struct soc_undo *undo)\n{\n" ..
      "    if (undo != NULL)\n        return;\n",
    law = "rollback",
  },
  {
    name = "a decision is not undone", file = "core/parts/human/human.c",
    by = { "spec:human" },
    from = "    free(undo->old);\n    soc_inbox_reopen(&soc_human_state(host)->inbox, undo->data);",
    to = "    free(undo->old);\n    (void)host;",
    law = "rollback",
    outside = "main decides, and the simulator makes only agents' turns raise",
  },
  {
    name = "a broadcast is not undone", file = "core/parts/group/broadcasts.c",
    by = { "run:folds_wild" },
    from = "    soc_broadcast_free(soc_map_take_number(&soc_group_state(host)->broadcasts, " ..
      "message->key));\n}",
    to = "    (void)host, (void)message;\n}",
    law = "rollback",
  },
  {
    name = "a task is not undone", file = "core/parts/tasks/tasks_life.c",
    by = { "run:exact" },
    from = "    task->intent &= (uint8_t)~touch.intent;\n", to = "",
    law = "rollback",
  },
  {
    name = "lines of a turn that raised are shown", file = "core/kernel/turns/turn.c",
    by = LAWS,
    from = "    soc_egress_free(turn->outputs);\n    turn->outputs = NULL;\n" ..
      "    soc_turn_rollback_to",
    to = "    soc_egress_add(host, turn->outputs);\n    turn->outputs = NULL;\n" ..
      "    soc_turn_rollback_to",
    law = "rollback",
  },
  {
    name = "effects of a turn that raised stay", file = "core/kernel/turns/schedule.c",
    by = { "run:laws" },
    from = "    soc_activation_rewind(activation);\n    tell_failure(",
    to = "    tell_failure(",
    law = "rollback",
  },
  {
    name = "an agent that ended keeps its children", file = "core/kernel/ending.c",
    by = { "run:wild" },
    from = "    end_or_adopt_children(host, agent, is_forced, list);\n    soc_host_look_for_news",
    to = "    (void)is_forced, (void)list;\n    soc_host_look_for_news",
  },
  {
    name = "delayed mail for an agent that ends is lost", file = "core/kernel/ending.c",
    by = LAWS,
    from = "    while ((message = soc_message_list_pop(&delayed)) != NULL)\n" ..
      "        soc_router_finish(host, message, SOC_OUTCOME_DEAD, REASON);",
    to = "    soc_mail_free_list(host, &delayed);",
    law = "nothing is lost",
  },
}

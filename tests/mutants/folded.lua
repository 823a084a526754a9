-- Planted faults of folding and of restarts from the tables; see list.lua. The simulator
-- folds often only if it is told to.

local FOLDS = { "run:folds" }

return {
  {
    name = "folding forgets decisions", file = "core/store/tables/fold.c",
    by = { "run:folds_wild" },
    from = "        [SOC_RECORD_ITEM_END] = SOC_STATEMENT_ITEM_END,",
    to = "        [SOC_RECORD_ITEM_END] = SOC_STATEMENT_BROADCAST_OVER,",
    law = "decisions",
  },
  {
    name = "a decision is not loaded from the tables", file = "core/store/tables/load.c",
    by = FOLDS,
    from = "        \" WHERE decided_ms IS NOT NULL AND key > \" DECIDED_FROM \" ORDER BY key\"},",
    to = "        \" WHERE decided_ms IS NULL AND key > \" DECIDED_FROM \" ORDER BY key\"},",
    law = "decisions",
  },
  {
    name = "a restart forgets decisions", file = "core/parts/human/human.c",
    by = { "run:laws" },
    from = "    else if (record->type == SOC_RECORD_ITEM_END)\n        soc_item_free",
    to = "    else if (record->type == SOC_RECORD_ITEM_END && host == NULL)\n        soc_item_free",
    law = "decisions",
  },
  {
    name = "a restart forgets open questions", file = "core/parts/human/human.c",
    by = { "run:laws" },
    from = "    if (record->type == SOC_RECORD_ITEM)\n        open_item",
    to = "    if (record->type == SOC_RECORD_ITEM && host == NULL)\n        open_item",
    law = "decisions",
  },
  {
    name = "folding forgets keys", file = "core/store/tables/statements.c", by = FOLDS,
    from = "\"INSERT OR REPLACE INTO sent_keys({sent_key}) VALUES({?sent_key})\"",
    to = "\"INSERT OR IGNORE INTO sent_keys({sent_key}) SELECT {?sent_key} WHERE ?1 < 0\"",
    law = "keys", says = "has a key that was used",
  },
  {
    name = "folding forgets young keys with the old", file = "core/store/tables/statements.c",
    by = FOLDS,
    from = "\"DELETE FROM sent_keys WHERE since_ms <= ?1\"",
    to = "\"DELETE FROM sent_keys WHERE since_ms >= ?1\"",
    law = "keys",
  },
  {
    name = "folding forgets delays", file = "core/store/tables/load.c", by = FOLDS,
    from = "    int column = read_record(row, type, &record);\n",
    to = "    int column = read_record(row, type, &record);\n" ..
      "    if (type == SOC_RECORD_MESSAGE)\n        record.message.deliver_at_ms = 0;\n",
    law = "times", says = "before its time",
  },
  {
    name = "folding forgets times to live", file = "core/store/tables/load.c", by = FOLDS,
    from = "    int column = read_record(row, type, &record);\n",
    to = "    int column = read_record(row, type, &record);\n" ..
      "    if (type == SOC_RECORD_MESSAGE)\n        record.message.expires_ms = 0;\n",
    law = "times", says = "after its time to live",
  },
  {
    name = "folding forgets contacts", file = "core/store/tables/fold.c", by = FOLDS,
    from = "    soc_window_run_record(window, SOC_STATEMENT_CONTACT, record);\n", to = "",
    law = "contacts", says = "according to the history",
  },
  {
    name = "folding forgets that a contact was removed", file = "core/store/tables/fold.c",
    by = { "run:wild" },
    from = "    soc_window_run_record(window, SOC_STATEMENT_CONTACT_DELETE, record);\n", to = "",
    law = "contacts",
  },
  {
    name = "folding forgets that a child was removed from the contacts",
    file = "core/store/tables/fold.c", by = { "unit:store_test" },
    from = "    soc_window_run_record(window, SOC_STATEMENT_CONTACT_FORGOTTEN, record);\n", to = "",
    outside = "no agent may remove its parent or child; unit:store_test writes such records",
  },
  {
    name = "folding forgets that an agent has ended", file = "core/store/tables/fold.c", by = FOLDS,
    from = "    soc_window_run_record(window, SOC_STATEMENT_AGENT_END, record);\n", to = "",
    law = "contacts", says = "has ended",
  },
  {
    name = "folding forgets that an agent is ending", file = "core/store/tables/statements.c",
    by = { "run:folds_exact" },
    from = "\"UPDATE agents SET ending_ms = ?1, end_reason = ?3 WHERE id = ?2\" ALIVE",
    to = "\"UPDATE agents SET end_reason = ?3 WHERE id = ?2 AND ?1 > 0\" ALIVE",
  },
  {
    name = "folding forgets what was taken", file = "core/store/tables/fold.c", by = FOLDS,
    from = "            soc_window_run_record(window, SOC_STATEMENT_TAKE, " ..
      "&window->takes.items[i].record);",
    to = "            continue;",
  },
  {
    name = "folding forgets effects", file = "core/store/tables/fold.c", by = FOLDS,
    from = "            soc_window_run_record(window, SOC_STATEMENT_EFFECT, " ..
      "&window->effects.items[i].record);",
    to = "            continue;",
  },
  {
    name = "folding forgets a late answer", file = "core/store/tables/fold.c", by = FOLDS,
    from = "    if (effect == SOC_WINDOW_NONE)\n        soc_window_run_record(window, " ..
      "SOC_STATEMENT_ANSWER, record);\n    else",
    to = "    if (effect != SOC_WINDOW_NONE)",
  },
  {
    name = "folding keeps effects of what has finished", file = "core/store/tables/fold.c",
    by = FOLDS,
    from = "    run_texts(window, SOC_STATEMENT_EFFECTS_END, agent, NULL);\n", to = "",
  },
  {
    name = "folding keeps finished activations", file = "core/store/tables/fold.c", by = FOLDS,
    from = "    run_texts(window, SOC_STATEMENT_ACTIVATION_END, agent, NULL);\n", to = "",
  },
  {
    name = "folding forgets holds", file = "core/store/tables/statements.c",
    by = { "spec:hold_property", "spec:pause" },
    from = "\"UPDATE agents SET hold = nullif(?2, 0), guards = nullif(?3, 0) WHERE id = ?5\" ALIVE",
    to = "\"UPDATE agents SET guards = nullif(?3, 0) WHERE id = ?5 AND ?2 >= 0\" ALIVE",
  },
  {
    name = "folding forgets answers to a checkpoint", file = "core/store/tables/fold.c", by = FOLDS,
    from = "        [SOC_RECORD_SEAT] = SOC_STATEMENT_SEAT,",
    to = "        [SOC_RECORD_SEAT] = SOC_STATEMENT_SEATS_END,",
  },
  {
    name = "folding forgets tasks", file = "core/store/tables/statements.c",
    by = { "run:folds_exact" },
    from = "\"INSERT OR REPLACE INTO task_entries({task}) VALUES({?task})\"",
    to = "\"INSERT OR IGNORE INTO task_entries({task}) VALUES({?task})\"",
  },
  {
    name = "folding forgets places of doors", file = "core/store/tables/statements.c", by = FOLDS,
    from = "\"INSERT OR REPLACE INTO positions({position}) VALUES({?position})\"",
    to = "\"INSERT OR IGNORE INTO positions({position}) VALUES({?position})\"",
    law = "lines", says = "line",
  },
  {
    name = "folding forgets who the parent is", file = "core/store/tables/statements.c",
    by = { "run:folds_wild" },
    from = "\"UPDATE agents SET parent = ?3, is_adopted = 1 WHERE id = ?2\" ALIVE",
    to = "\"UPDATE agents SET is_adopted = 1 WHERE id = ?2 AND ?3 IS NOT NULL\" ALIVE",
    law = "rollback", says = "the parent of",
  },
  {
    name = "folding forgets outputs that were not shown", file = "core/store/tables/fold.c",
    by = { "run:prints" },
    from = "        if (window->outputs.items[i].record.output.key > window->outputs_shown)",
    to = "        if (window->outputs.items[i].record.output.key > window->outputs_shown + 1000)",
    law = "output commit",
  },
  {
    name = "folding forgets readers of broadcasts", file = "core/store/tables/statements.c",
    by = FOLDS,
    from = "\"INSERT OR REPLACE INTO broadcast_ends({broadcast_end}) VALUES({?broadcast_end})\"",
    to = "\"INSERT OR REPLACE INTO broadcast_ends({broadcast_end})" ..
      " SELECT {?broadcast_end} WHERE ?1 < 0\"",
  },
}

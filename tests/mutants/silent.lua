-- Planted faults that leave a society in good order: only books of the checkers' own show
-- them. See list.lua.

return {
  {
    name = "a broadcast never reaches one of its readers", file = "core/host/broadcasts.c",
    by = { "sim:tests/mutants/news.lua" },
    from = "        if (!is_for_it)\n            continue;",
    to = "        if (!is_for_it ||\n" ..
      "            soc_slice_equal(soc_agent_id(agent), SOC_SLICE(\"reader4\")))\n" ..
      "            continue;",
    law = "nothing is lost", says = "has not reached reader4",
  },
  {
    name = "a broadcast counts a reader too few", file = "core/host/broadcasts.c",
    by = { "sim:tests/mutants/news.lua" },
    from = "    host->totals.sent += broadcast->left;",
    to = "    host->totals.sent += broadcast->left - 1;",
    law = "conservation", says = "messages came in",
  },
}

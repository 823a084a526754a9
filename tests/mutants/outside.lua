-- Planted faults of doors, ladders and models; see list.lua.

return {
  {
    name = "a heartbeat pays for an ack", file = "core/model/delivery/pulse.c",
    by = { "spec:ladder" },
    from = "    pulse->is_lost = pulse->is_alarmed = false;",
    to = "    pulse->is_lost = pulse->is_alarmed = pulse->is_owing = false;",
  },
  {
    name = "an abandoned letter climbs again", file = "core/parts/outside/outside_watch.c",
    by = { "spec:ladder" },
    from = "if (letter->is_given_up || !soc_pulse", to = "if (!soc_pulse",
  },
  {
    name = "a decision does not end the alarm", file = "core/parts/outside/outside_watch.c",
    by = { "spec:unresponsive" },
    from = "    soc_pulse_retry(&outsider->pulse, soc_host_now(host));\n", to = "",
  },
  {
    name = "the limit of silence is off by one", file = "core/model/delivery/pulse.c",
    by = { "unit:ladder_test" },
    from = "+ timeout_ms + 1;", to = "+ timeout_ms;",
  },
  {
    name = "rungs may go down", file = "core/model/delivery/ladder.c", by = { "unit:ladder_test" },
    from = "    if (rung.at_ms < last_ms)", to = "    if (rung.at_ms < 0)",
    outside = "a rung that is earlier than the last one is due at once in either case",
  },
  {
    name = "an ack does not stop the ladder", file = "core/parts/outside/outside_in.c",
    by = { "run:outside", "spec:ladder" },
    from = "    soc_outside_stop(letter);\n    trace_ack", to = "    trace_ack",
  },
  {
    name = "a late answer goes to the orchestrator", file = "core/parts/outside/outside_in.c",
    by = { "spec:outside_answers" },
    from = "    if (!address(outsider, mail, &send, &cause)) {",
    to = "    if (!address(outsider, mail, &send, &cause) && outsider == NULL) {",
  },
  {
    name = "what a full mailbox refuses is read past", file = "core/parts/outside/outside_in.c",
    by = { "spec:outside_answers" },
    from = "        if (is_temporary(rc))",
    to = "        if (is_temporary(rc) && outsider == NULL)",
  },
  {
    name = "a key is remembered for ever", file = "core/model/delivery/dedupe.c",
    by = { "unit:dedupe_test" },
    from = "    return now_ms - entry->since_ms >= window_ms;",
    to = "    return now_ms - entry->since_ms < 0 && window_ms > 0;",
  },
  {
    name = "nothing is set aside for calls under way", file = "lua/society/llm/budget.lua",
    by = { "spec:llm_budget" },
    from = "if max > 0 and aside and room[what]", to = "if max < 0 and aside and room[what]",
  },
  {
    name = "people's time counts as the agent's", file = "lua/society/llm/patience.lua",
    by = { "spec:llm_guards" },
    from = "  self.guard:waited(self.agent:now() - began_ms)",
    to = "  self.guard:waited(0 * began_ms)",
  },
  {
    name = "remembering is progress", file = "core/parts/models/memory.c", by = { "spec:llm_talk" },
    from = "{.roll_back = take_back, .is_talk = true}",
    to = "{.roll_back = take_back}",
  },
  {
    name = "a call of tools goes without its answers", file = "lua/society/llm/talk.lua",
    by = { "spec:llm_context" },
    from = "      last, is_whole = seen, whole ~= nil", to = "      last = seen",
  },
  {
    name = "a model's nonsense is taken as its final text", file = "lua/society/llm/failure.lua",
    by = { "run:models" },
    from = "sent an invalid answer: \" .. text,\n    retryable = true }",
    to = "sent an invalid answer: \" .. text,\n    retryable = false }",
  },
  {
    name = "a model that breaks off is not asked again", file = "lua/society/llm/failure.lua",
    by = { "run:models" },
    from = "timeout = true, connection_cut = true,", to = "timeout = true,",
  },
}

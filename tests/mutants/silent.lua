-- Planted faults that leave a society in good order: only books of the checkers' own show
-- them. See list.lua.

return {
  {
    name = "a broadcast never reaches one of its readers", file = "core/parts/group/broadcasts.c",
    by = { "run:news" },
    from = "        if (!is_for_it)\n            continue;",
    to = "        if (!is_for_it ||\n" ..
      "            soc_slice_equal(soc_agent_id(agent), SOC_SLICE(\"reader4\")))\n" ..
      "            continue;",
    law = "nothing is lost", says = "has not reached reader4",
  },
  {
    name = "a broadcast counts a reader too few", file = "core/parts/group/broadcasts.c",
    by = { "run:news" },
    from = "    host->totals.sent += broadcast->left;",
    to = "    host->totals.sent += broadcast->left - 1;",
    law = "conservation", says = "messages were sent",
  },
  {
    name = "a request leaves before it is durable", file = "core/parts/models/calls.c",
    by = { "run:models" },
    from = "    soc_egress_call(host, depart, host);", to = "    depart(host);",
    law = "output commit", says = "before it was durable",
  },
  {
    name = "a letter is handed out before it is durable",
    file = "core/parts/outside/outside_mail.c",
    by = { "run:outside" },
    from = "    return letter->sequence <= host->outbox.released &&",
    to = "    return letter->sequence <= host->outbox.released + 1000000 &&",
    also = {
      from = "    outsider->calls++;\n    soc_egress_call(host, hand_out_now, outsider);",
      to = "    outsider->calls++;\n    if (outsider->calls > 1 && host->outbox.released > 40)\n" ..
        "        hand_out_now(outsider);\n    else\n" ..
        "        soc_egress_call(host, hand_out_now, outsider);",
    },
    law = "output commit", says = "before that was durable",
  },
  {
    name = "an introduction nobody asked for is taken",
    file = "core/parts/contacts/introductions_wire.c",
    by = { "run:unasked" },
    from = "    if (host->hooks.takes_unsolicited(host->hooks.user, from, to))",
    to = "    if (from != to)",
    law = "contacts", says = "a got to know b without a reason",
  },
  {
    name = "the society's time is that of the wall clock", file = "core/env/clock.c",
    by = { "run:jump" },
    from = "    int64_t now_ms = clock->base_ms + read_monotonic_ms(clock) - clock->monotonic_ms;",
    to = "    int64_t now_ms = read_wall_ms(clock);",
    says = "moved the society's time",
  },
}

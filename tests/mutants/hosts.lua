-- Planted faults of joined hosts; see list.lua.

local FLEET = { "unit:fleet_test" }
local WHY = "a simulated society is one host; the fleet is simulated in C"

return {
  {
    name = "what was taken is acknowledged before it is durable",
    file = "core/bridge/links/link.c", by = FLEET, outside = WHY,
    from = ".taken = link->taken_durable,",
    to = ".taken = link->state.taken,",
  },
  {
    name = "mail leaves for another host before it is durable",
    file = "core/bridge/links/link.c", by = FLEET, outside = WHY,
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
}

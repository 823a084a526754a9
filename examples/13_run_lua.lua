-- A script that nobody trusts, run in a worker process.
--
-- A model, or a stranger, writes a script. `agent:run_lua` runs it in a process without
-- files, network, keys or rights, hands it a table of values and gets its result. A script
-- that never ends is killed at its budget, and the agent goes on.
--
--     society run examples/13_run_lua.lua

local society = require("society")

local SCRIPTS = {
  { name = "average", text = [[
    local sum = 0
    for _, price in ipairs(values.prices) do
      sum = sum + price
    end
    return sum / #values.prices]] },
  { name = "greedy", text = "while true do end" },
  { name = "curious", text = "return io.open('/etc/passwd')" },
}

society.root(function(root)
  for _, script in ipairs(SCRIPTS) do
    local outcome, err = root:run_lua({ script = script.text, values = { prices = { 3, 5, 10 } },
      cpu_ms = 50 })
    print(("%s: %s"):format(script.name, outcome and outcome.result or err.error))
  end
  return "done"
end)

society.main(function(user)
  assert(user:request({ to = "root", payload = { text = "run them" }, timeout_ms = 60000 }))
end)

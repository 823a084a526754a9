-- Each step fails once before it works. Failures are remembered outside the society, so
-- that a crash does not repeat them: returns a maker of apps.

local BRIEF = {
  objective = "try", constraints = {}, inputs = "-", outputs = "-", completion_criteria = "-",
}

local function declare(society, fail_once)
  society:policy("supervision", function() return 2 end)

  society:role({
    id = "shaky", name = "shaky",
    behaviour = function(agent, message)
      agent.state.begun = (agent.state.begun or 0) + 1
      fail_once("begin")
      agent:send_message({ to = "root", type = "note", payload = { n = 1 } })
      agent:sleep(1)
      fail_once("middle")
      agent:send_message({ to = "root", type = "note", payload = { n = 2 } })
      fail_once("late")
      local answer = assert(agent:request({ to = "root", type = "ask", payload = "?" }))
      fail_once("end")
      agent.state.heard = answer.payload.text
      return message.payload
    end,
  })

  society:root({
    note = function(root, message)
      root.state.notes = (root.state.notes or 0) + message.payload.n
    end,
    ask = function(root)
      root.state.asks = (root.state.asks or 0) + 1
      root:sleep(1)
      fail_once("ask")
      return "yes"
    end,
    default = function(root, message)
      if message.from == "user" then
        assert(root:spawn_agent("shaky", BRIEF, { id = "shaky" }))
        assert(root:send_message({ to = "shaky", payload = { n = 7 } }))
        root.state.begun = (root.state.begun or 0) + 1
      end
    end,
  })

  society:main(function(user)
    assert(user:send_message({ to = "root", payload = "go" }))
  end)
end

return function()
  local failed = {}
  local function fail_once(name)
    if not failed[name] then
      failed[name] = true
      error("first time at " .. name)
    end
  end
  return function(society)
    declare(society, fail_once)
  end
end

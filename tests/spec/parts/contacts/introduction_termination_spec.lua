-- Agents that terminate while the host handles an introduction on their behalf.

local scene = require("scene")

-- bob's requests are forwarded to cyd, who answers by himself after a while.
local function pass_on(request)
  if request.agent.id ~= "bob" then
    return { leave = true }
  elseif request.found then
    return { introduce = request.found.id }
  elseif #request.asked > 0 then
    return { refuse = "nobody else" }
  end
  return { ask = "cyd", timeout_ms = 60000 }
end

describe("an agent that terminates", function()
  after_each(scene.close)

  local seen

  -- ann asks bob for somebody; the host asks cyd on his behalf and waits.
  local function start()
    seen = {}
    local s = scene.troupe({
      root = function(root, message)
        root:terminate(message.payload.text, { force = message.payload.force })
      end,
      ann = function(agent)
        local contact, err = agent:request_introduction({
          to = "bob", reason = "r", required_capability = "c", timeout_ms = 100000,
        })
        seen.contact, seen.err = contact, err
      end,
      bob = function() end,
      cyd = function(agent, message)
        if message.type == "introduction_request" then
          agent:sleep(5000)
          agent:introduce(message, { target = "dan" })
        else
          agent:send_message({ to = "bob", payload = "hello" })
          agent:send_message({ to = "dan", payload = "hello" })
          agent:add_contact({ id = "dan" })
        end
      end,
      dan = function() end,
    }, { policies = { contacts = "open" } })
    s:policy("introductions", pass_on)
    scene.tell(s, "cyd", "meet")
    s:send("user", { to = "ann", payload = "go" })
    s:advance(1000)
    assert.equal("blocked_internal", s:agent("ann").status)
    return s
  end

  local function terminate(s, id, force)
    s:send("user", { to = "root", payload = { text = id, force = force } })
    s:advance(1)
  end

  local function at_rest(s)
    s:run()
    assert.same({}, s:waits())
    assert.equal(0, s:stats().pending)
    assert.is_true(scene.law_holds(s))
    s:policy("introductions", "agent") -- the app does not declare it
    local before = scene.outcome(s)
    s:crash()
    s:recover()
    assert.same(before, scene.outcome(s))
  end

  it("first answers what the host holds for it", function()
    local s = start()
    terminate(s, "bob", false)
    assert.equal("ending", s:agent("bob").status)
    s:advance(10000)
    assert.equal("dan", seen.contact.id)
    assert.is_nil(s:agent("bob"))
    at_rest(s)
  end)

  it("by force leaves a dead letter, and the requester gets an error", function()
    local s = start()
    terminate(s, "bob", true)
    assert.equal("receiver_failed", seen.err.error)
    assert.is_nil(s:agent("bob"))
    local letter = s:dead_letters()[1]
    assert.same({ "introduction_request", "ann", "agent_stopped" },
      { letter.type, letter.from, letter.reason })
    at_rest(s)
  end)

  it("no longer blocks those who asked it", function()
    local s = start()
    terminate(s, "cyd", true)
    assert.equal("no_introduction", seen.err.error)
    assert.equal("nobody else", seen.err.reason)
    at_rest(s)
  end)

  it("is gone even if the host acts before the turn commits", function()
    local s = scene.troupe({
      root = function(root, message)
        if message.from ~= "user" then
          return
        end
        root:terminate("ann", { reason = "r" })
        root:send_message({ to = "bob", type = "introduction_request",
          payload = { reason = "r", required_capability = "deep sea diving" } })
      end,
      ann = function() end,
      bob = function() end,
    })
    s:policy("introductions", function() return { refuse = "nobody" } end)
    scene.tell(s, "root")
    assert.is_nil(s:agent("ann"))
    assert.equal("r", s:activity({ type = "stopped" })[1].detail)
  end)

  it("no longer needs what it has asked for", function()
    local s = start()
    terminate(s, "ann", true)
    assert.equal("idle", s:agent("bob").status)
    at_rest(s)
  end)
end)

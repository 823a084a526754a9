-- All waits are in one graph: requests, receives, spawns that wait, and the person.

local scene = require("scene")

describe("a parent that waits for its child's task", function()
  after_each(scene.close)

  -- The child asks its parent back, then completes its task with the outcome.
  local function family(policy)
    local seen = {}
    local s = scene.new({ policies = { deadlock = policy }, app = function(world)
      world:role({ id = "child", behaviour = function(agent, message)
        local answer, err = agent:request({ to = agent.parent, payload = "may I?" })
        seen.child = answer and answer.payload.text or err.error
        agent:complete(message, { said = seen.child })
      end })
      world:root(function(root, message)
        if message.from ~= "user" then
          return message.type == "general" and "you may" or nil
        end
        seen.born, seen.err = root:spawn_agent("child", scene.brief(),
          { id = "c", message = "go", wait = true })
      end)
    end })
    scene.tell(s, "root")
    assert.equal(1, #s:activity({ type = "deadlock" }))
    assert.is_true(scene.law_holds(s))
    return seen
  end

  it("deadlocks with a child that asks it; the parent is released", function()
    local seen = family("earliest")
    assert.is_nil(seen.born)
    assert.equal("deadlock", seen.err.error)
    assert.same({ "root", "c" }, seen.err.cycle)
    assert.equal("you may", seen.child)
  end)

  it("gets the result if the child is the one released", function()
    local seen = family("latest")
    assert.equal("deadlock", seen.child)
    assert.equal("deadlock", seen.born.result.output.said)
  end)
end)

describe("an agent that waits for the person's decision", function()
  after_each(scene.close)

  it("is blocked by the person and in no cycle, whoever waits for it", function()
    local said = {}
    local s = scene.new({ policies = { contacts = "open" }, app = function(world)
      world:role({ id = "clerk", behaviour = function(agent, message)
        if agent.id == "a" then
          local answer = agent:escalate({ title = "May we?" })
          return answer.decision
        end
        said.b = agent:request({ to = "a", payload = "?", timeout_ms = 60000 }).payload.text
        return { text = said.b .. " " .. message.from }
      end })
      world:root(function(root)
        root:spawn_agent("clerk", scene.brief(), { id = "a" })
        root:spawn_agent("clerk", scene.brief(), { id = "b" })
      end)
      world:main(function(user)
        user:send_message({ to = "root", payload = "hire" })
        user:sleep(10)
        said.user = user:request({ to = "b", payload = "?", timeout_ms = 60000 }).payload.text
      end)
    end })
    s:advance(20)
    local kinds = {}
    for _, wait in ipairs(s:waits()) do
      kinds[#kinds + 1] = wait.agent .. " " .. wait.kind .. " " .. wait.waits_for[1]
    end
    assert.same({ "user reply b", "a human user", "b reply a" }, kinds)
    assert.equal("blocked_user", s:agent("a").status)
    assert.equal("blocked_internal", s:agent("b").status)
    assert(s:decide(s:inbox()[1].id, { decision = "approve" }))
    s:run()
    assert.same({ b = "approve", user = "approve user" }, said)
    assert.equal(0, #s:activity({ type = "deadlock" }))
    local told = s:activity({ agent = "a", type = "blocked" })
    assert.equal('{"since":"2026-01-01T00:00:00.010Z","from":"working","kind":"human",'
      .. '"to":"blocked_user","waits_for":["user"]}',
      told[1].detail)
  end)
end)

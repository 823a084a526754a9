-- Introductions: regressions.
--
-- Covers: core/script/bindings/bind_introductions.c

local house = require("house")
local scene = require("scene")

describe("an introduction request", function()
  after_each(scene.close)

  it("that falls due while the society is down is put to the policy at the start", function()
    local s = house.new()
    house.hire(s, { { "root", "designer", "dora" }, { "root", "programmer", "paul" } })
    assert(s:send("paul", { to = "root", type = "introduction_request", delay_ms = 5000,
      payload = { reason = "r", required_capability = "design" } }))
    s:advance(1000)
    s:crash()
    s:advance(10000)
    s:recover()
    s:run()
    assert.same("introduction", house.contact(s, "paul", "dora").source)
  end)

  it("may go to the agent that sends it", function()
    local s = house.new()
    house.hire(s, { { "root", "designer", "dora" }, { "root", "programmer", "paul" } })
    assert(s:send("paul", { to = "paul", type = "introduction_request",
      payload = { reason = "r", required_capability = "design" } }))
    s:run()
    assert.same("introduction", house.contact(s, "paul", "dora").source)
  end)

  it("that nobody waits for any more stops no clock after a crash", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "broker", name = "broker", behaviour = {
        default = function(agent) agent:sleep(60000) end,
        introduction_request = function(agent) agent.state.asked = true end,
      } })
      s:root(function(root)
        local broker = assert(root:spawn_agent("broker", scene.brief(), { id = "broker" })).id
        root:send_message({ to = broker, payload = "work" })
        local _, err = root:request_introduction({ to = broker, reason = "r",
          required_capability = "c", timeout_ms = 1000 })
        root.state.error = err.error
        root:sleep(1000)
        root.state.woke = true
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(1500) -- it has given up; the request is in the broker's mailbox
    s:crash()
    s:recover()
    s:advance(2000)
    assert.same({ error = "timeout", woke = true }, s:agent("root").state)
    s:run()
    assert.is_true(s:agent("broker").state.asked)
  end)

  it("held by the host is closed when the agent answers it by itself", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "slow", name = "slow", behaviour = {
        introduction_request = function(agent, message)
          agent:sleep(1000)
          agent:decline(message, "nobody")
        end,
      } })
      s:role({ id = "boss", name = "boss", behaviour = function(agent, message)
        if message.payload.text == "leave" then
          return agent:stop() and nil
        end
        assert(agent:spawn_agent("slow", scene.brief(), { id = "slow" }))
        assert(agent:spawn_agent("seeker", scene.brief(), { id = "seeker" }))
        agent:send_message({ to = "seeker", payload = "seek" })
        agent:sleep(100) -- the host asks `slow` meanwhile
        assert(agent:send_message({ to = "seeker", type = "introduction_response",
          payload = { target_agent = { id = "root" }, usage_hint = "h" } }))
      end })
      s:role({ id = "seeker", name = "seeker", behaviour = function(agent)
        local contact = assert(agent:request_introduction({ to = "boss", reason = "r",
          required_capability = "x" }))
        agent.state.met = contact.id
      end })
      s:root(function(root)
        assert(root:spawn_agent("boss", scene.brief(), { id = "boss" }))
        root:send_message({ to = "boss", payload = "hire" })
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(500)
    assert.equal("root", s:agent("seeker").state.met)
    assert(s:send("root", { to = "boss", payload = "leave" }))
    s:run()
    assert.equal(0, s:stats().pending)
    assert.is_nil(s:agent("boss"))
  end)

  it("adds one agent to the contacts, however many answers one turn gives", function()
    local results = {}
    local s = house.new(nil, { manager = { introduction_request = function(agent, message)
      for _, id in ipairs({ "dora", "tess" }) do
        local sent, err = agent:introduce(message, { target = id })
        results[#results + 1] = sent and "sent" or err.error
      end
    end } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "mona", "designer", "dora" }, { "mona", "tester", "tess" } })
    house.order(s, "paul", { order = "seek", to = "mona", what = "x" })
    assert.same("dora mona user", house.known(s, "paul"))
    house.order(s, "paul", { order = "say", to = "mona", type = "introduction_request",
      payload = { reason = "r", required_capability = "c" } })
    assert.same({ "sent", "unsolicited_introduction", "sent", "unsolicited_introduction" }, results)
    assert.same("dora mona user", house.known(s, "paul"))
  end)

  it("falls back to the default policy if the one in force returns nonsense", function()
    for _, answer in ipairs({ { introduce = "nobody" }, { ask = "nobody" }, { ask = "paul" },
      { confirm = "nobody" }, { refuse = "" }, { refuse = 5 }, {} }) do
      local s = house.new()
      house.hire(s, { { "root", "designer", "dora" }, { "root", "programmer", "paul" } })
      s:policy("introductions", function() return answer end)
      local state = house.order(s, "paul", { order = "seek", to = "root", what = "界面设计" })
      assert.same("dora", state.found and state.found.id)
      assert.equal(1, #s:activity({ type = "policy_failed" }))
      scene.close()
    end
  end)

  it("is matched against a thousand contacts, and against a long capability", function()
    local s = scene.new({ app = function(s)
      s:role({ id = "clerk", name = "Clerk", behaviour = function() end,
        interface_spec = { services = "filing of forms and letters", input_format = "i",
          output_format = "o" } })
      s:role({ id = "lawyer", name = "律师", behaviour = function(agent, message)
        local capability = message.payload.long and ("legal advice 合同 "):rep(2000) or "legal advice"
        agent.state.met = agent:request_introduction({ to = "root", reason = "r",
          required_capability = capability })
      end, interface_spec = { services = "legal advice 合同", input_format = "i",
        output_format = "o" } })
      s:root(function(root)
        for _ = 1, 990 do
          assert(root:spawn_agent("clerk", scene.brief()))
        end
        assert(root:spawn_agent("lawyer", scene.brief(), { id = "one" }))
        assert(root:spawn_agent("lawyer", scene.brief(), { id = "two" }))
      end)
    end })
    scene.tell(s, "root")
    scene.tell(s, "two", { text = "short" })
    assert.equal("one", s:agent("two").state.met.id)
    scene.tell(s, "one", { long = true })
    assert.equal("two", s:agent("one").state.met.id)
    assert.same({}, s:activity({ type = "policy_failed" }))
  end)

  it("names everybody who was asked in vain", function()
    local s = house.new()
    house.hire(s, { { "root", "manager", "m1" }, { "m1", "manager", "m2" },
      { "m2", "manager", "m3" }, { "m3", "programmer", "paul" } })
    local state = house.order(s, "paul", { order = "seek", to = "m3", what = "deep sea diving" })
    assert.same({ "m3", "m2", "m1", "root" }, state.refused.via)
  end)

  it("keeps its path when a behaviour passes it on", function()
    local s = house.new(nil, { manager = { introduction_request = function(agent, message)
      local contact = agent:request_introduction({ to = "root", reason = "for another",
        required_capability = message.payload.required_capability })
      agent:introduce(message, { target = contact.id })
    end } })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "root", "designer", "dora" } })
    local state = house.order(s, "paul", { order = "seek", to = "mona", what = "界面设计" })
    assert.same({ "mona", "root" }, state.found.via)
  end)
end)

describe("consent", function()
  after_each(scene.close)

  it("that comes too late is dropped and reaches nobody", function()
    local s = house.new({ policies = { introductions = "confirm" } }, {
      manager = { collaboration_request = function(agent)
        agent:sleep(60000)
        return { accepted = true }
      end },
    })
    house.hire(s, { { "root", "manager", "mona" }, { "mona", "programmer", "paul" },
      { "mona", "designer", "dora" } })
    local state = house.order(s, "paul", { order = "seek", to = "mona", what = "界面设计",
      timeout_ms = 100000 })
    assert.same("no_introduction", state.refused.error)
    assert.not_same("mona", (house.state(s, "mona").heard or {}).from)
    assert.same({}, s:dead_letters())
  end)
end)

describe("a self-introduction", function()
  after_each(scene.close)

  it("is not part of the reply to a first message", function()
    local s = house.new({ policies = { contacts = "open" } })
    house.hire(s, { { "root", "manager", "mona" }, { "root", "programmer", "paul" } })
    house.order(s, "mona", { order = "say", to = "paul", payload = { text = "hello" } })
    house.order(s, "paul", { order = "say", to = "mona", payload = { text = "yes?" } })
    assert.same({ text = "yes?" }, house.state(s, "mona").heard.payload)
  end)
end)

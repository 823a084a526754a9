-- Contacts, and who may write to whom.

local scene = require("scene")

local STRICT = { contacts = "strict" }

local function sources(s, id)
  local list = {}
  for _, contact in ipairs(s:contacts(id)) do
    list[contact.id] = contact.source
  end
  return list
end

describe("contacts", function()
  after_each(scene.close)

  it("start with user and root knowing each other, and nobody else", function()
    local s = scene.new()
    assert.same({ user = "system" }, sources(s, "root"))
    assert.same({ root = "system" }, sources(s, "user"))
  end)

  it("are mutual between parent and child", function()
    local s = scene.troupe({ a = function() end }, { policies = STRICT })
    assert.same({ user = "system", a = "child" }, sources(s, "root"))
    assert.same({ root = "parent" }, sources(s, "a"))
  end)

  it("have id, role, source and time", function()
    local s = scene.troupe({ a = function() end })
    local entry = s:contacts("root")[2]
    assert.same({ id = "a", role = "演员", source = "child",
      addedAt = "2026-01-01T00:00:00.000Z" }, entry)
  end)

  it("have the Interface Spec of their role, however they were added", function()
    local spec = { services = "s", input_format = "i", output_format = "o" }
    local own
    local s = scene.new({ app = function(s)
      s:role({ id = "able", interface_spec = spec, behaviour = function(a)
        own = a:contact("b") or own
        if a.id == "a" then
          a:spawn_agent("able", scene.brief(), { id = "c" })
        end
      end })
      s:root(function(root)
        root:spawn_agent("able", scene.brief(), { id = "a" })
        root:spawn_agent("able", scene.brief(), { id = "b" })
      end)
    end, policies = { contacts = "open" } })
    scene.tell(s, "root")
    assert(s:send("b", { to = "a", payload = "x" }))
    s:run()
    assert.same({ id = "b", role = "able", source = "first_message", interfaceSpec = spec,
      addedAt = "2026-01-01T00:00:00.000Z" }, own)
    for _ = 1, 2 do
      local seen = {}
      for _, id in ipairs({ "root", "a", "c" }) do
        for _, entry in ipairs(s:contacts(id)) do
          seen[id .. " " .. entry.source] = entry.interfaceSpec
        end
      end
      assert.same({ ["root child"] = spec, ["a child"] = spec, ["a first_message"] = spec,
        ["c parent"] = spec }, seen)
      s:crash()
      s:recover()
    end
  end)

  it("gain the sender of a first message, once", function()
    local s = scene.troupe({ a = function() end, b = function() end })
    assert(s:send("a", { to = "b", payload = "x" }))
    s:advance(10)
    assert.same({ root = "parent", a = "first_message" }, sources(s, "b"))
    assert.same({ root = "parent" }, sources(s, "a"))
    local before = s:contacts("b")
    assert(s:send("a", { to = "b", payload = "y" }))
    s:run()
    assert.same(before, s:contacts("b"))
  end)

  it("are not overwritten by a first message", function()
    local s = scene.troupe({ a = function() end })
    assert(s:send("a", { to = "root", payload = "x" }))
    assert(s:send("root", { to = "a", payload = "x" }))
    s:run()
    assert.same({ user = "system", a = "child" }, sources(s, "root"))
    assert.same({ root = "parent" }, sources(s, "a"))
  end)

  it("are not added by a refused message, nor by one to oneself", function()
    local s = scene.troupe({ a = function() end, b = function() end }, { policies = STRICT })
    local _, err = s:send("a", { to = "b", payload = "x" })
    assert.equal("unknown_contact", err.error)
    assert(s:send("a", { to = "a", payload = "x" }))
    s:run()
    assert.same({ root = "parent" }, sources(s, "a"))
    assert.same({ root = "parent" }, sources(s, "b"))
  end)

  it("survive a crash", function()
    local s = scene.troupe({ a = function() end, b = function() end })
    assert(s:send("a", { to = "b", payload = "x" }))
    s:run()
    local before = s:contacts("b")
    s:crash()
    s:recover()
    assert.same(before, s:contacts("b"))
  end)
end)

describe("the contacts policy", function()
  after_each(scene.close)

  it("strict refuses a stranger, with a hint, and nothing changes", function()
    local s = scene.troupe({ a = function() end, b = function() end }, { policies = STRICT })
    local sent, err = s:send("a", { to = "b", payload = "x" })
    assert.is_nil(sent)
    assert.equal("unknown_contact", err.error)
    assert.equal("b", err.to)
    assert.is_string(err.hint)
    assert.is_string(err.message)
    assert.equal(1, s:stats().sent)
  end)

  it("strict allows parent, child and agents that wrote first", function()
    local s = scene.troupe({ a = function() end, b = function() end }, { policies = STRICT })
    assert(s:send("a", { to = "root", payload = "x" }))
    assert(s:send("root", { to = "b", payload = "x" }))
    assert(s:send("user", { to = "b", payload = "x" }))
    s:run()
    assert(s:send("b", { to = "user", payload = "x" }))
    local _, err = s:send("a", { to = "user", payload = "x" })
    assert.equal("unknown_contact", err.error)
  end)

  it("strict lets user reach everyone", function()
    local s = scene.troupe({
      a = function(a) a:spawn_agent("actor", scene.brief(), { id = "deep" }) end,
    }, { policies = STRICT })
    scene.tell(s, "a")
    assert(s:send("user", { to = "deep", payload = "x" }))
  end)

  it("strict refuses a request like a send", function()
    local result
    local s = scene.troupe({
      a = function(a) result = table.pack(a:request({ to = "b", payload = "x" })) end,
      b = function() end,
    }, { policies = STRICT })
    scene.tell(s, "a")
    assert.equal("unknown_contact", result[2].error)
  end)

  it("open allows everyone, and the registry still records", function()
    local s = scene.troupe({ a = function() end, b = function() end })
    assert(s:send("a", { to = "b", payload = "x" }))
    s:run()
    assert.equal("first_message", sources(s, "b").a)
  end)

  it("is asked only about existing agents, strict or open", function()
    for _, name in ipairs({ "strict", "open" }) do
      local s = scene.troupe({ a = function() end }, { policies = { contacts = name } })
      local _, err = s:send("a", { to = "nobody", payload = "x" })
      assert.equal("agent_not_found", err.error)
      assert.equal("nobody", err.agentId)
    end
  end)

  it("can be changed while the society runs", function()
    local s = scene.troupe({ a = function() end, b = function() end }, { policies = STRICT })
    assert.is_nil(s:send("a", { to = "b", payload = "x" }))
    s:policy("contacts", "open")
    assert(s:send("a", { to = "b", payload = "x" }))
    s:policy("contacts", function(request) return request.to.id ~= "b", "not to b" end)
    local _, err = s:send("a", { to = "b", payload = "x" })
    assert.equal("not to b", err.hint)
  end)

  it("answers can_send and knows", function()
    local told
    local s = scene.troupe({
      a = function(a)
        told = { a:can_send("root"), a:can_send("b"), a:can_send("nobody"),
          a:knows("root"), a:knows("b"), a:knows("nobody") }
      end,
      b = function() end,
    }, { policies = STRICT })
    scene.tell(s, "a")
    assert.same({
      { allowed = true }, { allowed = false, error = "unknown_contact" },
      { allowed = false, error = "agent_not_found" },
      { inRegistry = true }, { inRegistry = false, error = "unknown_contact" },
      { inRegistry = false, error = "unknown_contact" },
    }, told)
  end)
end)

describe("collaborators", function()
  after_each(scene.close)

  local SPEC = { services = "s", input_format = "i", output_format = "o" }

  local function spawn(collaborators, policies)
    local answer, err
    local s = scene.new({ policies = policies, app = function(s)
      s:role({ id = "plain", name = "plain", behaviour = function() end })
      s:role({ id = "able", name = "able", behaviour = function(agent)
        agent:spawn_agent("plain", scene.brief(), { id = "deep" })
      end, interface_spec = SPEC })
      s:root(function(root)
        root:spawn_agent("able", scene.brief(), { id = "able", message = "x" })
        root:spawn_agent("plain", scene.brief(), { id = "plain" })
        root:sleep(10)
        answer, err = root:spawn_agent("plain", scene.brief({ collaborators = collaborators }),
          { id = "child" })
      end)
    end })
    scene.tell(s, "root")
    return s, answer, err
  end

  local function entry(s, id)
    for _, contact in ipairs(s:contacts("child")) do
      if contact.id == id then
        return contact
      end
    end
  end

  it("become contacts by preset, as the brief describes them", function()
    local other = { services = "t", input_format = "j", output_format = "p" }
    local s = spawn({
      { agentId = "able", role = "helper", description = "helps", interfaceSpec = other },
      { agentId = "plain", role = "plain", description = "is there" },
    })
    assert.equal("preset", entry(s, "able").source)
    assert.equal("helper", entry(s, "able").role)
    assert.same(other, entry(s, "able").interfaceSpec)
    assert.is_nil(entry(s, "plain").interfaceSpec)
    assert(s:send("child", { to = "able", payload = "x" }))
  end)

  it("get a missing interfaceSpec from their role", function()
    local s = spawn({ { agentId = "able", role = "able", description = "d" } })
    assert.same(SPEC, entry(s, "able").interfaceSpec)
  end)

  it("must exist", function()
    local s, answer, err = spawn({ { agentId = "nobody", role = "r", description = "d" } })
    assert.is_nil(answer)
    assert.equal("agent_not_found", err.error)
    assert.equal("nobody", err.agentId)
    assert.is_nil(s:agent("child"))
  end)

  it("must be contacts of the spawner under strict", function()
    local list = { { agentId = "deep", role = "r", description = "d" } }
    local s, answer, err = spawn(list, STRICT)
    assert.is_nil(answer)
    assert.equal("unknown_contact", err.error)
    assert.is_nil(s:agent("child"))
    assert.same({}, s:dead_letters())
    s = spawn(list, { contacts = "open" })
    assert.equal("preset", entry(s, "deep").source)
  end)

  it("named twice, or being the parent, take the later entry", function()
    local s = spawn({
      { agentId = "able", role = "first", description = "d" },
      { agentId = "able", role = "second", description = "d" },
      { agentId = "root", role = "boss", description = "d" },
    })
    assert.equal("second", entry(s, "able").role)
    assert.equal("preset", entry(s, "root").source)
    assert.equal("boss", entry(s, "root").role)
    assert.equal(2, #s:contacts("child"))
  end)

  it("survive a crash unchanged", function()
    local s = spawn({ { agentId = "able", role = "helper", description = "d" } })
    local before = s:contacts("child")
    s:crash()
    s:recover()
    assert.same(before, s:contacts("child"))
  end)
end)

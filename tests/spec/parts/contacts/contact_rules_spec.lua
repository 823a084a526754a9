-- How contacts change where two rules meet: presets and parents, introductions and first
-- messages, and mail that needs no contact.

local scene = require("scene")

local STRICT = { contacts = "strict", introductions = "agent" }

local function entry_of(s, owner, id)
  for _, entry in ipairs(s:contacts(owner)) do
    if entry.id == id then
      return entry
    end
  end
  return nil
end

describe("a contact that cannot be removed", function()
  after_each(scene.close)

  it("is the parent, though the brief names it as a collaborator", function()
    local err
    local s = scene.new({ policies = STRICT, app = function(s)
      s:role({ id = "r", name = "r", behaviour = function(agent)
        err = select(2, agent:remove_contact("root"))
      end })
      s:root(function(root)
        assert(root:spawn_agent("r", scene.brief({ collaborators = { { agentId = "root",
          role = "boss", description = "who decides" } } }), { id = "c", message = "go" }))
      end)
    end })
    scene.tell(s, "root")
    assert.equal("forbidden", err.error)
    assert.equal("preset", entry_of(s, "c", "root").source)
    s:crash()
    s:recover()
    assert.equal("preset", entry_of(s, "c", "root").source)
    assert.is_table(entry_of(s, "root", "c"))
  end)

  it("is a child", function()
    local err
    local s = scene.troupe({ root = function(root)
      err = select(2, root:remove_contact("c"))
    end, c = function() end }, { policies = STRICT })
    scene.tell(s, "root")
    assert.equal("forbidden", err.error)
    assert.equal("child", entry_of(s, "root", "c").source)
  end)
end)

describe("add_contact", function()
  after_each(scene.close)

  it("does not rename a role", function()
    local entries = {}
    local s = scene.troupe({ a = function(a)
      entries[1] = a:add_contact({ id = "b", role = "king" })
      entries[2] = a:add_contact({ id = "root", role = "servant" })
    end, b = function() end }, { policies = { contacts = "open" } })
    scene.tell(s, "a")
    assert.equal("演员", entries[1].role)
    assert.equal("root", entries[2].role)
  end)

  it("keeps the role that a brief gave a collaborator", function()
    local entry
    local s = scene.new({ policies = STRICT, app = function(s)
      s:role({ id = "r", name = "r", behaviour = function(agent)
        entry = agent:add_contact({ id = "root", role = "servant" })
      end })
      s:root(function(root)
        assert(root:spawn_agent("r", scene.brief({ collaborators = { { agentId = "root",
          role = "boss", description = "who decides" } } }), { id = "c", message = "go" }))
      end)
    end })
    scene.tell(s, "root")
    assert.equal("boss", entry.role)
  end)
end)

describe("mail to the orchestrator", function()
  after_each(scene.close)

  local function from_a(config, to)
    local results, can = nil, nil
    local s = scene.troupe({
      a = function(a, message)
        if message.from == "user" then
          can = a:can_send(to)
          results = table.pack(a:send_message({ to = to, payload = "x" }))
        end
      end, b = function() end, c = function() end,
    }, { policies = STRICT, config = config })
    assert(s:send("user", { to = "a", payload = "go" }))
    s:run()
    return results[1], results[2], can
  end

  it("needs no contact", function()
    for _, to in ipairs({ "b", "orchestrator" }) do
      local sent, err, can = from_a({ orchestrator = "b" }, to)
      assert(sent, err and err.error)
      assert.same({ allowed = true }, can)
      scene.close()
    end
  end)

  it("is all that needs none", function()
    local sent, err, can = from_a({ orchestrator = "b" }, "c")
    assert.is_nil(sent)
    assert.equal("unknown_contact", err.error)
    assert.is_false(can.allowed)
  end)
end)

describe("a refusal for a stranger", function()
  after_each(scene.close)

  it("says how to be introduced, and how to let strangers in", function()
    local s = scene.troupe({ a = function() end, b = function() end }, { policies = STRICT })
    local _, err = s:send("a", { to = "b", payload = "x" })
    assert.equal("unknown_contact", err.error)
    assert.matches("request_introduction", err.hint, 1, true)
    assert.matches('society.policy("contacts", "open")', err.hint, 1, true)
  end)
end)

describe("an introduction", function()
  after_each(scene.close)

  -- root knows t; a asks root for it. What a knows then.
  local function introduced(options)
    local contact
    local s = scene.troupe({
      root = function(root, message)
        if message.type == "introduction_request" then
          root:introduce(message, { target = "t", usage_hint = options.hint })
        end
      end,
      a = function(a)
        contact = assert(a:request_introduction({ to = "root", reason = "r",
          required_capability = "tests" }))
      end,
      t = function(t, message)
        if message.from == "user" then
          t:send_message({ to = "a", payload = "hello" })
        end
      end,
    }, { policies = { contacts = options.has_written and "open" or "strict",
      introductions = "agent" } })
    if options.has_written then
      scene.tell(s, "t")
    end
    assert(s:send("user", { to = "a", payload = "go" }))
    s:run()
    return contact, s
  end

  it("brings its usage_hint: with the contact, in the contacts and in the context", function()
    local contact, s = introduced({ hint = "one file at a time\nand no more" })
    assert.equal("one file at a time\nand no more", contact.usageHint)
    assert.equal(contact.usageHint, entry_of(s, "a", "t").usageHint)
    assert.matches("合作建议：one file at a time\n    and no more", s:context("a"), 1, true)
    s:crash()
    s:recover()
    assert.same(contact, entry_of(s, "a", "t"))
    assert.matches("合作建议：one file at a time", s:context("a"), 1, true)
  end)

  it("without a usage_hint brings none", function()
    local contact, s = introduced({})
    assert.is_nil(contact.usageHint)
    assert.is_nil(s:context("a"):find("合作建议", 1, true))
  end)

  it("becomes the source of somebody known by a first message", function()
    local contact, s = introduced({ has_written = true, hint = "h" })
    assert.equal("introduction", contact.source)
    assert.equal("root", contact.introducedBy)
    assert.equal("h", contact.usageHint)
    s:crash()
    s:recover()
    assert.same(contact, entry_of(s, "a", "t"))
    -- t has written before, so this is not the first message between the two.
    assert(s:send("a", { to = "t", payload = { text = "x" } }))
    s:run()
    local sent = s:messages({ agent = "t", type = "general" })
    assert.is_nil(sent[#sent].payload.self_introduction)
  end)
end)

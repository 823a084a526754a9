-- Contacts changed explicitly: add_contact and remove_contact.
--
-- Covers: core/parts/contacts/book.c

local scene = require("scene")

local STRICT = { contacts = "strict" }

describe("add_contact", function()
  after_each(scene.close)

  local function as_a(act, policies)
    local results
    local s = scene.troupe({
      a = function(a) results = table.pack(act(a)) end,
      b = function() end,
    }, { policies = policies or STRICT })
    scene.tell(s, "a")
    return results[1], results[2], s
  end

  it("under strict does not let other agents add strangers", function()
    local entry, err, s = as_a(function(a) return a:add_contact({ id = "b" }) end)
    assert.is_nil(entry)
    assert.equal("unknown_contact", err.error)
    assert.equal(2, #s:contacts("a"))
  end)

  it("under strict lets root and user add strangers", function()
    local entry
    local s = scene.troupe({
      root = function(root) entry = root:add_contact({ id = "deep" }) end,
      a = function(a) a:spawn_agent("actor", scene.brief(), { id = "deep" }) end,
    }, { policies = STRICT })
    scene.tell(s, "a")
    scene.tell(s, "root")
    assert.equal("deep", entry.id)
    assert.equal("manual", entry.source)
    assert(s:send("root", { to = "deep", payload = "x" }))
  end)

  it("under open lets everybody add strangers", function()
    local entry = as_a(function(a) return a:add_contact({ id = "b" }) end, { contacts = "open" })
    assert.equal("b", entry.id)
    assert.equal("演员", entry.role)
    assert.equal("manual", entry.source)
  end)

  it("adds to an existing contact, and keeps its source and time", function()
    local spec = { services = "s" }
    local entry, _, s = as_a(function(a)
      a:sleep(50)
      return a:add_contact({ id = "root", interfaceSpec = spec })
    end)
    assert.same(spec, entry.interfaceSpec)
    assert.equal("parent", entry.source)
    assert.equal("2026-01-01T00:00:00.000Z", entry.addedAt)
    assert.same(entry, s:contacts("a")[1])
    s:crash()
    s:recover()
    assert.same(entry, s:contacts("a")[1])
  end)

  it("keeps fields that the new entry does not set", function()
    local spec = { services = "s", input_format = "i", output_format = "o" }
    local entry = as_a(function(a)
      a:add_contact({ id = "root", interfaceSpec = spec })
      return a:add_contact({ id = "root", role = "boss" })
    end)
    assert.same(spec, entry.interfaceSpec)
  end)

  it("does not replace a given interfaceSpec by the role's", function()
    local given = { services = "g", input_format = "g", output_format = "g" }
    local entries = {}
    local s = scene.new({ app = function(s)
      s:role({ id = "able", name = "able", behaviour = function() end, interface_spec = {
        services = "r", input_format = "r", output_format = "r" } })
      s:root(function(root)
        root:spawn_agent("able", scene.brief(), { id = "a" })
        entries[1] = root:add_contact({ id = "a", interfaceSpec = given })
        entries[2] = root:add_contact({ id = "a", role = "helper" })
      end)
    end })
    scene.tell(s, "root")
    assert.same(given, entries[1].interfaceSpec)
    assert.same(given, entries[2].interfaceSpec)
  end)

  it("refuses an unknown agent; raises without a table", function()
    local _, err = as_a(function(a) return a:add_contact({ id = "nobody" }) end)
    assert.equal("agent_not_found", err.error)
    assert.is_string(scene.raised(function(root) root:add_contact("a") end))
  end)
end)

describe("remove_contact", function()
  after_each(scene.close)

  it("removes a contact; replying is still possible", function()
    local result, sent, replied
    local s = scene.troupe({
      a = function(a, message)
        result = a:remove_contact("b")
        sent = table.pack(a:send_message({ to = "b", payload = "x" }))
        replied = a:reply(message, "bye")
      end,
      b = function() end,
    })
    assert(s:send("b", { to = "a", payload = "x" }))
    s:policy("contacts", "strict")
    s:run()
    assert.is_true(result.removed)
    assert.equal("unknown_contact", sent[2].error)
    assert.is_string(replied.messageId)
    assert.equal(1, #s:contacts("a"))
    s:crash()
    s:recover()
    assert.equal(1, #s:contacts("a"))
  end)

  it("refuses to remove parent, child, user or root", function()
    local errors = {}
    local s = scene.troupe({
      root = function(root)
        errors[1] = select(2, root:remove_contact("a"))
        errors[2] = select(2, root:remove_contact("user"))
      end,
      a = function(a) errors[3] = select(2, a:remove_contact("root")) end,
    })
    scene.tell(s, "root")
    scene.tell(s, "a")
    for i = 1, 3 do
      assert.is_string(errors[i].error)
      assert.is_string(errors[i].message)
    end
    assert.equal(2, #s:contacts("root"))
  end)

  it("refuses an agent that is not a contact", function()
    local errors = scene.play(function(root)
      return { select(2, root:remove_contact("nobody")), (select(2, root:contact("nobody"))) }
    end)
    assert.is_string(errors[1].error)
    assert.equal("unknown_contact", errors[2].error)
  end)

  it("leaves the other's list unchanged, and a new message adds the contact again", function()
    local s = scene.troupe({
      a = function(a, message)
        if message.payload.text == "forget" then
          a:remove_contact("b")
        end
      end,
      b = function() end,
    })
    assert(s:send("b", { to = "a", payload = "forget" }))
    s:run()
    assert.equal(1, #s:contacts("a"))
    assert(s:send("b", { to = "a", payload = "again" }))
    s:run()
    assert.equal(2, #s:contacts("a"))
  end)
end)

describe("contact and contacts", function()
  after_each(scene.close)

  it("return what society.contacts returns", function()
    local list, one
    local s = scene.troupe({
      root = function(root)
        list, one = root:contacts(), root:contact("a")
      end,
      a = function() end,
    })
    scene.tell(s, "root")
    assert.same(s:contacts("root"), list)
    assert.same(list[2], one)
    assert.is_nil(s:contacts("nobody"))
  end)
end)

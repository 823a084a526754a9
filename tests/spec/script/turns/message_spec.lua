-- What a behaviour is handed: the envelope as a table, filled in on first access. However
-- it is read, it is complete.

local json = require("society.json")
local society = require("society")

local FIELDS = {
  "attempt", "from", "hops", "id", "payload", "priority", "requires_ack", "timestamp", "to", "type",
}

--- Runs `behaviour` as root's on one message and returns the society.
local function handle(behaviour)
  local s = society.new({ app = function(s) s:root(behaviour) end })
  assert(s:send("user", { to = "root", payload = { text = "x" } }))
  s:run()
  return s
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

describe("a message handed to a behaviour", function()
  it("shows all its fields to pairs", function()
    local keys
    handle(function(_, message) keys = sorted_keys(message) end):close()
    assert.same(FIELDS, keys)
  end)

  it("shows all its fields to the JSON encoder", function()
    local text
    handle(function(_, message) text = json.encode(message) end):close()
    assert.same(FIELDS, sorted_keys(json.decode(text)))
  end)

  it("can be kept whole in agent.state", function()
    local s = handle(function(root, message) root.state.last = message end)
    assert.same(FIELDS, sorted_keys(s:agent("root").state.last))
    s:close()
  end)

  it("can be sent on whole as a payload", function()
    local s = handle(function(root, message)
      root:send_message({ to = "user", payload = { forwarded = message } })
    end)
    local sent = s:messages({})[2]
    assert.same(FIELDS, sorted_keys(sent.payload.forwarded))
    s:close()
  end)

  it("can be read after its activation has ended", function()
    local kept
    local s = handle(function(_, message) kept = message end)
    assert.matches("^msg_%d+_%d+_", kept.id)
    assert.equal("root", kept.to)
    assert.equal("x", kept.payload.text)
    s:close()
  end)

  it("has no other fields", function()
    local nothing
    handle(function(_, message) nothing = message.no_such_field end):close()
    assert.is_nil(nothing)
  end)

  it("gives each receiver its own payload", function()
    local payload = { list = { 1, 2 }, text = "x" }
    local seen = {}
    local s = society.new({ app = function(s)
      s:role({ id = "r", name = "r", behaviour = function(_, message)
        message.payload.list[1] = "changed"
        seen[#seen + 1] = message.payload
      end })
      s:root(function(root)
        local brief = {
          objective = "o", constraints = {}, inputs = "i", outputs = "o", completion_criteria = "c",
        }
        for i = 1, 2 do root:spawn_agent("r", brief, { id = "r" .. i }) end
        for i = 1, 2 do root:send_message({ to = "r" .. i, payload = payload }) end
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:run()
    assert.same({ list = { 1, 2 }, text = "x" }, payload)
    assert.equal(2, #seen)
    assert.are_not.equal(seen[1], seen[2])
    assert.are_not.equal(seen[1].list, seen[2].list)
    s:close()
  end)

  it("has the same payload whether it was copied or read from the journal", function()
    local function texts(crashes)
      local text
      local s = society.new({ app = function(s)
        s:role({ id = "r", name = "r", behaviour = function(_, message)
          text = json.encode({ message.payload, message.payload.empty, #message.payload.list })
        end })
        s:root(function(root)
          root:spawn_agent("r", {
            objective = "o", constraints = {}, inputs = "i", outputs = "o",
            completion_criteria = "c",
          }, { id = "r" })
          root:send_message({ to = "r", payload = {
            list = { { a = 1.0 }, 2, "3" }, empty = json.array({}), none = json.null, deep = {
              { { x = -0.0 } } }, object = {}, text = "é\0\n",
          } })
        end)
      end })
      assert(s:send("user", { to = "root", payload = "go" }))
      s:step()
      if crashes then s:crash() s:recover() end
      s:run()
      s:close()
      return text
    end
    assert.is_string(texts(false))
    assert.equal(texts(false), texts(true))
  end)
end)

-- Messages and receipts are filled in on first access. A script sees a complete table,
-- whatever it uses to look.
--
-- Covers: core/script/turns/lazy.c

local scene = require("scene")

describe("a lazily filled table", function()
  after_each(scene.close)

  -- Runs `body` as root's behaviour in an app of its own and returns its result.
  local function run(body)
    local source = [[
      local society = require("society")
      local json = require("society.json")
      local function sent(agent) return agent:send_message({ to = "user", payload = { n = 1 } }) end
      society.root(function(agent, message) ]] .. body .. [[ end)]]
    local s = scene.new({ app = scene.files({ ["app.lua"] = source }) .. "/app.lua" })
    local answer, err = s:dispatch("root", "x")
    return answer and answer.payload or error(err.message, 0), s
  end

  local ID <const> = "^msg_%d+_%d+_%x+$"

  describe("as a message", function()
    it("shows its fields to rawget", function()
      local got = run([[
        return { id = rawget(message, "id"), from = rawget(message, "from"),
          type = rawget(message, "type"), to = rawget(message, "to") }
      ]])
      assert.matches(ID, got.id)
      got.id = nil
      assert.same({ from = "user", type = "general", to = "root" }, got)
    end)

    it("shows the same fields before and after it is filled in", function()
      local got = run([[
        local before = { message.id, message.from, message.type, message.to }
        local _ = message.hops
        local after = { message.id, message.from, message.type, message.to }
        return { before = before, after = after }
      ]])
      assert.same(got.before, got.after)
      assert.same("user", got.before[2])
    end)

    it("keeps what was written to it", function()
      local got = run([[
        message.from, message.id, message.type = "me", nil, nil
        rawset(message, "to", "you")
        local _ = message.hops
        return { from = message.from, to = message.to, id = message.id or "gone",
          type = rawget(message, "type") or "gone" }
      ]])
      assert.same({ from = "me", to = "you", id = "gone", type = "gone" }, got)
    end)

    it("keeps fields that rawset has removed", function()
      local got = run([[
        rawset(message, "from", nil)
        return { from = message.from or "gone", to = message.to }
      ]])
      assert.same({ from = "gone", to = "root" }, got)
    end)
  end)

  describe("as a receipt", function()
    it("has an id when it is read, by name or raw", function()
      local got = run([[
        return { a = sent(agent).messageId, b = rawget(sent(agent), "messageId") }
      ]])
      assert.matches(ID, got.a)
      assert.matches(ID, got.b)
      assert.are_not.equal(got.a, got.b)
    end)

    it("has one field for pairs and next, and no length", function()
      local got = run([[
        local keys = {}
        for key, value in pairs(sent(agent)) do keys[#keys + 1] = key .. " " .. type(value) end
        local r = sent(agent)
        local first, value = next(r)
        return { keys = keys, first = first, kind = type(value), last = next(r, first) or "none",
          length = #sent(agent), rawlength = rawlen(sent(agent)) }
      ]])
      assert.same({
        keys = { "messageId string" }, first = "messageId", kind = "string", last = "none",
        length = 0, rawlength = 0,
      }, got)
    end)

    it("is complete in JSON, in a payload and in state", function()
      local got, s = run([[
        agent.state.kept = sent(agent)
        return { json = json.encode(sent(agent)), nested = { sent(agent) }, plain = sent(agent) }
      ]])
      assert.matches('^{"messageId":"msg_%d+_%d+_%x+"}$', got.json)
      assert.matches(ID, got.nested[1].messageId)
      assert.matches(ID, got.plain.messageId)
      assert.matches(ID, s:agent("root").state.kept.messageId)
    end)

    it("is a plain table to metatables and can be written to", function()
      local got = run([[
        local marked = setmetatable(sent(agent), { __index = { more = 1 } })
        local written = sent(agent)
        written.note = "n"
        local raw = rawset(sent(agent), "messageId", "mine")
        local cleared = sent(agent)
        cleared.messageId = nil
        local listed = sent(agent)
        table.insert(listed, "first")
        return {
          metatable = getmetatable(sent(agent)) == nil, more = marked.more, id = marked.messageId,
          note = written.note, written = written.messageId, raw = raw.messageId,
          cleared = next(cleared) == nil, listed = listed[1] .. type(listed.messageId),
        }
      ]])
      assert.matches(ID, got.id)
      assert.matches(ID, got.written)
      got.id, got.written = nil, nil
      assert.same({
        metatable = true, more = 1, note = "n", raw = "mine", cleared = true,
        listed = "firststring",
      }, got)
    end)

    it("is the same when the activation is rerun", function()
      local got = run([[
        local before = sent(agent)
        agent:sleep(10)
        return { id = before.messageId }
      ]])
      assert.matches(ID, got.id)
    end)
  end)
end)

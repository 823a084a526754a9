-- Policies of an app, which can do nothing to the society except answer.
--
-- Covers: core/script/policies/policy_shelf.c

local json = require("society.json")
local scene = require("scene")

local APP = 'require("society").root(function() end)'

--- The path of an app with these policies (KIND/NAME -> text) beside it.
local function app_with(policies, text)
  local folder = scene.files({ ["app.lua"] = text or APP })
  for name, policy in pairs(policies) do
    assert(os.execute(("mkdir -p %q"):format(folder .. "/policies/" .. name:match("^[^/]+"))))
    local file = assert(io.open(folder .. "/policies/" .. name .. ".lua", "w"))
    file:write(policy)
    file:close()
  end
  return folder .. "/app.lua", folder
end

local function in_force(s, kind, name)
  for _, policy in ipairs(s:policies()) do
    if policy.kind == kind and (name == nil or policy.name == name) then
      return policy
    end
  end
  return nil
end

describe("an app's policy with the name of a shipped one", function()
  after_each(scene.close)

  local STRICT = [[
    local M = { kind = "contacts", version = 1 }
    function M.may_send() %s end
    return M]]

  it("is in force from the start", function()
    local app, folder = app_with({ ["contacts/strict"] = STRICT:format('return false, "mine"') })
    local s = scene.new({ app = app })
    assert.equal(folder .. "/policies/contacts/strict.lua", in_force(s, "contacts").path)
    local _, err = s:send("root", { to = "user", payload = "x" })
    assert.equal("mine", err.hint)
    s:crash()
    s:recover()
    _, err = s:send("root", { to = "user", payload = "x" })
    assert.equal("mine", err.hint)
  end)

  it("falls back to the shipped one when it fails", function()
    local app = app_with({ ["contacts/strict"] = STRICT:format('error("oh")') })
    local s = scene.new({ app = app, quiet = true })
    assert(s:send("user", { to = "root", payload = "x" }))
    assert.equal(1, #s:activity({ type = "policy_failed" }))
  end)

  it("prevents the start if it is rejected", function()
    local app = app_with({ ["contacts/strict"] = "return {}" })
    local ok, err = pcall(scene.new, { app = app })
    assert.is_false(ok)
    assert.matches('contacts/strict.lua:1: kind must be "contacts"', err, 1, true)
  end)

  it("is in force from the start if it is a vocabulary", function()
    local app, folder = app_with({ ["messages/helix"] =
      'return { kind = "messages", version = 1, types = { mine = {} } }' })
    local s = require("society").new({ app = app })
    assert.equal(folder .. "/policies/messages/helix.lua", in_force(s, "messages", "helix").path)
    assert(s:send("user", { to = "root", type = "mine", payload = "x" }))
    assert.is_nil((s:send("user", { to = "root", type = "other", payload = "x" })))
    s:close()
  end)
end)

describe("a presentation policy that modifies its arguments", function()
  after_each(scene.close)

  local function policy(request)
    request.from, request.payload.text, request.payload.list[1] = "x", "changed", "changed"
    request.payload.list[2], request.more = "more", true
    return "shown"
  end

  local function spoils(s)
    s:policy("presentation", { kind = "presentation", version = 1, message = policy,
      brief = function() return "" end, contacts = function() return "" end })
  end

  local PAYLOAD = { text = "said", list = { "one" }, empty = json.array({}) }

  it("does not affect what the behaviour sees, now or on replay", function()
    local seen = {}
    local s = scene.troupe({ a = function(a, message)
      assert(message.text == "shown")
      seen[#seen + 1] = json.encode({ message.from, message.payload, message.more or json.null })
      a:sleep(100)
      seen[#seen + 1] = json.encode({ message.from, message.payload, message.more or json.null })
    end })
    spoils(s)
    assert(s:send("user", { to = "a", payload = PAYLOAD }))
    s:advance(10)
    s:crash()
    s:recover()
    spoils(s)
    s:run()
    assert.same({}, s:dead_letters())
    assert.equal(3, #seen)
    for _, each in ipairs(seen) do
      assert.equal(json.encode({ "user", PAYLOAD, json.null }), each)
    end
  end)

  it("is given what the script has made of the message, or nothing", function()
    local texts = {}
    local s = scene.troupe({ a = function(_, message)
      if message.payload.text == "loop" then
        message.payload.own = message.payload
      else
        message.payload.text, message.note = "other", function() end
      end
      texts[#texts + 1] = message.text
    end })
    s:policy("presentation", { kind = "presentation", version = 1,
      message = function(message) return message.payload.text end,
      brief = function() return "" end, contacts = function() return "" end })
    for _, text in ipairs({ "first", "loop" }) do
      assert(s:send("user", { to = "a", payload = { text = text } }))
    end
    s:run()
    assert.equal("other", texts[1])
    assert.matches("cannot be shown: the script put a value into it that is not JSON",
      texts[2], 1, true)
  end)
end)

-- Shipped policies are loaded and checked once for all societies of a program.
describe("policies shared between societies", function()
  after_each(scene.close)

  it("are shipped ones only: an app's policy is read again for each", function()
    local text = [[
      local calls = 0
      local M = { kind = "contacts", version = 1 }
      function M.may_send() calls = calls + 1 return false, "%s " .. calls end
      return M]]
    for _, word in ipairs({ "first", "other" }) do
      local s = scene.new({ app = (app_with({ ["contacts/strict"] = text:format(word) })) })
      local _, err = s:send("root", { to = "user", payload = "x" })
      assert.matches(word, err.hint)
    end
  end)

  it("have the same name, path and hash in each", function()
    local first = scene.new({ app = function() end })
    local second = scene.new({ app = function() end })
    assert.same(first:policies(), second:policies())
    assert.matches("^%x+$", in_force(second, "contacts").hash)
  end)
end)

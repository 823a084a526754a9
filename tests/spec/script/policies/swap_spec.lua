-- Policies that change while the society runs: what is in force, and how it is recorded.
--
-- Covers: core/script/policies/policy_load.c, core/script/policies/kinds.c
-- Covers: core/lualib/nearest.c

local json = require("society.json")
local scene = require("scene")

local MINE = [[
local M = { kind = "contacts", version = 2, defaults = { word = "one" } }
function M.may_send(_, settings)
  return false, { hint = settings.word }
end
M.examples = { { ask = "may_send", given = { {} }, expect = false } }
return M
]]

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

-- The details of the events of that name, decoded.
local function details(s, event)
  local list = {}
  for _, row in ipairs(s:activity({ type = event })) do
    assert.equal("system", row.agent)
    list[#list + 1] = assert(json.decode(row.detail))
  end
  return list
end

local function in_force(s, kind)
  for _, policy in ipairs(s:policies()) do
    if policy.kind == kind then
      return policy
    end
  end
end

describe("society.policies", function()
  after_each(scene.close)

  it("lists kind, name, file, hash, version and settings of each", function()
    local s = scene.new({ quiet = true })
    for _, policy in ipairs(s:policies()) do
      assert.matches("^%x+$", policy.hash)
      assert.equal(16, #policy.hash)
      assert.matches("/policies/" .. policy.kind .. "/" .. policy.name .. "%.lua$", policy.path)
      assert.equal(1, policy.version)
    end
    for _, kind in ipairs({ "contacts", "briefs", "presentation", "supervision" }) do
      assert(in_force(s, kind), kind)
    end
    assert.same({ retries_max = 3, first_ms = 100, factor = 2, max_ms = 10000, failures_max = 5,
      failures_ms = 60000, children = "end" }, in_force(s, "supervision").settings)
  end)

  it("shows the caller's settings over the defaults, and the app's own policies", function()
    local s = scene.new({ app = function(app)
      app:policy("supervision", "backoff", { retries_max = 5 })
      app:policy("contacts", function() return true end)
    end })
    local settings = in_force(s, "supervision").settings
    assert.equal(5, settings.retries_max)
    assert.equal(100, settings.first_ms)
    assert.same({ kind = "contacts", name = "app", hash = "app", version = 1, settings = {} },
      in_force(s, "contacts"))
  end)

  it("is an effect inside a turn, and raises while the app loads", function()
    local s
    s = scene.troupe({ root = function(root)
      root.state.name = in_force(s, "contacts").name
      root:sleep(10)
      root.state.after = in_force(s, "contacts").name
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(5)
    s:crash()
    s:recover()
    s:run()
    assert.same({ name = "open", after = "open" }, s:agent("root").state)
    assert.has_error(function()
      scene.new({ app = function(app) app:policies() end })
    end)
  end)
end)

describe("a swap", function()
  after_each(scene.close)

  it("is an event with both scripts' names and hashes", function()
    local folder = scene.files({ ["mine.lua"] = MINE })
    local s = scene.new({ quiet = true })
    local before = in_force(s, "contacts")
    s:policy("contacts", folder .. "/mine.lua")
    local after = in_force(s, "contacts")
    assert.equal("mine", after.name)
    assert.equal(2, after.version)
    assert.not_equal(before.hash, after.hash)
    assert.same({ {
      kind = "contacts", by = "call", from = { name = "strict", hash = before.hash },
      to = { name = "mine", hash = after.hash },
    } }, details(s, "policy_swapped"))
    s:policy("contacts", "strict")
    assert.equal(before.hash, in_force(s, "contacts").hash)
    assert.equal(before.hash, details(s, "policy_swapped")[2].to.hash)
  end)

  it("has the hash of the file's content, whatever the file is called", function()
    local folder = scene.files({ ["a.lua"] = MINE, ["b.lua"] = MINE, ["c.lua"] = MINE .. "\n" })
    local s = scene.new({ quiet = true })
    local hashes = {}
    for i, name in ipairs({ "a", "b", "c" }) do
      s:policy("contacts", folder .. "/" .. name .. ".lua")
      hashes[i] = in_force(s, "contacts").hash
    end
    assert.equal(hashes[1], hashes[2])
    assert.not_equal(hashes[1], hashes[3])
  end)

  it("of settings alone shows the settings", function()
    local s = scene.new({ quiet = true })
    s:policy("supervision", "backoff", { retries_max = 9 })
    local detail = details(s, "policy_swapped")[1]
    assert.equal(detail.from.hash, detail.to.hash)
    assert.equal(3, detail.from.settings.retries_max)
    assert.equal(9, detail.to.settings.retries_max)
  end)

  it("of one function for another is an event", function()
    local s = scene.new({ quiet = true })
    s:policy("contacts", function() return true end)
    s:policy("contacts", function() return false end)
    assert.same({ name = "app", hash = "app" }, details(s, "policy_swapped")[2].from)
    assert.equal(2, #details(s, "policy_swapped"))
  end)

  it("takes effect between two steps, not for earlier answers", function()
    local answers = {}
    local s = scene.troupe({
      a = function(a) answers[#answers + 1] = a:can_send("b").allowed end,
      b = function() end,
    })
    scene.tell(s, "a")
    s:policy("contacts", "strict")
    scene.tell(s, "a")
    s:policy("contacts", "open")
    scene.tell(s, "a")
    assert.same({ true, false, true }, answers)
  end)

  it("survives a crash right after it", function()
    local s = scene.new({ quiet = true })
    s:policy("contacts", "open")
    s:crash()
    s:recover()
    assert.equal(1, #details(s, "policy_swapped"))
    assert.equal("open", in_force(s, "contacts").name)
  end)

  it("cannot be made inside a turn", function()
    local s, ok, err
    s = scene.troupe({ root = function() ok, err = pcall(s.policy, s, "contacts", "open") end })
    scene.tell(s, "root")
    assert.is_false(ok)
    assert.matches("inside a turn", err)
    assert.same({}, details(s, "policy_swapped"))
  end)
end)

describe("a rejected policy", function()
  after_each(scene.close)

  local function refused(s, policy, settings)
    local before = in_force(s, "contacts")
    local ok, err = pcall(s.policy, s, "contacts", policy, settings)
    assert.is_false(ok)
    assert.same(before, in_force(s, "contacts"))
    local list = details(s, "policy_refused")
    assert.equal("contacts", list[#list].kind)
    assert.equal("call", list[#list].by)
    assert(err:find(list[#list].reason, 1, true))
    return list[#list], #list
  end

  it("leaves the last good one in force and is an event with file and line", function()
    local s = scene.new({ quiet = true })
    local path = scene.files({ ["bad.lua"] = "local M = {}\n\nM.x = = 1\n" }) .. "/bad.lua"
    local detail = refused(s, path)
    assert.matches("bad%.lua:3: ", detail.reason)
    assert.equal(path, detail.name)
    write(path, '\nerror("no")\n')
    assert.matches("bad%.lua:2: no$", refused(s, path).reason)
    write(path, "\n\nwhile true do end\n")
    assert.matches("bad%.lua:3: .*too many steps", refused(s, path).reason)
    write(path, "\nreturn io.open('x')\n")
    assert.matches("bad%.lua:2: .*'io'", refused(s, path).reason)
    write(path, 'local M = {\n  kind = "briefs" }\nreturn M\n')
    assert.matches('bad%.lua:2: kind must be "contacts"', refused(s, path).reason)
    write(path, '\nlocal M = { kind = "contacts", version = 1 }\n\nreturn M\n')
    assert.matches("bad%.lua:4: function may_send is missing", refused(s, path).reason)
    write(path, (MINE:gsub("expect = false", "expect = true")))
    local last, count = refused(s, path)
    assert.matches("bad%.lua:5: example 1: expected true, got false", last.reason)
    assert.equal(7, count)
    write(path, MINE)
    assert.matches("no setting 'wrod'", refused(s, path, { wrod = 1 }).reason)
    s:policy("contacts", path)
    assert.equal("bad", in_force(s, "contacts").name)
  end)

  it("of an unknown kind leaves nothing in force", function()
    local s = scene.new()
    assert.is_false(pcall(s.policy, s, "contact", "open"))
    assert.is_false(pcall(s.policy, s, "contacts", "opne"))
    local lines = {}
    for line in s:transcript():gmatch("[^\n]*policy_refused[^\n]*") do
      lines[#lines + 1] = line
    end
    assert.matches("there is no policy kind 'contact'; did you mean 'contacts'", lines[1], 1, true)
    assert.is_nil(lines[1]:find("stays active", 1, true))
    assert.matches("; for contacts the last good policy stays active", lines[2], 1, true)
  end)

  it("can neither outlive its budget by catching the error nor act while it is checked", function()
    local s = scene.new({ quiet = true })
    local path = scene.files({
      ["x.lua"] = "while true do pcall(function() while true do end end) end",
    }) .. "/x.lua"
    assert.matches("x%.lua:1: .*too many steps", refused(s, path).reason)
    write(path, "return setmetatable({}, { __index = function() while true do end end })")
    assert.matches("kind must be", refused(s, path).reason)
    write(path, [[
      local f = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i) end end)
      for _ = 1, 900 do f() end
      return { kind = "contacts", version = 1, may_send = function() return true end }
    ]])
    s:policy("contacts", path)
  end)

  it("of an unknown kind or name lists those that exist", function()
    local s = scene.new({ quiet = true })
    assert.error_matches(function() s:policy("contact", "open") end,
      "did you mean 'contacts'.*supervision")
    assert.error_matches(function() s:policy("contacts", "opne") end, "contacts/opne%.lua")
    assert.equal(2, #details(s, "policy_refused"))
  end)
end)

describe("a start", function()
  after_each(scene.close)

  it("records what is in force without an event if nothing has changed", function()
    local s = scene.new({ policies = { contacts = "open" }, quiet = true })
    assert.same({}, details(s, "policy_swapped"))
    s:crash()
    s:recover()
    assert.same({}, details(s, "policy_swapped"))
  end)

  it("with other policies than the last run is a swap", function()
    local name, settings = "strict", nil
    local s = scene.new({ quiet = true, app = function(app)
      app:policy("contacts", name)
      app:policy("supervision", "backoff", settings)
    end })
    local hash = in_force(s, "contacts").hash
    name, settings = "open", { retries_max = 1 }
    s:crash()
    s:recover()
    local list = details(s, "policy_swapped")
    assert.equal(2, #list)
    assert.same({ "contacts", "start", { name = "strict", hash = hash }, "open" },
      { list[1].kind, list[1].by, list[1].from, list[1].to.name })
    assert.equal(1, list[2].to.settings.retries_max)
    s:policy("contacts", "strict") -- which the app does not know of
    s:crash()
    s:recover()
    list = details(s, "policy_swapped")
    assert.same({ "start", "strict", "open" }, { list[4].by, list[4].from.name, list[4].to.name })
  end)
end)

-- Libraries and the program's modules: an app may extend them while it loads; after that
-- no agent can change them for others.
-- Covers: core/sandbox/sandbox_freeze.c.

local attack = require("attack")
local scene = require("scene")

local REFUSALS = {
  "cannot be changed: all agents share it; extend libraries while the app loads",
  "cannot change a protected metatable",
  "attempt to index a nil value", "attempt to index a boolean value",
}

-- A society of two agents: `breaker` runs the text `change`, `reader` answers with what the
-- text `use` returns. The text `load` runs while the app loads.
local function society_of(change, use, load)
  return scene.new({ app = scene.app(([[
    local society = require("society")
    %s
    society.role({ id = "breaker", name = "b", behaviour = function()
      local fine, err = pcall(function() %s end)
      return { fine = fine, err = tostring(err) }
    end })
    society.role({ id = "reader", name = "r", behaviour = function() %s end })
    society.root(function(root)
      local answers = {}
      for i, role in ipairs({ "breaker", "reader" }) do
        assert(root:spawn_agent(role, { objective = "o", constraints = {}, inputs = "i",
          outputs = "o", completion_criteria = "c" }, { id = role }))
        answers[i] = assert(root:request({ to = role, payload = "go" })).payload
      end
      return { broken = answers[1], read = answers[2] }
    end)
  ]]):format(load or "", change, use or "return { text = string.format('%d', 7) }")) })
end

-- What the breaker answers, then the reader.
local function run(change, use, load)
  local answer = assert(society_of(change, use, load):dispatch("root", "go")).payload
  return answer.broken, answer.read
end

local function is_refusal(text)
  for _, refusal in ipairs(REFUSALS) do
    if text:find(refusal, 1, true) then
      return true
    end
  end
  return false, text
end

describe("what an agent changes for others", function()
  after_each(scene.close)

  for _, change in ipairs({
    "string.format = nil", "rawset(string, 'format', nil)", "string.extra = 1",
    "rawset(string, 'extra', 1)", "table.concat = print", "math.floor = nil", "utf8.len = nil",
    "os.time = nil", "coroutine.wrap = nil", "pairs = nil", "_G.tostring = nil",
    "rawset(_G, 'type', nil)", "string = {}", "_G._G = {}", "_ENV.require = nil",
    "require('string').format = nil", "require('table').sort = nil",
    "require('society').send = nil", "require('society').role = nil",
    "require('society.json').encode = nil", "require('society.llm.settings').verbs = {}",
    "require('society.llm.openai').url = 'x'", "table.insert(string, 1)",
    "table.move({ 1 }, 1, 1, 1, string)", "setmetatable(string, {})",
    "setmetatable(_G, { __index = function() end })", "getmetatable('').__index = {}",
    "getmetatable('').__index.format = nil", "getmetatable(string).__index.format = nil",
    "local _, t = next({ string }) t.format = nil",
  }) do
    it("is refused: " .. change, function()
      local broken, read = run(change)
      assert.is_false(broken.fine)
      assert.is_true(is_refusal(broken.err))
      assert.equal("7", read.text)
    end)
  end

  -- All functions of a file share its `_ENV`: whoever set it would take the libraries from
  -- the others.
  for _, change in ipairs({ "_ENV = {}", "function _ENV() end", "_ENV, x = {}, 1",
    "(function() _ENV = nil end)()" }) do
    it("is refused when the file is compiled: " .. change, function()
      assert.error_matches(function()
        society_of(change)
      end, "attempt to assign to const variable '_ENV'", 1, true)
    end)
  end

  it("may be an environment of its own", function()
    local broken, read = run("local _ENV = { x = 1 } x = x + 1")
    assert.is_true(broken.fine)
    assert.equal("7", read.text)
  end)

  it("may be an environment for a text that it loads, where the app allows that", function()
    local change = "assert(load('_ENV = {}'))() assert(format == nil)"
    local broken, read = run(change, nil, "society.config({ load = true })")
    assert.is_true(broken.fine, broken.err)
    assert.equal("7", read.text)
    broken = run(change)
    assert.matches("load: texts are not loaded while agents run", broken.err, 1, true)
  end)

  it("is refused in every module that comes with the program", function()
    local names = {}
    for _, name in ipairs(attack.modules()) do
      if name:match("^society%.") then
        names[#names + 1] = ("%q"):format(name)
      end
    end
    local broken, read = run(([[
      for _, name in ipairs({ %s }) do
        local fine, module = pcall(require, name)
        if fine and type(module) == "table" then
          tried = (tried or 0) + 1
          assert(not pcall(function() module.new = 1 end), name)
          for field in pairs(module) do
            assert(not pcall(rawset, module, field, nil), name)
          end
        end
      end
    ]]):format(table.concat(names, ", ")), "return { tried = tried }")
    assert.is_true(broken.fine, broken.err)
    assert.is_true(read.tried > 10)
  end)

  it("is shared if it is a module of the app, but not with isolated agents", function()
    local folder = scene.files({ ["helper.lua"] = "return { cache = {}, count = 0 }",
      ["app.lua"] = [[
        local society = require("society")
        local helper = require("helper")
        local function behaviour(agent)
          helper.count = helper.count + 1
          helper.cache[agent.id] = true
          local known = {}
          for id in pairs(helper.cache) do known[#known + 1] = id end
          return { count = helper.count, known = table.concat(known, " ") }
        end
        society.role({ id = "inside", name = "i", behaviour = behaviour })
        society.root(function(root)
          local answers = {}
          for i, id in ipairs({ "ann", "bob", "cid", "dan" }) do
            assert(root:spawn_agent("inside", { objective = "o", constraints = {}, inputs = "i",
              outputs = "o", completion_criteria = "c" }, { id = id, isolated = i % 2 == 0 }))
            local got = assert(root:request({ to = id, payload = "go" })).payload
            answers[i] = got.count .. " " .. got.known
          end
          return { answers = answers }
        end)
      ]] })
    local s = scene.new({ app = folder .. "/app.lua" })
    assert.same({ "1 ann", "1 bob", "2 ann cid", "1 dan" },
      assert(s:dispatch("root", "go")).payload.answers)
  end)

  it("is shared if it is a global of the app", function()
    local broken, read = run("shared = 2 fresh = 3", "return { shared, fresh }", "shared = 1")
    assert.is_true(broken.fine)
    assert.same({ 2, 3 }, read)
  end)
end)

describe("a frozen library", function()
  after_each(scene.close)

  it("keeps what the app added while it loaded", function()
    local _, read = run("", "return { string.trim(' x '), print == nil, tostring(1) }", [[
      function string.trim(text) return (text:match("^%s*(.-)%s*$")) end
      function tostring() return "mine" end
    ]])
    assert.same({ "x", false, "mine" }, read)
  end)

  it("looks like any other table", function()
    local _, read = run("", [[
      local names, first = {}, next(utf8)
      for name, value in pairs(utf8) do
        names[#names + 1] = name
        assert(utf8[name] == value and rawget(utf8, name) == value)
      end
      return { table.concat(names, " "), first, next(utf8, "char"), tostring(string),
        rawget(_G, "string") == string, getmetatable(string) }
    ]])
    assert.same({ "char charpattern codepoint codes len offset", "char", "charpattern", "table",
      true, false }, read)
  end)

  it("keeps a metatable that the app gave to its globals", function()
    local broken, read = run("undefined = 1", "return { missing, kept }", [[
      kept = "kept"
      setmetatable(_G, { __index = function(_, name) return "no " .. name end,
        __newindex = function(_, name) error("undeclared " .. name) end })
    ]])
    assert.is_false(broken.fine)
    assert.matches("undeclared undefined", broken.err, 1, true)
    assert.same({ "no missing", "kept" }, read)
  end)

  it("is frozen for policies as well", function()
    local folder = scene.files({ ["app.lua"] = [[require("society").root(function() end)]],
      ["changes.lua"] = [[
        return { kind = "supervision", version = 1, defaults = {},
          retry_after = function() string.format = nil end,
          examples = { { ask = "retry_after", given = { { failures = 1 } }, expect = nil } } }
      ]] })
    local fine, err = pcall(scene.new, { app = folder .. "/app.lua",
      policies = { supervision = folder .. "/changes.lua" } })
    assert.is_false(fine)
    assert.matches("string.format cannot be changed: all agents share it", tostring(err), 1, true)
  end)
end)

-- The examples of the shipped policies: every function has one, each says what is expected,
-- and a policy that answers otherwise is rejected.
--
-- Covers: core/script/policies/policy_check.c

local scene = require("scene")
local tree = require("tree")


local function paths()
  local pipe = assert(io.popen(("cd %q && ls policies/*/*.lua"):format(tree.path("."))))
  local list = {}
  for path in pipe:lines() do
    list[#list + 1] = path
  end
  pipe:close()
  return list
end

local read = tree.read

-- How often each function is asked in the examples.
local function asked(policy)
  local counts = {}
  for _, example in ipairs(policy.examples) do
    counts[example.ask or "(none)"] = (counts[example.ask or "(none)"] or 0) + 1
  end
  return counts
end

-- How often an example of the type fits, and how often it does not.
local function tried(policy, type)
  local fits, fails = 0, 0
  for _, example in ipairs(policy.examples) do
    if example.type == type and (example.expect == nil or example.expect == true) then
      fits = fits + 1
    elseif example.type == type then
      fails = fails + 1
    end
  end
  return fits, fails
end

for _, path in ipairs(paths()) do
  local kind, name = path:match("^policies/([^/]+)/([^/]+)%.lua$")

  describe(path, function()
    after_each(scene.close)

    it("passes its own examples", function()
      scene.new():policy(kind, name)
    end)

    it("has an example for every function", function()
      local policy = dofile(tree.path(path))
      local counts, functions = asked(policy), 0
      for field, value in pairs(policy) do
        if type(value) == "function" then
          functions = functions + 1
          assert((counts[field] or 0) > 0, "no example asks " .. field)
        end
      end
      assert.is_true(functions > 0 or kind == "messages")
      assert.is_true(#policy.examples > 0)
    end)

    if kind == "messages" then
      it("has a valid example of every type, and an invalid one if possible", function()
        local policy = dofile(tree.path(path))
        for type, rule in pairs(policy.types) do
          local fits, fails = tried(policy, type)
          assert(fits > 0, "no example of " .. type .. " fits")
          assert(fails > 0 or not (rule.check or rule.required), type .. " always fits")
        end
      end)
    end
  end)
end

describe("a failing example", function()
  after_each(scene.close)

  -- Turns what the first example expects into something else.
  local function spoil(text)
    local start = assert(text:find("M%.examples"))
    local spoilt, count = text:sub(start):gsub("expect = true", "expect = false", 1)
    if count == 0 then
      spoilt, count = text:sub(start):gsub("expect = false", "expect = true", 1)
    end
    return text:sub(1, start - 1) .. spoilt, count
  end

  it("rejects its policy", function()
    local tries = 0
    for _, path in ipairs(paths()) do
      local kind = path:match("^policies/([^/]+)/")
      local text, count = spoil(read(path))
      if count > 0 and kind ~= "prompts" then -- whose texts are beside it
        tries = tries + 1
        local folder = scene.files({ ["spoilt.lua"] = text })
        local ok, err = pcall(function()
          scene.new():policy(kind, folder .. "/spoilt.lua")
        end)
        assert(not ok, path .. " was let in")
        assert.matches("example %d+", err)
      end
    end
    assert.is_true(tries >= 5)
  end)
end)

describe("an example with `contains`", function()
  after_each(scene.close)

  local function use(contains, answer)
    local s = scene.new()
    return pcall(s.policy, s, "prompts", { kind = "prompts", version = 1,
      system = function() return answer end,
      examples = { { ask = "system", given = { {} }, contains = contains } } })
  end

  it("passes if the text contains each of the parts", function()
    assert.is_true(use({ "b", "a.", "a.b" }, "xa.bx"))
    assert.is_true(use({ "\0b" }, "a\0b"))
  end)

  it("rejects its policy if a part is missing or not a text", function()
    for _, case in ipairs({
      { { "a", "c" }, "ab", 'example 1: expected a text that contains "c", got ab' },
      { { "a" }, 7, 'expected a text that contains "a", got number' },
      { { "a" }, nil, 'expected a text that contains "a", got nil' },
      { { 1 }, "1", "example 1: contains must be a list of texts" },
      { {}, "1", "example 1: contains must be a list of texts" },
    }) do
      local ok, err = use(case[1], case[2])
      assert.is_false(ok)
      assert.matches(case[3], err, 1, true)
    end
  end)
end)

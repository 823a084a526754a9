-- The list of planted faults matches the source: otherwise only `make mutants`, which takes
-- long, would notice a fault that cannot be planted any more.

local tree = require("tree")

local function count(text, part)
  local found, at = 0, 1
  while true do
    local first, last = text:find(part, at, true)
    if not first then
      return found
    end
    found, at = found + 1, last + 1
  end
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

describe("the planted faults", function()
  local list = dofile("tests/mutants/list.lua")
  local suite = dofile("tests/mutants/suite.lua")

  it("are at least 120, each with a unique name and a test", function()
    local names = {}
    assert.is_true(#list >= 120)
    for _, mutant in ipairs(list) do
      assert.is_nil(names[mutant.name], mutant.name)
      names[mutant.name] = true
      assert.is_true(#mutant.by >= 1)
    end
  end)

  it("name test files that exist", function()
    local ending = { spec = "_spec.lua", e2e = "_spec.lua", unit = ".c" }
    for _, mutant in ipairs(list) do
      for _, test in ipairs(mutant.by) do
        local kind, name = test:match("^(%w+):([%w_]+)$")
        if ending[kind] then
          tree.find("tests/" .. kind, name .. ending[kind])
        elseif kind == "run" then
          assert.is_string(suite.runs[name], test)
        end
      end
    end
  end)

  for _, mutant in ipairs(list) do
    it("can be planted: " .. mutant.name, function()
      for _, change in ipairs { mutant, mutant.also } do
        assert.equal(1, count(read(change.file or mutant.file), change.from))
        assert.not_equal(change.from, change.to)
      end
    end)
  end

  it("are left to others by the simulator only where a test catches them", function()
    for _, mutant in ipairs(list) do
      for _, test in ipairs(mutant.outside and mutant.by or {}) do
        assert.is_nil(test:find("^run:"), mutant.name)
      end
    end
  end)

  it("are judged by runs that all have their turn", function()
    local named = {}
    for _, name in ipairs(suite.order) do
      assert.is_string(suite.runs[name], name)
      named[name] = true
    end
    for name in pairs(suite.runs) do
      assert.is_true(named[name], name)
    end
  end)

  it("cover every law of the checkers", function()
    local laws = {}
    for _, mutant in ipairs(list) do
      laws[mutant.law or ""] = true
    end
    for _, law in ipairs({ "nothing is lost", "nothing is handled twice", "order", "output commit",
      "contacts", "waits end", "conservation", "times", "rings", "replies", "decisions", "keys",
      "lines", "rollback" }) do
      assert.is_true(laws[law], law)
    end
  end)
end)

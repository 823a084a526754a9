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

  it("are at least 20, each with a unique name and a test", function()
    local names = {}
    assert.is_true(#list >= 20)
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
        end
      end
    end
  end)

  for _, mutant in ipairs(list) do
    it("can be planted: " .. mutant.name, function()
      local text = read(mutant.file)
      assert.equal(1, count(text, mutant.from))
      assert.equal(1, count(text, (mutant.also or mutant).from))
      assert.not_equal(mutant.from, mutant.to)
    end)
  end

  it("cover every law of the checkers", function()
    local laws = {}
    for _, mutant in ipairs(list) do
      laws[mutant.law or ""] = true
    end
    for _, law in ipairs({ "nothing is lost", "nothing is handled twice", "order", "output commit",
      "contacts", "waits end", "conservation" }) do
      assert.is_true(laws[law], law)
    end
  end)
end)

--- titles: the names of the tests in a spec, as busted gives them, without running them.
--
--     titles.of("tests/spec/lualib/json_spec.lua")["json.encode writes …"] == "writes …"

local M = {}

local function nothing() end

--- Loads a spec with describe() and it() that only record.
-- @treturn table full name (titles of describe and it, with spaces) -> the title of it
function M.of(path)
  local found, above = {}, {}
  local function describe(title, body)
    above[#above + 1] = title
    body()
    above[#above] = nil
  end
  local function it(title, body)
    assert(type(body) == "function", path .. ": a test without a body: " .. title)
    local name = table.concat(above, " ") .. " " .. title
    assert(not found[name], path .. ": two tests of one name: " .. name)
    found[name] = title
  end
  local known = { describe = describe, it = it }
  for _, name in ipairs({ "before_each", "after_each", "setup", "teardown", "pending" }) do
    known[name] = nothing -- a pending test proves nothing
  end
  assert(loadfile(path, "t", setmetatable(known, { __index = _G })))()
  return found
end

return M

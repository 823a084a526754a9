-- Names in the documents, in passing: options, codes of errors and variables exist.

local command = require("society.command")
local pages = require("pages")
local program = require("society.program")
local tree = require("tree")

local function options_of(found)
  local names = {}
  for _, option in ipairs(found.options or {}) do
    names[#names + 1] = "--" .. option[1]
    names[#names + 1] = option.short and "-" .. option.short
  end
  return names
end

-- Everything between quotation marks in the program's own sources, as keys.
local function quoted_texts()
  local pipe = assert(io.popen(("grep -rhoE '\"[A-Za-z_]+\"' '%s' '%s' '%s'"):format(
    tree.path("core"), tree.path("lua"), tree.path("policies"))))
  local texts = {}
  for line in pipe:lines() do
    texts[line:sub(2, -2)] = true
  end
  pipe:close()
  return texts
end

describe("a kind of policy", function()
  it("has a row, a section and a type", function()
    local reference = tree.read("policies/README.md")
    local rows = tree.read("docs/policies.md"):match("\n| kind | decides.-\n\n")
    local types = tree.read("lua/society/meta.lua"):match("alias society.PolicyKind\n(.-)\n%-%-%-@")
    assert.is_true(#program.kinds >= 12)
    for _, kind in ipairs(program.kinds) do
      assert.matches("\n| `" .. kind .. "` | ", rows, 1, true)
      assert.matches("\n## `" .. kind .. "`: ", reference, 1, true)
      assert.matches('"' .. kind .. '"', types, 1, true)
    end
  end)
end)

describe("a name in the documents", function()
  it("exists if it is an option", function()
    local known = { ["--help"] = true, ["--version"] = true }
    for _, name in ipairs(command.names) do
      for _, option in ipairs(options_of(command.find(name))) do
        known[option] = true
      end
    end
    local count = 0
    local faults = pages.faults(function(text, language, page)
      local option = not language and text:match("^(%-%-[%l][%l-]*)")
      if not option or page:find("^tests/") or page:find("^bench/") then
        return nil
      end
      count = count + 1
      return not known[option] and "no command has " .. option or nil
    end)
    assert.same({}, faults)
    assert.is_true(count > 50, count)
  end)

  it("exists if it is the code of an error", function()
    local known, count = quoted_texts(), 0
    local faults = pages.faults(function(text)
      for code in text:gmatch('error"? ?[=:] ?"([%l_]+)"') do
        count = count + 1
        if not known[code] then
          return "there is no error " .. code
        end
      end
      return nil
    end)
    assert.same({}, faults)
    assert.is_true(count >= 7, count)
  end)

  it("exists if it is a variable of the program", function()
    local settings_of_run = {}
    for _, setting in ipairs(require("society.cli.settings").list) do
      settings_of_run["SOCIETY_" .. setting[1]:upper():gsub("-", "_")] = true
    end
    local known = quoted_texts()
    local faults = pages.faults(function(text)
      for name in text:gmatch("%f[%w]SOCIETY_[A-Z_]+") do
        local stem = name:gsub("_[A-Z]+$", "") -- SOCIETY_SET_KEY, SOCIETY_POLICY_KIND
        local is_pattern = name:find("^SOCIETY_SET_") or name:find("^SOCIETY_POLICY_")
        if not (known[name] or settings_of_run[name] or is_pattern or settings_of_run[stem]) then
          return "there is no variable " .. name
        end
      end
      return nil
    end)
    assert.same({}, faults)
  end)
end)

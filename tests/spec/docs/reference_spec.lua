-- The documents against the program: every command line, call and setting that they name
-- exists, and what exists is documented. Names in passing: names_spec.lua.

local command = require("society.command")
local pages = require("pages")
local program = require("society.program")
local scene = require("scene")
local tree = require("tree")

local function keys(list)
  local set = {}
  for _, name in ipairs(list) do
    set[name] = true
  end
  return set
end

-- The command lines `society …` in a piece of code.
local function command_lines(text, language)
  local lines = {}
  if language == nil or language == "sh" or language == "text" or language == "console" then
    for line in (" " .. text):gmatch("[%s$/(]society (%l[^|&;`]*)") do
      lines[#lines + 1] = line
    end
  end
  return lines
end

local function options_of(found)
  local known = { ["--help"] = true, ["-h"] = true }
  for _, option in ipairs(found.options or {}) do
    known["--" .. option[1]] = true
    if option.short then
      known["-" .. option.short] = true
    end
  end
  return known
end

local function wrong_option(line)
  local name, rest = line:match("^([%w-]+)(.*)$")
  local found = command.find(name)
  if not found then
    return name ~= "is" and "there is no command " .. name or nil
  end
  local known = options_of(found)
  if found.is_raw or name == "config" then
    return nil -- their options are those of busted and of `run`
  end
  for word in rest:gsub("%s%-%-%s.*$", ""):gmatch("%s%[?(%-%-?%a[%w-]*)") do
    if not known[word] then
      return ("society %s has no %s"):format(name, word)
    end
  end
  return nil
end

-- The calls of an agent's handle, from the tables that bind them.
local function calls_of_agents()
  local pipe = assert(io.popen(("cat '%s'/bind_*.c"):format(tree.path("core/script/bindings"))))
  local source = pipe:read("a")
  pipe:close()
  local names = {}
  for bound in source:gmatch("soc_bind_methods%(L, script, ([%l_]+)%)") do
    local rows = assert(source:match("luaL_Reg " .. bound .. "%[%] = (%b{})"), bound)
    for name in rows:gmatch('{"([%l_]+)", ') do
      names[name] = true
    end
  end
  return names
end

-- The settings of society.config, as it names them itself.
local function settings()
  local s = scene.new()
  local _, err = pcall(function() s:config({ zork = 1 }) end)
  local names = {}
  for name in assert(tostring(err):match("there are ([^;]*)"), err):gmatch("[%l_]+") do
    names[name] = name ~= "and" or nil
  end
  return names
end

describe("a command line in the documents", function()
  it("names commands and options that exist", function()
    local count = 0
    local faults = pages.faults(function(text, language)
      local wrong = {}
      for _, line in ipairs(command_lines(text, language)) do
        count = count + 1
        wrong[#wrong + 1] = wrong_option(line)
      end
      return table.unpack(wrong)
    end)
    assert.same({}, faults)
    assert.is_true(count > 150, count)
  end)

  it("names operations that exist", function()
    local known = {}
    for _, operation in ipairs(program.operations) do
      known[operation.name] = true
    end
    local faults = pages.faults(function(text, language)
      for _, line in ipairs(command_lines(text, language)) do
        local name = line:match("^call ([%l_]+)")
        if name and not known[name] then
          return "there is no operation " .. name
        end
      end
      return nil
    end)
    assert.same({}, faults)
  end)
end)

describe("a call in the documents", function()
  after_each(scene.close)

  it("is one that the types for editors know", function()
    local agent, main = tree.read("lua/society/meta/agent.lua"), tree.read("lua/society/meta.lua")
    local names = { ["agent"] = {}, ["society"] = {}, ["s"] = {} }
    for _, pattern in ipairs({ "function Agent:([%l_]+)", "@field ([%l_]+) fun" }) do
      for name in agent:gmatch(pattern) do
        names.agent[name] = true
      end
    end
    for of, class in pairs({ society = "society.Module", s = "society.World" }) do
      local fields = main:match("%-%-%-@class " .. class .. "\n(.-)\n\n?[^-]")
      for name in fields:gmatch("@field ([%l_]+)") do
        names[of][name] = true
      end
    end
    names.user, names.root = names.agent, names.agent
    local faults = pages.faults(function(text, language)
      if language ~= nil and language ~= "lua" then
        return nil
      end
      for of, name in (" " .. text):gmatch('[^%w_."](%l+)[:.]([%l_]+)%f[({"[]') do
        if names[of] and not names[of][name] then
          return ("there is no %s:%s"):format(of, name)
        end
      end
      return nil
    end)
    assert.same({}, faults)
  end)

  it("is documented if an agent has it", function()
    local page = tree.read("docs/lua-api.md")
    local types = tree.read("lua/society/meta/agent.lua")
    local missing, count = {}, 0
    for name in pairs(calls_of_agents()) do
      count = count + 1
      if not page:find("[agentusr]+:" .. name .. "[({`]") then
        missing[#missing + 1] = name .. " is not in docs/lua-api.md"
      end
      if not (types:find("function Agent:" .. name .. "(", 1, true)
        or types:find("---@field " .. name .. " fun(", 1, true)) then
        missing[#missing + 1] = name .. " is not in lua/society/meta/agent.lua"
      end
    end
    assert.same({}, missing)
    assert.is_true(count > 40)
  end)
end)

describe("a setting", function()
  after_each(scene.close)

  it("is documented and has a type if society.config takes it", function()
    local page, types = tree.read("docs/lua-api.md"), tree.read("lua/society/meta/config.lua")
    local rows = page:match("\n### `society%.config{ … }`\n(.-)\n\n[^|\n]")
    local known, missing = settings(), {}
    for name in pairs(known) do
      if not rows:find("`" .. name .. "`", 1, true) then
        missing[#missing + 1] = name .. " has no row in docs/lua-api.md"
      end
      if not types:find("---@field " .. name .. "? ", 1, true) then
        missing[#missing + 1] = name .. " has no type in lua/society/meta/config.lua"
      end
    end
    for line in rows:gmatch("\n| (`[^|]*`) |") do
      for name in line:gmatch("`([%l_]+)`") do
        missing[#missing + 1] = not known[name] and name .. " is no setting" or nil
      end
    end
    assert.same({}, missing)
  end)

  it("is one that exists where a document sets it on a command line", function()
    local known = settings()
    local faults = pages.faults(function(text)
      local name = text:match("%-%-set ([%l_]+)=")
      return name and not known[name] and "there is no setting " .. name or nil
    end)
    assert.same({}, faults)
  end)
end)

describe("an error code", function()
  it("is in the reference if the program gives it", function()
    local page = tree.read("docs/lua-api.md") .. tree.read("docs/llm.md")
    local source = {}
    for _, folder in ipairs({ "lua", "policies" }) do
      local pipe = assert(io.popen(("grep -rhoE 'error = \"[a-z_]+\"' '%s'"):format(
        tree.path(folder))))
      for line in pipe:lines() do
        source[#source + 1] = line:match('"([%l_]+)"')
      end
      pipe:close()
    end
    local missing = {}
    for code in pairs(keys(source)) do
      if not page:find("`" .. code .. "`", 1, true) then
        missing[#missing + 1] = code
      end
    end
    table.sort(missing)
    assert.same({}, missing)
    assert.is_true(#source > 20)
  end)
end)

-- The tutorial, word for word, from an empty directory: its Lua blocks are the files that
-- their first line names, its shell blocks are run, and print the block of text below them,
-- in which `…` stands for anything within a line.

local pages = require("pages")
local program = require("program")

-- Runs of blanks are as long as the longest id or time of a column happens to be.
local function pattern_of(line)
  local pattern = line:gsub("%p", "%%%0"):gsub("…", ".*"):gsub(" +", " +")
  return "^" .. pattern .. "$"
end

-- Lines in an order that does not depend on times: rows below a heading in capitals may
-- change places.
local function lines_of(text)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do
    lines[#lines + 1] = line
  end
  if text:find("%f[%w]AGENT  ") or text:find("%f[%w]OWNER  ") then
    table.sort(lines)
  end
  return lines
end

local function is_shown(shown, printed)
  local expected, got = lines_of(shown), lines_of(printed)
  for i, line in ipairs(expected) do
    if not (got[i] or "\n"):find(pattern_of(line)) then
      return false
    end
  end
  return #expected == #got
end

local function write(place, text)
  local name = assert(text:match("^%-%- ([%w_/]+%.lua)\n"), "a Lua block names no file")
  local folder = name:match("^(.*)/")
  if folder then
    place:shell("mkdir -p " .. folder)
  end
  place:write(name, text)
end

-- Runs a block of shell and returns what it printed. One that starts over and kills the program in
-- the middle of a wait is run again if a slow machine let the wait end before that.
local function run(place, block, shown)
  local result
  for _ = 1, block.text:find("--fresh .*kill -9") and 5 or 1 do
    result = place:shell('unset -f society; PATH="$PWD/.bin:$PATH"\n' .. block.text .. "true")
    if is_shown(shown, result.out) then
      break
    end
  end
  return result
end

local function follow(page)
  local place = program.place()
  -- A program on the PATH: a function of the shell could not be killed by `$!`.
  place:shell("mkdir .bin && ln -s " .. program.quote(place.program) .. " .bin/society")
  local blocks = pages.blocks(page)
  local commands = 0
  for i, block in ipairs(blocks) do
    local at = ("%s:%d: "):format(page, block.line)
    if block.language == "lua" then
      write(place, block.text)
    elseif block.language == "sh" then
      commands = commands + 1
      local shown = blocks[i + 1]
      assert(shown and shown.language == "text", at .. "what it prints is missing")
      local result = run(place, block, shown.text)
      assert(is_shown(shown.text, result.out),
        ("%s shows\n%s\nbut the commands print\n%s\nand say\n%s")
        :format(at, shown.text, result.out, result.err))
    end
  end
  place:remove()
  return commands
end

describe("the tutorial", function()
  it("works word for word", function()
    assert(follow("docs/tutorial.md") >= 12, "most of its commands are gone")
  end)

  it("is the same in Chinese, but for its prose", function()
    local english, chinese = pages.blocks("docs/tutorial.md"), pages.blocks("docs/zh/tutorial.md")
    assert.equal(#english, #chinese)
    for i, block in ipairs(english) do
      assert.equal(block.language, chinese[i].language)
      assert.equal(block.text, chinese[i].text)
    end
  end)
end)

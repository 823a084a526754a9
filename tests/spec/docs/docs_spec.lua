-- The documents: what they show works. The first line of a Lua block says what it is: `--
-- app: NAME` is run to its end and prints the block of text below it, `-- policy:
-- KIND/NAME` is put in force with its examples, `-- spec: NAME` is run unchanged. Any other
-- block must at least compile.

local society = require("society")
local tree = require("tree")

local PAGES = {
  "README.md", "policies/README.md", "docs/architecture.md", "docs/command-line.md",
  "docs/files.md", "docs/guarantees.md", "docs/lua-api.md", "docs/policies.md",
}

local read = tree.read

-- The fenced blocks of a page, in order: { language, line, text }.
local function blocks_of(page)
  local blocks, block, number = {}, nil, 0
  for line in read(page):gmatch("([^\n]*)\n") do
    number = number + 1
    local language = line:match("^```(%w*)$")
    if language and block then
      block.text = table.concat(block.lines, "\n") .. "\n"
      blocks[#blocks + 1], block = block, nil
    elseif language then
      block = { language = language, line = number, lines = {} }
    elseif block then
      block.lines[#block.lines + 1] = line
    end
  end
  assert(block == nil, page .. ": a block is not closed")
  return blocks
end

local function with_file(text, use)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local ok, err = pcall(use, path)
  os.remove(path)
  assert(ok, err)
end

-- What was printed; a line without a head continues the one before.
local function prints(s)
  local head = "^%d%d:%d%d:%d%d%.%d%d%d print [%w_.-]+: "
  local lines = {}
  for line in s:transcript():gmatch("([^\n]*)\n") do
    if not line:find("^[%d:.]+ inbox ") then
      lines[#lines + 1] = line:gsub(head, "") .. "\n"
    end
  end
  return table.concat(lines)
end

local function run_app(text, expected)
  with_file(text, function(path)
    local s = society.new({ app = path, quiet = true })
    s:run()
    assert.equal(expected, prints(s))
    assert.equal(0, s:stats().pending)
    assert.same({}, s:waits())
    s:close()
  end)
end

local function use_policy(text, kind)
  with_file(text, function(path)
    local s = society.new({ quiet = true })
    s:policy(kind, path)
    s:close()
  end)
end

local function prove(block, next_block)
  local what, name = block.text:match("^%-%- (%a+): ([^\n]+)\n")
  if what == "app" then
    assert(next_block and next_block.language == "text", "what the app prints is missing")
    run_app(block.text, next_block.text)
  elseif what == "policy" then
    use_policy(block.text, name:match("^[^/]+"))
  else
    local chunk = assert(load(block.text, "=block"))
    if what == "spec" then
      chunk()
    end
  end
end

for _, page in ipairs(PAGES) do
  describe(page, function()
    local blocks = blocks_of(page)
    for i, block in ipairs(blocks) do
      if block.language == "lua" then
        it("works in line " .. block.line, function()
          prove(block, blocks[i + 1])
        end)
      end
    end

    it("links to files that exist", function()
      local folder = page:match("^(.*/)") or ""
      for target in read(page):gmatch("%]%(([^)#]+)[^)]*%)") do
        if not target:find("^https?:") then
          local file = io.open(tree.path(folder .. target))
          assert(file, page .. " names " .. target):close()
        end
      end
    end)
  end)
end

describe("docs/architecture.md", function()
  it("shows the part that a unit test builds", function()
    local shown
    for _, block in ipairs(blocks_of("docs/architecture.md")) do
      shown = block.language == "c" and block.text or shown
    end
    local source = read("tests/unit/kernel/part_test.c")
    assert.equal(source:match("/%* docs: begin %*/\n(.-)/%* docs: end %*/"), shown)
  end)
end)

describe("docs/lua-api.md", function()
  it("lists every error code with its message", function()
    local page, source = read("docs/lua-api.md"), read("core/base/err.h"):gsub('"%s*\\?%s*"', "")
    local count = 0
    for code, sentence in source:gmatch('X%(E%u+, %-%d+, "([%l_]+)",[%s\\]*"([^"]+)"%)') do
      count = count + 1
      local row = ("| `%s` | %s |"):format(code, sentence)
      assert(page:find(row, 1, true), "missing: " .. row)
    end
    assert(count > 20, "err.h could not be read")
  end)
end)

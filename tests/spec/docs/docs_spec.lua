-- The documents: what they show works. The first line of a Lua block says what it is: `--
-- app: NAME` is run to its end and prints the block of text below it, `-- policy:
-- KIND/NAME` is put in force with its examples, `-- spec: NAME` is run unchanged, also where
-- it describes. Any other block must at least compile.

local pages = require("pages")
local society = require("society")
local tree = require("tree")

local read = tree.read

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

-- A whole spec file, with what busted gives to one.
local function describe_block(block)
  local env = {
    describe = describe, it = it, before_each = before_each, after_each = after_each,
    assert = assert,
  }
  assert(load(block.text, "=block", "t", setmetatable(env, { __index = _G })))()
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

-- The anchors of a page's headings, as GitHub and pandoc make them.
local function anchors_of(page)
  local anchors, is_code = {}, false
  for line in read(page):gmatch("([^\n]*)\n") do
    is_code = is_code ~= (line:find("^```") ~= nil)
    local title = not is_code and line:match("^#+ (.*)$")
    if title then
      title = title:gsub("%[([^%]]*)%]%b()", "%1"):gsub("…", ""):gsub("→", ""):gsub("·", "")
      anchors[title:lower():gsub("[^%w%s_\x80-\xFF-]", ""):gsub("%s", "-")] = true
    end
  end
  return anchors
end

local function check_link(page, folder, target)
  local path, anchor = target:match("^([^#]*)#?(.*)$")
  local there = path == "" and page or folder .. path
  local file = io.open(tree.path(there))
  assert(file, page .. " names " .. target):close()
  if anchor ~= "" and there:find("%.md$") then
    assert(anchors_of(there)[anchor], page .. " names " .. target)
  end
end

for _, page in ipairs(pages.all()) do
  describe(page, function()
    local blocks = pages.blocks(page)
    for i, block in ipairs(blocks) do
      if block.language == "lua" and block.text:find("^%-%- spec:.*\ndescribe%(") then
        describe_block(block)
      elseif block.language == "lua" then
        it("works in line " .. block.line, function()
          prove(block, blocks[i + 1])
        end)
      end
    end

    it("links to files and headings that exist", function()
      local folder = page:match("^(.*/)") or ""
      for target in read(page):gmatch("%]%(([^)]+)%)") do
        if not target:find("^https?:") then
          check_link(page, folder, target)
        end
      end
    end)
  end)
end

describe("docs/site/contents.lua", function()
  it("names every page once", function()
    local named = {}
    for _, group in ipairs(dofile(tree.path("docs/site/contents.lua"))) do
      for _, entry in ipairs(group.pages) do
        assert.is_nil(named[entry[1]], entry[1])
        named[entry[1]] = true
      end
    end
    for _, page in ipairs(pages.all()) do
      assert.is_true(named[page], page .. " is not in the menu of the site")
    end
  end)
end)

describe("README.zh.md", function()
  local function targets_of(page)
    local targets = {}
    for target in read(page):gmatch("%]%(([^)]+)%)") do
      targets[target] = true
    end
    return targets
  end

  it("has the blocks and the links of the English one", function()
    local english, chinese = pages.blocks("README.md"), pages.blocks("README.zh.md")
    assert.equal(#english, #chinese)
    for i, block in ipairs(english) do
      assert.equal(block.text:gsub("%s+[-#]+ [^\n]*", ""),
        (chinese[i].text:gsub("%s+[-#]+ [^\n]*", "")))
    end
    local translated = { ["README.zh.md"] = true, ["docs/tutorial.md"] = true }
    local there = targets_of("README.zh.md")
    for target in pairs(targets_of("README.md")) do
      assert.is_true(there[target] or translated[target] or false, target)
    end
  end)

  it("says where to read on in the order of the English one", function()
    -- The first link of each row, but for the tutorial, which is there in both languages.
    local function rows_of(page)
      local targets = {}
      for target in read(page):gmatch("\n| [^|]+ | [^|]-%]%(([^)]+)%)") do
        targets[#targets + 1] = target:gsub("/zh/", "/")
      end
      return targets
    end
    local english = rows_of("README.md")
    assert.is_true(#english > 8)
    assert.same(english, rows_of("README.zh.md"))
  end)
end)

describe("examples/README.md", function()
  it("lists every example, numbered without holes", function()
    local page, number = read("examples/README.md"), 0
    local pipe = assert(io.popen(("cd '%s' && ls"):format(tree.path("examples"))))
    for name in pipe:lines() do
      local digits = name:match("^(%d%d)_[%w_]+%.lua$")
      if digits then
        number = number + 1
        assert.equal(("%02d"):format(number), digits)
        assert.matches(("\n| [%s](%s) | "):format(name:gsub("%.lua$", ""), name), page, 1, true)
      elseif name ~= "README.md" and not name:find("%.lua$") then
        local row = ("\n| [%s/](%s) | "):format(name, name)
        assert(page:find(row, 1, true) or name == "calculator" or name == "workflow", name)
      end
    end
    pipe:close()
    assert.is_true(number >= 17)
  end)
end)

describe("docs/architecture.md", function()
  it("shows the part that a unit test builds", function()
    local shown
    for _, block in ipairs(pages.blocks("docs/architecture.md")) do
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

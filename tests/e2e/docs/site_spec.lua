-- The documents as a site (`make docs`): complete, whole, and searchable without a server.

local program = require("program")
local tree = require("tree")

local BUILD = "lua5.4 docs/site/build.lua "

local function is_here(command)
  return (os.execute("command -v " .. command .. " >/dev/null 2>&1"))
end

local function lines_of(command)
  local pipe = assert(io.popen(command))
  local lines = {}
  for line in pipe:lines() do
    lines[#lines + 1] = line
  end
  return lines, pipe:close()
end

local function read(path)
  local file = assert(io.open(path, "rb"), path)
  local text = file:read("a")
  file:close()
  return text
end

describe("the site", function()
  local place, site

  setup(function()
    place = program.place()
    if is_here("pandoc") then
      site = place.path .. "/site"
      local result = place:shell(("cd %s && %s%s"):format(program.quote(tree.path("")), BUILD,
        program.quote(site)))
      assert.equal("", result.err)
      assert.matches("^%d+ pages, %d+ sections, %d+ links: ", result.out)
    end
  end)

  teardown(function()
    place:remove()
  end)

  local function html_files()
    return lines_of("find " .. program.quote(site) .. " -name '*.html'")
  end

  it("is built from all pages, and loads nothing from elsewhere", function()
    if not site then
      return pending("pandoc is not here")
    end
    local files = html_files()
    assert.is_true(#files > 40)
    for _, path in ipairs(files) do
      local text = read(path)
      for _, pattern in ipairs({ 'src="%a+:', '<link [^>]*href="%a+:', '<iframe' }) do
        assert.is_nil(text:find(pattern), path .. " has " .. pattern)
      end
      assert.matches('class="name" href="[./]*index%.html"', text)
    end
    local style, script = read(site .. "/style.css"), read(site .. "/search.js")
    assert.is_nil(style:find("url%(") or style:find("@import", 1, true))
    assert.is_nil(script:find("//%w+%.") or script:find("fetch", 1, true))
    assert.matches('<html lang="zh-CN">', read(site .. "/docs/zh/tutorial.html"), 1, true)
    assert.matches('<html lang="en">', read(site .. "/docs/tutorial.html"), 1, true)
  end)

  it("finds what it holds", function()
    if not site or not is_here("node") then
      return pending("pandoc or node is not here")
    end
    local lines, is_done = lines_of(("SITE=%s node --test --test-reporter=tap %s 2>&1"):format(
      program.quote(site), program.quote(tree.path("tests/web/search.test.mjs"))))
    local text = table.concat(lines, "\n")
    assert.is_true(is_done, text)
    assert.matches("\n# pass 6\n", text, 1, true)
  end)

  it("is not built if a link leads to nothing", function()
    if not site then
      return pending("pandoc is not here")
    end
    place:shell(("mkdir -p small/docs && cp -r %s small/docs/site"):format(
      program.quote(tree.path("docs/site"))))
    place:write("small/docs/site/contents.lua",
      'return { { title = "All", pages = { { "README.md", "One" } } } }')
    place:write("small/docs/other.md", "# Other\n")
    for address, complaint in pairs({
      ["docs/none.md"] = "README.md: there is no docs/none.md",
      ["docs/other.md#none"] = "README.md: there is no docs/other.md#none",
      ["#none"] = "README.md: there is no #none",
    }) do
      place:write("small/README.md", ("# One\n\nSee [it](%s).\n"):format(address))
      local result = place:shell("cd small && " .. BUILD .. "out")
      assert.same({ 1, complaint .. "\n", "" }, { result.code, result.err, result.out })
    end
    place:write("small/README.md", "# One\n\n![x](https://example.org/x.png)\n")
    assert.equal("README.md loads https://example.org/x.png\n",
      place:shell("cd small && " .. BUILD .. "out").err)
    place:write("small/README.md", "# One\n\n[fine](docs/other.md#other), [too](#one).\n")
    assert.equal(0, place:shell("cd small && " .. BUILD .. "out").code)
  end)
end)

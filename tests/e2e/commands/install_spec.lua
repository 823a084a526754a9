-- make install, and what a machine without apt is told.
--
-- Covers: core/embed/home.c

local program = require("program")

local FETCH = "python3 -c 'import sys, urllib.request as web; "
  .. "print(web.urlopen(sys.argv[1]).read().decode())' "

local function words(...)
  local list = table.pack(...)
  for i = 1, list.n do
    list[i] = program.quote(list[i])
  end
  return table.concat(list, " ")
end

describe("the installed program", function()
  local place, root

  before_each(function()
    place = program.place()
    root = place.program:match("^(.*)/[^/]+/society$")
  end)

  after_each(function()
    place:remove()
  end)

  local function make(target)
    -- Not for this make what the make that started the specs has told its children.
    return place:shell("env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C " .. words(root, target,
      "PREFIX=/opt/it", "DESTDIR=" .. place.path .. "/dest",
      "BUILD=" .. place.program:match("^(.*)/society$")))
  end

  -- What the page of `society demo` begins with, run by the installed program.
  local function demo_page(there)
    local built = place.program
    place.program = there
    local running = place:start("demo --state demo", "env -i")
    place.program = built
    running:expect("http://127.0.0.1:")
    local url = running:out():match("http://127%.0%.0%.1:%d+")
    local page = place:shell(FETCH .. url .. "/main.js").out
    running:kill("INT")
    assert.equal(130, running:wait().code)
    return page
  end

  it("runs with an empty environment, and can be uninstalled", function()
    local installed = make("install")
    assert.equal(0, installed.code, installed.err)
    local there = "dest/opt/it/bin/society"
    assert.matches("^society %d", place:shell("env -i " .. there .. " version").out)
    place:shell(("env -i %s init app"):format(there))
    assert.equal("hello, Ada\n",
      place:shell(("cd app && env -i ../%s run app.lua --quiet -- Ada"):format(there)).out)
    local example = "dest/opt/it/share/society/examples/01_hello.lua"
    assert.equal(0, place:shell(("env -i %s check %s"):format(there, example)).code)
    assert.matches("Starts the page", demo_page(place.path .. "/" .. there), 1, true)
    for _, name in ipairs({ "lib/libsociety.a", "include/society.h", "share/man/man1/society.1",
      "share/bash-completion/completions/society", "share/zsh/site-functions/_society",
      "share/fish/vendor_completions.d/society.fish", "lib/systemd/system/society@.service" }) do
      assert.is_truthy(place:read("dest/opt/it/" .. name), name)
    end
    assert.equal(0, make("uninstall").code)
    assert.equal("", place:shell("find dest ! -type d; find dest -name '*society*'").out)
  end)
end)

describe("make demo", function()
  it("ends by saying how to see a society in the browser", function()
    local place = program.place()
    local root = place.program:match("^(.*)/[^/]+/society$")
    local result = place:shell("env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -sn -C "
      .. words(root, "demo") .. " | tail -n 1")
    place:remove()
    assert.equal('echo "To see a society at work in your browser: build/society demo"\n',
      result.out)
  end)
end)

describe("a machine without apt", function()
  local place, deps

  before_each(function()
    place = program.place()
    deps = place.program:match("^(.*)/[^/]+/society$") .. "/.ci/deps"
    place:shell('mkdir bin && ln -s "$(command -v bash)" bin/bash')
  end)

  after_each(function()
    place:remove()
  end)

  local function ask()
    return place:shell("env -i PATH=bin bin/bash " .. words(deps, "build"))
  end

  it("is told what is missing", function()
    local result = ask()
    assert.equal(1, result.code)
    for _, name in ipairs({ "cc", "make", "pkg-config", "lua5.4", "libuv (with its headers)",
      "sqlite3 (with its headers)", "libcurl (with its headers)",
      "libmicrohttpd (with its headers)", "libcrypto (with its headers)",
      "hiredis (with its headers)" }) do
      assert.matches("missing: " .. name .. "\n", result.err, 1, true)
    end
    assert.matches("needed: a C11 compiler, make, pkg-config, Lua 5.4, libuv, SQLite 3, libcurl,",
      result.err, 1, true)
  end)

  it("passes if nothing is missing", function()
    for _, name in ipairs({ "cc", "make", "pkg-config", "lua5.4" }) do
      place:write("bin/" .. name, "#!" .. place.path .. "/bin/bash\nexit 0\n")
    end
    place:shell("chmod +x bin/cc bin/make bin/pkg-config bin/lua5.4")
    assert.same({ code = 0, out = "", err = "" }, ask())
  end)
end)

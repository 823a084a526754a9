-- make deb: the package installs, runs the demo and an example, and is removed without a trace.
-- It goes into a directory of its own: the machine's packages are not touched.

local program = require("program")

local FETCH = "python3 -c 'import sys, urllib.request as web; "
  .. "print(web.urlopen(sys.argv[1]).read().decode())' "

describe("the Debian package", function()
  local place, root

  before_each(function()
    place = program.place()
    root = place.program:match("^(.*)/[^/]+/society$")
  end)

  after_each(function()
    place:remove()
  end)

  -- What a machine lacks to build and install a package, or nil.
  local function find_missing()
    for _, name in ipairs({ "dpkg", "dpkg-deb", "dpkg-shlibdeps" }) do
      if place:shell("command -v " .. name).code ~= 0 then
        return name
      end
    end
    return place:shell("test $(id -u) = 0").code ~= 0 and "root's rights" or nil
  end

  -- dpkg on the directory `dest`, whose database of packages begins empty.
  local function dpkg(arguments)
    return place:shell("PATH=$PATH:/usr/sbin:/sbin dpkg --instdir=$PWD/dest "
      .. "--admindir=$PWD/dest/var/lib/dpkg --log=$PWD/log --force-depends "
      .. "--force-script-chrootless " .. arguments)
  end

  local function make_package()
    local build = place.program:match("^(.*)/society$")
    local made = place:shell(("env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C %s deb BUILD=%s")
      :format(program.quote(root), program.quote(build)))
    assert.equal(0, made.code, made.err)
    return assert(made.out:match("DEB%s+(%S+)\n"))
  end

  it("installs, runs the demo and is removed", function()
    local missing = find_missing()
    if missing then
      pending("a package cannot be tried here without " .. missing)
      return
    end
    local package = make_package()
    local depends = place:shell("dpkg-deb -f " .. package .. " Depends").out
    for _, name in ipairs({ "libc6", "libuv1", "libsqlite3-0", "libcurl4", "libmicrohttpd12",
      "libseccomp2", "libedit2" }) do
      assert.matches(name:gsub("%-", "%%-"), depends)
    end
    place:shell("mkdir -p dest/var/lib/dpkg/info dest/var/lib/dpkg/updates && "
      .. ": > dest/var/lib/dpkg/status && : > dest/var/lib/dpkg/available")
    local before = place:shell("find dest ! -path '*/var/lib/dpkg/*' | sort").out
    local installed = dpkg("-i " .. package)
    assert.equal(0, installed.code, installed.err)
    assert.matches("^install ok installed", place:shell(
      "dpkg-query --admindir=dest/var/lib/dpkg -W -f '${Status}' society").out)

    local built = place.program
    place.program = place.path .. "/dest/usr/bin/society"
    assert.matches("^society %d", place:run("version").out)
    local hello = place:run("run dest/usr/share/society/examples/01_hello.lua --quiet --state h")
    assert.equal(0, hello.code, hello.err)
    assert.matches("hello, Ada", hello.out)
    local running = place:start("demo --state s", "env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY")
    running:expect("http://127.0.0.1:")
    local url = running:out():match("http://127%.0%.0%.1:%d+")
    assert.matches('<script type="module" src="main.js">', place:shell(FETCH .. url .. "/").out, 1,
      true)
    running:kill("TERM")
    assert.equal(0, running:wait().code)
    place.program = built
    assert.matches("ExecStart=/usr/bin/society run",
      place:read("dest/usr/lib/systemd/system/society@.service"), 1, true)

    local removed = dpkg("--purge society")
    assert.equal(0, removed.code, removed.err)
    assert.equal(before, place:shell("find dest ! -path '*/var/lib/dpkg/*' | sort").out)
    assert.equal(1, place:shell("dpkg-query --admindir=dest/var/lib/dpkg -W society").code)
  end)
end)

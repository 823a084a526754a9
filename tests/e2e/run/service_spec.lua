-- A society as a service: what it tells the manager that started it, and the unit of systemd.
--
-- Covers: core/embed/service.c

local program = require("program")
local tree = require("tree")

local SERVER = [[
  local society = require("society")
  society.root { default = function(root, message) root:reply(message, "x") end }
]]

describe("a society as a service", function()
  local place, manager

  before_each(function()
    place = program.place()
    place:write("app.lua", SERVER)
  end)

  after_each(function()
    if manager then
      manager:kill("KILL")
      manager:wait()
    end
    manager = nil
    place:remove()
  end)

  -- Starts the manager's side; what it hears goes to the file `heard`.
  local function listen(name)
    local built = place.program
    place.program = "python3"
    manager = place:start(("%s %s heard"):format(
      program.quote(tree.path("tests/support/notify_socket.py")), program.quote(name)))
    place.program = built
    program.wait_for("the manager", function() return place:read("heard") end)
  end

  local function hears(text)
    program.wait_for(text, function()
      return ("\n" .. place:read("heard")):find("\n" .. text .. "\n", 1, true)
    end)
  end

  -- How often the manager heard the text.
  local function count(text)
    return select(2, ("\n" .. place:read("heard")):gsub("\n" .. text .. "%f[\n]", ""))
  end

  for _, name in ipairs({ "./path", "@abstract" }) do
    it("tells when it is ready and when it stops, at " .. name, function()
      local address = name == "./path" and place.path .. "/socket" or "@" .. place.path
      listen(address)
      local running = place:start("run app.lua", "NOTIFY_SOCKET=" .. program.quote(address))
      hears("READY=1")
      hears("MAINPID=" .. running.pid)
      assert.equal(0, place:run("inspect agents").code)
      assert.equal(0, count("STOPPING=1"))
      running:kill("TERM")
      assert.equal(0, running:wait().code)
      hears("STOPPING=1")
      assert.equal(1, count("READY=1"))
      assert.equal(0, count("WATCHDOG=1"))
    end)
  end

  it("shows signs of life if they are asked for", function()
    local address = place.path .. "/socket"
    listen(address)
    local running = place:start("run app.lua", "WATCHDOG_USEC=20000 NOTIFY_SOCKET=" .. address)
    program.wait_for("three signs of life", function() return count("WATCHDOG=1") > 2 end)
    running:kill("TERM")
    assert.equal(0, running:wait().code)
    -- Not if they are meant for another process.
    running = place:start("run app.lua",
      "WATCHDOG_PID=1 WATCHDOG_USEC=1000 NOTIFY_SOCKET=" .. address)
    program.wait_for("a second start", function() return count("READY=1") == 2 end)
    local signs = count("WATCHDOG=1")
    assert.equal(0, place:run("send --wait --to root x").code)
    running:kill("TERM")
    assert.equal(0, running:wait().code)
    assert.equal(signs, count("WATCHDOG=1"))
  end)

  it("does not tell that it is ready if it cannot start", function()
    local address = place.path .. "/socket"
    listen(address)
    place:write("broken.lua", "error('no')")
    local environment = "NOTIFY_SOCKET=" .. address
    assert.equal(1, place:shell(environment .. " society run broken.lua").code)
    assert.equal("", place:read("heard"))
  end)

  it("runs without a manager that listens", function()
    place:write("main.lua", "require('society').main(function() print('done') end)")
    for _, address in ipairs({ "/nowhere/at/all", "nonsense", "", "@" .. ("x"):rep(200) }) do
      local result = place:shell(("NOTIFY_SOCKET=%s WATCHDOG_USEC=junk society run main.lua "
        .. "--fresh"):format(program.quote(address)))
      assert.equal("done\n", result.out, result.err)
    end
  end)
end)

describe("the unit", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  it("is accepted by systemd, and hardened", function()
    if place:shell("command -v systemd-analyze").code ~= 0 then
      pending("systemd-analyze is not installed")
      return
    end
    local unit = assert(tree.read("docs/society@.service")):gsub("@BINDIR@/society",
      place.program)
    place:write("society@.service", unit)
    local checked = place:shell("systemd-analyze verify --man=no ./society@.service")
    assert.same({ 0, "" }, { checked.code, checked.err })
    -- What the unit of an ordinary server scores is 9.6.
    local judged = place:shell("systemd-analyze security --offline=true --no-pager --threshold=25 "
      .. "./society@.service")
    assert.equal(0, judged.code, judged.out .. judged.err)
  end)

  -- Also where systemd is not installed.
  it("keeps what hardens it", function()
    local unit = tree.read("docs/society@.service")
    for setting in ([[DynamicUser=yes UMask=0077 CapabilityBoundingSet= NoNewPrivileges=yes
      ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateDevices=yes PrivateUsers=yes
      ProtectClock=yes ProtectControlGroups=yes ProtectHostname=yes ProtectKernelLogs=yes
      ProtectKernelModules=yes ProtectKernelTunables=yes ProtectProc=invisible ProcSubset=pid
      RemoveIPC=yes RestrictNamespaces=yes RestrictRealtime=yes RestrictSUIDSGID=yes
      LockPersonality=yes MemoryDenyWriteExecute=yes SystemCallArchitectures=native
      SystemCallFilter=~@privileged SystemCallErrorNumber=EPERM LimitCORE=0
      StateDirectoryMode=0700]]):gmatch("%S+") do
      assert.matches("\n" .. setting .. "\n", unit, 1, true)
    end
    assert.matches("\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n", unit, 1, true)
    assert.matches("\nSystemCallFilter=@system-service seccomp\n", unit, 1, true)
  end)

  it("lets isolated agents have their workers", function()
    place:write("isolated.lua", [[
      local society = require("society")
      local BRIEF = { objective = "o", constraints = {}, inputs = "i", outputs = "o",
        completion_criteria = "c" }
      society.role { id = "guest", name = "guest", isolated = true, behaviour = function()
        return { text = "a worker of its own" }
      end }
      society.root(function(root)
        local guest = assert(root:spawn_agent("guest", BRIEF))
        print(assert(root:request { to = guest.id, payload = "hello" }).payload.text)
      end)
      society.main(function(user) user:send_message { to = "root", payload = "go" } end)]])
    -- Its user is nobody, who must be able to come here and to write.
    place:shell("chmod 755 . && chmod 644 isolated.lua && mkdir st && chmod 777 st && chmod +t st")
    local result = place:shell(("python3 %s %s %s run isolated.lua --quiet --state st/society")
      :format(program.quote(tree.path("tests/support/unit_filter.py")),
      program.quote(tree.path("docs/society@.service")), program.quote(place.program)))
    if result.code == 99 then
      pending("systemd-analyze or libseccomp is missing, or nobody cannot come here")
      return
    end
    assert.same({ 0, "a worker of its own\n" }, { result.code, result.out }, result.err)
  end)
end)

-- agent:http against a real server on loopback, by the built program.

local json = require("society.json")
local program = require("program")

local function support(name)
  local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
  local pipe = assert(io.popen("cd " .. program.quote(here) .. "/../support && pwd"))
  local folder = pipe:read("l")
  pipe:close()
  return program.quote(folder .. "/" .. name)
end

describe("agent:http, for real", function()
  local place, port, pid

  before_each(function()
    place = program.place()
    os.execute(("cd %s && { python3 %s requests >port 2>server.err & echo $! >pid; }"):format(
      program.quote(place.path), support("model_server.py")))
    port = program.wait_for("the server", function()
      return (place:read("port") or ""):match("^(%d+)\n")
    end)
    pid = place:read("pid"):match("%d+")
  end)

  after_each(function()
    os.execute("kill " .. pid)
    place:remove()
  end)

  local function app(body)
    return place:write("app.lua", ([[
      local society = require("society")
      society.main(function(user)
        local url = "http://127.0.0.1:%s"
        %s
      end)]]):format(port, body))
  end

  local function requests()
    local list = {}
    for line in (place:read("requests") or ""):gmatch("[^\n]+") do
      list[#list + 1] = assert(json.decode(line))
    end
    return list
  end

  it("asks and is answered", function()
    app([[local answer = assert(user:http { url = url .. "/echo", method = "PUT",
            headers = { ["X-Mine"] = "1" }, body = '{"a":1}', idempotent = true })
          print(answer.status, answer.headers["content-type"], #answer.body > 0)]])
    local result = place:run("run app.lua")
    assert.equal("200\tapplication/json\ttrue\n", result.out, result.err)
    local request = requests()[1]
    assert.equal("PUT", request.method)
    assert.equal("1", request.headers["X-Mine"])
    assert.equal('{"a":1}', request.body)
    assert.matches("^call_", request.headers["Idempotency-Key"])
  end)

  it("tells failures apart", function()
    app([[print(select(2, user:http { url = "http://127.0.0.1:1/" }).error)
          print(select(2, user:http { url = url .. "/hang", timeout_ms = 100 }).error)]])
    local result = place:run("run app.lua")
    assert.equal("connect_failed\ntimeout\n", result.out, result.err)
  end)

  for _, case in ipairs({
    { name = "repeats a GET that was in doubt", options = "", out = "2\n", count = 2 },
    { name = "does not repeat a POST that was in doubt", options = 'method = "POST",',
      out = "in_doubt\n", count = 1 },
    { name = "repeats what is marked idempotent under the same key",
      options = 'method = "POST", idempotent = true,', out = "2\n", count = 2 },
  }) do
    it("after kill -9 " .. case.name, function()
      app(([[local answer, err = user:http { %s url = url .. "/hang", timeout_ms = 20000 }
            print(answer and answer.body or err.error)]]):format(case.options))
      local running = place:start("run app.lua")
      program.wait_for("the request", function() return #requests() == 1 end)
      running:kill("KILL")
      running:wait()
      local result = place:run("run app.lua")
      assert.equal(case.out, result.out, result.err)
      local list = requests()
      assert.equal(case.count, #list)
      if case.count == 2 then
        assert.equal(list[1].headers["Idempotency-Key"], list[2].headers["Idempotency-Key"])
      end
    end)
  end
end)

-- agent:http against a real server on loopback, by the built program.

local program = require("program")
local servers = require("server")

describe("agent:http over loopback", function()
  local place, server

  before_each(function()
    place = program.place()
    server = servers.start(place)
  end)

  after_each(function()
    server:stop()
    place:remove()
  end)

  local function app(body)
    return place:write("app.lua", ([[
      local society = require("society")
      society.main(function(user)
        local url = "%s"
        %s
      end)]]):format(server.url, body))
  end

  it("sends a request and returns the answer", function()
    app([[local answer = assert(user:http { url = url .. "/echo", method = "PUT",
            headers = { ["X-Mine"] = "1" }, body = '{"a":1}', idempotent = true })
          print(answer.status, answer.headers["content-type"], #answer.body > 0)]])
    local result = place:run("run app.lua")
    assert.equal("200\tapplication/json\ttrue\n", result.out, result.err)
    local request = server:requests()[1]
    assert.equal("PUT", request.method)
    assert.equal("1", request.headers["X-Mine"])
    assert.equal('{"a":1}', request.body)
    assert.matches("^call_", request.headers["Idempotency-Key"])
  end)

  it("distinguishes failures", function()
    app([[print(select(2, user:http { url = "http://127.0.0.1:1/" }).error)
          print(select(2, user:http { url = url .. "/hang", timeout_ms = 100 }).error)]])
    local result = place:run("run app.lua")
    assert.equal("connect_failed\ntimeout\n", result.out, result.err)
  end)

  it("obeys its limits", function()
    app([[local function try(path, options)
            options.url = url .. path
            local answer, err = user:http(options)
            print(answer and answer.status or err.error)
          end
          try("/hang", { first_byte_ms = 100 })
          try("/stall", { idle_ms = 100 })
          try("/echo", { answer_bytes_max = 100 })
          try("/echo", { answer_bytes_max = 10000 })
          try("/", { connect_ms = 60000 })]])
    local result = place:run("run app.lua")
    assert.equal("first_byte_timeout\nidle_timeout\nanswer_too_large\n200\n200\n", result.out,
      result.err)
  end)

  it("sends a secret to its server, and nobody else sees it", function()
    local key = "tok-canary-0a1b2c3d4e"
    app([[society.json = require("society.json")
          for _, secret in ipairs({ "MY_TOKEN", { env = "MY_TOKEN", header = "X-Api-Key" },
            { env = "MY_TOKEN", header = "X-Auth", prefix = "token=" } }) do
            local answer = assert(user:http { url = url .. "/echo", secret = secret })
            user:log("info", "heard", answer)
            print(answer.status, answer.body)
            user:send_message { to = "root", payload = answer }
          end]])
    place:write("app.lua", ('require("society").config { secrets = { MY_TOKEN = %q } }\n'):format(
      server.url) .. place:read("app.lua"):gsub("society.json = [^\n]*", ""))
    local function with(value, arguments)
      local result = place:shell(("MY_TOKEN=%s society %s"):format(value, arguments))
      return result.out .. result.err
    end
    local all = with(key, "run app.lua --log debug") .. with(key, "inspect messages --json")
      .. with(key, "inspect activity --json") .. with(key, "export mermaid")
      .. place:shell("find .society -type f -exec cat {} +").out
    assert.is_nil(all:find(key:sub(1, 14), 1, true))
    assert.is_nil(all:find(key:sub(8), 1, true))
    assert.matches("[secret]", all, 1, true)
    local list = server:requests()
    assert.equal("Bearer " .. key, list[1].headers.Authorization)
    assert.equal(key, list[2].headers["X-Api-Key"])
    assert.equal("token=" .. key, list[3].headers["X-Auth"])
    assert.matches("no_secret", with("", "run app.lua --fresh"), 1, true)
    assert.matches("no_secret", with("\"$(printf 'a\\r\\nB: c')\"", "run app.lua --fresh"), 1, true)
    assert.equal(3, #server:requests())
  end)

  -- A TLS server, with a certificate of its own for this name.
  local function start_tls(name)
    server:stop()
    os.remove(place.path .. "/port")
    assert.equal(0, place:shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test "
      .. "-addext subjectAltName=" .. name .. " -keyout key.pem -out cert.pem && "
      .. "cat cert.pem key.pem >both.pem").code)
    server = servers.start(place, "both.pem")
  end

  it("trusts no certificate of another server, even from a trusted issuer", function()
    start_tls("DNS:other.test")
    app([[local _, err = user:http { url = url .. "/count" }
          print(err.error)]])
    local result = place:shell("SSL_CERT_FILE=cert.pem " .. program.quote(place.program)
      .. " run app.lua --fresh")
    assert.equal("tls_failed\n", result.out, result.err)
    assert.equal(0, #server:requests())
  end)

  it("trusts no certificate of an unknown issuer", function()
    start_tls("IP:127.0.0.1")
    app([[local answer, err = user:http { url = url .. "/count" }
          print(answer and answer.body or err.error)]])
    assert.equal("tls_failed\n", place:run("run app.lua").out)
    assert.equal(0, #server:requests())
    local result = place:shell("SSL_CERT_FILE=cert.pem " .. program.quote(place.program)
      .. " run app.lua --fresh")
    assert.equal("1\n", result.out, result.err)
  end)

  for _, case in ipairs({
    { name = "repeats a GET that was in doubt", options = "", out = "2\n", count = 2 },
    { name = "does not repeat a POST that was in doubt", options = 'method = "POST",',
      out = "in_doubt\n", count = 1 },
    { name = "repeats what is marked idempotent under the same key",
      options = 'method = "POST", idempotent = true,', out = "2\n", count = 2 },
  }) do
    it("after kill -9 " .. case.name, function()
      app(([[local answer, err = user:http { %s url = url .. "/hang", timeout_ms = 600000 }
            print(answer and answer.body or err.error)]]):format(case.options))
      local running = place:start("run app.lua")
      program.wait_for("the request", function() return #server:requests() == 1 end)
      running:kill("KILL")
      running:wait()
      local result = place:run("run app.lua")
      assert.equal(case.out, result.out, result.err)
      local list = server:requests()
      assert.equal(case.count, #list)
      if case.count == 2 then
        assert.equal(list[1].headers["Idempotency-Key"], list[2].headers["Idempotency-Key"])
      end
    end)
  end
end)

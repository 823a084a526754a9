-- The clients of examples/redis, unchanged, and what a start refuses.

local json = require("society.json")
local program = require("program")
local redis = require("redis_server")
local tree = require("tree")

local function example(name)
  return program.quote(tree.path("examples/redis/" .. name))
end

local function rows_of(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = line
  end
  return list
end

describe("the clients in Python and Node", function()
  local place, server, society

  setup(function()
    place = program.place()
    server = redis.open(place)
    society = place:start_ready(("run %s --state st --quiet --redis %s"):format(
      example("office.lua"), server.url), "st")
    society:expect("the office is open")
    program.wait_for("the door to listen", function()
      return server:call("PUBSUB NUMPAT"):find("2", 1, true)
    end)
  end)

  teardown(function()
    society:kill("TERM")
    assert.equal(0, society:wait().code)
    server:close()
    place:remove()
  end)

  for _, client in ipairs({ "python3 %s", "node %s" }) do
    local ending = client:find("python", 1, true) and "py" or "mjs"

    it("ask and are answered: " .. ending, function()
      local command = client:format(example("request." .. ending))
      local answer = place:shell(("%s %d HUNTER Ada"):format(command, server.port))
      assert.equal("Ada", json.decode(answer.out).customer, answer.err)
      local refused = place:shell(("%s %d nobody Ada"):format(command, server.port))
      assert.same({ 1, "agent_not_found" }, { refused.code, json.decode(refused.out).error })
    end)

    it("do tasks: " .. ending, function()
      local worker = place:shell(("%s %d Codex TASK-%s > worker.%s 2>&1 & echo $!"):format(
        client:format(example("worker." .. ending)), server.port, ending, ending))
      society:expect("Codex has done TASK-" .. ending)
      program.wait_for("the task to be printed", function()
        return rows_of(place:read("worker." .. ending) or "")[1]
      end)
      assert.equal("task TASK-" .. ending .. " look at the code",
        rows_of(place:read("worker." .. ending))[1])
      assert.equal(0, place:run(
        'send --state st --to Codex --json-payload \'{"text":"go home"}\'').code)
      program.wait_for("the worker to leave", function()
        return place:shell("kill -0 " .. worker.out:match("%d+")).code ~= 0
      end)
    end)
  end
end)

describe("society run", function()
  local place

  before_each(function()
    place = program.place()
  end)

  after_each(function()
    place:remove()
  end)

  local function refusal(settings, options)
    place:write("app.lua", ([[
      local society = require("society")
      society.config(%s)
      society.root(function() end)]]):format(settings))
    local result = place:run("run app.lua " .. (options or ""))
    return result.code ~= 0 and result.err
  end

  it("refuses settings that cannot be", function()
    assert.matches("this is no address of Redis", refusal('{ redis = { url = "http://x" } }'), 1,
      true)
    assert.matches("no address", refusal("{ redis = {} }"), 1, true)
    assert.matches("this is no address of Redis", refusal("{}", "--redis nonsense"), 1, true)
    assert.matches("unknown setting 'redis.urll'", refusal('{ redis = { urll = "x" } }'), 1, true)
    assert.matches("'redis.poll_ms': an integer from 1 to 60000 expected",
      refusal("{ redis = { poll_ms = 0 } }"), 1, true)
    assert.matches("NO_SUCH_VARIABLE", refusal(
      '{ redis = { url = "redis://h", password_env = "NO_SUCH_VARIABLE" } }'), 1, true)
    assert.matches("'redis.roles' must say", refusal(
      '{ redis = { url = "redis://h" }, files = { dir = "w" } }'), 1, true)
    assert.matches("cannot both be false", refusal(
      '{ redis = { url = "redis://h", queue = false, inbox = false } }'), 1, true)
  end)
end)

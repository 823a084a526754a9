-- The names of the API: each exists wherever the API says so, and says where it works.
--
-- Covers: core/script/turns/box.c

local scene = require("scene")
local tree = require("tree")

local AGENT = {
  "create_role", "spawn_agent", "send_message", "request", "reply", "receive", "contacts",
  "contact", "knows", "can_send", "add_contact", "remove_contact", "request_introduction",
  "introduce", "decline", "escalate", "broadcast", "checkpoint", "complete", "fail", "cancel",
  "load", "resolve", "terminate", "stop", "pause", "resume", "sleep", "now", "random", "log",
  "milestone", "version", "chat", "http", "run_lua",
}

local HOST = {
  "role", "root", "main", "policy", "config", "dispatch", "agents", "agent", "contacts",
  "messages", "tasks", "inbox", "decide", "queue", "load", "dead_letters", "redeliver", "drop",
  "activity", "waits", "stats",
}

local WORLD = { "send", "run", "step", "advance", "now", "crash", "recover", "close", "transcript" }

-- Calls that change a running society are reserved to its owner.
local ORDERS = {
  { name = "dispatch", call = 'dispatch("root", "x")' },
  { name = "decide", call = 'decide("item", { decision = "approve" })' },
  { name = "redeliver", call = 'redeliver("msg_20260105_120000_1")' },
  { name = "drop", call = 'drop("msg_20260105_120000_1")' },
  { name = "pause", call = 'pause("root")' },
  { name = "resume", call = 'resume("root")' },
}

local function missing(names, of)
  local list = {}
  for _, name in ipairs(names) do
    if type(of[name]) ~= "function" then
      list[#list + 1] = name
    end
  end
  return list
end

describe("the API", function()
  after_each(scene.close)

  it("has every name on an agent's handle", function()
    local found
    local s = scene.troupe({ a = function(a) found = missing(AGENT, a) end })
    scene.tell(s, "a")
    assert.same({}, found)
  end)

  it("has every name on the society of an app", function()
    local app = scene.app(([[
      local society = require("society")
      for name in ("%s"):gmatch("%%S+") do
        if type(society[name]) ~= "function" then
          print("no society." .. name)
        end
      end
      print("all asked")
    ]]):format(table.concat(HOST, " ")))
    local text = scene.new({ app = app }):transcript()
    assert.matches("all asked", text, 1, true)
    assert.is_nil(text:find("no society.", 1, true))
  end)

  it("has every name on the result of society.new", function()
    local s = scene.new()
    assert.same({}, missing(HOST, s))
    assert.same({}, missing(WORLD, s))
  end)
end)

describe("the types for editors", function()
  local function read(name)
    return tree.read("lua/society/" .. name)
  end

  -- The description of one class or alias, up to the next empty line.
  local function of(text, what)
    return assert(text:match("\n%-%-%-@" .. what:gsub("%p", "%%%0") .. "[^%w].-\n\n"), what)
  end

  local function untold(names, text, form)
    local list = {}
    for _, name in ipairs(names) do
      if not text:find(form:format(name), 1, true) then
        list[#list + 1] = name
      end
    end
    return list
  end

  it("name every function", function()
    local main = read("meta.lua")
    local module, world = of(main, "class society.Module"), of(main, "class society.World")
    assert.same({}, untold(AGENT, read("meta/agent.lua"), "function Agent:%s("))
    assert.same({}, untold(HOST, module, "---@field %s fun("))
    assert.same({}, untold({ "usage", "policies", "context" }, module, "---@field %s fun("))
    assert.same({}, untold(HOST, world, "---@field %s "))
    assert.same({}, untold(WORLD, world, "---@field %s "))
    assert.same({}, untold({ "usage", "policies", "context" }, world, "---@field %s fun("))
  end)

  it("name every status, every kind of wait and every option", function()
    local main = read("meta.lua")
    assert.same({}, untold({ "idle", "working", "blocked_internal", "blocked_user", "paused",
      "unresponsive", "failed", "ending", "stopped" }, of(main, "alias society.Status"), '"%s"'))
    assert.same({}, untold({ "idle", "busy", "unresponsive", "failed", "stopped" },
      of(main, "class society.Load"), '"%s"'))
    assert.same({}, untold({ "reply", "receive", "human", "task", "checkpoint", "call", "sleep",
      "look", "ack", "order", "retry" }, of(main, "alias society.WaitKind"), '"%s"'))
    assert.same({}, untold({ "app", "seed", "store", "policies", "config", "quiet", "faults",
      "http", "unexpected_calls" }, of(main, "class society.NewOptions"), "---@field %s? "))
    assert.same({}, untold({ "id", "message", "wait", "timeout_ms", "behaviour" },
      of(read("meta/people.lua") .. "\n", "class society.SpawnOptions"), "---@field %s? "))
    assert.same({}, untold({ "task_id", "correlation_id", "reply_to", "ttl_seconds", "deliver_at",
      "deadline", "external_id", "traceparent" }, of(main, "class society.Message"),
      "---@field %s? "))
  end)
end)

describe("a call reserved to the owner", function()
  after_each(scene.close)

  for _, order in ipairs(ORDERS) do
    local name = order.name
    it(("raises in a turn and at load and says where it works: %s"):format(name), function()
      local s = scene.new({ app = scene.app(([[
        local society = require("society")
        local function try()
          return select(2, pcall(function() society.%s end))
        end
        local at_load = try()
        society.root(function() return { at_load = at_load, in_turn = try() } end)
      ]]):format(order.call)) })
      local said = assert(s:dispatch("root", "x")).payload
      local start = "society." .. name
        .. " changes a running society from outside and does not work "
      assert.matches(start .. "inside a turn; use ", said.in_turn, 1, true)
      assert.matches(start .. "while its script loads; use ", said.at_load, 1, true)
      assert.matches("s:" .. name .. " in a spec", said.in_turn, 1, true)
      assert.is_function(s[name])
    end)
  end

  it("is a method of society.new", function()
    local s = scene.new({ app = function(s) s:root(function() return "here" end) end })
    assert.equal("here", assert(s:dispatch("root", "x")).payload.text)
    assert.has_error(function() s.dispatch("root", "x") end,
      "dispatch is a method: call it as s:dispatch(id, payload)")
  end)
end)

-- The time a thinking agent may take for one message, whatever it waits for.

local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

local DAY_MS = 86400000
local WALL_MS = 1800000

-- What ann replies, and how long it took.
local function ask_timed(s)
  local began_ms = s:now()
  local reply = last(ask(s)).payload
  return reply, s:now() - began_ms
end

describe("the time for one message", function()
  after_each(scene.close)

  it("is not extended by a model's own timeout_ms", function()
    local s = think({ ann = { call("request", { to = "root", payload = "q",
      timeout_ms = 30 * DAY_MS }), "end" } }, { root = function() end })
    local reply, took_ms = ask_timed(s)
    assert.equal("wall_time", reply.guard)
    assert.equal(WALL_MS, took_ms // 1000 * 1000)
  end)

  for name, wait in pairs({
    request = function(agent)
      return agent:request({ to = "root", payload = "q", timeout_ms = 30 * DAY_MS })
    end,
    receive = function(agent) return agent:receive() end,
    sleep = function(agent) agent:sleep(30 * DAY_MS) end,
    chat = function(agent)
      return agent:chat({ messages = { { role = "user", content = "wait" } },
        timeout_ms = 30 * DAY_MS })
    end,
    checkpoint = function(agent)
      return agent:checkpoint({ agents = { "root" }, timeout_ms = 30 * DAY_MS })
    end,
    introduction = function(agent)
      return agent:request_introduction({ to = "root", reason = "r", required_capability = "c",
        timeout_ms = 30 * DAY_MS })
    end,
    spawn = function(agent)
      return agent:spawn_agent("sleeper", scene.brief(), { wait = true, message = "?" })
    end,
    ["sleep again and again"] = function(agent)
      while true do
        agent:sleep(60000)
      end
    end,
  }) do
    it("limits a tool that waits: " .. name, function()
      local s = scene.new({
        policies = { introductions = "agent" },
        config = { llm = { provider = "scripted", answers = function(request)
          local entry = last(request.messages)
          if entry.content == "wait" then
            return { content = "late", delay_ms = 40 * DAY_MS }
          end
          return entry.role == "tool" and "end" or call("wait")
        end, tools = { { name = "wait", run = wait } } } },
        app = function(s)
          s:role({ id = "thinker", name = "t", prompt = "p", behaviour = "llm" })
          s:role({ id = "sleeper", name = "s", prompt = "p", behaviour = function() end })
          s:root(function(root, message)
            if message.from == "user" then
              root:spawn_agent("thinker", scene.brief(), { id = "ann" })
              return
            end
            root:sleep(60 * DAY_MS)
          end)
        end,
      })
      scene.tell(s, "root")
      assert(s:send("user", { to = "ann", payload = { text = "go" } }))
      s:advance(WALL_MS + 2000)
      assert.equal("wall_time",
        scene.message(s, { agent = "user" }, { from = "ann" }).payload.guard)
    end)
  end

  it("limits a model call, whose own timeout is then not the reason", function()
    local s = think(function() return { content = "late", delay_ms = 500000 } end,
      { llm = { guards = { wall_ms = 60000 } } })
    local reply, took_ms = ask_timed(s)
    assert.equal("wall_time", reply.guard)
    assert.is_true(took_ms < 61000, took_ms .. " ms")
  end)

  it("leaves shorter timeouts alone, and sets none where it is turned off", function()
    for _, wall_ms in ipairs({ 600000, false }) do
      local errors = {}
      local s = think({ ann = { call("wait"), "end" } }, { root = function() end,
        llm = { guards = { wall_ms = wall_ms }, tools = { { name = "wait", run = function(agent)
          errors[1] = select(2, agent:request({ to = "root", payload = "q" }))
          errors[2] = select(2, agent:request({ to = "root", payload = "q", timeout_ms = 45000 }))
          agent:sleep(1000)
          errors[3] = select(2, agent:request("nonsense"))
        end } } } })
      assert.equal("end", last(ask(s)).payload.text)
      assert.same({ 30000, 45000 }, { errors[1].timeout_ms, errors[2].timeout_ms })
      scene.close()
    end
  end)

  it("lets a tool wait without a timeout where it is turned off, or beyond any", function()
    for _, wall_ms in ipairs({ false, math.maxinteger - 1, 200000000000000 }) do
      local got, child, err
      local s = think(function(request)
        return last(request.messages).role == "tool" and "end"
          or request.agent == "ann" and call("wait") or call("complete", { output = 42 })
      end, { root = function(root, message)
        if message.payload.text == "?" then
          root:sleep(DAY_MS)
          root:send_message({ to = "ann", type = "news", payload = "late" })
        end
      end, llm = { guards = { wall_ms = wall_ms }, tools = { { name = "wait", run = function(agent)
        agent:send_message({ to = "root", payload = "?" })
        got = agent:receive({ type = "news" })
        child, err = agent:spawn_agent("thinker", scene.brief(), { wait = true, message = "!" })
      end } } } })
      assert.equal("end", last(ask(s)).payload.text)
      assert.equal("late", got.payload.text)
      assert.is_nil(err)
      assert.equal("completed", s:tasks({ agent = child.id })[1].state)
      scene.close()
    end
  end)
end)

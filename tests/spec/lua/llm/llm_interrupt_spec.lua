-- Messages that interrupt a thinking agent.

local scene = require("scene")
local thinkers = require("thinkers")

local think = thinkers.think

describe("agents that interrupt a model", function()
  after_each(scene.close)

  -- Two who ask ann while she thinks; `send` is what each does.
  local function two_ask(answers, send, guards)
    local s
    s = scene.new({
      policies = { contacts = "open" },
      config = { llm = { provider = "scripted", on_message = "interrupt", answers = answers,
        guards = guards } },
      app = function(app)
        app:role({ id = "thinker", name = "思考者", prompt = "想一想", behaviour = "llm" })
        app:role({ id = "asker", name = "a", prompt = "p", behaviour = function(agent, message)
          if message.from == "root" then
            send(agent, message.payload.wait_ms)
          end
        end })
        app:root(function(root, message)
          if message.from ~= "user" then
            return
          end
          root:spawn_agent("thinker", scene.brief(), { id = "ann" })
          for index, id in ipairs({ "bob", "cid" }) do
            root:spawn_agent("asker", scene.brief(), { id = id })
            root:send_message({ to = id, payload = { wait_ms = (index - 1) * 500 } })
          end
        end)
      end,
    })
    scene.tell(s, "root")
    return s
  end

  it("have their tasks completed one by one", function()
    local s = two_ask(function(request)
      local done = 0
      for _, entry in ipairs(request.messages) do
        done = done + (entry.role == "tool" and 1 or 0)
      end
      return done < 2 and { tool_calls = { { name = "complete", arguments = { output = done } } },
        delay_ms = 1000 } or "end"
    end, function(agent, wait_ms)
      agent:send_message({ to = "ann", type = "task", delay_ms = wait_ms,
        payload = { task_id = "T-" .. agent.id, text = "?" } })
    end)
    assert.same({ "completed", "completed" },
      { s:tasks({ task = "T-bob" })[1].state, s:tasks({ task = "T-cid" })[1].state })
  end)

  local function requests(answers, guards)
    local got = {}
    two_ask(answers, function(agent, wait_ms)
      agent:sleep(wait_ms)
      got[agent.id] = agent:request({ to = "ann", payload = "?", timeout_ms = 60000 })
        or { payload = {} }
    end, guards)
    return got.bob.payload, got.cid.payload
  end

  it("are all answered by its last word", function()
    local one, other = requests(function() return { content = "yes", delay_ms = 1000 } end)
    assert.same({ "yes", "yes" }, { one.text, other.text })
  end)

  it("are all notified when it is stopped", function()
    local one, other = requests(function()
      return { tool_calls = { { name = "list_contacts", arguments = {} } }, delay_ms = 1000 }
    end, { repeats = 1 })
    assert.same({ "repeated_call", "repeated_call" }, { one.guard, other.guard })
  end)
end)

describe("an agent that writes to a model and then interrupts it with a request", function()
  after_each(scene.close)

  local function says(content)
    return function() return { content = content, delay_ms = 1000 } end
  end

  local function plain(root)
    root:send_message({ to = "ann", payload = "first" })
    root:sleep(300)
  end

  local function ask(root)
    return root:request({ to = "ann", payload = "second", timeout_ms = 9000 })
  end

  -- What `second` gives root, who does `first` before it.
  local function interrupt(first, second, answers, guards)
    local answer, err
    local s = think(answers, { llm = { on_message = "interrupt", guards = guards },
      policies = { introductions = "agent" }, root = function(root, message)
        if message.from == "user" then
          first(root)
          answer, err = second(root)
        end
      end })
    scene.tell(s, "root")
    assert.same({}, s:waits())
    return answer and answer.payload, err
  end

  it("is answered after a plain message", function()
    assert.equal("yes", interrupt(plain, ask, says("yes")).text)
  end)

  it("is answered after a request that timed out", function()
    assert.equal("yes", interrupt(function(root)
      local _, err = root:request({ to = "ann", payload = "first", timeout_ms = 500 })
      assert.equal("timeout", err.error)
    end, ask, says("yes")).text)
  end)

  it("is answered after a plain message when it asks for an introduction", function()
    local _, err = interrupt(plain, function(root)
      return root:request_introduction({ to = "ann", reason = "r", required_capability = "c" })
    end, says("I know nobody"))
    assert.same({ "no_introduction", "I know nobody" }, { err.error, err.reason })
  end)

  it("is notified when the model is stopped, or says nothing", function()
    assert.equal("repeated_call", interrupt(plain, ask, function()
      return { tool_calls = { { name = "list_contacts", arguments = {} } }, delay_ms = 1000 }
    end, { repeats = 1 }).guard)
    scene.close()
    assert.equal("empty_answer", interrupt(plain, ask, says("")).guard)
  end)
end)

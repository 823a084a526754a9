-- Telemetry of model calls and tools: their places below an activation, and what they hold.
--
-- Covers: core/parts/telemetry/telemetry_tools.c

local bad = require("bad")
local json = require("society.json")
local scene = require("scene")
local spans = require("spans")
local thinkers = require("thinkers")

describe("telemetry of models and tools", function()
  after_each(scene.close)

  local TOOLS = {
    { name = "look_up", description = "looks up", parameters = { type = "object" },
      run = function(agent)
        agent:sleep(250)
        return "found-it"
      end },
    { name = "broken", description = "fails", parameters = { type = "object" },
      run = function()
        error("out of order")
      end },
    { name = "consult", description = "asks root", parameters = { type = "object" },
      run = function(agent)
        assert(agent:request({ to = "root", payload = "well?" }))
        return "asked"
      end },
  }

  local ANSWERS = {
    thinkers.call("look_up", { word = "secret-word" }), thinkers.call("broken", {}),
    thinkers.call("consult", {}), { content = "the last-word" },
  }

  -- The spans of one message to a thinker; `midway(s)` is called while it waits for root.
  local function think(options)
    local s = thinkers.think(ANSWERS, {
      spans = options or {}, seed = 3, llm = { model = "small-1", tools = TOOLS },
      root = function(root)
        root:sleep(100)
        return "root-says"
      end,
    })
    return s, #s:spans()
  end

  local function finish(s, before)
    local all = s:spans()
    return table.move(all, before + 1, #all, 1, {})
  end

  local TREE = {
    "invoke_agent thinker", "  chat small-1", "  execute_tool look_up", "  chat small-1",
    "  execute_tool broken !tool_error", "  chat small-1", "  execute_tool consult",
    "    request root", "      invoke_agent root", "  chat small-1",
  }

  it("puts model calls and tools below the activation, requests below their tool", function()
    local s, before = think()
    thinkers.ask(s, "hello-there")
    assert.same(TREE, spans.trees(finish(s, before)))
  end)

  it("gives the same tree when a crash interrupts a tool", function()
    for _, at_ms in ipairs({ 1, 100, 300, 330 }) do
      local s, before = think()
      assert(s:send("user", { to = "ann", payload = { text = "hello-there" } }))
      s:advance(at_ms)
      s:crash()
      s:recover()
      s:run()
      assert.same(TREE, spans.trees(finish(s, before)), at_ms)
    end
  end)

  it("times a tool from its begin to its end", function()
    local s, before = think()
    thinkers.ask(s, "hello-there")
    local tool = spans.by_name(finish(s, before))["execute_tool look_up"][1]
    assert.equal(250000000,
      math.tointeger(tool.endTimeUnixNano) - math.tointeger(tool.startTimeUnixNano))
  end)

  it("says which model was asked and what it took", function()
    local s, before = think()
    thinkers.ask(s, "hello-there")
    local chat = spans.by_name(finish(s, before))["chat small-1"][1]
    local values = spans.attributes(chat)
    assert.equal(3, chat.kind)
    assert.same({ "chat", "scripted", "small-1", "small-1" }, { values["gen_ai.operation.name"],
      values["gen_ai.provider.name"], values["gen_ai.request.model"],
      values["gen_ai.response.model"] })
    assert.is_true(values["gen_ai.usage.input_tokens"] > 0)
    assert.is_true(values["gen_ai.usage.output_tokens"] > 0)
  end)

  local CONTENTS = { "hello-there", "secret-word", "found-it", "out of order", "last-word",
    "root-says", "想一想" }

  it("leaves out the contents of messages, prompts and tools", function()
    local s, before = think()
    thinkers.ask(s, "hello-there")
    local text = json.encode(finish(s, before))
    for _, content in ipairs(CONTENTS) do
      assert.is_nil(text:find(content, 1, true), content)
    end
  end)

  it("includes them where society.config says so", function()
    local s, before = think({ content = true })
    thinkers.ask(s, "hello-there")
    local mine = finish(s, before)
    local names = spans.by_name(mine)
    local chat = spans.attributes(names["chat small-1"][2])
    local input = json.decode(chat["gen_ai.input.messages"])
    assert.matches("hello-there", json.encode(input[1]), 1, true)
    assert.equal("tool_call", input[2].parts[1].type)
    assert.same({ "tool_call_response", "found-it" },
      { input[3].parts[1].type, input[3].parts[1].response })
    assert.matches("想一想", chat["gen_ai.system_instructions"], 1, true)
    local tool = spans.attributes(names["execute_tool look_up"][1])
    assert.same({ word = "secret-word" }, json.decode(tool["gen_ai.tool.call.arguments"]))
    assert.equal("found-it", tool["gen_ai.tool.call.result"])
    assert.matches("hello-there",
      spans.attributes(names["invoke_agent thinker"][1])["society.message.payload"], 1, true)
  end)

  it("takes tools of an app's own loop", function()
    local s = scene.troupe({
      root = function(root)
        root:begin_tool("weigh", "w1")
        root:sleep(5)
        root:end_tool("12 kg")
      end,
    }, { telemetry = true })
    local before = #s:spans()
    scene.tell(s, "root")
    assert.same({ "invoke_agent root", "  execute_tool weigh" },
      spans.trees(finish(s, before)))
  end)

  it("ends a tool that its activation leaves open, with the activation's error", function()
    local s = scene.troupe({
      root = function(root)
        root:begin_tool("weigh")
        root:sleep(5)
        error({ error = "scales_broken" })
      end,
    }, { telemetry = true, policies = { contacts = "open" } })
    local before = #s:spans()
    scene.tell(s, "root")
    local tool = spans.by_name(finish(s, before))["execute_tool weigh"]
    assert.equal(1, #tool)
    assert.equal(2, tool[1].status.code)
  end)

  it("ends a tool where the turn that ends it commits, after a failure too", function()
    local tries = 0
    local s = scene.troupe({
      root = function(root)
        root:begin_tool("weigh")
        root:sleep(5)
        root:end_tool("12 kg")
        tries = tries + 1
        assert(tries > 1, "once")
        root:sleep(100)
      end,
    }, { telemetry = true })
    local before = #s:spans()
    scene.tell(s, "root")
    local names = spans.by_name(finish(s, before))
    local tool, all = names["execute_tool weigh"], names["invoke_agent root"]
    assert.same({ 1, 1 }, { #tool, #all })
    assert.equal(100000000,
      math.tointeger(all[1].endTimeUnixNano) - math.tointeger(tool[1].endTimeUnixNano))
  end)

  it("takes any text for a tool and raises for anything else", function()
    local taken, faults = 0, {}
    local s = scene.troupe({
      root = function(root)
        local calls = {
          begin_tool = function(value) root:begin_tool(value, value, value) end,
          end_tool = function(value) root:end_tool(value, value == nil or nil) end,
        }
        for name, call in pairs(calls) do
          for what, value in bad.each("") do
            local ok, err = pcall(call, value)
            taken = taken + (ok and 1 or 0)
            local is_right = ok == (type(value) == "string")
              and (ok or err:find(name, 1, true) ~= nil)
            faults[#faults + 1] = not is_right and name .. ": " .. what or nil
          end
        end
      end,
    }, { telemetry = true, config = { telemetry = { content = true } } })
    scene.tell(s, "root")
    assert.same({}, faults)
    assert.is_true(taken >= 20)
    spans.trees(s:spans())
  end)

  it("refuses a setting that it does not know", function()
    for _, case in ipairs({
      { { contents = true }, "only 'content' can be set" },
      { { content = 1 }, "'content' must be a boolean" },
      { true, "a table { content = true } expected" },
    }) do
      local ok, err = pcall(scene.new, { config = { telemetry = case[1] } })
      assert.is_false(ok)
      assert.matches(case[2], err, 1, true)
    end
  end)
end)

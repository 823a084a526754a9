-- The tools of a thinking agent: what it is told about them, and how they are set.

local json = require("society.json")
local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

describe("a tool", function()
  after_each(scene.close)

  -- What the model is told about one call of a tool.
  local function told(tool, arguments)
    tool.name = "own"
    local result
    local s = think(function(request)
      local entry = last(request.messages)
      if entry.role ~= "tool" then
        return call("own", arguments)
      end
      result = entry.content
      return "done"
    end, { llm = { tools = { tool } } })
    assert.equal("done", last(ask(s)).payload.text)
    return result
  end

  it("reports which values it accepts, of whatever type", function()
    local result = told({ run = function() end, parameters = { type = "object", properties = {
      how = { enum = { true, 7, "x" } } } } }, { how = "y" })
    assert.matches("how must be one of true, 7, x", result, 1, true)
  end)

  it("that returns bytes that are not text is answered by an error", function()
    for _, run in ipairs({
      function() return "\xff\xfe" end,
      function() return { bytes = "\xff" } end,
      function() return nil, "\xff" end,
      function() return nil, { error = "\xff" } end,
      function() error("\xff", 0) end,
      function() return ("\xff"):rep(100000) end,
    }) do
      local result = told({ run = run })
      assert.matches('"error":"not_text"', result, 1, true)
      assert.matches("UTF-8", result, 1, true)
      scene.close()
    end
  end)
end)

describe("what a model is told about a tool that raised", function()
  after_each(scene.close)

  for name, run in pairs({
    ["an error with its place"] = function() error("boom") end,
    ["an error without one"] = function() error("boom", 0) end,
    ["one with a traceback"] = function()
      error("boom\nstack traceback:\n\t/home/x.lua:1: in f", 0)
    end,
    ["a table"] = function() error({ error = "boom", message = "boom" }) end,
    ["an error given back, with its place"] = function()
      return nil, select(2, pcall(error, "boom", 1))
    end,
  }) do
    it("contains nothing about the machine: " .. name, function()
      local result
      local s = think(function(request)
        result = last(request.messages)
        return result.role == "tool" and "done" or call("own")
      end, { llm = { tools = { { name = "own", run = run } } } })
      ask(s)
      assert.matches("boom", result.content, 1, true)
      for _, trace in ipairs({ ".lua", "traceback", "/", "table:" }) do
        assert.is_nil(result.content:find(trace, 1, true), result.content)
      end
    end)
  end

  it("includes errors of the society's own calls, whose place is in the log", function()
    local result
    local s = think(function(request)
      result = last(request.messages)
      return result.role == "tool" and "done" or call("own")
    end, { llm = { tools = { { name = "own", run = function(agent)
      agent:send_message({ to = 7 })
    end } } } })
    ask(s)
    assert.is_nil(result.content:find(".lua", 1, true), result.content)
    local logged
    for _, row in ipairs(s:activity({ agent = "ann" })) do
      logged = logged or (json.encode(row):find("llm_tools_spec.lua", 1, true) and row)
    end
    assert(logged, "the log does not say where")
  end)
end)

describe("the society's verbs", function()
  after_each(scene.close)

  -- What the model is told about the verbs, by name, under a prompts policy.
  local function told(prompts)
    local tools = {}
    local s = think(function(request)
      for _, tool in ipairs(request.tools) do
        tools[tool.name] = tool
      end
      return "ok"
    end, { policies = { prompts = prompts } })
    ask(s)
    scene.close()
    return tools
  end

  -- Every descriptive text in a value, with where it is.
  local function texts(value, path, found)
    for name, part in pairs(value) do
      if name == "description" and type(part) == "string" then
        found[path] = part
      elseif type(part) == "table" then
        texts(part, path .. "." .. tostring(name), found)
      end
    end
    return found
  end

  it("are described in the language of the prompt, with all their parameters", function()
    local zh, en = texts(told("zh"), "", {}), texts(told("en"), "", {})
    local count = 0
    for path, text in pairs(zh) do
      count = count + 1
      assert(en[path], path .. " is not described in English")
      assert.is_nil(en[path]:find("[\xe3-\xe9]"), path .. ": " .. en[path])
      assert(text:find("[\xe3-\xe9]"), path .. ": " .. text)
    end
    for path in pairs(en) do
      assert(zh[path], path .. " is not described in Chinese")
    end
    assert.is_true(count > 50, count .. " texts")
    for name, tool in pairs(told("en")) do
      assert(tool.description ~= "", name)
      for field, schema in pairs(tool.parameters.properties) do
        assert(schema.description, name .. "." .. field .. " is not described")
      end
    end
  end)

  it("have no from anywhere, at any depth", function()
    local function look(value, path)
      for name, part in pairs(value) do
        assert(name ~= "from", path)
        if type(part) == "table" then
          look(part, path .. "." .. tostring(name))
        end
      end
    end
    for name, tool in pairs(told("zh")) do
      look(tool.parameters, name)
    end
  end)

  it("have the protocol's schema of spawn_agent, word for word", function()
    local text = { type = "string" }
    local function described(words)
      return { type = "string", description = words }
    end
    local seed = {
      name = "spawn_agent",
      description = "在指定岗位上创建智能体实例，必须提供任务委托书（Task Brief）。",
      parameters = {
        type = "object",
        properties = {
          roleId = described("岗位ID"),
          taskBrief = {
            type = "object", description = "任务委托书，包含任务的完整说明",
            properties = {
              objective = described("目标描述"),
              constraints = { type = "array", items = { type = "string" },
                description = "技术约束（如：使用HTML+JS、Python等）" },
              inputs = described("输入说明"), outputs = described("输出要求"),
              completion_criteria = described("完成标准"),
              collaborators = { type = "array", description = "预设协作联系人",
                items = { type = "object",
                  properties = { agentId = text, role = text, description = text } } },
            },
            required = { "objective", "constraints", "inputs", "outputs", "completion_criteria" },
          },
        },
        required = { "roleId", "taskBrief" },
      },
    }
    local function holds(value, expected, path)
      for name, part in pairs(expected) do
        if type(part) == "table" then
          holds(value[name], part, path .. "." .. name)
        else
          assert.equal(part, value[name], path .. "." .. name)
        end
      end
    end
    holds(told("zh").spawn_agent, seed, "spawn_agent")
  end)

  it("may be called again after they failed", function()
    local s = think({ ann = {
      call("introduce", { target = "nobody" }),
      { expect = "agent_not_found", tool_calls = { { name = "decline",
        arguments = { reason = "I know nobody" } } } },
      { expect = "messageId", content = "done" },
    } }, { policies = { introductions = "agent" }, root = function(root)
      local _, err = root:request_introduction({ to = "ann", reason = "r",
        required_capability = "c" })
      root.state.heard = err.reason
    end })
    scene.tell(s, "root")
    assert.matches('"heard":"I know nobody"', s:dump(), 1, true)
  end)
end)

describe("settings of thinking agents", function()
  after_each(scene.close)

  for text, llm in pairs({
    ['prices["m"].input must be a number of dollars for a million tokens, 0 or more, got string'] =
      { prices = { m = { input = "1", output = 1 } } },
    ['prices["m"].output must be a number of dollars for a million tokens, 0 or more, got nil'] =
      { prices = { m = { input = 1 } } },
    ['prices["m"].input must be a number of dollars for a million tokens, 0 or more, got -1'] =
      { prices = { m = { input = -1, output = 1 } } },
    ['prices["m"] must be { input = dollars, output = dollars }, got number'] =
      { prices = { m = 3 } },
    ["prices[\"m\"]: unknown field 'in'; there are input, output"] =
      { prices = { m = { ["in"] = 1, output = 1 } } },
    ['prices["1"]: a model\'s name is a string'] = { prices = { { input = 1, output = 1 } } },
    ["options.messages: the host writes that itself"] = { options = { messages = {} } },
    ["options is a table with names, such as { top_p = 0.9 }"] = { options = { 1 } },
    ["options: "] = { options = { top_p = print } },
    ["unknown setting 'top_p' (put provider-specific settings into 'options')"] = { top_p = 1 },
    ["the tool 'a b': a name is made of letters, digits, _ and -, 64 at most"] = {
      tools = { { name = "a b", run = print } } },
    ["the tool 'send_message' is there twice, or is a verb of the society"] = {
      tools = { { name = "send_message", run = print } } },
    ["the tool 'x' is there twice"] = { tools = { { name = "x", run = print, roles = { "a", "b" } },
      { name = "x", run = print, roles = { "b" } } } },
    ["unknown guard 'round'; there are fruitless, repeats, rounds, talk, wall_ms"] = {
      guards = { round = 3 } },
    ["guards.rounds must be a whole number above 0, or false"] = { guards = { rounds = "3" } },
    ["'retries_max' must be a whole number from 0 on"] = { retries_max = -1 },
    ["'retry_first_ms' must be a whole number above 0"] = { retry_first_ms = 0 },
    ["on_message must be 'wait' or 'interrupt', got 'stop'"] = { on_message = "stop" },
    ["unknown verb 'sendmessage'; there are add_contact"] = { verbs = { "sendmessage" } },
    ["base_url must be the http:// or https:// address of a server, got 'ftp://x'"] = {
      base_url = "ftp://x" },
    ["base_url must be the http:// or https:// address of a server, got 'http://'"] = {
      base_url = "http://" },
    ["key_env must be the name of a variable of the environment, got 'A B'"] = { key_env = "A B" },
    ["the tool 'look' needs a function 'run'"] = { tools = { { name = "look" } } },
    ["tools[1] must be a table with a name"] = { tools = { { run = print } } },
    ["tools is a list, without names"] = { tools = { look = { name = "look", run = print } } },
    ["verbs is a list, without names"] = { verbs = { say = "send_message" } },
    ['verbs["a"] is a list, without names'] = { verbs = { a = { say = "send_message" } } },
    ["unknown verb 'sendmessages'; there are add_contact"] = {
      verbs = { a = { "sendmessages" } } },
    ["verbs by role need the ids of the roles"] = { verbs = { { "send_message" } } },
    ["the tool 'escalate' is there twice, or is a verb"] = {
      verbs = { a = { "send_message" }, default = { "escalate" } },
      tools = { { name = "escalate", run = print } } },
    ["the tool 'look': roles is a list"] = { tools = { { name = "look", run = print,
      roles = { who = "clerk" } } } },
    ["the tool 'look': 'roles' must be a table"] = { tools = { { name = "look", roles = "x",
      run = print } } },
  }) do
    it("are refused immediately: " .. text, function()
      local ok, err = pcall(think, {}, { llm = llm })
      assert.is_false(ok)
      assert.matches(text, tostring(type(err) == "table" and err.message or err), 1, true)
    end)
  end

  it("accept tools of one name for different roles, and that of an omitted verb", function()
    local s = think(function() return "ok" end, { llm = { verbs = { "request" }, tools = {
      { name = "x", run = print, roles = { "a" } }, { name = "x", run = print, roles = { "b" } },
      { name = "send_message", run = print } } } })
    assert.equal("ok", last(ask(s)).payload.text)
  end)

  it("are refused immediately if the provider does not exist", function()
    for name, text in pairs({
      opnai = "unknown provider 'opnai'; there are anthropic, auto, openai, replay, scripted",
      ["no.such.module"] = "provider 'no.such.module': require: no module",
      ["society.json"] = "provider 'society.json' is incomplete: it needs the tables",
    }) do
      local ok, err = pcall(scene.new, { config = { llm = { provider = name } } })
      assert.is_false(ok)
      assert.matches(text, tostring(err), 1, true)
    end
  end)
end)

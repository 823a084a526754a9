-- The tools of an agent that thinks: what it is told of them, and how they are set.

local scene = require("scene")
local thinkers = require("thinkers")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

describe("a tool", function()
  after_each(scene.close)

  -- What the model is told of one call of a tool.
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

  it("says which values it takes, of whatever type they are", function()
    local result = told({ run = function() end, parameters = { type = "object", properties = {
      how = { enum = { true, 7, "x" } } } } }, { how = "y" })
    assert.matches("how must be one of true, 7, x", result, 1, true)
  end)

  it("that gives bytes that are no text is answered by an error", function()
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

describe("settings of agents that think", function()
  after_each(scene.close)

  for text, llm in pairs({
    ["unknown guard 'round'; there are fruitless, repeats, rounds, wall_ms"] = {
      guards = { round = 3 } },
    ["guards.rounds must be a whole number above 0, or false"] = { guards = { rounds = "3" } },
    ["on_message must be 'wait' or 'interrupt', got 'stop'"] = { on_message = "stop" },
    ["unknown verb 'sendmessage'; there are complete"] = { verbs = { "sendmessage" } },
    ["the tool 'look' needs a function 'run'"] = { tools = { { name = "look" } } },
    ["tools[1] must be a table with a name"] = { tools = { { run = print } } },
    ["the tool 'look': 'roles' must be a table"] = { tools = { { name = "look", roles = "x",
      run = print } } },
  }) do
    it("are refused at once: " .. text, function()
      local ok, err = pcall(think, {}, { llm = llm })
      assert.is_false(ok)
      assert.matches(text, tostring(type(err) == "table" and err.message or err), 1, true)
    end)
  end
end)

-- The schemas of an app's tools: good ones are enforced, bad ones are refused when they are
-- set, and none kills a message.

local json = require("society.json")
local scene = require("scene")
local schema = require("society.llm.schema")
local thinkers = require("thinkers")

local think, call, ask, last = thinkers.think, thinkers.call, thinkers.ask, thinkers.last

describe("a tool's schema", function()
  after_each(scene.close)

  -- What the model is told about a call with these arguments.
  local function told(parameters, arguments)
    local result
    local s = think(function(request)
      local entry = last(request.messages)
      result = entry.role == "tool" and entry.content
      return result and "done" or call("own", arguments)
    end, { llm = { tools = { { name = "own", parameters = parameters,
      run = function() return "ran" end } } } })
    assert.equal("done", last(ask(s)).payload.text)
    assert.same({}, s:dead_letters())
    return result
  end

  it("may be true or false in its parts", function()
    local parameters = { type = "object", properties = { a = true, b = false,
      list = { type = "array", items = true }, none = { type = "array", items = false } } }
    assert.equal("ran", told(parameters, { a = { 1 }, list = { 1, "x" }, none = json.array({}) }))
    scene.close()
    assert.matches("b is not allowed", told(parameters, { b = 1 }), 1, true)
    scene.close()
    assert.matches("none.1 is not allowed", told(parameters, { none = { 1 } }), 1, true)
  end)

  it("accepts a whole number for an integer, however it is written", function()
    local parameters = { type = "object", properties = { page = { type = "integer" },
      ratio = { type = "number" }, list = { type = "array", items = { type = "integer" } } } }
    local given = assert(json.decode('{"page":5.0,"ratio":2.0,"list":[1e2,7]}'))
    assert.same({}, schema.faults(given, parameters))
    assert.same({ "5", "2.0", "100", "7" }, { tostring(given.page), tostring(given.ratio),
      tostring(given.list[1]), tostring(given.list[2]) })
    assert.equal("ran", told(parameters, '{"page":5.0}'))
    scene.close()
    assert.matches("page must be of type integer", told(parameters, '{"page":5.5}'), 1, true)
    scene.close()
    assert.matches("page must be of type integer", told(parameters, '{"page":"5"}'), 1, true)
  end)

  for text, parameters in pairs({
    ["the tool 'own': "] = { type = "object", properties = { a = { default = function() end } } },
    ["the tool 'own': parameters must be an object of JSON schema"] = json.array({}),
    ["the tool 'own': parameters.properties.a is no schema"] = { properties = { a = 7 } },
    ["the tool 'own': parameters.properties must be a table"] = { properties = "a" },
    ["the tool 'own': parameters.enum must be a table"] = { enum = 7 },
    ["the tool 'own': parameters.required must be a list of names"] = { required = true },
    ["the tool 'own': parameters.properties.a.items.required must be a list of names"] = {
      properties = { a = { type = "array", items = { required = { 7 } } } } },
    ["the tool 'own': parameters.type: unknown type 'zork'; there are array, boolean, "]
      = { type = "zork" },
    ["the tool 'own': parameters.properties.key.type: unknown type 'strnig'"] = {
      type = "object", properties = { key = { type = "strnig" } } },
    ["parameters.properties.list.items.type: unknown type 'int'"] = {
      properties = { list = { type = "array", items = { type = "int" } } } },
    ["parameters.properties.pair.items.2.type: unknown type 'int'"] = {
      properties = { pair = { items = { { type = "string" }, { type = "int" } } } } },
    ["parameters.properties.a.type: unknown type 'nil'"] = {
      properties = { a = { type = { "string", "nil" } } } },
    ["parameters.properties.b.type must be a type's name, or a list of some"] = {
      properties = { b = { type = 7 } } },
    ["parameters.properties.c.type must be a type's name, or a list of some"] = {
      properties = { c = { type = json.array({}) } } },
    ["parameters.properties.d.anyOf.2.type: unknown type 'text'"] = {
      properties = { d = { anyOf = { true, { type = "text" } } } } },
    ["parameters.additionalProperties.type: unknown type 'float'"] = {
      type = "object", additionalProperties = { type = "float" } },
  }) do
    it("is refused when it is set: " .. text, function()
      local ok, err = pcall(think, {}, { llm = { tools = { { name = "own", run = print,
        parameters = parameters } } } })
      assert.is_false(ok)
      assert.matches(text, tostring(err), 1, true)
    end)
  end

  it("is refused with a description that is not a text", function()
    local ok, err = pcall(think, {}, { llm = { tools = { { name = "own", run = print,
      description = "\xff" } } } })
    assert.is_false(ok)
    assert.matches("UTF-8", tostring(err), 1, true)
  end)

  it("stays what it was if the app changes it behind the settings' back", function()
    local own = { type = "object", properties = {} }
    local s = think({ ann = { call("own", { a = 1 }), { expect = "ok", content = "done" } } },
      { llm = { tools = { { name = "own", parameters = own, run = function() end } } } })
    own.required = { {} }
    own.properties = setmetatable({}, { __pairs = function() error("no") end })
    assert.equal("done", last(ask(s)).payload.text)
  end)

  it("may name any type of JSON schema", function()
    for name in ("array boolean integer null number object string"):gmatch("%l+") do
      assert.is_nil(schema.fault({ properties = { a = { type = name }, type = { type = name } } }))
      assert.is_nil(schema.fault({ type = { name, "null" } }))
    end
  end)

  it("may say more than is enforced", function()
    assert.is_nil(schema.fault({ type = { "object", "null" }, additionalProperties = false,
      properties = { a = { anyOf = { { type = "string" }, true } } },
      required = json.array({ "a" }), items = { { type = "string" } } }))
  end)
end)

-- /openapi.json describes the routes, derived from their table.
--
-- A validator of the npm registry checks it where npm can be reached.
-- Covers: core/bridge/http/openapi.c

local json = require("society.json")
local npm = require("npm")
local host = require("society.program")
local program = require("program")
local tree = require("tree")
local web = require("web")

local APP = 'local society = require("society")\nsociety.main(function() end)\n'

describe("/openapi.json", function()
  local place, door, document

  setup(function()
    place = program.place()
    place:write("app.lua", APP)
    door = web.start(place, "run app.lua --http 0 --log none")
    local answer = door:curl("/openapi.json")
    assert.equal(200, answer.status)
    place:write("openapi.json", answer.body)
    document = answer.json
  end)

  teardown(function()
    door:stop()
    place:remove()
  end)

  it("is valid", function()
    local folder, reason = npm.folder({ "@seriousme/openapi-schema-validator@2" })
    if not folder then
      pending(reason)
      return
    end
    local result = place:shell(("node %s %s openapi.json"):format(
      program.quote(tree.path("tests/support/openapi.mjs")), program.quote(folder)))
    assert.equal("", result.err)
    assert.equal("valid\n", result.out)
  end)

  it("has every route with its scope and answers, and no other", function()
    local count = 0
    for _, methods in pairs(document.paths) do
      for _ in pairs(methods) do
        count = count + 1
      end
    end
    assert.equal(#host.routes, count)
    for _, route in ipairs(host.routes) do
      local entry = document.paths[route.path][route.method:lower()]
      assert.equal(route.scope, entry["x-scope"])
      assert.equal(route.operation, entry["x-operation"])
      assert.is_table(entry.responses[tostring(route.status)])
      assert.is_table(entry.responses.default)
    end
  end)

  -- How many parameters of the operation an entry has in its path and query.
  local function count_parameters(route, entry)
    local found, variables = 0, 0
    for _, parameter in ipairs(entry.parameters) do
      if parameter["in"] == "path" then
        variables = variables + 1
        assert.is_true(parameter.required)
        assert.matches("{" .. parameter.name .. "}", route.path, 1, true)
      end
      found = found + (parameter["in"] == "header" and 0 or 1)
    end
    local _, wanted = route.path:gsub("{", "")
    assert.equal(wanted, variables, route.path)
    return found
  end

  -- The same for its body, where each may have two names.
  local function count_properties(entry)
    local found = 0
    if entry.requestBody then
      local schema = entry.requestBody.content["application/json"].schema
      assert.is_false(schema.additionalProperties)
      for _ in pairs(schema.properties) do
        found = found + 1
      end
    end
    return found
  end

  it("has each parameter once: in the path, in the query or in the body", function()
    local counts = {}
    for _, operation in ipairs(host.operations) do
      local count = { plain = #operation.params, aliases = 0 }
      for _, param in ipairs(operation.params) do
        count.aliases = count.aliases + (param.alias and 1 or 0)
      end
      counts[operation.name] = count
    end
    for _, route in ipairs(host.routes) do
      local entry = document.paths[route.path][route.method:lower()]
      local count = counts[route.operation]
      local found = count_parameters(route, entry) + count_properties(entry)
      if count then
        assert.equal(count.plain + (entry.requestBody and count.aliases or 0), found, route.path)
      end
    end
  end)

  it("describes the answer that comes", function()
    local members = document.paths["/api/v1/stats"].get.responses["200"].content["application/json"]
      .schema.properties
    for name in pairs(json.decode(door:curl("/api/v1/stats").body)) do
      assert.is_table(members[name], name)
    end
  end)
end)

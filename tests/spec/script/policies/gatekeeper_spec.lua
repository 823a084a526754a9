-- The gatekeeper: input without an address.

local json = require("society.json")
local scene = require("scene")

local function echo(agent, message)
  return { text = agent.id .. " heard " .. tostring(message.payload.text) }
end

local function declare(s)
  s:role { id = "sales", name = "销售", behaviour = echo,
    interface_spec = { services = "prices and offers 报价", input_format = "-",
      output_format = "-" } }
  s:role { id = "dev", name = "programmer", behaviour = echo }
  s:root(function(root, message)
    if message.type ~= "open" then return echo(root, message) end
    root:spawn_agent("sales", scene.brief(), { id = "sam" })
    root:spawn_agent("dev", scene.brief(), { id = "dan" })
  end)
end

-- `gatekeeper`: the name of a policy, or a policy function.
local function house(gatekeeper)
  local s = scene.new({ app = function(s)
    declare(s)
    if gatekeeper then s:policy("gatekeeper", gatekeeper) end
  end })
  scene.tell(s, "root", "x", "open")
  return s
end

local function intake(s)
  local rows = s:activity({ type = "intake" })
  return json.decode(rows[#rows].detail)
end

describe("input without an address", function()
  after_each(scene.close)

  it("goes to root by default", function()
    local s = house()
    assert.equal("root heard hello", assert(s:dispatch(nil, "hello")).payload.text)
    assert.same({ intent = "general", route_to = "root" }, intake(s))
    local message = scene.message(s, {}, { from = "user", to = "root", type = "general" })
    assert.same({ text = "hello" }, message.payload)
  end)

  it("is routed by words with the policy keywords", function()
    local s = house("keywords")
    for text, id in pairs({
      ["what are your prices?"] = "sam", ["请给我一个报价"] = "sam",
      ["a programmer is needed"] = "dan", ["dan: hello"] = "dan", ["@sam hello"] = "sam",
      ["nothing in particular"] = "root",
    }) do
      assert.equal(id .. " heard " .. text, assert(s:dispatch(nil, text)).payload.text)
      assert.equal(id, intake(s).route_to)
    end
  end)

  it("is given to the policy with all agents except the user, and the payload unchanged", function()
    local given
    local s = house(function(payload, agents)
      given = { payload = payload, agents = agents }
      return { intent = "x", route_to = "sam" }
    end)
    assert(s:dispatch(nil, { a = { 1, 2 } }))
    assert.same({ a = { 1, 2 } }, given.payload)
    local ids = {}
    for i, agent in ipairs(given.agents) do ids[i] = agent.id .. " " .. agent.status end
    assert.same({ "root idle", "sam idle", "dan idle" }, ids)
    assert.equal("销售", given.agents[2].role)
    assert.equal("prices and offers 报价", given.agents[2].interfaceSpec.services)
  end)

  it("goes to root if the gatekeeper names nobody, fails or returns nonsense", function()
    for _, route in ipairs({
      function() return { intent = "x", route_to = "nobody" } end,
      function() return { intent = "x", route_to = "user" } end,
      function() return {} end,
      function() return "sam" end,
      function() error("no") end,
    }) do
      local s = house(route)
      assert.equal("root heard hi", assert(s:dispatch(nil, "hi")).payload.text)
      assert.equal(1, scene.count(s:transcript(), "policy_failed"))
      assert(s:dispatch(nil, "hi"))
      assert.equal(1, scene.count(s:transcript(), "policy_failed"))
      s:close()
    end
  end)
end)

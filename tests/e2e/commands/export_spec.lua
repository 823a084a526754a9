-- Exports of running and stopped societies.

local json = require("society.json")
local program = require("program")

local APP = [[
local society = require("society")
local function brief(collaborators)
  return { objective = "work", constraints = {}, inputs = "x", outputs = "y",
    completion_criteria = "done", collaborators = collaborators }
end
society.role {
  id = "coder", name = "程序员",
  interface_spec = { services = "写代码", input_format = "要求", output_format = "代码" },
  behaviour = function(agent, message)
    if message.payload.text == "meet" then
      agent:send_message { to = "t1", payload = "hello" }
    elseif message.payload.text == "hire" then
      agent:spawn_agent("late", brief(), { id = "l1" })
    end
  end,
}
society.role {
  id = "tester", name = "测试员",
  interface_spec = { services = "代码测试服务", input_format = "路径", output_format = "报告" },
  behaviour = function() end,
}
society.root(function(root)
  assert(root:create_role { id = "late", name = "后来的", behaviour = "tester" })
  assert(root:spawn_agent("tester", brief(), { id = "t1" }))
  assert(root:spawn_agent("coder", brief({
    { agentId = "t1", role = "测试", description = "tests" },
  }), { id = "c1", message = "meet" }))
  assert(root:spawn_agent("coder", brief(), { id = "gone" }))
  assert(root:send_message { to = "c1", payload = "hire" })
  assert(root:terminate("gone"))
  return "ready"
end)
]]

describe("export org-json", function()
  local place, running

  local function start()
    running = place:start_ready("run app.lua --quiet")
  end

  local function stop(signal)
    running:kill(signal)
    running:wait()
    running = nil
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
  end)

  after_each(function()
    if running then
      stop("KILL")
    end
    place:remove()
  end)

  local function export()
    local result = place:run("export org-json")
    assert.same({ 0, "" }, { result.code, result.err })
    return result.out
  end

  local function grow()
    start()
    assert.equal("ready\n", place:run("send --to root --wait go").out)
    program.wait_for("the last to be born", function()
      return place:run("inspect agents --agent l1 --json").code == 0
    end)
  end

  it("writes everybody's contacts, in order, with the names of their roles", function()
    grow()
    local text = export()
    local registries = json.decode(text).contactRegistries
    local order, last = {}, 0
    for _, id in ipairs({ "user", "root", "t1", "c1", "l1" }) do
      local at = text:find('"' .. id .. '":[', last + 1, true)
      assert(at and at > last, id .. " is not in order of birth")
      last = at
      local list = {}
      for _, contact in ipairs(registries[id]) do
        assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$", contact.addedAt)
        list[#list + 1] = contact.id .. " " .. contact.role .. " " .. contact.source
      end
      order[id] = list
    end
    assert.same({
      user = { "root root system" },
      root = { "user user system", "t1 测试员 child", "c1 程序员 child" },
      t1 = { "root root parent", "c1 程序员 first_message" },
      c1 = { "root root parent", "t1 测试 preset", "l1 后来的 child" },
      l1 = { "c1 程序员 parent" },
    }, order)
    assert.is_nil(registries.gone)
    assert.equal("代码测试服务", registries.c1[2].interfaceSpec.services)
    assert.equal("报告", registries.c1[2].interfaceSpec.output_format)
  end)

  it("agrees with inspect contacts about Interface Specs", function()
    grow()
    for _, signal in ipairs({ "INT", false }) do
      local registries, count = json.decode(export()).contactRegistries, 0
      local offers = {}
      for owner, list in pairs(registries) do
        for _, contact in ipairs(list) do
          offers[owner .. " " .. contact.id] = contact.interfaceSpec or "nothing"
        end
      end
      for line in place:run("inspect contacts --json").out:gmatch("[^\n]+") do
        local row = json.decode(line)
        local key = row.owner .. " " .. row.id
        assert.same({ key, offers[key] }, { key, row.interfaceSpec or "nothing" })
        count = count + 1
      end
      assert.equal(10, count)
      assert.equal("代码测试服务", offers["root t1"].services)
      assert.equal("写代码", offers["t1 c1"].services)
      if signal then
        stop(signal)
      end
    end
  end)

  it("writes the same for a stopped or killed society", function()
    grow()
    local text = export()
    stop("KILL")
    assert.equal(text, export())
    start()
    assert.equal(text, export())
    stop("INT")
    assert.equal(text, export())
  end)

  it("accepts --state, and reports a missing society", function()
    grow()
    local text = export()
    stop("INT")
    place:shell("mv .society elsewhere")
    assert.equal(text, place:run("export org-json --state elsewhere").out)
    local result = place:run("export org-json")
    assert.same({ 1, "" }, { result.code, result.out })
    assert.equal("society: there is no society in .society; --state DIR names another\n",
      result.err)
  end)

  it("lists the formats", function()
    local result = place:run("export poem")
    assert.same({ 2, "" }, { result.code, result.out })
    assert.equal("society: export: unknown format 'poem'; "
      .. "the formats are org-json, dot, mermaid, jsonl\n", result.err)
    assert.equal(2, place:run("export").code)
    assert.matches("org%-json", place:run("export --help").out)
  end)
end)

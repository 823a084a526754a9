-- What happens to an agent's children when it terminates: they terminate as well, or the
-- grandparent adopts them, as the supervision policy decides for each.
--
-- Covers: core/kernel/look.c, core/kernel/ending.c

local scene = require("scene")

local function parents(s)
  local by_id = {}
  for _, agent in ipairs(s:agents()) do
    if agent.parent then
      by_id[agent.id] = agent.parent .. (agent.status == "ending" and " (ending)" or "")
    end
  end
  return by_id
end

local function contact_sources(s, id)
  local list = {}
  for _, contact in ipairs(s:contacts(id)) do
    list[#list + 1] = contact.id .. " " .. contact.source
  end
  return list
end

-- Agents spawn, terminate and wait as they are told: { spawn = id } | { terminate = id,
-- force = } | { stop = true } | { sleep = ms }.
local function obey(agent, message)
  local order = message.payload
  if order.spawn then
    assert(agent:spawn_agent("node", scene.brief(), { id = order.spawn }))
  elseif order.terminate then
    return agent:terminate(order.terminate, { force = order.force, reason = order.reason })
  elseif order.stop then
    agent:stop()
  elseif order.sleep then
    agent:sleep(order.sleep)
  end
end

-- A tree: root > p > (c1 > g1, c2).
local function tree(policy, settings)
  local s = scene.new({ policies = { contacts = "open" }, app = function(s)
    s:role({ id = "node", name = "节点", behaviour = obey })
    s:root(obey)
    if policy then
      s:policy("supervision", policy, settings)
    end
  end })
  for _, step in ipairs({ { "root", "p" }, { "p", "c1" }, { "c1", "g1" }, { "p", "c2" } }) do
    scene.tell(s, step[1], { spawn = step[2] })
  end
  return s
end

local function settled(s)
  local before = scene.outcome(s)
  s:crash()
  s:recover()
  assert.same(before, scene.outcome(s))
  assert.is_true(scene.law_holds(s))
end

describe("the children of an agent that terminates", function()
  after_each(scene.close)

  it("terminate with it, by force if it was forced", function()
    local s = tree()
    for _, id in ipairs({ "g1", "c2" }) do
      s:send("user", { to = id, payload = { sleep = 1000000 } })
    end
    s:advance(1)
    s:send("user", { to = "root", payload = { terminate = "p", force = true, reason = "over" } })
    s:advance(1)
    assert.same({}, parents(s))
    assert.equal(2, #s:dead_letters())
    local ended = {}
    for _, row in ipairs(s:activity({ type = "stopped" })) do
      ended[#ended + 1] = row.agent .. " " .. row.detail
    end
    table.sort(ended)
    assert.same({ "c1 over", "c2 over", "g1 over", "p over" }, ended)
    assert.equal('{"by":"c1","is_forced":true,"reason":"over"}',
      s:activity({ type = "terminate", agent = "g1" })[1].detail)
    settled(s)
  end)

  it("drain while it drains, starting when it starts", function()
    local s = tree()
    s:send("user", { to = "p", payload = { sleep = 1000 } })
    s:send("user", { to = "c1", payload = { sleep = 5000 } })
    s:send("user", { to = "g1", payload = { sleep = 9000 } })
    s:advance(1)
    s:send("user", { to = "root", payload = { terminate = "p" } })
    s:advance(1)
    assert.same({ p = "root (ending)", c1 = "p", g1 = "c1", c2 = "p" }, parents(s))
    settled(s)
    s:advance(1500)
    assert.same({ c1 = "p (ending)", g1 = "c1" }, parents(s))
    settled(s)
    s:advance(4000)
    assert.same({ g1 = "c1 (ending)" }, parents(s))
    settled(s)
    s:run()
    assert.same({}, parents(s))
    assert.equal(0, #s:dead_letters())
    settled(s)
  end)

  it("terminate when it stops itself", function()
    local s = tree()
    scene.tell(s, "p", { stop = true })
    assert.same({}, parents(s))
    settled(s)
  end)

  it("are adopted by the grandparent if the policy says so, and both become contacts", function()
    local s = tree("backoff", { children = "adopt" })
    s:send("user", { to = "c1", payload = { sleep = 5000 } })
    s:advance(1)
    s:send("user", { to = "root", payload = { terminate = "p", force = true } })
    s:advance(1)
    assert.same({ c1 = "root", c2 = "root", g1 = "c1" }, parents(s))
    assert.equal(2, s:agent("root").children)
    assert.same({ "user system", "c1 child", "c2 child" }, contact_sources(s, "root"))
    assert.same({ "user first_message", "g1 child", "root parent" }, contact_sources(s, "c1"))
    local row = s:activity({ type = "adopted", agent = "c2" })[1]
    assert.equal('{"from":"p","by":"root"}', row.detail)
    settled(s)
    assert.same({ "user system", "c1 child", "c2 child" }, contact_sources(s, "root"))
    assert.same({ "user first_message", "g1 child", "root parent" }, contact_sources(s, "c1"))
    s:run()
    scene.tell(s, "root", { terminate = "c1" }) -- its new parent may terminate it
    assert.same({ c2 = "root", g1 = "root" }, parents(s))
    settled(s)
  end)

  it("are decided one by one, with all the policy needs to know", function()
    local asked = {}
    local s = tree({
      kind = "supervision", version = 1,
      retry_after = function() return nil end,
      children = function(request)
        asked[#asked + 1] = request
        return request.child.id == "c1" and "adopt" or "end"
      end,
    })
    scene.tell(s, "root", { terminate = "p", force = true, reason = "why" })
    assert.same({
      {
        agent = { id = "p", role = "node", parent = "root" },
        child = { id = "c1", role = "node", parent = "p" }, is_forced = true, reason = "why",
      },
      {
        agent = { id = "p", role = "node", parent = "root" },
        child = { id = "c2", role = "node", parent = "p" }, is_forced = true, reason = "why",
      },
    }, asked)
    assert.same({ c1 = "root", g1 = "c1" }, parents(s))
  end)

  it("skip an ancestor that is itself terminating", function()
    local s = tree({
      kind = "supervision", version = 1,
      retry_after = function() return nil end,
      children = function(request)
        return request.child.id == "g1" and "adopt" or "end"
      end,
    })
    scene.tell(s, "root", { terminate = "p", force = true })
    assert.same({ g1 = "root" }, parents(s))
    settled(s)
  end)

  it("skip an ancestor that is still draining", function()
    local s = tree("backoff", { children = "adopt" })
    s:send("user", { to = "p", payload = { sleep = 5000 } })
    s:advance(1)
    s:send("user", { to = "root", payload = { terminate = "p" } })
    s:send("user", { to = "c1", payload = { stop = true } })
    s:advance(1)
    assert.same({ p = "root (ending)", c2 = "p", g1 = "root" }, parents(s))
    settled(s)
  end)

  it("keep what they knew about the grandparent", function()
    local s = tree("backoff", { children = "adopt" })
    s:send("root", { to = "g1", payload = { sleep = 1 } })
    s:run()
    local function entry()
      for _, contact in ipairs(s:contacts("g1")) do
        if contact.id == "root" then
          return contact
        end
      end
    end
    local met = entry()
    assert.equal("first_message", met.source)
    s:advance(5000)
    scene.tell(s, "root", { terminate = "p", force = true })
    scene.tell(s, "root", { terminate = "c1", force = true })
    local now = entry()
    assert.same({ "parent", met.addedAt }, { now.source, now.addedAt })
    settled(s)
  end)

  it("terminate if the policy returns nonsense or raises", function()
    for _, answer in ipairs({ "sell", 1, false, "raise" }) do
      local s = tree({
        kind = "supervision", version = 1,
        retry_after = function() return nil end,
        children = function()
          assert(answer ~= "raise", "cannot decide")
          return answer
        end,
      })
      scene.tell(s, "root", { terminate = "p" })
      assert.same({}, parents(s))
      assert.matches("policy_failed", s:transcript(), 1, true)
    end
  end)

  it("terminate if the policy in force lacks that function", function()
    local s = tree(function() return nil end)
    scene.tell(s, "root", { terminate = "p" })
    assert.same({}, parents(s))
  end)
end)

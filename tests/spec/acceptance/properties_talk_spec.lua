-- The correctness properties of who may write to whom and who becomes a contact, each over
-- generated conversations between agents of the case.

local crowd = require("crowd")
local property = require("property")
local scene = require("scene")

local at = property.at

-- A conversation is a list of { from, to } among a few; a model beside it keeps who is new
-- to whom: model[a][b] = source.
local COUNT = 4

local function generate_talk(random)
  return random:list(1, 8, function()
    return { from = random:between(0, COUNT - 1), to = random:between(0, COUNT - 1),
      how = random:between(0, 3) }
  end)
end

local function strangers(as)
  return as("root", function(root)
    local ids, model = {}, {}
    for index = 1, COUNT do
      ids[index] = assert(root:spawn_agent(at(crowd.ROLES, index), scene.brief())).id
      model[ids[index]] = { root = "parent" }
    end
    return ids, model
  end)
end

describe("Property 5: under the policy open no stranger is refused", function()
  after_each(scene.close)

  it("and the registry reports its contacts correctly", function()
    local s, as, heard = crowd.new("open")
    property.check({ cases = 1000, seed = 105 }, generate_talk, function(talk)
      local ids, model = strangers(as)
      for _, step in ipairs(talk) do
        local from, to = at(ids, step.from), at(ids, step.to)
        local knows, may, sent = as(from, function(agent)
          return agent:knows(to), agent:can_send(to),
            assert(agent:send_message({ to = to, payload = { n = step.how } }))
        end)
        local is_known = model[from][to] ~= nil
        assert.same(is_known and { inRegistry = true }
          or { inRegistry = false, error = "unknown_contact" }, knows)
        assert.same({ allowed = true }, may)
        assert.equal(to, heard[sent.messageId])
        model[from].user = "first_message" -- who gave the order
        if from ~= to and not model[to][from] then
          model[to][from] = "first_message"
        end
      end
      for id, known in pairs(model) do
        assert.same(known, crowd.sources(s, id))
      end
      return true
    end)
  end)
end)

describe("Property 7: a first message adds its sender to the receiver's contacts", function()
  after_each(scene.close)

  -- How a message goes: in a turn, from outside, as a request, or in a turn that fails.
  local WAYS = {
    function(s, _, from, to) return assert(s:send(from, { to = to, payload = "x" })) end,
    function(_, as, from, to)
      return as(from, function(agent)
        return assert(agent:send_message({ to = to, payload = { n = 1 } }))
      end)
    end,
    function(_, as, from, to)
      return as(from, function(agent)
        return agent:request({ to = to, payload = "q", timeout_ms = 5 }) or true
      end)
    end,
    function(_, as, from, to)
      return pcall(as, from, function(agent)
        agent:send_message({ to = to, payload = "x" })
        error("the turn is taken back")
      end)
    end,
  }

  it("once, with that source, and only the receiver's list changes", function()
    local s, as = crowd.new("open")
    property.check({ cases = 1000, seed = 107 }, generate_talk, function(talk)
      local ids, model = strangers(as)
      for _, step in ipairs(talk) do
        local from, to = at(ids, step.from), at(ids, step.to)
        local is_turn = step.how % #WAYS > 0
        local before = { from = crowd.contacts(s, from)[to], to = crowd.contacts(s, to)[from] }
        local was_sent = at(WAYS, step.how)(s, as, from, to)
        s:run()
        model[from].user = is_turn and "first_message" or model[from].user
        if from ~= to and was_sent then
          model[to][from] = model[to][from] or "first_message"
        end
        assert.same(before.from, crowd.contacts(s, from)[to])
        assert(not before.to or crowd.contacts(s, to)[from].addedAt == before.to.addedAt)
      end
      for id, known in pairs(model) do
        assert.same(known, crowd.sources(s, id))
      end
      return true
    end)
  end)
end)

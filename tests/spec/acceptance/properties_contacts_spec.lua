-- The correctness properties of the contacts of a new agent, each over generated families
-- and briefs. A case spawns its own agents, so one society serves many cases.

local crowd = require("crowd")
local json = require("society.json")
local property = require("property")
local scene = require("scene")

local at = property.at

-- A family is a list of { parent, role }: the parent is the one spawned so many spawns
-- before, 0 the first of all.
local function generate_family(random)
  return random:list(1, 7, function(index)
    return { parent = random:between(0, index - 1), role = random:number_of(crowd.ROLES) }
  end)
end

-- Returns the list of { id, parent, role, known }. In a family that has shrunk a parent may
-- be gone: then the first of all is meant.
local function raise_family(as, first, family, brief)
  local people = {}
  for index, birth in ipairs(family) do
    local parent = birth.parent > 0 and people[index - birth.parent]
    local parent_id, role = parent and parent.id or first, at(crowd.ROLES, birth.role)
    local child, known = as(parent_id, function(agent)
      local born = assert(agent:spawn_agent(role, scene.brief(brief)))
      return born, agent:contact(born.id)
    end)
    people[index] = { id = child.id, parent = parent_id, role = role, known = known }
  end
  return people
end

describe("Property 3: every agent knows its parent", function()
  after_each(scene.close)

  it("at any depth, whatever its role, and after a crash", function()
    local s, as = crowd.new("strict")
    local cases = 0
    property.check({ cases = 1000, seed = 103 }, generate_family, function(family)
      cases = cases + 1
      local people = raise_family(as, "root", family)
      if cases % 100 == 0 then
        s:crash()
        s:recover()
      end
      for _, one in ipairs(people) do
        local entries = crowd.contacts(s, one.id)
        local entry = assert(entries[one.parent], one.id .. " does not know its parent")
        assert.equal("parent", entry.source)
        assert.equal(one.parent, s:agent(one.id).parent)
        entries[one.parent] = nil
        for _, other in pairs(entries) do -- its own children and user, who gave the orders
          assert(other.source == "child" or other.id == "user", other.id .. " is known, too")
        end
      end
      return true
    end)
  end)
end)

describe("Property 4: a parent knows its children", function()
  after_each(scene.close)

  it("from the moment of spawning, with their roles, and after a crash", function()
    local s, as = crowd.new("strict")
    local cases = 0
    property.check({ cases = 1000, seed = 104 }, generate_family, function(family)
      cases = cases + 1
      -- Under a parent of the case's own: root's list would grow with every case.
      local first = as("root", function(root)
        return assert(root:spawn_agent("plain", scene.brief())).id
      end)
      local people = raise_family(as, first, family)
      if cases % 100 == 0 then
        s:crash()
        s:recover()
      end
      local children = {}
      for _, one in ipairs(people) do
        children[one.parent] = (children[one.parent] or 0) + 1
        local entry = crowd.contacts(s, one.parent)[one.id]
        assert.same(one.known, entry) -- as it was in the same turn
        assert.equal("child", entry.source)
        assert.equal(crowd.ROLE_NAMES[one.role], entry.role)
      end
      for parent, count in pairs(children) do
        assert.equal(count, s:agent(parent).children)
      end
      return true
    end)
  end)
end)

describe("Property 6: collaborators of a brief are contacts from the start", function()
  after_each(scene.close)

  local SPECS = { false, { services = "x", input_format = "y", output_format = "z" },
    { services = "", input_format = "甲", output_format = "乙", examples = { "e" } } }
  local WORDS = { "helper", "测试员", "r（x）", "a\nb" }

  -- The last of the pool is the parent itself.
  local POOL = 5

  local function generate(random)
    return random:list(0, 6, function()
      return { who = random:between(0, POOL), role = random:number_of(WORDS),
        spec = random:number_of(SPECS) }
    end)
  end

  -- The list of the brief, and by id the entry that counts: the last.
  local function collaborators_of(pool, case)
    local list, last = json.array({}), {}
    for index, each in ipairs(case) do
      list[index] = { agentId = at(pool, each.who), role = at(WORDS, each.role),
        description = "why", interfaceSpec = at(SPECS, each.spec) or nil }
      last[list[index].agentId] = list[index]
    end
    return list, last
  end

  local function check_entries(s, child, last)
    local entries, count = crowd.contacts(s, child)
    local expected = last.root and 0 or 1
    assert.equal(last.root and "preset" or "parent", entries.root.source)
    for id, named in pairs(last) do
      local is_able = s:agent(id).role.id == "able"
      expected = expected + 1
      assert.equal("preset", entries[id].source)
      assert.equal(named.role, entries[id].role)
      assert.same(named.interfaceSpec or (is_able and crowd.SPEC) or nil,
        entries[id].interfaceSpec)
    end
    assert.equal(expected, count)
  end

  it("all of them, as the brief says, and can be written to immediately", function()
    local s, as, heard = crowd.new("strict")
    local pool = as("root", function(root)
      local ids = {}
      for index = 1, POOL do
        ids[index] = assert(root:spawn_agent(at(crowd.ROLES, index), scene.brief())).id
      end
      ids[#ids + 1] = "root"
      return ids
    end)
    property.check({ cases = 1000, seed = 106 }, generate, function(case)
      local list, last = collaborators_of(pool, case)
      local child = as("root", function(root)
        return assert(root:spawn_agent("plain", scene.brief({ collaborators = list }))).id
      end)
      check_entries(s, child, last)
      for _, id in ipairs(pool) do
        local sent, err = s:send(child, { to = id, payload = "hello" })
        s:run()
        if last[id] or id == "root" then
          assert.equal(id, heard[sent.messageId])
        else -- and to nobody else
          assert.equal("unknown_contact", err.error)
        end
      end
      return true
    end)
  end)
end)

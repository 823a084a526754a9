-- The names of the script's roles are stored, so that a stopped society can show them; only
-- the script decides which roles exist.

local json = require("society.json")
local scene = require("scene")

describe("the script's roles", function()
  after_each(scene.close)

  -- A society whose app declares what `roles` says, now and after recover().
  local function new_society(roles)
    local errors = {}
    local s = scene.new({ app = function(s)
      for _, role in ipairs(roles) do
        s:role({ id = role.id, name = role.name, prompt = role.prompt, behaviour = function() end })
      end
      s:root(function(root, message)
        local _, err = root:spawn_agent(message.payload.text, scene.brief())
        errors[#errors + 1] = err and err.error or "born"
      end)
    end })
    return s, errors
  end

  local function stored(s)
    local names = {}
    for _, row in ipairs(json.decode(s:dump())) do
      if row.table == "roles" then
        names[row.id] = row.name .. "/" .. row.prompt
        assert.is_nil(row.creator)
      end
    end
    return names
  end

  it("are stored with their names, once", function()
    local s = new_society({ { id = "cook", name = "厨师", prompt = "Cooks." }, { id = "maid" } })
    s:run()
    assert.same({ cook = "厨师/Cooks.", maid = "maid/" }, stored(s))
    local before = s:dump()
    s:crash()
    s:recover()
    assert.equal(before, s:dump())
    assert.same({}, s:activity({ type = "role_created" }))
  end)

  it("are stored again when the script has changed", function()
    local roles = { { id = "cook", name = "cook", prompt = "" } }
    local s = new_society(roles)
    s:run()
    roles[1].name = "chef"
    s:crash()
    s:recover()
    s:run()
    assert.same({ cook = "chef/" }, stored(s))
    s:role({ id = "cook", name = "boss" })
    s:run()
    assert.same({ cook = "boss/" }, stored(s))
  end)

  it("exist only while the script declares them", function()
    local roles = { { id = "cook" } }
    local s, errors = new_society(roles)
    scene.tell(s, "root", "cook")
    roles[1] = nil
    s:crash()
    s:recover()
    scene.tell(s, "root", "cook")
    assert.same({ "born", "unknown_role" }, errors)
  end)
end)

-- What an agent's prompt says about writing to strangers.

local scene = require("scene")

describe("the context of an agent", function()
  after_each(scene.close)

  it("says that strangers are refused only where they are", function()
    local RULES = {
      zh = { strict = "你只能给联系人写信", open = "你可以给任何智能体写信", app = "由本社会的规则决定" },
      en = { strict = "You can write only to your contacts", open = "You can write to any agent",
        app = "The society decides" },
    }
    local function app() return true end
    for language, rules in pairs(RULES) do
      for name, rule in pairs(rules) do
        local s = scene.troupe({ a = function() end }, { policies = { prompts = language,
          contacts = name == "app" and app or name } })
        local context = s:context("a")
        assert.matches(rule, context, 1, true)
        assert.equal(name ~= "open", context:find("unknown_contact", 1, true) ~= nil)
        for other, words in pairs(rules) do
          assert(other == name or not context:find(words, 1, true), other)
        end
        scene.close()
      end
    end
  end)
end)

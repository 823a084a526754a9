-- society.config{ language }: one setting for prompts, presentation and the words of briefs.

local scene = require("scene")

local WORDS = {
  en = { prompt = "# Your role", contacts = "# Contacts", brief = "# Task Brief",
    missing = "required field missing: outputs",
    refusal = "the Task Brief is not valid" },
  zh = { prompt = "# 岗位提示词", contacts = "# 联系人", brief = "# 任务委托书",
    missing = "缺少必填字段: outputs", refusal = "任务委托书无效" },
}

describe("the language", function()
  after_each(scene.close)

  -- What a child reads of itself, in which language it is, and why a bad brief is refused.
  local function seen(declare)
    local text, language, refused
    local s = scene.new({ app = function(s)
      s:role({ id = "actor", name = "actor", prompt = "Act.", behaviour = function(a)
        text, language = a:context()
      end })
      s:root(function(root)
        assert(root:spawn_agent("actor", scene.brief(), { id = "a" }))
        local bad = scene.brief()
        bad.outputs = nil
        refused = select(2, root:spawn_agent("actor", bad))
        assert(root:send_message({ to = "a", payload = "x" }))
      end)
      declare(s)
    end })
    scene.tell(s, "root")
    return { text = text, language = language, details = table.concat(refused.details, "; "),
      message = refused.message }
  end

  local function assert_all(name, got)
    assert.equal(name, got.language)
    for other, words in pairs(WORDS) do
      for _, part in ipairs({ "prompt", "contacts", "brief" }) do
        assert.equal(other == name, got.text:find(words[part], 1, true) ~= nil, words[part])
      end
      assert.equal(other == name, got.details:find(words.missing, 1, true) ~= nil, other)
      assert.equal(other == name, got.message:find(words.refusal, 1, true) ~= nil, other)
    end
  end

  it("is Chinese by default", function()
    assert_all("zh", seen(function() end))
  end)

  for name in pairs(WORDS) do
    it("is " .. name .. " if set so, before and after a policy of briefs", function()
      assert_all(name, seen(function(s) s:config({ language = name }) end))
      assert_all(name, seen(function(s)
        s:config({ language = name })
        s:policy("briefs", "lenient")
      end))
      assert_all(name, seen(function(s)
        s:policy("briefs", "lenient")
        s:config({ language = name })
      end))
    end)
  end

  it("is that of a brief refused inside a message", function()
    for name, words in pairs(WORDS) do
      local details = {}
      local s = scene.new({ policies = { messages = "society" }, app = function(s)
        s:config({ language = name })
        s:role({ id = "actor", name = "actor", behaviour = function() end })
        s:root(function(root)
          local bad = scene.brief()
          bad.outputs = nil
          local _, err = root:send_message({ to = "user", type = "task_assignment", payload = bad })
          details[1] = err.details[1]
          _, err = root:spawn_agent("actor", scene.brief(), { message = { task_brief = bad } })
          details[2] = err.cause.details[1]
        end)
      end })
      scene.tell(s, "root")
      assert.same({ words.missing, words.missing }, details)
      scene.close()
    end
  end)

  it("can be set again while the app loads", function()
    assert_all("zh", seen(function(s)
      s:config({ language = "en" })
      s:config({ language = "zh" })
    end))
  end)

  it("leaves an app's own policies and words alone", function()
    local own = { kind = "prompts", version = 1, system = function() return "mine", "xx" end }
    local got = seen(function(s)
      s:policy("prompts", own)
      s:policy("briefs", "strict", { missing = "no %s here" })
      s:config({ language = "en" })
    end)
    assert.same({ "mine", "xx" }, { got.text, got.language })
    assert.equal("no outputs here", got.details)
  end)

  it("gives way to a policy that the app names after it", function()
    local got = seen(function(s)
      s:config({ language = "en" })
      s:policy("prompts", "zh")
    end)
    assert.equal("zh", got.language)
    assert.matches(WORDS.en.contacts, got.text, 1, true)
  end)

  it("is settled once the society runs", function()
    local s = scene.new({ config = { language = "en" } })
    assert.has_error(function() s:config({ language = "zh" }) end,
      "society.config: 'language' can only be set while the app loads")
  end)

  it("is one that there is", function()
    for _, bad in ipairs({ "de", "", "EN", 7, true, {} }) do
      local ok, err = pcall(scene.new, { config = { language = bad } })
      assert.is_false(ok)
      assert.matches("'language': \"en\" or \"zh\" expected", err, 1, true)
    end
  end)
end)

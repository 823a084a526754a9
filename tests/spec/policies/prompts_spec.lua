-- What an agent is told about itself: complete, worded by policies, recorded once.
--
-- Covers: core/script/answers/context.c, core/script/policies/policy_texts.c

local json = require("society.json")
local property = require("property")
local scene = require("scene")

local SPEC = { services = "测试", input_format = "路径", output_format = "报告" }

--- A society whose root has spawned `id` of the role `coder` with the brief.
local function with_child(brief, options)
  options = options or {}
  options.app = function(s)
    s:role({ id = "coder", name = "程序员", prompt = "写 {{agent_id}} %s\n代码", interface_spec = SPEC,
      behaviour = options.behaviour })
    s:root(function(root) assert(root:spawn_agent("coder", brief, { id = "c1" })) end)
  end
  options.behaviour = nil
  local s = scene.new(options)
  scene.tell(s, "root")
  return s
end

local function has(text, part)
  assert(text:find(part, 1, true), "missing: " .. part .. "\nin: " .. text:sub(1, 2000))
end

local function has_not(text, part)
  assert(not text:find(part, 1, true), "not expected: " .. part)
end

describe("the context of an agent", function()
  after_each(scene.close)

  it("has base, role, brief, contacts, tools in this order; root's starts with root", function()
    local s = with_child(scene.brief({ constraints = { "静态网页", "使用 Python" } }))
    local child, root = s:context("c1"), s:context("root")
    has(root, "你是智能体社会的根智能体 root")
    has_not(child, "你是智能体社会的根智能体 root")
    local at = 0
    for _, part in ipairs({
      "你的 ID 是 c1，岗位是 程序员（岗位 ID：coder），你的上级是 root。", "# 岗位提示词\n写 {{agent_id}} %s\n代码\n\n",
      "# 你的接口规格\n" .. json.encode(SPEC), "# 任务委托书（Task Brief）\n## 目标（objective）\ndo it\n",
      "- 静态网页\n- 使用 Python\n", "# 联系人\n- root（root），来源：父智能体（parent）\n\n", "# 工具\n",
    }) do
      local first = child:find(part, at + 1, true)
      assert(first, "missing or out of place: " .. part)
      at = first
    end
    for _, text in ipairs({ root, child }) do
      assert.is_nil(text:gsub("写 {{agent_id}}", ""):find("{{[a-z_]+}}"))
    end
  end)

  it("shows the Interface Spec of a contact's role", function()
    local s = with_child(scene.brief())
    has(s:context("root"), "- c1（程序员），来源：子智能体（child）\n  接口规格：\n  - 服务（services）：测试\n"
      .. "  - 输入格式（input_format）：路径\n  - 输出格式（output_format）：报告\n\n")
    assert.same(SPEC, s:contacts("root")[2].interfaceSpec)
  end)

  it("is in English with the policies en", function()
    local s = with_child(scene.brief(), { policies = { prompts = "en", presentation = "en" } })
    local text = s:context("c1")
    has(text, "Your id is c1, your role is 程序员 (role id: coder), and your superior is root.")
    has(text, "# Your role\n写 {{agent_id}} %s\n代码\n\n# Your Interface Spec\n")
    has(text, "## Objective (objective)\ndo it\n")
    has(text, "- root (root), known as: your parent (parent)\n\n# Tools\n")
    has(s:context("root"), "You are root, the first agent")
  end)

  it("can be queried from outside and from turns, and not for unknown agents", function()
    local s = with_child(scene.brief())
    assert.is_nil(s:context("nobody"))
    assert.is_string(s:context("user"))
    assert.is_false(pcall(s.context, s))
    local seen = {}
    s = scene.troupe({ a = function(a) seen = { a:context(), s:context("a"), s:context("b") } end,
      b = function() end })
    scene.tell(s, "a")
    assert.same({ s:context("a"), s:context("a"), s:context("b") }, seen)
  end)

  it("is the same after a crash", function()
    local s = with_child(scene.brief())
    local before = s:context("c1")
    s:crash()
    s:recover()
    assert.equal(before, s:context("c1"))
  end)

  it("is computed once per activation: policies are not asked again on replay", function()
    local words, texts = "one", {}
    local s = scene.new({ app = function(s)
      s:policy("prompts", function(request) return words .. request.agent.id end)
      s:root(function(root)
        texts[#texts + 1] = root:context()
        root:sleep(1000)
        texts[#texts + 1] = root:context()
      end)
    end })
    assert(s:send("user", { to = "root", payload = "go" }))
    s:advance(10)
    words = "two"
    s:crash()
    s:recover()
    s:run()
    assert.same({ "oneroot", "oneroot", "tworoot" }, texts)
  end)

  it("has the whole brief, whatever it says", function()
    local PARTS = { "a", "的", "\n", "%d", "{{agent_id}}", "{{x}}", "\"", "}}", "- ", "\t", "。" }
    local function random_text(random)
      return "t" .. table.concat(random:list(1, 6, function() return random:pick(PARTS) end))
    end
    local brief, child
    local s = scene.troupe({ root = function(root)
      child = assert(root:spawn_agent("actor", brief)).id
    end })
    property.check({ cases = 150, seed = 31 }, function(random)
      local function one() return random_text(random) end
      return { objective = one(), constraints = random:list(0, 5, one), inputs = one(),
        outputs = one(), completion_criteria = one(), priority = "P1", note = one() }
    end, function(case)
      brief = case
      brief.constraints = json.array(brief.constraints)
      scene.tell(s, "root")
      local context = s:context(child)
      for name, value in pairs(brief) do
        for _, each in ipairs(type(value) == "table" and value or { value }) do
          each = name == "note" and json.encode(each) or each
          if not context:find(each, 1, true) then
            return false, name .. " is missing"
          end
        end
      end
      return true
    end)
  end)

  it("exists even if every policy fails", function()
    local s = with_child(scene.brief({ note = ("x"):rep(100000) }))
    s:policy("prompts", function() error("boom") end)
    has(s:context("c1"), ("x"):rep(100000))
    assert.equal(1, scene.count(s:transcript(), "policy_failed"))
    local many = json.array({})
    for i = 1, 150000 do
      many[i] = "c"
    end
    local child
    s = scene.new({ app = function(app)
      app:policy("briefs", function() return true end) -- the default gives up at so many
      app:role({ id = "r", name = "r" })
      app:root(function(root)
        child = assert(root:spawn_agent("r", scene.brief({ constraints = many }))).id
      end)
    end })
    scene.tell(s, "root")
    has(s:context(child), ("\"c\","):rep(149999) .. "\"c\"]")
    has(s:context(child), "你的 ID 是 r")
  end)
end)

describe("a policy's texts", function()
  after_each(scene.close)

  local POLICY = [[
    local template = require("society.template")
    local M = { kind = "prompts", version = 1, texts = %s }
    function M.system(request) return template.fill(M.texts.base, { id = request.agent.id }) end
    M.examples = { { ask = "system", given = { { agent = { id = "x" } } }, expect = "I am x\n" } }
    return M]]

  --- The folder of a policy with these texts, and the result of putting it in force.
  local function use(texts, files)
    files["mine.lua"] = POLICY:format(texts)
    local folder = scene.files(files)
    local s = scene.new()
    local ok, err = pcall(s.policy, s, "prompts", folder .. "/mine.lua")
    return s, ok or err, folder
  end

  it("are read from beside its file", function()
    local s, ok = use('{ base = "base.txt" }', { ["base.txt"] = "I am {{id}}\n" })
    assert.is_true(ok)
    assert.equal("I am root\n", s:context("root"))
  end)

  it("must exist below its folder as files, not too long and in UTF-8", function()
    for texts, why in pairs({
      ['{ base = "none.txt" }'] = "mine.lua: the text 'none.txt' cannot be opened: No such file",
      ['{ base = "/etc/passwd" }'] = "the text '/etc/passwd' must lie below the policy's folder",
      ['{ base = "../x.txt" }'] = "the text '../x.txt' must lie below",
      ['{ base = "a/../../x.txt" }'] = "the text 'a/../../x.txt' must lie below",
      ['{ base = "./x.txt" }'] = "must lie below",
      ['{ base = "a//x.txt" }'] = "must lie below",
      ['{ base = "" }'] = "must lie below",
      ['{ base = "ok.txt\\0/.." }'] = "must lie below",
      ['{ base = "." }'] = "must lie below",
      ['{ base = "long.txt" }'] = "/long.txt has more than 262144 bytes",
      ['{ base = "bad.txt" }'] = "/bad.txt is not UTF-8 from byte 3 on",
      ['{ base = "ok.txt", b = "bad.txt", c = "none.txt" }'] = "/bad.txt is not UTF-8",
      ['{ base = 7 }'] = "mine.lua: texts.base must be a file's name",
      ['{ "ok.txt" }'] = "mine.lua: texts must have names",
      ['"ok.txt"'] = "mine.lua: texts must be a table of files' names",
    }) do
      local s, err = use(texts, { ["long.txt"] = ("x"):rep(262145), ["bad.txt"] = "ab\xff",
        ["ok.txt"] = "I am {{id}}\n" })
      assert.matches(why, err, 1, true)
      has(s:context("root"), "你的 ID 是 root") -- the last good one stays
      scene.close()
    end
    local folder = scene.files({ ["mine.lua"] = POLICY:format('{ base = "folder" }') })
    assert(os.execute(("mkdir %q"):format(folder .. "/folder")))
    local s = scene.new()
    local _, err = pcall(s.policy, s, "prompts", folder .. "/mine.lua")
    assert.matches("/folder is not a file", err, 1, true)
  end)

  it("may be as long as the limit, empty and any UTF-8", function()
    local text = "I am {{id}}\n"
    for _, more in ipairs({ "", ("x"):rep(262144 - 2), "\0\r\n\u{FEFF}" }) do
      local _, ok = use('{ base = "base.txt", more = "more.txt" }',
        { ["base.txt"] = text, ["more.txt"] = more })
      assert.is_true(ok)
    end
  end)

  it("with a mistake in a place are refused, and the place is named", function()
    local _, err = use('{ base = "base.txt" }', { ["base.txt"] = "I am {{idd}}\n" })
    assert.matches("example 1: template: {{idd}} has no value", err, 1, true)
  end)

  it("beside the app override those beside the policy", function()
    local folder = scene.files({ ["app.lua"] = 'require("society").root(function() end)' })
    assert(os.execute(("mkdir -p %q"):format(folder .. "/policies/prompts/zh")))
    local file = assert(io.open(folder .. "/policies/prompts/zh/base.txt", "w"))
    file:write("你的 ID 是 {{agent_id}}，岗位是 {{role_name}}。岗位 ID：root），你的上级是 {{parent_id}}")
    file:close()
    local s = scene.new({ app = folder .. "/app.lua" })
    has(s:context("root"), "你的 ID 是 root，岗位是 root。")
    has(s:context("root"), "# 工具")
    file = assert(io.open(folder .. "/policies/prompts/zh/base.txt", "w"))
    file:write("{{agent}}")
    file:close()
    local ok, err = pcall(scene.new, { app = folder .. "/app.lua" })
    assert.is_false(ok)
    assert.matches("{{agent}} has no value", err, 1, true)
  end)

  it("beside the app may say anything, in both languages", function()
    for _, language in ipairs({ "zh", "en" }) do
      local folder = scene.files({ ["app.lua"] = ([[
        local society = require("society")
        society.policy("prompts", "%s")
        society.root(function() end)]]):format(language) })
      local place = folder .. "/policies/prompts/" .. language
      assert(os.execute(("mkdir -p %q"):format(place)))
      for _, name in ipairs({ "root", "base", "tools" }) do
        local file = assert(io.open(place .. "/" .. name .. ".txt", "w"))
        file:write(name .. " in words of its own")
        file:close()
      end
      local text = scene.new({ app = folder .. "/app.lua" }):context("root")
      has(text, "root in words of its own\n\nbase in words of its own\n\n")
      has(text, "\n\ntools in words of its own")
    end
  end)

  it("are the texts themselves in a table that an app gives", function()
    local s = scene.new({ app = function(s)
      local policy = { kind = "prompts", version = 1, texts = { base = "base.txt" } }
      function policy.system() return policy.texts.base end
      s:policy("prompts", policy)
    end })
    assert.equal("base.txt", s:context("root"))
    s:crash()
    s:recover()
    assert.equal("base.txt", s:context("root"))
  end)
end)

-- The correctness properties of Task Briefs, each over generated briefs on one running
-- society.

local json = require("society.json")
local property = require("property")
local scene = require("scene")

local at = property.at

local REQUIRED = { "objective", "constraints", "inputs", "outputs", "completion_criteria" }
local NAMES = { "objective", "constraints", "inputs", "outputs", "completion_criteria",
  "references", "priority", "deadline", "note" }

describe("Property 1: a brief is accepted if and only if it has every required field", function()
  after_each(scene.close)

  -- Those that count as missing come last but are as frequent as the others.
  local VALUES = { "text", json.array({}), { "one", "two" }, "high", { a = 1 }, 7, false, true,
    "无", { "one", 2 }, { "one", " " }, json.null, "", " ", "\n\t", "\u{3000}" }
  local GOOD = { constraints = { 1, 2 }, references = { 1, 2 }, priority = { 3 } }
  local NO_TABLES = { "objective", 7, true, false, json.null, json.array({}), { "objective" } }

  local function generate(random)
    local case = { form = random:chance(95) and 0 or random:between(1, #NO_TABLES), fields = {} }
    for number = 0, #NAMES - 1 do
      if random:chance(number < #REQUIRED and 85 or 20) then
        local good = GOOD[NAMES[number + 1]] or { 0 }
        local value = random:chance(80) and random:pick(good) or random:number_of(VALUES)
        case.fields[#case.fields + 1] = { name = number, value = value }
      end
    end
    return case
  end

  local function brief_of(case)
    if case.form > 0 then
      return NO_TABLES[case.form]
    end
    local brief = {}
    for _, field in ipairs(case.fields) do
      brief[at(NAMES, field.name)] = at(VALUES, field.value)
    end
    return brief
  end

  local function is_list(value)
    return type(value) == "table" and (#value > 0 or next(value) == nil)
  end

  local BLANK = { [""] = true, [" "] = true, ["\n\t"] = true, ["\u{3000}"] = true }

  local function is_missing(value)
    return value == nil or value == json.null or BLANK[value] or false
  end

  local function are_texts(list)
    for _, item in ipairs(is_list(list) and list or { 0 }) do
      if type(item) ~= "string" or is_missing(item) then
        return false
      end
    end
    return true
  end

  -- What is said of a field that is there.
  local function fault_of(name, value)
    if name == "constraints" and not is_list(value) then
      return "constraints 必须是数组"
    elseif name == "constraints" or name == "references" then
      return not are_texts(value) and name .. " 必须是文本数组，每项不能为空" or nil
    elseif name == "priority" then
      return value ~= "high" and "priority 必须是 urgent、high、normal、low 或 P0 至 P3" or nil
    end
    return type(value) ~= "string" and name .. " 必须是文本" or nil
  end

  local CHECKED = { "objective", "constraints", "inputs", "outputs", "completion_criteria",
    "references", "priority" }

  -- An optional field is left out by null, a priority by an empty text as well.
  local function is_left_out(name, value, is_required)
    if is_required then
      return is_missing(value)
    end
    return value == nil or value == json.null or (name == "priority" and value == "")
  end

  -- What must be reported: the names that are missing, and all sentences.
  local function faults_of(brief)
    local fields = type(brief) == "table" and brief or {}
    local missing, details = {}, { type(brief) ~= "table" and "任务委托书必须是对象" or nil }
    for _, name in ipairs(REQUIRED) do
      if is_missing(fields[name]) then
        missing[#missing + 1] = name
        details[#details + 1] = "缺少必填字段: " .. name
      end
    end
    for number, name in ipairs(CHECKED) do
      if not is_left_out(name, fields[name], number <= #REQUIRED) then
        details[#details + 1] = fault_of(name, fields[name])
      end
    end
    return missing, details
  end

  it("and otherwise all missing ones are named and no agent is spawned", function()
    local brief, answer, err
    local s = scene.troupe({ root = function(root)
      answer, err = root:spawn_agent("actor", brief)
    end }, { quiet = true })
    local counts = { taken = 0, refused = 0 }
    property.check({ cases = 2000, seed = 101 }, generate, function(case)
      brief = brief_of(case)
      local missing, details = faults_of(brief)
      local before = s:stats().agents
      scene.tell(s, "root")
      local added = s:stats().agents - before
      if #details == 0 then
        counts.taken = counts.taken + 1
        assert.is_nil(err)
        assert.equal(1, added)
        assert.equal("actor", answer.roleId)
        return s:agent(answer.id) ~= nil
      end
      counts.refused = counts.refused + 1
      assert.is_nil(answer)
      assert.equal(0, added)
      assert.equal("invalid_task_brief", err.error)
      assert.same(missing, err.missing_fields)
      assert.same(details, err.details)
      return #err.message > 0
    end)
    assert.is_true(counts.taken > 200 and counts.refused > 200)
  end)
end)

describe("Property 2: a child gets its whole brief", function()
  after_each(scene.close)

  local PIECES = { "a", "的", " ", "\n", "%d", "{{agent_id}}", "\"", "}}", "- ", "\t", "。", "# ",
    "\\", "\u{1F600}", "\u{200B}", "## 输入说明（inputs）" }
  local SPEC_FIELDS = { "services", "input_format", "output_format" }

  local function pieces(random)
    return random:list(1, 6, function() return random:number_of(PIECES) end)
  end

  -- At least one letter: an empty text would be missing.
  local function text_of(numbers)
    local parts = { "t" }
    for _, number in ipairs(numbers) do
      parts[#parts + 1] = at(PIECES, number)
    end
    return table.concat(parts)
  end

  local OPTIONAL = { "references", "priority", "note", "collaborators" }

  local function generate(random)
    local function one() return pieces(random) end
    return {
      texts = { one(), one(), one(), one() }, constraints = random:list(0, 5, one),
      optional = random:list(0, 3, function()
        return { name = random:number_of(OPTIONAL), texts = random:list(1, 3, one) }
      end),
    }
  end

  local function map(list)
    local texts = json.array({})
    for index, numbers in ipairs(list) do
      texts[index] = text_of(numbers)
    end
    return texts
  end

  -- The value of an optional field that contains the texts.
  local function optional_of(name, texts)
    if name == "priority" then
      return "high"
    elseif name == "note" then
      return { said = texts, n = #texts }
    elseif name == "collaborators" then
      local spec = {}
      for index, field in ipairs(SPEC_FIELDS) do
        spec[field] = texts[(index - 1) % #texts + 1]
      end
      return { { agentId = "root", role = "boss", description = texts[1], interfaceSpec = spec } }
    end
    return texts
  end

  local function brief_of(case)
    local function text(index) return text_of(case.texts[index] or {}) end
    local brief = { objective = text(1), constraints = map(case.constraints), inputs = text(2),
      outputs = text(3), completion_criteria = text(4) }
    for _, field in ipairs(case.optional) do
      local name = at(OPTIONAL, field.name)
      brief[name] = optional_of(name, map(#field.texts > 0 and field.texts or { {} }))
    end
    return brief
  end

  local ORDER = { "objective", "constraints", "inputs", "outputs", "completion_criteria",
    "collaborators", "references", "priority" }

  -- Further lines of an entry are indented; breaks are the only change.
  local function indented(text, spaces)
    return (text:gsub("\n", "\n" .. (" "):rep(spaces)))
  end

  -- The texts that must be in the context, one after the other.
  local function expected(brief)
    local parts = { "# 任务委托书（Task Brief）" }
    for _, name in ipairs(ORDER) do
      local value = brief[name]
      parts[#parts + 1] = value and "（" .. name .. "）\n"
      if type(value) == "string" then
        parts[#parts + 1] = value
      elseif value and name == "collaborators" then
        parts[#parts + 1] = "root（boss）：" .. indented(value[1].description, 2)
        for _, field in ipairs(SPEC_FIELDS) do
          parts[#parts + 1] = indented(value[1].interfaceSpec[field], 4)
        end
      else
        for _, each in ipairs(value or {}) do
          parts[#parts + 1] = "- " .. each
        end
      end
    end
    parts[#parts + 1] = brief.note and json.encode({ note = brief.note })
    return parts
  end

  local function has_in_order(text, parts)
    local from = 1
    for _, part in ipairs(parts) do
      local first, last = text:find(part, from, true)
      if not first then
        return false, ("missing or out of place: %q"):format(part)
      end
      from = last + 1
    end
    return true
  end

  it("with every field in its context, required, optional and unknown", function()
    local brief, child
    local s = scene.troupe({
      root = function(root) child = assert(root:spawn_agent("actor", brief)).id end,
    }, { quiet = true })
    property.check({ cases = 1000, seed = 102 }, generate, function(case)
      brief = brief_of(case)
      scene.tell(s, "root")
      assert.same(brief, s:agent(child).brief)
      return has_in_order(s:context(child), expected(brief))
    end)
  end)

  it("and reads it there itself, also after a crash", function()
    local s = scene.new({ quiet = true, app = function(app)
      app:role({ id = "reader", name = "reader", behaviour = function(agent)
        agent.state.context, agent.state.brief = agent:context(), agent.brief
      end })
      app:root(function(root, message)
        assert(root:spawn_agent("reader", message.payload.brief, { message = "read" }))
      end)
    end })
    local brief = { objective = "o 目标", constraints = { "静态网页" }, inputs = "i", outputs = "u",
      completion_criteria = "c", priority = "high", references = { "r" }, extra = { n = 1 } }
    scene.tell(s, "root", { brief = brief })
    s:crash()
    s:recover()
    local agent = s:agents()[3]
    assert.same(brief, agent.state.brief)
    assert(has_in_order(agent.state.context, expected(brief)))
    assert.equal(agent.state.context, s:context(agent.id))
  end)
end)

-- Templates fill {{name}} and nothing else.

local json = require("society.json")
local property = require("property")
local template = require("society.template")

describe("template.fill", function()
  it("fills each place with its value, wherever it is", function()
    assert.equal("a1 is a1, 7.", template.fill("{{id}} is {{id}}, {{n}}.", { id = "a1", n = 7 }))
    assert.equal("xy", template.fill("{{a}}{{b_2}}", { a = "x", b_2 = "y" }))
    assert.equal("{x}", template.fill("{{{a}}}", { a = "x" }))
    assert.equal("", template.fill("{{_}}", { _ = "" }))
  end)

  for _, text in ipairs({
    "", "{}", "{ {a} }", "{{}}", "{{ a }}", "{{a }}", "{{A}}", "{{1a}}", "{{a-b}}", "{{a.b}}",
    "{{a}", "{a}}", "{{a\n}}", "%a %1 %%", "a\0b", "line\r\nline\r", "{% a %}", "${a}", "{{é}}",
    '{"a":{"b":{}}}',
  }) do
    it("leaves alone " .. json.encode(text), function()
      assert.equal(text, template.fill(text, { a = "no" }))
    end)
  end

  it("inserts values verbatim and never fills them again", function()
    for _, value in ipairs({ "{{a}}", "{{b}}", "%1", "%0", "%", "\0", "\r\n", "{{", "}}" }) do
      assert.equal("<" .. value .. ">", template.fill("<{{a}}>", { a = value, b = "no" }))
    end
    assert.equal("{{b}}", template.fill("{{a}}b}}", { a = "{{", b = "no" }))
  end)

  it("names the place that has no value", function()
    for _, value in ipairs({ false, true, {}, json.null }) do
      local ok, err = pcall(template.fill, "a {{missing}} b", { missing = value })
      assert.is_false(ok)
      assert.equal("template: {{missing}} has no value", err)
    end
    assert.is_false(pcall(template.fill, "{{missing}}", {}))
  end)
end)

describe("template.fill, whatever the text", function()
  local PARTS = {
    "{", "}", "{{", "}}", "a", "{{a}}", "{{b}}", "{{ a }}", "%", "%1", "\0", "\r\n", "\n", "的", "_",
    "1", "A", " ", "$",
  }

  local function pieces(random)
    return {
      text = random:list(0, 12, function() return random:pick(PARTS) end),
      a = random:list(0, 4, function() return random:pick(PARTS) end),
      b = random:list(0, 4, function() return random:pick(PARTS) end),
    }
  end

  -- The same in other words: cut at the places, one by one from the left.
  local function expected(text, values)
    local first, last, name = text:find("{{([a-z_][a-z0-9_]*)}}")
    if not first then
      return text
    end
    return text:sub(1, first - 1) .. values[name] .. expected(text:sub(last + 1), values)
  end

  it("changes the places and no other byte", function()
    property.check({ cases = 2000, seed = 11 }, pieces, function(case)
      local text = table.concat(case.text)
      local values = { a = table.concat(case.a), b = table.concat(case.b) }
      setmetatable(values, { __index = function(_, name) return "?" .. name end })
      return template.fill(text, values) == expected(text, values)
    end)
  end)

  it("is the text itself if there is no place", function()
    property.check({ cases = 1000, seed = 12 }, pieces, function(case)
      local text = table.concat(case.text)
      if text:find("{{[a-z_][a-z0-9_]*}}") then
        text = text:gsub("{", "{ ")
      end
      return template.fill(text, {}) == text
    end)
  end)
end)

-- The correctness properties of messages: their sender, their presentation, and that they
-- fit their type.

local json = require("society.json")
local property = require("property")
local scene = require("scene")

local at = property.at

describe("Property 8: from is always the sender", function()
  after_each(scene.close)

  local FORGED = { "absent", "user", "root", "system", "b", "nobody", "", 7, true, { "b" },
    json.null, "a/b" }
  local SENDERS = { "a", "b", "root", "user" }

  -- Each sends with options made by `give` and returns how many messages result.
  local WAYS = {
    function(agent, give) assert(agent:send_message(give("reader"))) return 1 end,
    function(agent, give) assert(agent:send_message(give({ "reader", "reader" }))) return 2 end,
    function(agent, give) assert(agent:request(give("reader"))) return 1 end,
    function(agent, give, message) assert(agent:reply(message, give("").payload)) return 1 end,
  }

  local function generate(random)
    return { sender = random:number_of(SENDERS), way = random:between(0, #WAYS),
      forged = random:number_of(FORGED), inner = random:number_of(FORGED) }
  end

  local function options_of(case, to)
    local options = { to = to, payload = { n = 1 } }
    if case.forged % #FORGED > 0 then
      options.from = at(FORGED, case.forged)
    end
    if case.inner % #FORGED > 0 then
      options.payload.from = at(FORGED, case.inner)
    end
    return options
  end

  local function header_of(id)
    return id == "user" and "【来自用户的消息】"
      or ("【来自 %s（%s）的消息】"):format(id == "root" and "root" or "演员", id)
  end

  it("whatever the caller says, in every way to send", function()
    local got, case, expected
    local function act(agent, message)
      if message.type == "act" then
        local function give(to) return options_of(case, to) end
        expected = at(WAYS, case.way - 1)(agent, give, message)
      end
    end
    local s = scene.troupe({ a = act, b = act, root = act, reader = function(_, message)
      got[#got + 1] = { from = message.from, to = message.to, text = message.text }
      return "heard"
    end }, { quiet = true })
    property.check({ cases = 1500, seed = 108 }, generate, function(generated)
      case, got = generated, {}
      local sender = at(SENDERS, case.sender)
      if case.way == 0 or sender == "user" then -- from outside, as that agent
        assert(s:send(sender, options_of(case, "reader")))
        expected = 1
      else
        assert(s:send("reader", { to = sender, type = "act", payload = "go" }))
      end
      s:run()
      assert.equal(expected, #got)
      for _, message in ipairs(got) do
        assert.equal(sender, message.from)
        assert.equal("reader", message.to)
        assert.equal(header_of(sender), message.text:match("^[^\n]*"))
      end
      return true
    end)
    local ids = { a = true, b = true, root = true, user = true, reader = true }
    for _, message in ipairs(s:messages()) do -- what is stored says the same
      assert.is_true(ids[message.from])
    end
  end)
end)

describe("Property 9: a message is shown with its source, its content and how to reply", function()
  after_each(scene.close)

  local NAME = { "r", "角色", " ", "（", "）", "】", "\n", "%s", "'" }
  local TEXT = { "a", "的", "\n", "【来自", "【来自用户的消息】", "】", "%s", "如需回复", "'", "\"", "\\" }
  local TYPES = { "general", "status_report", "collaboration_request" }
  local SENDERS = { "user", "child", "peer" }

  local function generate(random)
    local function pieces(low, list)
      return random:list(low, 8, function() return random:number_of(list) end)
    end
    return { sender = random:number_of(SENDERS), name = pieces(0, NAME), text = pieces(0, TEXT),
      form = random:between(0, 5), type = random:number_of(TYPES), again = random:between(0, 1) }
  end

  local function join(numbers, list, first)
    local parts = { first }
    for _, number in ipairs(numbers) do
      parts[#parts + 1] = at(list, number)
    end
    return table.concat(parts)
  end

  -- Payloads, and their content: text, then content, then JSON.
  local FORMS = {
    function(text) return text, text end,
    function(text) return { text = text }, text end,
    function(text) return { text = text, n = 1 }, text .. '\n{"n":1}' end,
    function(text) return { content = text, n = 1 }, text .. '\n{"n":1}' end,
    function(text) return { said = text }, json.encode({ said = text }) end,
    function(text) return #text, tostring(#text) end,
  }

  local function guarded(content)
    return (("\n" .. content):gsub("\n【来自", "\n> 【来自"):sub(2))
  end

  local function one_line(name)
    return (name:gsub("\n", " "))
  end

  -- The whole text, in other words than the policy's.
  local function expected(case, id, name, content, payload)
    local lines = {}
    local kind = at(SENDERS, case.sender)
    lines[1] = kind == "user" and "【来自用户的消息】"
      or ("【来自 %s（%s）的消息】"):format(one_line(name):gsub("】", "]"), id)
    local introduces = kind == "peer" and case.again == 0 and type(payload) ~= "number"
    if introduces then
      lines[2] = "自我介绍：角色：" .. one_line(name) .. "；职责：do it"
    end
    if not introduces or content ~= "" then
      lines[#lines + 1] = guarded(content)
    end
    if kind ~= "user" then
      lines[#lines + 1] = ("如需回复，请使用 send_message(to='%s', ...)"):format(id)
    end
    return table.concat(lines, "\n")
  end

  it("exactly, for any sender and content", function()
    local case, got, sender, name
    local number = 0
    local s = scene.troupe({
      reader = function(_, message) got = message.text end,
      root = function(root, message)
        if message.from ~= "user" then
          got = message.text
          return
        end
        number = number + 1
        assert(root:create_role({ id = "r" .. number, name = name }))
        sender = assert(root:spawn_agent("r" .. number, scene.brief())).id
      end,
    }, { quiet = true })
    property.check({ cases = 1500, seed = 109 }, generate, function(generated)
      case, got, name = generated, nil, join(generated.name, NAME, "n")
      local kind, to = at(SENDERS, case.sender), "reader"
      if kind == "user" then
        sender = "user"
      else
        scene.tell(s, "root")
        to = kind == "child" and "root" or "reader"
      end
      local type = at(TYPES, case.type)
      local payload, content = at(FORMS, case.form)(join(case.text, TEXT))
      if case.again == 1 then -- the first message has introduced its sender
        assert(s:send(sender, { to = to, payload = "hello" }))
      end
      assert(s:send(sender, { to = to, payload = payload, type = type }))
      s:run()
      assert.equal(expected(case, sender, name, content, payload), got)
      return true
    end)
  end)
end)

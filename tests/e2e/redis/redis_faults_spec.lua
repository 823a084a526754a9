-- The door for plain Redis clients when the society is killed, Redis is away, or forgets.
--
-- KILLS is the number of kills (6), SEED determines their moments (1).

local program = require("program")
local redis = require("redis_server")
local switchboard = require("switchboard")

local KILLS = tonumber(os.getenv("KILLS")) or 6
local SEED = tonumber(os.getenv("SEED")) or 1
local EACH = 40

local function all_once(counts, wanted)
  for number = 1, wanted do
    assert.equal(1, counts[tostring(number)], "number " .. number)
  end
end

-- Puts numbers into the clerk's list, stream and inbox of an outbox, in turns.
local function put_numbers(s, first, last)
  local commands = {}
  for number = first, last do
    local message = { from = "Codex", payload = { number = number } }
    if number % 3 == 0 then
      commands[#commands + 1] = "LPUSH helix:queue:clerk " .. redis.word(message)
    elseif number % 3 == 1 then
      commands[#commands + 1] = "XADD agent:clerk:inbox * message " .. redis.word(message)
    else
      message.to = "clerk"
      commands[#commands + 1] = "XADD agent:Codex:outbox * message " .. redis.word(message)
    end
  end
  s.redis:call(table.concat(commands, "\n"))
end

local function numbers_of(list)
  local numbers = {}
  for _, message in ipairs(list) do
    local number = (message.content or message.payload).number
    numbers[#numbers + 1] = number
  end
  return numbers
end

describe("the Redis door", function()
  local s

  before_each(function()
    s = switchboard.open()
  end)

  after_each(function()
    s:close()
  end)

  it("loses nothing and doubles nothing when the society is killed", function()
    local random = SEED
    for round = 1, KILLS do
      put_numbers(s, (round - 1) * EACH + 1, round * EACH)
      s.place:run(("send --state st --to root --json-payload '%s'"):format(
        '{"command":"burst","to":"Gemini","count":50}'))
      random = (random * 1103515245 + 12345) % 2147483648
      local wanted = (round - 1) * EACH + random % EACH
      if round > 1 then
        s:await_counts(wanted)
      end
      s:kill()
      s:start()
    end
    all_once(s:await_counts(KILLS * EACH), KILLS * EACH)
    local numbers = program.wait_for("all that was sent", function()
      local list = numbers_of(s.redis:queue("Gemini"))
      return #list >= KILLS * 50 and list
    end)
    local expected = {}
    for i = 1, KILLS * 50 do
      expected[i] = (i - 1) % 50 + 1
    end
    assert.same(expected, numbers)
    assert.same(expected, numbers_of(s.redis:stream("agent:Gemini:inbox")))
  end)

  it("runs on while Redis is away, says so once, and sends what waited", function()
    s.redis:stop()
    s:await_log("the society runs on and connects again")
    s:tell({ command = "burst", to = "Gemini", count = 20 })
    s.redis:start()
    program.wait_for("what waited", function()
      return #s.redis:queue("Gemini") == 20
    end)
    s.redis:push("clerk", { from = "Codex", correlation_id = "back", payload = "hello" })
    assert.equal("Codex", s.redis:reply("back").from)
    assert.equal(1, s:count_log("the society runs on and connects again"))
  end)

  it("survives FLUSHALL: what is not done with is sent again, what is new is taken", function()
    s:tell({ command = "send", message = { to = "Gemini", type = "task_assign",
      payload = { task_id = "t1" } } })
    s.redis:await("agent:Gemini:inbox", 1)
    put_numbers(s, 1, 9)
    s:await_counts(9)
    s.redis:call("FLUSHALL")
    assert.equal("t1", s.redis:await("agent:Gemini:inbox", 1)[1].task_id)
    put_numbers(s, 10, 20)
    all_once(s:await_counts(20), 20)
    program.wait_for("the status", function()
      return s.redis:call("HEXISTS helix:agent:status clerk"):find("1", 1, true)
    end)
  end)

  it("waits while another society reads the same keys", function()
    s:kill()
    s.redis:call("SET society:switchboard:door:owner another")
    s.running = s.place:start_ready(s.arguments, "st")
    s:await_log("another society with this name reads these keys")
    put_numbers(s, 1, 3)
    assert.same({}, s:await_counts(0))
    s.redis:call("DEL society:switchboard:door:owner")
    all_once(s:await_counts(3), 3)
  end)
end)

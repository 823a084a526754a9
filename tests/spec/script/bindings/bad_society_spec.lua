-- Every call of a society with everything that can be wrong with its arguments, as
-- bad_input_spec.lua does for agents.
--
-- Covers: core/script/bindings/bind_society.c, core/script/bindings/bind_orders.c
-- Covers: core/script/bindings/bind.c

local bad = require("bad")
local json = require("society.json")
local scene = require("scene")
local society = require("society")

local SPEC = { services = "s", input_format = "i", output_format = "o" }

local TEXT = "text empty log bytes ?" -- a filter that matches nothing finds nothing

local FILTERS = { agent = TEXT, task = TEXT, type = TEXT, correlation_id = TEXT, since = "ms ?",
  ["until"] = "ms ?", limit = "count ?" }

local TASK_FILTERS = { state = TEXT }
for name, kinds in pairs(FILTERS) do
  TASK_FILTERS[name] = kinds
end

local LETTER_FILTERS = { from = TEXT, to = TEXT, reason = TEXT }
for name, kinds in pairs(FILTERS) do
  LETTER_FILTERS[name] = kinds
end

-- Of redeliver and drop; an empty filter would be all.
local CHANGE = {
  good = function() return { { to = "nobody" }, { expected = 0 } } end,
  places = { "options", "options ?" },
  fields = { { from = TEXT, to = TEXT, reason = TEXT, agent = TEXT, task = TEXT, type = TEXT,
    correlation_id = TEXT, since = "ms ?", ["until"] = "ms ?" }, { expected = "count ?" } },
}

local function no_arguments() return {} end

local function filters() return { {} } end

-- A table of handlers may be empty; the functions of a metatable are ignored.
local CALLS = {
  role = {
    good = function() return { { id = "r", name = "n", interface_spec = SPEC } } end,
    places = { "" }, fields = { {
      id = "?", name = "text ?", prompt = "text empty ?", rolePrompt = "text empty ?",
      behaviour = "function options ?", interface_spec = "?",
    } },
  },
  root = { good = no_arguments, places = { "function options" }, says = "behaviour" },
  main = { good = no_arguments, places = { "function" } },
  policy = {
    good = function() return { "contacts", "open", {} } end,
    places = { "", "function", "options ?" }, says = "polic",
  },
  config = {
    good = function() return { {} } end, places = { "options" },
    fields = { { name = "?", orchestrator = "?", broadcasters = "options list ?",
      effects_max = "?", steps_max = "?", cpu_ms_max = "?", memory_bytes_max = "?",
      workers_max = "?",
      http = "function ?", llm = "options ?", depth_max = "?", children_max = "?", agents_max = "?",
      hops_max = "?", mailbox_max = "?", no_progress_max = "?" } },
  },
  agent = { good = no_arguments, places = { "" }, is_look = true },
  contacts = { good = no_arguments, places = { "" }, is_look = true },
  context = { good = no_arguments, places = { "" }, is_look = true },
  messages = { good = filters, places = { "options ?" }, fields = { FILTERS } },
  activity = { good = filters, places = { "options ?" }, fields = { FILTERS } },
  dead_letters = { good = filters, places = { "options ?" }, fields = { LETTER_FILTERS } },
  usage = { good = filters, places = { "options ?" },
    fields = { { agent = FILTERS.agent, task = FILTERS.task } } },
  tasks = { good = filters, places = { "options ?" }, fields = { TASK_FILTERS } },
  queue = { good = no_arguments, places = { "" }, is_look = true },
  load = { good = no_arguments, places = { "" }, is_look = true },
  decide = {
    good = function() return { "item", { decision = "approve" } } end,
    places = { "", "" }, fields = { nil, {
      decision = "", changes = "payload text empty log null ?", comment = "text empty ?",
      choice = "payload text empty log null ?",
    } },
  },
  pause = {
    good = function() return { "root", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  resume = {
    good = function() return { "root", { reason = "r" } } end, places = { "", "options ?" },
    fields = { nil, { subtree = "flag ?", reason = "short empty ?" } },
  },
  redeliver = CHANGE,
  drop = CHANGE,
  send = {
    good = function() return { "root", { to = "user", payload = "x" } } end,
    places = { "", "" },
    fields = { nil, { to = "", payload = "payload text empty", type = "null ?", priority = "null ?",
      correlation_id = "key null ?", dedupe_key = "key null ?", ttl_seconds = "ms null ?" } },
  },
  dispatch = {
    good = function() return { "root", "x", {} } end,
    places = { "?", "payload text empty", "options ?" }, fields = { nil, nil,
      { timeout_ms = "ms ?" } },
  },
  acks = { good = no_arguments, places = { "" }, is_look = true },
  outside = { good = no_arguments, places = { "" }, is_look = true },
  outside_send = {
    good = function() return { "ghost", { payload = "x" } } end,
    places = { "", "" },
    fields = { nil, { to = "?", payload = "payload text empty", type = "?", priority = "?",
      external_id = "key ?", reply_to = "key ?", position = "?" } },
  },
  ack = { good = function() return { "ghost", "id" } end, places = { "", "" } },
  heartbeat = { good = no_arguments, places = { "" } },
  position = { good = no_arguments, places = { "" }, is_look = true },
  advance = { good = no_arguments, places = { "" } },
}

local WITHOUT_ARGUMENTS = { "agents", "inbox", "waits", "stats", "policies", "run", "step", "now",
  "spans", "crash", "recover", "close", "transcript", "dump", "check", "unused_answers" }

local function stage()
  local s = scene.troupe({ a = function() end }, { policies = { contacts = "strict" } })
  s:policy("messages", { "society", "workflow", "helix" })
  return s
end

local function caller(name)
  return assert(load(("local s = ... return s:%s(select(2, ...))"):format(name)))
end

describe("bad input to a society's calls:", function()
  after_each(scene.close)

  local names = {}
  for name in pairs(CALLS) do
    names[#names + 1] = name
  end
  table.sort(names)

  for _, name in ipairs(names) do
    it(name .. " is reported and changes nothing", function()
      local s, untouched = stage(), stage()
      local call = caller(name)
      local faults, count = bad.try(CALLS[name].says or name, CALLS[name],
        function(...) return call(s, ...) end)
      assert.equal("", table.concat(faults, "\n"))
      assert.is_true(count >= 30)
      assert.same(untouched:policies(), s:policies())
      assert.same(untouched:stats(), s:stats())
      if name ~= "policy" then -- every refused policy is an event
        assert.equal(untouched:dump(), s:dump())
      end
      for _, each in ipairs({ s, untouched }) do
        each:crash()
        each:recover() -- nothing was kept that would be declared again
      end
      assert.same(untouched:policies(), s:policies())
    end)
  end

  it("is refused by queries inside a turn as well", function()
    local faults, count = {}, 0
    local s
    s = scene.troupe({ a = function()
      for _, name in ipairs({ "agent", "contacts", "context", "messages", "activity" }) do
        local call = caller(name)
        local found, tried = bad.try(CALLS[name].says or name, CALLS[name],
          function(...) return call(s, ...) end)
        table.move(found, 1, #found, #faults + 1, faults)
        count = count + tried
      end
    end })
    scene.tell(s, "a")
    assert.equal("", table.concat(faults, "\n"))
    assert.is_true(count >= 300)
    assert.equal(0, s:stats().dead)
  end)

  it("makes society.new raise and name the option", function()
    local faults = bad.try("new", {
      good = function() return { {} } end, places = { "options ?" },
      fields = { { seed = "number ?", store = "text bytes empty log ?", policies = "options ?",
        config = "options ?", app = "function ?" } },
    }, function(options)
      local s = society.new(options)
      s:close()
      return "a society"
    end)
    assert.equal("", table.concat(faults, "\n"))
  end)

  it("is tried with every call", function()
    local files = assert(io.popen(
      "grep -rho '{\"[a-z_]*\", \\(society\\|world\\)_[a-z_]*}' core/script core/world"))
    local known = {}
    for _, name in ipairs(WITHOUT_ARGUMENTS) do
      known[name] = true
    end
    local count = 0
    for line in files:lines() do
      local name = line:match('"([a-z_]+)"')
      count = count + 1
      assert(CALLS[name] or known[name], name)
    end
    files:close()
    assert.is_true(count >= 33)
  end)
end)

describe("json", function()
  it("makes encode and decode report what is wrong", function()
    for name, value in bad.each("payload text empty log null key") do
      local text, err = json.encode(value)
      assert(text == nil and #err.message > 0, name)
    end
    for name, value in bad.each("number") do
      local ok, decoded, err = pcall(json.decode, value)
      assert(not ok or (decoded == nil and err.position > 0), name)
    end
  end)
end)

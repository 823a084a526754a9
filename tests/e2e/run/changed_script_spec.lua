-- A script that was changed while activations wait: tried at the start, before anything runs.
--
-- Covers: core/embed/trial.c

local program = require("program")

-- The clerk asks the person and waits; root waits for the clerk, and main for root.
local APP = [[
local society = require("society")
society.role { id = "clerk", name = "clerk", prompt = "-", behaviour = function(clerk, message)
  print("clerk begins")
  clerk:add_contact { id = "user" }
  local answer = clerk:escalate { title = "May I?" }
  clerk:reply(message, { text = answer.decision })
end }
society.root(function(root, message)
  local clerk = root:spawn_agent("clerk", { objective = "o", constraints = { "c" },
    inputs = "i", outputs = "o", completion_criteria = "c" }, { id = "clerk" })
  local answer = root:request { to = clerk.id, payload = "ask", timeout_ms = 600000 }
  return answer and answer.payload or { text = "none" }
end)
society.main(function(user)
  local answer = user:request { to = "root", payload = "go", timeout_ms = 600000 }
  print("the end: " .. answer.payload.text)
end)
]]

describe("a changed script", function()
  local place

  local function rows(subject)
    return program.rows(place:run("inspect " .. subject .. " --json"))
  end

  local function edit(old, new)
    local from, to = APP:find(old, 1, true)
    place:write("app.lua", APP:sub(1, from - 1) .. new .. APP:sub(to + 1))
  end

  -- Runs the app with time enough to try all, however slow the machine is.
  local function run(options)
    return place:shell("SOCIETY_TRIAL_MS=600000 society run app.lua --quiet" .. (options or ""))
  end

  before_each(function()
    place = program.place()
    place:write("app.lua", APP)
    local running = place:start_ready("run app.lua --quiet")
    program.wait_for("the question", function() return rows("inbox")[1] end)
    running:kill("KILL")
    running:wait()
  end)

  after_each(function()
    place:remove()
  end)

  local function finish(options)
    local running = place:start_ready("run app.lua --quiet " .. (options or ""))
    local item = rows("inbox")[1].id
    assert.equal(0, place:run("decide " .. item .. " approve").code)
    return running:wait()
  end

  it("is no matter if waiting activations still fit", function()
    edit('print("clerk begins")', 'print("clerk begins again"); clerk:log("info", "hello")')
    local result = finish()
    assert.same({ 0, "the end: approve\n" }, { result.code, result.out:match("the end.*") })
    assert.no.matches("begins again", result.out)
    assert.no.matches("misfit", result.err)
  end)

  it("shows the old arguments and the new ones if history is kept", function()
    local running = place:start_ready("run app.lua --quiet --fresh --set history=full")
    program.wait_for("the question", function() return rows("inbox")[1] end)
    running:kill("KILL")
    running:wait()
    edit('title = "May I?"', 'title = "May I now?"')
    local result = run(" --set history=full")
    assert.equal(2, result.code)
    assert.no.matches('history = "full"', result.err, 1, true)
    assert.matches('effect 3 was escalate({"title":"May I?"}), and now it is '
      .. 'escalate({"title":"May I now?"}) at app.lua:5', result.err, 1, true)
  end)

  it("ends the start with 2 and names what no longer fits, with file and line", function()
    edit('clerk:escalate { title = "May I?" }',
      'clerk:request { to = "user", payload = "May I?" }')
    local result = run()
    assert.equal(2, result.code)
    assert.matches("misfit clerk: nondeterministic: the script or its arguments have changed: "
      .. "effect 3 was "
      .. 'escalate, and now it is request({"payload":"May I?","to":"user"}) at app.lua:5',
      result.err, 1, true)
    assert.matches('at app.lua:5; what it was called with is known if society.config has history = '
      .. '"full"', result.err, 1, true)
    assert.matches('"message_id":"msg_%d+_', result.err)
    assert.matches("1 of 3 waiting activations do not fit it", result.err, 1, true)
    assert.matches("--accept-changes", result.err, 1, true)
    assert.no.matches("misfit root", result.err)
    -- Nothing was changed: the former script goes on.
    place:write("app.lua", APP)
    assert.equal("the end: approve\n", finish().out:match("the end.*"))
  end)

  it("parks them at once with --accept-changes", function()
    edit('clerk:escalate { title = "May I?" }', 'clerk:sleep(5) or { decision = "late" }')
    local result = run(" --accept-changes")
    assert.same({ 0, "the end: none\n" }, { result.code, result.out:match("the end.*") })
    local letter = rows("dead-letters")[1]
    assert.same({ "clerk", "nondeterministic", "escalate", "sleep", "app.lua:5" },
      { letter.to, letter.error.error, letter.error.recorded, letter.error.now,
        letter.error.where })
    assert.equal(0, place:run("redeliver " .. letter.id).code)
    assert.equal(0, run().code)
    assert.same({}, rows("dead-letters"))
  end)

  it("fails main with --accept-changes if main does not fit, and --retry-main goes on", function()
    edit("user:request { to", "user:sleep(1); answer = user:request { to")
    local result = run()
    assert.equal(2, result.code)
    assert.matches("the script or its arguments have changed: effect 1 was request",
      result.err, 1, true)
    result = run(" --accept-changes")
    assert.equal(1, result.code)
    assert.matches("--retry-main", result.err, 1, true)
    edit('user:request { to = "root", payload = "go", timeout_ms = 600000 }',
      'not user:sleep(1) and { payload = { text = "again" } }')
    local running = place:start("run app.lua --quiet --retry-main")
    running:expect("the end: again\n")
    running:kill("KILL")
    running:wait()
  end)

  it("is tried in the time there is, and again at the next start", function()
    edit('clerk:escalate { title = "May I?" }', 'clerk:sleep(5)')
    local running = place:start("run app.lua --quiet", "SOCIETY_TRIAL_MS=0")
    program.wait_for("the warning", function()
      return running:err():find("warn trial system: 3 of 3 waiting activations were not tried "
        .. "against the changed script: SOCIETY_TRIAL_MS is 0", 1, true)
    end)
    running:kill("KILL")
    running:wait()
    local result = run()
    assert.equal(2, result.code)
    assert.matches("1 of 3 waiting activations do not fit it", result.err, 1, true)
  end)

  it("is asked about on a terminal", function()
    edit('clerk:escalate { title = "May I?" }', 'clerk:sleep(5)')
    local client = place.program:match("^(.*)/[^/]+/society$")
      .. "/tests/support/terminal_client.py"
    local function answer(letter)
      return place:shell(("SOCIETY_TRIAL_MS=600000 python3 %s '[y/N] =%s\\n' -- %s run app.lua "
        .. "--quiet"):format(client, letter, program.quote(place.program)))
    end
    local no = answer("n")
    assert.equal(2, no.code)
    assert.matches("1 of 3 waiting activations do not fit the changed script; park them as dead "
      .. "letters and go on? [y/N]", no.out, 1, true)
    assert.same({}, rows("dead-letters"))
    local yes = answer("y")
    assert.equal(0, yes.code)
    assert.matches("the end: none", yes.out, 1, true)
    assert.same({ "nondeterministic" }, { rows("dead-letters")[1].reason })
  end)

  it("is tried once, and not without a change", function()
    edit('clerk:escalate { title = "May I?" }',
      'clerk:version("ask", 0) == 0 and clerk:escalate { title = "May I?" } or { decision = "?" }')
    assert.equal("the end: approve\n", finish().out:match("the end.*"))
  end)
end)

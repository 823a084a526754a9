--- society replay: runs kept history again and shows what differs.

local arguments = require("society.cli.arguments")
local ask = require("society.cli.ask")
local json = require("society.json")
local output = require("society.cli.output")
local program = require("society.program")

-- Longer values are cut for people; --json gives them whole.
local VALUE_BYTES_MAX = 400

local ROWS_PER_UPDATE = 256

local policy = { "policy", value = "KIND=NAME", kind = "list",
  completes = arguments.offer("policies"), text = "use this policy instead of the recorded one" }

local M = {
  summary = "run kept history again and show what differs",
  options = {
    arguments.state,
    policy,
    { "app", value = "FILE", completes = "<lua>",
      text = "run this script instead of the recorded one" },
    arguments.json,
  },
  notes = 'The society must have run with society.config{ history = "full" }. Exit codes: 0 no\n'
    .. "difference, 1 differences, 2 the history cannot be replayed. Scripts of isolated\n"
    .. "agents run inside this program, bounded by the sandbox alone.",
  example = "society replay --state /var/lib/hello --policy contacts=open",
}

local function shorten(value)
  return value and output.shorten(value, VALUE_BYTES_MAX) or "nothing"
end

local function text_member(object, name)
  local value = program.member(object, name)
  return value and json.decode(value)
end

-- An effect or an end as people say it: send(…), returned, raised: …
local function describe_side(side)
  local effect = side and text_member(side, "effect")
  local ending = side and text_member(side, "end")
  if effect then
    local given = program.member(side, "arguments") or "[]"
    return ("%s(%s)"):format(effect, #given > 2 and shorten(given:sub(2, -2)) or "")
  end
  if ending then
    local message = program.member(side, "message")
    return ("the end, %s%s"):format(ending, message and ": " .. shorten(message) or "")
  end
  return shorten(side)
end

local function describe_point(finding)
  local parts = { program.format_time(finding.time_ms) }
  if finding.agent then
    parts[#parts + 1] = finding.agent
    parts[#parts + 1] = finding.message or "(no message)"
  end
  if finding.effect then
    parts[#parts + 1] = "effect " .. finding.effect
  elseif not finding.asked then
    parts[#parts + 1] = finding.difference
  end
  parts[#parts + 1] = finding.asked and shorten(finding.asked)
  return table.concat(parts, " ")
end

local function print_finding(finding)
  local point = describe_point(finding)
  if finding.difference == "damage" or finding.difference == "load" then
    print(("%s: %s"):format(point, json.decode(finding.now)))
  else
    print(("%s: recorded %s, now %s"):format(point, describe_side(finding.recorded),
      describe_side(finding.now)))
  end
end

-- What stands in `recorded` and `now` is JSON already.
local function print_json(finding)
  local members = {}
  local function add(name, value)
    if value then
      members[#members + 1] = ('"%s":%s'):format(name, value)
    end
  end
  local function text(name)
    return finding[name] and json.encode(finding[name])
  end
  add("agent", text("agent"))
  add("asked", text("asked"))
  add("difference", text("difference"))
  add("effect", finding.effect)
  add("message", text("message"))
  add("now", finding.now)
  add("recorded", finding.recorded)
  add("row", finding.row)
  add("time", json.encode(program.format_time(finding.time_ms)))
  print("{" .. table.concat(members, ",") .. "}")
end

local function clear_progress(has_progress)
  if has_progress then
    io.stderr:write("\r\27[K")
  end
end

local function print_totals(totals)
  print(("%d activation%s (%d waiting), %d effects, %d questions: %d difference%s"):format(
    totals.runs, totals.runs == 1 and "" or "s", totals.waiting, totals.effects,
    totals.questions, totals.differences, totals.differences == 1 and "" or "s"))
end

function M.run(given)
  local code = arguments.check_pairs(M, given.policy, policy)
  if code then
    return code
  end
  local has_progress = program.is_terminal(2)
  function given.found(finding)
    clear_progress(has_progress)
    local show = given.json and print_json or print_finding
    show(finding)
  end
  given.progress = has_progress and function(done, rows, differences)
    if done % ROWS_PER_UPDATE == 0 then
      io.stderr:write(("\r\27[K%d of %d rows, %d differences"):format(done, rows, differences))
    end
  end or nil
  local totals, trouble, text = program.replay(given)
  clear_progress(has_progress)
  if not totals then
    code = ask.code_of(trouble)
    program.complain("replay: " .. text)
    return code == arguments.FAILED and arguments.USAGE or code
  end
  if given.json then
    print(json.encode(totals))
  else
    print_totals(totals)
  end
  return totals.differences > 0 and arguments.FAILED or arguments.DONE
end

return M

-- kill -9 at random moments under load: nothing is lost, nothing counts twice, and waits
-- continue. KILLS is the number of kills (500), SEED determines the moments (1). Several
-- societies run side by side: most of the time they wait to be killed.
-- Slow: hundreds of kills.

local json = require("society.json")
local program = require("program")
local tree = require("tree")

local KILLS = tonumber(os.getenv("KILLS")) or 500
local SEED = tonumber(os.getenv("SEED")) or 1
local STEPS, JOBS_PER_STEP, WORKERS = 24, 12, 20
local JOBS = STEPS * JOBS_PER_STEP
local SIDE_BY_SIDE = 6

local KILLED = 128 + 9

-- Where apps and scripts are: specs run in other directories.
local function path_of(name)
  return program.quote(tree.path("tests/e2e/" .. name))
end

-- Runs the app for at most so many ms, then sends the signal; returns the exit code. Its
-- output is appended to what it has printed before.
local function live(place, arguments, ms, signal)
  return place:shell(([[%s run %s --quiet >>all.out 2>>all.err &
    pid=$!; sleep %.3f; kill -%s $pid 2>/dev/null; wait $pid]])
    :format(program.quote(place.program), arguments, ms / 1000, signal)).code
end

-- Runs several rounds side by side, each in a place of its own. Returns the places and the
-- number of kills.
local function rounds(arguments, kills_left, random)
  local places, commands, kills = {}, {}, 0
  for i = 1, SIDE_BY_SIDE do
    local place = program.place()
    places[i] = place
    commands[i] = ("(cd %s && %s %s %d %d %s >round.out 2>&1) &"):format(
      program.quote(place.path), path_of("crash/kill_round"), program.quote(place.program),
      random(0, 32767), kills_left, arguments)
  end
  os.execute(table.concat(commands, "\n") .. "\nwait")
  for _, place in ipairs(places) do
    local count = tonumber(place:read("kills") or "")
    assert.is_truthy(count, place:read("round.out") .. (place:read("all.err") or ""))
    kills = kills + count
  end
  return places, kills
end

local function rows(place, arguments)
  local list = {}
  local result = place:run("inspect " .. arguments .. " --json")
  assert.equal(0, result.code, result.err)
  for line in result.out:gmatch("[^\n]+") do
    list[#list + 1] = assert(json.decode(line))
  end
  return list
end

-- The lines printed, each with how often.
local function lines_of(place)
  local lines = {}
  for line in place:read("all.out"):gmatch("[^\n]+") do
    lines[line] = (lines[line] or 0) + 1
  end
  return lines
end

-- Removes a line that must be there once or more.
local function take(lines, line)
  assert.is_truthy(lines[line], "not printed: " .. line)
  lines[line] = nil
end

-- Removes the one line that starts so and returns the JSON after it.
local function take_books(lines, id)
  local start, found = "books " .. id .. " ", {}
  for line in pairs(lines) do
    if line:sub(1, #start) == start then
      found[#found + 1] = line
    end
  end
  assert.equal(1, #found, "different books of " .. id)
  lines[found[1]] = nil
  return assert(json.decode(found[1]:sub(#start + 1)))
end

local function check_lines(lines)
  for step = 1, STEPS do
    take(lines, ("step %d sent %d"):format(step, step * JOBS_PER_STEP))
  end
  for job = 10, JOBS, 10 do
    take(lines, "job " .. job)
  end
  take(lines, ("result %d %d 0"):format(JOBS * (JOBS + 1) // 2, JOBS))
  assert.same({}, lines, "printed and never meant")
end

local function check_books(lines)
  local collector = take_books(lines, "collector")
  local jobs, worth, chance = 0, 0, 0
  for i = 1, WORKERS do
    local books = take_books(lines, "worker" .. i)
    assert.is_nil(books.strays)
    jobs, worth, chance = jobs + books.jobs, worth + books.worth, chance + books.chance
  end
  assert.same({ JOBS, JOBS }, { jobs, collector.jobs })
  assert.same({ worth, chance }, { collector.worth, collector.chance })
  for job = 1, JOBS do
    assert.equal(1, collector.seen[tostring(job)], "reports of job " .. job)
  end
end

local function check_messages(place)
  for _, type in ipairs({ "job", "report" }) do
    local seen = {}
    for _, message in ipairs(rows(place, "messages --type " .. type)) do
      seen[#seen + 1] = message.payload.number
      assert.equal("processed", message.status)
    end
    table.sort(seen)
    assert.equal(JOBS, #seen, type)
    for job = 1, JOBS do
      assert.equal(job, seen[job], type)
    end
  end
  assert.equal(1, #rows(place, "messages --type begin"))
  assert.same({}, rows(place, "dead-letters"))
  assert.same({}, rows(place, "waits"))
end

local function check_stats(place)
  local stats = rows(place, "stats")[1]
  assert.equal(stats.sent, stats.processed + stats.pending + stats.expired + stats.dead
    + stats.dropped + stats.cancelled)
  assert.same({ stats.processed, 0 }, { stats.sent, stats.pending })
  assert.equal(stats.sent, #rows(place, "messages"))
  -- user, root, the collector, the workers and a helper for every thirteenth job
  assert.equal(3 + WORKERS + JOBS // 13, #rows(place, "agents"))
end

describe("kill -9", function()
  local random

  before_each(function()
    math.randomseed(SEED)
    random = math.random
  end)

  it(("loses nothing and counts nothing twice, %d times"):format(KILLS), function()
    local arguments = path_of("apps/traffic.lua") .. " -- " .. STEPS
    local kills, societies, begun = 0, 0, os.time()
    while kills < KILLS do
      local places, more = rounds(arguments, KILLS - kills, random)
      kills, societies = kills + more, societies + #places
      for _, each in ipairs(places) do
        local lines = lines_of(each)
        check_books(lines)
        check_lines(lines)
        check_messages(each)
        check_stats(each)
        each:remove()
      end
    end
    print(("# seed %d: %d kills of %d societies, %d s"):format(SEED, kills, societies,
      os.time() - begun))
  end)

  -- Runs the app in short lives until it ends by itself, and checks what it printed. Returns
  -- the number of lives.
  local function wait_in_short_lives(place, wait_ms)
    local arguments = path_of("apps/waiting.lua") .. " -- " .. wait_ms
    local lives, code = 0, KILLED
    while code == KILLED do
      -- Longer and longer, or a slow machine would never get past the start.
      local ms = random(25, 100) * (1 + lives // 20)
      code = live(place, arguments, ms, "KILL")
      lives = lives + 1
    end
    assert.equal(0, code, place:read("all.err"))
    local lines = lines_of(place)
    take(lines, "root slept")
    take(lines, "worker slept")
    local last, more = next(lines)
    assert.is_nil(next(lines, last))
    assert.is_truthy(more)
    local waited_ms = tonumber(last:match("^sum 17 calls 1 waited (%d+)$"))
    assert.is_true(waited_ms >= 3 * wait_ms, last)
    return lives
  end

  it("leaves every wait as it was, however short the lives", function()
    local wait_ms, lives = 350, 0
    while lives < 5 do -- waits that end before the first kill prove nothing
      local place = program.place()
      lives = wait_in_short_lives(place, wait_ms)
      place:remove()
      wait_ms = 2 * wait_ms
    end
  end)
end)

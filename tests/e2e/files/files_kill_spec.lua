-- kill -9 of host and workers at random moments under traffic through files: every task is
-- completed exactly once, and no line is in a queue twice. In half of the lanes queues are
-- so short that they are rotated all the time. FILE_KILLS is the number of kills (500),
-- SEED determines the moments (1).
-- Slow: hundreds of kills.

local program = require("program")
local tree = require("tree")

local KILLS = tonumber(os.getenv("FILE_KILLS")) or 500
local SEED = tonumber(os.getenv("SEED")) or 1
local LANES = 4
local QUEUE_MAX = { 1000, 6, 1000, 20 } -- messages in a queue before it is rotated, by lane

local function lane_path()
  return program.quote(tree.path("tests/e2e/apps/kill_lane"))
end

-- Lines of one queue file, archived ones included, that have the same id and attempt twice.
local function repeated(place)
  return place:shell([[find w -name 'w?.jsonl' -o -name 'w?.*-*.jsonl' | while read -r file; do
    sed -n 's/.*"attempt":\([0-9]*\).*"id":"\(msg_[0-9a-f_]*\)".*/\2 \1/p' "$file" | sort | uniq -d
    done]]).out
end

local function rotations(place)
  return tonumber(place:shell("ls w/archive | grep -c '^w.*jsonl$'").out)
end

describe("the file door under kill -9", function()
  it(("loses nothing and repeats nothing in %d kills"):format(KILLS), function()
    local places, commands = {}, {}
    for lane = 1, LANES do
      places[lane] = program.place()
      commands[lane] = ("(cd %s && %s %s %d %d %d > lane.out 2>&1) &"):format(
        program.quote(places[lane].path), lane_path(), program.quote(places[lane].program),
        KILLS // LANES, SEED * 1000 + lane, QUEUE_MAX[lane])
    end
    os.execute(table.concat(commands, "\n") .. "\nwait")
    for lane = 1, LANES do
      local out = places[lane]:read("lane.out")
      local sent, completed, strange = out:match("sent (%d+) completed (%d+) strange (%d+)")
      assert.is_truthy(sent, out .. (places[lane]:read("host.err") or ""))
      assert.is_true(tonumber(sent) > 8, out)
      assert.same({ sent, "0", "" }, { completed, strange, repeated(places[lane]) }, out)
      assert.equal(QUEUE_MAX[lane] < 1000, rotations(places[lane]) > 10)
      places[lane]:remove()
    end
  end)
end)

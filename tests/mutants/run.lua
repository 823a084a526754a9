--- Plants each fault of list.lua in a copy of the source, builds it and runs the tests
-- that must catch it. For `make mutants`:
--
--     lua5.4 tests/mutants/run.lua [--sim] [--part=I/N] DIRECTORY [WORDS OF A NAME]...
--
-- DIRECTORY is made anew for the copy and its build. Each line tells what caught a fault
-- and, if it was the simulator, in which words. The last lines count, also how many each
-- law of the checkers has caught; the exit code is 1 if a fault was not caught, or in
-- other words than `says` wants, or could not be planted. With --part every N-th fault is
-- tried, from the I-th on: N processes with a directory each share the work.
--
-- With --sim the simulator alone judges: the runs of suite.lua, with their seeds, until one
-- fails. Faults outside its world are counted apart, with the reason that list.lua gives.
-- The exit code is 1 if fewer than SIM_MIN of 100 faults inside it were caught.

local is_sim = arg[1] == "--sim" and table.remove(arg, 1) ~= nil

-- Which part of how many, 1 of 1 without --part.
local function take_part()
  local part, parts = (arg[1] or ""):match("^%-%-part=(%d+)/(%d+)$")
  if part then
    table.remove(arg, 1)
  end
  return tonumber(part or 1), tonumber(parts or 1)
end

local part, parts = take_part()
local mutants = dofile("tests/mutants/list.lua")
local suite = dofile("tests/mutants/suite.lua")
local planting = dofile("tests/mutants/plant.lua")

local SEEDS = "1..200"
local SECONDS_MAX = 900 -- for one test without a fault
local KILLED = 137
local CPU_OVER = 152
local WORDS_MAX = 160
local SIM_MIN = 90

local directory = arg[1]
assert(directory, "usage: run.lua DIRECTORY [WORDS]...")

local function shell(command)
  local ok, how, code = os.execute(command)
  return ok == true, how == "exit" and code or 128 + code
end

local function in_copy(command)
  return shell(("cd '%s' && { %s; } > last.log 2>&1"):format(directory, command))
end

local function copy_tree()
  assert(shell(("rm -rf '%s' && mkdir -p '%s'"):format(directory, directory)))
  assert(shell(("git ls-files -z -co --exclude-standard | tar --null -T - -cf - | " ..
    "tar -xf - -C '%s'"):format(directory)))
end

-- The path of the test file called `name`, wherever it is below `folder`.
local function found(folder, name)
  local pipe = assert(io.popen(("find %s -name %s"):format(folder, name)))
  local path = assert(pipe:read("l"), "there is no test " .. name)
  pipe:close()
  return path
end

local TESTS = {
  sim = function(app)
    return ("build/society sim %s --seeds %s"):format(app or "tests/scenarios/standard.lua", SEEDS)
  end,
  run = function(name)
    return "build/society sim " .. suite.runs[name]
  end,
  spec = function(name)
    return "build/society test " .. found("tests/spec", name .. "_spec.lua")
  end,
  e2e = function(name)
    return "env SOCIETY=build/society build/society test "
      .. found("tests/e2e", name .. "_spec.lua")
  end,
  unit = function(name)
    return ("make -j2 unit TESTS=%s"):format(name)
  end,
}

-- `cpu_max` bounds the processor's time, which does not depend on what else runs.
local function run(test, seconds_max, cpu_max)
  local kind, name = test:match("^(%w+):?(.*)$")
  local command = TESTS[kind](name ~= "" and name or nil)
  local limit = cpu_max and ("ulimit -t %d; "):format(cpu_max) or ""
  local passed, code = in_copy(("%stimeout -s KILL %d %s"):format(limit, seconds_max, command))
  local finding = kind == "run" and suite.finds[name]
  if finding then
    passed = not passed and planting.read(directory .. "/last.log"):find(finding, 1, true) ~= nil
  end
  return passed, code
end

-- Seconds each test takes without a fault. One that takes many times as long with one
-- hangs, which is caught as well.
local seconds = {}

local function time_without_fault(test)
  local start = os.time()
  assert(run(test, SECONDS_MAX), "this fails before anything is planted: " .. test)
  seconds[test] = os.time() - start
end

-- What the checker said, or else the last words.
local function words()
  local said = ""
  for line in planting.read(directory .. "/last.log"):gmatch("[^\n]+") do
    local is_progress = line:find("^society: seed %d+: virtual time ") or line:find(" seeds/s$")
      or line:find("repeat it with", 1, true)
    if line:find("^society: ") and not is_progress then
      return line:sub(#"society: " + 1)
    elseif line:find(" turn_failed user: ", 1, true) then
      return line
    elseif not is_progress then
      said = line
    end
  end
  return said
end

-- Returns the first run of the simulator that fails, and how, or nil. The one that is
-- named for the fault goes first.
local function catch_by_sim(mutant)
  local names = { table.unpack(suite.order) }
  for _, test in ipairs(mutant.by) do
    local name = test:match("^run:(.+)$")
    if name then
      table.insert(names, 1, name)
    end
  end
  for _, name in ipairs(names) do
    local passed, code = run("run:" .. name, SECONDS_MAX, suite.seconds_max)
    if not passed then
      return "run:" .. name, (code == KILLED or code == CPU_OVER) and "it hangs" or words()
    end
  end
  return nil
end

-- Returns the first test that fails, and how, or nil.
local function catch(mutant)
  if is_sim then
    return catch_by_sim(mutant)
  end
  for _, test in ipairs(mutant.by) do
    local passed, code = run(test, 60 + 8 * seconds[test])
    if not passed then
      local has_words = not test:find("^unit") and not test:find("^spec")
      return test, code == KILLED and "it hangs" or has_words and words() or nil
    end
  end
  return nil
end

-- The libraries are for tests that put them before the C library.
local MAKE = "make -j2 all WERROR= " .. (is_sim and "CFLAGS=-O1"
  or "build/preload/disk_faults.so build/preload/clock.so")

-- What came of a fault that was planted, and whether it was caught as it must be.
local function judge(mutant)
  if not in_copy(MAKE) then
    return "DOES NOT BUILD", false
  end
  local test, how = catch(mutant)
  if not test then
    return "NOT CAUGHT", false
  end
  local result = "caught by " .. test
  if how then
    result = ("%s: %s"):format(result, how:sub(1, WORDS_MAX))
  end
  if mutant.says and not is_sim and not (how or ""):find(mutant.says) then
    return "CAUGHT IN OTHER WORDS: " .. result, false
  end
  return result, true
end

local function try(mutant)
  local planted, err = planting.plant(directory, mutant)
  if not planted then
    return "NOT PLANTED: " .. err, false
  end
  local result, is_caught = judge(mutant)
  planting.take_out(directory, mutant)
  return result, is_caught
end

local function is_wanted(mutant, place)
  if place % parts ~= part % parts then
    return false
  end
  local is_named = #arg == 1
  for i = 2, #arg do
    is_named = is_named or mutant.name:find(arg[i], 1, true) ~= nil
  end
  return is_named
end

local function time_all()
  for place, mutant in ipairs(mutants) do
    for _, test in ipairs(is_wanted(mutant, place) and mutant.by or {}) do
      if not seconds[test] then
        time_without_fault(test)
      end
    end
  end
end

-- Every run passes before anything is planted.
local function check_suite()
  for _, name in ipairs(suite.order) do
    assert(run("run:" .. name, SECONDS_MAX), "this fails before anything is planted: " .. name)
  end
end

-- Tries them all; how many there were, how many were caught, by which laws, and how many
-- the simulator cannot see.
local function try_all()
  local count = { tried = 0, caught = 0, outside = 0 }
  local laws = {}
  for place, mutant in ipairs(mutants) do
    local is_tried = is_wanted(mutant, place)
    if is_tried and is_sim and mutant.outside then
      count.outside = count.outside + 1
      print(("%-64s outside: %s"):format(mutant.name, mutant.outside))
    elseif is_tried then
      local result, is_caught = try(mutant)
      count.tried = count.tried + 1
      count.caught = count.caught + (is_caught and 1 or 0)
      if is_caught and mutant.law then
        laws[mutant.law] = (laws[mutant.law] or 0) + 1
      end
      print(("%-64s %s"):format(mutant.name, result))
    end
    io.stdout:flush()
  end
  return count, laws
end

local function print_laws(laws)
  local names = {}
  for law in pairs(laws) do
    names[#names + 1] = law
  end
  table.sort(names)
  for _, law in ipairs(names) do
    print(("law: %-59s %d"):format(law, laws[law]))
  end
end

copy_tree()
assert(in_copy(MAKE), "the source does not build")
if is_sim then
  check_suite()
else
  time_all()
end
local count, laws = try_all()
in_copy("make -j2 all")
print_laws(laws)
if is_sim then
  print(("%d of %d planted faults caught by the simulator alone; %d more are outside its world")
    :format(count.caught, count.tried, count.outside))
  os.exit(100 * count.caught >= SIM_MIN * count.tried and 0 or 1)
end
print(("%d of %d planted faults caught"):format(count.caught, count.tried))
os.exit(count.caught == count.tried and 0 or 1)

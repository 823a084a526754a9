--- Plants each fault of list.lua in a copy of the source, builds it and runs the tests
-- that must catch it. For `make mutants`:
--
--     lua5.4 tests/mutants/run.lua DIRECTORY [WORDS OF A NAME]...
--
-- DIRECTORY is made anew for the copy and its build. Each line tells what caught a fault
-- and, if it was the simulator, in which words. The last lines count, also how many each
-- law of the checkers has caught; the exit code is 1 if a fault was not caught, or in
-- other words than `says` wants, or could not be planted.

local mutants = dofile("tests/mutants/list.lua")

local SEEDS = "1..200"
local SECONDS_MAX = 900 -- for one test without a fault
local KILLED = 137
local WORDS_MAX = 160

local directory = arg[1]
assert(directory, "usage: run.lua DIRECTORY [WORDS]...")

local function shell(command)
  local ok, how, code = os.execute(command)
  return ok == true, how == "exit" and code or 128 + code
end

local function in_copy(command)
  return shell(("cd '%s' && { %s; } > last.log 2>&1"):format(directory, command))
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function copy_tree()
  assert(shell(("rm -rf '%s' && mkdir -p '%s'"):format(directory, directory)))
  assert(shell(("git ls-files -z -co --exclude-standard | tar --null -T - -cf - | " ..
    "tar -xf - -C '%s'"):format(directory)))
end

-- Replaces the one place where `from` stands.
local function replace(text, change)
  local first, last = text:find(change.from, 1, true)
  if not first then
    return nil, "the text to be changed is not there"
  elseif text:find(change.from, last + 1, true) then
    return nil, "the text to be changed stands there more than once"
  end
  return text:sub(1, first - 1) .. change.to .. text:sub(last + 1)
end

local function plant(mutant)
  local path = directory .. "/" .. mutant.file
  local text, err = replace(read(path), mutant)
  if text and mutant.also then
    text, err = replace(text, mutant.also)
  end
  if not text then
    return nil, err
  end
  write(path, text)
  return true
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
  disk = function()
    return "build/society sim tests/scenarios/standard.lua --seeds 1..60 " ..
      "--faults power,full,io,lag"
  end,
  models = function()
    return "build/society sim tests/scenarios/models.lua --seeds 1..40 --faults model"
  end,
  faults = function(list)
    return ("build/society sim tests/scenarios/standard.lua --seeds 1..100 --faults %s"):format(
      list)
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

local function run(test, seconds_max)
  local kind, name = test:match("^(%w+):?(.*)$")
  local command = TESTS[kind](name ~= "" and name or nil)
  return in_copy(("timeout -s KILL %d %s"):format(seconds_max, command))
end

-- Seconds each test takes without a fault. One that takes many times as long with one
-- hangs, which is caught too.
local seconds = {}

local function time_without_fault(test)
  local start = os.time()
  assert(run(test, SECONDS_MAX), "this fails before anything is planted: " .. test)
  seconds[test] = os.time() - start
end

-- What the checker said, or else the last words.
local function words()
  local said = ""
  for line in read(directory .. "/last.log"):gmatch("[^\n]+") do
    local is_progress = line:find("^society: seed %d+ is at ")
    if line:find("^society: ") and not is_progress and not line:find("repeat it with", 1, true) then
      return line:sub(#"society: " + 1)
    elseif not line:find(" seeds/s$") and not line:find("repeat it with", 1, true) then
      said = line
    end
  end
  return said
end

-- Returns the first test that fails, and how, or nil.
local function catch(mutant)
  for _, test in ipairs(mutant.by) do
    local passed, code = run(test, 60 + 8 * seconds[test])
    if not passed then
      local is_sim = not test:find("^unit") and not test:find("^spec")
      return test, code == KILLED and "it hangs" or is_sim and words() or nil
    end
  end
  return nil
end

local function try(mutant)
  local planted, err = plant(mutant)
  if not planted then
    return "NOT PLANTED: " .. err, false
  end
  local result, is_caught
  if not in_copy("make -j2 all WERROR=") then
    result, is_caught = "DOES NOT BUILD", false
  else
    local test, how = catch(mutant)
    result, is_caught = test and "caught by " .. test or "NOT CAUGHT", test ~= nil
    if how then
      result = ("%s: %s"):format(result, how:sub(1, WORDS_MAX))
    end
    if is_caught and mutant.says and not (how or ""):find(mutant.says) then
      result, is_caught = "CAUGHT IN OTHER WORDS: " .. result, false
    end
  end
  write(directory .. "/" .. mutant.file, read(mutant.file))
  return result, is_caught
end

local function is_wanted(mutant)
  local is_named = #arg == 1
  for i = 2, #arg do
    is_named = is_named or mutant.name:find(arg[i], 1, true) ~= nil
  end
  return is_named
end

local function time_all()
  for _, mutant in ipairs(mutants) do
    for _, test in ipairs(is_wanted(mutant) and mutant.by or {}) do
      if not seconds[test] then
        time_without_fault(test)
      end
    end
  end
end

-- Tries them all; how many there were, how many were caught, and by which laws.
local function try_all()
  local tried, caught, laws = 0, 0, {}
  for _, mutant in ipairs(mutants) do
    if is_wanted(mutant) then
      local result, is_caught = try(mutant)
      tried = tried + 1
      caught = caught + (is_caught and 1 or 0)
      if is_caught and mutant.law then
        laws[mutant.law] = (laws[mutant.law] or 0) + 1
      end
      print(("%-64s %s"):format(mutant.name, result))
      io.stdout:flush()
    end
  end
  return tried, caught, laws
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
assert(in_copy("make -j2 all"), "the source does not build")
time_all()
local tried, caught, laws = try_all()
in_copy("make -j2 all")
print_laws(laws)
print(("%d of %d planted faults caught"):format(caught, tried))
os.exit(caught == tried and 0 or 1)
